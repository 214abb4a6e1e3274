//! Parquet files.

use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatchReader;
use innoscan::{Error, Result, RowOrder, Selection};
use innoscan_columnar::{
    BatchReader, Codec, FileKind, GroupOptions, ParquetOptions, TypeOptions,
};
use innoscan_engine::cores::threads_or_cores;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tempfile::NamedTempFile;

use crate::running::Shared;
use crate::scan::Report;

/// How a file is written.
pub struct FileOptions {
    parquet: ParquetOptions,
    overwrite: bool,
}

impl FileOptions {
    pub fn new(compression: &str, field_ids: bool, overwrite: bool) -> PyResult<FileOptions> {
        let codec = match compression {
            "zstd" => Codec::Zstd,
            "snappy" => Codec::Snappy,
            "none" => Codec::None,
            _ => {
                let why = format!("compression is zstd, snappy or none, not {compression:?}");
                return Err(PyValueError::new_err(why));
            }
        };
        let parquet = ParquetOptions { codec, field_ids, ..ParquetOptions::default() };
        Ok(FileOptions { parquet, overwrite })
    }
}

/// Writes the rows of a selection to a file, which gets its name when it is complete.
pub fn write(
    selection: &Selection,
    types: &TypeOptions,
    path: &Path,
    FileOptions { mut parquet, overwrite }: FileOptions,
    shared: &Shared,
) -> Result<Report> {
    let doing = || format!("writing {}", path.display());
    if !overwrite && path.exists() {
        let why = format!("{} exists", path.display());
        return Err(Error::refused(why, "name another file, or give overwrite=True"));
    }
    parquet.in_any_order = selection.options.rows.order != RowOrder::Key;
    let plan = &selection.options.plan;
    let groups = GroupOptions::within(plan.memory_bytes, threads_or_cores(plan.threads));
    let mut reader = BatchReader::new(selection.clone(), types)?;
    let schema = reader.schema();
    let mut writer = parquet.writer(&selection.table.def, &schema, types.table, groups);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))
        .map_err(|error| Error::write(doing(), error))?;
    let mut rows = 0;
    let mut out =
        |bytes: &[u8]| file.write_all(bytes).map_err(|error| Error::write(doing(), error));
    writer.begin(&mut out)?;
    while let Some(batch) = shared.next_batch(&mut reader)? {
        rows += batch.num_rows() as u64;
        writer.write(&batch, &mut out)?;
    }
    let report = Report::of(&reader, rows);
    writer.finish(report.losses, &mut out)?;
    let named = file.as_file().sync_all().and_then(|()| match overwrite {
        true => file.persist(path).map_err(|error| error.error),
        false => file.persist_noclobber(path).map_err(|error| error.error),
    });
    named.map_err(|error| Error::write(doing(), error))?;
    Ok(report)
}
