//! The interface of an output format: [`RowEncoder`], implemented once per format, in its own file.

use std::fmt::Debug;

use innoscan_engine::Result;
use innoscan_engine::row_shape::RowShape;
use innoscan_format as format;
use innoscan_format::schema::TableDef;

use super::batch::{Compression, Encoded};
use super::chunk_writer::{ChunkWriter, Concatenated};
use super::layout::Layout;
use super::selected::{SelectedColumn, SelectedEncoder};

/// The encoder of one table's rows in one output format, and the facts about that format.
///
/// One encoder serves all decode workers at once; the state of a batch is in its [`Encoded`]. The list
/// in `formats.rs` makes an enum of all encoders, so [`RowEncoder::row`] is dispatched statically.
pub trait RowEncoder: Sized + Send + Sync {
    /// The options of the format.
    type Options: Clone + Debug + Default + PartialEq + Eq;

    /// The encoder of rows that a server's `SELECT` returned;
    /// [`NotSelectable`](super::selected::NotSelectable) for a format that refuses them.
    type Selected: SelectedEncoder;

    /// The format's name on the command line; `None` for a format that only its layout selects.
    const NAME: Option<&'static str>;

    /// The extension of file names, without the suffix of the compression.
    const EXTENSION: &'static str;

    /// Whether the output is a script of SQL statements, which can hold definitions and several tables.
    const IS_SQL: bool = false;

    /// Whether the output is binary, with its columns compressed within it.
    const IS_BINARY: bool = false;

    /// The options for dumps in a layout; `None` if the layout does not hold rows in this format.
    fn for_layout(options: &Self::Options, layout: Layout) -> Option<Self::Options> {
        (layout == Layout::Files).then(|| options.clone())
    }

    /// Makes the encoder write invisible columns, in a format that leaves them out by default.
    fn include_invisible(options: &mut Self::Options) {
        let _ = options;
    }

    /// Format and options as text. A dump is resumed only if its journal has the same text.
    fn fingerprint(options: &Self::Options) -> String;

    /// The encoder of a table's rows that a server's `SELECT` returned; `None` if the format refuses
    /// such rows.
    fn selected(
        options: &Self::Options,
        table: &str,
        columns: &[SelectedColumn],
    ) -> Option<Self::Selected> {
        let _ = (options, table, columns);
        None
    }

    /// The encoder of a table whose rows hold the columns `stored` (indexes into `def.columns`).
    ///
    /// # Errors
    /// A column has a type that cannot be read, or the format cannot hold the table.
    fn new(def: &TableDef, stored: &[usize], options: &Self::Options) -> format::Result<Self>;

    /// The columns of the output.
    fn shape(&self) -> &RowShape;

    /// Appends a row to a batch; the caller counts it. After an error the batch may end in a part of the
    /// row, which the caller cuts off.
    ///
    /// # Errors
    /// The value of a column is damaged; the error names the column.
    fn row(&self, row: &[Option<&[u8]>], batch: &mut Encoded) -> format::Result<()>;

    /// Completes a batch after its last row, and compresses it. Called on the decode worker.
    ///
    /// # Errors
    /// The compression failed.
    fn finish(&self, batch: &mut Encoded, compression: Compression) -> Result<()> {
        batch.compress(compression)
    }

    /// The bytes that precede the rows in every file.
    fn head(&self) -> &[u8] {
        b""
    }

    /// The writer of the table's files: by default the head and the batches, one after the other. A
    /// format whose files have a footer, or are compressed in another way, has a writer of its own.
    fn chunk_writer(&self, compression: Compression) -> Box<dyn ChunkWriter> {
        Box::new(Concatenated::new(self.head(), compression))
    }

    /// The ending of file names.
    fn file_ending(compression: Compression) -> String {
        format!("{}{}", Self::EXTENSION, compression.suffix())
    }

    /// The type of each column, in formats that have types of their own.
    fn column_types(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The columns that a loader is given by name, and whether their values are in base64; empty in
    /// formats whose files need no such list.
    fn loaded_columns(&self) -> Vec<(String, bool)> {
        Vec::new()
    }
}
