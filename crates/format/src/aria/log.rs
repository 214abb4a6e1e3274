//! Aria's log: whether it ends with a checkpoint, as a clean shutdown leaves it.
//!
//! ```text
//! aria_log_control  0 fe fe 0c, version; uuid (16), 20 bytes of this part (2); then the other part:
//!                   checksum (4), the last checkpoint's log file (3) and offset (4), newest log (4)
//! aria_log.N        pages of 8 KiB; the record of a checkpoint: 1d (1), 0 (2), its length (1), 0 (2),
//!                   data; unused bytes of a page are ff
//! ```
//!
//! Sources: ma_control_file.c, ma_loghandler.c (`translog_variable_length_header`, chunks), MariaDB
//! 10.11.

use crate::{Error, Result, bytes};

const MAGIC: [u8; 3] = [0xfe, 0xfe, 0x0c];

/// Bytes of a page of the log.
pub const LOG_PAGE_BYTES: usize = 8192;

/// `LOGREC_CHECKPOINT`, as the first byte of a record of variable length.
const CHECKPOINT: u8 = 0x1d;
const RECORD_HEADER_BYTES: usize = 6;
/// The first byte from which on lengths of records have more bytes.
const LONG_LENGTHS: u8 = 251;

/// The positions in `aria_log_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogControl {
    /// Number of the log file with the last checkpoint; 0 if there was none.
    pub checkpoint_file: u32,
    /// Offset of the checkpoint's record in that file.
    pub checkpoint_at: u32,
    /// Number of the newest log file.
    pub newest_file: u32,
}

impl LogControl {
    /// Parses the file `aria_log_control`.
    pub fn parse(file: &[u8]) -> Result<LogControl> {
        if bytes::array::<3>(file, 0)? != MAGIC {
            return Err(Error::corrupt("not an aria_log_control file: wrong magic number"));
        }
        let at = usize::from(bytes::u16_le_at(file, 20)?);
        let len = usize::from(bytes::u16_le_at(file, 22)?);
        let said = bytes::u32_le_at(file, at)?;
        let sum = crc32fast::hash(bytes::slice(file, at + 4, len.saturating_sub(4))?);
        if sum != said {
            return Err(Error::corrupt(format!(
                "checksum mismatch: stored {said:08x}, calculated {sum:08x}"
            )));
        }
        Ok(LogControl {
            checkpoint_file: bytes::u24_le_at(file, at + 4)?,
            checkpoint_at: bytes::u32_le_at(file, at + 7)?,
            newest_file: bytes::u32_le_at(file, at + 11)?,
        })
    }

    /// Returns the offset in the log file of the page with the checkpoint's record. It is the last
    /// page if nothing was logged later.
    pub fn checkpoint_page_at(self) -> u64 {
        u64::from(self.checkpoint_at) / LOG_PAGE_BYTES as u64 * LOG_PAGE_BYTES as u64
    }
}

/// Returns whether the page of the checkpoint's record has nothing after that record.
pub fn ends_with_checkpoint(page: &[u8], control: LogControl) -> bool {
    let at = control.checkpoint_at as usize % LOG_PAGE_BYTES;
    let end = || {
        let record = bytes::slice(page, at, RECORD_HEADER_BYTES).ok()?;
        match *record {
            [CHECKPOINT, 0, 0, len @ ..LONG_LENGTHS, 0, 0] => {
                Some(at + RECORD_HEADER_BYTES + usize::from(len))
            }
            _ => None,
        }
    };
    let rest = end().and_then(|end| page.get(end..));
    rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0xff))
}
