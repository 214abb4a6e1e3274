//! Reads on the caller's thread, one after the other: for files so small that a ring or a pool of
//! threads costs more than their reads.

use std::io::IoSliceMut;
use std::sync::Arc;

use super::wake_flag::WakeFlag;
use super::{Engine, Wait, Wake};
use crate::flight::{Flight, Next};
use crate::{Completion, Read, Result};

const NAME: &str = "inline";

/// An engine that executes each read when it is submitted.
pub struct Inline {
    depth: usize,
    pushed: Vec<Flight>,
    over: Vec<Completion>,
    waker: Arc<WakeFlag>,
}

impl Inline {
    /// Creates an engine that accepts up to `depth` reads at a time.
    pub fn new(depth: usize) -> Inline {
        Inline {
            depth: depth.max(1),
            pushed: Vec::new(),
            over: Vec::new(),
            waker: Arc::new(WakeFlag::default()),
        }
    }
}

impl Engine for Inline {
    fn name(&self) -> &'static str {
        NAME
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn in_flight(&self) -> usize {
        self.pushed.len() + self.over.len()
    }

    fn push(&mut self, read: Read) {
        assert!(self.in_flight() < self.depth, "no more reads than the depth");
        self.pushed.push(Flight::new(read));
    }

    fn submit(&mut self) -> Result<()> {
        for flight in self.pushed.drain(..) {
            self.over.push(fly(flight));
        }
        Ok(())
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        self.submit()?;
        if !wait.is_over() {
            match self.over.is_empty() {
                true => self.waker.wait(wait.deadline()),
                false => _ = self.waker.take(),
            }
        }
        done.append(&mut self.over);
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.waker) as Arc<dyn Wake>
    }
}

/// Repeats attempts until the read is complete.
pub(super) fn fly(mut flight: Flight) -> Completion {
    let error = loop {
        let file = Arc::clone(&flight.read().file);
        let offset = flight.offset();
        let mut parts: Vec<IoSliceMut<'_>> = Vec::with_capacity(flight.read().frames.len());
        flight.rest(&mut parts);
        let answer = file.attempt(&mut parts, offset);
        if let Next::Over(error) = flight.advance(answer) {
            break error;
        }
    };
    flight.complete(error)
}
