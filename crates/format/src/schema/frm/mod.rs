//! `.frm` files: the definitions of MySQL 5.x and every MariaDB.
//!
//! ```text
//! header       64 bytes: versions, engine, options, where the rest is       (image.rs)
//! extra2       MariaDB 10: type, length, value ...                          (extra2.rs)
//!              before: a list of form names; then 4 bytes: where the form is
//! keys         counts, each key and its parts, names, comments              (keys.rs)
//! default row  a record of the server holding each column's default         (defaults.rs)
//! extra        connection, engine's name, PARTITION BY text, parsers, ...   (image.rs)
//! form         288 bytes: counts and lengths of what follows                (image.rs)
//!   columns    17 bytes each                                                (columns.rs)
//!   names      of the columns; members of ENUM and SET; comments            (names.rs)
//!   expressions of generated columns, defaults and checks     (expressions.rs, conditions.rs)
//! ```
//!
//! Numbers are little-endian. The facts are those of `TABLE_SHARE::init_from_binary_frm_image`
//! (sql/table.cc) and `build_frm_image` (sql/unireg.cc) of MariaDB 10.11 and of `open_binary_frm`
//! (sql/table.cc) of MySQL 5.7; the printed form is that of sql/sql_show.cc of the same servers.

mod columns;
mod conditions;
mod cursor;
mod defaults;
mod expressions;
mod extra2;
mod image;
mod keys;
mod names;
mod options;
mod partitions;

use self::columns::RawColumn;
use self::expressions::Expressions;
use self::image::Image;
use self::keys::RawKey;
use self::options::Tail;
use super::{CheckDef, ColumnDef, PeriodDef, RowPeriod, ServerVersion, TableDef};
use crate::{Error, Result};

/// Returns whether the file defines a view: a text file, unlike a table's.
pub fn is_view(bytes: &[u8]) -> bool {
    bytes.starts_with(b"TYPE=VIEW")
}

/// Returns whether the file defines a sequence of MariaDB: a table with a mark in its header
/// (`dd_frm_type` in sql/datadict.cc, MariaDB 10.11).
pub fn is_sequence(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xfe, 1]) && bytes.get(39).is_some_and(|choices| choices >> 4 & 3 == 2)
}

/// Reads a table's definition from its `.frm` file. `schema` and `name` are the table's, which the
/// file does not contain.
///
/// Tables of all engines are read; [`super::TableOptions::engine`] is the engine, for a partitioned
/// table that of its partitions. Neither the `AUTO_INCREMENT` value nor foreign keys are in the
/// file: InnoDB stores them.
pub fn from_frm(bytes: &[u8], schema: &str, name: &str) -> Result<TableDef> {
    read(bytes, schema, name, None)
}

/// Reads a table's definition, to be printed like another server version than the one that wrote
/// the file: tables keep their files when their server is upgraded.
pub fn from_frm_shown_by(
    bytes: &[u8],
    schema: &str,
    name: &str,
    server: ServerVersion,
) -> Result<TableDef> {
    read(bytes, schema, name, Some(server))
}

fn read(
    bytes: &[u8],
    schema: &str,
    name: &str,
    shown_by: Option<ServerVersion>,
) -> Result<TableDef> {
    if is_view(bytes) {
        return Err(Error::unsupported(
            format!("the view `{schema}`.`{name}`"),
            "a view has no rows of its own: read its tables",
        ));
    }
    let image = Image::parse(bytes, shown_by)?;
    let keys = RawKey::parse_all(&image)?;
    let n_parsers = keys.iter().filter(|key| key.has_parser()).count();
    let tail = Tail::parse(&image, n_parsers)?;
    let raw = RawColumn::parse_all(&image)?;
    let mut def = TableDef::new(schema, name, image.shown_by, options::define(&image, &tail)?);
    def.packs_records = Some(!image.has_deleted_bit());
    def.columns = define_columns(&image, &raw, &tail, &mut def.checks)?;
    // The last columns are the hashes behind unique indexes by hash: virtual, and unknown to SQL.
    let n_hashes = keys.iter().filter(|key| key.is_by_hash()).count();
    def.columns.truncate(def.columns.len().saturating_sub(n_hashes));
    set_versioning(&mut def, &image)?;
    def.indexes = keys::define(&image, &keys, &tail.parsers, &raw, &def)?;
    def.partitioning = partitions::define(&image)?;
    Ok(def)
}

/// The maximum number of members of all `ENUM` and `SET` columns: far more than a table of 1017
/// columns has, few enough for memory. Columns can share a list in the file, but not in memory.
const MAX_MEMBERS: usize = 2 << 20;

fn define_columns(
    image: &Image,
    raw: &[RawColumn],
    tail: &Tail,
    checks: &mut Vec<CheckDef>,
) -> Result<Vec<ColumnDef>> {
    let expressions = Expressions::parse(image, raw)?;
    let positions = defaults::positions(image, raw, &expressions);
    let lists = names::parse_lists(image.intervals, image.n_intervals)?;
    let mut options = image.extra2.options_of_columns(raw.len())?.into_iter();
    let mut columns = Vec::new();
    let mut n_members = 0_usize;
    for (place, raw_column) in raw.iter().enumerate() {
        n_members += raw_column.members_in(&lists);
        if n_members > MAX_MEMBERS {
            return Err(Error::corrupt(
                "the .frm file has more members of ENUM and SET than supported",
            ));
        }
        let mut column = raw_column.define(place, image, &lists, &expressions, &positions)?;
        column.attributes.extend(options::column_format(tail.column_formats.get(place)));
        column.attributes.extend(
            options.next().map(|of| options::for_column(&of, image.shown_by)).into_iter().flatten(),
        );
        columns.push(column);
    }
    *checks = table_checks(image, expressions);
    Ok(columns)
}

/// Returns the table's own checks, without the one that MariaDB stores for an application period.
fn table_checks(image: &Image, expressions: Expressions) -> Vec<CheckDef> {
    let implied = image.extra2.period.as_ref().map(|period| period.constraint.as_str());
    let mut checks = expressions.table_checks;
    checks.retain(|check| Some(check.name.as_str()) != implied);
    checks
}

/// Sets the columns of MariaDB's periods.
fn set_versioning(def: &mut TableDef, image: &Image) -> Result<()> {
    if let Some((start, end)) = image.extra2.system_period {
        for (place, which) in [(start, RowPeriod::Start), (end, RowPeriod::End)] {
            let column = def.columns.get_mut(usize::from(place)).ok_or_else(no_such_column)?;
            column.row_period = Some(which);
        }
        def.versioned = true;
    }
    if let Some(period) = &image.extra2.period {
        let name_of = |place: u16| {
            def.columns
                .get(usize::from(place))
                .map(|column| column.name.clone())
                .ok_or_else(no_such_column)
        };
        def.application_period = Some(PeriodDef {
            name: period.name.clone(),
            start: name_of(period.start)?,
            end: name_of(period.end)?,
        });
    }
    Ok(())
}

#[cold]
fn no_such_column() -> Error {
    Error::schema("the .frm file names a column that it does not have")
}
