//! Full scans of InnoDB tables from their files.

mod error;

pub use error::{Error, Result};
