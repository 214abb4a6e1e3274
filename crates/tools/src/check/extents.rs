//! Page ownership: the file's extents and segments, and the lists that contain them.
//!
//! Extent descriptors and segments are kept in memory (some 60 bytes per MiB of the file); the
//! lists are walked in memory after all pages were read.

use std::collections::HashMap;

use innoscan_format::page::{
    Extent, ExtentState, ExtentsPage, FileAddr, InodePage, ListBase, ListNode, Page, PageFormat,
    Segment, SpaceHeader,
};
use innoscan_format::{PageNo, Result};

use super::report::{Area, Report};

/// An extent's descriptor, and the list that contains it.
struct Described {
    addr: FileAddr,
    first: PageNo,
    state: ExtentState,
    segment: u64,
    pages: u32,
    n_free: u32,
    node: ListNode,
    list: Option<List>,
}

/// A list of extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Free,
    FreeFrag,
    FullFrag,
    /// Extents of a segment: none, some or all of their pages used.
    SegmentFree(u64),
    SegmentNotFull(u64),
    SegmentFull(u64),
}

impl List {
    fn name(self) -> String {
        match self {
            List::Free => "FSP_FREE".into(),
            List::FreeFrag => "FSP_FREE_FRAG".into(),
            List::FullFrag => "FSP_FULL_FRAG".into(),
            List::SegmentFree(id) => format!("FSEG_FREE of segment {id}"),
            List::SegmentNotFull(id) => format!("FSEG_NOT_FULL of segment {id}"),
            List::SegmentFull(id) => format!("FSEG_FULL of segment {id}"),
        }
    }
}

/// The extents, segments and pages of segments of a file.
pub(super) struct Ownership {
    format: PageFormat,
    extents: Vec<Described>,
    /// The index in `extents` of each descriptor, by its address.
    places: HashMap<FileAddr, usize>,
    segments: Vec<Segment>,
    inode_pages: Vec<(FileAddr, ListNode, bool)>,
    /// Single pages of segments, with the segment's number.
    fragments: HashMap<PageNo, u64>,
    /// Whether some descriptors could not be read; lists may lead there.
    incomplete: bool,
}

/// The owner of a page, as far as descriptors are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The extent's descriptor was not readable.
    Unknown,
    /// No owner: beyond the free limit, or in a free extent.
    Nobody,
    /// A single page of no known segment.
    Single,
    Segment(u64),
}

impl Ownership {
    pub fn new(format: PageFormat) -> Ownership {
        Ownership {
            format,
            extents: Vec::new(),
            places: HashMap::new(),
            segments: Vec::new(),
            inode_pages: Vec::new(),
            fragments: HashMap::new(),
            incomplete: false,
        }
    }

    /// Adds a page of extent descriptors; those of extents past the file's end are unused.
    pub fn add_extents(&mut self, page: Page<'_>, pages: u64) -> Result<()> {
        for extent in ExtentsPage::parse(page)?.extents() {
            let extent = extent.inspect_err(|_| self.incomplete = true)?;
            if u64::from(extent.first.0) >= pages {
                break;
            }
            self.add_extent(&extent);
        }
        Ok(())
    }

    fn add_extent(&mut self, extent: &Extent<'_>) {
        self.places.insert(extent.addr, self.extents.len());
        self.extents.push(Described {
            addr: extent.addr,
            first: extent.first,
            state: extent.state,
            segment: extent.segment,
            pages: extent.pages,
            n_free: extent.n_free(),
            node: extent.node,
            list: None,
        });
    }

    /// Notes a page of extent descriptors that could not be read.
    pub fn miss_extents(&mut self) {
        self.incomplete = true;
    }

    /// Adds a page of file segments.
    pub fn add_segments(&mut self, page: Page<'_>) -> Result<()> {
        let inodes = InodePage::parse(page)?;
        let segments = inodes.segments()?;
        let (addr, node) = inodes.list_node()?;
        self.inode_pages.push((addr, node, segments.len() == inodes.places()));
        for segment in &segments {
            self.fragments.extend(segment.fragments.iter().map(|&page| (page, segment.id)));
        }
        self.segments.extend(segments);
        Ok(())
    }

    /// The segment to which a segment header points.
    pub fn segment_at(&self, addr: FileAddr) -> Option<u64> {
        self.segments.iter().find(|segment| segment.addr == addr).map(|segment| segment.id)
    }

    /// The owner of a page.
    pub fn owner(&self, page: PageNo) -> Owner {
        let place = self.extents.partition_point(|extent| extent.first <= page);
        let extent = place.checked_sub(1).and_then(|place| self.extents.get(place));
        let Some(extent) = extent.filter(|extent| page.0 - extent.first.0 < extent.pages) else {
            return Owner::Unknown;
        };
        match extent.state {
            ExtentState::NotInited | ExtentState::Free => Owner::Nobody,
            ExtentState::Segment => Owner::Segment(extent.segment),
            // A segment has leased the extent, but for the pages of descriptors and of the insert buffer's
            // bitmap (`XDES_FRAG_N_USED`, `fsp0fsp.h`, MySQL 8.0).
            ExtentState::SegmentFrag => match page.0 - extent.first.0 {
                0 | 1 if self.is_extents_page(extent.first) => Owner::Single,
                _ => Owner::Segment(extent.segment),
            },
            ExtentState::FreeFrag | ExtentState::FullFrag => {
                self.fragments.get(&page).map_or(Owner::Single, |&segment| Owner::Segment(segment))
            }
        }
    }

    /// Walks all lists and compares them with the descriptors.
    pub fn check(&mut self, header: &SpaceHeader, report: &mut Report) {
        self.walk(List::Free, &header.free, report);
        self.walk(List::FreeFrag, &header.free_frag, report);
        self.walk(List::FullFrag, &header.full_frag, report);
        for segment in std::mem::take(&mut self.segments) {
            self.walk(List::SegmentFree(segment.id), &segment.free, report);
            self.walk(List::SegmentNotFull(segment.id), &segment.not_full, report);
            self.walk(List::SegmentFull(segment.id), &segment.full, report);
            let list = List::SegmentNotFull(segment.id);
            let used = self.used_in(list);
            if used != u64::from(segment.not_full_n_used) && !self.incomplete {
                report.add(
                    Area::Segments,
                    Some(segment.addr.page_no),
                    format!(
                        "segment {} counts {} used pages in FSEG_NOT_FULL, its extents {used}",
                        segment.id, segment.not_full_n_used
                    ),
                );
            }
            self.segments.push(segment);
        }
        let used = self.used_in(List::FreeFrag);
        if used != u64::from(header.frag_n_used) && !self.incomplete {
            report.add(
                Area::Extents,
                Some(PageNo(0)),
                format!(
                    "FSP_FRAG_N_USED counts {} used pages, the extents of FSP_FREE_FRAG {used}",
                    header.frag_n_used
                ),
            );
        }
        self.check_states(header, report);
        self.check_inode_lists(header, report);
    }

    fn used_in(&self, list: List) -> u64 {
        let of_list = self.extents.iter().filter(|extent| extent.list == Some(list));
        of_list.map(|extent| u64::from(extent.pages - extent.n_free)).sum()
    }

    /// Follows a list in both directions at once: each node must name the one before it.
    fn walk(&mut self, list: List, base: &ListBase, report: &mut Report) {
        let mut before: Option<FileAddr> = None;
        let mut at = base.first;
        let mut length = 0;
        while let Some(addr) = at {
            let page = Some(before.map_or(PageNo(0), |addr| addr.page_no));
            let Some(&place) = self.places.get(&addr) else {
                if !self.incomplete {
                    let what = format!("{} leads to {}, no extent", list.name(), place_of(addr));
                    report.add(Area::Extents, page, what);
                }
                return;
            };
            let extent = &mut self.extents[place];
            if let Some(other) = extent.list {
                let what = format!(
                    "the extent at page {} is in {} and in {}",
                    extent.first,
                    other.name(),
                    list.name()
                );
                report.add(Area::Extents, Some(extent.addr.page_no), what);
                return;
            }
            extent.list = Some(list);
            if extent.node.prev != before {
                let what = format!(
                    "{}: the extent at page {} says that {} is before it, not {}",
                    list.name(),
                    extent.first,
                    extent.node.prev.map_or("nothing".into(), place_of),
                    before.map_or("nothing".into(), place_of)
                );
                report.add(Area::Extents, Some(extent.addr.page_no), what);
            }
            length += 1;
            before = Some(addr);
            at = extent.node.next;
        }
        if length != base.len || before != base.last {
            let what = format!("{} says it has {} extents, it has {length}", list.name(), base.len);
            report.add(Area::Extents, None, what);
        }
    }

    /// Each extent must be in the list that its state and its free pages require.
    fn check_states(&self, header: &SpaceHeader, report: &mut Report) {
        for extent in &self.extents {
            let used = extent.pages - extent.n_free;
            let right = match extent.state {
                ExtentState::NotInited => {
                    extent.list.is_none() && extent.first >= header.free_limit
                }
                ExtentState::Free => extent.list == Some(List::Free) && used == 0,
                ExtentState::FreeFrag => {
                    extent.list == Some(List::FreeFrag) && extent.n_free > 0 && used > 0
                }
                ExtentState::FullFrag => extent.list == Some(List::FullFrag) && extent.n_free == 0,
                ExtentState::Segment | ExtentState::SegmentFrag => {
                    self.is_in_its_segment(extent, used)
                }
            };
            if right || self.incomplete {
                continue;
            }
            let what = format!(
                "the extent at page {} is {:?}{}, {used} of {} pages used, in {}",
                extent.first,
                extent.state,
                match extent.state {
                    ExtentState::Segment | ExtentState::SegmentFrag => {
                        format!(" {}", extent.segment)
                    }
                    _ => String::new(),
                },
                extent.pages,
                extent.list.map_or("no list".into(), List::name)
            );
            report.add(Area::Extents, Some(extent.addr.page_no), what);
        }
    }

    fn is_in_its_segment(&self, extent: &Described, used: u32) -> bool {
        let whole = extent.state == ExtentState::Segment;
        match extent.list {
            Some(List::SegmentFree(id)) => id == extent.segment && used == 0,
            Some(List::SegmentNotFull(id)) => {
                id == extent.segment && (!whole || used > 0) && extent.n_free > 0
            }
            Some(List::SegmentFull(id)) => id == extent.segment && extent.n_free == 0,
            _ => false,
        }
    }

    /// Checks the two lists of pages of segments, with and without room.
    fn check_inode_lists(&self, header: &SpaceHeader, report: &mut Report) {
        let lists = [
            ("FSP_SEG_INODES_FULL", &header.full_inodes, true),
            ("FSP_SEG_INODES_FREE", &header.free_inodes, false),
        ];
        let mut seen = 0;
        for (name, base, full) in lists {
            let mut before = None;
            let mut at = base.first;
            let mut length = 0;
            while let Some(addr) = at {
                let inodes = self.inode_pages.iter().find(|inodes| inodes.0 == addr);
                let Some((_, node, is_full)) = inodes else {
                    let what = format!("{name} leads to {}, no page of segments", place_of(addr));
                    report.add(Area::Segments, Some(PageNo(0)), what);
                    return;
                };
                length += 1;
                if node.prev != before || *is_full != full || length > self.inode_pages.len() {
                    let what = format!("{name} is broken at page {}", addr.page_no);
                    report.add(Area::Segments, Some(addr.page_no), what);
                    return;
                }
                before = Some(addr);
                at = node.next;
            }
            if length != base.len as usize || before != base.last {
                let what = format!("{name} says it has {} pages, it has {length}", base.len);
                report.add(Area::Segments, Some(PageNo(0)), what);
            }
            seen += length;
        }
        if seen != self.inode_pages.len() {
            let what = format!("{} pages of segments, {seen} in lists", self.inode_pages.len());
            report.add(Area::Segments, Some(PageNo(0)), what);
        }
    }

    /// Whether a page has extent descriptors by its number.
    pub fn is_extents_page(&self, page_no: PageNo) -> bool {
        ExtentsPage::is_place(page_no, self.format)
    }
}

fn place_of(addr: FileAddr) -> String {
    format!("page {} offset {}", addr.page_no, addr.offset)
}
