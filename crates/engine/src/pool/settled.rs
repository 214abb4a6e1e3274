//! Pages that are read through the redo log of a killed server: settled before anyone sees them.

use innoscan_format::PageNo;
use innoscan_io::{Frame, ReadError};

use super::{FileSlot, Pool, PoolFile};
use crate::Error;

/// What became of a page that was read through a redo log.
pub(super) enum Settled {
    /// It can be used.
    Good,
    /// It cannot be used.
    Refused(Error),
    /// It was not read, and the log does not have all of it.
    Untouched,
}

impl Pool {
    /// Settles the pages of a block that was read, if their file is read through a redo log: one result
    /// for each of them, or none.
    pub(super) fn settle(
        &mut self,
        file: FileSlot,
        pages: &[PageNo],
        frame: &mut Frame,
        (good_bytes, error): (usize, Option<ReadError>),
    ) -> Vec<Settled> {
        let PoolFile { file, redo: Some(redo) } = &self.files[file.0 as usize] else {
            return Vec::new();
        };
        let is_behind_end = matches!(error, Some(ReadError::EndOfFile { .. }));
        let mut settled = Vec::with_capacity(pages.len());
        for &page in pages {
            let place = self.blocks.place_of(page);
            let is_whole = place.end <= good_bytes;
            let is_made = match is_behind_end.then(|| redo.has_page(page)).transpose() {
                Ok(is_made) => is_made == Some(true),
                Err(error) => {
                    settled.push(Settled::Refused(error.in_file(file.path())));
                    continue;
                }
            };
            if !is_whole && !is_made {
                settled.push(Settled::Untouched);
                continue;
            }
            let bytes = &mut frame[place];
            if !is_whole {
                bytes.fill(0);
            }
            settled.push(match redo.settle(page, bytes, &mut self.settling) {
                Ok(()) => Settled::Good,
                Err(error) => Settled::Refused(error.in_file(file.path())),
            });
        }
        settled
    }
}
