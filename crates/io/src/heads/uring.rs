//! Hundreds of files at once: each one's opening, reading and closing are three linked entries of an
//! io_uring, and no call is made for any of them alone. The file is never in the process's table of
//! descriptors, but in a slot of the ring's own.

use std::collections::VecDeque;
use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, squeue, types};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{HEAD_BYTES, HeadCounters, HeadFile, HeadOptions, TakeHead};
use crate::{ALIGNMENT, Error, Frame, Result, Slab};

const NAME: &str = "io_uring";

/// The stages of a file, in the low bits of what tells its completions apart.
const OPEN: u64 = 0;
const READ: u64 = 1;
const CLOSE: u64 = 2;
const STAGE_BITS: u32 = 2;

/// Kernel threads that open files whose inodes are not in memory: as many as a device's queue
/// holds.
const OPENERS: u32 = 128;

/// How a file is read, the cheapest first: what the device or the file system refuses is tried in
/// the next.
const HOWS: [How; 3] = [
    How { is_direct: true, bytes: HEAD_BYTES },
    How { is_direct: true, bytes: ALIGNMENT },
    How { is_direct: false, bytes: HEAD_BYTES },
];

struct How {
    is_direct: bool,
    bytes: usize,
}

/// A file under way.
struct Slot {
    frame: Frame,
    token: u64,
    /// The kernel reads it until the file is open.
    path: CString,
    /// Its place in [`HOWS`].
    how: usize,
    begun: Instant,
    opened: Option<Instant>,
    /// What became of opening it, then of reading it.
    head: Option<io::Result<usize>>,
    /// Completions that are still to come.
    left: u8,
}

struct Heads<'h> {
    ring: IoUring,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Read, and not to be told yet: the earliest first.
    early: VecDeque<usize>,
    /// Whose completions are still to come.
    under_way: usize,
    latency: Duration,
    /// What was refused once is not tried again.
    how: usize,
    counters: HeadCounters,
    take: &'h mut TakeHead<'h>,
    is_over: bool,
}

/// Whether the kernel permits a ring with slots for files.
pub(super) fn is_possible() -> bool {
    IoUring::new(8).is_ok_and(|ring| ring.submitter().register_files(&[-1]).is_ok())
}

pub(super) fn read_heads(
    options: &HeadOptions,
    files: &mut (dyn Iterator<Item = HeadFile> + Send),
    take: &mut TakeHead<'_>,
) -> Result<HeadCounters> {
    let mut take = |token: u64, head: io::Result<&[u8]>| take(token, head);
    let mut heads = Heads::new(options, &mut take)?;
    let mut files = files.fuse();
    loop {
        while !heads.is_over && !heads.free.is_empty() {
            let Some(file) = files.next() else { break };
            heads.begin(file)?;
        }
        if heads.under_way == 0 && heads.early.is_empty() {
            return Ok(heads.counters);
        }
        heads.wait()?;
    }
}

/// What a file is opened with. A slot of the ring has no close-on-exec.
fn open_flags(is_direct: bool) -> i32 {
    let direct = if is_direct { OFlags::DIRECT } else { OFlags::empty() };
    (OFlags::RDONLY | direct).bits().cast_signed()
}

fn failed(source: impl Into<io::Error>) -> Error {
    Error::Engine { engine: NAME, source: source.into() }
}

impl<'h> Heads<'h> {
    fn new(options: &HeadOptions, take: &'h mut TakeHead<'h>) -> Result<Heads<'h>> {
        let depth = options.depth.clamp(1, 4096);
        let entries = u32::try_from(3 * depth).map_err(|_| failed(Errno::INVAL))?;
        let ring = IoUring::builder()
            .setup_coop_taskrun()
            .setup_single_issuer()
            .build(entries)
            .or_else(|_| IoUring::new(entries))
            .map_err(failed)?;
        let unused = vec![-1; depth];
        ring.submitter().register_files(&unused).map_err(failed)?;
        // An old kernel opens with as many threads as it likes.
        _ = ring.submitter().register_iowq_max_workers(&mut [OPENERS, 0]);
        let slab = Slab::new(depth, ALIGNMENT)?;
        let slot = |frame| Slot {
            frame,
            token: 0,
            path: CString::default(),
            how: 0,
            begun: Instant::now(),
            opened: None,
            head: None,
            left: 0,
        };
        let slots: Vec<Slot> = (0..depth).filter_map(|_| slab.take()).map(slot).collect();
        Ok(Heads {
            ring,
            free: (0..slots.len()).rev().collect(),
            slots,
            early: VecDeque::new(),
            under_way: 0,
            latency: options.latency,
            how: 0,
            counters: HeadCounters::default(),
            take,
            is_over: false,
        })
    }

    fn begin(&mut self, file: HeadFile) -> Result<()> {
        let Some(number) = self.free.pop() else { return Ok(()) };
        let slot = &mut self.slots[number];
        (slot.token, slot.path) = (file.token, file.path);
        slot.how = self.how;
        self.start(number)
    }

    /// Asks for a slot's file to be opened, read and closed.
    fn start(&mut self, number: usize) -> Result<()> {
        let slot = &mut self.slots[number];
        (slot.begun, slot.opened, slot.head) = (Instant::now(), None, None);
        let how = &HOWS[slot.how];
        let place = u32::try_from(number).map_err(|_| failed(Errno::INVAL))?;
        let target = types::DestinationSlot::try_from_slot_target(place)
            .map_err(|_| failed(Errno::INVAL))?;
        let data = (number as u64) << STAGE_BITS;
        let open = opcode::OpenAt::new(types::Fd(rustix::fs::CWD.as_raw_fd()), slot.path.as_ptr())
            .flags(open_flags(how.is_direct))
            .file_index(Some(target))
            .build()
            .flags(squeue::Flags::IO_LINK)
            .user_data(data | OPEN);
        // A short read must not keep the file from being closed.
        let read =
            opcode::Read::new(types::Fixed(place), slot.frame.as_mut_ptr(), how.bytes as u32)
                .build()
                .flags(squeue::Flags::IO_HARDLINK)
                .user_data(data | READ);
        let close = opcode::Close::new(types::Fixed(place)).build().user_data(data | CLOSE);
        // SAFETY: the path and the frame are the slot's, which stays as it is until its three
        // completions were taken in; `Drop` waits for those still out.
        let pushed = unsafe { self.ring.submission().push_multiple(&[open, read, close]) };
        pushed.map_err(|_| failed(Errno::BUSY))?;
        slot.left = 3;
        self.under_way += 1;
        Ok(())
    }

    /// Waits until something is done, or due.
    fn wait(&mut self) -> Result<()> {
        if self.under_way > 0 {
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                    _ => return Err(failed(error)),
                },
            }
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
                // Cancelled where it could not be opened.
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

    /// All of a file's completions are there.
    fn finish(&mut self, number: usize) -> Result<()> {
        let slot = &mut self.slots[number];
        let is_refused = match &slot.head {
            Some(Err(error)) => Errno::from_io_error(error) == Some(Errno::INVAL),
            _ => false,
        };
        if is_refused && slot.how + 1 < HOWS.len() {
            slot.how += 1;
            self.how = self.how.max(slot.how);
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
            if !self.until_due(first).is_zero() && !self.is_over {
                return;
            }
            self.early.pop_front();
            let slot = &mut self.slots[first];
            let head = slot.head.take().unwrap_or_else(|| Err(io::ErrorKind::Interrupted.into()));
            if !self.is_over {
                self.is_over = !(self.take)(
                    slot.token,
                    head.map(|bytes| &slot.frame[..bytes.min(HEAD_BYTES)]),
                );
            }
            self.free.push(first);
        }
    }
}

impl Drop for Heads<'_> {
    /// Waits for what is still out: the kernel reads paths and writes to frames until then.
    fn drop(&mut self) {
        let mut left: usize = self.slots.iter().map(|slot| usize::from(slot.left)).sum();
        while left > 0 {
            if self.ring.submit_and_wait(1).is_err_and(|error| {
                !matches!(Errno::from_io_error(&error), Some(Errno::INTR | Errno::BUSY))
            }) {
                // Nothing is known of them any more: their memory may never be used again.
                self.slots.drain(..).for_each(std::mem::forget);
                return;
            }
            left = left.saturating_sub(self.ring.completion().count());
        }
    }
}
