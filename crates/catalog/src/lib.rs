//! What a data directory or a backup holds, without a server: its tables and their definitions, views,
//! triggers, routines, events and accounts, whether its files may be read, and the ledger of a dump.
//!
//! The crate [`innoscan`](https://docs.rs/innoscan) is the interface for other programs. This crate's
//! own interface serves the crates of its workspace, and changes without notice.

mod auto_increment;
mod backup;
mod binlog;
pub mod catalog;
pub mod data_files;
pub mod datadir;
mod ddl_log;
pub mod dictionary;
mod exported;
mod file_bytes;
pub mod key_files;
pub mod ledger;
mod mysql_definition;
mod mysql_ibd;
pub mod object;
pub mod option_file;
mod prepared;
pub mod source;
pub mod system_files;
mod table_selection;
pub mod undo;

pub use prepared::Prepared;
pub use table_selection::{Exclusion, TableSelection};
