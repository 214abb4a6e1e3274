//! A table of Python.

use std::path::PathBuf;
use std::sync::Arc;

use innoscan::{Device, IndexSource, RowShape, ScanOptions};
use innoscan_columnar::BatchReader;
use innoscan_engine::checksum_sink::{Checksum, ChecksumKind, Sum, TableChecksum};
use innoscan_engine::devices::KnownDevices;
use innoscan_engine::scan::scan;
use innoscan_tools::explain::explain;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::open::{Source, raised};
use crate::push_down::PushDown;
use crate::running::{Shared, run};
use crate::scan::{Scan, ScanArgs, arrow_types};
use crate::split::Split;

/// The devices whose costs are explained where none is named.
const DEVICES: [&str; 3] = ["hdd", "gp3", "nvme"];

/// A table: its definition and its files. `open` makes it.
#[pyclass(frozen, module = "innoscan")]
pub struct Table {
    source: Source,
    table: innoscan::Table,
}

impl Table {
    pub fn new(source: Source, table: innoscan::Table) -> Table {
        Table { source, table }
    }

    fn shape(&self, py: Python<'_>) -> PyResult<RowShape> {
        raised(py, self.table.rows().shape())
    }

    fn whole(&self, py: Python<'_>) -> PyResult<Scan> {
        let args = ScanArgs {
            columns: None,
            order: "key".to_owned(),
            limit: None,
            memory: None,
            threads: 0,
            max_rate: None,
            on_corrupt: "fail".to_owned(),
            types: "native".to_owned(),
            invisible: false,
            condition: None,
        };
        Scan::new(py, &self.table, args, None, None, None)
    }
}

#[pymethods]
impl Table {
    /// The name, `db.table`, or the table's name alone where the database is not known.
    #[getter]
    fn name(&self) -> String {
        self.table.qualified_name()
    }

    /// The files, one for each partition; of incremental backups as they would be after the preparation.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.table.files.iter().map(|file| file.path.clone()).collect()
    }

    /// What the rows depend on: how the table was opened, and the stamps of the files.
    fn _state(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let stamps = self.table.files.iter().map(|file| Ok(file.stamp()?.to_string()));
        let stamps = raised(py, stamps.collect::<innoscan::Result<Vec<String>>>())?;
        Ok([format!("{:?}", self.source)].into_iter().chain(stamps).collect())
    }

    /// The bytes of the files.
    #[getter]
    fn size_bytes(&self) -> u64 {
        self.table.size_bytes()
    }

    /// The columns of `SELECT *` that the files have.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.shape(py)?.columns().iter().map(|column| column.name().to_owned()).collect())
    }

    /// The columns of the primary key, in its order; empty if there is none.
    #[getter]
    fn primary_key(&self) -> Vec<String> {
        let columns = self.table.columns();
        let parts = self.table.def.primary_key().into_iter().flat_map(|key| &key.parts);
        let columns = parts.filter_map(|part| match part.source {
            IndexSource::Column(number) => columns.get(number),
            IndexSource::Expression(_) => None,
        });
        columns.map(|column| column.name.clone()).collect()
    }

    /// Which comparisons a scan with these types can take over.
    fn _push_down(
        &self,
        py: Python<'_>,
        types: &str,
        column_types: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PushDown> {
        let types = arrow_types(types, column_types)?;
        let selection = raised(py, self.table.rows().with_invisible(true).selection())?;
        let reader = raised(py, BatchReader::new(selection, &types))?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        Ok(PushDown(innoscan_columnar::PushDown::new(&self.table.def, &schema)))
    }

    /// The columns of `SELECT *` that the files do not have, each with the reason.
    #[getter]
    fn left_out(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.shape(py)?.left_out().iter().map(ToString::to_string).collect())
    }

    /// Notes on the rows: they may be missing or old, or they are read through the redo log of a server that was
    /// killed. `open` gives the same text as warnings.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.table.notes.rows.clone()
    }

    /// The `CREATE TABLE`, as `SHOW CREATE TABLE` of the server that wrote the files gives it.
    fn schema_sql(&self) -> String {
        self.table.def.to_create_table()
    }

    /// Selects what is to be read. Without arguments it is the whole table.
    ///
    /// columns: the names of the columns; None: those of `SELECT *`.
    /// keys: a key, a range of keys, or a list of them. A key is a value, or a tuple of values for the first columns
    ///     of the primary key; a range is `range(a, b)` or `slice(a, b)`, without b itself. Only pages with these
    ///     keys are read.
    /// where: a condition in SQL: columns compared with values, joined by AND.
    /// split: a part of the table; see `splits`.
    /// limit: the most rows.
    /// types: "native", "portable", or with changes: "portable,time=int64".
    /// column_types: types of single columns, by name.
    /// order: "key" for the order of the primary key, "any" for the order in which pages are read fastest.
    /// on_corrupt: "fail", or "skip" to read the rows around damage; `Scan.report` says what was lost.
    /// invisible: with invisible columns.
    /// memory: bytes of memory for pages, 768 MiB by default. threads: 0 is one for each core.
    /// max_rate: the most bytes that are read per second.
    #[pyo3(signature = (columns=None, *, keys=None, r#where=None, split=None, limit=None, types="native",
                        column_types=None, order="key", on_corrupt="fail", invisible=false, memory=None,
                        threads=0, max_rate=None))]
    #[expect(clippy::too_many_arguments, reason = "named arguments of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        keys: Option<&Bound<'_, PyAny>>,
        r#where: Option<String>,
        split: Option<&Split>,
        limit: Option<u64>,
        types: &str,
        column_types: Option<&Bound<'_, PyDict>>,
        order: &str,
        on_corrupt: &str,
        invisible: bool,
        memory: Option<u64>,
        threads: usize,
        max_rate: Option<u64>,
    ) -> PyResult<Scan> {
        let args = ScanArgs {
            columns,
            order: order.to_owned(),
            limit,
            memory,
            threads,
            max_rate,
            on_corrupt: on_corrupt.to_owned(),
            types: types.to_owned(),
            invisible,
            condition: r#where,
        };
        Scan::new(py, &self.table, args, keys, split, column_types)
    }

    /// Divides the table into at most `count` parts of about the same size, or into parts of about `bytes` bytes, in
    /// the order of the rows. Only branch pages are read.
    #[pyo3(signature = (count=None, *, bytes=None))]
    fn splits(
        &self,
        py: Python<'_>,
        count: Option<usize>,
        bytes: Option<u64>,
    ) -> PyResult<Vec<Split>> {
        let count = match (count, bytes) {
            (Some(count), None) if count > 0 => count,
            (None, Some(bytes)) if bytes > 0 => {
                usize::try_from(self.table.size_bytes().div_ceil(bytes))
                    .unwrap_or(usize::MAX)
                    .max(1)
            }
            _ => return Err(PyValueError::new_err("give either count or bytes, at least 1")),
        };
        let splits = run(py, &Shared::default(), None, || self.table.splits(count))?;
        Ok(splits.into_iter().map(|split| Split { split }).collect())
    }

    /// The checksum that `CHECKSUM TABLE` gives, as a dict: `rows`, and `checksum`. Where that includes values that
    /// only the server can compute, `checksum` is None, and `stored_columns_checksum` is that of the stored columns.
    ///
    /// progress: called from time to time with a dict of `share`, `rows`, `read_bytes`.
    #[pyo3(signature = (*, progress=None))]
    fn checksum<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let sink = Checksum::of_manifest(&self.table.def);
        let sink = raised(py, sink.map_err(innoscan::Error::from))?;
        let shared = Shared::default();
        let options = options(&shared);
        let total = run(py, &shared, progress, || {
            let mut total = Sum::default();
            scan(&self.table, &options, &sink, |sum| {
                total.add(&sum);
                Ok(())
            })?;
            Ok(total)
        })?;
        let sum = sink.kind().map(|kind| TableChecksum { kind, sum: total.sum });
        let of_kind = |kind| sum.and_then(|sum| sum.of_kind(kind));
        let dict = PyDict::new(py);
        dict.set_item("rows", total.rows)?;
        dict.set_item("checksum", of_kind(ChecksumKind::Table))?;
        dict.set_item("stored_columns_checksum", of_kind(ChecksumKind::StoredColumns))?;
        Ok(dict)
    }

    /// Estimates what a scan costs with each policy of read-ahead, from the branch pages: the dict that
    /// `innoscan explain --json` prints. device: `hdd`, `gp3`, `nvme`, or figures as of `innoscan --device`; None:
    /// all of these.
    #[pyo3(signature = (*, device=None))]
    fn explain<'py>(&self, py: Python<'py>, device: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let names = device.map_or(DEVICES.to_vec(), |device| vec![device]);
        let devices = names.iter().map(|name| name.parse::<Device>());
        let devices = devices.collect::<Result<Vec<Device>, _>>().map_err(PyValueError::new_err)?;
        let shared = Shared::default();
        let options = options(&shared);
        let text = run(py, &shared, None, || {
            let explanation = explain(&self.table, &options)?;
            let costs = devices.iter().map(|device| explanation.costs(device));
            let costs = costs.collect::<innoscan::Result<Vec<_>>>()?;
            let by_device = names.iter().zip(&devices).zip(&costs);
            let by_device = by_device.map(|((name, device), costs)| (*name, *device, &costs[..]));
            let name = self.table.qualified_name();
            Ok(explanation.to_json(&name, by_device, &options).to_string())
        })?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// An Arrow stream of the whole table.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.whole(py)?.__arrow_c_stream__(py, requested_schema)
    }

    /// The Arrow schema of the whole table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.whole(py)?.__arrow_c_schema__(py)
    }

    fn __repr__(&self) -> String {
        format!("<Table {}, {} bytes>", self.table.qualified_name(), self.table.size_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Reopened<'py>)> {
        let open = py.import("innoscan")?.getattr("_open_again")?;
        Ok((open, (self.source.path.clone(), self.source.places.to_dict(py)?)))
    }
}

/// The arguments with which a table is opened again.
type Reopened<'py> = (PathBuf, Bound<'py, PyDict>);

/// The options of a scan that can be interrupted.
fn options(shared: &Shared) -> ScanOptions {
    let mut options = ScanOptions::default();
    options.io.known_devices = KnownDevices::of_user();
    options.hooks.progress = Some(shared.progress_fn());
    options.hooks.cancel = Some(Arc::clone(&shared.cancel));
    options
}
