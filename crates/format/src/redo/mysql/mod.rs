//! The log of MySQL 8.0.30 to 9.7: files in `#innodb_redo`, blocks of 512 bytes in them, and groups of
//! records in the blocks (`log0types.h`, `mtr0types.h`, MySQL 9.7).
//!
//! Records have no lengths, so each type must be understood ([`Input::record`]), also those that are
//! never applied. Those of index pages describe the index, and change records by their neighbours; the
//! result must be the server's to the byte, because later records name offsets ([`PageChanges`]).

mod apply;
mod blocks;
mod compressed;
mod description;
mod encryption;
mod entry;
mod extent;
mod index_page;
mod list;
mod physical;
mod record;
mod undo;
mod zip;

pub use apply::{PageChanges, group_bytes, run_bytes};
pub use blocks::{LogFile, LogFlaw};
pub use compressed::{Input, Read, Stop};
pub use description::Descriptions;
pub use encryption::EncryptedBlock;
pub use record::{Counter, Kind, Record};
pub use zip::ZipPage;
