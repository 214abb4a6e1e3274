//! Heads read by io_uring, hundreds of files at once: opening, reading and closing of each are
//! three linked entries, and none of them takes a system call of its own. The file is never in the
//! process's table of descriptors, but in a slot of the ring.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use io_uring::{IoUring, opcode, squeue, types};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::open_mode::OpenMode;
use super::shared::Shared;
use super::{HEAD_BYTES, HeadCounters, HeadFile, HeadOptions};
use crate::ring::{build, drain, enter, failed};
use crate::{ALIGNMENT, Frame, Result, Slab};

/// The stages of a file, in the low bits of its completions' user data.
const OPEN: u64 = 0;
const READ: u64 = 1;
const CLOSE: u64 = 2;
const STAGE_BITS: u32 = 2;

/// The number of kernel threads, for all rings, that open files whose inodes are not in memory: as
/// many as a device's queue holds.
const OPENERS: u32 = 128;

/// A file in flight.
struct Slot {
    frame: Frame,
    token: u64,
    /// The path, which the kernel reads until the file is open.
    path: CString,
    mode: OpenMode,
    begun: Instant,
    opened: Option<Instant>,
    /// The result of opening, then of reading.
    head: Option<io::Result<usize>>,
    /// Completions still to come.
    left: u8,
}

struct Heads<'h, 's> {
    ring: IoUring,
    shared: &'h Shared<'s>,
    /// Files of this thread that are not started.
    waiting: IntoIter<HeadFile>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Slots whose file was read, but is not due yet: the earliest first.
    early: VecDeque<usize>,
    /// Number of files whose completions are still to come.
    under_way: usize,
    latency: Duration,
    /// The mode; one that was refused once is not tried again.
    mode: OpenMode,
    counters: HeadCounters,
}

/// Checks that the kernel permits a ring, and opens files into its slots, as Linux does since 5.15.
/// An older one opens them as normal descriptors.
///
/// # Errors
/// When the kernel does not.
pub(super) fn check() -> Result<()> {
    let mut ring = build(&mut IoUring::builder(), 1)?;
    ring.submitter().register_files(&[-1]).map_err(failed)?;
    let open = open_entry(c"/", 0, OFlags::RDONLY)?;
    // SAFETY: the path is a constant.
    unsafe { ring.submission().push(&open) }.map_err(|_| failed(Errno::BUSY))?;
    while ring.completion().is_empty() {
        enter(&ring, 1)?;
    }
    match ring.completion().next().map_or(0, |done| done.result()) {
        0 => Ok(()),
        error if error < 0 => Err(failed(Errno::from_raw_os_error(-error))),
        descriptor => {
            // SAFETY: the kernel has just created it for this process, and nothing else refers to
            // it.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
            Err(failed(io::Error::new(
                io::ErrorKind::Unsupported,
                "it cannot open files into a ring's slots, as Linux does since 5.15",
            )))
        }
    }
}

/// Runs one thread's share of the work.
pub(super) fn work(options: &HeadOptions, shared: &Shared<'_>) -> Result<HeadCounters> {
    let mut heads = Heads::new(options, shared)?;
    loop {
        heads.start_files()?;
        if heads.under_way == 0 && heads.early.is_empty() {
            return Ok(heads.counters);
        }
        heads.wait()?;
    }
}

/// Creates an entry that opens a file into a slot of the ring.
fn open_entry(path: &CStr, slot: usize, flags: OFlags) -> Result<squeue::Entry> {
    let target = u32::try_from(slot).ok();
    let target = target.and_then(|slot| types::DestinationSlot::try_from_slot_target(slot).ok());
    // The slot has no close-on-exec.
    let open = opcode::OpenAt::new(types::Fd(rustix::fs::CWD.as_raw_fd()), path.as_ptr())
        .flags(flags.bits().cast_signed())
        .file_index(Some(target.ok_or_else(|| failed(Errno::INVAL))?))
        .build();
    Ok(open)
}

impl<'h, 's> Heads<'h, 's> {
    fn new(options: &HeadOptions, shared: &'h Shared<'s>) -> Result<Heads<'h, 's>> {
        let threads = options.threads.max(1);
        // A ring has at most as many slots as the process may have open files.
        let max = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |max| max as usize);
        let depth = options.depth.div_ceil(threads).clamp(1, max.min(4096));
        let mut wished = IoUring::builder();
        wished.setup_single_issuer().setup_defer_taskrun();
        let ring = build(&mut wished, 3 * depth)?;
        let unused = vec![-1; depth];
        ring.submitter().register_files(&unused).map_err(failed)?;
        // A kernel older than this call uses as many threads as it likes.
        let openers = OPENERS.div_ceil(threads as u32);
        _ = ring.submitter().register_iowq_max_workers(&mut [openers, 0]);
        let slab = Slab::new(depth, ALIGNMENT)?;
        let slot = |frame| Slot {
            frame,
            token: 0,
            path: CString::default(),
            mode: OpenMode::first(options.method),
            begun: Instant::now(),
            opened: None,
            head: None,
            left: 0,
        };
        let slots: Vec<Slot> = (0..depth).filter_map(|_| slab.take()).map(slot).collect();
        Ok(Heads {
            ring,
            shared,
            waiting: Vec::new().into_iter(),
            free: (0..slots.len()).rev().collect(),
            slots,
            early: VecDeque::new(),
            under_way: 0,
            latency: options.latency,
            mode: OpenMode::first(options.method),
            counters: HeadCounters::default(),
        })
    }

    /// Starts files as long as a slot is free.
    fn start_files(&mut self) -> Result<()> {
        while !self.free.is_empty() && !self.shared.is_over() {
            if self.waiting.as_slice().is_empty() {
                self.waiting = self.shared.next_files().into_iter();
            }
            let Some(file) = self.waiting.next() else { break };
            let Some(number) = self.free.pop() else { break };
            let slot = &mut self.slots[number];
            (slot.token, slot.path) = (file.token, file.path);
            slot.mode = self.mode;
            self.start(number)?;
        }
        Ok(())
    }

    /// Submits the entries that open, read and close a slot's file.
    fn start(&mut self, number: usize) -> Result<()> {
        let slot = &mut self.slots[number];
        (slot.begun, slot.opened, slot.head) = (Instant::now(), None, None);
        let data = (number as u64) << STAGE_BITS;
        // Otherwise the kernel would first try without blocking, and for files not in memory then
        // use a kernel thread all the same.
        let open = open_entry(&slot.path, number, slot.mode.flags())?
            .flags(squeue::Flags::IO_LINK | squeue::Flags::ASYNC)
            .user_data(data | OPEN);
        let place = types::Fixed(number as u32);
        // A short read must not keep the file from being closed.
        let read = opcode::Read::new(place, slot.frame.as_mut_ptr(), slot.mode.bytes as u32)
            .build()
            .flags(squeue::Flags::IO_HARDLINK)
            .user_data(data | READ);
        let close = opcode::Close::new(place).build().user_data(data | CLOSE);
        // SAFETY: the path and the frame belong to the slot, which stays in place until its three
        // completions are collected; `Drop` waits for those outstanding.
        let pushed = unsafe { self.ring.submission().push_multiple(&[open, read, close]) };
        pushed.map_err(|_| failed(Errno::BUSY))?;
        slot.left = 3;
        self.under_way += 1;
        Ok(())
    }

    /// Waits until a file is complete or due.
    fn wait(&mut self) -> Result<()> {
        if self.under_way > 0 {
            enter(&self.ring, 1)?;
        } else if let Some(&first) = self.early.front() {
            std::thread::sleep(self.until_due(first));
        }
        self.take_in()?;
        self.tell_due();
        Ok(())
    }

    fn take_in(&mut self) -> Result<()> {
        let done: Vec<(u64, i32)> =
            self.ring.completion().map(|done| (done.user_data(), done.result())).collect();
        for (data, result) in done {
            let number = (data >> STAGE_BITS) as usize;
            let now = Instant::now();
            let Some(slot) = self.slots.get_mut(number) else { continue };
            slot.left -= 1;
            match (data & ((1 << STAGE_BITS) - 1), usize::try_from(result)) {
                (OPEN, Ok(_)) => {
                    slot.opened = Some(now);
                    self.counters.files += 1;
                    self.counters.open += now - slot.begun;
                }
                (READ, Ok(bytes)) => {
                    slot.head = Some(Ok(bytes));
                    self.counters.read_bytes += bytes as u64;
                    self.counters.read += now - slot.opened.unwrap_or(slot.begun);
                }
                (OPEN, Err(_)) => slot.head = Some(Err(io::Error::from_raw_os_error(-result))),
                // Cancelled because the file could not be opened.
                (READ, Err(_)) if slot.head.is_none() => {
                    slot.head = Some(Err(io::Error::from_raw_os_error(-result)));
                }
                _ => {}
            }
            if slot.left == 0 {
                self.under_way -= 1;
                self.finish(number)?;
            }
        }
        Ok(())
    }

    /// Finishes a file whose completions have all arrived.
    fn finish(&mut self, number: usize) -> Result<()> {
        let slot = &mut self.slots[number];
        let refusal = slot.head.as_ref().and_then(|head| head.as_ref().err());
        let next = refusal.and_then(Errno::from_io_error).and_then(|error| slot.mode.after(error));
        if let Some(next) = next {
            (slot.mode, self.mode) = (next, next);
            return self.start(number);
        }
        self.early.push_back(number);
        Ok(())
    }

    fn until_due(&self, number: usize) -> Duration {
        let slot = &self.slots[number];
        self.latency.saturating_sub(slot.opened.unwrap_or(slot.begun).elapsed())
    }

    fn tell_due(&mut self) {
        while let Some(&first) = self.early.front() {
            if !self.until_due(first).is_zero() && !self.shared.is_over() {
                return;
            }
            self.early.pop_front();
            let slot = &mut self.slots[first];
            let head = slot.head.take().unwrap_or_else(|| Err(io::ErrorKind::Interrupted.into()));
            self.shared.give(slot.token, head.map(|bytes| &slot.frame[..bytes.min(HEAD_BYTES)]));
            self.free.push(first);
        }
    }
}

impl Drop for Heads<'_, '_> {
    /// Waits for the outstanding entries: the kernel reads paths and writes to frames until then.
    fn drop(&mut self) {
        let out = self.slots.iter().map(|slot| usize::from(slot.left)).sum();
        if drain(&mut self.ring, out, |_| true).is_err() {
            self.slots.drain(..).for_each(std::mem::forget);
        }
    }
}
