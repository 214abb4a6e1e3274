//! Rows that a server gave as text, in the forms of the outputs that can be loaded.
//!
//! They are of tables that are not InnoDB's: the text protocol under `SET NAMES binary` gives every
//! value as the bytes of its column's own charset, dates and numbers as text, NULL apart.

use innoscan_engine::Result;
use innoscan_format as format;
use innoscan_format::types::Class;

use super::batch::{Compression, Encoded};
use super::escape::{Escapes, append_base64};
use super::load::load_escapes;
use super::sql::{DATA_SESSION, Shape, SqlOptions, append_hex_literal, literal_escapes};

/// A column of a table whose rows a server gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedColumn {
    /// Its name.
    pub name: String,
    /// How its values are to be quoted.
    pub class: Class,
    /// Whether the server computes it when rows are inserted. Rows hold it, outputs do not.
    pub is_generated: bool,
}

/// Writes rows that a server gave.
#[derive(Debug)]
pub struct SelectedRows {
    columns: Vec<SelectedColumn>,
    form: Form,
    compression: Compression,
    full_bytes: usize,
}

#[derive(Debug)]
enum Form {
    Sql { shape: Shape, escapes: Box<Escapes<3>>, statement_size_bytes: usize },
    Load { escapes: Box<Escapes<3>> },
}

impl SelectedRows {
    /// As `INSERT` statements for a session in charset `binary`.
    pub fn sql(table: &str, columns: &[SelectedColumn], options: &SqlOptions) -> SelectedRows {
        let names = columns.iter().filter(|column| !column.is_generated);
        let shape = Shape::new(table, names.map(|column| &*column.name), options);
        let escapes = Box::new(literal_escapes());
        let statement_size_bytes = options.statement_size_bytes;
        SelectedRows::new(columns, Form::Sql { shape, escapes, statement_size_bytes })
    }

    /// As [`Load`](super::load::Load) writes them; see [`SelectedRows::is_encoded`].
    pub fn load(columns: &[SelectedColumn]) -> SelectedRows {
        SelectedRows::new(columns, Form::Load { escapes: Box::new(load_escapes()) })
    }

    fn new(columns: &[SelectedColumn], form: Form) -> SelectedRows {
        let columns = columns.to_vec();
        SelectedRows { columns, form, compression: Compression::None, full_bytes: 1 << 20 }
    }

    /// Batches are compressed.
    #[must_use]
    pub fn with_compression(mut self, compression: Compression) -> SelectedRows {
        self.compression = compression;
        self
    }

    /// Batches that are not much larger than this.
    #[must_use]
    pub fn with_batch_bytes(mut self, batch_bytes: u64) -> SelectedRows {
        let batch_bytes = usize::try_from(batch_bytes).unwrap_or(usize::MAX);
        self.full_bytes = self.full_bytes.min(batch_bytes);
        self
    }

    /// The names of the columns that are written, and whether a column is in base64.
    pub fn columns(&self) -> impl Iterator<Item = (&str, bool)> {
        let encodes = matches!(self.form, Form::Load { .. });
        let written = self.columns.iter().filter(|column| !column.is_generated);
        written.map(move |column| (&*column.name, encodes && SelectedRows::is_encoded(column)))
    }

    /// What every file of rows begins with.
    pub fn head(&self) -> &'static [u8] {
        match self.form {
            Form::Sql { .. } => DATA_SESSION.as_bytes(),
            Form::Load { .. } => b"",
        }
    }

    /// What the names of its files end in.
    pub fn extension(&self) -> &'static str {
        match self.form {
            Form::Sql { .. } => "sql",
            Form::Load { .. } => "tsv",
        }
    }

    /// Whether [`SelectedRows::load`] writes a column in base64: bytes, and text, since nothing is
    /// known of its charset.
    pub fn is_encoded(column: &SelectedColumn) -> bool {
        column.class.is_binary() || matches!(column.class, Class::Text | Class::Enum | Class::Set)
    }

    /// Adds a row. Refuses one that has not a value for each column.
    pub fn row(&self, row: &[Option<Vec<u8>>], batch: &mut Encoded) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(format::Error::schema(format!(
                "the server gave a row of {} values for {} columns",
                row.len(),
                self.columns.len()
            ))
            .into());
        }
        let values = || {
            let both = self.columns.iter().zip(row);
            both.filter(|(column, _)| !column.is_generated)
        };
        match &self.form {
            Form::Sql { shape, escapes, statement_size_bytes } => {
                let start = batch.bytes.len();
                batch.bytes.extend_from_slice(match batch.statement {
                    None => &shape.opening,
                    Some(_) => shape.separator,
                });
                for (index, (column, value)) in values().enumerate() {
                    batch.bytes.push(if index == 0 { b'(' } else { b',' });
                    sql_value(column.class, value.as_deref(), escapes, &mut batch.bytes);
                }
                batch.bytes.push(b')');
                shape.cut(start, *statement_size_bytes, batch);
            }
            Form::Load { escapes } => {
                for (index, (column, value)) in values().enumerate() {
                    batch.bytes.extend_from_slice(if index == 0 { b"" } else { b"\t" });
                    match value {
                        None => batch.bytes.extend_from_slice(b"\\N"),
                        Some(value) if SelectedRows::is_encoded(column) => {
                            append_base64(value, &mut batch.bytes);
                        }
                        Some(value) => escapes.append(value, &mut batch.bytes),
                    }
                }
                batch.bytes.push(b'\n');
            }
        }
        batch.rows += 1;
        Ok(())
    }

    /// Whether the batch should be delivered before more is added.
    pub fn is_full(&self, batch: &Encoded) -> bool {
        batch.bytes.len() >= self.full_bytes
    }

    /// The batch's last row was added.
    pub fn finish(&self, batch: &mut Encoded) -> Result<()> {
        if let Form::Sql { shape, .. } = &self.form
            && batch.statement.take().is_some()
        {
            batch.bytes.extend_from_slice(shape.ending);
        }
        batch.compress(self.compression)
    }
}

/// A value for a session in charset `binary`.
fn sql_value(class: Class, value: Option<&[u8]>, escapes: &Escapes<3>, out: &mut Vec<u8>) {
    let Some(value) = value else {
        out.extend_from_slice(b"NULL");
        return;
    };
    let (before, after): (&[u8], &[u8]) = match class {
        Class::Number => return out.extend_from_slice(value),
        Class::Binary | Class::Bit | Class::Geometry | Class::Vector => {
            return append_hex_literal(value, out);
        }
        Class::Temporal | Class::Text | Class::Enum | Class::Set => (b"'", b"'"),
        Class::Json => (b"CONVERT('", b"' USING utf8mb4)"),
        // a text in charset binary would be taken for the address's bytes
        Class::Uuid | Class::Inet => (b"_utf8mb4'", b"'"),
    };
    out.extend_from_slice(before);
    escapes.append(value, out);
    out.extend_from_slice(after);
}
