//! Persistent counters of MySQL 8's tables, stored in `mysql.innodb_dynamic_metadata`, a table of
//! `mysql.ibd`: values that change between two DDL statements and must survive a restart.
//!
//! A row is (table id, version, metadata); the metadata is a list of tagged values
//! (`dict0dict.cc, CorruptedIndexPersister, AutoIncPersister, MySQL 8.0`).

use super::{
    ColumnDef, IndexDef, IndexKind, IndexPart, IndexSource, ServerVersion, TableDef, TableOptions,
};
use crate::bytes::{u8_at, u16_at, u24_at, u32_at};
use crate::charset::CollationId;
use crate::types::{ColumnType, IntWidth};
use crate::{Error, IndexId, PageNo, Result};

/// The index id of the table's clustered index (`dict_sys_t::s_dynamic_meta_index_id`).
pub const INDEX: IndexId = IndexId(2);
/// The root page in `mysql.ibd`: the second root created at the server's installation
/// (`DDTableBuffer::open`).
pub const ROOT: PageNo = PageNo(5);

/// `PM_INDEX_CORRUPTED`: a count, and 12 bytes for each index.
const INDEX_CORRUPTED: u8 = 1;
/// `PM_TABLE_AUTO_INC`: the last value assigned.
const TABLE_AUTO_INC: u8 = 2;

/// Returns the definition of `mysql.innodb_dynamic_metadata`, for compiling its layout.
pub fn def() -> TableDef {
    let options = TableOptions::new("InnoDB", CollationId::BINARY);
    let server = ServerVersion::from_number(80_012);
    let mut def = TableDef::new("mysql", "innodb_dynamic_metadata", server, options);
    let number = ColumnType::Int {
        width: IntWidth::Eight,
        unsigned: true,
        zerofill: false,
        display_width: None,
    };
    let metadata = ColumnType::Blob { length_bytes: 2 };
    let columns = [("table_id", number.clone()), ("version", number), ("metadata", metadata)];
    for (name, ty) in columns {
        def.columns.push(ColumnDef { nullable: false, ..ColumnDef::new(name, ty) });
    }
    let key = IndexPart { source: IndexSource::Column(0), prefix_chars: None, descending: false };
    def.indexes.push(IndexDef::new("PRIMARY", IndexKind::Primary, vec![key]));
    def
}

/// Returns the last `AUTO_INCREMENT` value from a row's metadata.
pub fn last_auto_increment(metadata: &[u8]) -> Result<Option<u64>> {
    let mut at = 0;
    while at < metadata.len() {
        let tag = u8_at(metadata, at)?;
        at += 1;
        match tag {
            INDEX_CORRUPTED => at += 1 + 12 * usize::from(u8_at(metadata, at)?),
            TABLE_AUTO_INC => return much_compressed(metadata, at).map(Some),
            _ => return Err(Error::corrupt(format!("metadata of an unknown kind, {tag}"))),
        }
    }
    Ok(None)
}

/// Decodes a 64-bit number (`mach_parse_u64_much_compressed`, `mach0data.cc, MySQL 8.0`).
fn much_compressed(bytes: &[u8], at: usize) -> Result<u64> {
    if u8_at(bytes, at)? != 0xff {
        return compressed(bytes, at).map(|(low, _)| u64::from(low));
    }
    let (high, high_len) = compressed(bytes, at + 1)?;
    let (low, _) = compressed(bytes, at + 1 + high_len)?;
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// Decodes a 32-bit number and returns its length in bytes (`mach_parse_compressed`).
fn compressed(bytes: &[u8], at: usize) -> Result<(u32, usize)> {
    let first = u8_at(bytes, at)?;
    Ok(match first {
        0..0x80 => (u32::from(first), 1),
        0x80..0xc0 => (u32::from(u16_at(bytes, at)?) & 0x3fff, 2),
        0xc0..0xe0 => (u24_at(bytes, at)? & 0x1f_ffff, 3),
        0xe0..0xf0 => (u32_at(bytes, at)? & 0x0fff_ffff, 4),
        0xf0..0xf8 => (u32_at(bytes, at + 1)?, 5),
        0xf8..0xfc => (u32::from(u16_at(bytes, at)?) & 0x3ff | 0xffff_fc00, 2),
        0xfc..0xfe => (u24_at(bytes, at)? & 0x1_ffff | 0xfffe_0000, 3),
        0xfe => (u24_at(bytes, at + 1)? | 0xff00_0000, 4),
        0xff => return Err(Error::corrupt("a counter of more than 64 bits")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_all_lengths() {
        let last = |bytes: &[u8]| last_auto_increment(bytes).unwrap();
        assert_eq!(last(&[]), None);
        assert_eq!(last(&[2, 5]), Some(5));
        assert_eq!(last(&[2, 0x81, 0x2c]), Some(300));
        assert_eq!(last(&[2, 0xf0, 0xfe, 0, 0, 1]), Some(0xfe00_0001));
        assert_eq!(last(&[2, 0xff, 0xfb, 0xff, 0xfb, 0xf0]), Some(u64::MAX - 15));
        let mut after_corruption = vec![1, 1];
        after_corruption.extend([0; 12]);
        after_corruption.extend([2, 7]);
        assert_eq!(last(&after_corruption), Some(7));
        assert!(last_auto_increment(&[9]).is_err());
        assert!(last_auto_increment(&[2, 0xff]).is_err());
    }
}
