//! An engine for tests, which does what kernels rarely do, chosen by a seed.
//!
//! It reads at once and reports later: completions come in any order, singly or many together;
//! attempts are short or interrupted; reads fail. The same seed and the same reads give the same
//! sequence. It works on any [`File`](crate::File), in memory or not.

use std::io::IoSliceMut;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use super::wake_flag::WakeFlag;
use super::{Engine, Wait, Wake};
use crate::flight::{Flight, Next};
use crate::{Completion, Read, Result};

/// The faults of the engine; each share is in 256ths.
#[derive(Clone, Debug)]
pub struct Script {
    /// Seed of all random choices.
    pub seed: u64,
    /// Maximum number of reads in flight.
    pub depth: usize,
    /// Share of attempts that read only a part.
    pub short: u8,
    /// Share of attempts that are interrupted and read nothing.
    pub interrupted: u8,
    /// Share of reads that fail with `EIO` once; another try may succeed.
    pub failing: u8,
    /// Byte ranges of the file that always fail with `EIO`.
    pub bad: Vec<std::ops::Range<u64>>,
    /// Whether each poll completes all reads, in the order in which they were pushed, as if they
    /// took no time.
    pub is_immediate: bool,
}

impl Script {
    /// Creates a script that only reorders completions.
    pub fn reordering(seed: u64) -> Script {
        Script {
            seed,
            depth: 8,
            short: 0,
            interrupted: 0,
            failing: 0,
            bad: Vec::new(),
            is_immediate: false,
        }
    }

    /// Creates a script that executes reads at once, without faults.
    pub fn immediate(depth: usize) -> Script {
        Script { depth, is_immediate: true, ..Script::reordering(0) }
    }
}

/// An engine that follows a [`Script`].
pub struct Memory {
    script: Script,
    random: u64,
    in_flight: Vec<Flight>,
    woken: Arc<WakeFlag>,
    log: Arc<Mutex<Vec<(u64, usize)>>>,
}

impl Memory {
    /// Creates an engine that follows `script`.
    pub fn new(script: Script) -> Memory {
        let random = script.seed;
        Memory { script, random, in_flight: Vec::new(), woken: Arc::default(), log: Arc::default() }
    }

    /// Returns the reads pushed so far, as (offset, bytes), for tests of the requests issued.
    pub fn log(&self) -> Arc<Mutex<Vec<(u64, usize)>>> {
        Arc::clone(&self.log)
    }

    fn draw(&mut self) -> u64 {
        splitmix64(&mut self.random)
    }

    fn happens(&mut self, share: u8) -> bool {
        self.draw() & 0xff < u64::from(share)
    }

    fn finish(&mut self, mut flight: Flight) -> Completion {
        let is_failing = self.happens(self.script.failing);
        loop {
            let answer = if is_failing { Err(Errno::IO) } else { self.attempt(&mut flight) };
            if let Next::Over(error) = flight.advance(answer) {
                return flight.complete(error);
            }
        }
    }

    fn attempt(&mut self, flight: &mut Flight) -> std::result::Result<usize, Errno> {
        if self.happens(self.script.interrupted) {
            return Err(if self.draw() & 1 == 0 { Errno::INTR } else { Errno::AGAIN });
        }
        let offset = flight.offset();
        let end = flight.read().offset + flight.read().len_bytes() as u64;
        let mut most_bytes = end - offset;
        if self.happens(self.script.short) {
            most_bytes = 1 + self.draw() % most_bytes;
        }
        for bad in &self.script.bad {
            if bad.start < offset + most_bytes && offset < bad.end {
                most_bytes = bad.start.saturating_sub(offset);
            }
        }
        if most_bytes == 0 {
            return Err(Errno::IO);
        }
        let file = Arc::clone(&flight.read().file);
        let mut parts = Vec::new();
        flight.rest(&mut parts);
        let mut left = usize::try_from(most_bytes).unwrap_or(usize::MAX);
        let mut some: Vec<IoSliceMut<'_>> = Vec::with_capacity(parts.len());
        for part in &mut parts {
            let len = part.len().min(left);
            left -= len;
            some.push(IoSliceMut::new(&mut part[..len]));
        }
        file.attempt(&mut some, offset)
    }
}

impl Engine for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn depth(&self) -> usize {
        self.script.depth
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn push(&mut self, read: Read) {
        assert!(self.in_flight.len() < self.script.depth, "no more reads than the depth");
        let entry = (read.offset, read.len_bytes());
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        self.in_flight.push(Flight::new(read));
    }

    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        if self.in_flight.is_empty() {
            if !wait.is_over() {
                self.woken.wait(wait.deadline());
            }
            return Ok(());
        }
        if self.script.is_immediate {
            let flights = std::mem::take(&mut self.in_flight);
            for flight in flights {
                let finished = self.finish(flight);
                done.push(Completion { service: Duration::ZERO, ..finished });
            }
            return Ok(());
        }
        let fewest = u64::from(!wait.is_over());
        let over = fewest + self.draw() % (self.in_flight.len() as u64 + 1 - fewest);
        for _ in 0..over {
            let index = (self.draw() % self.in_flight.len() as u64) as usize;
            let flight = self.in_flight.swap_remove(index);
            let completion = self.finish(flight);
            done.push(completion);
        }
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.woken) as Arc<dyn Wake>
    }
}

/// Returns the next pseudorandom number; equal states give equal numbers.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
