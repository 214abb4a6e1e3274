//! The state of a page in the pool, as the pool keeps it and read-ahead policies see it.

/// The state of a page that is in the pool or being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStatus {
    /// When the page was first accessed, as a number that grows with each first access of any page;
    /// `None` when nobody has.
    pub first_access: Option<u64>,
    /// Whether the page is far from being evicted (`buf_page_peek_if_young`, MySQL 8.0).
    pub is_young: bool,
}
