//! The memory into which file bytes are read: one mapping, cut into frames of one size.
//!
//! The mapping is created once and touched only as far as frames are used: the last frame returned
//! is the first to be taken again, so a small job stays small and its frames stay in the cache. A
//! frame is an owned token; dropping it, on any thread, returns it.

use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::{Error, Result};

/// Alignment of frames and unit of their sizes, in bytes: enough for `O_DIRECT` anywhere.
pub const ALIGNMENT: usize = 4096;

/// The minimum size of a mapping of huge pages, where the kernel supports them.
const HUGE_PAGES_FROM_BYTES: usize = 8 << 20;

/// A slab of frames of one size. Clones share the same memory.
#[derive(Clone)]
pub struct Slab {
    mapping: Arc<Mapping>,
}

struct Mapping {
    base: NonNull<u8>,
    frame_bytes: usize,
    frames: usize,
    free: Mutex<Vec<u32>>,
    free_frames: AtomicUsize,
    /// Frames that were taken at least once. The list of free ones is a stack, so this is also the most
    /// that were in use at a time.
    touched_frames: AtomicUsize,
}

// SAFETY: the mapping is plain memory; each frame's part of it is reached only through the one
// `Frame` that owns its index, and the list of free indexes is behind a mutex.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Slab {
    /// Creates a slab of `frames` zeroed frames of `frame_bytes` each.
    ///
    /// # Panics
    /// When `frame_bytes` is no multiple of [`ALIGNMENT`], or either is 0.
    pub fn new(frames: usize, frame_bytes: usize) -> Result<Slab> {
        assert!(frame_bytes > 0 && frame_bytes.is_multiple_of(ALIGNMENT), "frames are aligned");
        assert!(frames > 0, "a slab has frames");
        let too_large = || Error::Memory {
            bytes: usize::MAX,
            source: std::io::Error::from(std::io::ErrorKind::OutOfMemory),
        };
        let bytes = frames.checked_mul(frame_bytes).ok_or_else(too_large)?;
        let last = u32::try_from(frames).map_err(|_| too_large())?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new anonymous mapping at an address chosen by the kernel; nothing else refers
        // to it.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(|errno| Error::Memory { bytes, source: errno.into() })?;
        // For a small job the kernel would clear a huge page for a few frames.
        let advice = match bytes < HUGE_PAGES_FROM_BYTES {
            true => Advice::LinuxNoHugepage,
            false => Advice::LinuxHugepage,
        };
        // SAFETY: the range is the mapping just made, and the advice changes no contents. Whether
        // the kernel follows it does not matter, so the result is ignored.
        let _ = unsafe { rustix::mm::madvise(base, bytes, advice) };
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(too_large)?;
        Ok(Slab {
            mapping: Arc::new(Mapping {
                base,
                frame_bytes,
                frames,
                free: Mutex::new((0..last).rev().collect()),
                free_frames: AtomicUsize::new(frames),
                touched_frames: AtomicUsize::new(0),
            }),
        })
    }

    /// Takes a frame, with the bytes it last held; `None` when all are in use.
    pub fn take(&self) -> Option<Frame> {
        let index = self.mapping.free_list().pop()?;
        self.mapping.free_frames.fetch_sub(1, Ordering::Relaxed);
        self.mapping.touched_frames.fetch_max(index as usize + 1, Ordering::Relaxed);
        Some(Frame { index, mapping: Arc::clone(&self.mapping) })
    }

    /// Returns the number of free frames; a moment later it may be greater, and is less only after
    /// [`Slab::take`].
    pub fn free_frames(&self) -> usize {
        self.mapping.free_frames.load(Ordering::Relaxed)
    }

    /// Returns the number of frames that were taken at least once: the others take no memory.
    pub fn touched_frames(&self) -> usize {
        self.mapping.touched_frames.load(Ordering::Relaxed)
    }

    /// Returns the total number of frames.
    pub fn frames(&self) -> usize {
        self.mapping.frames
    }

    /// Returns the bytes of one frame.
    pub fn frame_bytes(&self) -> usize {
        self.mapping.frame_bytes
    }
}

impl Mapping {
    fn free_list(&self) -> MutexGuard<'_, Vec<u32>> {
        // A push or a pop leaves the list intact even when its thread panics elsewhere.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let bytes = self.frames * self.frame_bytes;
        // SAFETY: base and length are the mapping's own, and no `Frame` is left: each holds an
        // `Arc` of this value.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast::<c_void>(), bytes) };
        debug_assert!(unmapped.is_ok(), "the mapping was whole");
    }
}

impl fmt::Debug for Slab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slab({} of {} frames free)", self.free_frames(), self.frames())
    }
}

/// A frame: exclusive access to its memory, returned to the slab when dropped.
pub struct Frame {
    index: u32,
    mapping: Arc<Mapping>,
}

impl Frame {
    /// Returns the address of the frame's memory, for the kernel to write to.
    pub(crate) fn as_raw(&mut self) -> *mut u8 {
        let offset = self.index as usize * self.mapping.frame_bytes;
        // SAFETY: `index` is below `frames`, so the offset is inside the mapping.
        unsafe { self.mapping.base.as_ptr().add(offset) }
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let offset = self.index as usize * self.mapping.frame_bytes;
        // SAFETY: the bytes are inside the mapping and initialised (it was zeroed); only this
        // token reaches them, and it is borrowed.
        unsafe {
            std::slice::from_raw_parts(
                self.mapping.base.as_ptr().add(offset),
                self.mapping.frame_bytes,
            )
        }
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut [u8] {
        let start = self.as_raw();
        // SAFETY: as in `deref`, and this token is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(start, self.mapping.frame_bytes) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.mapping.free_list().push(self.index);
        self.mapping.free_frames.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({})", self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_apart_aligned_and_come_back() {
        let slab = Slab::new(3, 8192).unwrap();
        let mut frames: Vec<Frame> = std::iter::from_fn(|| slab.take()).collect();
        assert_eq!((frames.len(), slab.free_frames(), slab.touched_frames()), (3, 0, 3));
        for (fill, frame) in (1u8..).zip(&mut frames) {
            assert!(frame.as_ptr().addr().is_multiple_of(ALIGNMENT));
            frame.fill(fill);
        }
        for (fill, frame) in (1u8..).zip(&frames) {
            assert!(frame.iter().all(|byte| *byte == fill));
        }
        let last = frames.pop();
        std::thread::scope(|scope| scope.spawn(|| drop(last)).join()).unwrap();
        assert_eq!(slab.free_frames(), 1);
        assert_eq!(slab.take().unwrap()[0], 3, "the last given back is the first taken");
    }

    #[test]
    fn frames_outlive_the_slab() {
        let frame = Slab::new(1, 4096).unwrap().take().unwrap();
        assert_eq!(frame[4095], 0);
    }
}
