//! Undo pages, and the versions of a row that their records lead to.

use innoscan_format::layout::Layout;
use innoscan_format::page::undo::UndoLog;
use innoscan_format::page::{self, IndexPage, Page, PageContext, PageFormat, Scratch};
use innoscan_format::schema::{RowFormat, from_create_table};
use innoscan_format::undo::{
    RollPointer, SystemColumns, UndoLogPage, UndoRecord, Unfinished, VersionLayout, VersionReader,
};
use innoscan_format::{IndexId, PageNo};

use super::{PAGE, SERVERS, SPACE};
use crate::page::{PageWriter, RecordWriter, format as plain_format, index_page};

/// `FIL_PAGE_UNDO_LOG`.
const UNDO_LOG: u16 = 2;
/// The transaction of the records, if they do not name another.
const WRITER: u64 = 77;
const INDEX: IndexId = IndexId(9);
const LEAF: PageNo = PageNo(6);

/// Reads an undo page of 4 KiB with a corrected checksum: its header, all its records, and the versions of rows with
/// the keys in them.
pub fn undo_record(data: &[u8]) {
    let format = PageFormat { space: SPACE, ..plain_format(64) };
    let mut bytes = data[..data.len().min(format.physical_len())].to_vec();
    bytes.resize(format.physical_len(), 0);
    let mut writer = PageWriter::of(format, &bytes);
    let bytes = writer.u32_at(4, PAGE.0).u32_at(34, SPACE.0).u16_at(24, UNDO_LOG).seal();
    let mut scratch = Scratch::default();
    let context = PageContext::plain(format);
    let Ok(page) = page::open(&bytes, &context, PAGE, &mut scratch) else { return };
    _ = (UndoLog::parse(&page), UndoLogPage::parse(&page));
    let offsets = 0..format.physical_len() as u16;
    let records =
        offsets.clone().filter_map(|at| Some((at, UndoRecord::parse(&page, at, 1).ok()?)));
    let records: Vec<(u16, UndoRecord<'_>)> = records.collect();
    _ = offsets.filter(|at| UndoRecord::parse(&page, *at, 3).is_ok()).count();
    for (offset, record) in records.iter().take(16) {
        if let [key] = record.key[..]
            && key.len() == 4
        {
            version(page, format, (*offset, key), record.trx_id);
        }
    }
}

/// Follows the versions of a row, all of whose undo records are said to be on one page.
fn version(page: Page<'_>, format: PageFormat, (offset, key): (u16, &[u8]), older: u64) {
    let sql = "CREATE TABLE t (a INT PRIMARY KEY, n INT NOT NULL)";
    let Ok(def) = from_create_table(sql, SERVERS[1]) else { return };
    let Ok(layout) = Layout::compile(&def, RowFormat::Dynamic, None) else { return };
    let Ok(versions) = VersionLayout::new(&layout) else { return };
    let record = RecordWriter::fixed([key, &[0; 6], &[0; 7], &[1, 2, 3, 4]].concat());
    let leaf = index_page(format, LEAF, (INDEX, 0), &[record]).seal();
    _ = with_leaf(&leaf, format, |leaf| {
        let leaf = IndexPage::parse(leaf)?;
        let Some(record) = leaf.first_record()? else { return Ok(()) };
        let pointer = RollPointer { is_insert: false, number: 0, page_no: PAGE, offset };
        let system = SystemColumns { trx_id: WRITER, roll_pointer: pointer };
        for unfinished in [Unfinished::new([WRITER]), Unfinished::new([WRITER, older])] {
            let mut reader = VersionReader::new(&versions, &record, system, &unfinished)?;
            let mut steps = 0;
            while reader.need().is_some() && reader.feed(page).is_ok() {
                steps += 1;
                assert!(steps <= format.physical_len(), "versions without end");
            }
            if reader.need().is_none()
                && let Some(version) = reader.finish()?
            {
                _ = version.row(&layout).get(0);
            }
        }
        Ok(())
    });
}

/// Passes a leaf that is stored as it is in memory to `look`.
fn with_leaf<T>(
    bytes: &[u8],
    format: PageFormat,
    look: impl FnOnce(Page<'_>) -> innoscan_format::Result<T>,
) -> innoscan_format::Result<T> {
    let mut scratch = Scratch::default();
    let context = PageContext::plain(format);
    page::open(bytes, &context, LEAF, &mut scratch).and_then(look)
}
