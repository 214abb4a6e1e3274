//! Completion of a parsed table to a [`TableDef`], with the rules that depend on the whole text:
//! columns inherit the table's charset, columns of the primary key become NOT NULL, keys get names
//! and the server's order, implied columns are added.

use super::columns::DraftColumn;
use super::keys::{DraftKey, DraftSource, Keys};
use super::types::{CharsetWords, DraftType, Member};
use super::{Draft, Result, SyntaxError};
use crate::charset::{Charset, CollationId};
use crate::schema::{
    ColumnDef, ColumnDefault, Family, IndexDef, IndexKind, IndexPart, IndexSource, RowFormat,
    RowPeriod, ServerVersion, TableDef, TableOptions, quoted_name,
};
use crate::types::{ColumnType, IntWidth, Temporal, TemporalFormat};

pub(super) fn finish(draft: Draft, server: ServerVersion) -> Result<TableDef> {
    let Draft { schema, name, columns, mut keys, options, partitioning } = draft;
    let usual = usual_collation(server);
    let collation = resolve(&options.charset, usual, server, 0)?;
    let versioned = options.versioned
        || columns.iter().any(|column| column.with_versioning || column.row_period.is_some());
    let mut table_options =
        TableOptions::new(options.engine.unwrap_or_else(|| "InnoDB".into()), collation);
    table_options.explicit_collation = options.charset.collation.is_some();
    table_options.auto_increment = options.auto_increment;
    table_options.row_format = options.row_format;
    table_options.comment = options.comment;
    table_options.others = options.others;
    table_options.tail = options.tail;
    let mut table = TableDef::new(schema, name, server, table_options);
    table.physical.row_format = table.options.row_format.as_deref().and_then(row_format);
    table.partitioning = partitioning;
    table.versioned = versioned;
    let mut first_timestamp = true;
    for column in columns {
        let column = finish_column(column, collation, server, &mut first_timestamp)?;
        table.columns.push(column);
    }
    if versioned {
        add_row_period(&mut table.columns);
    }
    table.application_period = keys.application_period.take();
    let list = std::mem::take(&mut keys.list);
    take_null_from_primary(&list, &mut table);
    for key in list {
        let index = finish_key(key, &table)?;
        table.indexes.push(index);
    }
    sort_keys(&mut table);
    name_constraints(keys, &mut table);
    Ok(table)
}

/// Returns the default collation of tables, if the server's configuration does not change it.
fn usual_collation(server: ServerVersion) -> CollationId {
    let charset = match server.family {
        Family::MySql if server.number >= 80001 => Charset::Utf8Mb4,
        Family::MariaDb if server.number >= 110_600 => Charset::Utf8Mb4,
        Family::MySql | Family::MariaDb => Charset::Latin1,
    };
    charset.default_collation(server)
}

/// Returns the collation that charset words select; `inherited` is the one without them.
fn resolve(
    words: &CharsetWords,
    inherited: CollationId,
    server: ServerVersion,
    at: usize,
) -> Result<CollationId> {
    let charset = match words.charset.as_deref() {
        None | Some("DEFAULT" | "default") => None,
        Some(name) => Some(Charset::by_name(name).ok_or_else(|| {
            SyntaxError::at(at, format!("the charset `{name}`"), "one the servers know")
        })?),
    };
    let collation = match charset {
        Some(charset) => charset.default_collation(server),
        None => inherited,
    };
    if let Some(name) = words.collation.as_deref().filter(|name| !is_default(name)) {
        // MariaDB 10.10+ accepts `uca1400_ai_ci` without its charset.
        let with_charset = || {
            let charset = charset.or_else(|| collation.charset().ok())?;
            CollationId::by_name(&format!("{}_{name}", charset.name()), server.family)
        };
        let named = CollationId::by_name(name, server.family);
        return named.or_else(with_charset).ok_or_else(|| {
            SyntaxError::at(at, format!("the collation `{name}`"), "one the servers know")
        });
    }
    if words.bin {
        let charset = collation.charset().ok();
        return Ok(charset.and_then(bin_collation).unwrap_or(collation));
    }
    Ok(collation)
}

fn bin_collation(charset: Charset) -> Option<CollationId> {
    CollationId::by_name(&format!("{}_bin", charset.name()), Family::MySql)
}

fn is_default(name: &str) -> bool {
    name.eq_ignore_ascii_case("DEFAULT")
}

fn row_format(name: &str) -> Option<RowFormat> {
    match name {
        "REDUNDANT" => Some(RowFormat::Redundant),
        "COMPACT" => Some(RowFormat::Compact),
        "DYNAMIC" => Some(RowFormat::Dynamic),
        "COMPRESSED" => Some(RowFormat::Compressed),
        _ => None,
    }
}

fn finish_column(
    draft: DraftColumn,
    table_collation: CollationId,
    server: ServerVersion,
    first_timestamp: &mut bool,
) -> Result<ColumnDef> {
    let collation = resolve(&draft.charset, table_collation, server, draft.at)?;
    let json_text = matches!(draft.ty, DraftType::JsonText);
    let ty = finish_type(draft.ty, collation, server)?;
    let mut column = ColumnDef::new(draft.name, ty);
    column.explicit_collation =
        (draft.charset.charset.is_some() && draft.charset.collation.is_some()) || json_text;
    let computed = draft.generated.is_some();
    let must_be_set = draft.auto_increment || draft.row_period.is_some();
    column.nullable = draft.nullable.unwrap_or(!must_be_set);
    column.default = draft.default;
    column.on_update = draft.on_update;
    let old_timestamp = matches!(column.ty, ColumnType::Timestamp(_))
        && !explicit_defaults_for_timestamp(server)
        && draft.row_period.is_none();
    if old_timestamp && !computed {
        if draft.nullable.is_none() {
            column.nullable = false;
            default_of_old_timestamp(&mut column, *first_timestamp);
        }
        *first_timestamp = false;
    }
    if !column.nullable && column.default == ColumnDefault::Null {
        column.default = ColumnDefault::None;
    }
    column.auto_increment = draft.auto_increment;
    column.generated = draft.generated;
    column.invisible = draft.invisible;
    column.comment = draft.comment;
    column.srid = draft.srid;
    column.check = draft.check;
    if json_text && column.check.is_none() {
        column.check = Some(format!("json_valid({})", quoted_name(&column.name)));
    }
    column.attributes = draft.attributes;
    column.row_period = draft.row_period;
    column.without_versioning = draft.without_versioning;
    column.compressed = draft.compressed;
    Ok(column)
}

/// Returns whether a `TIMESTAMP` is nullable by default, like all other types: the default of
/// `explicit_defaults_for_timestamp`. (`SHOW CREATE TABLE` always prints NULL or NOT NULL.)
fn explicit_defaults_for_timestamp(server: ServerVersion) -> bool {
    match server.family {
        Family::MySql => server.number >= 80002,
        Family::MariaDb => server.number >= 101_000,
    }
}

/// Sets the default that an old server gives a `TIMESTAMP` with neither NULL nor NOT NULL
/// (`promote_first_timestamp_column`, sql_table.cc).
fn default_of_old_timestamp(column: &mut ColumnDef, first: bool) {
    if column.default != ColumnDefault::None || column.on_update.is_some() {
        return;
    }
    if first {
        column.default = ColumnDefault::Verbatim("CURRENT_TIMESTAMP".into());
        column.on_update = Some("CURRENT_TIMESTAMP".into());
    } else {
        column.default = ColumnDefault::Quoted("0000-00-00 00:00:00".into());
    }
}

fn finish_type(
    draft: DraftType,
    collation: CollationId,
    server: ServerVersion,
) -> Result<ColumnType> {
    let binary = collation == CollationId::BINARY;
    Ok(match draft {
        DraftType::Plain(ty) => ty,
        DraftType::Char { chars } if binary => ColumnType::Binary { bytes: chars },
        DraftType::Char { chars } => ColumnType::Char { chars, collation },
        DraftType::VarChar { chars } if binary => ColumnType::VarBinary { bytes: chars },
        DraftType::VarChar { chars } => ColumnType::VarChar { chars, collation },
        DraftType::Text { length_bytes } if binary => ColumnType::Blob { length_bytes },
        DraftType::Text { length_bytes } => ColumnType::Text { length_bytes, collation },
        DraftType::Enum(members) => {
            ColumnType::Enum { members: encode(members, collation), collation }
        }
        DraftType::Set(members) => {
            ColumnType::Set { members: encode(members, collation), collation }
        }
        DraftType::JsonText => {
            let collation = bin_collation(Charset::Utf8Mb4).unwrap_or(collation);
            ColumnType::Text { length_bytes: 4, collation }
        }
        DraftType::Serial => {
            let old = server.family == Family::MariaDb || server.number < 80019;
            ColumnType::Int {
                width: IntWidth::Eight,
                unsigned: true,
                zerofill: false,
                display_width: old.then_some(20),
            }
        }
    })
}

/// Returns the members' bytes in their charset.
fn encode(members: Vec<Member>, collation: CollationId) -> Vec<Vec<u8>> {
    let charset = collation.charset().unwrap_or(Charset::Binary);
    let bytes = |member| match member {
        Member::Bytes(bytes) => bytes,
        Member::Text(text) => {
            let mut bytes = Vec::with_capacity(text.len());
            charset.encode(&text, &mut bytes);
            bytes
        }
    };
    members.into_iter().map(bytes).collect()
}

/// Adds the columns that a versioned table has without naming them
/// (`Vers_parse_info::fix_implicit`, handler.cc, MariaDB).
fn add_row_period(columns: &mut Vec<ColumnDef>) {
    if columns.iter().any(|column| column.row_period.is_some()) {
        return;
    }
    let ends = [("row_start", RowPeriod::Start), ("row_end", RowPeriod::End)];
    for (name, end) in ends {
        let stamp = Temporal { fsp: 6, format: TemporalFormat::New };
        let mut column = ColumnDef::new(name, ColumnType::Timestamp(stamp));
        column.nullable = false;
        column.hidden = true;
        column.row_period = Some(end);
        columns.push(column);
    }
}

fn column_number(table: &TableDef, name: &str) -> Option<usize> {
    let same = |column: &&ColumnDef| column.name == name;
    let alike = |column: &ColumnDef| column.name.to_lowercase() == name.to_lowercase();
    let exact = table.columns.iter().position(|column| same(&column));
    exact.or_else(|| table.columns.iter().position(alike))
}

/// Makes the columns of the primary key NOT NULL.
fn take_null_from_primary(keys: &[DraftKey], table: &mut TableDef) {
    let primary = keys.iter().filter(|key| key.kind == IndexKind::Primary);
    for part in primary.flat_map(|key| &key.parts) {
        let DraftSource::Column(name) = &part.source else { continue };
        let number = column_number(table, name);
        if let Some(column) = number.and_then(|number| table.columns.get_mut(number)) {
            column.nullable = false;
            if column.default == ColumnDefault::Null {
                column.default = ColumnDefault::None;
            }
        }
    }
}

fn finish_key(key: DraftKey, table: &TableDef) -> Result<IndexDef> {
    let mut parts = Vec::with_capacity(key.parts.len());
    for part in key.parts {
        let source = match part.source {
            DraftSource::Expression(expression) => IndexSource::Expression(expression),
            DraftSource::Column(name) => {
                let number = column_number(table, &name).ok_or_else(|| {
                    let found = format!("a key over `{name}`");
                    SyntaxError::at(key.at, found, "columns of the table")
                })?;
                IndexSource::Column(number)
            }
        };
        let prefix_chars = part.prefix_chars.filter(|&chars| !is_whole(table, &source, chars));
        parts.push(IndexPart { source, prefix_chars, descending: part.descending });
    }
    if table.versioned && matches!(key.kind, IndexKind::Primary | IndexKind::Unique) {
        add_row_end(&mut parts, table);
    }
    let name = match (key.kind, key.name) {
        (IndexKind::Primary, _) => "PRIMARY".into(),
        (_, Some(name)) => name,
        (_, None) => made_up_name(&parts, table),
    };
    let mut index = IndexDef::new(name, key.kind, parts);
    index.using = key.using;
    index.key_block_size = key.key_block_size;
    index.parser = key.parser;
    index.comment = key.comment;
    index.invisible = key.invisible;
    index.attributes = key.attributes;
    index.without_overlaps = key.without_overlaps;
    Ok(index)
}

/// Returns whether a prefix covers the whole column, which the server does not treat as a prefix.
fn is_whole(table: &TableDef, source: &IndexSource, prefix: u32) -> bool {
    let IndexSource::Column(number) = source else { return false };
    match table.columns.get(*number).map(|column| &column.ty) {
        Some(ColumnType::Char { chars, .. } | ColumnType::VarChar { chars, .. }) => {
            *chars == prefix
        }
        Some(ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes }) => *bytes == prefix,
        _ => false,
    }
}

/// Adds the row end as the last part of a versioned table's unique keys.
fn add_row_end(parts: &mut Vec<IndexPart>, table: &TableDef) {
    let is_end = |column: &ColumnDef| column.row_period == Some(RowPeriod::End);
    let Some(end) = table.columns.iter().position(is_end) else { return };
    let source = IndexSource::Column(end);
    if parts.iter().all(|part| part.source != source) {
        parts.push(IndexPart { source, prefix_chars: None, descending: false });
    }
}

/// Returns the name of an unnamed index: its first column's, with a number if taken
/// (`make_unique_key_name`, sql_table.cc).
fn made_up_name(parts: &[IndexPart], table: &TableDef) -> String {
    let first = match parts.first().map(|part| &part.source) {
        Some(IndexSource::Column(number)) => {
            table.columns.get(*number).map_or("", |column| column.name.as_str())
        }
        Some(IndexSource::Expression(_)) => "functional_index",
        None => "",
    };
    let free = |name: &str| {
        !name.eq_ignore_ascii_case("PRIMARY")
            && !table.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name))
    };
    if free(first) {
        return first.to_owned();
    }
    let numbered = (2_u32..).map(|n| format!("{first}_{n}")).find(|name| free(name));
    numbered.unwrap_or_else(|| first.to_owned())
}

/// Sorts keys in the server's order (`sort_keys`, sql_table.cc): unique ones first, and among them
/// those that cannot be NULL, then the primary, then those over whole columns; full-text ones last.
fn sort_keys(table: &mut TableDef) {
    let columns = std::mem::take(&mut table.columns);
    let is_mysql = table.server.family == Family::MySql;
    let long_unique = |index: &IndexDef| !is_mysql && index.is_unique_by_hash();
    let column_of = |part: &IndexPart| match &part.source {
        IndexSource::Column(number) => columns.get(*number),
        IndexSource::Expression(_) => None,
    };
    table.indexes.sort_by_key(|index| {
        let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
        let nullable =
            index.parts.iter().any(|part| column_of(part).is_none_or(|column| column.nullable));
        let prefixed = index.parts.iter().any(|part| part.prefix_chars.is_some());
        let computed =
            index.parts.iter().any(|part| column_of(part).is_none_or(|column| !column.is_stored()));
        (
            !unique,
            long_unique(index),
            unique && nullable,
            unique && index.kind != IndexKind::Primary,
            unique && prefixed,
            index.kind == IndexKind::FullText,
            is_mysql && computed,
        )
    });
    table.columns = columns;
}

/// Names unnamed foreign keys and checks like the server, and drops the checks of servers that
/// parse but do not store them.
fn name_constraints(keys: Keys, table: &mut TableDef) {
    table.foreign_keys = keys.foreign;
    let mut number = 0;
    for foreign in table.foreign_keys.iter_mut().filter(|foreign| foreign.name.is_empty()) {
        number += 1;
        foreign.name = format!("{}_ibfk_{number}", table.name);
    }
    let keeps_checks = match table.server.family {
        Family::MySql => table.server.number >= 80016,
        Family::MariaDb => table.server.number >= 100_201,
    };
    if !keeps_checks {
        return;
    }
    table.checks = keys.checks;
    let mut number = 0;
    for check in table.checks.iter_mut().filter(|check| check.name.is_empty()) {
        number += 1;
        check.name = match table.server.family {
            Family::MySql => format!("{}_chk_{number}", table.name),
            Family::MariaDb => format!("CONSTRAINT_{number}"),
        };
    }
}
