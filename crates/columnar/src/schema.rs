//! The Arrow schema of a table: fields, and what the server's definition says of them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use innoscan_format::schema::{
    ColumnDef, Family, IndexDef, IndexKind, IndexPart, IndexSource, TableDef,
};
use innoscan_format::types::ColumnType;

use crate::types::form::Form;
use crate::types::{TypeOptions, ZeroDates};

/// The key of an extension type's name in a field's metadata (Arrow, columnar format).
const EXTENSION_NAME: &str = "ARROW:extension:name";
/// The key of an extension type's parameters.
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// The field of a column.
pub(crate) fn field(
    column: &ColumnDef,
    form: Form,
    def: &TableDef,
    options: &TypeOptions,
) -> Field {
    let is_date = matches!(form, Form::Date | Form::Timestamp | Form::TimestampUtc);
    // A date that no calendar has becomes NULL also in a NOT NULL column.
    let is_nullable = column.nullable || (is_date && options.zero_dates == ZeroDates::Null);
    let mut metadata = HashMap::from([("mysql.type".to_owned(), def.type_text(&column.ty))]);
    if let Some(collation) = collation(column, def) {
        metadata.insert("mysql.collation".to_owned(), collation);
    }
    if !column.comment.is_empty() {
        metadata.insert("comment".to_owned(), column.comment.clone());
    }
    let extension = match form {
        Form::Json => Some(("arrow.json", String::new())),
        Form::Uuid => Some(("arrow.uuid", String::new())),
        Form::Wkb => Some(("geoarrow.wkb", crs(column.srid))),
        _ => None,
    };
    if let Some((name, parameters)) = extension {
        metadata.insert(EXTENSION_NAME.to_owned(), name.to_owned());
        metadata.insert(EXTENSION_METADATA.to_owned(), parameters);
    }
    Field::new(&column.name, form.data_type(), is_nullable).with_metadata(metadata)
}

fn collation(column: &ColumnDef, def: &TableDef) -> Option<String> {
    match &column.ty {
        ColumnType::Char { collation, .. }
        | ColumnType::VarChar { collation, .. }
        | ColumnType::Text { collation, .. }
        | ColumnType::Enum { collation, .. }
        | ColumnType::Set { collation, .. } => collation.name(def.server),
        _ => None,
    }
}

/// The coordinate reference system of a column with an SRID, as GeoArrow has it.
fn crs(srid: Option<u32>) -> String {
    match srid {
        Some(srid) if srid > 0 => {
            serde_json::json!({ "crs": srid.to_string(), "crs_type": "srid" }).to_string()
        }
        _ => "{}".to_owned(),
    }
}

/// The schema of a table.
pub(crate) fn schema(def: &TableDef, fields: Vec<Field>) -> SchemaRef {
    let family = match def.server.family {
        Family::MySql => "MySQL",
        Family::MariaDb => "MariaDB",
    };
    let mut metadata = HashMap::from([
        ("innoscan.table".to_owned(), def.qualified_name()),
        ("innoscan.server".to_owned(), format!("{family} {}", def.server)),
        ("innoscan.create_table".to_owned(), def.to_create_table()),
    ]);
    let key = primary_key(def);
    if !key.is_empty() {
        metadata.insert("innoscan.primary_key".to_owned(), serde_json::json!(key).to_string());
    }
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// The names of the primary key's columns.
fn primary_key(def: &TableDef) -> Vec<&str> {
    let parts = def.primary_key().map_or(&[][..], |index| &index.parts);
    parts.iter().filter_map(|part| column_of(def, part)).collect()
}

/// The name of the column of a part of an index.
fn column_of<'d>(def: &'d TableDef, part: &IndexPart) -> Option<&'d str> {
    let IndexSource::Column(place) = part.source else { return None };
    def.columns.get(place).map(|column| column.name.as_str())
}

/// The name of the column of a part of an index, unless only the beginning of its values is indexed.
fn whole_column_of<'d>(def: &'d TableDef, part: &IndexPart) -> Option<&'d str> {
    column_of(def, part).filter(|_| part.prefix_chars.is_none())
}

/// A column of the primary key by which readers may take rows to be sorted.
pub(crate) struct KeyColumn {
    pub name: String,
    pub ty: DataType,
    /// The number of the column among the Parquet columns.
    pub leaf: usize,
    pub descending: bool,
}

/// The leading columns of the primary key whose order is that of their Arrow type: integers and decimals.
/// None for a partitioned table, each partition of which has an order of its own.
pub(crate) fn key_columns(def: &TableDef, schema: &Schema) -> Vec<KeyColumn> {
    let Some(key) = def.primary_key().filter(|_| def.partitioning.is_none()) else {
        return Vec::new();
    };
    let of_part = |part: &IndexPart| {
        let (place, field) = schema.column_with_name(whole_column_of(def, part)?)?;
        let ty = field.data_type();
        let is_ordered = ty.is_integer() || matches!(ty, DataType::Decimal128(..));
        let before = &schema.fields()[..place];
        let leaf = before.iter().map(|field| leaf_count(field.data_type())).sum();
        (is_ordered && is_number(def, field.name())).then(|| KeyColumn {
            name: field.name().clone(),
            ty: ty.clone(),
            leaf,
            descending: part.descending,
        })
    };
    key.parts.iter().map_while(of_part).collect()
}

/// The number of Parquet columns of an Arrow column.
fn leaf_count(ty: &DataType) -> usize {
    match ty {
        DataType::Struct(fields) => fields.iter().map(|field| leaf_count(field.data_type())).sum(),
        _ => 1,
    }
}

/// Whether the server compares a column's values as numbers: an ENUM may be written as one too.
fn is_number(def: &TableDef, name: &str) -> bool {
    let column = def.columns.iter().find(|column| column.name == name);
    column.is_some_and(|column| {
        matches!(
            column.ty,
            ColumnType::Int { .. } | ColumnType::Decimal { .. } | ColumnType::Year { .. }
        )
    })
}

/// The columns each of which is unique by itself.
pub(crate) fn unique_columns(def: &TableDef) -> impl Iterator<Item = &str> {
    let is_unique = |index: &&IndexDef| {
        matches!(index.kind, IndexKind::Primary | IndexKind::Unique) && index.parts.len() == 1
    };
    def.indexes.iter().filter(is_unique).filter_map(|index| whole_column_of(def, &index.parts[0]))
}

/// GeoParquet 1.1's description of the columns with geometries; `None` if there are none. A column
/// without an SRID, or with one other than 4326, has no known coordinate reference system.
pub(crate) fn geo_metadata(schema: &Schema) -> Option<String> {
    let is_geometry = |field: &&Arc<Field>| {
        field.metadata().get(EXTENSION_NAME).is_some_and(|name| name == "geoarrow.wkb")
    };
    let mut columns = serde_json::Map::new();
    for field in schema.fields().iter().filter(is_geometry) {
        let parameters = field.metadata().get(EXTENSION_METADATA).map_or("", String::as_str);
        let mut column = serde_json::json!({ "encoding": "WKB", "geometry_types": [] });
        // Without `crs` it is OGC:CRS84: longitude and latitude as in 4326.
        if parameters != crs(Some(4326)) {
            column["crs"] = serde_json::Value::Null;
        }
        columns.insert(field.name().clone(), column);
    }
    let primary = columns.keys().next()?.clone();
    let geo = serde_json::json!({
        "version": "1.1.0",
        "primary_column": primary,
        "columns": columns,
    });
    Some(geo.to_string())
}
