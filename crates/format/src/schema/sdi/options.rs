//! Options of a table, and engine attributes of any object.

use super::json::{Object, Properties};
use crate::Result;
use crate::charset::CollationId;
use crate::schema::create_table::push_quoted;
use crate::schema::{ServerVersion, TableOptions, quoted_name};

/// Reads the options after the closing parenthesis (`fill_share_from_dd`, dd_table_share.cc, and
/// `store_create_info`, sql_show.cc, MySQL 9.7).
pub(super) fn read(
    table: Object<'_>,
    options: &Properties,
    server: ServerVersion,
) -> Result<TableOptions> {
    let collation = CollationId(table.number("collation_id")?);
    let mut read = TableOptions::new(table.text("engine")?, collation);
    read.comment = table.text("comment")?.to_owned();
    read.row_format = options.number("row_type")?.map(|number| row_format(number).to_owned());
    read.others = others(table, options)?;
    // Since 8.0.16 every table has it; it prints when the table is encrypted. (It also prints when
    // the database's own default differs, which is not in a table's file.)
    let encryption = options.text("encrypt_type").filter(|value| !value.is_empty());
    if let Some(value) = encryption.filter(|value| server.number < 80_016 || *value != "N") {
        let in_general = tablespace(table, options)?.is_some_and(|name| name != FILE_PER_TABLE);
        match in_general {
            // Servers before 8.0.16 refuse it there.
            true => read.tail += &format!(" /*!80016 ENCRYPTION={} */", quoted(value)),
            false => read.others.push(("ENCRYPTION".to_owned(), quoted(value))),
        }
    }
    if let Some(connection) = options.text("connection_string").filter(|text| !text.is_empty()) {
        read.tail += &format!(" CONNECTION={}", quoted(connection));
    }
    if let Some(engine) = options.text("secondary_engine").filter(|text| !text.is_empty()) {
        read.tail += &format!(" SECONDARY_ENGINE={engine}");
    }
    for attribute in engine_attributes(table, '=')? {
        read.tail += &format!(" {attribute}");
    }
    Ok(read)
}

/// The name for a tablespace of the table's own.
const FILE_PER_TABLE: &str = "innodb_file_per_table";

/// Returns the SQL name of `dd::Table::enum_row_format` (table.h, MySQL 9.7).
fn row_format(number: u8) -> &'static str {
    match number {
        1 => "FIXED",
        2 => "DYNAMIC",
        3 => "COMPRESSED",
        4 => "REDUNDANT",
        5 => "COMPACT",
        _ => "DEFAULT",
    }
}

/// Returns the options with a name and a value.
fn others(table: Object<'_>, options: &Properties) -> Result<Vec<(String, String)>> {
    let mut others = Vec::new();
    let mut push = |name: &str, value: String| others.push((name.to_owned(), value));
    if let Some(name) = tablespace(table, options)? {
        push("TABLESPACE", quoted_name(name));
    }
    for (name, key) in
        [("MIN_ROWS", "min_rows"), ("MAX_ROWS", "max_rows"), ("AVG_ROW_LENGTH", "avg_row_length")]
    {
        if let Some(number) = options.number::<u64>(key)?.filter(|number| *number > 0) {
            push(name, number.to_string());
        }
    }
    for (name, key) in [("PACK_KEYS", "pack_keys"), ("STATS_PERSISTENT", "stats_persistent")] {
        if let Some(on) = options.flag(key)? {
            push(name, u8::from(on).to_string());
        }
    }
    match options.number::<u8>("stats_auto_recalc")? {
        Some(1) => push("STATS_AUTO_RECALC", "1".to_owned()),
        Some(2) => push("STATS_AUTO_RECALC", "0".to_owned()),
        _ => {}
    }
    if let Some(pages) = options.number::<u32>("stats_sample_pages")?.filter(|pages| *pages > 0) {
        push("STATS_SAMPLE_PAGES", pages.to_string());
    }
    for (name, key) in [("CHECKSUM", "checksum"), ("DELAY_KEY_WRITE", "delay_key_write")] {
        if options.flag(key)? == Some(true) {
            push(name, "1".to_owned());
        }
    }
    if let Some(size) = options.number::<u32>("key_block_size")?.filter(|size| *size > 0) {
        push("KEY_BLOCK_SIZE", size.to_string());
    }
    if let Some(algorithm) = options.text("compress").filter(|name| !name.is_empty()) {
        push("COMPRESSION", quoted(algorithm));
    }
    Ok(others)
}

/// Returns the tablespace that the DDL named for a table or partition.
pub(super) fn tablespace<'t>(
    object: Object<'t>,
    options: &'t Properties,
) -> Result<Option<&'t str>> {
    if options.flag("explicit_tablespace")? != Some(true) {
        return Ok(None);
    }
    let name = match options.text("tablespace") {
        Some(name) => name,
        None => object.text_or_empty("tablespace_ref")?,
    };
    Ok(Some(name).filter(|name| !name.is_empty()))
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, text);
    out
}

/// Returns `ENGINE_ATTRIBUTE` and `SECONDARY_ENGINE_ATTRIBUTE` as printed.
pub(super) fn engine_attributes(object: Object<'_>, separator: char) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for (name, key) in [
        ("ENGINE_ATTRIBUTE", "engine_attribute"),
        ("SECONDARY_ENGINE_ATTRIBUTE", "secondary_engine_attribute"),
    ] {
        let text = object.text_or_empty(key)?;
        if !text.is_empty() {
            out.push(format!("/*!80021 {name}{separator}{} */", quoted(text)));
        }
    }
    Ok(out)
}
