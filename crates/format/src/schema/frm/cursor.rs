//! Sequential reading of a section of the file.

use crate::{Error, Result, bytes};

/// The unread rest of a section.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(section: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: section }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| {
            Error::corrupt(format!(
                "the .frm file ends early: {len} bytes wanted, {} left",
                self.rest.len()
            ))
        })?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        bytes::u8_at(self.take(1)?, 0)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        bytes::u16_le_at(self.take(2)?, 0)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        bytes::u32_le_at(self.take(4)?, 0)
    }

    /// Reads bytes preceded by their two-byte length.
    pub(super) fn counted(&mut self) -> Result<&'a [u8]> {
        let len = self.u16()?;
        self.take(usize::from(len))
    }

    /// Reads up to a zero byte, which is consumed but not returned.
    pub(super) fn zero_terminated(&mut self) -> Result<&'a [u8]> {
        let len = self
            .rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or_else(|| Error::corrupt("a name in the .frm file is not terminated"))?;
        let taken = self.take(len)?;
        self.take(1)?;
        Ok(taken)
    }
}

/// Decodes a name or comment, which is UTF-8 by rule. Other bytes become U+FFFD, as nothing depends
/// on them.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
