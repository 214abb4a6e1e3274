//! Sequences of MariaDB, which are tables of one row.

use std::path::Path;

use innoscan_engine::small_tree::for_each_row;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::{ServerVersion, TableDef, filename, from_frm_shown_by, is_sequence};
use innoscan_format::types::{Codec, ColumnType, IntWidth};
use innoscan_io::Direct;

use super::super::{EngineTable, FoundObject, Item, ItemKind};
use super::text::Quoting;
use super::{DefinitionFile, database_name};
use crate::catalog::Catalog;
use crate::object::{Object, ObjectKind};

/// The sequences of a database's directory, in the order of their names.
pub(super) fn sequences(
    server: ServerVersion,
    dir: &Path,
    definitions: &[DefinitionFile],
) -> Vec<FoundObject> {
    let mut found = Vec::new();
    let database = database_name(dir);
    for DefinitionFile { stem, path, bytes } in definitions {
        let Ok(bytes) = bytes else { continue };
        if !is_sequence(bytes) {
            continue;
        }
        let name = filename::decode(stem);
        let sequence = sequence(server, &database, &name, path, bytes);
        let statements = sequence.map(|object| vec![object]);
        let statements = statements.map_err(|error| error.in_file(path));
        let item = Item::new(&database, ItemKind::Sequence, &name);
        found.push(FoundObject { item, statements });
    }
    found.sort_by(|a, b| a.item.cmp(&b.item));
    found
}

/// The columns of the row, in their order (sql/sql_sequence.h, MariaDB 10.3 to 11.8).
#[derive(Debug, Default)]
struct SequenceRow {
    next: i128,
    least: i128,
    greatest: i128,
    start: i128,
    step: i128,
    cache: i128,
    is_cycle: bool,
    round: i128,
}

impl SequenceRow {
    fn of(values: &[i128]) -> Option<SequenceRow> {
        let &[next, least, greatest, start, step, cache, cycle, round] = values else {
            return None;
        };
        let is_cycle = cycle != 0;
        Some(SequenceRow { next, least, greatest, start, step, cache, is_cycle, round })
    }
}

/// The text of `SHOW CREATE SEQUENCE`, and the statement that sets the sequence's state.
fn sequence(
    server: ServerVersion,
    database: &str,
    name: &str,
    frm: &Path,
    bytes: &[u8],
) -> Result<Object> {
    let def = from_frm_shown_by(bytes, database, name, server)?;
    let row = match def.options.engine.eq_ignore_ascii_case("innodb") {
        true => row_of_innodb(frm)?,
        false => row_of_other(frm)?,
    };
    let quoting = Quoting::default();
    let cache = match row.cache {
        0 => "nocache".to_owned(),
        cache => format!("cache {cache}"),
    };
    let cycle = if row.is_cycle { "cycle" } else { "nocycle" };
    let mut create = format!(
        "CREATE SEQUENCE {}{} start with {} minvalue {} maxvalue {} increment by {} {cache} {cycle} \
         ENGINE={}",
        quoting.name(name),
        type_clause(&def, server),
        row.start,
        row.least,
        row.greatest,
        row.step,
        def.options.engine
    );
    if !def.options.comment.is_empty() {
        create += &format!(" COMMENT={}", quoting.text(&def.options.comment));
    }
    let set = format!("DO SETVAL({}, {}, 0, {})", quoting.name(name), row.next, row.round);
    Ok(Object::new(database, ObjectKind::Sequence, name, vec![create, set]))
}

/// The clause ` as bigint unsigned`, which MariaDB 11.5 and later show.
fn type_clause(def: &TableDef, server: ServerVersion) -> String {
    let ty = def.columns.first().map(|column| &column.ty);
    let Some(ColumnType::Int { width, unsigned, .. }) = ty else { return String::new() };
    if server.number < 110_500 {
        return String::new();
    }
    let name = match width {
        IntWidth::One => "tinyint",
        IntWidth::Two => "smallint",
        IntWidth::Three => "mediumint",
        IntWidth::Four => "int",
        IntWidth::Eight => "bigint",
    };
    format!(" as {name}{}", if *unsigned { " unsigned" } else { "" })
}

fn row_of_innodb(frm: &Path) -> Result<SequenceRow> {
    let catalog = Catalog::new(None).with_force(true);
    let table = catalog.table(&frm.to_string_lossy())?;
    let mut found = None;
    for file in &table.files {
        let mut reader = SpaceReader::new(file.open(Direct::Off)?)?;
        let root = file.clustered_root.unwrap_or(reader.space().first_root());
        let layout = reader.clustered(&table.def_of(file), root)?.layout;
        // A sequence is never rolled back (`dict_table_t::no_rollback`).
        for_each_row(&mut reader, &layout, root, None, |row| {
            found = Some(numbers(&table.def, row)?);
            Ok(())
        })?;
    }
    checked(found)
}

fn row_of_other(frm: &Path) -> Result<SequenceRow> {
    let table = EngineTable::open(frm)?;
    let mut found = None;
    table.for_each_row(|row| {
        found = Some(numbers(&table.def, row)?);
        Ok(())
    })?;
    checked(found)
}

fn checked(values: Option<Vec<i128>>) -> Result<SequenceRow> {
    let row = values.as_deref().and_then(SequenceRow::of);
    row.ok_or_else(|| {
        Error::from(innoscan_format::Error::corrupt("the sequence has not its one row of numbers"))
    })
}

fn numbers(def: &TableDef, row: &[Option<&[u8]>]) -> innoscan_format::Result<Vec<i128>> {
    let corrupt = || innoscan_format::Error::corrupt("a value of the sequence is not a number");
    let mut numbers = Vec::new();
    for (value, column) in row.iter().zip(&def.columns) {
        let mut text = Vec::new();
        Codec::new(&column.ty, def.server)?.write_text(value.ok_or_else(corrupt)?, &mut text)?;
        let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        numbers.push(number.ok_or_else(corrupt)?);
    }
    Ok(numbers)
}
