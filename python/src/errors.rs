//! Errors of the library as Python's exceptions, one class for each kind.

use arrow_schema::ArrowError;
use innoscan::{Error, ErrorKind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::remedies;

/// The name of the class in `innoscan.errors`.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::NoKey => "NoKeyError",
        ErrorKind::WrongKey => "WrongKeyError",
        ErrorKind::Schema => "SchemaError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::Permission => "AccessError",
        ErrorKind::Read => "ReadError",
        ErrorKind::Write | ErrorKind::BrokenPipe => "WriteError",
        ErrorKind::Usage => "UsageError",
        ErrorKind::RefusedDirectory => "RefusedDirectoryError",
        ErrorKind::Resources => "ResourcesError",
        // There are kinds that the library may add, and servers are not asked.
        _ => "RefusedError",
    }
}

/// The exception of an error.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind() == ErrorKind::Interrupted {
        return PyKeyboardInterrupt::new_err(());
    }
    let raised = || {
        let class = py.import("innoscan.errors")?.getattr(class(error.kind()))?;
        let exception = class.call1((remedies::reason(&error.reason()),))?;
        exception.setattr("file", error.file())?;
        exception.setattr("page", error.place().and_then(|place| place.page).map(|page| page.0))?;
        let remedies: Vec<String> = error.remedies().iter().map(remedies::word).collect();
        exception.setattr("remedies", remedies)?;
        Ok(PyErr::from_value(exception))
    };
    raised().unwrap_or_else(|failed: PyErr| failed)
}

/// The library's error in the error of a batch.
pub fn own_error(error: ArrowError) -> Error {
    let what = error.to_string();
    match error {
        ArrowError::ExternalError(source) => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(_) => Error::resources(what),
        },
        _ => Error::resources(what),
    }
}
