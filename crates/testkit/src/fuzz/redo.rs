//! Redo logs, and their records on pages.

use innoscan_format::Lsn;
use innoscan_format::redo::{BlockRing, HEAD_BYTES, PageRedo, Record, Records, RedoHead, run_len};

use super::{PAGE, SPACE};

/// Bytes of the page before the records.
pub const REDO_PAGE_BYTES: usize = 4096;

/// Reads a redo log's head, and the mini-transactions behind it and from its checkpoint on.
pub fn redo_log(data: &[u8]) {
    let Ok(head) = RedoHead::parse(data, data.len() as u64) else { return };
    let Some(ring) = data.get(HEAD_BYTES..) else { return };
    let log = match head {
        RedoHead::Circular(log) => log,
        RedoHead::Blocks(log) => {
            _ = log.ring(data.len() as u64);
            return blocks(ring);
        }
    };
    _ = log.end_if_empty(ring);
    for mut at in [0, (log.checkpoint_offset() as usize).saturating_sub(HEAD_BYTES)] {
        let mut lsn = log.checkpoint;
        while let Some(mtr) = log.mini_transaction(ring, at, lsn) {
            read(mtr.records);
            at += mtr.len;
            lsn = Lsn(lsn.0 + mtr.len as u64);
        }
    }
}

/// Reads the mini-transactions in the data of blocks (MariaDB 10.5 to 10.7).
fn blocks(mut data: &[u8]) {
    while let Ok(Some(mtr)) = BlockRing::mini_transaction(data) {
        read(mtr.records);
        data = &data[mtr.len..];
    }
}

fn read(records: &[u8]) {
    let mut records = Records::new(records);
    while let Ok(Some(_)) = records.next_record() {}
}

/// Applies records to a page, which is the first [`REDO_PAGE_BYTES`].
pub fn redo_page(data: &[u8]) {
    let Some((page, records)) = data.split_at_checked(REDO_PAGE_BYTES) else { return };
    read(records);
    let first = Records::of_page(records, SPACE, PAGE).next_record();
    let Ok(Some(Record::Page(first))) = first else { return };
    let run = run_len(records).and_then(|len| records.get(..len)).unwrap_or(records);
    for is_zip in [false, true] {
        let mut page = page.to_vec();
        _ = PageRedo::new(&mut page, first.space, first.page, is_zip).apply(run, Lsn(1));
    }
}
