//! A file to read from: how it was opened, how large it is, which one it is.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};

use crate::{ALIGNMENT, Error, Frame, ReadError, Result};

/// Whether reads go past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT`, or an error where the file system does not have it.
    Required,
    /// `O_DIRECT`, unless the file system does not have it or most of the file is in the page
    /// cache already.
    #[default]
    Optional,
    /// Through the page cache.
    Off,
}

/// Which file this is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The device it is on.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

/// A file opened for reading.
#[derive(Debug)]
pub struct File {
    source: Source,
    path: PathBuf,
    direct: bool,
    size_bytes: u64,
    identity: Identity,
}

#[derive(Debug)]
enum Source {
    Descriptor(OwnedFd),
    Memory(Arc<[u8]>),
}

/// Bytes looked at to guess how much of a file is cached: one in each of so many places.
const CACHE_SAMPLES: u64 = 32;

impl File {
    /// Opens `path`; an innoscan never writes to it.
    pub fn open(path: &Path, direct: Direct) -> Result<File> {
        File::open_at(path, path, direct)
    }

    /// Opens a copy of `path` that has no name of its own.
    pub fn open_copy(copy: &std::fs::File, path: &Path, direct: Direct) -> Result<File> {
        let number = std::os::fd::AsRawFd::as_raw_fd(copy);
        File::open_at(Path::new(&format!("/proc/self/fd/{number}")), path, direct)
    }

    /// Opens what is at `place`, and calls it `path`.
    fn open_at(place: &Path, path: &Path, direct: Direct) -> Result<File> {
        let cannot_open =
            |errno: Errno| Error::Open { path: path.to_owned(), source: errno.into() };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let descriptor = rustix::fs::open(place, flags, Mode::empty()).map_err(cannot_open)?;
        let stat = rustix::fs::fstat(&descriptor).map_err(cannot_open)?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory {
            return Err(cannot_open(Errno::ISDIR));
        }
        let size_bytes =
            rustix::fs::seek(&descriptor, rustix::fs::SeekFrom::End(0)).map_err(cannot_open)?;
        // The reads are planned here; the kernel's own read-ahead would only add to them.
        let _ = rustix::fs::fadvise(&descriptor, 0, None, Advice::Random);
        let wanted = match direct {
            Direct::Required => true,
            Direct::Off => false,
            Direct::Optional => !is_mostly_cached(descriptor.as_fd(), size_bytes),
        };
        let is_direct = match wanted.then(|| set_direct(descriptor.as_fd())) {
            None => false,
            Some(Ok(())) => true,
            Some(Err(_)) if direct == Direct::Optional => false,
            Some(Err(errno)) => {
                return Err(Error::NoDirect { path: path.to_owned(), source: errno.into() });
            }
        };
        Ok(File {
            source: Source::Descriptor(descriptor),
            path: path.to_owned(),
            direct: is_direct,
            size_bytes,
            identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        })
    }

    /// A file that is only bytes in memory, for tests; `name` stands in for its path.
    pub fn memory(name: &str, bytes: impl Into<Arc<[u8]>>) -> File {
        let bytes = bytes.into();
        File {
            path: PathBuf::from(name),
            direct: false,
            size_bytes: bytes.len() as u64,
            identity: Identity { device: u64::MAX, inode: bytes.as_ptr().addr() as u64 },
            source: Source::Memory(bytes),
        }
    }

    /// The name it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes when it was opened.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether its reads go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Which file it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// What offsets and lengths of reads must be multiples of.
    pub(crate) fn alignment(&self) -> usize {
        if self.direct { ALIGNMENT } else { 1 }
    }

    /// For the kernel's interfaces; `None` for a file in memory.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Descriptor(descriptor) => Some(descriptor.as_fd()),
            Source::Memory(_) => None,
        }
    }

    /// One attempt to read from `offset`; fewer bytes than asked for is no error.
    pub(crate) fn attempt(
        &self,
        buffers: &mut [std::io::IoSliceMut<'_>],
        offset: u64,
    ) -> std::result::Result<usize, Errno> {
        match &self.source {
            Source::Descriptor(descriptor) => rustix::io::preadv(descriptor, buffers, offset),
            Source::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let mut rest = &bytes[start..];
                let before = rest.len();
                for buffer in buffers {
                    let len = buffer.len().min(rest.len());
                    let (head, tail) = rest.split_at(len);
                    buffer[..len].copy_from_slice(head);
                    rest = tail;
                }
                Ok(before - rest.len())
            }
        }
    }

    /// Fills `frame` from `offset`, waiting for it, with no engine: for the first look at a file.
    /// Returns how many bytes are good: fewer than the frame holds only at the file's end.
    pub fn read_now(
        &self,
        offset: u64,
        frame: &mut Frame,
    ) -> std::result::Result<usize, ReadError> {
        let mut done = 0;
        while done < frame.len() {
            let mut rest = [std::io::IoSliceMut::new(&mut frame[done..])];
            match self.attempt(&mut rest, offset + done as u64) {
                Ok(0) => break,
                Ok(read_bytes) => {
                    done += read_bytes;
                    if offset + done as u64 >= self.size_bytes {
                        break;
                    }
                    done -= done % self.alignment();
                }
                Err(Errno::INTR) => {}
                Err(errno) => {
                    let at_byte = offset + done as u64;
                    return Err(ReadError::Device { errno: errno.raw_os_error(), at_byte });
                }
            }
        }
        Ok(done)
    }
}

pub(crate) fn set_direct(descriptor: BorrowedFd<'_>) -> std::result::Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(descriptor)?;
    rustix::fs::fcntl_setfl(descriptor, flags | OFlags::DIRECT)
}

/// Whether more than half of the places looked at could be read without waiting for the disk.
fn is_mostly_cached(descriptor: BorrowedFd<'_>, size_bytes: u64) -> bool {
    let samples = CACHE_SAMPLES.min(size_bytes / ALIGNMENT as u64);
    let cached = (0..samples).filter(|sample| {
        let mut byte = [0];
        let mut buffer = [std::io::IoSliceMut::new(&mut byte)];
        let offset = size_bytes / samples * sample;
        let flags = ReadWriteFlags::NOWAIT;
        rustix::io::preadv2(descriptor, &mut buffer, offset, flags).is_ok()
    });
    cached.count() as u64 * 2 > samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slab;

    #[test]
    fn reads_to_the_end_and_says_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.ibd");
        std::fs::write(&path, vec![7u8; 10_000]).unwrap();
        for direct in [Direct::Optional, Direct::Off] {
            let file = File::open(&path, direct).unwrap();
            assert_eq!(file.size_bytes(), 10_000);
            let mut frame = Slab::new(1, 8192).unwrap().take().unwrap();
            assert_eq!(file.read_now(0, &mut frame), Ok(8192));
            assert_eq!(file.read_now(8192, &mut frame), Ok(10_000 - 8192));
            assert_eq!(file.read_now(16384, &mut frame), Ok(0));
            assert_eq!(file.identity(), File::open(&path, Direct::Off).unwrap().identity());
        }
    }

    #[test]
    fn refuses_what_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let error = File::open(dir.path(), Direct::Optional).unwrap_err();
        assert!(error.to_string().contains("directory"), "{error}");
        let error = File::open(&dir.path().join("none"), Direct::Off).unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
    }
}
