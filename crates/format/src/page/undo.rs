//! Rollback segments and undo logs, as far as they show whether a transaction was left unfinished.
//!
//! ```text
//! system tablespace, page 5    38+18  rollback segments: tablespace, page; 8 bytes each
//! undo tablespace, page 3      38+18  (MySQL 8) rollback segments: page; 4 bytes each
//! rollback segment's page      38+34  undo logs: page; 4 bytes each, a sixteenth of the page size
//! undo log's first page        56     state of its newest transaction
//! ```
//!
//! `trx0sys.h`, `trx0rseg.h`, `trx0undo.h` of MySQL 9.7 and MariaDB 10.11.

use super::{DATA, Page, PageKind};
use crate::{Error, PageNo, Result, SpaceId, bytes};

/// The system tablespace's page that lists rollback segments (`TRX_SYS_PAGE_NO`).
pub const TRX_SYS_PAGE: PageNo = PageNo(5);

/// The page of a MySQL 8 undo tablespace that lists rollback segments (`FSP_RSEG_ARRAY_PAGE_NO`).
pub const RSEG_ARRAY_PAGE: PageNo = PageNo(3);

/// `TRX_SYS_N_RSEGS`, `TRX_SYS_MAX_RSEGS`.
const RSEGS: usize = 128;

/// `TRX_SYS_RSEGS`, and `RSEG_ARRAY_PAGES_OFFSET`: behind 8 bytes and a segment's header.
const RSEGS_AT: usize = DATA + 18;

/// `TRX_RSEG_UNDO_SLOTS`: behind 8 bytes, a list's base and a segment's header.
const UNDO_SLOTS_AT: usize = DATA + 34;

/// `TRX_UNDO_SEG_HDR + TRX_UNDO_STATE`: behind an undo page's header.
const STATE_AT: usize = DATA + 18;

/// The state of an undo log's newest transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// Neither committed nor rolled back completely.
    Active,
    /// Prepared by `XA PREPARE`, waiting for `XA COMMIT` or `XA ROLLBACK`.
    Prepared,
    /// Committed or rolled back.
    Ended,
}

/// Returns the rollback segments that a system tablespace lists.
///
/// # Errors
/// When the page is of another kind.
pub fn rollback_segments(page: &Page<'_>) -> Result<Vec<(SpaceId, PageNo)>> {
    require(page, PageKind::TrxSys, "the transaction system's")?;
    let mut segments = Vec::new();
    for slot in 0..RSEGS {
        let at = RSEGS_AT + 8 * slot;
        let space = SpaceId(bytes::u32_at(page.bytes(), at)?);
        let segment = PageNo(bytes::u32_at(page.bytes(), at + 4)?);
        if segment != PageNo::NULL && space != SpaceId(u32::MAX) {
            segments.push((space, segment));
        }
    }
    Ok(segments)
}

/// Returns the rollback segments of a MySQL 8 undo tablespace.
///
/// # Errors
/// When the page is of another kind.
pub fn rollback_segments_of_space(page: &Page<'_>) -> Result<Vec<PageNo>> {
    require(page, PageKind::RsegArray, "a list of rollback segments'")?;
    pages(page, RSEGS_AT, RSEGS)
}

/// Returns the undo logs of a rollback segment.
///
/// # Errors
/// When the page is of another kind.
pub fn undo_logs(page: &Page<'_>) -> Result<Vec<PageNo>> {
    require(page, PageKind::Sys, "a rollback segment's")?;
    pages(page, UNDO_SLOTS_AT, page.bytes().len() / 16)
}

/// Returns the state of an undo log's newest transaction.
///
/// # Errors
/// When the page is of another kind, or the state is unknown.
pub fn undo_state(page: &Page<'_>) -> Result<UndoState> {
    require(page, PageKind::UndoLog, "an undo log's")?;
    match bytes::u16_at(page.bytes(), STATE_AT)? {
        1 => Ok(UndoState::Active),
        2..=4 => Ok(UndoState::Ended),
        // 6 and 7 are of MySQL 8.0.29 and later.
        5..=7 => Ok(UndoState::Prepared),
        other => {
            Err(page.locate_error(Error::corrupt(format!("{other} is not a state of an undo log"))))
        }
    }
}

fn require(page: &Page<'_>, kind: PageKind, whose: &str) -> Result<()> {
    if page.kind() == kind {
        return Ok(());
    }
    let what = format!("a page of type {} where {whose} page should be", page.kind());
    Err(page.locate_error(Error::corrupt(what)))
}

fn pages(page: &Page<'_>, at: usize, slots: usize) -> Result<Vec<PageNo>> {
    let mut pages = Vec::new();
    for slot in 0..slots {
        let listed = PageNo(bytes::u32_at(page.bytes(), at + 4 * slot)?);
        if listed != PageNo::NULL {
            pages.push(listed);
        }
    }
    Ok(pages)
}
