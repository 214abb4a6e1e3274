//! The rows of an Aria table, in the order of its `.MAD` file.

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::aria::{
    Bitmap, Header, LOG_PAGE_BYTES, LogControl, PageRows, PageType, RowReader, Step, Storage,
    ends_with_checkpoint, entries, entry, page_type, require_checksum,
};
use innoscan_format::myisam::{SumOf, row_sum};
use innoscan_format::schema::TableDef;
use innoscan_format::server_record::RecordLayout;

use super::data_file::DataFile;
use super::{
    Converter, RowReceiver, located, myisam, not_closed, read_header, require_all, require_closed,
    require_len, with_extension,
};

/// A table or partition of Aria: a `.MAI` and a `.MAD` file.
#[derive(Debug)]
pub(super) struct Part {
    header: Header,
    layout: RecordLayout,
    data: PathBuf,
}

impl Part {
    pub(super) fn open(def: &TableDef, stem: &Path) -> Result<Part> {
        let index = with_extension(stem, "MAI");
        let in_index = |error: format::Error| Error::from(error).in_file(&index);
        let header = Header::parse(&read_header(&index, Header::size_bytes)?).map_err(in_index)?;
        require_closed(&index, header.crashed, header.open_count)?;
        if header.transactional {
            require_finished_log(stem)?;
        }
        let layout = RecordLayout::new(def, &header.engine_fields()).map_err(in_index)?;
        let data = with_extension(stem, "MAD");
        require_len(&data, header.data_bytes())?;
        Ok(Part { header, layout, data })
    }

    pub(super) fn data_bytes(&self) -> u64 {
        self.header.data_bytes()
    }

    pub(super) fn rows(&self) -> u64 {
        self.header.rows()
    }

    pub(super) fn for_each_row<'a>(&'a self, row: &mut RowReceiver<'a>) -> Result<u64> {
        let table = match &self.header.storage {
            Storage::Records(records) => {
                return myisam::read_records(records, &self.data, &self.layout, row);
            }
            Storage::Pages(table) => table,
        };
        let mut rows = Rows {
            table,
            pages: Pages::open(&self.data, table)?,
            extents: Pages::open(&self.data, table)?,
            reader: RowReader::new(table),
            out: Converter::new(&self.layout, row),
            sum: 0,
        };
        rows.read_all()?;
        require_all(&self.data, rows.out.rows, table.rows, Some(rows.sum), table.sum)?;
        Ok(table.rows)
    }
}

/// Refuses a directory whose Aria log continues after its last checkpoint: tables may lack changes
/// that only the log has. A clean shutdown ends with a checkpoint. Tables that were moved from their
/// directory have no log.
fn require_finished_log(stem: &Path) -> Result<()> {
    let Some(directory) = stem.parent().and_then(Path::parent) else { return Ok(()) };
    let control_path = directory.join("aria_log_control");
    if !control_path.exists() {
        return Ok(());
    }
    let in_control = |error: format::Error| Error::from(error).in_file(&control_path);
    let mut file = DataFile::open(&control_path)?;
    let control = LogControl::parse(file.read(0, CONTROL_BYTES)?).map_err(in_control)?;
    let log_path = |number: u32| directory.join(format!("aria_log.{number:08}"));
    let log = log_path(control.checkpoint_file);
    let goes_on = "Aria's log continues after its last checkpoint";
    if log_path(control.checkpoint_file + 1).exists() {
        return Err(not_closed(&log, goes_on));
    }
    if !log.exists() {
        return Ok(());
    }
    let mut file = DataFile::open(&log)?;
    let page_at = control.checkpoint_page_at();
    let is_last = file.len() == page_at + LOG_PAGE_BYTES as u64;
    if !is_last || !ends_with_checkpoint(file.read(page_at, LOG_PAGE_BYTES)?, control) {
        return Err(not_closed(&log, goes_on));
    }
    Ok(())
}

/// A buffer size larger than any `aria_log_control` (`CF_MAX_SIZE`, ma_control_file.c, MariaDB 10.11).
const CONTROL_BYTES: usize = 512;

/// The pages of a file, each with its checksum verified.
struct Pages<'a> {
    path: &'a Path,
    file: DataFile,
    page_bytes: usize,
}

impl<'a> Pages<'a> {
    fn open(path: &'a Path, table: &PageRows) -> Result<Pages<'a>> {
        Ok(Pages { path, file: DataFile::open(path)?, page_bytes: table.page_bytes })
    }

    fn read(&mut self, page_no: u64, is_bitmap: bool) -> Result<&[u8]> {
        let page = self.file.read(page_no * self.page_bytes as u64, self.page_bytes)?;
        require_checksum(page, page_no, is_bitmap)?;
        Ok(page)
    }
}

/// The state of reading a table's rows.
struct Rows<'a, 'r> {
    table: &'a PageRows,
    /// The reader of bitmaps and head pages, in order.
    pages: Pages<'a>,
    /// The reader of pages in which rows continue.
    extents: Pages<'a>,
    reader: RowReader<'a>,
    out: Converter<'a, 'r>,
    sum: u32,
}

impl Rows<'_, '_> {
    fn read_all(&mut self) -> Result<()> {
        let n_pages = self.table.data_bytes / self.table.page_bytes as u64;
        let step = Bitmap::step(self.table.page_bytes);
        let path = self.pages.path;
        let at = |error, page_no| located(error, path, format_args!("page {page_no}"));
        let mut bitmap_no = 0;
        while bitmap_no < n_pages {
            let bitmap = self.pages.read(bitmap_no, true).map_err(|error| at(error, bitmap_no))?;
            let bitmap = bitmap.to_vec();
            let covered = (n_pages - bitmap_no - 1).min(step - 1);
            for n in (0..covered).filter(|&n| Bitmap::new(&bitmap).is_head(n)) {
                let page_no = bitmap_no + 1 + n;
                self.read_page(page_no).map_err(|error| at(error, page_no))?;
            }
            bitmap_no += step;
        }
        Ok(())
    }

    /// Reads the rows that begin on a page.
    fn read_page(&mut self, page_no: u64) -> Result<()> {
        let page = self.pages.read(page_no, false)?.to_vec();
        match page_type(&page)? {
            PageType::Head => {}
            // All rows of the page were deleted.
            PageType::Unallocated => return Ok(()),
            other => {
                let what = format!("it is a page of type {other:?}, not one of rows");
                return Err(format::Error::corrupt(what).into());
            }
        }
        let path = self.pages.path;
        for number in 0..entries(&page)? {
            if let Some(found) = entry(&page, number)? {
                self.read_row(found)
                    .map_err(|error| located(error, path, format_args!("row {number}")))?;
            }
        }
        Ok(())
    }

    fn read_row(&mut self, entry: &[u8]) -> Result<()> {
        self.reader.start(entry)?;
        while let Step::Page(page_no) = self.reader.step()? {
            let path = self.extents.path;
            let page = self.extents.read(page_no, false);
            page.and_then(|page| Ok(self.reader.give(page)?))
                .map_err(|error| located(error, path, format_args!("page {page_no}")))?;
        }
        let RowReader { record, blobs, sum, .. } = &self.reader;
        if self.table.sum.is_some() {
            let columns = &self.table.columns;
            let order = self.table.order.iter();
            let fields = order.filter_map(|&place| columns.get(place).map(|column| &column.field));
            let null_bytes = self.table.null_bytes;
            let row_sum = row_sum(SumOf::FieldsWithoutNulls, fields, null_bytes, record, blobs)?;
            if sum.is_some_and(|sum| sum != row_sum as u8) {
                return Err(format::Error::corrupt("it has another checksum than it says").into());
            }
            self.sum = self.sum.wrapping_add(row_sum);
        }
        self.out.row(record, blobs)
    }
}
