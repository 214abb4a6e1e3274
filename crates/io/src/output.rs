//! A file written sequentially, bypassing the page cache where the file system supports it: output
//! that is not read soon would only evict pages that others need, and a cached copy does not make
//! it faster.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::file::set_direct;
use crate::{ALIGNMENT, Frame, Slab};

/// Bytes per write.
const WRITE_BYTES: usize = 1 << 20;

/// The maximum size of a file that is written at once, through the cache: setting up more for it
/// would take longer.
const SMALL_BYTES: usize = 64 << 10;

/// A file being written; its content is only certain after [`Output::finish`].
#[derive(Debug)]
pub struct Output {
    file: File,
    around_cache: bool,
    buffer: Buffer,
}

/// The bytes that are not in the file yet.
#[derive(Debug)]
enum Buffer {
    /// All bytes of a file that is small so far.
    Small(Vec<u8>),
    /// The end of a larger file.
    Large(Large),
}

#[derive(Debug)]
struct Large {
    is_direct: bool,
    frame: Frame,
    /// Bytes of the frame that are not in the file yet.
    filled: usize,
    /// Bytes written to the file.
    written: u64,
}

impl Output {
    /// Creates an empty file, or truncates an existing one. `around_cache`: bypass the page cache
    /// where the file system supports it.
    pub fn create(path: &Path, around_cache: bool) -> io::Result<Output> {
        let file = File::create(path)?;
        Ok(Output { file, around_cache, buffer: Buffer::Small(Vec::new()) })
    }

    /// Writes the remaining bytes; with `sync`, returns when the file is on the disk.
    pub fn finish(mut self, sync: bool) -> io::Result<()> {
        match &mut self.buffer {
            Buffer::Small(bytes) => self.file.write_all_at(bytes, 0)?,
            Buffer::Large(large) => large.finish(&self.file)?,
        }
        if sync { self.file.sync_all() } else { Ok(()) }
    }
}

impl Large {
    fn new(file: &File, around_cache: bool) -> io::Result<Large> {
        let slab = Slab::new(1, WRITE_BYTES).map_err(io::Error::other)?;
        let frame = slab.take().ok_or(io::ErrorKind::OutOfMemory)?;
        let is_direct = around_cache && set_direct(file.as_fd()).is_ok();
        Ok(Large { is_direct, frame, filled: 0, written: 0 })
    }

    /// Buffers as many bytes as fit, and writes full buffers; returns their number.
    fn take(&mut self, bytes: &[u8], file: &File) -> io::Result<usize> {
        let taken = bytes.len().min(WRITE_BYTES - self.filled);
        self.frame[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        if self.filled == WRITE_BYTES {
            self.write_frame(0, WRITE_BYTES, file)?;
            self.filled = 0;
        }
        Ok(taken)
    }

    fn finish(&mut self, file: &File) -> io::Result<()> {
        // All but the last bytes are whole blocks, which are written like the others.
        let blocks = self.filled / ALIGNMENT * ALIGNMENT;
        self.write_frame(0, blocks, file)?;
        self.go_through_cache(file)?;
        self.write_frame(blocks, self.filled, file)
    }

    fn go_through_cache(&mut self, file: &File) -> io::Result<()> {
        if self.is_direct {
            let flags = rustix::fs::fcntl_getfl(file)?;
            rustix::fs::fcntl_setfl(file, flags & !OFlags::DIRECT)?;
            self.is_direct = false;
        }
        Ok(())
    }

    /// Writes part of the frame to the end of the file.
    fn write_frame(&mut self, from: usize, to: usize, file: &File) -> io::Result<()> {
        let written = file.write_all_at(&self.frame[from..to], self.written);
        match written {
            // A file system may accept the flag, but then no such write.
            Err(error) if self.is_direct && error.kind() == io::ErrorKind::InvalidInput => {
                self.go_through_cache(file)?;
                file.write_all_at(&self.frame[from..to], self.written)?;
            }
            written => written?,
        }
        self.written += (to - from) as u64;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Output { file, around_cache, buffer } = self;
        match buffer {
            Buffer::Small(small) if small.len() + bytes.len() <= SMALL_BYTES => {
                small.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Buffer::Small(small) => {
                let mut large = Large::new(file, *around_cache)?;
                large.take(small, file)?;
                let taken = large.take(bytes, file)?;
                *buffer = Buffer::Large(large);
                Ok(taken)
            }
            Buffer::Large(large) => large.take(bytes, file),
        }
    }

    /// Does nothing: part of a block cannot be written around the cache.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_size_hold_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let pattern: Vec<u8> = (0..3 * WRITE_BYTES + 5000).map(|n| (n / 7 % 251) as u8).collect();
        let whole = WRITE_BYTES;
        for len in [
            0,
            1,
            ALIGNMENT,
            SMALL_BYTES,
            SMALL_BYTES + 1,
            whole - 1,
            whole,
            whole + 1,
            pattern.len(),
        ] {
            for around_cache in [true, false] {
                let mut output = Output::create(&path, around_cache).unwrap();
                for part in pattern[..len].chunks(23_457) {
                    output.write_all(part).unwrap();
                }
                output.finish(true).unwrap();
                assert!(std::fs::read(&path).unwrap() == pattern[..len], "{len} {around_cache}");
            }
        }
    }

    #[test]
    fn a_device_that_is_full_says_so() {
        let mut output = Output::create(Path::new("/dev/full"), true).unwrap();
        let written = output.write_all(&vec![1; WRITE_BYTES]).and_then(|()| output.finish(false));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
