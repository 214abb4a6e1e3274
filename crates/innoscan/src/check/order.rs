//! The order of keys, on pages and from page to page.
//!
//! Only columns whose stored bytes sort as their values do are compared: integers, decimals,
//! temporals, bits, enumerations, binary strings, addresses. Text sorts by collation, floating
//! point numbers by value; a key is compared up to the first such column.
//!
//! On a page whole keys are compared. From page to page the first [`IMAGE_BYTES`] of each leaf's
//! first and last key are, since both leaves are seldom at hand at once: 36 bytes are kept of each
//! leaf. Where these tie, nothing is said.

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::IndexPage;
use innoscan_format::record::Record;
use innoscan_format::schema::{IndexDef, IndexKind, IndexSource, TableDef};
use innoscan_format::tree::node_pointer;
use innoscan_format::types::{ColumnType, TemporalFormat};
use innoscan_format::{IndexId, PageNo, bytes};

use super::report::{Area, Report};
use super::trees::Trees;

/// Bytes of a key kept from page to page.
const IMAGE_BYTES: usize = 16;

/// A table whose records can be understood.
#[derive(Clone, Copy, Debug)]
pub struct Known<'t> {
    /// Its definition.
    pub def: &'t TableDef,
    /// The fields of its clustered index.
    pub layout: &'t Layout,
    /// That index.
    pub index: IndexId,
}

/// The start of a key, such that images sort as keys do.
type Image = [u8; IMAGE_BYTES];

/// A leaf's first and last key.
struct Ends {
    page: PageNo,
    first: Image,
    last: Image,
}

/// The keys of the clustered index, as far as they can be compared.
pub(super) struct Orders<'t> {
    known: Option<Known<'t>>,
    parts: Vec<Part>,
    key_columns: usize,
    /// Images of complete keys within [`IMAGE_BYTES`]: equal ones are equal keys.
    exact: bool,
    fields: Fields,
    ends: Vec<Ends>,
    separators: Vec<(PageNo, Image)>,
}

/// A comparable column of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Its place among the layout's columns; `None` for `DB_ROW_ID`.
    place: Option<usize>,
    /// Its bytes, when fixed.
    len: Option<usize>,
    descending: bool,
}

impl<'t> Orders<'t> {
    pub fn new(known: Option<Known<'t>>) -> Orders<'t> {
        let (parts, key_columns) = known.as_ref().map_or((Vec::new(), 0), comparable_parts);
        let len: Option<usize> = parts.iter().map(|part| part.len).sum();
        Orders {
            known,
            exact: parts.len() == key_columns && len.is_some_and(|len| len <= IMAGE_BYTES),
            parts,
            key_columns,
            fields: Fields::default(),
            ends: Vec::new(),
            separators: Vec::new(),
        }
    }

    /// Takes in a sound page of a B-tree.
    pub fn add(&mut self, page: &IndexPage<'_>, trees: &mut Trees, report: &mut Report) {
        let Some(known) = self.known else { return };
        if known.index != page.index_id() {
            return;
        }
        let added = if page.is_leaf() {
            self.add_leaf(page, known.layout, report)
        } else {
            self.add_branch(page, known.layout, trees, report)
        };
        if let Err(error) = added {
            report.add(Area::Records, Some(page.page_no()), error.to_string());
        }
    }

    fn add_leaf(
        &mut self,
        page: &IndexPage<'_>,
        layout: &Layout,
        report: &mut Report,
    ) -> innoscan_format::Result<()> {
        let mut fields = std::mem::take(&mut self.fields);
        let (mut key, mut before) = (Vec::new(), Vec::new());
        let mut first: Option<Image> = None;
        for record in page.records() {
            let record = record?;
            if record.is_metadata() {
                continue;
            }
            let row = layout.locate(&record, &mut fields)?;
            key.clear();
            self.key_of_row(&record, &row, &mut key)?;
            match first {
                None => first = Some(image(&key)),
                Some(_) => self.compare(&before, &key, page.page_no(), record.heap_no(), report),
            }
            std::mem::swap(&mut key, &mut before);
        }
        self.fields = fields;
        if let Some(first) = first {
            self.ends.push(Ends { page: page.page_no(), first, last: image(&before) });
        }
        Ok(())
    }

    fn add_branch(
        &mut self,
        page: &IndexPage<'_>,
        layout: &Layout,
        trees: &mut Trees,
        report: &mut Report,
    ) -> innoscan_format::Result<()> {
        let mut children = Vec::with_capacity(usize::from(page.n_recs()));
        let (mut key, mut before) = (Vec::new(), Vec::new());
        let mut has_before = false;
        for (place, record) in page.records().enumerate() {
            let record = record?;
            let pointer = node_pointer(page, layout, &record, place)
                .map_err(|error| record.locate_error(error))?;
            children.push(pointer.child);
            if record.is_min_rec() {
                continue;
            }
            key.clear();
            self.key_of_pointer(pointer.key, &mut key);
            if has_before {
                self.compare(&before, &key, page.page_no(), record.heap_no(), report);
            }
            if page.level() == 1 {
                self.separators.push((pointer.child, image(&key)));
            }
            has_before = true;
            std::mem::swap(&mut key, &mut before);
        }
        trees.add_children(page, &children, report);
        Ok(())
    }

    fn compare(&self, before: &[u8], key: &[u8], page: PageNo, heap_no: u16, report: &mut Report) {
        let all_compared = self.parts.len() == self.key_columns
            && self.parts.iter().all(|part| part.len.is_some());
        if before > key {
            let what = format!("the key of record heap_no {heap_no} is less than the one before");
            report.add(Area::Order, Some(page), what);
        } else if before == key && all_compared {
            let what = format!("record heap_no {heap_no} has the same key as the one before");
            report.add(Area::Order, Some(page), what);
        }
    }

    /// Appends the comparable start of a row's key, made such that bytes sort as keys.
    fn key_of_row(
        &self,
        record: &Record<'_>,
        row: &Row<'_, '_>,
        key: &mut Vec<u8>,
    ) -> innoscan_format::Result<()> {
        for part in &self.parts {
            let data = match (part.place, part.len) {
                (Some(place), _) => match row.get(place)? {
                    Located::Inline(data) => data,
                    _ => break,
                },
                // DB_ROW_ID, a key by itself, begins the record.
                (None, Some(len)) => bytes::slice(record.page(), record.origin(), len)?,
                (None, None) => break,
            };
            push_part(part, data, key);
        }
        Ok(())
    }

    /// The same of a node pointer's key, as far as its fields are of fixed length.
    fn key_of_pointer(&self, pointer: &[u8], key: &mut Vec<u8>) {
        let mut rest = pointer;
        for part in &self.parts {
            let Some((data, behind)) = part.len.and_then(|len| rest.split_at_checked(len)) else {
                break;
            };
            push_part(part, data, key);
            rest = behind;
        }
    }

    /// Compares leaf with leaf and leaf with parent, when all were seen.
    pub fn finish(&mut self, trees: &mut Trees, report: &mut Report) {
        let Some(known) = &self.known else { return };
        let name = clustered_index(known).map_or("GEN_CLUST_INDEX", |index| index.name.as_str());
        trees.set_order_compared(known.index, Some(name), (self.parts.len(), self.key_columns));
        let ends_of = |page: PageNo| {
            let place = self.ends.binary_search_by_key(&page, |ends| ends.page).ok()?;
            self.ends.get(place)
        };
        for ends in &self.ends {
            let Some(next) = trees.next(ends.page).and_then(ends_of) else { continue };
            if ends.last > next.first || (self.exact && ends.last == next.first) {
                let what = format!("its last key is not less than the first of page {}", next.page);
                report.add(Area::Order, Some(ends.page), what);
            }
        }
        for (child, separator) in &self.separators {
            let Some(ends) = ends_of(*child) else { continue };
            if *separator > ends.first {
                let what = "its first key is less than its parent says";
                report.add(Area::Order, Some(*child), what);
            }
        }
    }
}

/// The first bytes of a key, zeroes behind a shorter one.
fn image(key: &[u8]) -> Image {
    let mut image = [0; IMAGE_BYTES];
    for (to, from) in image.iter_mut().zip(key) {
        *to = *from;
    }
    image
}

/// Appends a column such that what follows cannot change how two keys compare.
fn push_part(part: &Part, data: &[u8], key: &mut Vec<u8>) {
    let start = key.len();
    if part.len.is_some() {
        key.extend_from_slice(data);
    } else {
        // An end that sorts before any byte: 00 00, and 00 FF for a zero.
        for &byte in data {
            key.push(byte);
            if byte == 0 {
                key.push(0xFF);
            }
        }
        key.extend([0, 0]);
    }
    if part.descending {
        for byte in key.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
}

/// The columns at the key's start that can be compared, and how many the key has.
fn comparable_parts(known: &Known<'_>) -> (Vec<Part>, usize) {
    let index = clustered_index(known);
    let columns: Vec<usize> = known.layout.columns().collect();
    let mut parts = Vec::new();
    let all = known.layout.key_parts().len();
    for (nth, (place, len)) in known.layout.key_parts().enumerate() {
        let column = place.and_then(|place| columns.get(place));
        let column = column.and_then(|&column| known.def.columns.get(column));
        let comparable = match column {
            Some(column) => sorts_as_bytes(&column.ty),
            None => index.is_none() && all == 1,
        };
        if !comparable {
            break;
        }
        let part = index.and_then(|index| index.parts.get(nth));
        parts.push(Part { place, len, descending: part.is_some_and(|part| part.descending) });
    }
    (parts, all)
}

/// The definition of the clustered index: the one whose columns the layout's key has.
fn clustered_index<'t>(known: &Known<'t>) -> Option<&'t IndexDef> {
    let columns: Vec<usize> = known.layout.columns().collect();
    let key: Vec<Option<usize>> = known
        .layout
        .key_parts()
        .map(|(place, _)| place.and_then(|place| columns.get(place).copied()))
        .collect();
    let is_clustered = |index: &&IndexDef| {
        let parts = index.parts.iter().map(|part| match part.source {
            IndexSource::Column(column) if part.prefix_chars.is_none() => Some(column),
            _ => None,
        });
        index.kind == IndexKind::Primary
            || (index.kind == IndexKind::Unique && parts.eq(key.iter().copied()))
    };
    known.def.indexes.iter().find(is_clustered)
}

/// Whether the stored bytes of a type sort as its values (`cmp_data`, rem0cmp.cc).
fn sorts_as_bytes(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::Int { .. }
        | ColumnType::Decimal { .. }
        | ColumnType::Bit { .. }
        | ColumnType::Year { .. }
        | ColumnType::Date
        | ColumnType::Enum { .. }
        | ColumnType::Set { .. }
        | ColumnType::Binary { .. }
        | ColumnType::VarBinary { .. }
        | ColumnType::Uuid
        | ColumnType::Inet4
        | ColumnType::Inet6 => true,
        ColumnType::Time(temporal)
        | ColumnType::DateTime(temporal)
        | ColumnType::Timestamp(temporal) => temporal.format != TemporalFormat::OldHires,
        _ => false,
    }
}
