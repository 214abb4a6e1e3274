//! Tables of `tests/data`, which real servers wrote.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Returns the path of `below` in `tests/data`.
#[must_use]
pub fn data(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(below)
}

/// A table stored as `NAME.ibd.zst`, unpacked for the lifetime of this value.
#[derive(Debug)]
pub struct Fixture {
    /// Path of the tablespace.
    pub file: PathBuf,
    /// Output of `SHOW CREATE TABLE`.
    pub create_sql: String,
    /// Result of `CHECKSUM TABLE`, if it was stored.
    pub checksum: Option<u32>,
    _dir: TempDir,
}

impl Fixture {
    /// Unpacks the table at `below` in `tests/data`: `read_ahead/grown`.
    ///
    /// # Panics
    /// When the table is missing or damaged.
    #[must_use]
    pub fn unpack(below: &str) -> Fixture {
        let read = |ending: &str| std::fs::read(data(&format!("{below}.{ending}")));
        let text = |ending: &str| String::from_utf8(read(ending).ok()?).ok();
        let dir = tempfile::tempdir().expect("a directory for the fixture");
        let name = below.rsplit('/').next().unwrap_or(below);
        let file = dir.path().join(format!("{name}.ibd"));
        let packed = read("ibd.zst").unwrap_or_else(|error| panic!("{below}: {error}"));
        let bytes = zstd::decode_all(&packed[..]).expect("a sound archive");
        std::fs::write(&file, bytes).expect("room for the fixture");
        let create_sql = text("create.sql").unwrap_or_else(|| panic!("{below}: no definition"));
        let checksum = text("checksum").map(|sum| sum.trim().parse().expect("a checksum"));
        Fixture { file, create_sql, checksum, _dir: dir }
    }
}
