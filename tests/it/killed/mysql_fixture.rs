//! The redo log of the killed server of MySQL in `tests/data/killed`, in the pieces that fuzz targets take.

use std::collections::HashMap;
use std::path::Path;

use innoscan_format::redo::mysql::{Input, Kind, LogFile, run_bytes};
use innoscan_format::redo::{BLOCK_BYTES, BLOCKS_START, Block, HEAD_BYTES};
use innoscan_format::{Lsn, PageNo, SpaceId};

use super::fixture::{OF_MYSQL, unpacked_of};

/// The most changes that [`changes`] gives.
const CHANGES: usize = 300;

/// The head of the newest file of the log, and the records behind the checkpoint.
pub(crate) fn log() -> Vec<u8> {
    let (_dir, root) = unpacked_of(OF_MYSQL);
    let (head, records) = log_of(&root);
    [head, records].concat()
}

fn log_of(root: &Path) -> (Vec<u8>, Vec<u8>) {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root.join("#innodb_redo")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        if let Ok(Some(Ok(file))) = LogFile::parse(&bytes[..HEAD_BYTES], bytes.len() as u64) {
            files.push((file, bytes));
        }
    }
    files.sort_by_key(|(file, _)| file.start);
    let checkpoint = files.iter().filter_map(|(file, _)| file.checkpoint).max().unwrap();
    let mut records = Vec::new();
    for (file, bytes) in &files {
        let blocks = bytes[BLOCKS_START as usize..].chunks_exact(BLOCK_BYTES as usize);
        for (bytes, nth) in blocks.zip(0..) {
            let lsn = Lsn(file.start.0 + nth * BLOCK_BYTES);
            if lsn.0 + BLOCK_BYTES <= checkpoint.0 {
                continue;
            }
            let Some(block) = Block::parse(bytes, lsn) else { break };
            let skipped = if records.is_empty() { block.first_group.unwrap() } else { 0 };
            records.extend_from_slice(&block.data[skipped..]);
        }
    }
    (files.pop().unwrap().1[..HEAD_BYTES].to_vec(), records)
}

/// Pages, each filled up with zeroes to `page_bytes`, with a run of records that changes it.
pub(crate) fn changes(page_bytes: usize) -> Vec<Vec<u8>> {
    let (_dir, root) = unpacked_of(OF_MYSQL);
    let mut spaces = HashMap::new();
    let names = ["ibdata1", "mysql.ibd", "undo_001", "undo_002"].map(str::to_owned).into_iter();
    let tables = ["dyn", "red", "young", "zip", "doc"].map(|table| format!("d/{table}.ibd"));
    for name in names.chain(tables) {
        let bytes = std::fs::read(root.join(&name)).unwrap();
        let len = if name == "d/zip.ibd" { 2048 } else { page_bytes };
        spaces.insert(SpaceId(u32::from_be_bytes(bytes[34..38].try_into().unwrap())), (bytes, len));
    }
    let page_of = |space: SpaceId, page: PageNo| {
        let (bytes, len) = spaces.get(&space)?;
        let start = page.0 as usize * len;
        let mut page = bytes.get(start..start + len)?.to_vec();
        page.resize(page_bytes, 0);
        Some(page)
    };
    let (_, records) = log_of(&root);
    let mut changes = Vec::new();
    let mut input = Input::new(&records);
    let mut before = None;
    while let (at, Ok(record)) = (input.at(), input.record()) {
        let is_page = matches!(record.kind(), Kind::Page { .. });
        if is_page && before != Some(record.page) {
            let run = &records[at..];
            let run = &run[..run_bytes(run).unwrap().unwrap_or(run.len())];
            changes.extend(page_of(record.page.0, record.page.1).map(|page| [&page, run].concat()));
        }
        before = (is_page && !record.is_single).then_some(record.page);
    }
    let step = (changes.len() / CHANGES).max(1);
    changes.into_iter().step_by(step).collect()
}
