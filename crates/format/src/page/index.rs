//! B-tree pages: the header, the two pseudo-records, the heap of records, the directory.
//!
//! ```text
//!  38 directory slots   40 heap top     42 records in the heap (top bit: not REDUNDANT)
//!  44 free list         46 garbage      48 last insert   50 direction   52 its run
//!  54 user records      56 max trx id   64 level         66 index id
//!  74 leaf segment      84 branch segment (roots only)   94 infimum, supremum, records ...
//! ... the directory, 2 bytes a slot, backwards from size-8
//! ```
//!
//! `page0types.h` and `page0page.h`, MySQL 8.0. In MariaDB's instant roots the direction's upper
//! 13 bits count the core fields, and the pseudo-records' text may be zeroed with the core null
//! bytes in its last byte (`page_get_instant`, `btr_cur_instant_root_init`, MariaDB 10.11).

use super::inode::segment_header;
use super::{DATA, FileAddr, Page, PageKind};
use crate::{Error, IndexId, PageNo, Result, bytes};

/// `PAGE_DATA`.
const HEAP: usize = DATA + 56;
/// The maximum height of a tree that servers accept (`BTR_MAX_LEVELS`).
const MAX_LEVELS: u16 = 100;

/// A B-tree page whose header and system records are sound.
#[derive(Clone, Copy, Debug)]
pub struct IndexPage<'a> {
    page: Page<'a>,
    n_dir_slots: u16,
    heap_top: u16,
    n_heap: u16,
    n_recs: u16,
    level: u16,
    index: IndexId,
    compact: bool,
}

impl<'a> IndexPage<'a> {
    /// Parses a page of an index or of SDI, or an instant root.
    ///
    /// # Errors
    /// Damage, when the page is of another kind or all zeroes, since a pointer led to it.
    pub fn parse(page: Page<'a>) -> Result<IndexPage<'a>> {
        IndexPage::parse_inner(page).map_err(|error| page.locate_error(error))
    }

    fn parse_inner(page: Page<'a>) -> Result<IndexPage<'a>> {
        if !page.kind().is_index() {
            return Err(Error::corrupt(format!(
                "a page of kind {} where a B-tree page should be",
                page.kind()
            )));
        }
        let field = |at: usize| bytes::u16_at(page.bytes(), DATA + at);
        let n_heap = field(4)?;
        let index = IndexPage {
            page,
            n_dir_slots: field(0)?,
            heap_top: field(2)?,
            n_heap: n_heap & 0x7FFF,
            n_recs: field(16)?,
            level: field(26)?,
            index: IndexId(bytes::u64_at(page.bytes(), DATA + 28)?),
            compact: n_heap & 0x8000 != 0,
        };
        index.check_frame()?;
        Ok(index)
    }

    fn check_frame(&self) -> Result<()> {
        let len = self.page.bytes().len();
        let directory = len.saturating_sub(8 + 2 * self.n_dir_slots as usize);
        if (self.heap_top as usize) < self.supremum_end() || self.heap_top as usize > directory {
            return Err(Error::corrupt(format!(
                "heap top {} does not lie between the supremum's end {} and the directory's {} \
                 slots at {directory}",
                self.heap_top,
                self.supremum_end(),
                self.n_dir_slots
            )));
        }
        if self.n_heap < 2 || self.n_recs > self.n_heap - 2 || self.n_dir_slots < 2 {
            return Err(Error::corrupt(format!(
                "impossible counts: {} user records, {} in the heap, {} directory slots",
                self.n_recs, self.n_heap, self.n_dir_slots
            )));
        }
        if self.level >= MAX_LEVELS {
            return Err(Error::corrupt(format!("impossible B-tree level {}", self.level)));
        }
        let infimum = bytes::array::<8>(self.page.bytes(), self.infimum())?;
        let supremum = bytes::array::<8>(self.page.bytes(), self.supremum())?;
        let texts = &infimum == b"infimum\0" && &supremum == b"supremum";
        let instant = self.page.kind() == PageKind::Instant
            && infimum == [0; 8]
            && supremum.starts_with(&[0; 7]);
        if !texts && !instant {
            return Err(Error::corrupt("the infimum and supremum records are damaged"));
        }
        Ok(())
    }

    /// Returns the underlying page.
    pub fn page(&self) -> Page<'a> {
        self.page
    }

    /// Returns the page number.
    pub fn page_no(&self) -> PageNo {
        self.page.page_no()
    }

    /// Returns the previous page of the level.
    pub fn prev(&self) -> Option<PageNo> {
        self.page.prev()
    }

    /// Returns the next page of the level.
    pub fn next(&self) -> Option<PageNo> {
        self.page.next()
    }

    /// Returns the level: 0 for leaves.
    pub fn level(&self) -> u16 {
        self.level
    }

    /// Returns whether the page is a leaf, whose records are rows.
    pub fn is_leaf(&self) -> bool {
        self.level == 0
    }

    /// Returns the number of records on the page, including delete-marked ones.
    pub fn n_recs(&self) -> u16 {
        self.n_recs
    }

    /// Returns the number of records in the heap: infimum, supremum, records on the page and freed
    /// ones.
    pub fn n_heap(&self) -> u16 {
        self.n_heap
    }

    /// Returns the id of the index that the page belongs to.
    pub fn index_id(&self) -> IndexId {
        self.index
    }

    /// Returns whether the records are in COMPACT, DYNAMIC or COMPRESSED form rather than
    /// REDUNDANT.
    pub fn is_compact(&self) -> bool {
        self.compact
    }

    /// Returns the address of the leaves' file segment (roots only).
    pub fn leaf_segment(&self) -> Result<Option<FileAddr>> {
        segment_header(self.page.bytes(), DATA + 36)
    }

    /// Returns the address of the branch pages' file segment (roots only).
    pub fn branch_segment(&self) -> Result<Option<FileAddr>> {
        segment_header(self.page.bytes(), DATA + 46)
    }

    /// Returns, for MariaDB's instant roots, the number of fields that records had before the first
    /// instant `ALTER`, and the bytes of their null bitmap where the page has them.
    pub fn instant_core(&self) -> Option<(u16, Option<u8>)> {
        if self.page.kind() != PageKind::Instant {
            return None;
        }
        let core_fields = bytes::u16_at(self.page.bytes(), DATA + 12).unwrap_or_default() >> 3;
        let zeroed = bytes::u8_at(self.page.bytes(), self.infimum()) == Ok(0);
        let null_bytes = bytes::u8_at(self.page.bytes(), self.supremum() + 7).ok();
        Some((core_fields, null_bytes.filter(|_| zeroed)))
    }

    /// Returns the last `AUTO_INCREMENT` value, from the root of a clustered index of MariaDB
    /// 10.2.4 and later; `None` before the first. `SHOW CREATE TABLE` prints one more; for a
    /// partitioned table, one more than the greatest (`PAGE_ROOT_AUTO_INC`, page0page.h). On other
    /// pages these bytes have other meanings, and servers search the table for the greatest value
    /// when they open it.
    pub fn last_auto_increment(&self) -> Option<u64> {
        bytes::u64_at(self.page.bytes(), DATA + 18).ok().filter(|last| *last > 0)
    }

    /// Requires the page to belong to `index` and to be on `level`, as its parent implies.
    pub fn require(&self, index: IndexId, level: u16) -> Result<()> {
        if self.index != index {
            return Err(self.page.corrupt(format!(
                "the page belongs to index {}, but was reached from index {index}",
                self.index
            )));
        }
        if self.level != level {
            return Err(self.page.corrupt(format!(
                "the page is on level {}, reached as one of level {level}",
                self.level
            )));
        }
        Ok(())
    }

    /// Checks the directory against the record chain: each slot's record is on the chain, in
    /// order, and owns the records since the last one (`page_simple_validate_new`, MySQL 8.0).
    pub fn check_directory(&self) -> Result<()> {
        let mut slot = 0u16;
        let mut owned = 1u16;
        self.check_slot(&mut slot, self.infimum(), &mut owned)?;
        for record in self.records() {
            let record = record?;
            owned = owned.saturating_add(1);
            self.check_slot(&mut slot, record.origin(), &mut owned)?;
        }
        owned = owned.saturating_add(1);
        self.check_slot(&mut slot, self.supremum(), &mut owned)?;
        if slot != self.n_dir_slots {
            return Err(self.page.corrupt(format!(
                "the page's directory has {} slots, its records fill {slot}",
                self.n_dir_slots
            )));
        }
        Ok(())
    }

    fn check_slot(&self, slot: &mut u16, origin: usize, owned: &mut u16) -> Result<()> {
        let info_at = origin.saturating_sub(if self.compact { 5 } else { 6 });
        let n_owned = bytes::u8_at(self.page.bytes(), info_at)? & 15;
        if n_owned == 0 {
            return Ok(());
        }
        let at = self.page.bytes().len().saturating_sub(10 + 2 * *slot as usize);
        let points_to = bytes::u16_at(self.page.bytes(), at)?;
        if points_to as usize != origin || u16::from(n_owned) != *owned {
            return Err(self.page.corrupt(format!(
                "directory slot {slot} points to {points_to}; the record there should be at \
                 {origin} and own {owned} records, not {n_owned}"
            )));
        }
        *slot = slot.saturating_add(1);
        *owned = 0;
        Ok(())
    }

    /// Returns the infimum record's origin.
    pub(crate) fn infimum(&self) -> usize {
        if self.compact { HEAP + 5 } else { HEAP + 7 }
    }

    /// Returns the supremum record's origin.
    pub(crate) fn supremum(&self) -> usize {
        if self.compact { HEAP + 18 } else { HEAP + 22 }
    }

    /// Returns the offset of the heap's first user record.
    pub(crate) fn supremum_end(&self) -> usize {
        self.supremum() + if self.compact { 8 } else { 9 }
    }

    pub(crate) fn heap_top(&self) -> usize {
        self.heap_top as usize
    }
}
