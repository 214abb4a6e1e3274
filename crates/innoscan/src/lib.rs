//! Full scans of InnoDB tables from their files.

pub mod datadir;
mod error;
pub mod sink;

pub use error::{Error, Result};
