//! Machines that read what lies on several pages: off-page columns, the dictionary information of a
//! file, what instant `ALTER TABLE` left. A machine names the pages it needs and is given them, so it
//! does no I/O and knows no pool.

mod instant;
mod lob;
mod lob_index;
mod sdi;

pub use instant::MetadataReader;
pub use lob::LobReader;
pub use sdi::{SdiObject, SdiReader};

use crate::PageNo;

/// What a machine asks of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// These pages, to be given in this order. It may name other ones after any of them.
    Pages(&'a [PageNo]),
    /// Nothing more.
    Done,
}
