//! The rows of an Aria table.

use std::path::Path;

use innoscan_format::schema::TableDef;

use super::RowReceiver;
use crate::{Error, Result};

/// A `.MAI` and `.MAD` file.
#[derive(Debug)]
pub(super) struct Part {}

impl Part {
    pub(super) fn open(_def: &TableDef, stem: &Path) -> Result<Part> {
        Err(Error::refused("Aria is not read yet", "dump it from its server").in_file(stem))
    }

    pub(super) fn data_bytes(&self) -> u64 {
        0
    }

    pub(super) fn rows(&self) -> u64 {
        0
    }

    pub(super) fn for_each_row<'a>(&'a self, _row: &mut RowReceiver<'a>) -> Result<u64> {
        Ok(0)
    }
}
