//! The system columns of a record: which transaction wrote it, and what it replaced.

use super::RollPointer;
use crate::layout::Layout;
use crate::locate::Ends;
use crate::record::Record;
use crate::{Error, Result, bytes};

/// `DB_TRX_ID` and `DB_ROLL_PTR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemColumns {
    /// The transaction that wrote the record; 0 where nobody needs to know any more.
    pub trx_id: u64,
    /// The undo record of that change.
    pub roll_pointer: RollPointer,
}

impl SystemColumns {
    /// Reads the system columns at an offset of a page.
    fn at(page: &[u8], at: usize) -> Result<SystemColumns> {
        let trx_id = bytes::u48_at(page, at)?;
        let high = bytes::u24_at(page, at + 6)?;
        let low = bytes::u32_at(page, at + 9)?;
        let roll_pointer = RollPointer::new(u64::from(high) << 32 | u64::from(low));
        Ok(SystemColumns { trx_id, roll_pointer })
    }
}

impl Layout {
    /// Reads the system columns of a leaf record, which follow its key.
    ///
    /// # Errors
    /// A record of another form, or one that reaches past its page.
    #[inline]
    pub fn system_columns(&self, record: &Record<'_>) -> Result<SystemColumns> {
        let found = match self.key_len {
            Some(key_len) if self.trx_id_at == self.key_fields => {
                SystemColumns::at(record.page(), record.origin() + key_len)
            }
            _ => self.system_columns_behind_key(record),
        };
        found.map_err(|error| record.locate_error(error))
    }

    /// Reads the system columns behind a key of variable length.
    fn system_columns_behind_key(&self, record: &Record<'_>) -> Result<SystemColumns> {
        if self.trx_id_at != self.key_fields {
            return Err(Error::schema("the system columns do not follow the key"));
        }
        if !record.is_compact() {
            let end = Ends::from_record(record)?.end(self.key_fields.saturating_sub(1))?;
            return SystemColumns::at(record.page(), record.origin() + end);
        }
        let (_, nulls, null_bytes) = self.instant_header(record)?;
        let page = record.page();
        let mut lens = nulls.wrapping_sub(null_bytes);
        let mut at = record.origin();
        // No column of a key is nullable, and none is off its page.
        for field in self.fields.iter().take(self.key_fields) {
            if !field.variable {
                at += usize::from(field.fixed_len);
                continue;
            }
            let mut len = usize::from(bytes::u8_at(page, lens)?);
            lens = lens.wrapping_sub(1);
            if field.big && len & 0x80 != 0 {
                len = (len & 0x3F) << 8 | usize::from(bytes::u8_at(page, lens)?);
                lens = lens.wrapping_sub(1);
            }
            at += len;
        }
        SystemColumns::at(page, at)
    }
}
