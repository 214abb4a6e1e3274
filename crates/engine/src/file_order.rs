//! The leaves of a tree in file order, each with its neighbours in key order.

use std::collections::VecDeque;

use innoscan_format::PageNo;

use crate::Error;
use crate::step::{Sibling, Step};

/// All leaves of a finished walk, in file order. Eight bytes per leaf.
#[derive(Debug)]
pub struct FileOrder {
    /// The leaves in key order; [`PageNo::NULL`] stands for a damaged place.
    leaves: Vec<PageNo>,
    /// Places in `leaves`, sorted by page number.
    sorted: Vec<u32>,
    next: usize,
    damaged: VecDeque<(PageNo, Error)>,
    /// The leaf before the first in key order.
    before: Sibling,
    /// The leaf after the last in key order.
    after: Sibling,
}

impl FileOrder {
    /// Sorts leaves that are in key order, where [`PageNo::NULL`] stands for each of `damaged`. `before`
    /// precedes the first, `after` follows the last.
    pub(crate) fn new(
        leaves: Vec<PageNo>,
        damaged: VecDeque<(PageNo, Error)>,
        before: Sibling,
        after: Sibling,
    ) -> FileOrder {
        let places = 0..u32::try_from(leaves.len()).unwrap_or(u32::MAX);
        let mut sorted: Vec<u32> =
            places.filter(|place| leaves[*place as usize] != PageNo::NULL).collect();
        sorted.sort_unstable_by_key(|place| leaves[*place as usize]);
        FileOrder { leaves, sorted, next: 0, damaged, before, after }
    }

    /// The leaves in file order.
    pub fn pages(&self) -> Vec<PageNo> {
        self.sorted.iter().map(|place| self.leaves[*place as usize]).collect()
    }

    /// Whether every step was returned.
    pub fn is_done(&self) -> bool {
        self.damaged.is_empty() && self.next == self.sorted.len()
    }

    /// The leaf of the next step, if that is a leaf.
    pub fn peek(&self) -> Option<PageNo> {
        let (leaf, _) = self.next_leaf().filter(|_| self.damaged.is_empty())?;
        Some(leaf)
    }

    /// The next step: damage first, then the leaves.
    pub fn next_step(&mut self) -> Option<Step> {
        match self.damaged.pop_front() {
            Some((page, error)) => Some(Step::Damaged { page, error }),
            None => self.next_place().and_then(|place| self.step_at(place)),
        }
    }

    /// The number of places in key order, including damaged ones.
    pub fn places(&self) -> usize {
        self.leaves.len()
    }

    /// Whether a place is damaged.
    pub fn is_damaged(&self, place: usize) -> bool {
        self.leaves.get(place) == Some(&PageNo::NULL)
    }

    /// The next leaf in the file, if one is left, and its place in key order.
    pub fn next_leaf(&self) -> Option<(PageNo, usize)> {
        let place = *self.sorted.get(self.next)? as usize;
        Some((self.leaves[place], place))
    }

    /// Advances to the next leaf in the file; returns the place of the current one in key order.
    pub fn next_place(&mut self) -> Option<usize> {
        let (_, place) = self.next_leaf()?;
        self.next += 1;
        Some(place)
    }

    /// The step at a place in key order. Damaged places are returned in their order.
    pub fn step_at(&mut self, place: usize) -> Option<Step> {
        if *self.leaves.get(place)? == PageNo::NULL {
            let (page, error) = self.damaged.pop_front()?;
            return Some(Step::Damaged { page, error });
        }
        let sibling = |at: usize| match self.leaves.get(at) {
            Some(&PageNo::NULL) => Sibling::Unknown,
            None => self.after,
            page => Sibling::Is(page.copied()),
        };
        let prev = place.checked_sub(1).map_or(self.before, sibling);
        let next = sibling(place + 1);
        Some(Step::Leaf { page: self.leaves[place], prev, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_keep_their_neighbours() {
        let damaged = VecDeque::from([(PageNo(9), Error::interrupted())]);
        let is = |page| Sibling::Is(Some(PageNo(page)));
        let leaves = [7, 3, u32::MAX, 5].map(PageNo).to_vec();
        let mut order = FileOrder::new(leaves, damaged, is(2), Sibling::Is(None));
        assert_eq!(order.pages(), [3, 5, 7].map(PageNo));
        assert_eq!(order.peek(), None);
        assert!(matches!(order.next_step(), Some(Step::Damaged { page: PageNo(9), .. })));
        for (page, prev, next) in [
            (3, is(7), Sibling::Unknown),
            (5, Sibling::Unknown, Sibling::Is(None)),
            (7, is(2), is(3)),
        ] {
            assert_eq!(order.peek(), Some(PageNo(page)));
            let Some(Step::Leaf { page: given, prev: before, next: after }) = order.next_step()
            else {
                panic!("a leaf");
            };
            assert_eq!((given, before, after), (PageNo(page), prev, next));
        }
        assert!(order.is_done() && order.next_step().is_none());
    }
}
