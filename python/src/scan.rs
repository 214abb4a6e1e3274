//! A scan: what of a table is to be read. It is an Arrow stream that can be asked for any number of times.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use innoscan::{Device, OnCorrupt, RowOrder, Selection};
use innoscan_columnar::{BatchReader, TypeOptions};
use innoscan_engine::Losses;
use innoscan_engine::devices::KnownDevices;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::batches::Batches;
use crate::keys::key_ranges;
use crate::open::{raised, warn};
use crate::running::{Shared, progress_dict, run};
use crate::split::Split;
use crate::stream::Stream;
use crate::write::{FileOptions, write};

/// The arguments of a scan.
pub struct ScanArgs {
    pub columns: Option<Vec<String>>,
    pub order: String,
    pub limit: Option<u64>,
    pub memory: Option<u64>,
    pub threads: usize,
    pub max_rate: Option<u64>,
    pub on_corrupt: String,
    pub types: String,
    pub invisible: bool,
    pub condition: Option<String>,
}

/// What of a table is to be read.
///
/// It has `__arrow_c_stream__`, so polars, DuckDB, pandas and pyarrow take it as it is. Nothing is read before the
/// first batch is asked for, and each stream reads the files anew.
#[pyclass(frozen, module = "innoscan")]
pub struct Scan {
    selection: Selection,
    /// The same without columns.
    counted: Selection,
    types: TypeOptions,
    /// Of the newest stream.
    shared: Arc<Mutex<Shared>>,
    report: Arc<Mutex<Option<Report>>>,
}

/// The end of a scan.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub rows: u64,
    pub read_bytes: Option<u64>,
    pub seconds: Option<f64>,
    pub losses: Losses,
    /// Pages and rows that were skipped, and where; `None`: not known.
    pub damaged: Option<u64>,
    pub damage: Option<Vec<String>>,
}

impl Report {
    /// The report of a reader at its end, which yielded so many rows. What a scan read and skipped is not known where
    /// a limit ended it.
    pub fn of(reader: &BatchReader, rows: u64) -> Report {
        let losses = reader.losses();
        let Some(outcome) = reader.outcome() else {
            return Report { rows, losses, ..Report::default() };
        };
        Report {
            rows,
            read_bytes: Some(outcome.read_bytes),
            seconds: Some(outcome.elapsed.as_secs_f64()),
            losses,
            damaged: Some(outcome.damaged),
            damage: Some(outcome.damage.iter().map(ToString::to_string).collect()),
        }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("rows", self.rows)?;
        dict.set_item("read_bytes", self.read_bytes)?;
        dict.set_item("seconds", self.seconds)?;
        dict.set_item("replaced_characters", self.losses.replaced_characters)?;
        dict.set_item("dates_as_null", self.losses.dates_as_null)?;
        dict.set_item("srids_left_out", self.losses.srids_left_out)?;
        dict.set_item("damaged", self.damaged)?;
        dict.set_item("damage", &self.damage)?;
        Ok(dict)
    }
}

impl Scan {
    /// A scan of a table.
    pub fn new(
        py: Python<'_>,
        table: &innoscan::Table,
        args: ScanArgs,
        keys: Option<&Bound<'_, PyAny>>,
        split: Option<&Split>,
        column_types: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scan> {
        let mut rows = table.rows();
        if let Some(keys) = keys {
            for range in key_ranges(keys)? {
                rows = rows.key(range);
            }
        }
        let takes_all = args.columns.is_none();
        if let Some(columns) = args.columns {
            rows = rows.columns(columns);
        }
        rows = rows.with_invisible(args.invisible);
        if let Some(condition) = args.condition {
            rows = rows.condition(condition);
        }
        if let Some(limit) = args.limit {
            rows = rows.limit(limit);
        }
        if let Some(split) = split {
            rows = rows.split(&split.split);
        }
        if let Some(memory) = args.memory {
            rows = rows.memory_bytes(memory);
        }
        rows = rows.threads(args.threads).order(order(&args.order)?);
        rows = rows.on_corrupt(on_corrupt(&args.on_corrupt)?);
        let mut selection = raised(py, rows.clone().selection())?;
        selection.options.io.known_devices = KnownDevices::of_user();
        selection.options.io.limits = Device {
            bytes_per_second: args.max_rate.map(|rate| rate.max(1) as f64),
            ..Device::default()
        };
        if takes_all {
            for left in selection.shape.left_out() {
                warn(py, &format!("{}: {left}", table.qualified_name()))?;
            }
        }
        let types = arrow_types(&args.types, column_types)?;
        let counted = raised(py, rows.columns([""; 0]).selection())?;
        let counted = Selection { options: selection.options.clone(), ..counted };
        Ok(Scan { selection, counted, types, shared: Arc::default(), report: Arc::default() })
    }

    fn reader(&self, py: Python<'_>, selection: Selection) -> PyResult<BatchReader> {
        raised(py, BatchReader::new(selection, &self.types))
    }

    fn stream(&self, py: Python<'_>) -> PyResult<Stream> {
        let (selection, _) = self.observed(&self.selection);
        Ok(Stream::new(self.reader(py, selection)?, Arc::clone(&self.report)))
    }

    /// A selection whose progress is this scan's.
    fn observed(&self, selection: &Selection) -> (Selection, Shared) {
        let shared = Shared::default();
        let mut selection = selection.clone();
        selection.options.hooks.progress = Some(shared.progress_fn());
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = shared.clone();
        (selection, shared)
    }

    fn note(&self, report: &Report) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.clone());
    }
}

#[pymethods]
impl Scan {
    /// A new Arrow stream of the rows. `requested_schema` has no effect: the types are those of the scan.
    #[pyo3(signature = (requested_schema=None))]
    pub fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(Box::new(self.stream(py)?));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The Arrow schema of the rows. Nothing is read.
    pub fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = self.reader(py, self.selection.clone())?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let schema = FFI_ArrowSchema::try_from(schema.as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.selection.shape.columns().iter().map(|column| column.name()).collect()
    }

    /// The progress of the newest stream: `share` of the table from 0 to 1, `rows`, `read_bytes`.
    #[getter]
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = self.shared.lock().unwrap_or_else(PoisonError::into_inner).progress();
        progress_dict(py, &progress)
    }

    /// The report of the newest stream that was read to its end; None before. `damaged` is the number of damaged
    /// pages and rows that were skipped, `damage` says where; both are None where a limit ended the scan.
    /// `replaced_characters`, `dates_as_null` and `srids_left_out` count what the columns do not hold as the server does.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.as_ref().map(|report| report.to_dict(py)).transpose()
    }

    /// The rows in batches, each an Arrow array (`__arrow_c_array__`) with a length. Whoever stops early drops the
    /// iterator, which ends the scan.
    fn batches(&self, py: Python<'_>) -> PyResult<Batches> {
        Ok(Batches::new(self.stream(py)?))
    }

    /// Counts the rows, without decoding them.
    #[pyo3(signature = (*, progress=None))]
    fn count(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let (selection, shared) = self.observed(&self.counted);
        run(py, &shared, progress, || {
            let mut reader = BatchReader::new(selection, &self.types)?;
            let mut rows = 0;
            while let Some(batch) = shared.next_batch(&mut reader)? {
                rows += batch.num_rows() as u64;
            }
            Ok(rows)
        })
    }

    /// Writes the rows to a Parquet file, and returns a report like `report`. Row groups are encoded on all cores.
    /// The file gets its name when it is complete.
    ///
    /// compression: zstd, snappy or none. progress: called with a dict like `progress` from time to time.
    #[pyo3(signature = (path, *, compression="zstd", field_ids=false, overwrite=false, progress=None))]
    fn to_parquet<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        compression: &str,
        field_ids: bool,
        overwrite: bool,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let files = FileOptions::new(compression, field_ids, overwrite)?;
        let (selection, shared) = self.observed(&self.selection);
        let report =
            run(py, &shared, progress, || write(&selection, &self.types, &path, files, &shared))?;
        self.note(&report);
        match &report.damage {
            Some(damage) if !damage.is_empty() => {
                warn(py, &format!("damage was skipped: {}", damage.join("; ")))?;
            }
            None if self.selection.options.rows.on_corrupt == OnCorrupt::Skip => {
                warn(py, "the limit ended the scan: whether damage was skipped is not known")?;
            }
            _ => {}
        }
        report.to_dict(py)
    }

    fn __repr__(&self) -> String {
        let name = self.selection.table.qualified_name();
        format!("<Scan of {name}: {}>", self.columns().join(", "))
    }
}

fn order(name: &str) -> PyResult<RowOrder> {
    match name {
        "key" => Ok(RowOrder::Key),
        "any" => Ok(RowOrder::Any),
        _ => Err(PyValueError::new_err(format!("order is \"key\" or \"any\", not {name:?}"))),
    }
}

fn on_corrupt(name: &str) -> PyResult<OnCorrupt> {
    match name {
        "fail" => Ok(OnCorrupt::Fail),
        "skip" => Ok(OnCorrupt::Skip),
        _ => {
            Err(PyValueError::new_err(format!("on_corrupt is \"fail\" or \"skip\", not {name:?}")))
        }
    }
}

/// The types of Arrow that a user chose: a table of types with changes, and types of single columns.
pub fn arrow_types(
    chosen: &str,
    columns: Option<&Bound<'_, PyDict>>,
) -> PyResult<TypeOptions> {
    let mut types = TypeOptions::default();
    for text in chosen.split(',').filter(|text| !text.is_empty()) {
        types.choose(text).map_err(PyValueError::new_err)?;
    }
    for (name, ty) in columns.into_iter().flatten() {
        let text = |value: &Bound<'_, PyAny>| {
            value.extract::<String>().map_err(|_| {
                PyTypeError::new_err("column_types maps names of columns to names of types")
            })
        };
        let text = format!("{}={}", text(&name)?, text(&ty)?);
        types.choose_column(&text).map_err(PyValueError::new_err)?;
    }
    Ok(types)
}
