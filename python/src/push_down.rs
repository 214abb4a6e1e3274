//! Which comparisons of a query engine a scan can take over.

use std::collections::HashMap;

use pyo3::prelude::*;

/// The columns whose comparisons a scan can take over, and the conditions that it accepts.
#[pyclass(frozen, module = "innoscan")]
pub struct PushDown(pub innoscan_columnar::PushDown);

#[pymethods]
impl PushDown {
    /// How the values of each column compare: as `integer`, `decimal`, `date`, `datetime`, `timestamp`, `text` or
    /// `bytes`. Columns that a scan cannot compare as Arrow does are left out.
    #[getter]
    fn kinds(&self) -> HashMap<String, &'static str> {
        let columns = self.0.columns();
        columns.map(|(name, comparable)| (name.to_owned(), comparable.name())).collect()
    }

    /// Whether a scan takes a condition: it refuses values that a column cannot have.
    fn accepts(&self, condition: &str) -> bool {
        self.0.accepts(condition)
    }
}
