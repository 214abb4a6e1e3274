//! Full scans of InnoDB tables from their files.

pub mod datadir;
mod error;

pub use error::{Error, Result};
