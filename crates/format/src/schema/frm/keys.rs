//! Indexes of a `.frm`: a header, each index with its parts, then names, then comments.
//!
//! ```text
//! header  number of indexes, of parts, length of the names; 6 bytes
//! index   flags (2, "unique" inverted), length (2), parts, algorithm, block size (2)
//! part    column from 1 (2), place in the row (2), flags, type (2), length (2)
//! ```

use super::columns::RawColumn;
use super::cursor::{Cursor, text};
use super::defaults::row_len;
use super::image::Image;
use super::names::parse_names;
use super::options;
use crate::schema::{IndexDef, IndexKind, IndexPart, IndexSource, TableDef};
use crate::types::ColumnType;
use crate::{Error, Result};

/// `HA_...` (include/my_base.h).
const FLAG_NOT_UNIQUE: u16 = 1;
const FLAG_FULLTEXT: u16 = 128;
const FLAG_SPATIAL: u16 = 1024;
const FLAG_HAS_COMMENT: u16 = 4096;
const FLAG_HAS_PARSER: u16 = 16384;
const FLAG_HAS_BLOCK_SIZE: u16 = 32768;
const PART_DESCENDING: u8 = 128;
/// `FIELD_NR_MASK`
const COLUMN_MASK: u16 = 16383;

/// `enum ha_key_alg` (include/my_base.h, MariaDB 11.8).
const ALGORITHM_BTREE: u8 = 1;
const ALGORITHM_RTREE: u8 = 2;
const ALGORITHM_HASH: u8 = 3;
const ALGORITHM_LONG_HASH: u8 = 5;
const ALGORITHM_VECTOR: u8 = 7;

/// An index as described in the file.
pub(super) struct RawKey {
    name: String,
    flags: u16,
    algorithm: u8,
    block_size: u16,
    parts: Vec<RawPart>,
    comment: String,
}

struct RawPart {
    column: u16,
    flags: u8,
    length: u16,
}

impl RawKey {
    pub(super) fn parse_all(image: &Image) -> Result<Vec<RawKey>> {
        let mut cursor = Cursor::new(image.keys);
        let (low, high) = (cursor.u8()?, cursor.u8()?);
        cursor.take(4)?;
        let n_keys = match low & 0x80 {
            0 => u16::from(low),
            _ => u16::from(high) << 7 | u16::from(low & 0x7f),
        };
        let mut keys = Vec::new();
        for _ in 0..n_keys {
            keys.push(RawKey::parse(&mut cursor)?);
        }
        let names_len = cursor.rest().iter().position(|byte| *byte == 0).unwrap_or(0);
        let names = cursor.take(names_len + 1)?;
        if n_keys > 0 {
            let names = parse_names(names)?;
            if names.len() != keys.len() {
                return Err(Error::corrupt(
                    "the numbers of names and indexes in the .frm file differ",
                ));
            }
            for (key, name) in keys.iter_mut().zip(names) {
                key.name = name;
            }
        }
        for key in keys.iter_mut().filter(|key| key.flags & FLAG_HAS_COMMENT != 0) {
            key.comment = text(cursor.counted()?);
        }
        Ok(keys)
    }

    fn parse(cursor: &mut Cursor) -> Result<RawKey> {
        let flags = cursor.u16()?;
        cursor.take(2)?;
        let n_parts = cursor.u8()?;
        let algorithm = cursor.u8()?;
        let block_size = cursor.u16()?;
        let mut parts = Vec::new();
        for _ in 0..n_parts {
            let column = cursor.u16()? & COLUMN_MASK;
            cursor.take(2)?;
            let flags = cursor.u8()?;
            cursor.take(2)?;
            parts.push(RawPart { column, flags, length: cursor.u16()? });
        }
        Ok(RawKey {
            name: String::new(),
            flags,
            algorithm,
            block_size,
            parts,
            comment: String::new(),
        })
    }

    /// Returns whether the index is full-text with a parser, whose name is in the extra segment.
    pub(super) fn has_parser(&self) -> bool {
        self.flags & FLAG_HAS_PARSER != 0
    }

    /// Returns whether the index is unique by a hash in a hidden column.
    pub(super) fn is_by_hash(&self) -> bool {
        self.algorithm == ALGORITHM_LONG_HASH
    }

    fn kind(&self, place: usize) -> IndexKind {
        // A unique index by hash is marked as not unique, since it is not unique to the engine.
        if place == 0 && self.name == "PRIMARY" {
            IndexKind::Primary
        } else if self.flags & FLAG_NOT_UNIQUE == 0 || self.is_by_hash() {
            IndexKind::Unique
        } else if self.flags & FLAG_FULLTEXT != 0 {
            IndexKind::FullText
        } else if self.flags & FLAG_SPATIAL != 0 {
            IndexKind::Spatial
        } else if self.algorithm == ALGORITHM_VECTOR {
            IndexKind::Vector
        } else {
            IndexKind::Key
        }
    }

    fn using(&self) -> Option<String> {
        let using = match self.algorithm {
            ALGORITHM_BTREE => "BTREE",
            ALGORITHM_HASH | ALGORITHM_LONG_HASH => "HASH",
            ALGORITHM_RTREE if self.flags & FLAG_SPATIAL == 0 => "RTREE",
            _ => return None,
        };
        Some(using.to_owned())
    }
}

/// Creates the indexes, in the order in which they print. Parts on hidden columns are included:
/// InnoDB has them.
pub(super) fn define(
    image: &Image,
    keys: &[RawKey],
    parsers: &[String],
    raw: &[RawColumn],
    def: &TableDef,
) -> Result<Vec<IndexDef>> {
    let mut parsers = parsers.iter();
    let engine_options = image.extra2.options_of_keys(raw.len(), keys.len())?;
    let mut engine_options = engine_options.into_iter();
    let mut indexes = Vec::new();
    for (place, key) in keys.iter().enumerate() {
        let kind = key.kind(place);
        let without_overlaps =
            u16::try_from(place).is_ok_and(|place| image.extra2.without_overlaps.contains(&place));
        let n_parts = key.parts.len().saturating_sub(if without_overlaps { 2 } else { 0 });
        let parts: Result<Vec<IndexPart>> =
            key.parts.iter().take(n_parts).map(|part| part.define(kind, raw, def)).collect();
        let mut index = IndexDef::new(key.name.clone(), kind, parts?);
        index.using = key.using();
        if key.flags & FLAG_HAS_BLOCK_SIZE != 0 && key.block_size != image.key_block_size {
            index.key_block_size = u32::from(key.block_size);
        }
        if key.has_parser() {
            index.parser = parsers.next().cloned();
        }
        index.comment = key.comment.clone();
        index.invisible = image.extra2.index_flags.get(place).is_some_and(|flags| flags & 1 != 0);
        index.without_overlaps = without_overlaps;
        if let Some(options) = engine_options.next() {
            index.attributes = options::for_index(kind, &options, image.shown_by);
        }
        indexes.push(index);
    }
    Ok(indexes)
}

impl RawPart {
    fn define(&self, kind: IndexKind, raw: &[RawColumn], def: &TableDef) -> Result<IndexPart> {
        let no_column = || Error::corrupt("an index in the .frm file refers to no column");
        let place = usize::from(self.column).checked_sub(1).ok_or_else(no_column)?;
        let column = def.columns.get(place).ok_or_else(no_column)?;
        let raw_column = raw.get(place).ok_or_else(no_column)?;
        let whole = matches!(kind, IndexKind::FullText | IndexKind::Spatial)
            || usize::from(self.length) == key_len(&column.ty, raw_column.length);
        let prefix_chars = match whole {
            true => None,
            false => Some(u32::from(self.length) / char_bytes(&column.ty)?),
        };
        Ok(IndexPart {
            source: IndexSource::Column(place),
            prefix_chars,
            descending: self.flags & PART_DESCENDING != 0,
        })
    }
}

/// Returns the bytes of a key on the whole column (`Field::key_length()`).
fn key_len(ty: &ColumnType, length: u16) -> usize {
    match ty {
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } | ColumnType::Vector { .. } => {
            usize::from(length)
        }
        ColumnType::Geometry(_) => 4,
        _ => row_len(ty, length).unwrap_or(0),
    }
}

/// Returns the maximum bytes of a character of the column.
fn char_bytes(ty: &ColumnType) -> Result<u32> {
    Ok(match ty {
        ColumnType::Char { collation, .. }
        | ColumnType::VarChar { collation, .. }
        | ColumnType::Text { collation, .. } => collation.charset()?.max_len() as u32,
        _ => 1,
    }
    .max(1))
}
