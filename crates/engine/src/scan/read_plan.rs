//! The plan of a scan.

use super::{ReadAheadPolicy, RowOrder, ScanOptions};

/// How a scan reads: which pages ahead of time, in which order rows come, and how much memory it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// The read-ahead policy.
    pub policy: ReadAheadPolicy,
    /// The order the rows come in.
    pub order: RowOrder,
    /// The window of logical read-ahead, in bytes.
    pub window_bytes: u64,
    /// Memory for pages.
    pub memory_bytes: u64,
}

impl ReadPlan {
    /// The plan that options name, or the one to start with if they leave the choice.
    pub fn of(options: &ScanOptions) -> ReadPlan {
        ReadPlan {
            policy: options.plan.policy.unwrap_or(options.rows.order.first_policy()),
            order: options.rows.order,
            window_bytes: options.plan.window_bytes,
            memory_bytes: options.plan.memory_bytes,
        }
    }

    /// The window, where the policy has one.
    pub fn window(&self) -> Option<u64> {
        (self.policy == ReadAheadPolicy::Logical).then_some(self.window_bytes)
    }

    /// Whether leaves are read in file order and put back in key order.
    pub fn sorts_leaves(&self) -> bool {
        self.policy.traits().in_file_order && self.order == RowOrder::Key
    }

    /// Logical read-ahead with a window, and with as much more memory as the defaults have.
    pub(super) fn with_window(self, window_bytes: u64) -> ReadPlan {
        let memory_bytes = window_bytes / 2 * 3;
        ReadPlan { policy: ReadAheadPolicy::Logical, window_bytes, memory_bytes, ..self }
    }
}
