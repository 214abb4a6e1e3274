//! Parquet and Arrow: rows as columns.
//!
//! Batches carry the rows as a record batch in the place of bytes. The files' writers put batches into
//! groups, and encode these on threads of their own.

use innoscan_columnar::{
    ArrowOptions, ColumnEncoder, FileKind, FileWriter, GroupOptions, ParquetOptions, TypeOptions,
};
use innoscan_engine::row_shape::{Purpose, RowShape};
use innoscan_engine::{Losses, Result};
use innoscan_format as format;
use innoscan_format::schema::TableDef;

use super::batch::{Compression, Encoded};
use super::chunk_writer::{ChunkOutput, ChunkWriter};
use super::encoder::RowEncoder;
use super::selected::NotSelectable;

/// The options of files of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnarOptions<F> {
    /// The types of columns.
    pub types: TypeOptions,
    /// The files.
    pub files: F,
    /// How rows are grouped and encoded.
    pub groups: GroupOptions,
    /// Write invisible columns too.
    pub include_invisible: bool,
}

impl<F: FileKind> Default for ColumnarOptions<F> {
    fn default() -> ColumnarOptions<F> {
        ColumnarOptions {
            types: TypeOptions::of(F::TYPES),
            files: F::default(),
            groups: GroupOptions::default(),
            include_invisible: false,
        }
    }
}

/// The encoder of Parquet.
pub type ParquetEncoder = ColumnarEncoder<ParquetOptions>;

/// The encoder of Arrow.
pub type ArrowEncoder = ColumnarEncoder<ArrowOptions>;

/// The encoder of a table's rows as columns.
#[derive(Debug)]
pub struct ColumnarEncoder<F> {
    columns: ColumnEncoder,
    def: TableDef,
    options: ColumnarOptions<F>,
}

impl<F: FileKind> RowEncoder for ColumnarEncoder<F> {
    type Options = ColumnarOptions<F>;
    type Selected = NotSelectable;

    const NAME: Option<&'static str> = Some(F::NAME);
    const EXTENSION: &'static str = F::NAME;
    const IS_BINARY: bool = true;

    fn include_invisible(options: &mut ColumnarOptions<F>) {
        options.include_invisible = true;
    }

    fn fingerprint(options: &ColumnarOptions<F>) -> String {
        // Groups of other sizes have the same rows.
        let ColumnarOptions { types, files, include_invisible, groups: _ } = options;
        format!("{}({types:?}, {files:?}, {include_invisible})", F::NAME)
    }

    fn new(
        def: &TableDef,
        stored: &[usize],
        options: &ColumnarOptions<F>,
    ) -> format::Result<ColumnarEncoder<F>> {
        let purpose = Purpose::Select { include_invisible: options.include_invisible };
        let shape = RowShape::new(def, stored, purpose)?;
        let columns = ColumnEncoder::new(def, shape, &options.types)?;
        Ok(ColumnarEncoder { columns, def: def.clone(), options: options.clone() })
    }

    fn shape(&self) -> &RowShape {
        self.columns.shape()
    }

    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()> {
        let columns = &mut batch.columns;
        self.columns.row(row, &mut columns.builder)?;
        columns.stored_bytes = columns.builder.stored_bytes();
        Ok(())
    }

    fn finish(&self, batch: &mut Encoded, _: Compression) -> Result<()> {
        if batch.columns.builder.rows() > 0 {
            batch.columns.finished = Some(self.columns.finish(&mut batch.columns.builder)?);
            batch.losses += batch.columns.builder.take_losses();
        }
        Ok(())
    }

    fn chunk_writer(&self, _: Compression) -> Box<dyn ChunkWriter> {
        let ColumnarOptions { types, files, groups, .. } = &self.options;
        let files = files.writer(&self.def, self.columns.schema(), types.table, *groups);
        Box::new(Columnar { files, losses: Losses::default() })
    }

    fn column_types(&self) -> Vec<(String, String)> {
        self.columns.forms().map(|(name, form)| (name.to_owned(), form.name())).collect()
    }
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
