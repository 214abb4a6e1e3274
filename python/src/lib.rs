//! The Python module: tables as Arrow streams, which polars, DuckDB, pandas and pyarrow read.

mod batches;
mod errors;
mod keys;
mod open;
mod push_down;
mod remedies;
mod running;
mod scan;
mod split;
mod stream;
mod table;
mod write;

use pyo3::prelude::*;

#[pymodule]
mod _innoscan {
    #[pymodule_export]
    use super::open::{catalog, open};
    #[pymodule_export]
    use super::push_down::PushDown;
    #[pymodule_export]
    use super::scan::Scan;
    #[pymodule_export]
    use super::split::Split;
    #[pymodule_export]
    use super::table::Table;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
