//! Full scans of InnoDB tables from their files.

pub mod datadir;
mod error;
pub mod sink;
mod table;

pub use error::{Error, Result};
pub use table::{Table, TableFile};
