//! The rows of an Aria table, in the order of its `.MAD` file.

use std::path::{Path, PathBuf};

use innoscan_format as format;
use innoscan_format::aria::{
    Bitmap, Header, PageRows, PageType, RowReader, Step, Storage, entries, entry, page_type,
    require_checksum,
};
use innoscan_format::myisam::{SumOf, row_sum};
use innoscan_format::schema::TableDef;
use innoscan_format::server_record::RecordLayout;

use super::data_file::DataFile;
use super::{
    Converter, RowReceiver, myisam, not_closed, read_header, require_all, require_len,
    with_extension,
};
use crate::{Error, Result};

/// A `.MAI` and `.MAD` file.
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
        if header.crashed {
            return Err(not_closed(&index, "the table is marked as crashed"));
        }
        if header.open_count != 0 {
            return Err(not_closed(&index, "the table was changed and not closed"));
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

/// A file's pages, each with its checksum compared.
struct Pages {
    file: DataFile,
    page_bytes: usize,
}

impl Pages {
    fn open(path: &Path, table: &PageRows) -> Result<Pages> {
        Ok(Pages { file: DataFile::open(path)?, page_bytes: table.page_bytes })
    }

    fn read(&mut self, page_no: u64, is_bitmap: bool) -> Result<&[u8]> {
        let path = self.file.path().to_owned();
        let page = self.file.read(page_no * self.page_bytes as u64, self.page_bytes)?;
        require_checksum(page, page_no, is_bitmap)
            .map_err(|error| at_page(error, page_no, None).in_file(&path))?;
        Ok(page)
    }
}

/// The rows as they are read.
struct Rows<'a, 'r> {
    table: &'a PageRows,
    /// Bitmaps and head pages, in order.
    pages: Pages,
    /// Pages that rows go on in.
    extents: Pages,
    reader: RowReader<'a>,
    out: Converter<'a, 'r>,
    sum: u32,
}

impl Rows<'_, '_> {
    fn read_all(&mut self) -> Result<()> {
        let n_pages = self.table.data_bytes / self.table.page_bytes as u64;
        let step = Bitmap::step(self.table.page_bytes);
        let mut bitmap_no = 0;
        while bitmap_no < n_pages {
            let bitmap = self.pages.read(bitmap_no, true)?.to_vec();
            let covered = (n_pages - bitmap_no - 1).min(step - 1);
            for n in (0..covered).filter(|&n| Bitmap::new(&bitmap).is_head(n)) {
                self.read_page(bitmap_no + 1 + n)?;
            }
            bitmap_no += step;
        }
        Ok(())
    }

    /// Reads the rows that begin in a page.
    fn read_page(&mut self, page_no: u64) -> Result<()> {
        let page = self.pages.read(page_no, false)?.to_vec();
        let path = self.pages.file.path().to_owned();
        let failed = |error, number| at_page(error, page_no, number).in_file(&path);
        match page_type(&page).map_err(|error| failed(error, None))? {
            PageType::Head => {}
            // All its rows were deleted.
            PageType::Unallocated => return Ok(()),
            other => {
                let what = format!("it is a page of type {other:?}, not one of rows");
                return Err(failed(format::Error::corrupt(what), None));
            }
        }
        for number in 0..entries(&page).map_err(|error| failed(error, None))? {
            let found = entry(&page, number).map_err(|error| failed(error, Some(number)))?;
            if let Some(found) = found {
                self.read_row(found).map_err(|error| {
                    error.map_format(|error| at_row(error, page_no, Some(number))).in_file(&path)
                })?;
            }
        }
        Ok(())
    }

    fn read_row(&mut self, entry: &[u8]) -> Result<()> {
        self.reader.start(entry)?;
        while let Step::Page(page_no) = self.reader.step()? {
            self.reader.give(self.extents.read(page_no, false)?)?;
        }
        let RowReader { record, blobs, sum, .. } = &self.reader;
        if self.table.sum.is_some() {
            let columns = &self.table.columns;
            let order = self.table.order.iter();
            let fields = order.filter_map(|&place| columns.get(place).map(|column| &column.field));
            let null_bytes = self.table.null_bytes;
            let row_sum = row_sum(SumOf::FieldsWithoutNulls, fields, null_bytes, record, blobs)?;
            if sum.is_some_and(|sum| sum != row_sum as u8) {
                let what = "the row has another checksum than it says";
                return Err(format::Error::corrupt(what).into());
            }
            self.sum = self.sum.wrapping_add(row_sum);
        }
        self.out.row(record, blobs)
    }
}

/// Damage of a page, or of a row that begins in it.
fn at_page(error: format::Error, page_no: u64, number: Option<u8>) -> Error {
    at_row(error, page_no, number).into()
}

/// Adds the place to damage.
fn at_row(error: format::Error, page_no: u64, number: Option<u8>) -> format::Error {
    let row = number.map(|number| format!(", row {number}")).unwrap_or_default();
    match error {
        format::Error::Corrupt { what, place } => {
            format::Error::Corrupt { what: format!("page {page_no}{row}: {what}").into(), place }
        }
        other => other,
    }
}
