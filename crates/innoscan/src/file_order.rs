//! A tree's leaves in the order they lie in the file, each with its neighbours in key order.

use std::collections::VecDeque;

use innoscan_format::PageNo;

use crate::Error;
use crate::walk::{Sibling, Step};

/// The leaves of a walk that has learnt all of them. Eight bytes a leaf.
#[derive(Debug)]
pub struct FileOrder {
    /// In key order; [`PageNo::NULL`] stands for what damage took.
    leaves: Vec<PageNo>,
    /// Places in `leaves`, by page number.
    sorted: Vec<u32>,
    next: usize,
    damaged: VecDeque<(PageNo, Error)>,
}

impl FileOrder {
    /// Sorts leaves in key order, among which [`PageNo::NULL`] stands for each of `damaged`.
    pub(crate) fn new(leaves: Vec<PageNo>, damaged: VecDeque<(PageNo, Error)>) -> FileOrder {
        let places = 0..u32::try_from(leaves.len()).unwrap_or(u32::MAX);
        let mut sorted: Vec<u32> =
            places.filter(|place| leaves[*place as usize] != PageNo::NULL).collect();
        sorted.sort_unstable_by_key(|place| leaves[*place as usize]);
        FileOrder { leaves, sorted, next: 0, damaged }
    }

    /// The leaves in file order.
    pub fn pages(&self) -> Vec<PageNo> {
        self.sorted.iter().map(|place| self.leaves[*place as usize]).collect()
    }

    /// Whether every step was given out.
    pub fn is_done(&self) -> bool {
        self.damaged.is_empty() && self.next == self.sorted.len()
    }

    /// The leaf the next step is, if it is one.
    pub fn peek(&self) -> Option<PageNo> {
        let place = self.sorted.get(self.next).filter(|_| self.damaged.is_empty())?;
        Some(self.leaves[*place as usize])
    }

    /// The next step: what is damaged first, then the leaves.
    pub fn next_step(&mut self) -> Option<Step> {
        if let Some((page, error)) = self.damaged.pop_front() {
            return Some(Step::Damaged { page, error });
        }
        let place = *self.sorted.get(self.next)? as usize;
        self.next += 1;
        let sibling = |at: Option<usize>| match at.and_then(|at| self.leaves.get(at)) {
            Some(&PageNo::NULL) => Sibling::Unknown,
            page => Sibling::Is(page.copied()),
        };
        let (prev, next) = (sibling(place.checked_sub(1)), sibling(place.checked_add(1)));
        Some(Step::Leaf { page: self.leaves[place], prev, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_keep_their_neighbours() {
        let damaged = VecDeque::from([(PageNo(9), Error::interrupted())]);
        let leaves = [7, 3, u32::MAX, 5].map(PageNo).to_vec();
        let mut order = FileOrder::new(leaves, damaged);
        assert_eq!(order.pages(), [3, 5, 7].map(PageNo));
        assert_eq!(order.peek(), None);
        assert!(matches!(order.next_step(), Some(Step::Damaged { page: PageNo(9), .. })));
        let is = |page| Sibling::Is(Some(PageNo(page)));
        for (page, prev, next) in [
            (3, is(7), Sibling::Unknown),
            (5, Sibling::Unknown, Sibling::Is(None)),
            (7, Sibling::Is(None), is(3)),
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
