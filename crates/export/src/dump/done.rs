//! A file of a dump, while it is written and when it is complete.

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedFile {
    /// Its name in the directory.
    pub name: String,
    /// Rows in it; 0 for definitions.
    pub rows: u64,
    /// Its size in bytes before compression.
    pub plain_bytes: u64,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// The CRC-32 of its bytes.
    pub crc32: u32,
}

/// What a file is called until it is complete.
pub(super) fn partial_name(name: &str) -> String {
    format!("{name}.partial")
}
