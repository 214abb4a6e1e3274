//! Finding of a record's columns: the begin and end of each, and which are stored elsewhere.
//!
//! This is the hot path of a scan: one pass over the fields, no allocation, eight bytes written per
//! column. COMPACT and DYNAMIC rows without instant bits, which are nearly all, are located without a
//! call.

use std::ops::Range;

use crate::layout::{Field, Flavour, Layout};
use crate::lob_ref::LobRef;
use crate::record::{INSTANT, Record, STATUS_INSTANT, STATUS_ORDINARY, VERSION};
use crate::schema::InstantDefault;
use crate::{Error, Result, bytes};

/// The value of a column in a row: its bytes, or where they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located<'d> {
    /// A NULL.
    Null,
    /// Bytes in the record.
    Inline(&'d [u8]),
    /// An off-page column: its beginning may be in the record, the rest is on other pages.
    External {
        /// The part in the record: 768 bytes or none.
        prefix: &'d [u8],
        /// Reference to the rest.
        lob: LobRef,
    },
    /// The default of a column that is newer than the record.
    Default(&'d [u8]),
}

/// Buffer for the columns of one record, to be reused for the next.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    start: u16,
    len: u16,
    kind: Kind,
}

impl Cell {
    #[inline(always)]
    fn range(self) -> Range<usize> {
        let start = usize::from(self.start);
        start..start + usize::from(self.len)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Absent,
    Null,
    Inline,
    External,
}

/// A column as a record stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredField<'d> {
    /// The record is older than the column.
    Absent,
    Null,
    Inline(&'d [u8]),
    /// The part in the record, with the reference to the rest.
    External(&'d [u8]),
}

impl Fields {
    /// Copies the columns of a row behind each other into `bytes`.
    pub(crate) fn copied<'v>(
        columns: impl Iterator<Item = StoredField<'v>>,
        bytes: &mut Vec<u8>,
    ) -> Result<Fields> {
        let mut cells = Vec::new();
        for column in columns {
            let (kind, value) = match column {
                StoredField::Absent => (Kind::Absent, &[][..]),
                StoredField::Null => (Kind::Null, &[][..]),
                StoredField::Inline(value) => (Kind::Inline, value),
                StoredField::External(value) => (Kind::External, value),
            };
            let place = u16::try_from(bytes.len()).ok().zip(u16::try_from(value.len()).ok());
            let (start, len) =
                place.ok_or_else(|| Error::corrupt("a row is larger than any record"))?;
            cells.push(Cell { start, len, kind });
            bytes.extend_from_slice(value);
        }
        Ok(Fields { cells })
    }

    /// Returns the row whose columns were copied into `bytes`.
    pub(crate) fn row<'f, 'd>(&'f self, bytes: &'d [u8], layout: &'d Layout) -> Row<'f, 'd> {
        Row { cells: &self.cells, page: bytes, layout }
    }
}

/// A record's columns: the filled [`Fields`], with the bytes that they refer to.
#[derive(Clone, Copy, Debug)]
pub struct Row<'f, 'd> {
    cells: &'f [Cell],
    page: &'d [u8],
    layout: &'d Layout,
}

impl<'d> Row<'_, 'd> {
    /// Returns the column at `place` among [`Layout::columns`].
    ///
    /// # Errors
    /// For an off-page column whose reference is damaged, and one without a default in a record
    /// older than it.
    #[inline]
    pub fn get(&self, place: usize) -> Result<Located<'d>> {
        let cell = self.cells.get(place).copied().unwrap_or_default();
        // In range: `locate` proved it.
        let data = self.page.get(cell.range()).unwrap_or_default();
        match cell.kind {
            Kind::Inline => Ok(Located::Inline(data)),
            Kind::Null => Ok(Located::Null),
            Kind::External => self.external(place, data),
            Kind::Absent => self.default(place),
        }
    }

    /// Returns the column at `place` as the record stores it.
    pub(crate) fn stored(&self, place: usize) -> StoredField<'d> {
        let cell = self.cells.get(place).copied().unwrap_or_default();
        let data = self.page.get(cell.range()).unwrap_or_default();
        match cell.kind {
            Kind::Absent => StoredField::Absent,
            Kind::Null => StoredField::Null,
            Kind::Inline => StoredField::Inline(data),
            Kind::External => StoredField::External(data),
        }
    }

    /// Writes the bytes of each column to its place in `values`, `None` for a NULL; stops at the first
    /// off-page column that is read, and returns whether there was none. Off-page columns that are
    /// not read become `None`.
    ///
    /// # Errors
    /// As for [`Row::get`].
    #[inline(always)]
    pub fn write_values(
        &self,
        values: &mut Vec<Option<&'d [u8]>>,
        reads: impl Fn(usize) -> bool,
    ) -> Result<bool> {
        if values.len() != self.cells.len() {
            values.resize(self.cells.len(), None);
        }
        for (place, (value, cell)) in values.iter_mut().zip(self.cells).enumerate() {
            *value = match cell.kind {
                // In range: `locate` proved it.
                Kind::Inline => self.page.get(cell.range()),
                Kind::Null => None,
                Kind::External if reads(place) => return Ok(false),
                Kind::External => None,
                Kind::Absent => match self.default(place)? {
                    Located::Default(bytes) => Some(bytes),
                    _ => None,
                },
            };
        }
        Ok(true)
    }

    /// Returns the number of columns in the row.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns whether the row has no columns, which no table allows.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    #[cold]
    fn external(&self, place: usize, data: &'d [u8]) -> Result<Located<'d>> {
        let at_column = |error: Error| error.at_column(self.layout.column_name(place));
        let (prefix, reference) = data.split_last_chunk::<{ LobRef::LEN }>().ok_or_else(|| {
            at_column(Error::corrupt(format!(
                "an off-page column of {} bytes has no room for its reference",
                data.len()
            )))
        })?;
        let lob = LobRef::parse(reference).map_err(at_column)?;
        Ok(Located::External { prefix, lob })
    }

    #[cold]
    fn default(&self, place: usize) -> Result<Located<'d>> {
        match self.layout.default_of(place) {
            Some(InstantDefault::Null) => Ok(Located::Null),
            Some(InstantDefault::Bytes(bytes)) => Ok(Located::Default(bytes)),
            None => Err(Error::corrupt("the record lacks the column, which has no default for it")
                .at_column(self.layout.column_name(place))),
        }
    }
}

/// The presence of a field in a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Stored,
    /// The field is newer than the record.
    Younger,
    /// The field was dropped before the record was written.
    Dropped,
}

/// The fields that a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    All,
    First(usize),
    Version(u8),
}

impl Holds {
    #[inline]
    fn field(self, place: usize, field: &Field) -> Presence {
        match self {
            Holds::All => Presence::Stored,
            Holds::First(n) if place < n => Presence::Stored,
            Holds::First(_) => Presence::Younger,
            Holds::Version(version) if field.version_dropped <= version => Presence::Dropped,
            Holds::Version(version) if field.version_added > version => Presence::Younger,
            Holds::Version(_) => Presence::Stored,
        }
    }
}

impl Layout {
    /// Locates the columns of a leaf record.
    #[inline(always)]
    pub fn locate<'f, 'd>(
        &'d self,
        record: &Record<'d>,
        fields: &'f mut Fields,
    ) -> Result<Row<'f, 'd>> {
        if fields.cells.len() != self.n_columns() {
            fields.cells.resize(self.n_columns(), Cell::default());
        }
        let located = self.find(record, fields.cells.as_mut_slice());
        match located {
            Ok(_) => Ok(Row { cells: &fields.cells, page: record.page(), layout: self }),
            Err(error) => Err(record.locate_error(error)),
        }
    }

    /// Returns the bounds of a leaf record, including its header.
    pub(crate) fn extent(&self, record: &Record<'_>, fields: &mut Fields) -> Result<Extent> {
        fields.cells.resize(self.n_columns(), Cell::default());
        self.find(record, fields.cells.as_mut_slice())
    }

    #[inline(always)]
    fn find(&self, record: &Record<'_>, cells: &mut [Cell]) -> Result<Extent> {
        let is_plain = self.compact
            && record.is_compact()
            && self.flavour == Flavour::Plain
            && record.info_bits() & (INSTANT | VERSION) == 0
            && record.status() == STATUS_ORDINARY;
        if !is_plain {
            return self.find_other(record, cells);
        }
        let nulls = record.origin().wrapping_sub(6);
        self.walk(record, nulls, self.core_null_bytes, |_, _| Presence::Stored, cells)
    }

    /// Locates the columns of a REDUNDANT record, or one of an instantly altered table.
    #[inline(never)]
    fn find_other(&self, record: &Record<'_>, cells: &mut [Cell]) -> Result<Extent> {
        if record.is_compact() != self.compact {
            Err(wrong_form(record))
        } else if !self.compact {
            self.locate_redundant(record, cells)
        } else if self.flavour == Flavour::Plain {
            Err(unexpected_instant(record))
        } else {
            self.locate_instant(record, cells)
        }
    }

    fn locate_instant(&self, record: &Record<'_>, cells: &mut [Cell]) -> Result<Extent> {
        // Columns newer than the record stay absent.
        cells.fill(Cell::default());
        let (holds, nulls, null_bytes) = self.instant_header(record)?;
        self.walk(record, nulls, null_bytes, |place, field| holds.field(place, field), cells)
    }

    /// Reads the header of a COMPACT record of an altered table: the fields it holds, and where its
    /// null bitmap begins (read backwards) and how long that is.
    pub(crate) fn instant_header(&self, record: &Record<'_>) -> Result<(Holds, usize, usize)> {
        let header = record.origin().wrapping_sub(6);
        let page = record.page();
        let core = (header, self.core_null_bytes);
        let bitmap = |counts: &[u16], n: usize| {
            let count = counts.get(n).copied().ok_or_else(|| {
                Error::corrupt(format!("impossible field count or row version {n} of the record"))
            })?;
            Ok::<usize, Error>(usize::from(count).div_ceil(8))
        };
        match &self.flavour {
            Flavour::Plain => Ok((Holds::All, core.0, core.1)),
            Flavour::MySql { .. } if record.status() != STATUS_ORDINARY => {
                Err(unexpected_instant(record))
            }
            Flavour::MySql { first_fields, nullable_before, nullable_in_version } => {
                match record.info_bits() & (INSTANT | VERSION) {
                    0 => {
                        let holds = first_fields.map_or(Holds::Version(0), Holds::First);
                        Ok((holds, core.0, core.1))
                    }
                    INSTANT => {
                        let (n, at) = mysql_field_count(page, header)?;
                        Ok((Holds::First(n), at, bitmap(nullable_before, n)?))
                    }
                    VERSION => {
                        let version = bytes::u8_at(page, header)?;
                        let null_bytes = bitmap(nullable_in_version, usize::from(version))?;
                        Ok((Holds::Version(version), header.wrapping_sub(1), null_bytes))
                    }
                    _ => Err(unexpected_instant(record)),
                }
            }
            Flavour::MariaDb { .. } if record.info_bits() & (INSTANT | VERSION) != 0 => {
                Err(unexpected_instant(record))
            }
            Flavour::MariaDb { core_fields, nullable_before } => match record.status() {
                STATUS_INSTANT => {
                    let (added, at) = mariadb_added_count(page, header)?;
                    let n = core_fields + added + 1;
                    Ok((Holds::First(n), at, bitmap(nullable_before, n)?))
                }
                _ => Ok((Holds::First(*core_fields), core.0, core.1)),
            },
        }
    }

    /// Locates the fields: null bitmap and lengths are read backwards, data forwards.
    #[inline(always)]
    fn walk(
        &self,
        record: &Record<'_>,
        nulls: usize,
        null_bytes: usize,
        presence: impl Fn(usize, &Field) -> Presence,
        cells: &mut [Cell],
    ) -> Result<Extent> {
        let page = record.page();
        let mut nulls = nulls;
        let mut lens = nulls.wrapping_sub(null_bytes);
        let mut null_mask = 1u8;
        let mut at = record.origin();
        for (place, field) in self.fields.iter().enumerate() {
            if presence(place, field) != Presence::Stored {
                continue;
            }
            if field.nullable {
                if null_mask == 0 {
                    nulls = nulls.wrapping_sub(1);
                    null_mask = 1;
                }
                let Some(&bitmap) = page.get(nulls) else { return Err(header_overrun()) };
                let is_null = bitmap & null_mask != 0;
                null_mask <<= 1;
                if is_null {
                    if let Some(cell) = cells.get_mut(field.slot as usize) {
                        *cell = Cell { start: 0, len: 0, kind: Kind::Null };
                    }
                    continue;
                }
            }
            let mut kind = Kind::Inline;
            let len = if field.variable {
                let Some(&first) = page.get(lens) else { return Err(header_overrun()) };
                lens = lens.wrapping_sub(1);
                if field.big && first & 0x80 != 0 {
                    let Some(&second) = page.get(lens) else { return Err(header_overrun()) };
                    lens = lens.wrapping_sub(1);
                    if first & 0x40 != 0 {
                        kind = Kind::External;
                    }
                    usize::from(first & 0x3F) << 8 | usize::from(second)
                } else {
                    usize::from(first)
                }
            } else {
                usize::from(field.fixed_len)
            };
            if let Some(cell) = cells.get_mut(field.slot as usize) {
                *cell = Cell { start: at as u16, len: len as u16, kind };
            }
            at += len;
        }
        if at > record.limit() {
            return Err(data_overrun(at, record.limit()));
        }
        Ok(Extent { start: lens.wrapping_add(1), end: at })
    }

    fn locate_redundant(&self, record: &Record<'_>, cells: &mut [Cell]) -> Result<Extent> {
        cells.fill(Cell::default());
        let ends = Ends::from_record(record)?;
        let holds = match &self.flavour {
            _ if ends.version.is_some() => match &self.flavour {
                Flavour::MySql { nullable_in_version, .. }
                    if usize::from(ends.version.unwrap_or(0)) < nullable_in_version.len() =>
                {
                    Holds::Version(ends.version.unwrap_or(0))
                }
                _ => return Err(unexpected_instant(record)),
            },
            flavour
                if ends.n_fields > self.fields.len() && !ends.have_doc_id(self.fields.len())
                    || *flavour == Flavour::Plain && ends.n_fields < self.fields.len() =>
            {
                return Err(Error::corrupt(format!(
                    "the record has {} fields, the table's definition {}",
                    ends.n_fields,
                    self.fields.len()
                )));
            }
            _ => Holds::First(ends.n_fields),
        };
        let mut stored = 0;
        let mut start = 0usize;
        for (place, field) in self.fields.iter().enumerate() {
            if holds.field(place, field) != Presence::Stored {
                continue;
            }
            let (end, kind) = ends.get(stored)?;
            stored += 1;
            if end < start {
                return Err(Error::corrupt(format!(
                    "field {place} ends at {end}, before it begins at {start}"
                )));
            }
            if let Some(cell) = cells.get_mut(field.slot as usize) {
                let from = record.origin() + start;
                *cell = Cell { start: from as u16, len: (end - start) as u16, kind };
            }
            start = end;
        }
        let end = record.origin() + start;
        if end > record.limit() {
            return Err(data_overrun(end, record.limit()));
        }
        ends.extent(record)
    }
}

/// The byte range of a record on its page, including its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub start: usize,
    /// The byte after the record's last.
    pub end: usize,
}

/// The field ends in the header of a REDUNDANT record.
pub(crate) struct Ends<'d> {
    page: &'d [u8],
    /// Offset of the first field's end; the others precede it.
    first: usize,
    short: bool,
    pub(crate) n_fields: usize,
    /// Row version (MySQL 8.0.29).
    version: Option<u8>,
}

impl<'d> Ends<'d> {
    pub(crate) fn from_record(record: &Record<'d>) -> Result<Ends<'d>> {
        let mut first = record.origin().wrapping_sub(7);
        let version = if record.info_bits() & VERSION != 0 {
            let version = bytes::u8_at(record.page(), first)?;
            first = first.wrapping_sub(1);
            Some(version)
        } else {
            None
        };
        let n_fields = record.n_fields_redundant()?;
        Ok(Ends { page: record.page(), first, short: record.has_short_ends()?, n_fields, version })
    }

    /// Returns the end of the `nth` stored field relative to the origin, and the kind of field.
    fn get(&self, nth: usize) -> Result<(usize, Kind)> {
        if nth >= self.n_fields {
            return Err(Error::corrupt(format!(
                "the record has {} fields, not {}",
                self.n_fields,
                nth.saturating_add(1)
            )));
        }
        if self.short {
            let end = bytes::u8_at(self.page, self.first.wrapping_sub(nth))?;
            let kind = if end & 0x80 != 0 { Kind::Null } else { Kind::Inline };
            return Ok((usize::from(end & 0x7F), kind));
        }
        let end = bytes::u16_at(self.page, self.first.wrapping_sub(2 * nth + 1))?;
        let kind = match end & 0xC000 {
            0 => Kind::Inline,
            0x4000 => Kind::External,
            _ => Kind::Null,
        };
        Ok((usize::from(end & 0x3FFF), kind))
    }

    /// Returns whether there is exactly one field beyond the first `known`, of a document id's
    /// length: a dropped full-text index leaves it. In records of other formats it is invisible,
    /// behind the last column. (No column can be added instantly behind it.)
    fn have_doc_id(&self, known: usize) -> bool {
        let lens =
            || Ok::<_, Error>(self.end(known)?.wrapping_sub(self.end(known.saturating_sub(1))?));
        self.n_fields == known + 1 && lens() == Ok(8)
    }

    /// Returns the bounds of the record: its begin, and the end of its last field.
    pub(crate) fn extent(&self, record: &Record<'_>) -> Result<Extent> {
        let entry = if self.short { 1 } else { 2 };
        let last = self.end(self.n_fields.wrapping_sub(1))?;
        let start = self.first.wrapping_add(1).wrapping_sub(self.n_fields * entry);
        Ok(Extent { start, end: record.origin() + last })
    }

    /// Returns the length of the `nth` field in bytes; `None` when it is NULL or off-page.
    pub(crate) fn inline_len(&self, nth: usize) -> Result<Option<usize>> {
        let (end, kind) = self.get(nth)?;
        let start = match nth.checked_sub(1) {
            Some(before) => self.end(before)?,
            None => 0,
        };
        Ok((kind == Kind::Inline).then_some(end.wrapping_sub(start)))
    }

    /// Returns the end of the `nth` field only.
    pub(crate) fn end(&self, nth: usize) -> Result<usize> {
        self.get(nth).map(|(end, _)| end)
    }
}

/// Reads MySQL 8.0.12's field count; returns it with the offset of the null bitmap below
/// (`rec_get_n_fields_instant`).
fn mysql_field_count(page: &[u8], at: usize) -> Result<(usize, usize)> {
    let first = usize::from(bytes::u8_at(page, at)?);
    if first & 0x80 == 0 {
        return Ok((first, at.wrapping_sub(1)));
    }
    let second = usize::from(bytes::u8_at(page, at.wrapping_sub(1))?);
    Ok(((first & 0x7F) << 8 | second, at.wrapping_sub(2)))
}

/// Reads MariaDB 10.3's count of added fields, minus one; returns it with the offset of the null
/// bitmap below (`rec_get_n_add_field`).
fn mariadb_added_count(page: &[u8], at: usize) -> Result<(usize, usize)> {
    let first = usize::from(bytes::u8_at(page, at)?);
    if first < 0x80 {
        return Ok((first, at.wrapping_sub(1)));
    }
    let second = usize::from(bytes::u8_at(page, at.wrapping_sub(1))?);
    Ok((first & 0x7F | second << 7, at.wrapping_sub(2)))
}

#[cold]
fn wrong_form(record: &Record<'_>) -> Error {
    let form = if record.is_compact() { "COMPACT or DYNAMIC" } else { "REDUNDANT" };
    Error::corrupt(format!("a record of {form} form in a table of the other form"))
}

#[cold]
fn unexpected_instant(record: &Record<'_>) -> Error {
    Error::corrupt(format!(
        "the record belongs to an instantly altered table (info bits {:#x}, status {}), but the \
         definition has no instant columns",
        record.info_bits(),
        record.status()
    ))
}

#[cold]
fn header_overrun() -> Error {
    Error::corrupt("the record's header extends past the page")
}

#[cold]
fn data_overrun(end: usize, limit: usize) -> Error {
    Error::corrupt(format!("the record ends at {end}, past the heap top {limit}"))
}
