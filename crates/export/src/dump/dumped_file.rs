//! A file of a dump, while it is written and when it is complete.

/// A file of a dump that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedFile {
    /// The name in the directory.
    pub name: String,
    /// The number of its rows; 0 for definitions.
    pub rows: u64,
    /// The size in bytes before compression.
    pub plain_bytes: u64,
    /// The size in bytes.
    pub file_bytes: u64,
    /// The CRC-32 of the bytes.
    pub crc32: u32,
}

/// The name of a file until it is complete.
pub(super) fn partial_name(name: &str) -> String {
    format!("{name}.partial")
}
