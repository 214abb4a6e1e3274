//! Reading of a log in blocks, until what lies at an LSN is there whole.

use innoscan_format::{Error as FormatError, Lsn, Result as FormatResult};

use crate::Result;

/// Adds the data of blocks to `buffer` by `add` until `len` finds a length in it, which is returned. `add` takes the
/// number of blocks wanted and says whether the log ends there; `bytes_max`: more than anything has that begins at an LSN.
///
/// # Errors
/// Those of `add` and `len`; nothing whole is at the LSN.
pub(super) fn read_until(
    lsn: Lsn,
    bytes_max: usize,
    buffer: &mut Vec<u8>,
    mut add: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
    len: impl Fn(&[u8]) -> FormatResult<Option<usize>>,
) -> Result<usize> {
    buffer.clear();
    // Most of what is read is in one block.
    let mut blocks = 1;
    loop {
        let is_ended = add(blocks, buffer)?;
        if let Some(len) = len(buffer)? {
            return Ok(len);
        }
        if is_ended || buffer.len() > bytes_max {
            let what = format!("the redo log was changed: no whole record is at LSN {lsn}");
            return Err(FormatError::corrupt(what).into());
        }
        blocks *= 4;
    }
}
