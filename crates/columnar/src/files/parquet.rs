//! Parquet files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use innoscan_engine::{Error, Losses, Result};
use innoscan_format::schema::TableDef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::groups::NextGroup;
use super::varied::is_varied;
use super::{FileKind, FileWriter, GroupOptions, Write};
use crate::encoders::Encoders;
use crate::schema::{KeyColumn, geo_metadata, key_columns, unique_columns};
use crate::types::TypeTable;

/// The compression of columns in a Parquet file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    None,
    /// Snappy.
    Snappy,
    /// zstd at level 1.
    #[default]
    Zstd,
}

impl Codec {
    fn compression(self) -> Compression {
        match self {
            Codec::None => Compression::UNCOMPRESSED,
            Codec::Snappy => Compression::SNAPPY,
            Codec::Zstd => Compression::ZSTD(ZstdLevel::default()),
        }
    }
}

/// The options of Parquet files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParquetOptions {
    /// The compression of columns.
    pub codec: Codec,
    /// Number the fields from 1, for readers that map columns by number (Iceberg).
    pub field_ids: bool,
    /// Whether rows come in another order than that of the primary key.
    pub in_any_order: bool,
}

impl FileKind for ParquetOptions {
    const NAME: &'static str = "parquet";
    const TYPES: TypeTable = TypeTable::Portable;

    fn writer(
        &self,
        def: &TableDef,
        schema: &SchemaRef,
        types: TypeTable,
        groups: GroupOptions,
    ) -> Box<dyn FileWriter> {
        Box::new(ParquetFiles::new(def, schema, types, *self, groups))
    }
}

/// The rows of a group at which it is full.
const GROUP_ROWS_MAX: usize = 8 << 20;

/// The bytes of a page at which it is full: few enough for a processor's cache, in which it is compressed.
const PAGE_BYTES_MAX: usize = 256 << 10;

/// Writes Parquet files.
struct ParquetFiles {
    schema: SchemaRef,
    properties: WriterProperties,
    groups: GroupOptions,
    /// Whether readers are told the Arrow types that Parquet's own do not say.
    names_arrow_types: bool,
    open: Option<Open>,
}

/// A file while it is written.
#[derive(Default)]
struct Open {
    /// `None` until the first group is full: its rows decide on encodings.
    groups: Option<Groups>,
    next: NextGroup,
    rows: u64,
}

/// The groups of a file.
struct Groups {
    writer: SerializedFileWriter<Vec<u8>>,
    encoders: Encoders<Vec<RecordBatch>, Vec<ArrowColumnChunk>>,
}

impl ParquetFiles {
    fn new(
        def: &TableDef,
        schema: &SchemaRef,
        types: TypeTable,
        options: ParquetOptions,
        groups: GroupOptions,
    ) -> ParquetFiles {
        let schema = if options.field_ids { with_field_ids(schema) } else { Arc::clone(schema) };
        let properties = properties(def, &schema, options);
        let names_arrow_types = types == TypeTable::Native;
        ParquetFiles { schema, properties, groups, names_arrow_types, open: None }
    }
}

impl FileWriter for ParquetFiles {
    fn begin(&mut self, _: &mut Write<'_>) -> Result<()> {
        self.open = Some(Open::default());
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Write<'_>) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.rows += batch.num_rows() as u64;
        let Some(group) = open.next.add(batch, self.groups.group_bytes, GROUP_ROWS_MAX) else {
            return Ok(());
        };
        let mut groups = match open.groups.take() {
            Some(groups) => groups,
            None => self.begin_groups(&group, out)?,
        };
        let Groups { writer, encoders } = &mut groups;
        encoders.push(group, &mut |chunks| append_group(writer, chunks, out))?;
        if let Some(open) = &mut self.open {
            open.groups = Some(groups);
        }
        Ok(())
    }

    fn finish(&mut self, losses: Losses, out: &mut Write<'_>) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let last = open.next.rest();
        let Groups { mut writer, mut encoders } = match open.groups {
            Some(groups) => groups,
            None => self.begin_groups(last.as_deref().unwrap_or_default(), out)?,
        };
        encoders.finish(last, &mut |chunks| append_group(&mut writer, chunks, out))?;
        for (key, value) in counts(open.rows, losses) {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_string()));
        }
        writer.finish().map_err(failed)?;
        pass_on(&mut writer, out)
    }
}

impl ParquetFiles {
    /// Begins a file whose first group is this one.
    fn begin_groups(&self, first: &[RecordBatch], out: &mut Write<'_>) -> Result<Groups> {
        let properties = with_encodings(self.properties.clone(), &self.schema, first);
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(!self.names_arrow_types);
        let writer =
            ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&self.schema), options);
        let (mut writer, factory) =
            writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        let schema = Arc::clone(&self.schema);
        let encode = Arc::new(move |group| encode_group(group, &schema, &factory).map_err(failed));
        let encoders = Encoders::new(self.groups.threads, encode);
        pass_on(&mut writer, out)?;
        Ok(Groups { writer, encoders })
    }
}

/// Passes on what the writer has written.
fn pass_on(writer: &mut SerializedFileWriter<Vec<u8>>, out: &mut Write<'_>) -> Result<()> {
    writer.flush().map_err(|error| failed(error.into()))?;
    let written = writer.inner_mut();
    let passed = out(written);
    written.clear();
    passed
}

fn append_group(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    chunks: Vec<ArrowColumnChunk>,
    out: &mut Write<'_>,
) -> Result<()> {
    let mut group = writer.next_row_group().map_err(failed)?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group).map_err(failed)?;
    }
    group.close().map_err(failed)?;
    pass_on(writer, out)
}

/// Encodes a row group, column by column.
fn encode_group(
    group: Vec<RecordBatch>,
    schema: &Schema,
    factory: &ArrowRowGroupWriterFactory,
) -> std::result::Result<Vec<ArrowColumnChunk>, ParquetError> {
    let mut writers = factory.create_column_writers(0)?;
    let mut first = 0;
    for (place, field) in schema.fields().iter().enumerate() {
        let mut leaves_of_column = 0;
        for batch in &group {
            let leaves = compute_leaves(field, batch.column(place))?;
            leaves_of_column = leaves.len();
            for (leaf, writer) in leaves.iter().zip(&mut writers[first..]) {
                writer.write(leaf)?;
            }
        }
        first += leaves_of_column;
    }
    drop(group);
    writers.into_iter().map(|writer| writer.close()).collect()
}

/// Sets the encodings of columns whose values are nearly all different in the first rows: no dictionary, and
/// differences of integers.
fn with_encodings(
    properties: WriterProperties,
    schema: &Schema,
    first: &[RecordBatch],
) -> WriterProperties {
    let mut builder = properties.into_builder();
    for (place, field) in schema.fields().iter().enumerate() {
        if !is_varied(first, place) {
            continue;
        }
        builder = builder.set_column_dictionary_enabled(path(field.name()), false);
        let is_stored_as_integer = match field.data_type() {
            DataType::Decimal128(digits, _) => *digits <= 18,
            ty => ty.is_integer() || ty.is_temporal(),
        };
        if is_stored_as_integer {
            builder =
                builder.set_column_encoding(path(field.name()), Encoding::DELTA_BINARY_PACKED);
        }
    }
    builder.build()
}

fn properties(def: &TableDef, schema: &Schema, options: ParquetOptions) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_compression(options.codec.compression())
        .set_data_page_size_limit(PAGE_BYTES_MAX)
        .set_created_by(concat!("innoscan ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(key_values(schema)));
    for name in unique_columns(def) {
        builder = builder.set_column_dictionary_enabled(path(name), false);
    }
    let key = key_columns(def, schema);
    if let Some(KeyColumn { name, ty, .. }) = key.first() {
        builder = builder.set_column_dictionary_enabled(path(name), false);
        if ty.is_integer() {
            builder = builder.set_column_encoding(path(name), Encoding::DELTA_BINARY_PACKED);
        }
    }
    if !options.in_any_order && !key.is_empty() {
        let sorting = key.iter().map(|column| SortingColumn {
            column_idx: column.leaf as i32,
            descending: column.descending,
            nulls_first: false,
        });
        builder = builder.set_sorting_columns(Some(sorting.collect()));
    }
    builder.build()
}

fn path(name: &str) -> ColumnPath {
    ColumnPath::new(vec![name.to_owned()])
}

/// What the footer says of the table.
fn key_values(schema: &Schema) -> Vec<KeyValue> {
    let mut values: Vec<KeyValue> = schema
        .metadata()
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    let columns: serde_json::Map<String, serde_json::Value> = schema
        .fields()
        .iter()
        .map(|field| {
            // In an order, so that the same rows are the same file.
            let metadata: BTreeMap<_, _> = field.metadata().iter().collect();
            (field.name().clone(), serde_json::json!(metadata))
        })
        .collect();
    let columns = serde_json::Value::Object(columns).to_string();
    values.push(KeyValue::new("innoscan.columns".to_owned(), columns));
    if let Some(geo) = geo_metadata(schema) {
        values.push(KeyValue::new("geo".to_owned(), geo));
    }
    values.sort_by(|a, b| a.key.cmp(&b.key));
    values
}

/// What the footer says of the file's rows.
fn counts(rows: u64, losses: Losses) -> [(&'static str, u64); 4] {
    [
        ("innoscan.rows", rows),
        ("innoscan.dates_as_null", losses.dates_as_null),
        ("innoscan.replaced_characters", losses.replaced_characters),
        ("innoscan.srids_left_out", losses.srids_left_out),
    ]
}

/// The schema with fields numbered from 1.
fn with_field_ids(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().enumerate().map(|(place, field)| {
        let mut metadata = field.metadata().clone();
        metadata.insert("PARQUET:field_id".to_owned(), (place + 1).to_string());
        Field::clone(field).with_metadata(metadata)
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

#[cold]
fn failed(error: ParquetError) -> Error {
    Error::write("encoding Parquet", std::io::Error::other(error))
}
