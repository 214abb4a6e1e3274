//! Whether the records of an encrypted log make sense as one cipher decrypts them. Checksums are of the encrypted bytes, so
//! nothing else shows a wrong key or algorithm.

use std::collections::HashSet;

use innoscan_format::redo::{FileOperation, Record, Records};
use innoscan_format::{Lsn, SpaceId};

/// The greatest number of an undo tablespace (`TRX_SYS_MAX_UNDO_SPACES`): these and the system tablespace are not named.
const UNDO_MAX: u32 = 127;

/// Bytes of a block of the cipher.
const BLOCK_BYTES: usize = 16;

/// What the records say that were read so far.
#[derive(Debug, Default)]
pub(super) struct Sense {
    named: HashSet<SpaceId>,
    changed: HashSet<SpaceId>,
    is_broken: bool,
    /// Whether there are records of more than a block, which the algorithms decrypt differently.
    pub has_long: bool,
}

impl Sense {
    /// Adds the records of the mini-transaction at `lsn`.
    pub fn add(&mut self, lsn: Lsn, records: &[u8]) {
        self.has_long |= records.len() > BLOCK_BYTES;
        let mut records = Records::new(records);
        while !self.is_broken {
            match records.next_record() {
                Ok(None) => return,
                Ok(Some(Record::Page(record))) => _ = self.changed.insert(record.space),
                Ok(Some(Record::File(record))) => match record.operation {
                    FileOperation::Checkpoint(of) => {
                        self.is_broken |= of > lsn;
                    }
                    FileOperation::Unknown(_) => self.is_broken = true,
                    _ => _ = self.named.insert(record.space),
                },
                Err(_) => self.is_broken = true,
            }
        }
    }

    /// Whether all of them make sense: each tablespace with changed pages is named.
    pub fn is_made(&self) -> bool {
        let is_known = |space: &SpaceId| space.0 <= UNDO_MAX || self.named.contains(space);
        !self.is_broken && self.changed.iter().all(is_known)
    }
}
