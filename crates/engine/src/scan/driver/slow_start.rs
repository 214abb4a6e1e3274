//! A slow start: read-ahead in proportion to what was delivered, for a scan that may end early.

use std::collections::VecDeque;

use innoscan_format::PageNo;

/// Tasks that may be read before any was delivered.
const FIRST_TASKS: u64 = 2;

/// Tasks that may be read for each that was delivered.
const TASKS_PER_DELIVERED: u64 = 2;

/// A guess: the leaves that a branch page names.
const LEAVES_OF_A_BRANCH: u64 = 256;

/// Holds leaves back from the policy until the scan has delivered enough.
///
/// Twice as much as was delivered is always allowed besides the first tasks, so the scan never waits for
/// itself: when all leaves that were passed on are delivered, more are allowed.
pub(super) struct SlowStart {
    is_on: bool,
    task_leaves: u64,
    /// The leaves of the tablespace that were not passed on.
    held: VecDeque<PageNo>,
    /// Leaves that were passed on, of all tablespaces.
    passed: u64,
    /// Those of them that the scan has used.
    used: u64,
}

impl SlowStart {
    pub fn new(is_on: bool, task_leaves: usize) -> SlowStart {
        let task_leaves = task_leaves as u64;
        SlowStart { is_on, task_leaves, held: VecDeque::new(), passed: 0, used: 0 }
    }

    /// Holds the leaves back, and puts those in their place that may be read after `delivered_tasks`.
    pub fn pass(&mut self, leaves: &mut Vec<PageNo>, delivered_tasks: u64) {
        if !self.is_on {
            return;
        }
        self.held.extend(leaves.drain(..));
        let room = self.allowed(delivered_tasks).saturating_sub(self.passed);
        let count = self.held.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        leaves.extend(self.held.drain(..count));
        self.passed += count as u64;
    }

    /// Whether the next leaf was passed on.
    pub fn has_next(&self) -> bool {
        !self.is_on || self.used < self.passed
    }

    /// Notes that the scan has used a leaf.
    pub fn note_used(&mut self) {
        self.used += 1;
    }

    /// The leaves ahead of the scan that must be known: at most `most`.
    pub fn leaves_ahead(&self, most: usize, delivered_tasks: u64) -> usize {
        if !self.is_on {
            return most;
        }
        let ahead = self.allowed(delivered_tasks).saturating_sub(self.used);
        usize::try_from(ahead).unwrap_or(usize::MAX).clamp(1, most)
    }

    /// The branch pages to read at once: at most `most`.
    pub fn branches_at_once(&self, most: usize, delivered_tasks: u64) -> usize {
        if !self.is_on {
            return most;
        }
        let branches = self.allowed(delivered_tasks) / LEAVES_OF_A_BRANCH;
        usize::try_from(branches).unwrap_or(usize::MAX).clamp(1, most)
    }

    /// The leaves that may be read after so many tasks were delivered.
    fn allowed(&self, delivered_tasks: u64) -> u64 {
        self.task_leaves * (FIRST_TASKS + TASKS_PER_DELIVERED * delivered_tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u32) -> Vec<PageNo> {
        (0..count).map(PageNo).collect()
    }

    #[test]
    fn passes_on_in_proportion_to_what_was_delivered() {
        let mut start = SlowStart::new(true, 32);
        let mut passed = leaves(1000);
        start.pass(&mut passed, 0);
        assert_eq!(passed, leaves(64));
        assert_eq!(start.leaves_ahead(1 << 20, 0), 64);
        for _ in 0..64 {
            assert!(start.has_next());
            start.note_used();
        }
        assert!(!start.has_next());
        passed.clear();
        start.pass(&mut passed, 2);
        assert_eq!(passed, leaves(192)[64..]);
        assert!(start.has_next());
        assert_eq!((start.branches_at_once(256, 2), start.branches_at_once(256, 100)), (1, 25));
    }

    #[test]
    fn without_it_all_leaves_are_passed_on() {
        let mut start = SlowStart::new(false, 32);
        let mut passed = leaves(1000);
        start.pass(&mut passed, 0);
        assert_eq!(passed.len(), 1000);
        assert!(start.has_next());
        assert_eq!((start.leaves_ahead(7, 0), start.branches_at_once(256, 0)), (7, 256));
    }
}
