//! Tables that are read by `SELECT`: those of other engines than InnoDB, and InnoDB tables in a format
//! that is not supported. One connection, which has them locked, selects them one after the other.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use innoscan_catalog::catalog::TableName;
use innoscan_engine::condition::RowCondition;
use innoscan_engine::{Error, Result};
use innoscan_export::dump::{SelectedColumn, SelectedTable};
use innoscan_format::schema::quoted_name;
use innoscan_format::types::{Class, ReceivedAs};

use crate::session::{Session, TextRow, cell, qualified, quoted_text};

/// Maximum number of rows buffered between the thread and its consumer.
const ROWS_AHEAD: usize = 1000;

/// A connection in a thread of its own, which runs one query after the other.
pub struct Selector {
    queries: Sender<Query>,
}

struct Query {
    sql: String,
    rows: SyncSender<Result<TextRow>>,
}

impl Selector {
    /// Starts the thread, which ends when the selector and all its tables are dropped.
    ///
    /// # Errors
    /// If no thread can be started, or the connection is lost.
    pub fn new(mut session: Session) -> Result<Selector> {
        // Values come in the charset they are stored in.
        session.run("SET SESSION character_set_results = binary")?;
        let (queries, asked) = channel::<Query>();
        let body = move || {
            while let Ok(Query { sql, rows }) = asked.recv() {
                let sent = session
                    .for_each_row(&sql, |row| rows.send(Ok(row)).map_err(|_| Error::interrupted()));
                if let Err(error) = sent {
                    // The consumer may be gone.
                    let _ = rows.send(Err(error));
                }
            }
        };
        let thread = std::thread::Builder::new().name("select".to_owned());
        let spawned = thread.spawn(body);
        spawned.map_err(Error::no_thread)?;
        Ok(Selector { queries })
    }

    /// A table whose query starts when the first row is requested, with a condition on the rows. `control`
    /// is the connection that reads its definition.
    ///
    /// # Errors
    /// The server's error, or a condition on a column that the table does not have.
    pub fn table(
        &self,
        control: &mut Session,
        name: &TableName,
        has_rows: bool,
        condition: Option<&RowCondition>,
    ) -> Result<SelectedTable<'static>> {
        let place = qualified(&name.schema, &name.table);
        let create = control.create_table(name)?;
        let columns = columns(control, name)?;
        let shown: Vec<&str> = columns.iter().map(|column| &*column.shown).collect();
        let lacks = |wanted: &&str| {
            let is_it =
                |column: &Column| column.column.name.to_lowercase() == wanted.to_lowercase();
            !columns.iter().any(is_it)
        };
        if let Some(column) = condition.and_then(|condition| condition.columns().find(lacks)) {
            return Err(Error::refused(
                format!("{place} has no stored column `{column}`"),
                "leave out the table, or the condition",
            ));
        }
        let wanted = condition.and_then(RowCondition::to_sql);
        let wanted = wanted.map(|wanted| format!(" WHERE {wanted}")).unwrap_or_default();
        let sql = format!("SELECT {} FROM {place}{wanted}", shown.join(", "));
        let rows = Rows { query: has_rows.then(|| (self.queries.clone(), sql)), rows: None };
        Ok(SelectedTable {
            database: name.schema.clone(),
            name: name.table.clone(),
            create,
            columns: columns.into_iter().map(|column| column.column).collect(),
            rows: Box::new(rows),
        })
    }
}

/// The rows of a query that starts when the first row is requested.
struct Rows {
    query: Option<(Sender<Query>, String)>,
    rows: Option<Receiver<Result<TextRow>>>,
}

impl Iterator for Rows {
    type Item = Result<TextRow>;

    fn next(&mut self) -> Option<Result<TextRow>> {
        if let Some((queries, sql)) = self.query.take() {
            let (rows, answer) = sync_channel(ROWS_AHEAD);
            if queries.send(Query { sql, rows }).is_err() {
                return Some(Err(Error::server("SELECT failed", "the connection was closed")));
            }
            self.rows = Some(answer);
        }
        self.rows.as_ref()?.recv().ok()
    }
}

/// A column, and the expression that selects it.
struct Column {
    column: SelectedColumn,
    shown: String,
}

/// The stored columns.
fn columns(control: &mut Session, name: &TableName) -> Result<Vec<Column>> {
    let sql = format!(
        "SELECT column_name, data_type, extra FROM information_schema.columns \
         WHERE table_schema = {} AND table_name = {} ORDER BY ordinal_position",
        quoted_text(&name.schema),
        quoted_text(&name.table)
    );
    let rows = control.rows(&sql)?;
    let stored = rows.iter().filter(|row| {
        let extra = cell(row, 2).to_uppercase().replace("DEFAULT_GENERATED", "");
        !["GENERATED", "VIRTUAL", "PERSISTENT"].iter().any(|word| extra.contains(word))
    });
    Ok(stored.map(|row| column(cell(row, 0), &cell(row, 1).to_lowercase())).collect())
}

/// A column with the expression that selects its values without loss, and the class of the result.
fn column(name: String, data_type: &str) -> Column {
    let quoted = quoted_name(&name);
    let (class, shown) = match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "double" | "year" => {
            (Class::Number, quoted)
        }
        "float" => (Class::Number, ReceivedAs::Double.expression(&quoted)),
        "enum" | "set" => (Class::Number, ReceivedAs::Number.expression(&quoted)),
        "bit" => (Class::Bit, quoted),
        "date" | "time" | "datetime" | "timestamp" => (Class::Temporal, quoted),
        "json" => (Class::Json, quoted),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => {
            (Class::Text, quoted)
        }
        "uuid" | "inet6" => (Class::Binary, format!("CAST({quoted} AS BINARY(16))")),
        "inet4" => (Class::Binary, format!("CAST({quoted} AS BINARY(4))")),
        "vector" => (Class::Vector, quoted),
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
        | "multipolygon" | "geometrycollection" | "geomcollection" => (Class::Geometry, quoted),
        _ => (Class::Binary, quoted),
    };
    Column { column: SelectedColumn { name, class, is_generated: false }, shown }
}
