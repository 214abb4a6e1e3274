//! Writes the rows of InnoDB tables as SQL, text, CSV and JSON, alone or as dumps that loaders read;
//! lists and verifies dumps.
//!
//! The crate [`innoscan`](https://docs.rs/innoscan) is the interface for other programs. This crate's
//! own interface serves the crates of its workspace, and changes without notice.

pub mod dump;
pub mod listing;
pub mod phases;
pub mod sink;
pub mod verify;
