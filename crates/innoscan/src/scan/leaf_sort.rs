//! Leaves read in file order, put back into key order: with the memory at hand, and for what goes
//! beyond it a file.
//!
//! The branch pages have told each leaf's place in key order, so nothing is compared. Places are
//! cut into chunks that memory can hold. A leaf is held until memory is short; then those of the
//! fullest chunk are written to the end of one temporary file, so that writing is sequential
//! whatever the table's fragmentation. When all leaves were read the chunks are gone through in
//! order: each is read back, and its leaves are given out by their places.
//!
//! The file has no name, so it goes with the process, however that ends. It grows to the leaves'
//! bytes, less what memory holds. What was read back is verified as any page is, where it is
//! decoded.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::pool::{PageRef, Pool};
use crate::{Error, Result};

/// The leaves of one tree on their way into key order; see the module's text. Eight bytes a leaf.
pub(super) struct LeafSort {
    dir: PathBuf,
    /// Made when memory does not suffice.
    file: Option<File>,
    page_bytes: usize,
    /// Leaves of a chunk, and the most that are held.
    chunk_leaves: usize,
    chunks: Vec<Chunk>,
    held: usize,
    /// Pages of the file.
    written: u32,
    /// Leaves that could not be read, by their places.
    failed: BTreeMap<usize, Error>,
    /// The next place to give out.
    next: usize,
    /// The leaves of the chunk it is in, as far as they are here.
    here: Vec<Option<PageRef>>,
    /// Leaves of that chunk to be read back.
    awaited: Vec<Written>,
}

#[derive(Default)]
struct Chunk {
    held: Vec<(u32, PageRef)>,
    written: Vec<Written>,
}

/// A leaf in the file.
#[derive(Clone, Copy)]
struct Written {
    place: u32,
    /// Pages of the file before it.
    position: u32,
}

impl LeafSort {
    /// `leaves`: how many there are; `hold_most`: how many may be held, at least 1; `dir`: where
    /// the file is made, if one is needed.
    pub fn new(leaves: usize, hold_most: usize, page_bytes: usize, dir: PathBuf) -> LeafSort {
        assert!(hold_most > 0, "a leaf has to be somewhere");
        let chunks = (0..leaves.div_ceil(hold_most)).map(|_| Chunk::default()).collect();
        LeafSort {
            dir,
            file: None,
            page_bytes,
            chunk_leaves: hold_most,
            chunks,
            held: 0,
            written: 0,
            failed: BTreeMap::new(),
            next: 0,
            here: Vec::new(),
            awaited: Vec::new(),
        }
    }

    /// Bytes that were written.
    pub fn written_bytes(&self) -> u64 {
        u64::from(self.written) * self.page_bytes as u64
    }

    /// Takes the leaf of a place, or why it could not be read.
    pub fn put(&mut self, place: usize, leaf: Result<PageRef>) -> Result<()> {
        match leaf {
            Ok(page) => {
                self.chunks[place / self.chunk_leaves].held.push((place as u32, page));
                self.held += 1;
            }
            Err(error) => _ = self.failed.insert(place, error),
        }
        if self.held > self.chunk_leaves {
            let fullest = (0..self.chunks.len()).max_by_key(|at| self.chunks[*at].held.len());
            fullest.map_or(Ok(()), |fullest| self.write(fullest))?;
        }
        Ok(())
    }

    /// All leaves were put: of what is held only the first chunk's stays.
    pub fn all_put(&mut self) -> Result<()> {
        for chunk in 1..self.chunks.len() {
            self.write(chunk)?;
        }
        self.open_chunk();
        Ok(())
    }

    fn write(&mut self, chunk: usize) -> Result<()> {
        let held = std::mem::take(&mut self.chunks[chunk].held);
        self.held -= held.len();
        let failed = |error| {
            Error::write("setting leaves aside in a temporary file", error).in_file(&self.dir)
        };
        if self.file.is_none() && !held.is_empty() {
            self.file = Some(tempfile::tempfile_in(&self.dir).map_err(failed)?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        for (place, page) in held {
            let offset = u64::from(self.written) * self.page_bytes as u64;
            file.write_all_at(&page, offset).map_err(failed)?;
            self.chunks[chunk].written.push(Written { place, position: self.written });
            self.written += 1;
        }
        Ok(())
    }

    fn open_chunk(&mut self) {
        let Some(chunk) = self.chunks.get_mut(self.next / self.chunk_leaves) else { return };
        self.here.resize(self.chunk_leaves, None);
        for (place, page) in chunk.held.drain(..) {
            self.here[place as usize % self.chunk_leaves] = Some(page);
        }
        self.awaited = std::mem::take(&mut chunk.written);
        // The last first.
        self.awaited.reverse();
    }

    /// Reads leaves of the chunk at hand back as long as frames are free; whether any.
    pub fn read_back(&mut self, pool: &Pool, reserve: usize) -> Result<bool> {
        let mut progress = false;
        while let (Some(Written { place, position }), Some(file)) =
            (self.awaited.last(), &self.file)
        {
            let frame = if pool.free_frames() > reserve { pool.frame() } else { None };
            let Some(mut frame) = frame else { break };
            let offset = u64::from(*position) * self.page_bytes as u64;
            file.read_exact_at(&mut frame, offset).map_err(|error| {
                Error::read("reading leaves back from a temporary file", error).in_file(&self.dir)
            })?;
            self.here[*place as usize % self.chunk_leaves] = Some(Arc::new(frame));
            self.awaited.pop();
            progress = true;
        }
        Ok(progress)
    }

    /// The next leaf in key order, or why it could not be read; `None` when it is not here.
    pub fn take(&mut self) -> Option<Result<PageRef>> {
        let leaf = match self.failed.remove(&self.next) {
            Some(error) => Err(error),
            None => Ok(self.here.get_mut(self.next % self.chunk_leaves)?.take()?),
        };
        self.pass();
        Some(leaf)
    }

    /// Passes over a place that has no leaf.
    pub fn pass(&mut self) {
        self.next += 1;
        if self.next.is_multiple_of(self.chunk_leaves) {
            self.open_chunk();
        }
    }

    /// The place of the leaf that is next.
    pub fn next_place(&self) -> usize {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use innoscan_io::engine::memory::{Memory, Script};
    use innoscan_io::{ALIGNMENT, Slab};

    use super::*;

    /// Leaves come in the order of `places`, and go in key order.
    fn sorted(places: &[usize], hold_most: usize, dir: &std::path::Path) -> (Vec<usize>, u64) {
        let slab = Slab::new(hold_most + 1, ALIGNMENT).unwrap();
        let pool = Pool::new(slab, Box::new(Memory::new(Script::immediate(1))));
        let mut sort = LeafSort::new(places.len(), hold_most, ALIGNMENT, dir.to_owned());
        for &place in places {
            let mut frame = pool.frame().unwrap();
            frame[..8].copy_from_slice(&place.to_le_bytes());
            sort.put(place, Ok(Arc::new(frame))).unwrap();
        }
        sort.all_put().unwrap();
        let mut taken = Vec::new();
        while taken.len() < places.len() {
            if let Some(page) = sort.take() {
                taken.push(usize::from_le_bytes(page.unwrap()[..8].try_into().unwrap()));
            } else {
                assert!(sort.read_back(&pool, 0).unwrap(), "it waits for itself");
            }
        }
        (taken, sort.written_bytes() / ALIGNMENT as u64)
    }

    #[test]
    fn whatever_memory_there_is_leaves_come_in_key_order() {
        let dir = tempfile::tempdir().unwrap();
        let leaves: Vec<usize> = (0..97).map(|n| n * 41 % 97).collect();
        for hold_most in [1, 2, 7, 48, 96, 97, 200] {
            let (taken, written) = sorted(&leaves, hold_most, dir.path());
            assert_eq!(taken, (0..97).collect::<Vec<_>>(), "{hold_most}");
            assert_eq!(written == 0, hold_most >= 97, "{hold_most}: {written}");
            assert!(written <= 97);
        }
    }

    #[test]
    fn a_leaf_that_could_not_be_read_keeps_its_place() {
        let mut sort = LeafSort::new(3, 1, ALIGNMENT, PathBuf::from("/"));
        for place in [2, 0, 1] {
            sort.put(place, Err(Error::resources(format!("leaf {place}")))).unwrap();
        }
        sort.all_put().unwrap();
        for place in 0..3 {
            let error = sort.take().unwrap().unwrap_err();
            assert_eq!(error.to_string(), format!("leaf {place}"));
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let slab = Slab::new(2, ALIGNMENT).unwrap();
        let pool = Pool::new(slab, Box::new(Memory::new(Script::immediate(1))));
        let mut sort = LeafSort::new(2, 1, ALIGNMENT, PathBuf::from("/nowhere"));
        sort.put(0, Ok(Arc::new(pool.frame().unwrap()))).unwrap();
        let error = sort.put(1, Ok(Arc::new(pool.frame().unwrap()))).unwrap_err();
        assert!(error.is_write() && error.file() == Some(std::path::Path::new("/nowhere")));
    }
}
