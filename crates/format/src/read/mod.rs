//! Readers of data on several pages: off-page columns, the dictionary information of a file, the
//! metadata of instant `ALTER TABLE`. Each is a state machine that names the pages it needs and is
//! passed them, without doing I/O.

mod instant;
mod lob;
mod lob_index;
mod sdi;
mod zblob;
mod zlob;

pub use instant::MetadataReader;
pub use lob::LobReader;
pub use sdi::{SdiObject, SdiReader};

use crate::PageNo;

/// The pages that a reader needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// These pages, to be passed in this order. The reader may name others after any of them.
    Pages(&'a [PageNo]),
    /// No more pages: the reader is finished.
    Done,
}
