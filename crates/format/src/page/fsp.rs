//! The file's header, on page 0: tablespace id, page size, flags, lists of extents.
//!
//! ```text
//!  38 tablespace       46 size in pages      50 free limit         54 flags
//!  58 used pages in FREE_FRAG extents        62 FREE list          78 FREE_FRAG list
//!  94 FULL_FRAG list  110 next segment id   118 full INODE pages  134 INODE pages with room
//! 150 extent descriptors; then 115 bytes of encryption info (`encryption/`); then MySQL 8: 4 SDI version, 4 root
//! ```
//!
//! The flags have four dialects (`fsp0types.h`, `fsp0fsp.h`, `fil0fil.h` of MariaDB 10.11 and
//! `fsp0types.h` of MySQL 8.0):
//!
//! ```text
//! bit          MySQL 5.5-9, MariaDB        MariaDB 10.1.0-20      MariaDB 10.5+ full_crc32
//! 0            not REDUNDANT/COMPACT       the same               0-3 page size, 3..=7
//! 1-4          compressed page size, 0..=5 the same               4 marker, always set
//! 5            DYNAMIC or COMPRESSED       the same               5-7 page compression
//! 6-9          page size, 0 or 3,4,6,7     6 page compression
//! 10           DATA DIRECTORY              7-10 its level
//! 11           general tablespace          11-12 atomic writes
//! 12           temporary
//! 13           encrypted                   13-16 page size
//! 14           SDI
//! 16           (MariaDB) page compression  17 DATA DIRECTORY
//! ```

use super::encryption::SpaceEncryption;
use super::list::ListBase;
use super::{DATA, PageCompression, PageContext, PageFormat, PageKind, Scratch, open};
use crate::server::{RowFormat, ServerVersion};
use crate::{Error, PageNo, PageSize, Result, SpaceId, bytes};

/// Offset of the extent descriptors on their page.
pub(super) const EXTENTS: usize = DATA + 112;

/// Returns the bytes of an extent descriptor.
pub(super) fn extent_len(page_size: PageSize) -> usize {
    24 + (page_size.extent_pages() as usize * 2).div_ceil(8)
}

/// Bytes that MySQL 8 reserves for encryption info after the extent descriptors (`os0enc.h`).
const ENCRYPTION_INFO_LEN: usize = 115;

/// The dialect of the tablespace flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL of any version, MariaDB before 10.5, and MariaDB without `full_crc32`.
    Common,
    /// MariaDB 10.1.0 to 10.1.20, whose flags were shifted by some bits.
    MariaDb101,
    /// MariaDB 10.5+ with `innodb_checksum_algorithm=full_crc32`, the default.
    FullCrc32,
}

/// Tablespace flags, decoded (`FSP_SPACE_FLAGS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FspFlags {
    /// The flags as stored on the page.
    pub raw: u32,
    /// The dialect in which the flags were read.
    pub dialect: Dialect,
    /// Bytes of an uncompressed page.
    pub page_size: PageSize,
    /// Bytes of a page in a ROW_FORMAT=COMPRESSED file.
    pub zip_size_bytes: Option<u32>,
    /// Whether the file's table is DYNAMIC or COMPRESSED rather than REDUNDANT or COMPACT; `None`
    /// where the flags do not say (`full_crc32`).
    pub atomic_blobs: Option<bool>,
    /// Whether the table has a `DATA DIRECTORY`.
    pub data_dir: bool,
    /// Whether the file is a general tablespace, which many tables share.
    pub shared: bool,
    /// Whether the tablespace is for temporary tables.
    pub temporary: bool,
    /// Whether MySQL encrypted the file.
    pub encrypted: bool,
    /// Whether the file carries serialized dictionary information.
    pub sdi: bool,
    /// Whether the file has MariaDB's page compression. (MySQL's shows on the pages only.)
    pub page_compressed: bool,
}

impl FspFlags {
    /// Returns every reading of `raw` that a server could have written, the most likely first.
    pub fn candidates(raw: u32) -> Vec<FspFlags> {
        if raw & 0x10 != 0 {
            return FspFlags::full_crc32(raw).into_iter().collect();
        }
        FspFlags::common(raw).into_iter().chain(FspFlags::mariadb_101(raw)).collect()
    }

    fn full_crc32(raw: u32) -> Option<FspFlags> {
        let algorithm = raw >> 5;
        let page_size = page_size_of(raw & 15, true)?;
        (algorithm <= 6).then_some(FspFlags {
            page_compressed: algorithm != 0,
            ..FspFlags::plain(raw, Dialect::FullCrc32, page_size)
        })
    }

    fn common(raw: u32) -> Option<FspFlags> {
        let bit = |bit: u32| raw >> bit & 1 == 1;
        let page_size = page_size_of(raw >> 6 & 15, false)?;
        if raw >> 17 != 0 || bit(15) || !post_antelope_fits(raw) {
            return None;
        }
        Some(FspFlags {
            zip_size_bytes: zip_size_of(raw, page_size)?,
            atomic_blobs: Some(bit(5)),
            data_dir: bit(10),
            shared: bit(11),
            temporary: bit(12),
            encrypted: bit(13),
            sdi: bit(14),
            page_compressed: bit(16),
            ..FspFlags::plain(raw, Dialect::Common, page_size)
        })
    }

    fn mariadb_101(raw: u32) -> Option<FspFlags> {
        let compressed = raw >> 6 & 1 == 1;
        let level = raw >> 7 & 15;
        let atomic_writes = raw >> 11 & 3;
        let page_size = page_size_of(raw >> 13 & 15, false)?;
        let valid = raw >> 18 == 0
            && post_antelope_fits(raw)
            && compressed == (level != 0)
            && level <= 9
            && atomic_writes != 3;
        if !valid {
            return None;
        }
        Some(FspFlags {
            zip_size_bytes: zip_size_of(raw, page_size)?,
            atomic_blobs: Some(raw >> 5 & 1 == 1),
            data_dir: raw >> 17 & 1 == 1,
            page_compressed: compressed,
            ..FspFlags::plain(raw, Dialect::MariaDb101, page_size)
        })
    }

    fn plain(raw: u32, dialect: Dialect, page_size: PageSize) -> FspFlags {
        FspFlags {
            raw,
            dialect,
            page_size,
            zip_size_bytes: None,
            atomic_blobs: None,
            data_dir: false,
            shared: false,
            temporary: false,
            encrypted: false,
            sdi: false,
            page_compressed: false,
        }
    }

    /// Returns the format of the records, from the flags and from `compact_pages`: whether the
    /// pages are of the compact kind ([`super::IndexPage::is_compact`]). The flags of `full_crc32`
    /// do not distinguish COMPACT from DYNAMIC; their records have the same format.
    pub fn row_format(&self, compact_pages: bool) -> RowFormat {
        match (self.zip_size_bytes, compact_pages, self.atomic_blobs) {
            (Some(_), _, _) => RowFormat::Compressed,
            (None, false, _) => RowFormat::Redundant,
            (None, true, Some(false)) => RowFormat::Compact,
            (None, true, _) => RowFormat::Dynamic,
        }
    }
}

/// Returns whether the flags are consistent: bit 5 (DYNAMIC or COMPRESSED) requires bit 0.
fn post_antelope_fits(raw: u32) -> bool {
    raw & 0x21 != 0x20
}

/// Returns the page size for a 4-bit shift; 16 KiB is 0 in the old flags, 5 in the new ones.
fn page_size_of(shift: u32, full_crc32: bool) -> Option<PageSize> {
    match shift {
        0 if !full_crc32 => Some(PageSize::DEFAULT),
        5 if !full_crc32 => None,
        3..=7 => PageSize::new(512 << shift).ok(),
        _ => None,
    }
}

/// Returns the compressed page size. `None`: no server writes these flags. `Some(None)`: not
/// compressed.
fn zip_size_of(raw: u32, page_size: PageSize) -> Option<Option<u32>> {
    match raw >> 1 & 15 {
        0 => Some(None),
        shift if 512 << shift <= page_size.bytes().min(16384) && raw & 0x21 == 0x21 => {
            Some(Some(512 << shift))
        }
        _ => None,
    }
}

/// The header on a file's page 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceHeader {
    /// Tablespace id.
    pub space: SpaceId,
    /// Tablespace flags.
    pub flags: FspFlags,
    /// Pages in the file, as InnoDB counts them; the file may be longer, not shorter.
    pub size_pages: u32,
    /// The first page that was never initialised; none after it was.
    pub free_limit: PageNo,
    /// Used pages in the extents of `free_frag`.
    pub frag_n_used: u32,
    /// Extents with no used page.
    pub free: ListBase,
    /// Extents of single pages, some free.
    pub free_frag: ListBase,
    /// Extents of single pages, none free.
    pub full_frag: ListBase,
    /// The id of the next file segment.
    pub next_segment: u64,
    /// Pages of file segments without free entries.
    pub full_inodes: ListBase,
    /// Pages of file segments with free entries.
    pub free_inodes: ListBase,
    /// Root of the SDI B-tree.
    pub sdi_root: Option<PageNo>,
    /// By which key the other pages are encrypted, where some are.
    pub encryption: Option<SpaceEncryption>,
    /// The server that created the file, for MySQL 8 and later.
    pub server: Option<ServerVersion>,
}

impl SpaceHeader {
    /// The maximum number of bytes that [`SpaceHeader::parse`] needs.
    pub const MOST_BYTES: usize = PageSize::MAX.bytes() as usize;

    /// Reads the header from the beginning of a file: page 0, which contains its own size. Pass the
    /// first [`SpaceHeader::MOST_BYTES`], or the whole file where it is shorter.
    ///
    /// A file that is sound but not readable parses; see [`SpaceHeader::require_readable`].
    pub fn parse(first_bytes: &[u8]) -> Result<SpaceHeader> {
        let space = SpaceId(bytes::u32_at(first_bytes, DATA)?);
        let at_header = |error: Error| error.at_page(space, PageNo(0));
        let raw = bytes::u32_at(first_bytes, DATA + 16)?;
        let mut first_error = None;
        for flags in FspFlags::candidates(raw) {
            match SpaceHeader::parse_as(first_bytes, space, flags) {
                Ok(header) => return Ok(header),
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        Err(at_header(first_error.unwrap_or_else(|| {
            Error::corrupt(format!(
                "{raw:#x} are no tablespace flags any server writes: not an InnoDB data file, or \
                 page 0 is damaged"
            ))
        })))
    }

    fn parse_as(first_bytes: &[u8], space: SpaceId, flags: FspFlags) -> Result<SpaceHeader> {
        let len = flags.zip_size_bytes.unwrap_or(flags.page_size.bytes()) as usize;
        let page = first_bytes.get(..len).ok_or_else(|| {
            Error::corrupt(format!("the file is shorter than one page of {len} bytes"))
        })?;
        let context = PageContext::plain(format_of(flags, space, u32::MAX));
        let kind = open(page, &context, PageNo(0), &mut Scratch::default())?.kind();
        // Page 0 of a file from before MySQL 5.1.7 may carry any type.
        if kind == PageKind::Zeroes {
            return Err(Error::corrupt("page 0 is all zeroes"));
        }
        let encryption = SpaceEncryption::read(page, extents_end(page, flags))?;
        if flags.encrypted && encryption.is_none() {
            return Err(Error::corrupt("the file is encrypted, and page 0 names no key"));
        }
        let u32_at = |at: usize| bytes::u32_at(page, DATA + at);
        let list_at = |at: usize| ListBase::read(page, DATA + at);
        Ok(SpaceHeader {
            space,
            flags,
            size_pages: u32_at(8)?,
            free_limit: PageNo(u32_at(12)?),
            frag_n_used: u32_at(20)?,
            free: list_at(24)?,
            free_frag: list_at(40)?,
            full_frag: list_at(56)?,
            next_segment: bytes::u64_at(page, DATA + 72)?,
            full_inodes: list_at(80)?,
            free_inodes: list_at(96)?,
            sdi_root: if flags.sdi { sdi_root(page, flags)? } else { None },
            encryption,
            server: match bytes::u32_at(page, 8)? {
                version @ 80_000..100_000 if flags.sdi => Some(ServerVersion::from_number(version)),
                _ => None,
            },
        })
    }

    /// Returns the properties of the pages of a file with these flags, whose size is not known.
    pub fn format_of(flags: FspFlags, space: SpaceId) -> PageFormat {
        format_of(flags, space, u32::MAX)
    }

    /// Returns the properties of the file's pages once they are opened.
    pub fn page_format(&self) -> PageFormat {
        format_of(self.flags, self.space, self.size_pages)
    }

    /// Returns the properties of the file's pages as stored and as opened.
    pub fn page_context(&self) -> PageContext {
        let full_crc32 = self.flags.dialect == Dialect::FullCrc32;
        let algorithm = PageCompression::of_mariadb(self.flags.raw >> 5 & 7);
        PageContext::plain(self.page_format()).with_compression(algorithm.filter(|_| full_crc32))
    }

    /// Refuses, by name and with a remedy, files without tables that could be read.
    pub fn require_readable(&self) -> Result<()> {
        let flags = &self.flags;
        if flags.temporary {
            return Err(Error::unsupported(
                "a temporary tablespace",
                "its tables vanish with the session that made them",
            ));
        }
        Ok(())
    }
}

fn format_of(flags: FspFlags, space: SpaceId, size_pages: u32) -> PageFormat {
    PageFormat {
        space,
        page_size: flags.page_size,
        physical_bytes: flags.zip_size_bytes.unwrap_or(flags.page_size.bytes()),
        is_zip: flags.zip_size_bytes.is_some(),
        full_crc32: flags.dialect == Dialect::FullCrc32,
        sdi: flags.sdi,
        size_pages,
    }
}

/// Returns the end of the extent descriptors on page 0.
fn extents_end(page: &[u8], flags: FspFlags) -> usize {
    let extents = page.len() / flags.page_size.extent_pages() as usize;
    EXTENTS + extent_len(flags.page_size) * extents
}

fn sdi_root(page: &[u8], flags: FspFlags) -> Result<Option<PageNo>> {
    let at = extents_end(page, flags) + ENCRYPTION_INFO_LEN;
    let root = PageNo(bytes::u32_at(page, at + 4)?);
    Ok((bytes::u32_at(page, at)? == 1 && root.0 != 0).then_some(root).and_then(PageNo::non_null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_each_dialect() {
        let only = |raw: u32| FspFlags::candidates(raw).into_iter().next().unwrap();
        // MySQL 8.0 file-per-table, DYNAMIC, SDI.
        let flags = only(0x4021);
        assert_eq!(flags.dialect, Dialect::Common);
        assert!(flags.sdi && flags.atomic_blobs == Some(true) && !flags.shared);
        assert_eq!(flags.page_size, PageSize::DEFAULT);
        // KEY_BLOCK_SIZE=8.
        assert_eq!(only(0x29).zip_size_bytes, Some(8192));
        // MariaDB 10.5, 16 KiB, full_crc32.
        let flags = only(0x15);
        assert_eq!(flags.dialect, Dialect::FullCrc32);
        assert_eq!(flags.page_size.bytes(), 16384);
        assert_eq!(only(0x13).page_size.bytes(), 4096);
        assert!(only(0x35).page_compressed);
        // MariaDB 10.1.13, page compressed with level 6: the common reading is a 64 KiB page size,
        // which the flags cannot express.
        let flags = only(0x21 | 1 << 6 | 6 << 7);
        assert_eq!(flags.dialect, Dialect::MariaDb101);
        assert!(flags.page_compressed);
        // 4 KiB pages, or compression level 1 in the old dialect: both, the more likely first.
        let flags = FspFlags::candidates(0x21 | 3 << 6);
        assert_eq!(flags.len(), 2);
        assert_eq!(flags[0].page_size.bytes(), 4096);
        assert!(flags[1].page_compressed);
        assert!(FspFlags::candidates(0xFFFF_FFFF).is_empty());
        assert!(FspFlags::candidates(0x20).is_empty());
    }
}
