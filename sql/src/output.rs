//! Writes the rows of a query.

use std::io::Write;

use anyhow::{Context, Result};
use arrow_cast::pretty::pretty_format_batches_with_options;
use clap::ValueEnum;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

/// The form of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// With a header.
    Csv,
    /// One object per line.
    Json,
    /// A Parquet file.
    Parquet,
    /// An Arrow stream.
    Arrow,
}

/// Writes all rows of a stream.
pub async fn write(
    format: Format,
    mut rows: SendableRecordBatchStream,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut writer = Writer::new(format, rows.schema(), out)?;
    while let Some(batch) = rows.next().await {
        writer.write(&batch?)?;
    }
    writer.finish()
}

enum Writer<'o> {
    Table(Vec<RecordBatch>, SchemaRef, &'o mut (dyn Write + Send)),
    Csv(Box<arrow_csv::Writer<&'o mut (dyn Write + Send)>>),
    Json(arrow_json::LineDelimitedWriter<&'o mut (dyn Write + Send)>),
    Parquet(Box<parquet::arrow::ArrowWriter<&'o mut (dyn Write + Send)>>),
    Arrow(Box<arrow_ipc::writer::StreamWriter<&'o mut (dyn Write + Send)>>),
}

const WRITING: &str = "writing the rows";

impl<'o> Writer<'o> {
    fn new(
        format: Format,
        schema: SchemaRef,
        out: &'o mut (dyn Write + Send),
    ) -> Result<Writer<'o>> {
        Ok(match format {
            Format::Table => Writer::Table(Vec::new(), schema, out),
            Format::Csv => {
                let mut writer = arrow_csv::Writer::new(out);
                // The header, also where no row follows.
                writer.write(&RecordBatch::new_empty(schema)).context(WRITING)?;
                Writer::Csv(Box::new(writer))
            }
            Format::Json => Writer::Json(arrow_json::LineDelimitedWriter::new(out)),
            Format::Parquet => {
                let zstd = parquet::basic::Compression::ZSTD(Default::default());
                let properties = parquet::file::properties::WriterProperties::builder();
                let properties = Some(properties.set_compression(zstd).build());
                let writer = parquet::arrow::ArrowWriter::try_new(out, schema, properties);
                Writer::Parquet(Box::new(writer.context(WRITING)?))
            }
            Format::Arrow => {
                let writer = arrow_ipc::writer::StreamWriter::try_new(out, &schema);
                Writer::Arrow(Box::new(writer.context(WRITING)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            // Columns are as wide as their widest value, so all rows are needed first.
            Writer::Table(batches, ..) => batches.push(batch.clone()),
            Writer::Csv(writer) => writer.write(batch).context(WRITING)?,
            Writer::Json(writer) => writer.write(batch).context(WRITING)?,
            Writer::Parquet(writer) => writer.write(batch).context(WRITING)?,
            Writer::Arrow(writer) => writer.write(batch).context(WRITING)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self {
            Writer::Table(batches, schema, out) => {
                let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                let options = FormatOptions::default().with_null("NULL");
                let batches =
                    if rows == 0 { vec![RecordBatch::new_empty(schema)] } else { batches };
                let text = pretty_format_batches_with_options(&batches, &options)?;
                writeln!(out, "{text}").context(WRITING)?;
                out.flush().context(WRITING)
            }
            Writer::Csv(writer) => writer.into_inner().flush().context(WRITING),
            Writer::Json(mut writer) => {
                writer.finish().context(WRITING)?;
                writer.into_inner().flush().context(WRITING)
            }
            Writer::Parquet(writer) => writer.close().context(WRITING).map(|_| ()),
            Writer::Arrow(mut writer) => writer.finish().context(WRITING),
        }
    }
}
