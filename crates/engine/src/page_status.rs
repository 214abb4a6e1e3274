//! The state of a page in the pool, for the pool itself and for read-ahead policies.

/// The state of a page that is in the pool or being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStatus {
    /// The time of the first access, as a number that grows with each first access of any page;
    /// `None` before the first access.
    pub first_access: Option<u64>,
    /// Whether the page is far from being evicted (`buf_page_peek_if_young`, MySQL 8.0).
    pub is_young: bool,
}
