//! An engine limited to a [`Device`]: reads start and complete no sooner than on that device. A
//! table on a fast disk can be read as from a slow one, and a scan can leave a share of a device to
//! others.
//!
//! ```text
//! push -> waiting (until its turn) -> the other engine -> arrived (until it is due) -> poll
//! ```
//!
//! Foreground reads may be exempt: they go to the other engine at once.
//!
//! The modelled device executes reads one after the other, in the order in which they were pushed.
//! Idle time is not saved up for later.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::wake_flag::WakeFlag;
use super::yielding::Yielding;
use super::{Engine, Wait, Wake};
use crate::{Completion, Device, Kind, Read, Result};

/// Pauses between phases of reading, for the reads of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Bytes read between two pauses; 0: no pauses.
    pub after_bytes: u64,
    /// Length of a pause.
    pub pause: Duration,
    /// Whether reads yield to those of others: one at a time, and the device idle after each for twice
    /// the time that it took, or longer where reads meet a limit.
    pub yields: bool,
}

impl Pauses {
    /// Returns whether there are no pauses.
    pub fn is_none(&self) -> bool {
        !self.has_phases() && !self.yields
    }

    fn has_phases(&self) -> bool {
        self.after_bytes > 0 && !self.pause.is_zero()
    }
}

/// The reads that an engine limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottledReads {
    /// All reads.
    All,
    /// All reads except those of the foreground.
    AllButForeground,
}

/// An engine that executes its reads on another, no faster than a device, and with pauses.
pub struct Throttled {
    inner: Box<dyn Engine>,
    throttled: ThrottledReads,
    device: Device,
    pauses: Pauses,
    read_since_pause_bytes: u64,
    yielding: Yielding,
    /// The end of the idle time of reads that yield.
    idle_until: Instant,
    /// The place after the last read: the file's inode, and bytes from its start.
    head: (u64, u64),
    /// Time at which the device completes all reads pushed so far.
    free_at: Instant,
    waiting: VecDeque<Waiting>,
    /// Reads passed to the other engine, in the order in which they were pushed.
    started: VecDeque<Started>,
    /// Exempt reads: the caller's tokens, by those of the other engine.
    exempt: HashMap<u64, u64>,
    /// Reads that have completed but are not yet due, by the other engine's token.
    arrived: HashMap<u64, Completion>,
    next_number: u64,
    polled: Vec<Completion>,
    waker: Arc<Waker>,
}

struct Waiting {
    starts_at: Instant,
    started: Started,
    read: Read,
}

#[derive(Clone, Copy)]
struct Started {
    number: u64,
    /// Token of the caller.
    token: u64,
    pushed_at: Instant,
    /// Time at which the read was passed to the other engine.
    passed_at: Instant,
    due_at: Instant,
}

/// A waker of both engines.
struct Waker {
    flag: WakeFlag,
    inner: Arc<dyn Wake>,
}

impl Wake for Waker {
    fn wake(&self) {
        self.flag.wake();
        self.inner.wake();
    }
}

impl Throttled {
    /// Creates an engine that executes reads on `inner` as if its files were on `device`, with
    /// pauses.
    pub fn new(
        inner: Box<dyn Engine>,
        throttled: ThrottledReads,
        device: Device,
        pauses: Pauses,
    ) -> Throttled {
        let waker = Waker { flag: WakeFlag::default(), inner: inner.waker() };
        Throttled {
            inner,
            throttled,
            device,
            pauses,
            read_since_pause_bytes: 0,
            yielding: Yielding::new(Instant::now()),
            idle_until: Instant::now(),
            head: (0, 0),
            free_at: Instant::now(),
            waiting: VecDeque::new(),
            started: VecDeque::new(),
            exempt: HashMap::new(),
            arrived: HashMap::new(),
            next_number: 0,
            polled: Vec::new(),
            waker: Arc::new(waker),
        }
    }

    /// Passes the reads whose turn it is to the other engine.
    fn start(&mut self) {
        let now = Instant::now();
        while self.next_start().is_some_and(|starts_at| starts_at <= now) {
            let Some(Waiting { started, read, .. }) = self.waiting.pop_front() else { return };
            self.started.push_back(Started { passed_at: now, ..started });
            self.inner.push(read);
        }
    }

    /// Starts reads, collects completions and returns those that are due; returns whether there
    /// were any.
    fn advance(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<bool> {
        self.start();
        let polled = self.inner.poll(wait, &mut self.polled);
        let before = done.len();
        for mut one in self.polled.drain(..) {
            match self.exempt.remove(&one.token) {
                Some(token) => {
                    one.token = token;
                    done.push(one);
                }
                None => _ = self.arrived.insert(one.token, one),
            }
        }
        polled?;
        let now = Instant::now();
        while let Some(first) = self.started.front().filter(|first| first.due_at <= now) {
            let Some(mut completion) = self.arrived.remove(&first.number) else { break };
            completion.token = first.token;
            completion.service = now - first.pushed_at;
            if self.pauses.yields {
                self.idle_until = self.yielding.after_read(first.passed_at, now);
            }
            done.push(completion);
            self.started.pop_front();
        }
        Ok(done.len() > before)
    }

    /// Moves the head of an emulated disk to a read, and to its end; returns the time until the read can
    /// start. Two files are taken to lie side by side.
    fn move_head(&mut self, read: &Read, bytes: u64) -> Duration {
        let inode = read.file.identity().inode;
        let from = if self.head.0 == inode { self.head.1 } else { 0 };
        self.head = (inode, read.offset + bytes);
        self.device.positioning(from, read.offset)
    }

    /// Returns the time at which the next read may start; `None` when there is none, or it has to wait for
    /// another one.
    fn next_start(&self) -> Option<Instant> {
        let starts_at = self.waiting.front()?.starts_at;
        match self.pauses.yields {
            true if !self.started.is_empty() => None,
            true => Some(starts_at.max(self.idle_until)),
            false => Some(starts_at),
        }
    }

    /// Returns the time of the next event; `None` when it depends on the other engine.
    fn next_at(&self) -> Option<Instant> {
        let starts_at = self.next_start();
        let first = self.started.front();
        let due_at = first.filter(|first| self.arrived.contains_key(&first.number));
        let due_at = due_at.map(|first| first.due_at);
        starts_at.into_iter().chain(due_at).min()
    }
}

impl Engine for Throttled {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn depth(&self) -> usize {
        self.inner.depth()
    }

    fn in_flight(&self) -> usize {
        self.waiting.len() + self.started.len() + self.exempt.len()
    }

    fn push(&mut self, mut read: Read) {
        assert!(self.in_flight() < self.depth(), "no more reads than the depth");
        // Callers may give two reads the same number.
        let number = self.next_number;
        self.next_number += 1;
        let token = std::mem::replace(&mut read.token, number);
        if self.throttled == ThrottledReads::AllButForeground && read.kind == Kind::Foreground {
            self.exempt.insert(number, token);
            self.inner.push(read);
            return;
        }
        let now = Instant::now();
        let starts_at = self.free_at.max(now);
        let bytes = read.len_bytes() as u64;
        self.free_at = starts_at + self.move_head(&read, bytes) + self.device.occupied(bytes);
        let due_at = self.free_at + self.device.latency;
        self.read_since_pause_bytes += bytes;
        if self.pauses.has_phases() && self.read_since_pause_bytes >= self.pauses.after_bytes {
            self.read_since_pause_bytes = 0;
            self.free_at += self.pauses.pause;
        }
        let started = Started { number, token, pushed_at: now, passed_at: now, due_at };
        self.waiting.push_back(Waiting { starts_at, started, read });
    }

    fn submit(&mut self) -> Result<()> {
        self.start();
        self.inner.submit()
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        let mut is_over = self.advance(Wait::No, done)?;
        while !is_over && !wait.is_over() && !self.waker.flag.take() {
            // Whichever comes first: a completion of the other engine, which may be of an exempt read, or the
            // next event by the clock.
            let next_at = self.next_at().into_iter().chain(wait.deadline()).min();
            is_over = self.advance(next_at.map_or(Wait::UntilSomething, Wait::Until), done)?;
        }
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.waker) as Arc<dyn Wake>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::{Memory, Script};
    use crate::{File, Slab};

    const PAGE: usize = 4096;

    fn throttled(device: &str) -> Throttled {
        let memory = Box::new(Memory::new(Script::reordering(1)));
        Throttled::new(memory, ThrottledReads::All, device.parse().unwrap(), Pauses::default())
    }

    /// Reads `pages` pages, eight at a time; returns the order of completion.
    fn read(engine: &mut Throttled, pages: u64) -> Vec<Completion> {
        let file = Arc::new(File::memory("t", vec![7; 64 * PAGE]));
        let slab = Slab::new(64, PAGE).unwrap();
        let mut done = Vec::new();
        let mut pushed = 0;
        while (done.len() as u64) < pages {
            while pushed < pages && engine.in_flight() < engine.depth() {
                let frames = vec![slab.take().unwrap()];
                let (file, offset) = (Arc::clone(&file), pushed * PAGE as u64);
                engine.push(Read { token: pushed, file, offset, frames, kind: Kind::Ahead });
                pushed += 1;
            }
            engine.poll(Wait::UntilSomething, &mut done).unwrap();
        }
        done
    }

    #[test]
    fn a_limit_that_spares_the_foreground_does_not_hold_it_up() {
        let memory = Box::new(Memory::new(Script::immediate(8)));
        let device: Device = "iops=2".parse().unwrap();
        let mut engine =
            Throttled::new(memory, ThrottledReads::AllButForeground, device, Pauses::default());
        let slab = Slab::new(3, crate::ALIGNMENT).unwrap();
        let file = Arc::new(File::memory("t", vec![7; crate::ALIGNMENT]));
        // The third would be due a second and a half later.
        for (token, kind) in [(1, Kind::Ahead), (2, Kind::Ahead), (1, Kind::Foreground)] {
            let (file, frames) = (Arc::clone(&file), vec![slab.take().unwrap()]);
            engine.push(Read { token, file, offset: 0, frames, kind });
        }
        assert_eq!(engine.in_flight(), 3);
        let mut done = Vec::new();
        engine.poll(Wait::UntilSomething, &mut done).unwrap();
        assert_eq!((done.len(), done[0].token, done[0].kind), (1, 1, Kind::Foreground));
        while done.len() < 3 {
            engine.poll(Wait::UntilSomething, &mut done).unwrap();
        }
        assert_eq!(engine.in_flight(), 0);
    }

    #[test]
    fn reads_are_over_in_order_and_no_sooner_than_the_device_would_have_them() {
        for (device, least_ms) in [("iops=2000", 20), ("bw=8M", 19), ("latency=5ms", 25)] {
            let begin = Instant::now();
            let done = read(&mut throttled(device), 40);
            assert!(begin.elapsed() >= Duration::from_millis(least_ms), "{device}");
            assert!(done.iter().map(|one| one.token).eq(0..40), "{device}");
        }
        // Alone, a read takes its share of a second and the latency.
        let done = read(&mut throttled("iops=1000,latency=2ms"), 1);
        assert!(done[0].service >= Duration::from_millis(3));
    }

    #[test]
    fn reads_pause_after_each_number_of_bytes() {
        let memory = Box::new(Memory::new(Script::reordering(1)));
        let pauses = Pauses {
            after_bytes: 10 * PAGE as u64,
            pause: Duration::from_millis(10),
            ..Pauses::default()
        };
        let begin = Instant::now();
        read(&mut Throttled::new(memory, ThrottledReads::All, Device::default(), pauses), 35);
        assert!(begin.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn an_exempt_read_is_over_while_others_wait_for_their_turn() {
        let slow = throttled("latency=5ms");
        let device: Device = "iops=0.001".parse().unwrap();
        let exempt = ThrottledReads::AllButForeground;
        let mut engine = Throttled::new(Box::new(slow), exempt, device, Pauses::default());
        let slab = Slab::new(3, PAGE).unwrap();
        let file = Arc::new(File::memory("t", vec![7; PAGE]));
        // The second would start after a thousand seconds.
        for (token, kind) in [(1, Kind::Ahead), (2, Kind::Ahead), (3, Kind::Foreground)] {
            let (file, frames) = (Arc::clone(&file), vec![slab.take().unwrap()]);
            engine.push(Read { token, file, offset: 0, frames, kind });
        }
        let mut done = Vec::new();
        while done.is_empty() {
            engine.poll(Wait::UntilSomething, &mut done).unwrap();
        }
        assert_eq!(done[0].token, 3);
    }

    #[test]
    fn reads_that_yield_are_made_one_at_a_time_and_idle_in_between() {
        let device = "latency=3ms".parse().unwrap();
        let memory = Box::new(Memory::new(Script::immediate(8)));
        let none = Pauses::default();
        let slow = Throttled::new(memory, ThrottledReads::All, device, none);
        let pauses = Pauses { yields: true, ..Pauses::default() };
        let begin = Instant::now();
        let done = read(
            &mut Throttled::new(
                Box::new(slow),
                ThrottledReads::AllButForeground,
                Device::default(),
                pauses,
            ),
            5,
        );
        // Five reads of three milliseconds, and four times the idle time of six.
        assert!(begin.elapsed() >= Duration::from_millis(5 * 3 + 4 * 6));
        assert!(done.iter().map(|one| one.token).eq(0..5));
    }

    #[test]
    fn frames_of_waiting_reads_are_free_after_the_engine_is_dropped() {
        let file = Arc::new(File::memory("t", vec![7; 8 * PAGE]));
        let slab = Slab::new(4, PAGE).unwrap();
        let mut engine = throttled("iops=0.001");
        for token in 0..4 {
            let frames = vec![slab.take().unwrap()];
            let file = Arc::clone(&file);
            engine.push(Read { token, file, offset: 0, frames, kind: Kind::Demand });
        }
        engine.submit().unwrap();
        assert_eq!((engine.in_flight(), slab.free_frames()), (4, 0));
        drop(engine);
        assert_eq!(slab.free_frames(), 4);
    }

    #[test]
    fn a_wake_ends_the_wait_for_a_turn() {
        let slab = Slab::new(1, PAGE).unwrap();
        let mut engine = throttled("latency=1000s");
        let frames = vec![slab.take().unwrap()];
        let file = Arc::new(File::memory("t", vec![7; PAGE]));
        engine.push(Read { token: 0, file, offset: 0, frames, kind: Kind::Demand });
        let waker = engine.waker();
        let late = std::thread::spawn(move || waker.wake());
        let mut done = Vec::new();
        engine.poll(Wait::UntilSomething, &mut done).unwrap();
        late.join().unwrap();
        assert!(done.is_empty());
    }
}
