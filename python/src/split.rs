//! Splits of a table.

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::open::raised;

/// A part of a table that can be read by itself, by another process or machine that sees the same files.
///
/// It can be pickled; `str` gives it as a line of JSON, and `Split(text)` makes it of that. A split names places in
/// the files: when a file is written to afterwards, reading the split is an error.
#[pyclass(frozen, module = "innoscan", eq)]
#[derive(Clone, PartialEq, Eq)]
pub struct Split {
    pub split: innoscan::Split,
}

#[pymethods]
impl Split {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Split> {
        Ok(Split { split: raised(py, text.parse())? })
    }

    /// The table's name, `db.table`.
    #[getter]
    fn table(&self) -> &str {
        self.split.table()
    }

    /// The number of rows, estimated.
    #[getter]
    fn estimated_rows(&self) -> u64 {
        self.split.estimated_rows()
    }

    /// The bytes of the pages with rows, estimated.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        self.split.estimated_bytes()
    }

    /// The least key that the first row can have, each column as text; None at the table's beginning, and where
    /// it cannot be shown.
    #[getter]
    fn lower_key(&self) -> Option<Vec<String>> {
        self.split.lower_key().map(<[String]>::to_vec)
    }

    /// The key before which the split ends; None at the table's end.
    #[getter]
    fn upper_key(&self) -> Option<Vec<String>> {
        self.split.upper_key().map(<[String]>::to_vec)
    }

    fn __str__(&self) -> String {
        self.split.to_string()
    }

    fn __repr__(&self) -> String {
        let key = |key: Option<&[String]>| key.map_or("None".to_owned(), |key| key.join(", "));
        let (lower, upper) = (key(self.split.lower_key()), key(self.split.upper_key()));
        let rows = self.split.estimated_rows();
        format!("<Split of {}: keys {lower} to {upper}, about {rows} rows>", self.split.table())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<Split>(), (self.split.to_string(),))
    }
}
