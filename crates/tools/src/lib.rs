//! Diagnostics of InnoDB files: their pages checked and shown, the cost of scans estimated, the page
//! cache loaded, policies of read-ahead compared.
//!
//! The crate [`innoscan`](https://docs.rs/innoscan) is the interface for other programs. This crate's
//! own interface serves the crates of its workspace, and changes without notice.

pub mod bench;
pub mod check;
pub mod explain;
pub mod inspect;
pub mod tablespaces;
pub mod warm;
