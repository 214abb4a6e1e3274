//! Reads by `io_uring`: one submission starts many reads, and only [`Engine::poll`] waits.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{IoUring, opcode, squeue, types};
use rustix::event::EventfdFlags;
use rustix::io::Errno;

use super::{Engine, Wait, Wake};
use crate::flight::{Flight, Next, RawPart};
use crate::ring::{NAME, build, drain, enter, enter_until, failed};
use crate::{Completion, Read, Result};

/// User data of the completion that is no read: the poll of the wake-up descriptor.
const WAKE: u64 = u64::MAX;

/// An engine with an `io_uring` and the reads in it.
pub struct Uring {
    ring: IoUring,
    slots: Vec<Option<Slot>>,
    free_slots: Vec<u32>,
    /// Slots whose entry is still to be added to the submission queue.
    unqueued: Vec<u32>,
    wakeup: Arc<Wakeup>,
    is_wakeup_armed: bool,
    /// Whether a wake arrived that has ended no wait yet.
    is_woken: bool,
}

struct Slot {
    flight: Flight,
    /// The kernel's list of destinations, which stays in place until the completion.
    parts: Vec<RawPart>,
}

// SAFETY: the pointers in `parts` lead into frames that the same slot owns, which may move between
// threads; the kernel accepts submissions from any thread.
unsafe impl Send for Slot {}

struct Wakeup(OwnedFd);

impl Wake for Wakeup {
    fn wake(&self) {
        // It can only fail when the counter is full, and then a wake is pending anyway.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

impl Uring {
    /// Creates a ring for `depth` reads.
    ///
    /// # Errors
    /// When the kernel does not permit a ring.
    pub fn new(depth: usize) -> Result<Uring> {
        let depth = depth.clamp(1, 16 * 1024);
        // One additional entry for the wake-up.
        let ring = build(IoUring::builder().setup_coop_taskrun(), depth + 1)?;
        // Waiting with a deadline: Linux 5.11.
        if !ring.params().is_feature_ext_arg() {
            return Err(failed(Errno::NOSYS));
        }
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wakeup = rustix::event::eventfd(0, flags).map_err(failed)?;
        let free_slots = (0..depth as u32).rev().collect();
        Ok(Uring {
            ring,
            slots: (0..depth).map(|_| None).collect(),
            free_slots,
            unqueued: Vec::with_capacity(depth),
            wakeup: Arc::new(Wakeup(wakeup)),
            is_wakeup_armed: false,
            is_woken: false,
        })
    }

    fn enqueue(&mut self, entry: &squeue::Entry) -> Result<()> {
        loop {
            // SAFETY: the entry's memory is the slot's frames and parts, which stay in place until
            // its completion is collected; `Drop` waits for those outstanding.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            enter(&self.ring, 0)?;
        }
    }

    fn enqueue_slot(&mut self, index: u32) -> Result<()> {
        let Some(slot) = self.slots[index as usize].as_mut() else { return Ok(()) };
        slot.parts.clear();
        slot.flight.rest_raw(&mut slot.parts);
        let read = slot.flight.read();
        let Some((descriptor, offset)) = read.file.descriptor_at(slot.flight.offset()) else {
            return Err(failed(Errno::BADF));
        };
        let descriptor = types::Fd(descriptor.as_raw_fd());
        let entry = match &slot.parts[..] {
            [part] if u32::try_from(part.len).is_ok() => {
                opcode::Read::new(descriptor, part.start, part.len as u32).offset(offset).build()
            }
            parts => opcode::Readv::new(descriptor, parts.as_ptr().cast(), parts.len() as u32)
                .offset(offset)
                .build(),
        };
        self.enqueue(&entry.user_data(u64::from(index)))
    }

    fn enqueue_all(&mut self) -> Result<()> {
        while let Some(index) = self.unqueued.pop() {
            if let Err(error) = self.enqueue_slot(index) {
                self.unqueued.push(index);
                return Err(error);
            }
        }
        if !self.is_wakeup_armed {
            let descriptor = types::Fd(self.wakeup.0.as_raw_fd());
            // POLLIN
            let entry = opcode::PollAdd::new(descriptor, 1).build().user_data(WAKE);
            self.enqueue(&entry)?;
            self.is_wakeup_armed = true;
        }
        Ok(())
    }

    /// Collects the available completions.
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let Uring { ring, slots, free_slots, unqueued, wakeup, is_wakeup_armed, is_woken } = self;
        for entry in ring.completion() {
            if entry.user_data() == WAKE {
                *is_wakeup_armed = false;
                *is_woken = true;
                let _ = rustix::io::read(&wakeup.0, &mut [0u8; 8]);
                continue;
            }
            let index = entry.user_data() as u32;
            let Some(slot) = slots[index as usize].as_mut() else { continue };
            let answer = usize::try_from(entry.result())
                .map_err(|_| Errno::from_raw_os_error(-entry.result()));
            match slot.flight.advance(answer) {
                Next::Again => unqueued.push(index),
                Next::Over(error) => {
                    free_slots.push(index);
                    if let Some(slot) = slots[index as usize].take() {
                        done.push(slot.flight.complete(error));
                    }
                }
            }
        }
    }
}

impl Engine for Uring {
    fn name(&self) -> &'static str {
        NAME
    }

    fn depth(&self) -> usize {
        self.slots.len()
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free_slots.len()
    }

    fn push(&mut self, read: Read) {
        let index = self.free_slots.pop();
        assert!(index.is_some(), "no more reads than the depth");
        let index = index.unwrap_or_default();
        let parts = Vec::with_capacity(read.frames.len());
        self.slots[index as usize] = Some(Slot { flight: Flight::new(read), parts });
        self.unqueued.push(index);
    }

    fn submit(&mut self) -> Result<()> {
        // Entries are submitted in the order in which they were pushed.
        self.unqueued.reverse();
        self.enqueue_all()?;
        enter(&self.ring, 0)
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        let before = done.len();
        let may_wait = wait != Wait::No;
        loop {
            self.unqueued.reverse();
            self.enqueue_all()?;
            let has_come = self.is_woken || !self.ring.completion().is_empty();
            match wait.deadline() {
                Some(deadline) if !has_come => enter_until(&self.ring, deadline)?,
                _ => enter(&self.ring, usize::from(may_wait && !has_come))?,
            }
            self.reap(done);
            let is_over = done.len() > before || self.is_woken || wait.is_over();
            if is_over && self.unqueued.is_empty() {
                self.is_woken &= !may_wait;
                return Ok(());
            }
        }
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.wakeup) as Arc<dyn Wake>
    }
}

impl Drop for Uring {
    /// Waits for the outstanding reads: the kernel writes to their frames until then.
    fn drop(&mut self) {
        let out = self.in_flight() - self.unqueued.len();
        if drain(&mut self.ring, out, |entry| entry.user_data() != WAKE).is_err() {
            self.slots.drain(..).for_each(std::mem::forget);
        }
    }
}
