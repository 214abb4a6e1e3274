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

/// A file opened for reading, or several that are read end to end as one.
#[derive(Debug)]
pub struct File {
    /// In the order of their bytes; at least one.
    parts: Vec<Part>,
    path: PathBuf,
    direct: bool,
    size_bytes: u64,
    identity: Identity,
    /// The first bytes, if they were read in advance.
    head: Box<[u8]>,
}

/// One of the files, with the offset at which it begins.
#[derive(Debug)]
struct Part {
    source: Source,
    start: u64,
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
        File::open_at(&[path], path, direct)
    }

    /// Opens files that are read end to end as one, under the name of the first; at least one.
    ///
    /// # Errors
    /// One of them cannot be opened, or the size of one that another follows is no multiple of
    /// [`ALIGNMENT`].
    pub fn open_joined(paths: &[PathBuf], direct: Direct) -> Result<File> {
        let places: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        File::open_at(&places, places.first().copied().unwrap_or(Path::new("")), direct)
    }

    /// Opens a copy of `path` that has no name of its own.
    pub fn open_copy(copy: &std::fs::File, path: &Path, direct: Direct) -> Result<File> {
        let number = std::os::fd::AsRawFd::as_raw_fd(copy);
        File::open_at(&[Path::new(&format!("/proc/self/fd/{number}"))], path, direct)
    }

    /// Opens `place` under the name `path`.
    pub fn open_as(place: &Path, path: &Path, direct: Direct) -> Result<File> {
        File::open_at(&[place], path, direct)
    }

    /// Opens `places` under the name `path`.
    fn open_at(places: &[&Path], path: &Path, direct: Direct) -> Result<File> {
        let mut opened = Vec::with_capacity(places.len());
        for place in places {
            // The name of a copy says nothing.
            let name = if places.len() == 1 { path } else { place };
            let open = Opened::open(place);
            opened.push(open.map_err(|source| Error::Open { path: name.to_owned(), source })?);
        }
        let uneven = |one: &Opened| !one.size_bytes.is_multiple_of(ALIGNMENT as u64);
        let followed = opened.len().saturating_sub(1);
        if let Some(nth) = opened[..followed].iter().position(uneven) {
            let what = "another file follows it, and its size is no multiple of 4096 bytes";
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, what);
            return Err(Error::Open { path: places[nth].to_owned(), source });
        }
        let Some(first) = opened.first() else {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(Error::Open { path: path.to_owned(), source });
        };
        let identity = first.identity;
        let is_wanted = match direct {
            Direct::Required => true,
            Direct::Off => false,
            Direct::Optional => !opened.iter().all(Opened::is_mostly_cached),
        };
        let set = |one: &Opened| set_direct(one.descriptor.as_fd());
        let is_direct = match is_wanted.then(|| opened.iter().try_for_each(set)) {
            None => false,
            Some(Ok(())) => true,
            // The others must not stay direct.
            Some(Err(_)) if direct == Direct::Optional && opened.len() > 1 => {
                return File::open_at(places, path, Direct::Off);
            }
            Some(Err(_)) if direct == Direct::Optional => false,
            Some(Err(errno)) => {
                return Err(Error::NoDirect { path: path.to_owned(), source: errno.into() });
            }
        };
        let mut size_bytes = 0;
        let mut parts = Vec::with_capacity(opened.len());
        for Opened { descriptor, size_bytes: part_bytes, .. } in opened {
            parts.push(Part { source: Source::Descriptor(descriptor), start: size_bytes });
            size_bytes += part_bytes;
        }
        Ok(File {
            parts,
            path: path.to_owned(),
            direct: is_direct,
            size_bytes,
            identity,
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
            parts: vec![Part { source: Source::Memory(bytes), start: 0 }],
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

    /// The error of a read that ended at `at_byte`: at the end of the file, or behind it.
    pub fn end_before(&self, at_byte: u64) -> ReadError {
        ReadError::EndOfFile { at_byte: self.size_bytes.min(at_byte) }
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

    /// Returns the descriptor of the file that has the byte at `offset`, and that byte's place in
    /// it, for the kernel's interfaces; `None` for a file in memory.
    pub(crate) fn descriptor_at(&self, offset: u64) -> Option<(BorrowedFd<'_>, u64)> {
        let part = self.part_at(offset);
        match &part.source {
            Source::Descriptor(descriptor) => Some((descriptor.as_fd(), offset - part.start)),
            Source::Memory(_) => None,
        }
    }

    /// Returns the file that has the byte at `offset`.
    fn part_at(&self, offset: u64) -> &Part {
        // The first begins at 0.
        &self.parts[self.parts_to(offset) - 1]
    }

    /// Returns the bytes from `offset` to the beginning of the next file, which one read cannot
    /// cross.
    pub(crate) fn adjacent_bytes(&self, offset: u64) -> usize {
        let next = self.parts.get(self.parts_to(offset)).map_or(u64::MAX, |part| part.start);
        usize::try_from(next - offset).unwrap_or(usize::MAX)
    }

    /// Returns the number of files up to the one that has the byte at `offset`.
    fn parts_to(&self, offset: u64) -> usize {
        self.parts.partition_point(|part| part.start <= offset)
    }

    /// Makes one attempt to read from `offset`, which must not cross into the next file; fewer bytes
    /// than requested are no error.
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
        let part = self.part_at(offset);
        match &part.source {
            Source::Descriptor(descriptor) => {
                rustix::io::preadv(descriptor, buffers, offset - part.start)
            }
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

    /// Fills `bytes` from `offset` synchronously, as far as the file has them; returns their number. For
    /// files that are read through the page cache ([`Direct::Off`]).
    ///
    /// # Errors
    /// The device fails.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> std::result::Result<usize, ReadError> {
        self.fill(offset, bytes)
    }

    /// Fills `bytes` from `offset`, as far as the file has them; returns their number.
    fn fill(&self, offset: u64, bytes: &mut [u8]) -> std::result::Result<usize, ReadError> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let end = bytes.len().min(done.saturating_add(self.adjacent_bytes(at)));
            let mut rest = [std::io::IoSliceMut::new(&mut bytes[done..end])];
            match self.attempt(&mut rest, at) {
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
                    return Err(ReadError::Device { errno: errno.raw_os_error(), at_byte: at });
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

/// A file that was just opened, through the page cache.
struct Opened {
    descriptor: OwnedFd,
    size_bytes: u64,
    identity: Identity,
}

impl Opened {
    fn open(place: &Path) -> std::io::Result<Opened> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let descriptor = rustix::fs::open(place, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&descriptor)?;
        let size_bytes = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return Err(Errno::ISDIR.into()),
            FileType::RegularFile => u64::try_from(stat.st_size).unwrap_or_default(),
            // The size of a device is its end position.
            _ => rustix::fs::seek(&descriptor, SeekFrom::End(0))?,
        };
        // The reads are planned here; the kernel's own read-ahead would only add to them.
        let _ = rustix::fs::fadvise(&descriptor, 0, None, Advice::Random);
        let identity = Identity { device: stat.st_dev, inode: stat.st_ino };
        Ok(Opened { descriptor, size_bytes, identity })
    }

    /// Returns whether more than half of the sampled places could be read without waiting for the
    /// disk.
    fn is_mostly_cached(&self) -> bool {
        let samples = CACHE_SAMPLES.min(self.size_bytes / ALIGNMENT as u64);
        let cached = (0..samples).filter(|sample| {
            let mut byte = [0];
            let mut buffer = [std::io::IoSliceMut::new(&mut byte)];
            // Since Linux 5.9 (`filemap.c`) such a read may start one that waits, after which the sampled page
            // is in the cache: so each call takes other samples.
            let stretch_bytes = self.size_bytes / samples;
            let offset =
                stretch_bytes * sample + RandomState::new().hash_one(sample) % stretch_bytes;
            let flags = ReadWriteFlags::NOWAIT;
            rustix::io::preadv2(&self.descriptor, &mut buffer, offset, flags).is_ok()
        });
        cached.count() as u64 * 2 > samples
    }
}

/// The directory that a file is in, by its path: `.` for a name alone.
pub fn directory_with(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
    fn joined_files_are_read_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..30_000).map(|at| (at % 251) as u8).collect();
        let paths = ["one", "two", "three"].map(|name| dir.path().join(name));
        let ends = [0, 8192, 12_288, 30_000];
        for (path, range) in paths.iter().zip(ends.windows(2)) {
            std::fs::write(path, &content[range[0]..range[1]]).unwrap();
        }
        for direct in [Direct::Optional, Direct::Off] {
            let file = File::open_joined(&paths, direct).unwrap();
            assert_eq!((file.size_bytes(), file.path()), (30_000, &*paths[0]));
            for (offset, len) in [(0, 32_768), (4096, 8192), (8192, 4096), (12_288, 20_480)] {
                let mut frame = Slab::new(1, len).unwrap().take().unwrap();
                let read_bytes = file.read_now(offset as u64, &mut frame).unwrap();
                assert_eq!(read_bytes, len.min(30_000 - offset));
                assert_eq!(frame[..read_bytes], content[offset..offset + read_bytes]);
            }
        }
        let uneven = [paths[2].clone(), paths[0].clone()];
        let error = File::open_joined(&uneven, Direct::Off).unwrap_err().to_string();
        assert!(error.contains("three") && error.contains("multiple of 4096"), "{error}");
        let missing = [paths[0].clone(), dir.path().join("none")];
        let error = File::open_joined(&missing, Direct::Off).unwrap_err().to_string();
        assert!(error.contains("none"), "{error}");
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
