//! The key-order walk of a B-tree, as a state machine that asks for the pages it needs.
//!
//! From the root on, a level's pages name all pages of the level below, in key order. For each level,
//! the walk keeps the pages that are known but not yet read, and asks for many of them at
//! once ([`Walk::wanted`]); its driver feeds the pages as they arrive ([`Walk::feed`]). A tree
//! of ten million leaves thus costs only three reads that wait for each other.
//!
//! ```text
//! level 2   root
//! level 1   [fed][fed][wanted][wanted] ...          <- asked for in batches
//! level 0   [taken] ... [leaf][leaf][leaf] ...      <- given out in key order by next_step()
//! ```
//!
//! The walk always ends: levels decrease from parent to child, and no page may be reached twice.
//! A walk of some keys (`KeyRanges`) leaves out the children that hold none of them; the neighbours
//! of its pages are then unknown.
//!
//! Damage does not end the walk: everything below an unusable page is lost, and a step in the
//! page's place reports it.

use std::collections::VecDeque;
use std::sync::Arc;

use innoscan_format::layout::Layout;
use innoscan_format::page::{IndexPage, Page, PageFormat};
use innoscan_format::{Error as FormatError, IndexId, PageNo, tree};

use crate::file_order::FileOrder;
use crate::key_ranges::KeyRanges;
use crate::leaf_span::LeafSpan;
pub use crate::step::{Sibling, Step};
use crate::{Error, Result};

/// A walk of a B-tree in key order; see the module's text.
pub struct Walk {
    format: PageFormat,
    index: IndexId,
    /// The levels of the tree, the leaf level first.
    levels: Vec<Level>,
    /// A bit for each page reached.
    reached: Vec<u64>,
    /// Leaves found since [`Walk::take_found_leaves`].
    found: Vec<PageNo>,
    found_leaves: u64,
    fed_parents: u64,
    /// Branch pages read, including the root.
    branch_pages: u64,
    last_leaf: Sibling,
    /// The keys to walk; `None`: all.
    keys: Option<Arc<KeyRanges>>,
    /// The leaf after which the walk starts, until it is found; all leaves up to it are skipped.
    looks_for: Option<PageNo>,
    /// The part of the tree to walk; `None`: all.
    span: Option<Arc<LeafSpan>>,
}

#[derive(Default)]
struct Level {
    /// The pages in key order; [`PageNo::NULL`] stands for the next of `damaged`.
    pages: VecDeque<PageNo>,
    damaged: VecDeque<(PageNo, Error)>,
    /// The page before the first of `pages`.
    before: Option<Sibling>,
}

impl Walk {
    /// A walk from a root, which is read at once, to the leaves of some keys or of all keys; optionally
    /// only to those after a leaf, or those of a span.
    pub fn new(
        root: &IndexPage<'_>,
        layout: &Layout,
        keys: Option<Arc<KeyRanges>>,
        after: Option<PageNo>,
        span: Option<Arc<LeafSpan>>,
    ) -> Result<Walk> {
        let format = root.page().format();
        let mut walk = Walk {
            format,
            index: root.index_id(),
            levels: (0..=root.level()).map(|_| Level::default()).collect(),
            reached: Vec::new(),
            found: Vec::new(),
            found_leaves: 0,
            fed_parents: 0,
            branch_pages: 0,
            last_leaf: Sibling::Is(None),
            keys,
            looks_for: after,
            span,
        };
        if let Some(span) = &walk.span {
            span.require_root(root.page_no())?;
            if span.has_start() {
                walk.levels.iter_mut().for_each(|level| level.before = Some(Sibling::Unknown));
                walk.last_leaf = Sibling::Unknown;
            }
        }
        walk.reach(root.page_no());
        let level = root.level();
        if root.is_leaf() {
            walk.add_leaf(root.page_no());
        } else {
            walk.levels[usize::from(level)].pages.push_back(root.page_no());
            walk.look_into(root, level, layout);
            walk.sink_damage();
        }
        Ok(walk)
    }

    /// The index that is walked.
    pub fn index(&self) -> IndexId {
        self.index
    }

    /// The leaf after which the walk should start, while it is not found.
    pub fn looks_for(&self) -> Option<PageNo> {
        self.looks_for
    }

    /// The number of branch pages read.
    pub fn branch_pages(&self) -> u64 {
        self.branch_pages
    }

    /// The number of leaves found so far, whether returned or not.
    pub fn found_leaves(&self) -> u64 {
        self.found_leaves
    }

    /// The number of leaves found and not yet returned.
    pub fn leaves_ahead(&self) -> usize {
        self.levels[0].pages.len()
    }

    /// The number of all leaves, and whether it is exact: otherwise estimated from the mean so far.
    pub fn total_leaves(&self) -> (u64, bool) {
        if self.has_found_all() {
            return (self.found_leaves, true);
        }
        let parents: u64 = self.levels.iter().skip(1).take(1).map(|l| l.pages.len() as u64).sum();
        let above: u64 = self.levels.iter().skip(2).map(|level| level.pages.len() as u64).sum();
        let fan_out = self.found_leaves / self.fed_parents.max(1);
        let more = parents.saturating_add(above.saturating_mul(fan_out)).saturating_mul(fan_out);
        (self.found_leaves.saturating_add(more), false)
    }

    /// Whether all branch pages were read.
    pub fn has_found_all(&self) -> bool {
        self.levels.iter().skip(1).all(|level| level.pages.is_empty())
    }

    /// Whether every step was returned.
    pub fn is_done(&self) -> bool {
        self.levels.iter().all(|level| level.pages.is_empty())
    }

    /// Puts up to `most` branch pages that the walk can use into `pages`: the ones that can be fed now
    /// come first. Within a level they are in key order.
    pub fn wanted(&self, most: usize, pages: &mut Vec<PageNo>) {
        pages.clear();
        for level in self.levels.iter().skip(1) {
            let room = most - pages.len();
            pages.extend(level.pages.iter().filter_map(|page| page.non_null()).take(room));
            if pages.len() == most {
                return;
            }
        }
    }

    /// The pages that can be fed now: the first of each level.
    pub fn fronts(&self) -> impl Iterator<Item = PageNo> + '_ {
        self.levels.iter().skip(1).filter_map(|level| level.pages.front()?.non_null())
    }

    /// Takes the leaf numbers found since the last call.
    pub fn take_found_leaves(&mut self, into: &mut Vec<PageNo>) {
        into.clear();
        into.append(&mut self.found);
    }

    /// Feeds one of [`Walk::fronts`], or its read error.
    pub fn feed(&mut self, page_no: PageNo, page: Result<Page<'_>>, layout: &Layout) {
        let at = self.levels.iter().skip(1).position(|l| l.pages.front() == Some(&page_no));
        let Some(level) = at.map(|above_leaves| above_leaves + 1) else { return };
        let level_no = u16::try_from(level).unwrap_or(u16::MAX);
        let parsed = page.and_then(|page| {
            let page = IndexPage::parse(page)?;
            page.require(self.index, level_no)?;
            Ok(page)
        });
        match parsed {
            Ok(page) => self.look_into(&page, level_no, layout),
            Err(error) => {
                self.levels[level].pages.pop_front();
                self.levels[level].before = Some(Sibling::Unknown);
                self.damage_below(level, page_no, error);
            }
        }
        self.sink_damage();
    }

    /// Moves the children of the first page of a level to the level below.
    fn look_into(&mut self, page: &IndexPage<'_>, level_no: u16, layout: &Layout) {
        let level = usize::from(level_no);
        let page_no = page.page_no();
        self.branch_pages += 1;
        self.levels[level].pages.pop_front();
        let prev = self.levels[level].before.unwrap_or(Sibling::Is(None));
        self.levels[level].before = Some(Sibling::Is(Some(page_no)));
        let next = self.next_on(level);
        let links = || {
            prev.require(page.prev(), "previous")
                .and_then(|()| next.require(page.next(), "next"))
                .map_err(|error| page.page().locate_error(error))
        };
        let mut children = Vec::with_capacity(usize::from(page.n_recs()));
        let named = match &self.keys {
            None => links().and_then(|()| tree::children(page, layout, &mut children)),
            Some(keys) => keys.children(page, layout, &mut children),
        };
        let named = named.and_then(|()| match &self.span {
            None => Ok(()),
            Some(span) => span.narrow(page, layout, &mut children),
        });
        if let Err(error) = named {
            // The children named before the error are still valid.
            self.damage_below(level, page_no, error.into());
        }
        self.fed_parents += u64::from(level == 1);
        for child in children {
            if self.reach(child) {
                match level {
                    1 => self.add_leaf(child),
                    _ => self.levels[level - 1].pages.push_back(child),
                }
            } else {
                let what = format!("page {child} is reached a second time");
                let error = page.page().locate_error(FormatError::corrupt(what));
                self.damage_below(level, page_no, error.into());
            }
        }
    }

    fn add_leaf(&mut self, leaf: PageNo) {
        if let Some(looked_for) = self.looks_for {
            self.looks_for = (leaf != looked_for).then_some(looked_for);
            self.last_leaf = Sibling::Is(Some(leaf));
            return;
        }
        self.levels[0].pages.push_back(leaf);
        self.found.push(leaf);
        self.found_leaves += 1;
    }

    /// The required sibling after the last page taken from a level's front.
    fn next_on(&self, level: usize) -> Sibling {
        match self.levels[level].pages.front() {
            Some(page) => page.non_null().map_or(Sibling::Unknown, |page| Sibling::Is(Some(page))),
            None if self.levels.iter().skip(level + 1).all(|above| above.pages.is_empty()) => {
                let ends_before = self.span.as_ref().is_some_and(|span| span.has_end());
                if ends_before { Sibling::Unknown } else { Sibling::Is(None) }
            }
            None => Sibling::Unknown,
        }
    }

    fn damage_below(&mut self, level: usize, page: PageNo, error: Error) {
        let below = &mut self.levels[level - 1];
        below.pages.push_back(PageNo::NULL);
        below.damaged.push_back((page, error));
    }

    /// Moves damage at the front of a branch level to the level below.
    fn sink_damage(&mut self) {
        for level in (1..self.levels.len()).rev() {
            while self.levels[level].pages.front() == Some(&PageNo::NULL) {
                self.levels[level].pages.pop_front();
                self.levels[level].before = Some(Sibling::Unknown);
                if let Some((page, error)) = self.levels[level].damaged.pop_front() {
                    self.damage_below(level, page, error);
                }
            }
        }
    }

    /// Marks a page as reached; `false` if it already was. A page past the file's end may be reached
    /// any number of times: it cannot be read, so it leads nowhere.
    fn reach(&mut self, page: PageNo) -> bool {
        if page.0 >= self.format.size_pages {
            return true;
        }
        let (word, bit) = (page.0 as usize / 64, 1u64 << (page.0 % 64));
        if word >= self.reached.len() {
            self.reached.resize(word + 1, 0);
        }
        let is_new = self.reached[word] & bit == 0;
        self.reached[word] |= bit;
        is_new
    }

    /// The leaves found and not yet returned, in key order, without the damaged ones.
    pub fn leaves(&self) -> impl Iterator<Item = PageNo> + '_ {
        self.levels[0].pages.iter().filter_map(|page| page.non_null())
    }

    /// Takes all leaves at once, when all are found, in file order; the walk is then empty.
    pub fn take_file_order(&mut self) -> FileOrder {
        assert!(self.has_found_all(), "a leaf that is not found yet has no place");
        let leaves = std::mem::take(&mut self.levels[0]);
        let after = self.next_on(0);
        FileOrder::new(leaves.pages.into(), leaves.damaged, self.last_leaf, after)
    }

    /// The leaf of the next step, if that is known and a leaf.
    pub fn peek(&self) -> Option<PageNo> {
        self.levels[0].pages.front().and_then(|page| page.non_null())
    }

    /// The next step; `None` when a branch page must be fed first, or at the end.
    pub fn next_step(&mut self) -> Option<Step> {
        let leaves = &mut self.levels[0].pages;
        if leaves.len() < 2 && !self.has_found_all() {
            return None;
        }
        let page = self.levels[0].pages.pop_front()?;
        if page == PageNo::NULL {
            self.last_leaf = Sibling::Unknown;
            let (page, error) = self.levels[0].damaged.pop_front()?;
            return Some(Step::Damaged { page, error });
        }
        let prev = std::mem::replace(&mut self.last_leaf, Sibling::Is(Some(page)));
        Some(Step::Leaf { page, prev, next: self.next_on(0) })
    }
}
