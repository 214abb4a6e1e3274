//! Rows in pages.
//!
//! ```text
//! entry of a head page
//!   flags            1 TRANSID, 2 VER_PTR, 4 DELETE_TRANSID, 8 NULLS_EXTENDED, 128 EXTENTS
//!   6, 7, 6, 1       one field for each of the first four flags
//!   extents          number (1, or 255 and 2 big-endian); the first extent (7)
//!   lengths          number of bytes (as above), if columns can have lengths
//!   checksum         1, if the table has checksums
//!   NULL bits, "empty" bits, field offsets
//! then, in the rest of the entry and in the extents
//!   the other extents; the columns that are always stored; lengths; the other columns except
//!   those that are NULL or empty
//!
//! extent             page (5), pages (2); 0x8000: the entry of a tail page; 0x4000: begins a BLOB
//! ```
//!
//! Columns of fixed length are never split. The rest that does not fit into the entry continues in
//! the first extent; from then on each BLOB begins in an extent of its own.
//!
//! Sources: `_ma_read_block_record2`, `read_long_data2`, `read_next_extent` (ma_blockrec.c, MariaDB
//! 10.11).

use super::page::{BLOB_HEADER_BYTES, SUFFIX_BYTES};
use super::{Bitmap, Column, PageRows, PageType, entry, page_type};
use crate::myisam::FieldKind;
use crate::server_record::{POINTER_BYTES, length};
use crate::{Error, Result, bytes};

const FLAG_DELETED: u8 = 4;
const FLAG_EXTENTS: u8 = 128;
/// `ROW_FLAG_ALL` (ma_blockrec.h).
const KNOWN_FLAGS: u8 = 1 | 2 | 4 | 8 | 128;
/// Bytes of the fields that the lowest flags announce.
const FLAG_BYTES: [usize; 4] = [6, 7, 6, 1];
const BIT_NULLS_EXTENDED: usize = 3;

const EXTENT_BYTES: usize = 7;
const EXTENT_TAIL: u16 = 0x8000;
const EXTENT_START: u16 = 0x4000;

/// A reader of rows, one after the other. It names the page it needs and is passed that page.
#[derive(Debug)]
pub struct RowReader<'t> {
    table: &'t PageRows,
    /// The record; complete when the row has been read.
    pub record: Vec<u8>,
    /// The bytes of the row's BLOBs, concatenated.
    pub blobs: Vec<u8>,
    /// The low byte of the row's checksum, if the table has checksums.
    pub sum: Option<u8>,
    /// The current part of the row, and the number of bytes read from it.
    data: Vec<u8>,
    at: usize,
    entry_bytes: usize,
    /// Whether the current part is that of the head page.
    in_head: bool,
    extents: Vec<u8>,
    cursor: Cursor,
    empty_bits: Vec<u8>,
    lengths: Vec<u8>,
    lengths_at: usize,
    n_lengths: usize,
    want: Want,
    next: Next,
}

/// The next step of a [`RowReader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The reader needs this page.
    Page(u64),
    /// The row has been read.
    Done,
}

/// A position in the pages of the extents.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// Number of extents entered so far.
    begun: usize,
    page: u64,
    /// Pages left in the extent.
    left: u16,
    tail: Option<u8>,
}

/// A range of bytes to be read, and their destination.
#[derive(Clone, Copy, Debug)]
struct Want {
    to: Target,
    left: usize,
    rule: Rule,
    begun: bool,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Extents,
    Lengths,
    /// The record, from this offset on.
    Record(usize),
    Blobs,
}

/// The rule by which bytes are split across the row's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Never split.
    Whole,
    /// Split, but not across the end of the head page.
    Split,
    /// All in the head page, or from the beginning of an extent on.
    Blob,
}

/// The range to be read after the current one.
#[derive(Clone, Copy, Debug)]
enum Next {
    AlwaysThere(usize),
    Column(usize),
}

impl<'t> RowReader<'t> {
    /// Creates a reader of a table's rows.
    pub fn new(table: &'t PageRows) -> RowReader<'t> {
        RowReader {
            table,
            record: Vec::new(),
            blobs: Vec::new(),
            sum: None,
            data: Vec::new(),
            at: 0,
            entry_bytes: 0,
            in_head: true,
            extents: Vec::new(),
            cursor: Cursor::default(),
            empty_bits: Vec::new(),
            lengths: Vec::new(),
            lengths_at: 0,
            n_lengths: 0,
            want: Want::new(Target::Extents, 0, Rule::Split),
            next: Next::Column(usize::MAX),
        }
    }

    /// Starts with the row of a head page's entry.
    pub fn start(&mut self, entry: &[u8]) -> Result<()> {
        let table = self.table;
        let flags = bytes::u8_at(entry, 0)?;
        if flags & !KNOWN_FLAGS != 0 || flags & FLAG_DELETED != 0 {
            return Err(Error::corrupt(format!("a row has unsupported flags {flags:#x}")));
        }
        let mut rest = Rest { bytes: entry, at: 1 };
        for (bit, len) in FLAG_BYTES.into_iter().enumerate() {
            let there = rest.take(if flags >> bit & 1 == 1 { len } else { 0 })?;
            if bit == BIT_NULLS_EXTENDED && there.iter().any(|more| *more != 0) {
                return Err(Error::corrupt("a row has more NULL bits than its table"));
            }
        }
        self.extents.clear();
        let mut more_extents = 0;
        if flags & FLAG_EXTENTS != 0 {
            let n_extents = rest.key_length()?;
            more_extents = n_extents
                .checked_sub(1)
                .ok_or_else(|| Error::corrupt("a row lacks the extents that its flags announce"))?;
            self.extents.extend_from_slice(rest.take(EXTENT_BYTES)?);
        }
        self.n_lengths = if table.has_lengths { rest.key_length()? } else { 0 };
        self.sum = rest.take(usize::from(table.sum.is_some()))?.first().copied();
        self.record.clear();
        self.record.extend_from_slice(rest.take(table.null_bytes)?);
        self.record.resize(table.record_bytes, 0);
        self.empty_bits.clear();
        self.empty_bits.extend_from_slice(rest.take(table.empty_bytes)?);
        rest.take(table.field_offset_bytes)?;
        self.blobs.clear();
        self.lengths.clear();
        self.lengths_at = 0;
        self.data.clear();
        self.data.extend_from_slice(entry);
        self.at = rest.at;
        self.entry_bytes = entry.len();
        self.in_head = true;
        self.cursor = Cursor::default();
        self.want = Want::new(Target::Extents, more_extents * EXTENT_BYTES, Rule::Split);
        self.next = Next::AlwaysThere(0);
        Ok(())
    }

    /// Continues as far as the pages passed so far allow.
    pub fn step(&mut self) -> Result<Step> {
        loop {
            if !self.read_wanted()? {
                return self.next_page().map(Step::Page);
            }
            match self.next_want()? {
                Some(want) => self.want = want,
                None => {
                    self.require_end()?;
                    return Ok(Step::Done);
                }
            }
        }
    }

    /// Passes the page that [`RowReader::step`] requested.
    pub fn give(&mut self, page: &[u8]) -> Result<()> {
        self.data.clear();
        self.at = 0;
        self.in_head = false;
        let wrong =
            |page_type| Error::corrupt(format!("a row continues in a page of type {page_type:?}"));
        match (page_type(page)?, self.cursor.tail) {
            (PageType::Tail, Some(number)) => {
                let entry = entry(page, number)?;
                let entry =
                    entry.ok_or_else(|| Error::corrupt("a row continues in a free entry"))?;
                self.data.extend_from_slice(entry);
            }
            (PageType::Blob, None) => {
                let len = page.len().saturating_sub(BLOB_HEADER_BYTES + SUFFIX_BYTES);
                self.data.extend_from_slice(bytes::slice(page, BLOB_HEADER_BYTES, len)?);
            }
            (other, _) => return Err(wrong(other)),
        }
        self.cursor.left = self.cursor.left.saturating_sub(1);
        self.cursor.page += 1;
        Ok(())
    }

    /// Returns the next page of the extents.
    fn next_page(&mut self) -> Result<u64> {
        if self.cursor.left == 0 {
            let Ok(extent) =
                bytes::slice(&self.extents, self.cursor.begun * EXTENT_BYTES, EXTENT_BYTES)
            else {
                return Err(Error::corrupt("a row ends before its columns do"));
            };
            let page = bytes::array::<5>(extent, 0)?;
            let [a, b, c, d, e] = page;
            let count = bytes::u16_le_at(extent, 5)? & !EXTENT_START;
            let tail = (count & EXTENT_TAIL != 0).then_some(count & !EXTENT_TAIL);
            self.cursor = Cursor {
                begun: self.cursor.begun + 1,
                page: u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]),
                left: if tail.is_some() { 1 } else { count },
                tail: tail.map(|number| number.min(255) as u8),
            };
        }
        let Cursor { page, left, .. } = self.cursor;
        let is_bitmap = page.is_multiple_of(Bitmap::step(self.table.page_bytes));
        if left == 0 || is_bitmap || page >= self.table.data_bytes / self.table.page_bytes as u64 {
            return Err(Error::corrupt(format!(
                "impossible extent of {left} pages from page {page}"
            )));
        }
        Ok(page)
    }

    /// Reads the current range; returns whether it is complete.
    fn read_wanted(&mut self) -> Result<bool> {
        let Want { to, left, rule, begun } = self.want;
        if left == 0 {
            return Ok(true);
        }
        let have = self.data.len() - self.at;
        let begins_elsewhere = match rule {
            Rule::Whole => have < left,
            Rule::Split => self.in_head && have < left,
            Rule::Blob => !self.in_head || have < left,
        };
        if !begun && begins_elsewhere {
            self.at = self.data.len();
        }
        let len = left.min(self.data.len() - self.at);
        if rule == Rule::Whole && len > 0 && len < left {
            return Err(Error::corrupt("a column of fixed length is split"));
        }
        let taken = bytes::slice(&self.data, self.at, len)?;
        let to = match to {
            Target::Extents => {
                self.extents.extend_from_slice(taken);
                to
            }
            Target::Lengths => {
                self.lengths.extend_from_slice(taken);
                to
            }
            Target::Blobs => {
                self.blobs.extend_from_slice(taken);
                to
            }
            Target::Record(at) => {
                let place = self.record.get_mut(at..at + len);
                place
                    .ok_or_else(|| Error::corrupt("a column reaches past its record"))?
                    .copy_from_slice(taken);
                Target::Record(at + len)
            }
        };
        self.at += len;
        self.want = Want { to, left: left - len, rule, begun: true };
        Ok(len == left)
    }

    fn next_want(&mut self) -> Result<Option<Want>> {
        let table = self.table;
        if let Next::AlwaysThere(place) = self.next {
            let column = table.columns.get(place).filter(|_| place < table.n_always_there);
            let Some(Column { field, .. }) = column else {
                self.next = Next::Column(place);
                return Ok(Some(Want::new(Target::Lengths, self.n_lengths, Rule::Split)));
            };
            self.next = Next::AlwaysThere(place + 1);
            return Ok(Some(Want::new(Target::Record(field.offset), field.len, Rule::Whole)));
        }
        while let Next::Column(place) = self.next
            && let Some(column) = table.columns.get(place)
        {
            self.next = Next::Column(place + 1);
            if is_set(&self.record, column.field.null_bit)?
                || is_set(&self.empty_bits, column.empty_bit)?
            {
                if column.field.kind == FieldKind::SkipEndSpace {
                    self.fill_with_spaces(column.field.offset, column.field.len);
                }
                continue;
            }
            return self.want_column(column).map(Some);
        }
        Ok(None)
    }

    fn fill_with_spaces(&mut self, at: usize, len: usize) {
        if let Some(place) = self.record.get_mut(at..at + len) {
            place.fill(b' ');
        }
    }

    /// Returns the range of a column that is neither NULL nor empty.
    fn want_column(&mut self, column: &Column) -> Result<Want> {
        let field = &column.field;
        let too_long =
            |len| Error::corrupt(format!("a value of {len} bytes in a column of {}", field.len));
        match field.kind {
            FieldKind::Normal | FieldKind::SkipPreSpace | FieldKind::SkipZero => {
                Ok(Want::new(Target::Record(field.offset), field.len, Rule::Whole))
            }
            FieldKind::SkipEndSpace => {
                let (len, _) = self.take_length(if field.len <= 255 { 1 } else { 2 })?;
                if len > field.len {
                    return Err(too_long(len));
                }
                self.fill_with_spaces(field.offset, field.len);
                Ok(Want::new(Target::Record(field.offset), len, Rule::Split))
            }
            FieldKind::VarChar => {
                let length_bytes = if field.len <= 256 { 1 } else { 2 };
                let (len, prefix) = self.take_length(length_bytes)?;
                if length_bytes + len > field.len {
                    return Err(too_long(len));
                }
                self.put(field.offset, &prefix, length_bytes)?;
                Ok(Want::new(Target::Record(field.offset + length_bytes), len, Rule::Split))
            }
            FieldKind::Blob => {
                let length_bytes = field.len.saturating_sub(POINTER_BYTES);
                let (len, prefix) = self.take_length(length_bytes)?;
                let at = self.blobs.len() as u64;
                // All of a row is in the file.
                if at + len as u64 > self.table.data_bytes {
                    return Err(Error::corrupt(format!("a BLOB of {len} bytes in a smaller file")));
                }
                self.put(field.offset, &prefix, length_bytes)?;
                self.put(field.offset + length_bytes, &at.to_le_bytes(), POINTER_BYTES)?;
                Ok(Want::new(Target::Blobs, len, Rule::Blob))
            }
        }
    }

    /// Reads the next of the lengths, as a number and as its bytes.
    fn take_length(&mut self, length_bytes: usize) -> Result<(usize, Vec<u8>)> {
        let prefix = bytes::slice(&self.lengths, self.lengths_at, length_bytes)?;
        self.lengths_at += length_bytes;
        Ok((length(prefix, length_bytes)?, prefix.to_vec()))
    }

    fn put(&mut self, at: usize, bytes: &[u8], len: usize) -> Result<()> {
        match (self.record.get_mut(at..at + len), bytes.get(..len)) {
            (Some(place), Some(bytes)) => place.copy_from_slice(bytes),
            _ => return Err(Error::corrupt("a column reaches past its record")),
        }
        Ok(())
    }

    /// Requires that the row ends where its parts end.
    fn require_end(&self) -> Result<()> {
        if self.lengths_at != self.lengths.len() {
            return Err(Error::corrupt("a row has more lengths than columns"));
        }
        let unread = self.data.len() - self.at;
        if self.extents.is_empty() {
            // The entry of a short row is longer than the row.
            if unread > 0 && self.entry_bytes > self.table.min_entry_bytes {
                return Err(Error::corrupt(format!("a row ends {unread} bytes before its entry")));
            }
            return Ok(());
        }
        let rest = self.extents.get(self.cursor.begun * EXTENT_BYTES..).unwrap_or_default();
        if self.cursor.left > 0 || rest.iter().any(|byte| *byte != 0) {
            return Err(Error::corrupt("a row ends before its extents do"));
        }
        Ok(())
    }
}

impl Want {
    fn new(to: Target, left: usize, rule: Rule) -> Want {
        Want { to, left, rule, begun: false }
    }
}

fn is_set(bits: &[u8], bit: Option<(usize, u8)>) -> Result<bool> {
    match bit {
        Some((byte, mask)) => Ok(bytes::u8_at(bits, byte)? & mask != 0),
        None => Ok(false),
    }
}

/// The part of an entry that is still to be read.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = bytes::slice(self.bytes, self.at, len)?;
        self.at += len;
        Ok(taken)
    }

    /// Reads a number in the form of keys (`get_key_length`, myisampack.h).
    fn key_length(&mut self) -> Result<usize> {
        match bytes::u8_at(self.take(1)?, 0)? {
            255 => bytes::u16_at(self.take(2)?, 0).map(usize::from),
            short => Ok(usize::from(short)),
        }
    }
}
