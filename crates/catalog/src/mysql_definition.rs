//! Definitions from the dictionary of MySQL 8, for tables whose files have none: those with subpartitions, and some
//! with partitions, that 8.0.11 to 8.0.16 wrote, and those that a killed server was altering.
//!
//! The rows of the dictionary's tables have the members of the SDI document under the same names (`sql/dd/impl/tables`,
//! MySQL 8.0). So the document is put together from them, and read like that of a file.

use std::path::Path;
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::base64;
use innoscan_format::schema::{TableDef, from_sdi};
use serde_json::{Map, Value, json};

use crate::mysql_ibd::{DictionaryFile, Row};

/// How a column of the dictionary becomes a member of the document.
#[derive(Clone, Copy)]
enum As {
    /// A text; empty for NULL.
    Text,
    /// A number; 0 for NULL. `NAME_null` says which.
    Number,
    /// A truth value; false for NULL, and where the column does not exist.
    Flag,
    /// The number of an `ENUM`'s member; 0 for NULL.
    Member,
    /// Bytes in base64; empty for NULL. `NAME_null` says which.
    Bytes,
}

type Members = [(&'static str, As)];

const TABLE: &Members = &[
    ("id", As::Number),
    ("schema_id", As::Number),
    ("name", As::Text),
    ("engine", As::Text),
    ("mysql_version_id", As::Number),
    ("row_format", As::Member),
    ("collation_id", As::Number),
    ("comment", As::Text),
    ("hidden", As::Member),
    ("options", As::Text),
    ("se_private_data", As::Text),
    ("se_private_id", As::Number),
    ("partition_type", As::Member),
    ("partition_expression", As::Text),
    ("default_partitioning", As::Member),
    ("subpartition_type", As::Member),
    ("subpartition_expression", As::Text),
    ("default_subpartitioning", As::Member),
];

const COLUMN: &Members = &[
    ("id", As::Number),
    ("table_id", As::Number),
    ("name", As::Text),
    ("ordinal_position", As::Number),
    ("type", As::Member),
    ("is_nullable", As::Flag),
    ("is_zerofill", As::Flag),
    ("is_unsigned", As::Flag),
    ("char_length", As::Number),
    ("numeric_precision", As::Number),
    ("numeric_scale", As::Number),
    ("datetime_precision", As::Number),
    ("collation_id", As::Number),
    ("has_no_default", As::Flag),
    ("default_value", As::Bytes),
    ("default_value_utf8", As::Text),
    ("default_option", As::Text),
    ("update_option", As::Text),
    ("is_auto_increment", As::Flag),
    ("is_virtual", As::Flag),
    ("generation_expression", As::Text),
    ("comment", As::Text),
    ("hidden", As::Member),
    ("options", As::Text),
    ("se_private_data", As::Text),
    ("srs_id", As::Number),
    ("is_explicit_collation", As::Flag),
];

const ELEMENT: &Members =
    &[("column_id", As::Number), ("element_index", As::Number), ("name", As::Bytes)];

const INDEX: &Members = &[
    ("id", As::Number),
    ("table_id", As::Number),
    ("name", As::Text),
    ("type", As::Member),
    ("algorithm", As::Member),
    ("is_algorithm_explicit", As::Flag),
    ("is_visible", As::Flag),
    ("hidden", As::Flag),
    ("ordinal_position", As::Number),
    ("comment", As::Text),
    ("options", As::Text),
    ("se_private_data", As::Text),
];

const INDEX_PART: &Members = &[
    ("index_id", As::Number),
    ("ordinal_position", As::Number),
    ("column_id", As::Number),
    ("length", As::Number),
    ("order", As::Member),
];

const PARTITION: &Members = &[
    ("id", As::Number),
    ("table_id", As::Number),
    ("parent_partition_id", As::Number),
    ("number", As::Number),
    ("name", As::Text),
    ("engine", As::Text),
    ("comment", As::Text),
    ("options", As::Text),
    ("se_private_data", As::Text),
    ("se_private_id", As::Number),
    ("tablespace_id", As::Number),
];

const PARTITION_VALUE: &Members = &[
    ("partition_id", As::Number),
    ("list_num", As::Number),
    ("column_num", As::Number),
    ("value_utf8", As::Text),
    ("max_value", As::Flag),
];

const INDEX_PARTITION: &Members = &[
    ("partition_id", As::Number),
    ("index_id", As::Number),
    ("options", As::Text),
    ("se_private_data", As::Text),
];

const CONSTRAINT: &Members = &[("table_id", As::Number)];

const NAMED: &Members = &[("id", As::Number), ("name", As::Text)];

/// The definition of a table in the dictionary; `None` if it is not there.
///
/// # Errors
/// The dictionary cannot be read.
pub(crate) fn definition(
    (mysql_ibd, undo_logs): (&Path, Option<Arc<UndoLogs>>),
    keys: &Keys,
    schema: &str,
    table: &str,
) -> Result<Option<TableDef>> {
    let dictionary = Dictionary { file: DictionaryFile::open(mysql_ibd, undo_logs, keys)? };
    let Some(document) = dictionary.document(schema, table)? else { return Ok(None) };
    let def = from_sdi(document.to_string().as_bytes());
    def.map(Some).map_err(|error| Error::from(error).in_file(mysql_ibd))
}

struct Dictionary {
    file: DictionaryFile,
}

/// A member of the document.
type Object = Map<String, Value>;

impl Dictionary {
    fn document(&self, schema: &str, table: &str) -> Result<Option<Value>> {
        let schemata =
            self.objects("schemata", NAMED, |row| row.bytes("name") == Some(schema.as_bytes()))?;
        let Some(schema_id) = schemata.first().map(|found| id(found, "id")) else {
            return Ok(None);
        };
        let tables = self.objects("tables", TABLE, |row| {
            row.number("schema_id").ok() == Some(schema_id)
                && row.bytes("name") == Some(table.as_bytes())
        })?;
        let Some(mut object) = tables.into_iter().next() else { return Ok(None) };
        let table_id = id(&object, "id");
        let (columns, column_ids) = self.columns(table_id)?;
        let (indexes, index_ids) = self.indexes(table_id, &column_ids)?;
        object.insert("columns".to_owned(), columns);
        object.insert("indexes".to_owned(), indexes);
        object.insert("partitions".to_owned(), self.partitions(table_id, &index_ids)?);
        self.require_no_constraints(table_id)?;
        object.insert("foreign_keys".to_owned(), json!([]));
        object.insert("schema_ref".to_owned(), json!(schema));
        let version = object.get("mysql_version_id").cloned();
        Ok(Some(json!({
            "mysqld_version_id": version,
            "dd_object_type": "Table",
            "dd_object": object,
        })))
    }

    /// Requires that a table has no constraints, which the document would lack.
    ///
    /// # Errors
    /// It has; the dictionary cannot be read.
    fn require_no_constraints(&self, table_id: u64) -> Result<()> {
        for table in ["foreign_keys", "check_constraints"] {
            if self.file.has_table(table)
                && !self.objects(table, CONSTRAINT, of("table_id", table_id))?.is_empty()
            {
                let what =
                    "the definition of a table with constraints, which is only in the dictionary";
                let remedy = "start the server on a copy of the directory, and read that";
                return Err(
                    Error::from(format::Error::unsupported(what, remedy)).in_file(self.file.path())
                );
            }
        }
        Ok(())
    }

    /// The columns of a table in their order, and their ids.
    fn columns(&self, table_id: u64) -> Result<(Value, Vec<u64>)> {
        let mut columns = self.objects("columns", COLUMN, of("table_id", table_id))?;
        columns.sort_by_key(|column| id(column, "ordinal_position"));
        let ids: Vec<u64> = columns.iter().map(|column| id(column, "id")).collect();
        let elements = self.objects("column_type_elements", ELEMENT, of_any("column_id", &ids))?;
        for (column, column_id) in columns.iter_mut().zip(&ids) {
            add_parts(column, "elements", &elements, ("column_id", *column_id), &["element_index"]);
        }
        Ok((json!(columns), ids))
    }

    /// The indexes of a table in their order, and their ids.
    fn indexes(&self, table_id: u64, column_ids: &[u64]) -> Result<(Value, Vec<u64>)> {
        let mut indexes = self.objects("indexes", INDEX, of("table_id", table_id))?;
        indexes.sort_by_key(|index| id(index, "ordinal_position"));
        let ids: Vec<u64> = indexes.iter().map(|index| id(index, "id")).collect();
        let mut parts = self.objects("index_column_usage", INDEX_PART, of_any("index_id", &ids))?;
        for part in &mut parts {
            let column = id(part, "column_id");
            let place = column_ids.iter().position(|known| *known == column);
            part.insert("column_opx".to_owned(), json!(place));
            // Parts that InnoDB added have no length.
            if part.get("length_null") == Some(&json!(true)) {
                part.insert("length".to_owned(), json!(u32::MAX));
            }
        }
        for (index, index_id) in indexes.iter_mut().zip(&ids) {
            add_parts(index, "elements", &parts, ("index_id", *index_id), &["ordinal_position"]);
        }
        Ok((json!(indexes), ids))
    }

    /// The partitions of a table with their subpartitions, in their order.
    fn partitions(&self, table_id: u64, index_ids: &[u64]) -> Result<Value> {
        let mut all = self.objects("table_partitions", PARTITION, of("table_id", table_id))?;
        let ids: Vec<u64> = all.iter().map(|partition| id(partition, "id")).collect();
        let of_partitions = || of_any("partition_id", &ids);
        let mut values =
            self.objects("table_partition_values", PARTITION_VALUE, of_partitions())?;
        for value in &mut values {
            let is_max = value.get("max_value") == Some(&json!(true));
            let is_null = !is_max && value.get("value_utf8_null") == Some(&json!(true));
            value.insert("null_value".to_owned(), json!(is_null));
        }
        let mut indexes = self.objects("index_partitions", INDEX_PARTITION, of_partitions())?;
        for index in &mut indexes {
            let place = index_ids.iter().position(|known| *known == id(index, "index_id"));
            index.insert("index_opx".to_owned(), json!(place));
        }
        let spaces = self.objects("tablespaces", NAMED, |_| true)?;
        for (partition, partition_id) in all.iter_mut().zip(&ids) {
            let mine = ("partition_id", *partition_id);
            add_parts(partition, "values", &values, mine, &["list_num", "column_num"]);
            add_parts(partition, "indexes", &indexes, mine, &["index_opx"]);
            let space =
                spaces.iter().find(|space| id(space, "id") == id(partition, "tablespace_id"));
            let name = space.and_then(|space| space.get("name")).cloned();
            partition.insert("tablespace_ref".to_owned(), name.unwrap_or_else(|| json!("")));
        }
        let (mut first, second): (Vec<Object>, Vec<Object>) =
            all.into_iter().partition(|partition| id(partition, "parent_partition_id") == 0);
        for partition in &mut first {
            let mine = ("parent_partition_id", id(partition, "id"));
            add_parts(partition, "subpartitions", &second, mine, &["number"]);
        }
        first.sort_by_key(|partition| id(partition, "number"));
        Ok(json!(first))
    }

    /// The rows of one of the dictionary's tables as members of the document.
    fn objects(
        &self,
        table: &str,
        members: &'static Members,
        is_wanted: impl Fn(&Row) -> bool + Sync,
    ) -> Result<Vec<Object>> {
        let names: Vec<&'static str> = members.iter().map(|(name, _)| *name).collect();
        let rows = self.file.rows(table, &names, is_wanted).all()?;
        let objects = rows.iter().map(|row| object(row, members));
        objects
            .collect::<format::Result<_>>()
            .map_err(|error| Error::from(error).in_file(self.file.path()))
    }
}

fn object(row: &Row, members: &Members) -> format::Result<Object> {
    let mut object = Object::new();
    for &(name, form) in members {
        let value = match form {
            As::Text => json!(row.text_if_any(name)?.unwrap_or_default()),
            As::Number => json!(row.number_if_any::<u64>(name)?.unwrap_or(0)),
            As::Flag => json!(row.number_if_any::<u8>(name)?.unwrap_or(0) != 0),
            As::Member => json!(row.member(name)?),
            As::Bytes => {
                let mut text = Vec::new();
                base64::append(row.bytes(name).unwrap_or_default(), &mut text);
                json!(String::from_utf8_lossy(&text))
            }
        };
        object.insert(name.to_owned(), value);
        object.insert(format!("{name}_null"), json!(row.bytes(name).is_none()));
    }
    Ok(object)
}

/// A number of an object; 0 where it has none.
fn id(object: &Object, name: &str) -> u64 {
    object.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// Whether a row refers to this object.
fn of(name: &'static str, id: u64) -> impl Fn(&Row) -> bool + Sync {
    move |row| row.number(name).ok() == Some(id)
}

/// Whether a row refers to one of these objects.
fn of_any<'i>(name: &'static str, ids: &'i [u64]) -> impl Fn(&Row) -> bool + Sync + 'i {
    move |row| row.number(name).is_ok_and(|id: u64| ids.contains(&id))
}

/// Adds those of `parts` that refer to an object, in the order of their numbers.
fn add_parts(
    object: &mut Object,
    name: &str,
    parts: &[Object],
    (reference, referred): (&str, u64),
    numbers: &[&str],
) {
    let mine = parts.iter().filter(|part| id(part, reference) == referred);
    let mut mine: Vec<&Object> = mine.collect();
    mine.sort_by_key(|part| numbers.iter().map(|number| id(part, number)).collect::<Vec<u64>>());
    object.insert(name.to_owned(), json!(mine));
}
