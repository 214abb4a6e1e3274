//! Pages of ROW_FORMAT=COMPRESSED (`page_zip`): a B-tree page stored in fewer bytes, which is unzipped to a
//! page in COMPACT form.
//!
//! ```text
//! 0       94               94+z                    from the end, backwards
//! header  zlib stream      log, 0, zeroes ...      columns of each record  |  dense directory
//! ```
//!
//! - The **stream** has the form of the records ([`IndexFields`]), then the heap as it was when the page was last
//!   compressed, without the parts that change often: the records' headers, DB_TRX_ID and DB_ROLL_PTR, child page
//!   numbers, references to off-page columns.
//! - The **log** has the records that were inserted or changed since.
//! - The **columns** left out of both stand uncompressed: 13 or 4 bytes for each record, by address; before them
//!   20 bytes for each reference to an off-page column.
//! - The **dense directory** lists all records in key order, then the freed ones.
//!
//! `page0zip.cc` and `zipdecompress.cc`, MySQL 8.0; `page0zip.cc`, MariaDB 10.11.

mod both_forms;
mod dense_directory;
mod fields;
mod heap;

use std::fmt;

use zlib_rs::{Inflate, InflateFlush, Status};

pub(crate) use self::both_forms::BothForms;
use self::dense_directory::DenseDirectory;
use self::fields::IndexFields;
use self::heap::Heap;
use super::DATA;
use crate::{Error, Result, bytes};

/// `PAGE_DATA`: the end of the header, which is not compressed.
const HEADER: usize = DATA + 56;
/// `PAGE_ZIP_START`: the end of the supremum record, where the compressed part of a page begins in memory.
const HEAP_START: usize = HEADER + 26;
/// `REC_N_NEW_EXTRA_BYTES`: the header of a record.
const RECORD_HEADER: usize = 5;
/// The most bytes that describe an index: two for each of `REC_MAX_N_FIELDS` fields, and two more.
const FIELDS_BYTES_MAX: usize = 2 * 1023 + 2;

/// The fields of a B-tree page's header that unzipping needs.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    n_dir_slots: usize,
    heap_top: usize,
    /// Records in the heap, without infimum and supremum.
    n_dense: usize,
    n_recs: usize,
    is_leaf: bool,
    has_prev: bool,
    /// Bytes of the page in memory.
    page_bytes: usize,
}

impl Header {
    fn parse(raw: &[u8], page_bytes: usize) -> Result<Header> {
        let field = |at: usize| bytes::u16_at(raw, DATA + at);
        let n_heap = field(4)?;
        let header = Header {
            n_dir_slots: usize::from(field(0)?),
            heap_top: usize::from(field(2)?),
            n_dense: usize::from(n_heap & 0x7FFF).saturating_sub(2),
            n_recs: usize::from(field(16)?),
            is_leaf: field(26)? == 0,
            has_prev: bytes::u32_at(raw, 8)? != u32::MAX,
            page_bytes,
        };
        let is_sound = n_heap & 0x8000 != 0
            && n_heap & 0x7FFF >= 2
            && header.n_recs <= header.n_dense
            && (HEAP_START..=header.slots_start()).contains(&header.heap_top);
        if !is_sound {
            return Err(Error::corrupt(format!(
                "the header of a compressed page is impossible: {} records, {} in the heap, heap top {}, {} \
                 directory slots",
                header.n_recs,
                n_heap & 0x7FFF,
                header.heap_top,
                header.n_dir_slots
            )));
        }
        Ok(header)
    }

    /// The offset of the last slot of the sparse directory in memory; 0 for more slots than a page can have.
    fn slots_start(&self) -> usize {
        self.page_bytes.saturating_sub(8 + 2 * self.n_dir_slots)
    }
}

/// The memory for unzipping one page at a time.
pub(super) struct Unzipper {
    inflate: Inflate,
    fields: IndexFields,
    stream: Vec<u8>,
    heap: Heap,
    /// The offset of the end of the log in the file's page.
    log_end: usize,
}

impl fmt::Debug for Unzipper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unzipper").finish_non_exhaustive()
    }
}

impl Unzipper {
    pub fn new() -> Unzipper {
        Unzipper {
            inflate: Inflate::new(true, 15),
            fields: IndexFields::default(),
            stream: Vec::new(),
            heap: Heap::default(),
            log_end: 0,
        }
    }

    /// Unzips a B-tree page to `page_bytes` in COMPACT form, without checksum and LSN at its end. The checksum
    /// of `raw` has been verified.
    ///
    /// # Errors
    /// When any part contradicts another.
    pub fn unzip(&mut self, raw: &[u8], page_bytes: usize) -> Result<&[u8]> {
        let header = Header::parse(raw, page_bytes)?;
        let directory = DenseDirectory::parse(raw, &header)?;
        let (fields_bytes, log_at) = self.inflate_stream(raw, &directory, page_bytes)?;
        let (fields, records) = self.stream.split_at_checked(fields_bytes).unwrap_or_default();
        self.fields.decode(fields, header.is_leaf)?;
        let records = bytes::slice(
            records,
            0,
            (self.inflate.total_out() as usize).saturating_sub(fields_bytes),
        )?;
        self.heap.begin(bytes::slice(raw, 0, HEADER)?, header, &directory)?;
        self.heap.lay_out(records, &self.fields)?;
        let columns_at = directory.start().checked_sub(self.fields.column_bytes() * header.n_dense);
        let columns_at = columns_at.filter(|at| *at > log_at).ok_or_else(|| {
            Error::corrupt("the compressed stream overlaps the uncompressed columns behind it")
        })?;
        let log_bytes =
            self.heap.apply_log(bytes::slice(raw, log_at, columns_at - log_at)?, &self.fields)?;
        self.log_end = log_at + log_bytes;
        let columns = bytes::slice(raw, self.log_end, directory.start() - self.log_end)?;
        self.heap.fill_columns(columns, &self.fields, &directory)?;
        self.heap.link(&directory)
    }

    /// Inflates the stream; returns the bytes that describe the index, and the offset of the log.
    fn inflate_stream(
        &mut self,
        raw: &[u8],
        directory: &DenseDirectory<'_>,
        page_bytes: usize,
    ) -> Result<(usize, usize)> {
        // The log ends with a zero byte, so the stream ends before the last byte that is not the directory's.
        let input = bytes::slice(raw, HEADER, directory.start().saturating_sub(HEADER + 1))?;
        self.stream.resize(page_bytes + FIELDS_BYTES_MAX, 0);
        self.inflate.reset(true);
        // The first stop is behind zlib's header, the second behind the first block, which describes the index.
        self.advance(input, InflateFlush::Block)?;
        self.advance(input, InflateFlush::Block)?;
        let fields_bytes = self.inflate.total_out() as usize;
        if self.advance(input, InflateFlush::Finish)? != Status::StreamEnd {
            return Err(Error::corrupt(
                "the compressed stream of a page does not end where it should",
            ));
        }
        Ok((fields_bytes, HEADER + self.inflate.total_in() as usize))
    }

    fn advance(&mut self, input: &[u8], flush: InflateFlush) -> Result<Status> {
        let (taken, given) = (self.inflate.total_in() as usize, self.inflate.total_out() as usize);
        let input = input.get(taken..).unwrap_or_default();
        let output = self.stream.get_mut(given..).unwrap_or_default();
        self.inflate.decompress(input, output, flush).map_err(|error| {
            Error::corrupt(format!(
                "the compressed stream of a page is damaged: {}",
                error.as_str()
            ))
        })
    }
}
