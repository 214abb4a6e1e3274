//! Rollback segments and undo logs, as far as they show which transactions were left unfinished.
//!
//! ```text
//! system tablespace, page 5    38+18  rollback segments: tablespace, page; 8 bytes each
//! undo tablespace, page 3      38+18  (MySQL 8) rollback segments: page; 4 bytes each
//! rollback segment's page      38+34  undo logs: page; 4 bytes each, a sixteenth of the page size
//! undo log's first page        38     type: 0 all changes (MariaDB 10.3), 1 inserts, 2 the others
//!                              56     state of its newest transaction, offset of that one's header
//! header                       0      transaction id   20  flags: 1 an XID follows
//!                              46     XID: format, length of two parts, 128 bytes
//! ```
//!
//! `trx0sys.h`, `trx0rseg.h`, `trx0undo.h` of MySQL 9.7 and MariaDB 10.11; `xa.h` of MariaDB 10.11.

use super::{DATA, Page, PageKind};
use crate::{Error, PageNo, Result, SpaceId, bytes};

/// The system tablespace's page that lists rollback segments (`TRX_SYS_PAGE_NO`).
pub const TRX_SYS_PAGE: PageNo = PageNo(5);

/// The page of a MySQL 8 undo tablespace that lists rollback segments (`FSP_RSEG_ARRAY_PAGE_NO`).
pub const RSEG_ARRAY_PAGE: PageNo = PageNo(3);

/// `TRX_SYS_N_RSEGS`, `TRX_SYS_MAX_RSEGS`.
const RSEGS: u8 = 128;

/// `TRX_SYS_RSEGS`, and `RSEG_ARRAY_PAGES_OFFSET`: behind 8 bytes and a segment's header.
const RSEGS_AT: usize = DATA + 18;

/// `TRX_RSEG_UNDO_SLOTS`: behind 8 bytes, a list's base and a segment's header.
const UNDO_SLOTS_AT: usize = DATA + 34;

/// `TRX_UNDO_PAGE_TYPE`.
const TYPE_AT: usize = DATA;
/// `TRX_UNDO_SEG_HDR + TRX_UNDO_STATE`: behind an undo page's header.
const STATE_AT: usize = DATA + 18;
/// `TRX_UNDO_SEG_HDR + TRX_UNDO_LAST_LOG`.
const LAST_LOG_AT: usize = STATE_AT + 2;
/// The end of the header of an undo log's first page.
const LOGS_AT: usize = STATE_AT + 30;

/// `TRX_UNDO_XID_EXISTS`, in MySQL 8 `TRX_UNDO_FLAGS`.
const FLAGS_AT: usize = 20;
/// `TRX_UNDO_FLAG_XID`.
const HAS_XID: u8 = 1;
/// `TRX_UNDO_XA_FORMAT`.
const XID_AT: usize = 46;
/// `XIDDATASIZE`.
const XID_BYTES: usize = 128;
/// The begin of the XIDs that a server gives to its own transactions, for its binary log; then follow
/// eight bytes with the server's id, and eight with the number of the transaction (`MYSQL_XID_GTRID_LEN`).
const OWN_XID: &[u8] = b"MySQLXid";
/// Bytes of the server's id and the number.
const OWN_XID_REST: usize = 16;

/// A rollback segment that the system tablespace lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollbackSegment {
    /// Its slot, by which MariaDB's and MySQL 5's roll pointers name it.
    pub slot: u8,
    /// Its tablespace.
    pub space: SpaceId,
    /// Its page.
    pub page_no: PageNo,
}

/// The state of an undo log's newest transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// Neither committed nor rolled back completely.
    Active,
    /// Prepared: by `XA PREPARE`, waiting for `XA COMMIT` or `XA ROLLBACK`, or by the server for its
    /// binary log.
    Prepared(Prepared),
    /// Committed or rolled back.
    Ended,
}

/// The name of a transaction that a user prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xid {
    /// The format of the name, which the user chose.
    pub format: u32,
    /// The part that names the transaction.
    pub global: Vec<u8>,
    /// The part that names the branch.
    pub branch: Vec<u8>,
}

/// Who prepared a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// A user, by `XA PREPARE`.
    ByUser(Option<Xid>),
    /// The server, which committed it if its binary log has this number.
    ByServer {
        /// The number in the event `Xid_log_event`.
        xid: u64,
    },
}

/// An undo log, by its newest transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoLog {
    /// The state of the transaction.
    pub state: UndoState,
    /// The id of the transaction.
    pub trx_id: u64,
    /// Whether it holds all changes of its transactions (MariaDB 10.3 and later); in other servers inserts have an
    /// undo log of their own.
    pub has_all_changes: bool,
}

impl UndoLog {
    /// Parses an undo log's first page.
    ///
    /// # Errors
    /// When the page is of another kind, the state is unknown, or the header is not on the page.
    pub fn parse(page: &Page<'_>) -> Result<UndoLog> {
        require(page, PageKind::UndoLog, "an undo log's")?;
        UndoLog::parse_inner(page.bytes()).map_err(|error| page.locate_error(error))
    }

    fn parse_inner(bytes: &[u8]) -> Result<UndoLog> {
        let has_all_changes = bytes::u16_at(bytes, TYPE_AT)? == 0;
        let header = usize::from(bytes::u16_at(bytes, LAST_LOG_AT)?);
        let state = bytes::u16_at(bytes, STATE_AT)?;
        if let 2..=4 = state {
            return Ok(UndoLog { state: UndoState::Ended, trx_id: 0, has_all_changes });
        }
        if header < LOGS_AT {
            let what = format!("an undo log's header is said to be at {header}");
            return Err(Error::corrupt(what));
        }
        let state = match state {
            1 => UndoState::Active,
            // 6 and 7 are of MySQL 8.0.29 and later.
            5..=7 => UndoState::Prepared(prepared(bytes, header)?),
            other => {
                return Err(Error::corrupt(format!("{other} is not a state of an undo log")));
            }
        };
        Ok(UndoLog { state, trx_id: bytes::u64_at(bytes, header)?, has_all_changes })
    }
}

/// Reads the XID of a prepared transaction: a server's own ends with its number, as the machine stores it.
fn prepared(bytes: &[u8], header: usize) -> Result<Prepared> {
    if bytes::u8_at(bytes, header + FLAGS_AT)? & HAS_XID == 0 {
        return Ok(Prepared::ByUser(None));
    }
    let at = header + XID_AT;
    let global_len = bytes::u32_at(bytes, at + 4)? as usize;
    let branch_len = bytes::u32_at(bytes, at + 8)? as usize;
    if global_len > XID_BYTES / 2 || branch_len > XID_BYTES / 2 {
        return Err(Error::corrupt(format!(
            "an XID has parts of {global_len} and {branch_len} bytes"
        )));
    }
    let global = bytes::slice(bytes, at + 12, global_len)?;
    let own = global.strip_prefix(OWN_XID).filter(|_| branch_len == 0);
    let own = own.filter(|rest| rest.len() == OWN_XID_REST);
    if let Some(number) = own.and_then(|rest| rest.last_chunk::<8>()) {
        return Ok(Prepared::ByServer { xid: u64::from_le_bytes(*number) });
    }
    let branch = bytes::slice(bytes, at + 12 + global_len, branch_len)?;
    let format = bytes::u32_at(bytes, at)?;
    Ok(Prepared::ByUser(Some(Xid { format, global: global.to_vec(), branch: branch.to_vec() })))
}

/// Returns the rollback segments that a system tablespace lists.
///
/// # Errors
/// When the page is of another kind.
pub fn rollback_segments(page: &Page<'_>) -> Result<Vec<RollbackSegment>> {
    require(page, PageKind::TrxSys, "the transaction system's")?;
    let mut segments = Vec::new();
    for slot in 0..RSEGS {
        let at = RSEGS_AT + 8 * usize::from(slot);
        let space = SpaceId(bytes::u32_at(page.bytes(), at)?);
        let page_no = PageNo(bytes::u32_at(page.bytes(), at + 4)?);
        if page_no != PageNo::NULL && space != SpaceId(u32::MAX) {
            segments.push(RollbackSegment { slot, space, page_no });
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
    pages(page, RSEGS_AT, usize::from(RSEGS))
}

/// Returns the number by which MySQL 8's roll pointers name a tablespace (`undo::id2num`,
/// `trx0purge.h`, MySQL 8.0); `None` for one that is no undo tablespace.
pub fn undo_number(space: SpaceId) -> Option<u8> {
    /// `dict_sys_t::s_log_space_id`.
    const LOG_SPACE: u32 = 0xFFFF_FFF0;
    /// `FSP_MAX_UNDO_TABLESPACES`.
    const NUMBERS: u32 = 127;
    /// Each number has 400,000 ids, one for each truncation (`undo_space_id_range`).
    const LEAST: u32 = LOG_SPACE - NUMBERS * 400_000;
    match space {
        SpaceId::SYSTEM => Some(0),
        SpaceId(id @ LEAST..LOG_SPACE) => Some(((LOG_SPACE - 1 - id) % NUMBERS + 1) as u8),
        _ => None,
    }
}

/// Returns the undo logs of a rollback segment.
///
/// # Errors
/// When the page is of another kind.
pub fn undo_logs(page: &Page<'_>) -> Result<Vec<PageNo>> {
    require(page, PageKind::Sys, "a rollback segment's")?;
    pages(page, UNDO_SLOTS_AT, page.bytes().len() / 16)
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
