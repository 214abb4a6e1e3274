//! A file of rows with random access, optimized for sequential reads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};

/// Bytes read at once where reading is sequential.
const WINDOW_BYTES: usize = 256 << 10;
/// Bytes read at once elsewhere.
const NEAR_BYTES: usize = 16 << 10;

/// An open file, and the part of it that was read last.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    path: PathBuf,
    /// The size of the file in bytes.
    len: u64,
    window: Vec<u8>,
    window_at: u64,
}

impl DataFile {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<DataFile> {
        let file = File::open(path)
            .map_err(|source| Error::read("cannot open the file", source).in_file(path))?;
        let metadata = file
            .metadata()
            .map_err(|source| Error::read("cannot read its size", source).in_file(path))?;
        Ok(DataFile {
            file,
            path: path.to_owned(),
            len: metadata.len(),
            window: Vec::new(),
            window_at: 0,
        })
    }

    /// The size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads at most `len` bytes from `at`: fewer where the file ends. `len` is at most 64 KiB.
    pub fn read(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let len = len.min(usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX));
        let in_window = |at: u64| usize::try_from(at.checked_sub(self.window_at)?).ok();
        let start = in_window(at).filter(|start| start + len <= self.window.len());
        let start = match start {
            Some(start) => start,
            None => {
                self.fill(at, len)?;
                0
            }
        };
        self.window.get(start..start + len).ok_or_else(|| shrunk().in_file(&self.path))
    }

    fn fill(&mut self, at: u64, len: usize) -> Result<()> {
        let goes_on = (self.window_at..=self.window_at + self.window.len() as u64).contains(&at);
        let wanted = if goes_on { WINDOW_BYTES } else { NEAR_BYTES.max(len) };
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        self.window.resize(wanted.min(left), 0);
        self.window_at = at;
        self.file.read_exact_at(&mut self.window, at).map_err(|source| {
            self.window.clear();
            Error::read(format!("cannot read at byte {at}"), source).in_file(&self.path)
        })
    }

    /// Appends `len` bytes from `at`, all of which must exist.
    pub fn append(&mut self, at: u64, len: u64, out: &mut Vec<u8>) -> Result<()> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(shrunk().in_file(&self.path));
        }
        let mut at = at;
        let mut left = len;
        while left > 0 {
            let step = left.min(64 << 10);
            let bytes = self.read(at, step as usize)?;
            out.extend_from_slice(bytes);
            at += step;
            left -= step;
        }
        Ok(())
    }
}

#[cold]
fn shrunk() -> Error {
    innoscan_format::Error::corrupt("the file ends before a row does").into()
}
