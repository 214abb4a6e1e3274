//! Record batches from rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{ArrowError, SchemaRef};
use innoscan_engine::{Error, Losses, Result, RowColumn, RowShape};
use innoscan_format as format;
use innoscan_format::schema::{ColumnDef, ServerVersion, TableDef};
use innoscan_format::types::{Codec, ColumnType};

use crate::column::{ColumnBuilder, ColumnRule};
use crate::schema;
use crate::types::form::Form;
use crate::types::{InvalidText, TypeOptions, ZeroDates, form_of};

/// The encoder of a table's rows as columns.
#[derive(Debug)]
pub struct ColumnEncoder {
    shape: RowShape,
    rules: Vec<ColumnRule>,
    schema: SchemaRef,
}

impl ColumnEncoder {
    /// The encoder of the rows and columns of a shape.
    ///
    /// # Errors
    /// A column cannot have the type that the options choose for it, or the options name a column that the
    /// shape does not have.
    pub fn new(
        def: &TableDef,
        shape: RowShape,
        options: &TypeOptions,
    ) -> format::Result<ColumnEncoder> {
        let mut rules = Vec::with_capacity(shape.columns().len());
        let mut fields = Vec::with_capacity(shape.columns().len());
        for column in shape.columns() {
            let column_def = column_def(def, column)?;
            let form = form_of(column, def, options)?;
            fields.push(schema::field(column_def, form, def, options));
            rules.push(rule(column, column_def, form, def.server, options)?);
        }
        let schema = schema::schema(def, fields);
        Ok(ColumnEncoder { shape, rules, schema })
    }

    /// The columns, and which rows are shown.
    pub fn shape(&self) -> &RowShape {
        &self.shape
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Each column's name, and the form of its values.
    pub fn forms(&self) -> impl Iterator<Item = (&str, Form)> {
        let names = self.shape.columns().iter().map(RowColumn::name);
        names.zip(self.rules.iter().map(|rule| rule.form))
    }

    /// Appends a row, which the shape shows. After an error the batch is as before.
    ///
    /// # Errors
    /// A value is damaged, or does not fit its column's type; the error names the column.
    #[inline]
    pub fn row(&self, row: &[Option<&[u8]>], batch: &mut BatchBuilder) -> format::Result<()> {
        if batch.columns.is_empty() {
            batch.columns = self.rules.iter().map(ColumnRule::builder).collect();
        }
        let losses = batch.losses;
        let mut bytes = self.rules.len();
        for (column, builder) in self.shape.columns().iter().zip(&mut batch.columns) {
            let Some(stored) = row[column.position()] else {
                builder.append_null();
                continue;
            };
            bytes += stored.len();
            if let Err(error) = builder.append(stored, &mut batch.losses) {
                batch.losses = losses;
                batch.cut_off_row();
                return Err(at_column(error, column.name()));
            }
        }
        batch.rows += 1;
        batch.bytes += bytes;
        Ok(())
    }

    /// The record batch of the rows; the builder is empty then.
    ///
    /// # Errors
    /// The values of a column are not what its type promises.
    pub fn finish(&self, batch: &mut BatchBuilder) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut batch.rows);
        batch.bytes = 0;
        if batch.columns.is_empty() {
            batch.columns = self.rules.iter().map(ColumnRule::builder).collect();
        }
        let arrays: std::result::Result<Vec<ArrayRef>, ArrowError> =
            batch.columns.iter_mut().map(|column| column.finish()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        RecordBatch::try_new_with_options(schema, arrays.map_err(not_as_promised)?, &options)
            .map_err(not_as_promised)
    }
}

/// The rows of a batch that is not finished.
#[derive(Default)]
pub struct BatchBuilder {
    /// Made with the first row.
    columns: Vec<Box<dyn ColumnBuilder>>,
    rows: usize,
    /// The stored bytes of the rows.
    bytes: usize,
    losses: Losses,
}

impl std::fmt::Debug for BatchBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BatchBuilder { rows, bytes, .. } = self;
        write!(f, "BatchBuilder({rows} rows, {bytes} bytes)")
    }
}

impl BatchBuilder {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The size of the rows in bytes, as stored.
    pub fn stored_bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the counts of what was lost.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Removes the columns that were appended of a row that has an error.
    #[cold]
    fn cut_off_row(&mut self) {
        for column in &mut self.columns {
            column.truncate(self.rows);
        }
    }
}

#[cold]
fn not_as_promised(error: ArrowError) -> Error {
    format::Error::corrupt(format!("rows are not as their columns promise: {error}")).into()
}

/// Adds the column to an error, also to one that has no place.
#[cold]
fn at_column(error: format::Error, name: &str) -> format::Error {
    match error.cause() {
        format::Cause::Unsupported { what, remedy } => {
            format::Error::unsupported(format!("column `{name}`: {what}"), remedy.clone())
        }
        _ => error.at_column(name),
    }
}

fn column_def<'d>(def: &'d TableDef, column: &RowColumn) -> format::Result<&'d ColumnDef> {
    let found = def.columns.iter().find(|candidate| candidate.name == column.name());
    found.ok_or_else(|| {
        format::Error::schema(format!("the table has no column `{}`", column.name()))
    })
}

fn rule(
    column: &RowColumn,
    def: &ColumnDef,
    form: Form,
    server: ServerVersion,
    options: &TypeOptions,
) -> format::Result<ColumnRule> {
    let members = match (form, column.ty()) {
        (Form::Dictionary8 | Form::Dictionary16, ColumnType::Enum { members, .. }) => {
            enum_texts(column.codec(), members.len())?
        }
        (Form::TextList, ColumnType::Set { members, collation }) => {
            // A member's text is that of an ENUM with the same members.
            let (members, collation) = (members.clone(), *collation);
            let count = members.len();
            let codec = Codec::new(&ColumnType::Enum { members, collation }, server)?;
            let texts = enum_texts(&codec, count)?;
            texts.slice(1, count)
        }
        _ => StringArray::from(Vec::<&str>::new()),
    };
    Ok(ColumnRule {
        codec: column.codec().clone(),
        form,
        srid: def.srid.unwrap_or(0),
        refuses_zero_dates: options.zero_dates == ZeroDates::Fail,
        refuses_invalid_text: options.invalid_text == InvalidText::Fail,
        members: Arc::new(members),
    })
}

/// The texts of an ENUM's indexes, from 0.
fn enum_texts(codec: &Codec, members: usize) -> format::Result<StringArray> {
    let index_bytes = if members < 256 { 1 } else { 2 };
    let texts: format::Result<Vec<String>> = (0..=members)
        .map(|index| {
            let mut text = Vec::new();
            codec.write_utf8(&(index as u16).to_be_bytes()[2 - index_bytes..], &mut text)?;
            // The codec writes UTF-8 alone.
            Ok(String::from_utf8_lossy(&text).into_owned())
        })
        .collect();
    Ok(StringArray::from(texts?))
}
