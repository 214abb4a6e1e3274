//! A file written sequentially, bypassing the page cache where the file system supports it: output
//! that is not read soon would only evict pages that others need, and a cached copy does not make
//! it faster.

mod behind;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use self::behind::WriteBehind;
use crate::file::set_direct;
use crate::{ALIGNMENT, Frame, Slab};

/// Bytes per write. A file system that must allocate blocks takes one write of a file at a time, so a
/// write has to be large enough for several requests to the device.
const WRITE_BYTES: usize = 4 << 20;

/// The maximum size of a file that is written at once, through the cache: setting up more for it
/// would take longer.
const SMALL_BYTES: usize = 64 << 10;

/// A file being written; its content is only certain after [`Output::finish`].
#[derive(Debug)]
pub struct Output {
    buffer: Buffer,
}

/// The bytes that are not in the file yet.
#[derive(Debug)]
enum Buffer {
    /// All bytes of a file that is small so far, and does not exist yet.
    Small { path: PathBuf, around_cache: bool, bytes: Vec<u8> },
    /// The end of a larger file.
    Large(Large),
    /// A write failed.
    Failed,
}

#[derive(Debug)]
struct Large {
    frame: Frame,
    /// Bytes of the frame that are not in the file yet.
    filled: usize,
    writer: Writer,
}

/// The thread that writes.
#[derive(Debug)]
enum Writer {
    /// The caller's, until the first frame is full.
    Caller(Appender, Slab),
    Behind(WriteBehind),
}

/// Writes to the end of a file.
#[derive(Debug)]
struct Appender {
    file: File,
    is_direct: bool,
    /// Bytes written to the file.
    written: u64,
}

impl Output {
    /// A file that is created, or truncated if it exists, when it is no longer small or is finished.
    /// `around_cache`: bypass the page cache where the file system supports it.
    pub fn new(path: &Path, around_cache: bool) -> Output {
        Output { buffer: Buffer::Small { path: path.to_owned(), around_cache, bytes: Vec::new() } }
    }

    /// Takes all bytes of a file that is small, and so was not created; `None` for others.
    pub fn take_small(&mut self) -> Option<Vec<u8>> {
        match &mut self.buffer {
            Buffer::Small { bytes, .. } => Some(std::mem::take(bytes)),
            Buffer::Large(_) | Buffer::Failed => None,
        }
    }

    /// Writes the remaining bytes; with `sync`, returns when the file is on the disk.
    pub fn finish(self, sync: bool) -> io::Result<()> {
        let file = match self.buffer {
            Buffer::Small { path, bytes, .. } => {
                let file = File::create(path)?;
                file.write_all_at(&bytes, 0)?;
                file
            }
            Buffer::Large(large) => large.finish()?,
            Buffer::Failed => return Err(failed_before()),
        };
        if sync { file.sync_all() } else { Ok(()) }
    }
}

fn failed_before() -> io::Error {
    io::Error::other("an earlier write to the file failed")
}

impl Large {
    fn new(file: File, around_cache: bool) -> io::Result<Large> {
        let slab = Slab::new(behind::FRAMES, WRITE_BYTES).map_err(io::Error::other)?;
        let frame = slab.take().ok_or(io::ErrorKind::OutOfMemory)?;
        let is_direct = around_cache && set_direct(file.as_fd()).is_ok();
        let appender = Appender { file, is_direct, written: 0 };
        Ok(Large { frame, filled: 0, writer: Writer::Caller(appender, slab) })
    }

    /// Buffers as many bytes as fit, and writes a full buffer; returns their number.
    fn take(mut self, bytes: &[u8]) -> io::Result<(Large, usize)> {
        let taken = bytes.len().min(WRITE_BYTES - self.filled);
        self.frame[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        if self.filled < WRITE_BYTES {
            return Ok((self, taken));
        }
        let behind = match self.writer {
            Writer::Caller(appender, slab) => WriteBehind::start(appender, &slab)?,
            Writer::Behind(behind) => behind,
        };
        let (behind, frame) = behind.exchange(self.frame)?;
        Ok((Large { frame, filled: 0, writer: Writer::Behind(behind) }, taken))
    }

    fn finish(self) -> io::Result<File> {
        let mut appender = match self.writer {
            Writer::Caller(appender, _) => appender,
            Writer::Behind(behind) => behind.end()?,
        };
        // All but the last bytes are whole blocks, which are written like the others.
        let (blocks, rest) =
            self.frame[..self.filled].split_at(self.filled / ALIGNMENT * ALIGNMENT);
        appender.append(blocks)?;
        appender.go_through_cache()?;
        appender.append(rest)?;
        Ok(appender.file)
    }
}

impl Appender {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.file.write_all_at(bytes, self.written) {
            // A file system may accept the flag, but then no such write.
            Err(error) if self.is_direct && error.kind() == io::ErrorKind::InvalidInput => {
                self.go_through_cache()?;
                self.file.write_all_at(bytes, self.written)?;
            }
            written => written?,
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn go_through_cache(&mut self) -> io::Result<()> {
        if self.is_direct {
            let flags = rustix::fs::fcntl_getfl(&self.file)?;
            rustix::fs::fcntl_setfl(&self.file, flags & !OFlags::DIRECT)?;
            self.is_direct = false;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Buffer::Small { bytes: small, .. } = &mut self.buffer
            && small.len() + bytes.len() <= SMALL_BYTES
        {
            small.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let large = match std::mem::replace(&mut self.buffer, Buffer::Failed) {
            Buffer::Small { path, around_cache, bytes } => {
                Large::new(File::create(path)?, around_cache)?.take(&bytes)?.0
            }
            Buffer::Large(large) => large,
            Buffer::Failed => return Err(failed_before()),
        };
        let (large, taken) = large.take(bytes)?;
        self.buffer = Buffer::Large(large);
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
        for len in [
            0,
            1,
            ALIGNMENT,
            SMALL_BYTES,
            SMALL_BYTES + 1,
            whole - 1,
            whole,
            whole + 1,
            2 * whole,
            pattern.len(),
        ] {
            for around_cache in [true, false] {
                let mut output = Output::new(&path, around_cache);
                for part in pattern[..len].chunks(23_457) {
                    output.write_all(part).unwrap();
                }
                output.finish(true).unwrap();
                assert!(std::fs::read(&path).unwrap() == pattern[..len], "{len} {around_cache}");
            }
        }
    }

    #[test]
    fn a_small_file_exists_only_when_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut output = Output::new(&path, true);
        output.write_all(&[1; SMALL_BYTES]).unwrap();
        assert!(output.take_small().unwrap() == [1; SMALL_BYTES]);
        drop(output);
        assert!(!path.exists());
        let mut output = Output::new(&path, true);
        output.write_all(&[2; SMALL_BYTES + 1]).unwrap();
        assert!(output.take_small().is_none());
        output.finish(false).unwrap();
        assert!(std::fs::read(&path).unwrap() == [2; SMALL_BYTES + 1]);
    }

    #[test]
    fn a_device_that_is_full_says_so() {
        let mut output = Output::new(Path::new("/dev/full"), true);
        let written = output.write_all(&vec![1; WRITE_BYTES]).and_then(|()| output.finish(false));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
        // The error arrives while more is written.
        let mut output = Output::new(Path::new("/dev/full"), true);
        let written = output.write_all(&vec![1; 10 * WRITE_BYTES]);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(output.write_all(&[1]).unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(output.finish(false).unwrap_err().kind(), io::ErrorKind::Other);
    }
}
