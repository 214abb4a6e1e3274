//! Record batches one by one, for consumers that stop early.

use std::sync::{Mutex, PoisonError};

use arrow_array::ffi::to_ffi;
use arrow_array::{Array, RecordBatch, StructArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{own_error, to_python};
use crate::stream::Stream;

/// The batches of a scan. Dropping them ends the scan.
#[pyclass(frozen, module = "innoscan")]
pub struct Batches {
    stream: Mutex<Stream>,
}

impl Batches {
    pub fn new(stream: Stream) -> Batches {
        Batches { stream: Mutex::new(stream) }
    }
}

#[pymethods]
impl Batches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = || {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            stream.next().map(|batch| batch.map_err(|error| (stream.take_raised(), error)))
        };
        match py.detach(next) {
            None => Ok(None),
            Some(Ok(rows)) => Ok(Some(Batch { rows })),
            Some(Err((raised, error))) => {
                Err(raised.unwrap_or_else(|| to_python(py, &own_error(error))))
            }
        }
    }
}

/// Some rows, as an Arrow array of structs.
#[pyclass(frozen, module = "innoscan")]
pub struct Batch {
    rows: RecordBatch,
}

#[pymethods]
impl Batch {
    /// The Arrow array. `requested_schema` has no effect.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        _ = requested_schema;
        let rows = StructArray::from(self.rows.clone());
        let (array, schema) =
            to_ffi(&rows.to_data()).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }
}
