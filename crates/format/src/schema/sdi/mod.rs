//! Serialized dictionary information: the JSON document in which MySQL 8 and 9 store a copy of a
//! table's definition in its own tablespace.
//!
//! Its members are those of the dictionary's objects (`dd::Table`, `dd::Column`, ...:
//! sql/dd/impl/types/*_impl.cc, `serialize`, MySQL 9.7), their enums are numbers counted from 1,
//! and a reference to a column is its index among all columns, including hidden ones
//! (`column_opx`). The document of a partitioned table is only in the file of its first partition,
//! and 8.0.12 writes none for one with subpartitions.
//!
//! The document does not contain: the counter behind `AUTO_INCREMENT` since the last DDL
//! ([`super::counters`]), and whether the database itself requires
//! encryption.

mod column;
mod constants;
mod json;
mod names;
mod options;
mod partition;

use serde_json::Value;

use self::column::{DdColumn, Visibility};
use self::json::Object;
pub use self::json::Properties;
pub use self::names::SdiNames;
use super::data_directory::{data_directory, data_directory_option};
use super::{
    CheckDef, ColumnDefault, Family, ForeignKeyDef, ForeignKeyRule, IndexDef, IndexKind, IndexPart,
    IndexSource, InstantDefault, RowFormat, ServerVersion, StoredColumn, StoredSource, TableDef,
};
use crate::charset::CollationId;
use crate::types::ColumnType;
use crate::{Error, IndexId, PageNo, Result, SpaceId};

/// Reads a table's definition from its SDI document (type 1) as stored in the file, or from the
/// whole output of `ibd2sdi`.
pub fn from_sdi(json: &[u8]) -> Result<TableDef> {
    from_sdi_documents(&[json])
}

/// Reads a table's definition from the documents of its tablespace: that of the table and, if
/// present, that of the tablespace, which has `AUTOEXTEND_SIZE`.
pub fn from_sdi_documents<T: AsRef<[u8]>>(documents: &[T]) -> Result<TableDef> {
    let mut table: Option<TableDef> = None;
    let mut autoextend_size_bytes = None;
    let mut file = None;
    for_each_document(documents, |kind, document| {
        match kind {
            "Table" if table.is_some() => {
                return Err(Error::unsupported(
                    "SDI of more than one table",
                    "give the document of the table alone",
                ));
            }
            "Table" => {
                let server = document.number("mysqld_version_id")?;
                let server = ServerVersion { family: Family::MySql, number: server };
                table = Some(read_table(document.object("dd_object")?, server)?);
            }
            "Tablespace" => {
                let tablespace = document.object("dd_object")?;
                let first = tablespace.objects_if_any("files")?.next().transpose()?;
                file = first.map(|file| file.text("filename").map(str::to_owned)).transpose()?;
                let options = tablespace.properties("options")?;
                autoextend_size_bytes = options.number::<u64>("autoextend_size")?;
            }
            _ => {}
        }
        Ok(())
    })?;
    let mut table = table.ok_or_else(|| Error::schema("the SDI holds no table"))?;
    // That of a general tablespace is the tablespace's own.
    let implicit = table.options.others.iter().all(|(name, _)| name != "TABLESPACE");
    if let Some(size) = autoextend_size_bytes.filter(|size| *size > 0 && implicit) {
        table.options.others.push(("AUTOEXTEND_SIZE".to_owned(), size.to_string()));
    }
    let file = file.filter(|_| implicit && table.partitioning.is_none());
    if let Some(directory) = file.as_deref().and_then(data_directory) {
        table.options.others.push(data_directory_option(&directory));
    }
    Ok(table)
}

/// Calls `take` with each document and its object's type.
fn for_each_document<T: AsRef<[u8]>>(
    documents: &[T],
    mut take: impl FnMut(&str, Object<'_>) -> Result<()>,
) -> Result<()> {
    for json in documents {
        let text = String::from_utf8_lossy(json.as_ref());
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| Error::schema(format!("the SDI is not JSON: {error}")))?;
        for document in split(&value) {
            let document = Object::from_value(document, "document")?;
            take(document.text("dd_object_type")?, document)?;
        }
    }
    Ok(())
}

/// Returns the documents in the output of `ibd2sdi`, or a single document.
fn split(value: &Value) -> Vec<&Value> {
    match value.as_array() {
        Some(listed) => listed.iter().filter_map(|element| element.get("object")).collect(),
        None => vec![value],
    }
}

fn read_table(table: Object<'_>, server: ServerVersion) -> Result<TableDef> {
    let options = table.properties("options")?;
    let mut def = TableDef::new(
        table.text("schema_ref")?,
        table.text("name")?,
        server,
        options::read(table, &options, server)?,
    );
    // Values other than HT_VISIBLE are full-text auxiliary tables and unfinished copies.
    def.hidden = table.number::<u8>("hidden")? != 1;
    def.packs_records = options.flag("pack_record")?;
    let dd_columns = table
        .objects("columns")?
        .map(|column| DdColumn::read(column?, server))
        .collect::<Result<Vec<_>>>()?;
    let engine_data = table.properties("se_private_data")?;
    def.physical.instant_columns = engine_data.number("instant_col")?;
    def.physical.table_id = Some(table.number("se_private_id")?);
    def.physical.table_version = engine_data.number("version")?.unwrap_or(0);
    let last = last_auto_increment(table)?;
    def.options.auto_increment = (last > 0).then(|| last.saturating_add(1));
    def.physical.row_format = row_format(table.number("row_format")?);
    let mut places = place_columns(dd_columns, &mut def)?;
    let mut first = true;
    convert_constants(&mut def, &mut places);
    for index in table.objects("indexes")? {
        let index = index?;
        if std::mem::take(&mut first) {
            let place = PlaceOfIndex::read(&index.properties("se_private_data")?)?;
            def.physical.space = place.space;
            def.physical.clustered = place.root;
        }
        if !index.flag("hidden")? {
            let index = read_index(index, &places, &def)?;
            def.indexes.push(index);
        }
    }
    for key in table.objects("foreign_keys")? {
        def.foreign_keys.push(read_foreign_key(key?, &places, &def)?);
    }
    def.foreign_keys.sort_by_key(|key| key.name.to_lowercase());
    for check in table.objects_if_any("check_constraints")? {
        let check = check?;
        def.checks.push(CheckDef {
            name: check.text("name")?.to_owned(),
            expression: String::from_utf8_lossy(&check.binary("check_clause")?).into_owned(),
            enforced: check.number::<u8>("state")? != 1,
        });
    }
    def.checks.sort_by_key(|check| check.name.to_lowercase());
    if let Some((partitioning, physical)) = partition::read(table, server)? {
        def.partitioning = Some(partitioning);
        def.physical.partitions = physical;
    }
    Ok(def)
}

/// The destination of a dictionary column, by its index among all of them.
struct Placed {
    /// The column in the definition, or the expression of a functional key part.
    source: Option<IndexSource>,
    /// Maximum length of a value in bytes.
    length_bytes: u32,
}

/// Distributes the columns to the SQL definition and to the physical one.
fn place_columns(dd_columns: Vec<DdColumn>, def: &mut TableDef) -> Result<Vec<Placed>> {
    let mut places = Vec::with_capacity(dd_columns.len());
    for column in dd_columns {
        let DdColumn { def: column, visibility, length_bytes, engine_data } = column;
        let stored = column.is_stored();
        let source = match visibility {
            Visibility::Visible | Visibility::Invisible => {
                let place = def.columns.len();
                if stored {
                    let source = StoredSource::Column(place);
                    def.physical.stored.push(stored_column(source, &engine_data)?);
                }
                def.columns.push(column);
                Some(IndexSource::Column(place))
            }
            Visibility::Server => {
                column.generated.map(|generated| IndexSource::Expression(generated.expression))
            }
            Visibility::Engine => {
                let is_system =
                    matches!(column.name.as_str(), "DB_ROW_ID" | "DB_TRX_ID" | "DB_ROLL_PTR");
                if !is_system {
                    let (ty, nullable) = (column.ty, column.nullable);
                    let dropped = engine_data.text("version_dropped").is_some();
                    let source = if dropped {
                        StoredSource::Dropped { ty, nullable }
                    } else {
                        StoredSource::Hidden { ty, nullable }
                    };
                    def.physical.stored.push(stored_column(source, &engine_data)?);
                }
                None
            }
        };
        places.push(Placed { source, length_bytes });
    }
    let versions = def
        .physical
        .stored
        .iter()
        .map(|column| column.version_added.max(column.version_dropped.unwrap_or(0)));
    def.physical.row_version = versions.max().unwrap_or(0);
    Ok(places)
}

/// Converts expressions to the form that the server gives them when it opens the table.
fn convert_constants(def: &mut TableDef, places: &mut [Placed]) {
    let convert = |text: &str| constants::convert(text, &def.columns, def.server);
    for place in places {
        if let Some(IndexSource::Expression(expression)) = &mut place.source {
            *expression = convert(expression);
        }
    }
    let changed: Vec<_> = def
        .columns
        .iter()
        .map(|column| {
            let generated = column.generated.as_ref();
            let default = match &column.default {
                ColumnDefault::Verbatim(text) if text.starts_with('(') => Some(convert(text)),
                _ => None,
            };
            (generated.map(|generated| convert(&generated.expression)), default)
        })
        .collect();
    for (column, (expression, default)) in def.columns.iter_mut().zip(changed) {
        if let (Some(generated), Some(expression)) = (&mut column.generated, expression) {
            generated.expression = expression;
        }
        if let Some(default) = default {
            column.default = ColumnDefault::Verbatim(default);
        }
    }
}

fn stored_column(source: StoredSource, engine_data: &Properties) -> Result<StoredColumn> {
    let default = match engine_data.text("default") {
        Some(digits) => Some(InstantDefault::Bytes(decode_hex(digits)?)),
        None if engine_data.flag("default_null")? == Some(true) => Some(InstantDefault::Null),
        None => None,
    };
    Ok(StoredColumn {
        source,
        physical_pos: engine_data.number("physical_pos")?,
        version_added: engine_data.number("version_added")?.unwrap_or(0),
        version_dropped: engine_data.number("version_dropped")?,
        default,
    })
}

/// Decodes two hexadecimal digits per byte (`DD_instant_col_val_coder`, dict0dd.cc, MySQL 9.7).
fn decode_hex(digits: &str) -> Result<Vec<u8>> {
    let wrong = || Error::schema("an instant column's default is not hexadecimal");
    let nibble = |digit: u8| (digit as char).to_digit(16).ok_or_else(wrong);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    pairs.iter().map(|[high, low]| Ok((nibble(*high)? << 4 | nibble(*low)?) as u8)).collect()
}

/// Returns the last `AUTO_INCREMENT` value as of the last DDL; each partition has its own.
fn last_auto_increment(table: Object<'_>) -> Result<u64> {
    let mut last = 0;
    let mut counted = vec![table];
    for partition in table.objects("partitions")? {
        let partition = partition?;
        counted.push(partition);
        counted.extend(partition.objects_if_any("subpartitions")?.collect::<Result<Vec<_>>>()?);
    }
    for object in counted {
        let counter = object.properties("se_private_data")?.number("autoinc")?;
        last = last.max(counter.unwrap_or(0));
    }
    Ok(last)
}

/// The location of an index, from its `se_private_data`.
struct PlaceOfIndex {
    space: Option<SpaceId>,
    root: Option<(IndexId, PageNo)>,
}

impl PlaceOfIndex {
    fn read(engine_data: &Properties) -> Result<PlaceOfIndex> {
        let space = engine_data.number("space_id")?.map(SpaceId);
        let id = engine_data.number("id")?.map(IndexId);
        let root = engine_data.number("root")?.map(PageNo);
        Ok(PlaceOfIndex { space, root: id.zip(root) })
    }
}

/// Converts `dd::Table::enum_row_format` (table.h, MySQL 9.7).
fn row_format(number: u8) -> Option<RowFormat> {
    match number {
        2 => Some(RowFormat::Dynamic),
        3 => Some(RowFormat::Compressed),
        4 => Some(RowFormat::Redundant),
        5 => Some(RowFormat::Compact),
        _ => None,
    }
}

fn read_index(index: Object<'_>, places: &[Placed], def: &TableDef) -> Result<IndexDef> {
    let name = index.text("name")?;
    let kind = match index.number::<u8>("type")? {
        1 => IndexKind::Primary,
        2 => IndexKind::Unique,
        3 => IndexKind::Key,
        4 => IndexKind::FullText,
        5 => IndexKind::Spatial,
        other => return Err(Error::schema(format!("index `{name}`: type {other} is not known"))),
    };
    let mut parts = Vec::new();
    for element in index.objects("elements")? {
        let element = element?;
        // Elements added by InnoDB have no length; in 8.0.12 nothing else marks them.
        let length = element.number::<u32>("length")?;
        if length == u32::MAX {
            continue;
        }
        let opx = element.number::<usize>("column_opx")?;
        let placed = places.get(opx).and_then(|placed| Some((placed, placed.source.clone()?)));
        let Some((placed, source)) = placed else {
            return Err(Error::schema(format!(
                "index `{name}` refers to column {opx}, which does not exist"
            )));
        };
        let prefix_chars = match (&source, kind) {
            (
                IndexSource::Column(place),
                IndexKind::Primary | IndexKind::Unique | IndexKind::Key,
            ) => def.columns.get(*place).and_then(|column| prefix(&column.ty, placed, length)),
            _ => None,
        };
        parts.push(IndexPart {
            source,
            prefix_chars,
            descending: element.number::<u8>("order")? == 3,
        });
    }
    let mut read = IndexDef::new(name, kind, parts);
    if index.flag("is_algorithm_explicit")? {
        let algorithm = match index.number::<u8>("algorithm")? {
            2 => Some("BTREE"),
            3 => Some("RTREE"),
            4 => Some("HASH"),
            _ => None,
        };
        read.using = algorithm.map(str::to_owned);
    }
    let options = index.properties("options")?;
    read.key_block_size = options.number("block_size")?.unwrap_or(0);
    read.parser = options.text("parser_name").map(str::to_owned);
    read.comment = index.text("comment")?.to_owned();
    read.invisible = !index.flag("is_visible")?;
    read.attributes = options::engine_attributes(index, ' ')?;
    Ok(read)
}

/// Returns the number of a column's characters in a key part, unless it has all.
fn prefix(ty: &ColumnType, placed: &Placed, length_bytes: u32) -> Option<u32> {
    let (can_be_whole, collation) = match ty {
        ColumnType::Char { collation, .. } | ColumnType::VarChar { collation, .. } => {
            (true, *collation)
        }
        ColumnType::Binary { .. } | ColumnType::VarBinary { .. } => (true, CollationId::BINARY),
        ColumnType::Text { collation, .. } => (false, *collation),
        ColumnType::Blob { .. } | ColumnType::Geometry(_) => (false, CollationId::BINARY),
        _ => return None,
    };
    if can_be_whole && length_bytes == placed.length_bytes {
        return None;
    }
    let most_bytes = collation.charset().map_or(1, |charset| charset.max_len() as u32);
    Some(length_bytes / most_bytes.max(1))
}

fn read_foreign_key(key: Object<'_>, places: &[Placed], def: &TableDef) -> Result<ForeignKeyDef> {
    let name = key.text("name")?;
    let mut columns = Vec::new();
    let mut parent_columns = Vec::new();
    for element in key.objects("elements")? {
        let element = element?;
        let opx = element.number::<usize>("column_opx")?;
        let column = match places.get(opx).and_then(|placed| placed.source.as_ref()) {
            Some(IndexSource::Column(place)) => def.columns.get(*place),
            _ => None,
        };
        let Some(column) = column else {
            return Err(Error::schema(format!(
                "foreign key `{name}` refers to column {opx}, which does not exist"
            )));
        };
        columns.push(column.name.clone());
        parent_columns.push(element.text("referenced_column_name")?.to_owned());
    }
    let parent_schema = key.text("referenced_table_schema_name")?;
    let same = parent_schema.eq_ignore_ascii_case(&def.schema);
    Ok(ForeignKeyDef {
        name: name.to_owned(),
        columns,
        parent_schema: if same { String::new() } else { parent_schema.to_owned() },
        parent_table: key.text("referenced_table_name")?.to_owned(),
        parent_columns,
        on_delete: rule(key.number("delete_rule")?)?,
        on_update: rule(key.number("update_rule")?)?,
        parent_not_unique: key.text_or_empty("unique_constraint_name")?.is_empty(),
    })
}

/// Converts `dd::Foreign_key::enum_rule` (foreign_key.h, MySQL 9.7). A key without a rule has `NO
/// ACTION`.
fn rule(number: u8) -> Result<ForeignKeyRule> {
    match number {
        1 => Ok(ForeignKeyRule::Default),
        2 => Ok(ForeignKeyRule::Restrict),
        3 => Ok(ForeignKeyRule::Cascade),
        4 => Ok(ForeignKeyRule::SetNull),
        5 => Ok(ForeignKeyRule::SetDefault),
        other => Err(Error::schema(format!("foreign key rule {other} is not known"))),
    }
}

#[cfg(test)]
mod tests;
