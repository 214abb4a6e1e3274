//! A file written from its start to its end, around the page cache where the file system can: what
//! is written once and not read soon would only push out what others need, and the kernel stores it
//! no faster for having a copy.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::file::set_direct;
use crate::{ALIGNMENT, Frame, Slab};

/// Bytes of a write.
const WRITE_BYTES: usize = 1 << 20;

/// A file of fewer bytes goes through the page cache: setting up what goes around it would take longer
/// than writing them.
const SMALL_BYTES: usize = 64 << 10;

/// A file being written; nothing is sure to be in it before [`Output::finish`].
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Whether the page cache is to be gone around, where the file system can.
    around_cache: bool,
    /// Whether it is.
    is_direct: bool,
    /// The first bytes, as long as they are few.
    small: Vec<u8>,
    /// `None`: all bytes are in `small`.
    frame: Option<Frame>,
    /// Bytes of the frame that are not in the file yet.
    filled: usize,
    /// Bytes of the file.
    written: u64,
}

impl Output {
    /// Makes an empty file, or empties the one there is. `around_cache`: where the file system can.
    pub fn create(path: &Path, around_cache: bool) -> io::Result<Output> {
        Ok(Output {
            file: File::create(path)?,
            around_cache,
            is_direct: false,
            small: Vec::new(),
            frame: None,
            filled: 0,
            written: 0,
        })
    }

    /// Writes what is left; with `sync`, returns when it is on the disk.
    pub fn finish(mut self, sync: bool) -> io::Result<()> {
        if self.frame.is_none() {
            self.file.write_all_at(&self.small, 0)?;
        } else {
            // All but the last bytes are whole blocks, which go the way the others went.
            let blocks = self.filled / ALIGNMENT * ALIGNMENT;
            self.write_frame(0, blocks)?;
            go_through_cache(&self.file, &mut self.is_direct)?;
            self.write_frame(blocks, self.filled)?;
        }
        if sync { self.file.sync_all() } else { Ok(()) }
    }

    /// Writes part of the frame to the end of the file.
    fn write_frame(&mut self, from: usize, to: usize) -> io::Result<()> {
        let bytes = self.frame.as_ref().map_or(&[][..], |frame| &frame[from..to]);
        match self.file.write_all_at(bytes, self.written) {
            // A file system may take the flag, and then no such write.
            Err(error) if self.is_direct && error.kind() == io::ErrorKind::InvalidInput => {
                go_through_cache(&self.file, &mut self.is_direct)?;
                self.file.write_all_at(bytes, self.written)?;
            }
            written => written?,
        }
        self.written += (to - from) as u64;
        Ok(())
    }

    /// The file turns out not to be small: what there is of it moves into a frame.
    fn grow(&mut self) -> io::Result<()> {
        let slab = Slab::new(1, WRITE_BYTES).map_err(io::Error::other)?;
        let mut frame = slab.take().ok_or(io::ErrorKind::OutOfMemory)?;
        let small = std::mem::take(&mut self.small);
        frame[..small.len()].copy_from_slice(&small);
        self.filled = small.len();
        self.is_direct = self.around_cache && set_direct(self.file.as_fd()).is_ok();
        self.frame = Some(frame);
        Ok(())
    }
}

fn go_through_cache(file: &File, is_direct: &mut bool) -> io::Result<()> {
    if *is_direct {
        let flags = rustix::fs::fcntl_getfl(file)?;
        rustix::fs::fcntl_setfl(file, flags & !OFlags::DIRECT)?;
        *is_direct = false;
    }
    Ok(())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.frame.is_none() {
            if self.small.len() + bytes.len() < SMALL_BYTES {
                self.small.extend_from_slice(bytes);
                return Ok(bytes.len());
            }
            self.grow()?;
        }
        let Some(frame) = &mut self.frame else { return Ok(0) };
        let taken = bytes.len().min(WRITE_BYTES - self.filled);
        frame[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        if self.filled == WRITE_BYTES {
            self.write_frame(0, WRITE_BYTES)?;
            self.filled = 0;
        }
        Ok(taken)
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
        let small = SMALL_BYTES;
        for len in [
            0,
            1,
            ALIGNMENT,
            ALIGNMENT + 1,
            small - 1,
            small,
            small + 1,
            whole - 1,
            whole,
            whole + 1,
            pattern.len(),
        ] {
            for around_cache in [true, false] {
                let mut output = Output::create(&path, around_cache).unwrap();
                for part in pattern[..len].chunks(123_457) {
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
