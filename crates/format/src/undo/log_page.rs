//! The undo records of a page, one after the other: which tables were empty.
//!
//! MariaDB writes rows that a transaction inserts into an empty table in bulk without undo records and
//! without `DB_TRX_ID`; one record of type 15 (`TRX_UNDO_EMPTY`) says that the table was empty before
//! (`trx_mod_table_time_t::start_bulk_insert`, MariaDB 10.6 and later). A server reads all undo records of
//! unfinished transactions at its start, too (`trx_resurrect_table_locks`, `trx0trx.cc`).

use super::compressed::Cursor;
use super::record::record_bytes;
use crate::page::{DATA, ListNode, Page};
use crate::{PageNo, Result, bytes};

/// `TRX_UNDO_PAGE_START`.
const START_AT: usize = DATA + 2;
/// `TRX_UNDO_PAGE_FREE`.
const FREE_AT: usize = DATA + 4;
/// `TRX_UNDO_PAGE_NODE`: the neighbours among the pages of the undo log.
const NODE_AT: usize = DATA + 6;

/// `TRX_UNDO_EMPTY`.
const WAS_EMPTY: u8 = 15;

/// A page of the newest transaction's undo log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoLogPage {
    /// The ids of tables that were empty before the transaction.
    pub emptied: Vec<u64>,
    /// The next page of the undo log.
    pub next: Option<PageNo>,
}

impl UndoLogPage {
    /// Parses a page of an undo log.
    ///
    /// # Errors
    /// The page is of another kind, or its records do not follow each other.
    pub fn parse(page: &Page<'_>) -> Result<UndoLogPage> {
        UndoLogPage::parse_inner(page).map_err(|error| page.locate_error(error))
    }

    fn parse_inner(page: &Page<'_>) -> Result<UndoLogPage> {
        let mut emptied = Vec::new();
        let mut at = usize::from(bytes::u16_at(page.bytes(), START_AT)?);
        let free = usize::from(bytes::u16_at(page.bytes(), FREE_AT)?);
        while at < free {
            let located = |error: crate::Error| error.at_offset(at as u32);
            let record = record_bytes(page, at).map_err(located)?;
            let mut cursor = Cursor::new(record, at + 2);
            if cursor.byte()? & 0x0F == WAS_EMPTY {
                cursor.small_long().map_err(located)?;
                emptied.push(cursor.small_long().map_err(located)?);
            }
            // Greater than `at`: the record was found to end behind its begin.
            at = record.len() + 2;
        }
        let node = ListNode::read(page.bytes(), NODE_AT)?;
        Ok(UndoLogPage { emptied, next: node.next.map(|next| next.page_no) })
    }
}
