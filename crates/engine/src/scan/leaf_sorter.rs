//! Sorting of leaves from file order to key order, in memory if it is enough, and otherwise also in a
//! temporary file.
//!
//! The branch pages give each leaf's place in key order, so nothing is compared. A leaf is
//! held until its turn, compressed unless memory holds all of them uncompressed: while the device is
//! slow the processors have the time, and three to six times as many leaves fit. Places are
//! divided into chunks that fit into memory in any case. When memory is full, the leaves of the fullest
//! chunk are written to the end of one temporary file, so that writing is sequential whatever the
//! table's fragmentation. When all leaves are read, the chunks are processed in order: each is
//! read back, and its leaves are returned by their places.
//!
//! The file has no name, so it vanishes with the process, however that ends. Leaves read back are
//! verified like any page, where they are decoded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use zstd::bulk::{Compressor, Decompressor};

use crate::pool::PageRef;
use crate::{Error, Remedy, Result};

/// The level of zstd: the fastest that compresses pages this well.
const LEVEL: i32 = -1;

/// The likely compression ratio of leaves.
const LIKELY_RATIO: usize = 3;

/// Bytes of memory per held leaf in addition to its data: its entry, and the allocator's overhead.
const OVERHEAD_BYTES: usize = 64;

/// Bytes of memory per spilled leaf: its place in the file, and in the lists of leaves to read.
const LIST_BYTES: usize = 40;

/// A sort of the leaves of one tree into key order; see the module's text.
pub(super) struct LeafSorter {
    /// The directory of the temporary file; `None` where leaves may not be spilled.
    dir: Option<PathBuf>,
    /// The temporary file, created when memory is not enough.
    file: Option<File>,
    written_bytes: u64,
    packing: Option<Packing>,
    chunk_leaves: usize,
    chunks: Vec<Chunk>,
    hold_bytes: usize,
    held_bytes: usize,
    /// Read errors of leaves, by place.
    failed: BTreeMap<usize, Error>,
    /// The next place to return.
    next: usize,
    /// The leaves of the current chunk.
    here: Vec<Option<PackedLeaf>>,
}

/// The bytes of a leaf, compressed if that makes them fewer.
#[derive(Clone)]
pub(super) struct PackedLeaf(Box<[u8]>);

/// A compressor of leaves.
struct Packing {
    compressor: Compressor<'static>,
    room: Vec<u8>,
}

/// A decompressor of leaves, created with the first leaf.
#[derive(Default)]
pub(super) struct Unpacking(Option<Decompressor<'static>>);

#[derive(Default)]
struct Chunk {
    held: Vec<(u32, PackedLeaf)>,
    written: Vec<Written>,
}

/// The place of a leaf in the temporary file.
#[derive(Clone, Copy)]
struct Written {
    offset: u64,
    place: u32,
    bytes: u32,
}

#[cold]
fn nowhere() -> Error {
    Error::resources(
        "memory is full, and leaves may not be spilled: no directory for temporary files is on a disk \
         with room for twice the leaves, or spilling is forbidden",
    )
    .with_remedy(Remedy::SetTmpdir)
    .with_remedy(Remedy::ReadInWindows)
}

impl LeafSorter {
    /// A sort of `leaves` leaves. `memory_bytes`: the most memory for them; `dir`: the directory of the
    /// temporary file, if one is needed and allowed.
    pub fn new(
        leaves: usize,
        memory_bytes: usize,
        page_bytes: usize,
        dir: Option<PathBuf>,
    ) -> Result<LeafSorter> {
        let hold_bytes = hold_bytes(leaves, memory_bytes);
        let plain_bytes = page_bytes + OVERHEAD_BYTES;
        let packing = match LeafSorter::is_sure_to_hold(leaves, memory_bytes, page_bytes) {
            true => None,
            false => Some(Packing::new(page_bytes)?),
        };
        let chunk_leaves = (hold_bytes / plain_bytes).max(1);
        Ok(LeafSorter {
            dir,
            file: None,
            written_bytes: 0,
            packing,
            chunk_leaves,
            chunks: (0..leaves.div_ceil(chunk_leaves)).map(|_| Chunk::default()).collect(),
            hold_bytes,
            held_bytes: 0,
            failed: BTreeMap::new(),
            next: 0,
            here: Vec::new(),
        })
    }

    /// Whether a number of leaves certainly fits into memory.
    pub fn is_sure_to_hold(leaves: usize, memory_bytes: usize, page_bytes: usize) -> bool {
        leaves.saturating_mul(page_bytes + OVERHEAD_BYTES) <= hold_bytes(leaves, memory_bytes)
    }

    /// The bytes of leaves that are likely to be spilled.
    pub fn likely_written_bytes(leaves: usize, memory_bytes: usize, page_bytes: usize) -> u64 {
        if LeafSorter::is_sure_to_hold(leaves, memory_bytes, page_bytes) {
            return 0;
        }
        let packed_bytes = leaves * (page_bytes / LIKELY_RATIO + OVERHEAD_BYTES);
        packed_bytes.saturating_sub(hold_bytes(leaves, memory_bytes)) as u64
    }

    /// The bytes written to the file.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Adds the leaf of a place, or its read error.
    pub fn put(&mut self, place: usize, leaf: Result<PageRef>) -> Result<()> {
        match leaf {
            Ok(page) => {
                let leaf = match &mut self.packing {
                    Some(packing) => packing.pack(&page),
                    None => PackedLeaf(page[..].into()),
                };
                self.held_bytes += leaf.0.len() + OVERHEAD_BYTES;
                self.chunks[place / self.chunk_leaves].held.push((place as u32, leaf));
            }
            Err(error) => _ = self.failed.insert(place, error),
        }
        while self.held_bytes > self.hold_bytes {
            let fullest = (0..self.chunks.len()).max_by_key(|at| self.chunks[*at].held.len());
            fullest.map_or(Ok(()), |fullest| self.write(fullest))?;
        }
        Ok(())
    }

    /// Ends the input: if leaves were spilled, only those of the first chunk stay in memory.
    pub fn all_put(&mut self) -> Result<()> {
        if self.file.is_some() {
            for chunk in 1..self.chunks.len() {
                self.write(chunk)?;
            }
        }
        self.open_chunk()
    }

    fn write(&mut self, chunk: usize) -> Result<()> {
        let held = std::mem::take(&mut self.chunks[chunk].held);
        let dir = self.dir.as_deref().ok_or_else(nowhere)?;
        let failed = |error| {
            Error::write("cannot spill leaves to a temporary file", error)
                .with_remedy(Remedy::SetTmpdir)
                .in_file(dir)
        };
        let file = match &mut self.file {
            Some(file) => file,
            file => file.insert(tempfile::tempfile_in(dir).map_err(failed)?),
        };
        for (place, PackedLeaf(leaf)) in held {
            file.write_all_at(&leaf, self.written_bytes).map_err(failed)?;
            let bytes = leaf.len() as u32;
            self.chunks[chunk].written.push(Written { offset: self.written_bytes, place, bytes });
            self.written_bytes += leaf.len() as u64;
            self.held_bytes -= leaf.len() + OVERHEAD_BYTES;
        }
        Ok(())
    }

    /// Brings the chunk of the next place into memory.
    fn open_chunk(&mut self) -> Result<()> {
        let Some(chunk) = self.chunks.get_mut(self.next / self.chunk_leaves) else { return Ok(()) };
        self.here.resize(self.chunk_leaves, None);
        for (place, leaf) in chunk.held.drain(..) {
            self.here[place as usize % self.chunk_leaves] = Some(leaf);
        }
        let written = std::mem::take(&mut chunk.written);
        let (Some(file), Some(dir), false) = (&self.file, &self.dir, written.is_empty()) else {
            return Ok(());
        };
        for Written { offset, place, bytes } in written {
            let mut leaf = vec![0; bytes as usize].into_boxed_slice();
            file.read_exact_at(&mut leaf, offset)
                .map_err(|error| unreadable(error).in_file(dir))?;
            self.here[place as usize % self.chunk_leaves] = Some(PackedLeaf(leaf));
        }
        Ok(())
    }

    /// The next leaf in key order, or its read error.
    pub fn take(&mut self) -> Result<Result<PackedLeaf>> {
        let leaf = match self.failed.remove(&self.next) {
            Some(error) => Err(error),
            None => {
                let held = self.here.get_mut(self.next % self.chunk_leaves).and_then(Option::take);
                Ok(held.ok_or_else(|| unreadable(io::ErrorKind::NotFound.into()))?)
            }
        };
        self.pass()?;
        Ok(leaf)
    }

    /// Skips a place that has no leaf.
    pub fn pass(&mut self) -> Result<()> {
        self.next += 1;
        if self.next.is_multiple_of(self.chunk_leaves) {
            return self.open_chunk();
        }
        Ok(())
    }

    /// The place of the next leaf.
    pub fn next_place(&self) -> usize {
        self.next
    }
}

/// The bytes of memory for held leaves: without the lists, and without the space that the allocator
/// loses between blocks of different sizes.
fn hold_bytes(leaves: usize, memory_bytes: usize) -> usize {
    (memory_bytes / 16 * 15).saturating_sub(leaves * LIST_BYTES)
}

fn unreadable(error: io::Error) -> Error {
    Error::read("cannot read spilled leaves back from a temporary file", error)
}

impl Packing {
    fn new(page_bytes: usize) -> Result<Packing> {
        // Pages that do not become smaller are kept uncompressed.
        Ok(Packing {
            compressor: Compressor::new(LEVEL).map_err(no_room)?,
            room: vec![0; page_bytes - 1],
        })
    }

    fn pack(&mut self, page: &[u8]) -> PackedLeaf {
        match self.compressor.compress_to_buffer(page, &mut self.room) {
            Ok(bytes) => PackedLeaf(self.room[..bytes].into()),
            Err(_) => PackedLeaf(page.into()),
        }
    }
}

impl Unpacking {
    /// The bytes of the page.
    pub fn unpack(&mut self, leaf: PackedLeaf, page_bytes: usize) -> Result<Box<[u8]>> {
        if leaf.0.len() == page_bytes {
            return Ok(leaf.0);
        }
        let decompressor = match &mut self.0 {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().map_err(no_room)?),
        };
        let page = decompressor.decompress(&leaf.0, page_bytes).map_err(unreadable)?;
        match page.len() == page_bytes {
            true => Ok(page.into_boxed_slice()),
            false => Err(unreadable(io::ErrorKind::InvalidData.into())),
        }
    }
}

fn no_room(error: io::Error) -> Error {
    Error::resources(format!("no memory to compress leaves in: {error}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use innoscan_io::{ALIGNMENT, Slab};

    use super::*;
    use crate::ErrorKind;

    /// A page that contains its place; every third cannot be compressed.
    fn page(place: usize) -> PageRef {
        let mut frame = Slab::new(1, ALIGNMENT).unwrap().take().unwrap();
        let mut noise = place as u64 + 1;
        for byte in frame.iter_mut() {
            noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *byte = if place.is_multiple_of(3) { (noise >> 56) as u8 } else { place as u8 };
        }
        frame[..8].copy_from_slice(&place.to_le_bytes());
        PageRef::from(frame)
    }

    /// Sorts leaves that arrive in the order of `places`, checks them in key order, and returns the
    /// bytes spilled.
    fn sorted(places: &[usize], memory_bytes: usize, dir: &Path) -> u64 {
        let mut unpacking = Unpacking::default();
        let dir = dir.to_owned();
        let mut sort = LeafSorter::new(places.len(), memory_bytes, ALIGNMENT, Some(dir)).unwrap();
        for &place in places {
            sort.put(place, Ok(page(place))).unwrap();
            assert!(sort.held_bytes <= memory_bytes);
        }
        sort.all_put().unwrap();
        for place in 0..places.len() {
            assert_eq!(sort.next_place(), place);
            let taken = sort.take().unwrap().unwrap();
            assert!(*unpacking.unpack(taken, ALIGNMENT).unwrap() == *page(place));
        }
        sort.written_bytes()
    }

    #[test]
    fn whatever_memory_there_is_leaves_come_in_key_order() {
        let dir = tempfile::tempdir().unwrap();
        let leaves: Vec<usize> = (0..97).map(|n| n * 41 % 97).collect();
        let one = ALIGNMENT + OVERHEAD_BYTES;
        let written = |memory_bytes| sorted(&leaves, memory_bytes, dir.path());
        for memory_bytes in [0, 1, one - 1, one, 2 * one, 7 * one, 20 * one] {
            assert!(written(memory_bytes) > 0, "{memory_bytes}");
        }
        // A third of the pages are incompressible, the others shrink to almost nothing.
        for memory_bytes in [48 * one, 96 * one, 105 * one, 200 * one] {
            assert_eq!(written(memory_bytes), 0, "{memory_bytes}");
        }
    }

    #[test]
    fn a_leaf_that_could_not_be_read_keeps_its_place() {
        let mut sort = LeafSorter::new(3, 1, ALIGNMENT, None).unwrap();
        for place in [2, 0, 1] {
            sort.put(place, Err(Error::resources(format!("leaf {place}")))).unwrap();
        }
        sort.all_put().unwrap();
        for place in 0..3 {
            let error = sort.take().unwrap().err().unwrap();
            assert_eq!(error.to_string(), format!("leaf {place}"));
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let mut sort = LeafSorter::new(2, 1, ALIGNMENT, Some("/nowhere".into())).unwrap();
        let error = sort.put(0, Ok(page(0))).unwrap_err();
        assert!(error.kind() == ErrorKind::Write && error.file() == Some(Path::new("/nowhere")));
        let mut sort = LeafSorter::new(2, 1, ALIGNMENT, None).unwrap();
        let error = sort.put(0, Ok(page(0))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Resources);
    }
}
