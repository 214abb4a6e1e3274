//! Reads by a pool of threads, each of which calls `preadv` and waits for the result.

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::inline::fly;
use super::{Engine, Wait, Wake};
use crate::flight::Flight;
use crate::{Completion, Error, Read, Result};

const NAME: &str = "pread";

/// An engine with a pool of threads; the depth is the number of threads.
pub struct Pread {
    threads: Vec<JoinHandle<()>>,
    reads: Option<Sender<Flight>>,
    events: Receiver<Event>,
    waker: Arc<Waker>,
    in_flight: usize,
    /// Whether a wake arrived that has ended no wait yet.
    is_woken: bool,
}

enum Event {
    Over(Completion),
    Wake,
}

struct Waker(Sender<Event>);

impl Wake for Waker {
    fn wake(&self) {
        // The engine is gone: there is nothing to wake.
        let _ = self.0.send(Event::Wake);
    }
}

impl Pread {
    /// Creates an engine with `depth` threads.
    pub fn new(depth: usize) -> Result<Pread> {
        let (reads, to_read) = unbounded::<Flight>();
        let (over, events) = unbounded::<Event>();
        let start = |number: usize| {
            let (to_read, over) = (to_read.clone(), over.clone());
            std::thread::Builder::new()
                .name(format!("pread-{number}"))
                .spawn(move || serve(&to_read, &over))
                .map_err(|source| Error::Engine { engine: NAME, source })
        };
        let threads = (0..depth.max(1)).map(start).collect::<Result<Vec<_>>>()?;
        let waker = Arc::new(Waker(over));
        Ok(Pread { threads, reads: Some(reads), events, waker, in_flight: 0, is_woken: false })
    }

    fn take(&mut self, event: Event, done: &mut Vec<Completion>) {
        match event {
            Event::Over(completion) => {
                self.in_flight -= 1;
                done.push(completion);
            }
            Event::Wake => self.is_woken = true,
        }
    }
}

fn serve(to_read: &Receiver<Flight>, over: &Sender<Event>) {
    while let Ok(flight) = to_read.recv() {
        if over.send(Event::Over(fly(flight))).is_err() {
            return;
        }
    }
}

impl Engine for Pread {
    fn name(&self) -> &'static str {
        NAME
    }

    fn depth(&self) -> usize {
        self.threads.len()
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn push(&mut self, read: Read) {
        assert!(self.in_flight < self.depth(), "no more reads than the depth");
        self.in_flight += 1;
        if let Some(reads) = &self.reads {
            let sent = reads.send(Flight::new(read));
            assert!(sent.is_ok(), "the threads live as long as the engine");
        }
    }

    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    fn poll(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<()> {
        let may_wait = !wait.is_over();
        if may_wait && !self.is_woken {
            let event = match wait.deadline() {
                // The engine itself holds a sender, so this cannot be an error.
                None => self.events.recv().ok(),
                Some(at) => self.events.recv_deadline(at).ok(),
            };
            if let Some(event) = event {
                self.take(event, done);
            }
        }
        while let Ok(event) = self.events.try_recv() {
            self.take(event, done);
        }
        self.is_woken &= !may_wait;
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.waker) as Arc<dyn Wake>
    }
}

impl Drop for Pread {
    fn drop(&mut self) {
        self.reads = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
