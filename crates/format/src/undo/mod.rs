//! Undo: the older versions of rows that unfinished transactions have changed.
//!
//! Each record of a clustered index has, behind its key, the id of the transaction that wrote it
//! (`DB_TRX_ID`) and a pointer to the undo record with what that transaction replaced
//! (`DB_ROLL_PTR`). A [`VersionReader`] follows the pointers back to a version that no unfinished
//! transaction wrote: the row as the server shows it after its own rollback.
//!
//! | module | what it reads |
//! |---|---|
//! | [`page::undo`](crate::page::undo) | which transactions are unfinished: rollback segments and undo logs |
//! | [`UndoLogPage`] | which tables were empty before them |
//! | [`Unfinished`] | the set of their ids |
//! | [`RollPointer`] | where an undo record is |
//! | [`UndoRecord`] | one undo record |
//! | [`VersionReader`] | a chain of them |
//!
//! `trx0rec.cc`, `row0vers.cc`, `trx0undo.h` of MariaDB 10.11 and MySQL 8.0.

mod compressed;
mod log_page;
mod pointer;
mod record;
mod system_columns;
#[cfg(test)]
mod tests;
mod unfinished;
mod version;

pub use log_page::UndoLogPage;
pub use pointer::RollPointer;
pub(crate) use record::alter_under_way;
pub use record::{LobChange, OldValue, UndoRecord};
pub use system_columns::SystemColumns;
pub use unfinished::Unfinished;
pub use version::{UndoPage, Version, VersionLayout, VersionReader};
