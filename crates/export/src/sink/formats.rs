//! The list of output formats, and the static dispatch to their encoders.
//!
//! This is the only place that distinguishes formats: everything else asks [`Format`] or
//! [`TableEncoder`], which pass the question on to the format's [`RowEncoder`].

use innoscan_engine::Result;
use innoscan_engine::row_shape::{LeftOut, stored_columns};
use innoscan_format as format;
use innoscan_format::schema::TableDef;

use super::batch::{Compression, Encoded};
use super::chunk_writer::ChunkWriter;
use super::encoder::RowEncoder;
use super::layout::Layout;
use super::selected::{SelectedColumn, SelectedEncoder};

/// Declares the enums of formats and encoders, and passes each method on to the variant's encoder.
macro_rules! formats {
    ($($(#[$when:meta])? $Name:ident: $Encoder:ty, $doc:literal;)+) => {
        /// An output format, and its options.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$when])? #[doc = $doc] $Name(<$Encoder as RowEncoder>::Options),)+
        }

        /// The encoder of one table's rows, in any format.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "each is the encoder of the format of that name")]
        pub enum TableEncoder {
            $($(#[$when])? $Name($Encoder),)+
        }

        /// The encoder of one table's rows that a server's `SELECT` returned, in any format.
        #[derive(Debug)]
        pub(super) enum SelectedTableEncoder {
            $($(#[$when])? $Name(<$Encoder as RowEncoder>::Selected),)+
        }

        impl Format {
            /// All formats, each with its default options.
            pub fn all() -> Vec<Format> {
                vec![$($(#[$when])? Format::$Name(<$Encoder as RowEncoder>::Options::default()),)+]
            }

            /// The format's name on the command line; `None` for a format that only its layout
            /// selects.
            pub fn name(&self) -> Option<&'static str> {
                match self {
                    $($(#[$when])? Format::$Name(_) => <$Encoder>::NAME,)+
                }
            }

            /// The extension of file names, without the suffix of the compression.
            pub fn extension(&self) -> &'static str {
                match self {
                    $($(#[$when])? Format::$Name(_) => <$Encoder>::EXTENSION,)+
                }
            }

            /// Whether the output is a script of SQL statements, which can hold definitions and
            /// several tables.
            pub fn is_sql(&self) -> bool {
                match self {
                    $($(#[$when])? Format::$Name(_) => <$Encoder>::IS_SQL,)+
                }
            }

            /// Whether the output is binary, with its columns compressed within it.
            pub fn is_binary(&self) -> bool {
                match self {
                    $($(#[$when])? Format::$Name(_) => <$Encoder>::IS_BINARY,)+
                }
            }

            /// The ending of file names.
            pub fn file_ending(&self, compression: Compression) -> String {
                match self {
                    $($(#[$when])? Format::$Name(_) => <$Encoder>::file_ending(compression),)+
                }
            }

            /// The format and its options for dumps in a layout; `None` if the layout does not hold
            /// rows in this format.
            pub fn for_layout(&self, layout: Layout) -> Option<Format> {
                match self {
                    $($(#[$when])? Format::$Name(options) => {
                        <$Encoder>::for_layout(options, layout).map(Format::$Name)
                    })+
                }
            }

            /// Makes the output have invisible columns, in a format that leaves them out by default.
            pub fn include_invisible(&mut self) {
                match self {
                    $($(#[$when])? Format::$Name(options) => <$Encoder>::include_invisible(options),)+
                }
            }

            /// The format and its options as text. A dump is resumed only if its journal has the same
            /// text.
            pub fn fingerprint(&self) -> String {
                match self {
                    $($(#[$when])? Format::$Name(options) => <$Encoder>::fingerprint(options),)+
                }
            }

            /// The encoder of a table's rows.
            ///
            /// # Errors
            /// A column has a type that cannot be read, or the format cannot hold the table.
            pub fn encoder(&self, def: &TableDef) -> format::Result<TableEncoder> {
                let stored = &stored_columns(def);
                Ok(match self {
                    $($(#[$when])? Format::$Name(options) => {
                        TableEncoder::$Name(<$Encoder>::new(def, stored, options)?)
                    })+
                })
            }

            /// The encoder of a table's rows that a server's `SELECT` returned; `None` if the format
            /// refuses such rows.
            pub(super) fn selected(
                &self,
                table: &str,
                columns: &[SelectedColumn],
            ) -> Option<SelectedTableEncoder> {
                match self {
                    $($(#[$when])? Format::$Name(options) => {
                        <$Encoder>::selected(options, table, columns)
                            .map(SelectedTableEncoder::$Name)
                    })+
                }
            }
        }

        impl TableEncoder {
            /// Adds a row to a batch, unless it is an old version.
            #[inline]
            pub(super) fn row(
                &self,
                row: &[Option<&[u8]>],
                batch: &mut Encoded,
            ) -> format::Result<()> {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => {
                        if encoder.shape().is_history(row) {
                            return Ok(());
                        }
                        encoder.row(row, batch)?;
                    })+
                }
                batch.rows += 1;
                Ok(())
            }

            pub(super) fn finish(
                &self,
                batch: &mut Encoded,
                compression: Compression,
            ) -> Result<()> {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => encoder.finish(batch, compression),)+
                }
            }

            /// The writer of the table's files.
            pub fn chunk_writer(&self, compression: Compression) -> Box<dyn ChunkWriter> {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => encoder.chunk_writer(compression),)+
                }
            }

            /// The table's columns that the output does not have.
            pub fn left_out(&self) -> &[LeftOut] {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => encoder.shape().left_out(),)+
                }
            }

            /// The type of each column, in formats that have types of their own.
            pub fn column_types(&self) -> Vec<(String, String)> {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => encoder.column_types(),)+
                }
            }

            /// The columns that a loader is given by name, and whether their values are in base64;
            /// empty in formats whose files need no such list.
            pub fn loaded_columns(&self) -> Vec<(String, bool)> {
                match self {
                    $($(#[$when])? TableEncoder::$Name(encoder) => encoder.loaded_columns(),)+
                }
            }
        }

        impl SelectedTableEncoder {
            pub fn row<'r>(
                &self,
                values: impl Iterator<Item = (&'r SelectedColumn, Option<&'r [u8]>)>,
                batch: &mut Encoded,
            ) {
                match self {
                    $($(#[$when])? SelectedTableEncoder::$Name(encoder) => encoder.row(values, batch),)+
                }
            }

            pub fn finish(&self, batch: &mut Encoded) {
                match self {
                    $($(#[$when])? SelectedTableEncoder::$Name(encoder) => encoder.finish(batch),)+
                }
            }

            pub fn head(&self) -> &[u8] {
                match self {
                    $($(#[$when])? SelectedTableEncoder::$Name(encoder) => encoder.head(),)+
                }
            }

            pub fn is_base64(&self, column: &SelectedColumn) -> bool {
                match self {
                    $($(#[$when])? SelectedTableEncoder::$Name(encoder) => encoder.is_base64(column),)+
                }
            }
        }
    };
}

formats! {
    Sql: super::sql::SqlEncoder, "`INSERT` statements.";
    Outfile: super::outfile::OutfileEncoder, "The text of `SELECT * INTO OUTFILE`.";
    Csv: super::csv::CsvEncoder, "CSV (RFC 4180).";
    Ndjson: super::ndjson::NdjsonEncoder, "JSON, one object per line.";
    #[cfg(feature = "columnar")]
    Parquet: super::columnar::ParquetEncoder, "Parquet.";
    #[cfg(feature = "columnar")]
    Arrow: super::columnar::ArrowEncoder, "Arrow IPC.";
    ShellTsv: super::shell_tsv::ShellTsvEncoder, "The text of a MySQL Shell dump, for `LOAD DATA`.";
}

impl Format {
    /// The format of a name on the command line, with its default options.
    pub fn named(name: &str) -> Option<Format> {
        Format::all().into_iter().find(|format| format.name() == Some(name))
    }
}

impl Default for Format {
    fn default() -> Format {
        Format::Sql(super::sql::SqlOptions::default())
    }
}
