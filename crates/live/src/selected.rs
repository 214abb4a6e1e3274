//! Tables whose rows only the server can give: of other engines than InnoDB, or in a form of
//! InnoDB's that is not read. They are selected one after the other by a connection that holds them
//! still, and come as they are taken.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use innoscan::catalog::TableName;
use innoscan::condition::RowCondition;
use innoscan::dump::{SelectedColumn, SelectedTable};
use innoscan::{Class, Error, ReceivedAs, Result};

use crate::session::{Session, TextRow, cell, quoted_text};
use innoscan::sink::sql::quoted_name;

/// Rows that may be under way.
const ROWS_AHEAD: usize = 1000;

/// A connection in a thread of its own, that answers one query after the other.
pub struct Selector {
    queries: Sender<Query>,
}

struct Query {
    sql: String,
    rows: SyncSender<Result<TextRow>>,
}

impl Selector {
    /// Hands a session over to a thread, which ends when the selector and all its tables are gone.
    ///
    /// # Errors
    /// When there is no thread to be had, or the session is gone.
    pub fn new(mut session: Session) -> Result<Selector> {
        // What was stored, as it is stored.
        session.run("SET SESSION character_set_results = binary")?;
        let (queries, asked) = channel::<Query>();
        let body = move || {
            while let Ok(Query { sql, rows }) = asked.recv() {
                let told = session
                    .for_each_row(&sql, |row| rows.send(Ok(row)).map_err(|_| Error::interrupted()));
                if let Err(error) = told {
                    // Whoever asked has gone, or is told.
                    let _ = rows.send(Err(error));
                }
            }
        };
        let thread = std::thread::Builder::new().name("select".to_owned());
        let spawned = thread.spawn(body);
        spawned.map_err(|error| Error::resources(format!("cannot start a thread: {error}")))?;
        Ok(Selector { queries })
    }

    /// A table, whose rows are asked for when the first is taken: those that satisfy a condition.
    /// `control` tells of its columns.
    ///
    /// # Errors
    /// What the server says; a condition on a column the table lacks.
    pub fn table(
        &self,
        control: &mut Session,
        name: &TableName,
        has_rows: bool,
        condition: Option<&RowCondition>,
    ) -> Result<SelectedTable<'static>> {
        let place = format!("{}.{}", quoted_name(&name.schema), quoted_name(&name.table));
        let create = control.rows(&format!("SHOW CREATE TABLE {place}"))?;
        let columns = columns(control, name)?;
        let shown: Vec<&str> = columns.iter().map(|column| &*column.shown).collect();
        let lacks = |wanted: &&str| {
            let is_it =
                |column: &Column| column.column.name.to_lowercase() == wanted.to_lowercase();
            !columns.iter().any(is_it)
        };
        if let Some(column) = condition.and_then(|condition| condition.columns().find(lacks)) {
            return Err(Error::refused(
                format!("{place} has no column `{column}` that its rows store"),
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
            create: create.first().map(|row| cell(row, 1)).unwrap_or_default(),
            columns: columns.into_iter().map(|column| column.column).collect(),
            rows: Box::new(rows),
        })
    }
}

/// The answer to a query that is asked when it is wanted.
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
                return Some(Err(Error::server("selecting", "the connection is gone")));
            }
            self.rows = Some(answer);
        }
        self.rows.as_ref()?.recv().ok()
    }
}

/// A column, and what is selected of it.
struct Column {
    column: SelectedColumn,
    shown: String,
}

/// The columns that are not computed.
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

/// How a column's values are asked for so that nothing of them is lost, and what they then are.
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
