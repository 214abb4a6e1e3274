//! Imposes a [`Device`] on another engine: reads start no sooner, and are over no sooner, than they
//! would be there. A table on a fast disk is so read as from a slow one, and a scan leaves the rest
//! of a device to others.
//!
//! ```text
//! push -> waiting (until its turn) -> the other engine -> arrived (until it is due) -> poll
//! ```
//!
//! A limit that is one job's own spares the foreground: such reads go to the other engine at once.
//!
//! The device takes reads one after the other, in the order they were pushed. It saves nothing up:
//! what it could have done while nobody asked is lost.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Engine, Wait, Wake};
use crate::{Completion, Device, Kind, Read, Result};

/// Pauses between stretches of reading, for others to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// After so many bytes; 0: never.
    pub after_bytes: u64,
    /// For so long.
    pub pause: Duration,
}

impl Rest {
    /// Whether it never rests.
    pub fn is_none(&self) -> bool {
        self.after_bytes == 0 || self.pause.is_zero()
    }
}

/// Whose reads are slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paces {
    /// All.
    All,
    /// All but those of the foreground.
    AllButForeground,
}

/// Another engine, slowed down.
pub struct Paced {
    inner: Box<dyn Engine>,
    paces: Paces,
    device: Device,
    rest: Rest,
    read_since_rest_bytes: u64,
    /// When the device is done with all reads pushed so far.
    free_at: Instant,
    waiting: VecDeque<Waiting>,
    /// Reads that the other engine has, or had: in the order they were pushed.
    started: VecDeque<Started>,
    /// Reads that are not slowed down: the caller's tokens, by the other engine's.
    spared: HashMap<u64, u64>,
    /// Read, and not yet due, by the number the other engine has them under.
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
    /// The caller's.
    token: u64,
    pushed_at: Instant,
    due_at: Instant,
}

/// Wakes whichever of the two the engine waits for: its own clock, or the other engine.
struct Waker {
    is_woken: Mutex<bool>,
    changed: Condvar,
    inner: Arc<dyn Wake>,
}

impl Wake for Waker {
    fn wake(&self) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
        self.inner.wake();
    }
}

impl Waker {
    /// Takes the wake that came, if one did.
    fn take(&self) -> bool {
        std::mem::take(&mut *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Until then, or a wake; whether it was a wake.
    fn wait(&self, until: Instant) -> bool {
        let is_woken = self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(is_woken, left, |is_woken| !*is_woken);
        std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl Paced {
    /// `inner` as if its files were on `device`, with rests.
    pub fn new(inner: Box<dyn Engine>, paces: Paces, device: Device, rest: Rest) -> Paced {
        let waker =
            Waker { is_woken: Mutex::new(false), changed: Condvar::new(), inner: inner.waker() };
        Paced {
            inner,
            paces,
            device,
            rest,
            read_since_rest_bytes: 0,
            free_at: Instant::now(),
            waiting: VecDeque::new(),
            started: VecDeque::new(),
            spared: HashMap::new(),
            arrived: HashMap::new(),
            next_number: 0,
            polled: Vec::new(),
            waker: Arc::new(waker),
        }
    }

    /// Hands the reads whose turn it is to the other engine.
    fn start(&mut self) {
        let now = Instant::now();
        while self.waiting.front().is_some_and(|read| read.starts_at <= now) {
            let Some(Waiting { started, read, .. }) = self.waiting.pop_front() else { return };
            self.started.push_back(started);
            self.inner.push(read);
        }
    }

    /// Starts and takes in what can be, and gives out what is due; whether anything was.
    fn go_on(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<bool> {
        self.start();
        let polled = self.inner.poll(wait, &mut self.polled);
        let before = done.len();
        for mut one in self.polled.drain(..) {
            match self.spared.remove(&one.token) {
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
            done.push(completion);
            self.started.pop_front();
        }
        Ok(done.len() > before)
    }

    /// When there is something to do next; `None` when only the other engine knows.
    fn next_at(&self) -> Option<Instant> {
        let starts_at = self.waiting.front().map(|read| read.starts_at);
        let first = self.started.front();
        let due_at = first.filter(|first| self.arrived.contains_key(&first.number));
        let due_at = due_at.map(|first| first.due_at);
        starts_at.into_iter().chain(due_at).min()
    }
}

impl Engine for Paced {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn depth(&self) -> usize {
        self.inner.depth()
    }

    fn in_flight(&self) -> usize {
        self.waiting.len() + self.started.len() + self.spared.len()
    }

    fn push(&mut self, mut read: Read) {
        assert!(self.in_flight() < self.depth(), "no more reads than the depth");
        // Callers may number two reads alike.
        let number = self.next_number;
        self.next_number += 1;
        let token = std::mem::replace(&mut read.token, number);
        if self.paces == Paces::AllButForeground && read.kind == Kind::Foreground {
            self.spared.insert(number, token);
            self.inner.push(read);
            return;
        }
        let now = Instant::now();
        let starts_at = self.free_at.max(now);
        let bytes = read.len_bytes() as u64;
        self.free_at = starts_at + self.device.occupied(bytes);
        let due_at = self.free_at + self.device.latency;
        self.read_since_rest_bytes += bytes;
        if !self.rest.is_none() && self.read_since_rest_bytes >= self.rest.after_bytes {
            self.read_since_rest_bytes = 0;
            self.free_at += self.rest.pause;
        }
        let started = Started { number, token, pushed_at: now, due_at };
        self.waiting.push_back(Waiting { starts_at, started, read });
    }

    fn submit(&mut self) -> Result<()> {
        self.start();
        self.inner.submit()
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        let mut is_over = self.go_on(Wait::No, done)?;
        while wait == Wait::UntilSomething && !is_over && !self.waker.take() {
            match self.next_at() {
                Some(at) if at > Instant::now() => {
                    if self.waker.wait(at) {
                        return Ok(());
                    }
                    is_over = self.go_on(Wait::No, done)?;
                }
                Some(_) => is_over = self.go_on(Wait::No, done)?,
                None => is_over = self.go_on(Wait::UntilSomething, done)?,
            }
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

    fn paced(device: &str) -> Paced {
        let memory = Box::new(Memory::new(Script::reordering(1)));
        Paced::new(memory, Paces::All, device.parse().unwrap(), Rest::default())
    }

    /// Reads so many pages, eight at a time; the order they came in.
    fn read(engine: &mut Paced, pages: u64) -> Vec<Completion> {
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
        let mut engine = Paced::new(memory, Paces::AllButForeground, device, Rest::default());
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
            let done = read(&mut paced(device), 40);
            assert!(begin.elapsed() >= Duration::from_millis(least_ms), "{device}");
            assert!(done.iter().map(|one| one.token).eq(0..40), "{device}");
        }
        // Alone, a read takes its share of a second and the latency.
        let done = read(&mut paced("iops=1000,latency=2ms"), 1);
        assert!(done[0].service >= Duration::from_millis(3));
    }

    #[test]
    fn it_rests_after_each_stretch() {
        let memory = Box::new(Memory::new(Script::reordering(1)));
        let rest = Rest { after_bytes: 10 * PAGE as u64, pause: Duration::from_millis(10) };
        let begin = Instant::now();
        read(&mut Paced::new(memory, Paces::All, Device::default(), rest), 35);
        assert!(begin.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn what_waits_for_its_turn_comes_back_when_the_engine_is_dropped() {
        let file = Arc::new(File::memory("t", vec![7; 8 * PAGE]));
        let slab = Slab::new(4, PAGE).unwrap();
        let mut engine = paced("iops=0.001");
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
        let mut engine = paced("latency=1000s");
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
