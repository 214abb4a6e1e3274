//! Order of a clustered index's keys: byte images that compare like the keys.
//!
//! A key's *image* is what `cmp_data` (rem0cmp.cc) makes of its columns, one behind the other:
//! images of one index compare, byte by byte, as its keys do, and the image of a key's first
//! columns is the beginning of the whole key's.
//!
//! | column | its image |
//! |---|---|
//! | integers, decimals, temporals, bits, enumerations, addresses, `BINARY` | its bytes |
//! | `FLOAT`, `DOUBLE` | big-endian, sign flipped, negative ones inverted |
//! | `VARBINARY`, `VARCHAR` of a `NO PAD` `_bin` collation, `CHAR` of `utf8mb4_0900_bin` | its bytes with `00 FF` for `00`, then `00 00` |
//! | `CHAR`, `VARCHAR` of a `PAD SPACE` `_bin` collation | before each byte how the rest compares with spaces (`01` less, `03` greater), `02` where nothing but spaces is left |
//! | `CHAR`, `VARCHAR` of other collations, with [`KeyOrder::with_collations`] | its sort key ([`Collator`]) |
//! | any other | none: it and the columns behind it cannot be compared |
//!
//! A descending column's image is inverted.

use crate::charset::Charset::{Binary, Utf8Mb3, Utf8Mb4};
use crate::charset::{CollationId, Collator};
use crate::layout::Layout;
use crate::locate::{Located, Row};
use crate::record::Record;
use crate::schema::{IndexDef, IndexKind, IndexSource, TableDef};
use crate::types::{ColumnType, TemporalFormat};
use crate::{Result, bytes};

/// The order of the keys of a clustered index; see the module's documentation.
#[derive(Clone, Debug)]
pub struct KeyOrder {
    parts: Vec<KeyPart>,
    key_columns: usize,
    name: String,
}

/// A column of the key that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// Index of the column in [`TableDef::columns`]; `None` for `DB_ROW_ID`.
    pub column: Option<usize>,
    /// Whether the order is descending.
    pub descending: bool,
    /// Index of the column among [`Layout::columns`].
    place: Option<usize>,
    form: Form,
}

/// The form of a column's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A fixed number of bytes, as stored.
    Bytes(usize),
    Float,
    Double,
    /// All bytes are significant, and the shorter value comes first.
    Ended,
    /// Compared as if the shorter value were padded with spaces.
    Padded,
    /// Like `Ended`, after removal of the padding spaces.
    Trimmed,
    /// A sort key; with `is_trimmed`, of the text without the padding spaces.
    Collated {
        collator: Collator,
        is_trimmed: bool,
    },
}

impl KeyOrder {
    /// Creates the order of a table's clustered index. Text has an image only where it compares by
    /// its bytes.
    pub fn of(def: &TableDef, layout: &Layout) -> KeyOrder {
        KeyOrder::by_forms(def, layout, form_of)
    }

    /// Creates the order of a table's clustered index, in which text of a collation with known
    /// weights has an image, too.
    pub fn with_collations(def: &TableDef, layout: &Layout) -> KeyOrder {
        KeyOrder::by_forms(def, layout, |ty, len| form_of(ty, len).or_else(|| collated_form(ty)))
    }

    fn by_forms(
        def: &TableDef,
        layout: &Layout,
        form_of: impl Fn(&ColumnType, Option<usize>) -> Option<Form>,
    ) -> KeyOrder {
        let index = clustered_index(def, layout);
        let columns: Vec<usize> = layout.columns().collect();
        let key_columns = layout.key_parts().len();
        let mut parts = Vec::new();
        for (nth, (place, len)) in layout.key_parts().enumerate() {
            let column = place.and_then(|place| columns.get(place).copied());
            let form = match column.and_then(|column| def.columns.get(column)) {
                Some(column) => form_of(&column.ty, len),
                // DB_ROW_ID, always the whole key, begins the record.
                None if index.is_none() && key_columns == 1 => len.map(Form::Bytes),
                None => None,
            };
            let Some(form) = form else { break };
            let part = index.and_then(|index| index.parts.get(nth));
            let descending = part.is_some_and(|part| part.descending);
            parts.push(KeyPart { column, descending, place, form });
        }
        let name = index.map_or("GEN_CLUST_INDEX", |index| index.name.as_str()).to_owned();
        KeyOrder { parts, key_columns, name }
    }

    /// Returns the index's name.
    pub fn index_name(&self) -> &str {
        &self.name
    }

    /// Returns the columns that can be compared: the first ones of the key.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Returns the number of columns in the key.
    pub fn key_columns(&self) -> usize {
        self.key_columns
    }

    /// Returns whether all columns of the key can be compared, so that equal images are equal keys.
    pub fn is_whole(&self) -> bool {
        self.parts.len() == self.key_columns
    }

    /// Returns the bytes of an image, if constant.
    pub fn image_bytes(&self) -> Option<usize> {
        self.parts.iter().map(|part| part.form.image_bytes()).sum()
    }

    /// Appends the image of a row's key.
    pub fn append_row(
        &self,
        record: &Record<'_>,
        row: &Row<'_, '_>,
        image: &mut Vec<u8>,
    ) -> Result<()> {
        for part in &self.parts {
            let stored = match (part.place, part.form) {
                (Some(place), _) => match row.get(place)? {
                    Located::Inline(stored) | Located::Default(stored) => stored,
                    Located::Null | Located::External { .. } => break,
                },
                (None, Form::Bytes(len)) => bytes::slice(record.page(), record.origin(), len)?,
                (None, _) => break,
            };
            part.append(stored, image)?;
        }
        Ok(())
    }

    /// Appends the image of a node pointer's key.
    pub fn append_pointer(
        &self,
        record: &Record<'_>,
        layout: &Layout,
        image: &mut Vec<u8>,
    ) -> Result<()> {
        let mut parts = self.parts.iter();
        layout.for_each_key_field(record, |start, len| {
            if let Some(part) = parts.next() {
                part.append(bytes::slice(record.page(), record.origin() + start, len)?, image)?;
            }
            Ok(())
        })
    }
}

impl KeyPart {
    /// Appends the image of a value typed by the user, given in the form that a record would store.
    ///
    /// # Errors
    /// For text that is not valid in its charset.
    pub fn append_typed(&self, value: &[u8], image: &mut Vec<u8>) -> Result<()> {
        // Trailing spaces of a typed value are significant.
        let form = match self.form {
            Form::Trimmed => Form::Ended,
            Form::Collated { collator, .. } => Form::Collated { collator, is_trimmed: false },
            form => form,
        };
        KeyPart { form, ..*self }.append(value, image)
    }

    fn append(&self, stored: &[u8], image: &mut Vec<u8>) -> Result<()> {
        let start = image.len();
        match self.form {
            Form::Bytes(_) => image.extend_from_slice(stored),
            Form::Float => append_float(stored, image),
            Form::Double => append_double(stored, image),
            Form::Ended => append_ended(stored, image),
            Form::Trimmed => append_ended(without_spaces(stored), image),
            Form::Padded => append_padded(stored, image),
            Form::Collated { collator, is_trimmed } => {
                let text = if is_trimmed { collator.charset().trim_end(stored) } else { stored };
                collator.append_sort_key(text, image)?;
            }
        }
        if self.descending {
            image.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }
}

impl Form {
    fn image_bytes(self) -> Option<usize> {
        match self {
            Form::Bytes(len) => Some(len),
            Form::Float => Some(4),
            Form::Double => Some(8),
            Form::Ended | Form::Padded | Form::Trimmed | Form::Collated { .. } => None,
        }
    }
}

fn append_float(stored: &[u8], image: &mut Vec<u8>) {
    let Ok(stored) = bytes::array::<4>(stored, 0) else { return };
    // Adding 0 turns a negative zero into the positive one, which it equals.
    let bits = (f32::from_le_bytes(stored) + 0.0).to_bits();
    let sign = 1 << 31;
    image.extend(if bits & sign == 0 { bits | sign } else { !bits }.to_be_bytes());
}

fn append_double(stored: &[u8], image: &mut Vec<u8>) {
    let Ok(stored) = bytes::array::<8>(stored, 0) else { return };
    let bits = (f64::from_le_bytes(stored) + 0.0).to_bits();
    let sign = 1 << 63;
    image.extend(if bits & sign == 0 { bits | sign } else { !bits }.to_be_bytes());
}

fn append_ended(stored: &[u8], image: &mut Vec<u8>) {
    for &byte in stored {
        image.push(byte);
        if byte == 0 {
            image.push(0xFF);
        }
    }
    image.extend([0, 0]);
}

fn append_padded(stored: &[u8], image: &mut Vec<u8>) {
    let mut rest = without_spaces(stored);
    while let Some((&byte, behind)) = rest.split_first() {
        let differs = rest.iter().copied().find(|byte| *byte != b' ').unwrap_or(b' ');
        image.extend([if differs < b' ' { 1 } else { 3 }, byte]);
        rest = behind;
    }
    image.push(2);
}

fn without_spaces(stored: &[u8]) -> &[u8] {
    let end = stored.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    stored.get(..end).unwrap_or_default()
}

/// Returns the definition of the clustered index: the one whose columns the layout's key has.
fn clustered_index<'d>(def: &'d TableDef, layout: &Layout) -> Option<&'d IndexDef> {
    let columns: Vec<usize> = layout.columns().collect();
    let key: Vec<Option<usize>> = layout
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
    def.indexes.iter().find(is_clustered)
}

/// Returns the form of a type's image, if it has one; `len`: the bytes of its field, if fixed.
fn form_of(ty: &ColumnType, len: Option<usize>) -> Option<Form> {
    match ty {
        ColumnType::Int { .. }
        | ColumnType::Decimal { .. }
        | ColumnType::Bit { .. }
        | ColumnType::Year { .. }
        | ColumnType::Date
        | ColumnType::Enum { .. }
        | ColumnType::Set { .. }
        | ColumnType::Binary { .. }
        | ColumnType::Uuid
        | ColumnType::Inet4
        | ColumnType::Inet6 => Some(len.map_or(Form::Ended, Form::Bytes)),
        ColumnType::Time(temporal)
        | ColumnType::DateTime(temporal)
        | ColumnType::Timestamp(temporal) => {
            let is_ordered = temporal.format != TemporalFormat::OldHires;
            len.filter(|_| is_ordered).map(Form::Bytes)
        }
        ColumnType::Float(_) => Some(Form::Float),
        ColumnType::Double(_) => Some(Form::Double),
        ColumnType::VarBinary { .. } => Some(Form::Ended),
        &ColumnType::Char { collation, .. } => text_form(collation, true),
        &ColumnType::VarChar { collation, .. } => text_form(collation, false),
        _ => None,
    }
}

/// Returns the form of text in `_bin` collations of charsets whose bytes compare like their
/// characters.
fn text_form(collation: CollationId, is_char: bool) -> Option<Form> {
    let (charset, suffix) = collation.parts()?;
    if charset == Binary {
        return Some(Form::Ended);
    }
    let is_ordered = charset.max_len() == 1 || matches!(charset, Utf8Mb3 | Utf8Mb4);
    match (&*suffix, is_char) {
        _ if !is_ordered => None,
        ("_bin", _) => Some(Form::Padded),
        ("_0900_bin" | "_nopad_bin", false) => Some(Form::Ended),
        // MySQL removes the padding of a CHAR before it compares.
        ("_0900_bin", true) => Some(Form::Trimmed),
        // MariaDB orders a CHAR of `_nopad_bin` differently than it compares it.
        _ => None,
    }
}

/// Returns the form of text whose collation has known weights.
fn collated_form(ty: &ColumnType) -> Option<Form> {
    let (collation, is_char) = match *ty {
        ColumnType::Char { collation, .. } => (collation, true),
        ColumnType::VarChar { collation, .. } => (collation, false),
        _ => return None,
    };
    let (_, suffix) = collation.parts()?;
    // As with `_nopad_bin`.
    let is_refused = suffix.ends_with("_bin") || is_char && suffix.contains("_nopad_");
    let collator = Collator::of(collation).filter(|_| !is_refused)?;
    Some(Form::Collated { collator, is_trimmed: is_char && !collator.pads() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(form: Form, stored: &[u8]) -> Vec<u8> {
        let part = KeyPart { column: None, descending: false, place: None, form };
        let mut image = Vec::new();
        part.append(stored, &mut image).unwrap();
        image
    }

    /// Asserts that each image is less than the next.
    #[track_caller]
    fn ascend(form: Form, stored: &[&[u8]]) {
        for pair in stored.windows(2) {
            assert!(image(form, pair[0]) < image(form, pair[1]), "{form:?} {pair:02x?}");
        }
    }

    #[test]
    fn images_compare_as_values() {
        ascend(Form::Ended, &[b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0", b"a ", b"aa", b"b"]);
        ascend(Form::Padded, &[b"a\0", b"a\t", b"a \t", b"a", b"a  a", b"a a", b"a!", b"aa", b"b"]);
        ascend(Form::Padded, &[b"\x1f", b"", b"!"]);
        assert_eq!(image(Form::Padded, b"a  "), image(Form::Padded, b"a"));
        assert_eq!(image(Form::Trimmed, b"a  "), image(Form::Trimmed, b"a"));
        let doubles = [f64::MIN, -1.5, -1.0, -1e-300, 0.0, 1e-300, 1.0, 1.5, f64::MAX];
        let doubles = doubles.map(f64::to_le_bytes);
        ascend(Form::Double, &doubles.each_ref().map(|bytes| &bytes[..]));
        assert_eq!(image(Form::Double, &(-0.0f64).to_le_bytes()), image(Form::Double, &[0; 8]));
        let floats = [f32::MIN, -1.0, 0.0, 1.0, f32::MAX].map(f32::to_le_bytes);
        ascend(Form::Float, &floats.each_ref().map(|bytes| &bytes[..]));
    }
}
