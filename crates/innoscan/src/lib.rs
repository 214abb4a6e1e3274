//! Full scans of InnoDB tables from their files.

pub mod ahead;
pub mod check;
pub mod datadir;
pub mod dump;
mod error;
pub mod inspect;
pub mod pool;
pub mod scan;
pub mod sink;
pub mod space;
pub mod stats;
mod table;
pub mod walk;

pub use error::{Error, Result};
pub use table::{Table, TableFile};
