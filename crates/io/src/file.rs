//! Files opened for reading: access mode, size and identity.

use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, FileType, Mode, OFlags, SeekFrom};
use rustix::io::{Errno, ReadWriteFlags};

use crate::{ALIGNMENT, Error, Frame, ReadError, Result};

/// The use of the page cache by reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT`, or an error where the file system does not support it.
    Required,
    /// `O_DIRECT`, unless the file system does not support it or most of the file is already in the
    /// page cache.
    #[default]
    Optional,
    /// Reads through the page cache.
    Off,
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Device of the file.
    pub device: u64,
    /// Inode of the file on that device.
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
    /// The first bytes, if they were read in advance.
    head: Box<[u8]>,
}

#[derive(Debug)]
enum Source {
    Descriptor(OwnedFd),
    Memory(Arc<[u8]>),
}

/// Number of places sampled to estimate how much of a file is cached, one byte each.
const CACHE_SAMPLES: u64 = 32;

impl File {
    /// Opens `path` for reading only.
    pub fn open(path: &Path, direct: Direct) -> Result<File> {
        File::open_at(path, path, direct)
    }

    /// Opens a copy of `path` that has no name of its own.
    pub fn open_copy(copy: &std::fs::File, path: &Path, direct: Direct) -> Result<File> {
        let number = std::os::fd::AsRawFd::as_raw_fd(copy);
        File::open_at(Path::new(&format!("/proc/self/fd/{number}")), path, direct)
    }

    /// Opens `place` under the name `path`.
    fn open_at(place: &Path, path: &Path, direct: Direct) -> Result<File> {
        let cannot_open =
            |errno: Errno| Error::Open { path: path.to_owned(), source: errno.into() };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let descriptor = rustix::fs::open(place, flags, Mode::empty()).map_err(cannot_open)?;
        let stat = rustix::fs::fstat(&descriptor).map_err(cannot_open)?;
        let size_bytes = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return Err(cannot_open(Errno::ISDIR)),
            FileType::RegularFile => u64::try_from(stat.st_size).unwrap_or_default(),
            // The size of a device is its end position.
            _ => rustix::fs::seek(&descriptor, SeekFrom::End(0)).map_err(cannot_open)?,
        };
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
            head: Box::default(),
        })
    }

    /// Creates a file of bytes in memory, for tests; `name` replaces its path.
    pub fn memory(name: &str, bytes: impl Into<Arc<[u8]>>) -> File {
        let bytes = bytes.into();
        File {
            path: PathBuf::from(name),
            direct: false,
            size_bytes: bytes.len() as u64,
            identity: Identity { device: u64::MAX, inode: bytes.as_ptr().addr() as u64 },
            source: Source::Memory(bytes),
            head: Box::default(),
        }
    }

    /// Reads and keeps the first `bytes_max` bytes, or the whole file if shorter: reads within
    /// them, by this thread itself, do not access the file again. A file read around the page cache
    /// has no head.
    ///
    /// # Errors
    /// When the device fails; the file then has no head.
    pub fn read_head(&mut self, bytes_max: usize) -> std::result::Result<(), ReadError> {
        let bytes = usize::try_from(self.size_bytes).unwrap_or(usize::MAX).min(bytes_max);
        if self.direct || bytes <= self.head.len() {
            return Ok(());
        }
        let mut head = vec![0; bytes];
        let read_bytes = self.fill(0, &mut head)?;
        head.truncate(read_bytes);
        self.head = head.into();
        Ok(())
    }

    /// Returns the bytes read by [`File::read_head`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the path by which the file was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length in bytes at the time of opening.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns whether reads bypass the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Returns the identity of the file.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the alignment of offsets and lengths of reads.
    pub(crate) fn alignment(&self) -> usize {
        if self.direct { ALIGNMENT } else { 1 }
    }

    /// Returns the descriptor for the kernel's interfaces; `None` for a file in memory.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Descriptor(descriptor) => Some(descriptor.as_fd()),
            Source::Memory(_) => None,
        }
    }

    /// Makes one attempt to read from `offset`; fewer bytes than requested are no error.
    pub(crate) fn attempt(
        &self,
        buffers: &mut [std::io::IoSliceMut<'_>],
        offset: u64,
    ) -> std::result::Result<usize, Errno> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let wanted: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        if start.checked_add(wanted).is_some_and(|end| end <= self.head.len()) {
            return Ok(copy(&self.head[start..], buffers));
        }
        match &self.source {
            Source::Descriptor(descriptor) => rustix::io::preadv(descriptor, buffers, offset),
            Source::Memory(bytes) => Ok(copy(&bytes[start.min(bytes.len())..], buffers)),
        }
    }

    /// Fills `frame` from `offset` synchronously, without an engine: for the first pages of a file.
    /// Returns the number of good bytes, less than the frame holds only at the file's end.
    pub fn read_now(
        &self,
        offset: u64,
        frame: &mut Frame,
    ) -> std::result::Result<usize, ReadError> {
        self.fill(offset, frame)
    }

    /// Fills `bytes` from `offset`, as far as the file has them; returns their number.
    fn fill(&self, offset: u64, bytes: &mut [u8]) -> std::result::Result<usize, ReadError> {
        let mut done = 0;
        while done < bytes.len() {
            let mut rest = [std::io::IoSliceMut::new(&mut bytes[done..])];
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

/// Copies bytes into buffers, one after the other; returns the number copied.
fn copy(bytes: &[u8], buffers: &mut [std::io::IoSliceMut<'_>]) -> usize {
    let mut rest = bytes;
    for buffer in buffers {
        let (now, later) = rest.split_at(buffer.len().min(rest.len()));
        buffer[..now.len()].copy_from_slice(now);
        rest = later;
    }
    bytes.len() - rest.len()
}

/// Returns whether more than half of the sampled places could be read without waiting for the disk.
fn is_mostly_cached(descriptor: BorrowedFd<'_>, size_bytes: u64) -> bool {
    let samples = CACHE_SAMPLES.min(size_bytes / ALIGNMENT as u64);
    let cached = (0..samples).filter(|sample| {
        let mut byte = [0];
        let mut buffer = [std::io::IoSliceMut::new(&mut byte)];
        // Since Linux 5.9 (`filemap.c`) such a read may start one that waits, after which the sampled page
        // is in the cache: so each call takes other samples.
        let stretch_bytes = size_bytes / samples;
        let offset = stretch_bytes * sample + RandomState::new().hash_one(sample) % stretch_bytes;
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
    fn a_head_is_what_the_file_begins_with() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.ibd");
        let content: Vec<u8> = (0..10_000).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        for bytes_max in [0, 5000, 10_000, 1 << 20] {
            let mut file = File::open(&path, Direct::Off).unwrap();
            file.read_head(bytes_max).unwrap();
            assert_eq!(file.head(), &content[..bytes_max.min(10_000)]);
            let mut frame = Slab::new(1, 4096).unwrap().take().unwrap();
            for offset in [0, 4096, 8192] {
                let read_bytes = file.read_now(offset as u64, &mut frame).unwrap();
                assert_eq!(frame[..read_bytes], content[offset..offset + read_bytes]);
                assert_eq!(read_bytes, 4096.min(10_000 - offset));
            }
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
