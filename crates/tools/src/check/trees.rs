//! The shape of the B-trees: each page's links, level and parent, compared after all pages were
//! read.
//!
//! Pages arrive in file order, so a parent may come before or after its children; 24 bytes are kept
//! per page of the file until the end (1.6 MB for a GB of 16 KiB pages).

use std::collections::HashMap;

use innoscan_format::page::{FileAddr, IndexPage, PageKind};
use innoscan_format::{IndexId, PageNo};

use super::extents::{Owner, Ownership};
use super::report::{Area, IndexSummary, Report};

/// The index number of pages without an index.
const NO_INDEX: u32 = u32::MAX;

/// The facts kept about a page.
#[derive(Clone, Copy)]
struct Note {
    prev: PageNo,
    next: PageNo,
    /// The next page according to the parent; [`PageNo::NULL`] for the parent's last child.
    next_by_parent: PageNo,
    index: u32,
    parent_index: u32,
    level: u8,
    parent_level: u8,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not a page of a B-tree, or free.
    Other,
    /// Not readable.
    Damaged,
    Index,
}

const UNSEEN: Note = Note {
    prev: PageNo::NULL,
    next: PageNo::NULL,
    next_by_parent: PageNo::NULL,
    index: NO_INDEX,
    parent_index: NO_INDEX,
    level: 0,
    parent_level: 0,
    state: State::Other,
};

/// An index, from its pages.
struct Tree {
    summary: IndexSummary,
    /// The level of the root, and the segments of the leaves and of the branch pages, which it names.
    segments: Option<(u16, Option<FileAddr>, Option<FileAddr>)>,
}

/// The trees of a file.
pub(super) struct Trees {
    notes: Vec<Note>,
    trees: Vec<Tree>,
    by_id: HashMap<IndexId, u32>,
    has_damaged: bool,
}

impl Trees {
    /// The trees of a file of `pages` pages.
    pub fn new(pages: u64) -> Trees {
        let pages = usize::try_from(pages).unwrap_or_default();
        Trees {
            notes: vec![UNSEEN; pages],
            trees: Vec::new(),
            by_id: HashMap::new(),
            has_damaged: false,
        }
    }

    /// Adds a page that could not be read.
    pub fn add_damaged(&mut self, page: PageNo) {
        if let Some(note) = self.notes.get_mut(page.0 as usize) {
            note.state = State::Damaged;
        }
        self.has_damaged = true;
    }

    /// Adds a sound page of a B-tree.
    pub fn add(&mut self, page: &IndexPage<'_>) {
        let index = self.index_of(page.index_id());
        let Some(note) = self.notes.get_mut(page.page_no().0 as usize) else { return };
        note.prev = page.prev().unwrap_or(PageNo::NULL);
        note.next = page.next().unwrap_or(PageNo::NULL);
        note.index = index;
        note.level = page.level() as u8;
        note.state = State::Index;
        let tree = &mut self.trees[index as usize];
        let level = usize::from(page.level());
        if tree.summary.level_pages.len() <= level {
            tree.summary.level_pages.resize(level + 1, 0);
        }
        tree.summary.level_pages[level] += 1;
        // Only the root names segments; on other pages these bytes may be anything. The root is the page without
        // neighbours on the highest level, which may come before an only leaf or after it.
        let is_alone = page.prev().is_none() && page.next().is_none();
        if is_alone && tree.segments.is_none_or(|(below, ..)| below < page.level()) {
            let segments = (page.leaf_segment(), page.branch_segment());
            if let (Ok(leaf @ Some(_)), Ok(branch)) = segments {
                tree.segments = Some((page.level(), leaf, branch));
            }
        }
    }

    /// Adds the record counts of a leaf.
    pub fn count(&mut self, index: IndexId, records: u64, delete_marked: u64) {
        if let Some(summary) = self.summary_mut(index) {
            summary.records += records;
            summary.delete_marked += delete_marked;
        }
    }

    /// Adds the children of a branch page, in its order.
    pub fn add_children(&mut self, page: &IndexPage<'_>, children: &[PageNo], report: &mut Report) {
        let index = self.index_of(page.index_id());
        self.trees[index as usize].summary.parents_compared = true;
        for (place, &child) in children.iter().enumerate() {
            let Some(note) = self.notes.get_mut(child.0 as usize) else { continue };
            if note.parent_index != NO_INDEX {
                let what = format!("child {child} has another parent already");
                report.add(Area::Tree, Some(page.page_no()), what);
                continue;
            }
            note.parent_index = index;
            note.parent_level = page.level() as u8;
            note.next_by_parent = children.get(place + 1).copied().unwrap_or(PageNo::NULL);
        }
    }

    /// Takes out a page that is free, although it looks like one of its index.
    pub fn take_free(&mut self, page: PageNo, records: u64) {
        let Some(note) = self.notes.get_mut(page.0 as usize) else { return };
        let Note { index, level, .. } = std::mem::replace(note, UNSEEN);
        let Some(tree) = self.trees.get_mut(index as usize) else { return };
        tree.summary.records = tree.summary.records.saturating_sub(records);
        let levels = &mut tree.summary.level_pages;
        levels[usize::from(level)] -= 1;
        while levels.pop_if(|pages| *pages == 0).is_some() {}
    }

    /// The summary of an index that has pages.
    pub fn summary_mut(&mut self, index: IndexId) -> Option<&mut IndexSummary> {
        let index = *self.by_id.get(&index)?;
        self.trees.get_mut(index as usize).map(|tree| &mut tree.summary)
    }

    /// The page after `page` on its level.
    pub fn next(&self, page: PageNo) -> Option<PageNo> {
        self.notes.get(page.0 as usize)?.next.non_null()
    }

    fn index_of(&mut self, id: IndexId) -> u32 {
        if let Some(&index) = self.by_id.get(&id) {
            return index;
        }
        let index = self.trees.len() as u32;
        self.by_id.insert(id, index);
        let summary = IndexSummary {
            id,
            table: None,
            name: None,
            root: None,
            level_pages: Vec::new(),
            records: 0,
            delete_marked: 0,
            parents_compared: false,
            key_columns_compared: None,
        };
        self.trees.push(Tree { summary, segments: None });
        index
    }

    /// Compares all pages with each other, after all were added. `change_buffer`: the segment of the change buffer, whose
    /// root does not name it.
    pub fn finish(
        mut self,
        ownership: &Ownership,
        change_buffer: Option<FileAddr>,
        report: &mut Report,
    ) {
        for number in 0..self.notes.len() {
            let page = PageNo(number as u32);
            let note = self.notes[number];
            if note.state == State::Index {
                self.check_links(page, &note, report);
                self.check_parent(page, &note, report);
            } else if note.parent_index != NO_INDEX && note.state == State::Other {
                let what = "a parent points to it, but it is free or of another kind";
                report.add(Area::Tree, Some(page), what);
            }
        }
        self.check_levels(report);
        self.check_owners(ownership, change_buffer, report);
        report.indexes = self.trees.into_iter().map(|tree| tree.summary).collect();
        report.indexes.sort_by_key(|index| index.id);
    }

    fn note(&self, page: PageNo) -> Option<&Note> {
        self.notes.get(page.0 as usize)
    }

    /// Both neighbours must be on the same level of the same index and name this page.
    fn check_links(&self, page: PageNo, note: &Note, report: &mut Report) {
        type End = fn(&Note) -> PageNo;
        let ends: [(&str, End, &str, End); 2] = [
            ("next", |note| note.next, "previous", |note| note.prev),
            ("previous", |note| note.prev, "next", |note| note.next),
        ];
        for (there, link, back, back_link) in ends {
            let Some(other) = link(note).non_null() else { continue };
            let Some(neighbour) = self.note(other) else {
                let what = format!("its {there} page {other} is past the file's end");
                report.add(Area::Links, Some(page), what);
                continue;
            };
            let what = match neighbour.state {
                State::Damaged => continue,
                State::Other => format!("its {there} page {other} is no page of a B-tree"),
                State::Index if (neighbour.index, neighbour.level) != (note.index, note.level) => {
                    format!("its {there} page {other} belongs to another index or level")
                }
                State::Index if back_link(neighbour) != page => {
                    let named = back_link(neighbour).non_null();
                    format!(
                        "its {there} page {other} names {} as its {back}",
                        named.map_or("none".into(), |page| page.to_string())
                    )
                }
                State::Index => continue,
            };
            report.add(Area::Links, Some(page), what);
        }
    }

    /// A page's parent must be one level up in the same index, and agree with the page's link to the
    /// next page.
    fn check_parent(&self, page: PageNo, note: &Note, report: &mut Report) {
        let tree = &self.trees[note.index as usize];
        let is_top = usize::from(note.level) + 1 == tree.summary.level_pages.len();
        if note.parent_index == NO_INDEX {
            // Where pages could not be read, the parent may be among them.
            if tree.summary.parents_compared && !is_top && !self.has_damaged {
                report.add(Area::Tree, Some(page), "no branch (non-leaf) page points to it");
            }
            return;
        }
        if note.parent_index != note.index || note.parent_level != note.level + 1 {
            let what = format!(
                "it is on level {} of index {}, its parent on level {} of index {}",
                note.level,
                tree.summary.id,
                note.parent_level,
                self.trees[note.parent_index as usize].summary.id
            );
            report.add(Area::Tree, Some(page), what);
        } else if note.next_by_parent != PageNo::NULL && note.next_by_parent != note.next {
            let what = format!(
                "its parent names {} after it, its own link {}",
                note.next_by_parent,
                note.next.non_null().map_or("none".into(), |page| page.to_string())
            );
            report.add(Area::Tree, Some(page), what);
        }
    }

    /// Each level must be one chain from a page without a previous one to one without a next, and
    /// the top level a single page.
    fn check_levels(&mut self, report: &mut Report) {
        let mut heads: HashMap<(u32, u8), Vec<PageNo>> = HashMap::new();
        for (number, note) in self.notes.iter().enumerate() {
            if note.state == State::Index && note.prev == PageNo::NULL {
                heads.entry((note.index, note.level)).or_default().push(PageNo(number as u32));
            }
        }
        for index in 0..self.trees.len() {
            for level in 0..self.trees[index].summary.level_pages.len() {
                let heads = heads.get(&(index as u32, level as u8));
                self.check_level(index, level, heads.map_or(&[], Vec::as_slice), report);
            }
        }
    }

    fn check_level(&mut self, index: usize, level: usize, heads: &[PageNo], report: &mut Report) {
        let summary = &self.trees[index].summary;
        let (id, pages) = (summary.id, summary.level_pages[level]);
        let is_top = level + 1 == summary.level_pages.len();
        if heads.is_empty() && pages > 0 && self.has_damaged {
            // The first page may be one that could not be read.
            return;
        }
        let [head] = heads else {
            let what = match (pages, heads.len()) {
                (0, _) => format!("index {id} has no page on level {level}"),
                (_, 0) => format!("level {level} of index {id} has no first page"),
                (_, heads) => format!("level {level} of index {id} has {heads} first pages"),
            };
            report.add(Area::Links, heads.get(1).copied(), what);
            return;
        };
        let mut chained = 0;
        let mut at = Some(*head);
        while let Some(note) = at.and_then(|page| self.note(page)) {
            if note.state == State::Damaged {
                // The page after it is not known.
                return;
            }
            if chained > pages || note.state != State::Index {
                break;
            }
            chained += 1;
            at = note.next.non_null();
        }
        if chained != pages {
            let what = format!(
                "level {level} of index {id} has {pages} pages, the chain from its first page \
                 {head} {}",
                if chained > pages { "is a cycle".into() } else { format!("{chained}") }
            );
            report.add(Area::Links, Some(*head), what);
        }
        if is_top {
            if pages == 1 {
                self.trees[index].summary.root = Some(*head);
            } else {
                let what = format!("index {id} has {pages} pages on its top level {level}");
                report.add(Area::Tree, Some(*head), what);
            }
        }
    }

    /// Leaves must lie in the index's leaf segment, the root and other branch pages in the other one.
    fn check_owners(
        &self,
        ownership: &Ownership,
        change_buffer: Option<FileAddr>,
        report: &mut Report,
    ) {
        let segments: Vec<Option<(u64, u64)>> = self
            .trees
            .iter()
            .map(|tree| {
                let (leaf, branch) = match tree.summary.id {
                    IndexId::CHANGE_BUFFER => (change_buffer, change_buffer),
                    _ => tree.segments.map(|(_, leaf, branch)| (leaf, branch))?,
                };
                Some((ownership.segment_at(leaf?)?, ownership.segment_at(branch?)?))
            })
            .collect();
        for (tree, segments) in self.trees.iter().zip(&segments) {
            if let (None, Some(root)) = (segments, tree.summary.root) {
                let what = format!("index {} names no segments that exist", tree.summary.id);
                report.add(Area::Segments, Some(root), what);
            }
        }
        for (number, note) in self.notes.iter().enumerate() {
            let page = PageNo(number as u32);
            let Some(tree) = self.trees.get(note.index as usize) else { continue };
            let Some((leaf, branch)) = segments[note.index as usize] else { continue };
            let in_leaf_segment = note.level == 0 && tree.summary.root != Some(page);
            let right = if in_leaf_segment { leaf } else { branch };
            match ownership.owner(page) {
                Owner::Segment(segment) if segment == right => {}
                Owner::Unknown => {}
                owner => {
                    let what = format!("it should be in segment {right}, its owner is {owner:?}");
                    report.add(Area::Segments, Some(page), what);
                }
            }
        }
    }
}

/// Whether a kind of page has the header of a B-tree page that is checked here. (R-trees have
/// links too, but their records none of these orders.)
pub(super) fn is_tree(kind: PageKind) -> bool {
    kind.is_index()
}
