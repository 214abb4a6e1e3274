//! Tables that real servers wrote, of `tests/data`.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The path of what `below` names in `tests/data`.
#[must_use]
pub fn data(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(below)
}

/// A table that is kept as `NAME.ibd.zst`, unpacked for as long as this lives.
#[derive(Debug)]
pub struct Fixture {
    /// Its tablespace.
    pub file: PathBuf,
    /// `SHOW CREATE TABLE`.
    pub create_sql: String,
    /// `CHECKSUM TABLE`, where it was kept.
    pub checksum: Option<u32>,
    _dir: TempDir,
}

impl Fixture {
    /// Unpacks the table that `below` names in `tests/data`: `read_ahead/grown`.
    ///
    /// # Panics
    /// When it is not there, or is not as it should be.
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
