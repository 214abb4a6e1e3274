//! Parquet and Arrow: rows as columns.
//!
//! Batches carry the rows as a record batch in the place of bytes. The files' writers put batches into
//! groups, and encode these on threads of their own.

use innoscan_columnar::{
    ArrowContainer, ArrowFiles, ColumnEncoder, FileWriter, GroupOptions, ParquetFiles,
    ParquetOptions, TypeOptions, TypeTable,
};
use innoscan_engine::row_shape::{Purpose, RowShape};
use innoscan_engine::{Losses, Result};
use innoscan_format as format;
use innoscan_format::schema::TableDef;

use super::batch::{Compression, Encoded};
use super::chunk_writer::{ChunkOutput, ChunkWriter};
use super::encoder::RowEncoder;
use super::selected::NotSelectable;

/// The encoder of a table's rows as columns.
#[derive(Debug)]
struct TableColumns {
    encoder: ColumnEncoder,
    def: TableDef,
}

impl TableColumns {
    fn new(
        def: &TableDef,
        stored: &[usize],
        include_invisible: bool,
        types: &TypeOptions,
    ) -> format::Result<TableColumns> {
        let shape = RowShape::new(def, stored, Purpose::Select { include_invisible })?;
        let encoder = ColumnEncoder::new(def, shape, types)?;
        Ok(TableColumns { encoder, def: def.clone() })
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        let columns = &mut batch.columns;
        self.encoder.row(row, &mut columns.builder)?;
        columns.stored_bytes = columns.builder.stored_bytes();
        Ok(())
    }

    fn finish(&self, batch: &mut Encoded) -> Result<()> {
        if batch.columns.builder.rows() > 0 {
            batch.columns.finished = Some(self.encoder.finish(&mut batch.columns.builder)?);
            batch.losses += batch.columns.builder.take_losses();
        }
        Ok(())
    }

    fn column_types(&self) -> Vec<(String, String)> {
        self.encoder.forms().map(|(name, form)| (name.to_owned(), form.name())).collect()
    }
}

/// The options of Parquet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetFormatOptions {
    /// The types of columns.
    pub types: TypeOptions,
    /// The files.
    pub files: ParquetOptions,
    /// How rows are grouped and encoded.
    pub groups: GroupOptions,
    /// Write invisible columns too.
    pub include_invisible: bool,
}

impl Default for ParquetFormatOptions {
    fn default() -> ParquetFormatOptions {
        ParquetFormatOptions {
            types: TypeOptions::of(TypeTable::Portable),
            files: ParquetOptions { in_key_order: true, ..ParquetOptions::default() },
            groups: GroupOptions::default(),
            include_invisible: false,
        }
    }
}

/// The encoder of Parquet.
#[derive(Debug)]
pub struct ParquetEncoder {
    columns: TableColumns,
    options: ParquetFormatOptions,
}

impl RowEncoder for ParquetEncoder {
    type Options = ParquetFormatOptions;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some("parquet");
    const EXTENSION: &'static str = "parquet";
    const IS_BINARY: bool = true;

    fn include_invisible(options: &mut ParquetFormatOptions) {
        options.include_invisible = true;
    }

    fn fingerprint(options: &ParquetFormatOptions) -> String {
        // Groups of other sizes have the same rows.
        let ParquetFormatOptions { types, files, include_invisible, .. } = options;
        format!("Parquet({types:?}, {files:?}, {include_invisible})")
    }

    fn new(
        def: &TableDef,
        stored: &[usize],
        options: &ParquetFormatOptions,
    ) -> format::Result<ParquetEncoder> {
        let columns = TableColumns::new(def, stored, options.include_invisible, &options.types)?;
        Ok(ParquetEncoder { columns, options: options.clone() })
    }

    fn shape(&self) -> &RowShape {
        self.columns.encoder.shape()
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        self.columns.row(row, batch)
    }

    fn finish(&self, batch: &mut Encoded, _: Compression) -> Result<()> {
        self.columns.finish(batch)
    }

    fn chunk_writer(&self, _: Compression) -> Box<dyn ChunkWriter> {
        let ParquetFormatOptions { types, files, groups, .. } = &self.options;
        let (def, schema) = (&self.columns.def, self.columns.encoder.schema());
        columnar(ParquetFiles::new(def, schema, types.table, *files, *groups))
    }

    fn column_types(&self) -> Vec<(String, String)> {
        self.columns.column_types()
    }
}

/// The options of Arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrowFormatOptions {
    /// The types of columns.
    pub types: TypeOptions,
    /// File or stream.
    pub container: ArrowContainer,
    /// Whether columns are compressed by zstd.
    pub is_compressed: bool,
    /// How rows are grouped and encoded.
    pub groups: GroupOptions,
    /// Write invisible columns too.
    pub include_invisible: bool,
}

impl Default for ArrowFormatOptions {
    fn default() -> ArrowFormatOptions {
        ArrowFormatOptions {
            types: TypeOptions::of(TypeTable::Native),
            container: ArrowContainer::Stream,
            is_compressed: true,
            groups: GroupOptions::default(),
            include_invisible: false,
        }
    }
}

/// The encoder of Arrow.
#[derive(Debug)]
pub struct ArrowEncoder {
    columns: TableColumns,
    options: ArrowFormatOptions,
}

impl RowEncoder for ArrowEncoder {
    type Options = ArrowFormatOptions;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some("arrow");
    const EXTENSION: &'static str = "arrow";
    const IS_BINARY: bool = true;

    fn include_invisible(options: &mut ArrowFormatOptions) {
        options.include_invisible = true;
    }

    fn fingerprint(options: &ArrowFormatOptions) -> String {
        let ArrowFormatOptions { types, container, is_compressed, include_invisible, .. } = options;
        format!("Arrow({types:?}, {container:?}, {is_compressed}, {include_invisible})")
    }

    fn new(
        def: &TableDef,
        stored: &[usize],
        options: &ArrowFormatOptions,
    ) -> format::Result<ArrowEncoder> {
        let columns = TableColumns::new(def, stored, options.include_invisible, &options.types)?;
        Ok(ArrowEncoder { columns, options: options.clone() })
    }

    fn shape(&self) -> &RowShape {
        self.columns.encoder.shape()
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        self.columns.row(row, batch)
    }

    fn finish(&self, batch: &mut Encoded, _: Compression) -> Result<()> {
        self.columns.finish(batch)
    }

    fn chunk_writer(&self, _: Compression) -> Box<dyn ChunkWriter> {
        let &ArrowFormatOptions { container, is_compressed, groups, .. } = &self.options;
        let schema = self.columns.encoder.schema();
        columnar(ArrowFiles::new(schema, container, is_compressed, groups))
    }

    fn column_types(&self) -> Vec<(String, String)> {
        self.columns.column_types()
    }
}

fn columnar(files: impl FileWriter + 'static) -> Box<dyn ChunkWriter> {
    Box::new(Columnar { files: Box::new(files), losses: Losses::default() })
}

/// The writer of files of record batches.
struct Columnar {
    files: Box<dyn FileWriter>,
    /// Those of the open file.
    losses: Losses,
}

impl ChunkWriter for Columnar {
    fn begin(&mut self, out: &mut dyn ChunkOutput) -> Result<()> {
        self.losses = Losses::default();
        self.files.begin(&mut |bytes| out.append(bytes, 0))
    }

    fn write(&mut self, batch: &Encoded, out: &mut dyn ChunkOutput) -> Result<()> {
        let Some(columns) = &batch.columns.finished else { return Ok(()) };
        self.losses += batch.losses();
        // The rows count now, so that the next file begins in time, although they are written later.
        out.append(b"", batch.plain_bytes())?;
        self.files.write(columns, &mut |bytes| out.append(bytes, 0))
    }

    fn finish(&mut self, out: &mut dyn ChunkOutput) -> Result<()> {
        self.files.finish(self.losses, &mut |bytes| out.append(bytes, 0))
    }
}
