//! Rows and splits of the fixtures, by the interface alone.

mod rows;
mod splits;

use std::path::{Path, PathBuf};

fn data(file: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data")).join(file)
}
