//! The text of `--version`.

/// A text of the builds with the feature `columnar`, or of the others.
#[cfg(feature = "columnar")]
macro_rules! columnar {
    (else $text:literal) => {
        ""
    };
    ($text:literal) => {
        $text
    };
}
#[cfg(not(feature = "columnar"))]
macro_rules! columnar {
    (else $text:literal) => {
        $text
    };
    ($text:literal) => {
        ""
    };
}

/// What `--version` prints: the commit, the optional parts that were built, and the formats of `--format`.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("INNOSCAN_COMMIT"),
    "\n",
    columnar!("features  columnar\nformats   sql, text, csv, ndjson, parquet, arrow"),
    columnar!(else "features  none\nformats   sql, text, csv, ndjson"),
);
