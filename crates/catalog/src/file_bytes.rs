//! Some bytes of a file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use innoscan_engine::{Error, Result};

/// Reads up to `len` bytes from `offset`; fewer where the file ends.
pub(crate) fn read_at(path: &Path, offset: u64, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.take(len as u64).read_to_end(&mut bytes)
        })
        .map_err(|error| Error::read("reading it", error).in_file(path))?;
    Ok(bytes)
}
