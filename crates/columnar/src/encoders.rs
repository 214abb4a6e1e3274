//! Threads that encode groups of batches, several at a time, and give them back in order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use innoscan_engine::{Error, Result};

/// Encodes a group.
pub(crate) type Encode<G, O> = dyn Fn(G) -> Result<O> + Send + Sync;

/// Encoders of groups. Threads are started when there is more than one group: a small table is encoded
/// by its own thread.
pub(crate) struct Encoders<G, O> {
    threads: usize,
    encode: Arc<Encode<G, O>>,
    running: Option<Running<G, O>>,
    /// The results of the groups that are being encoded, in their order.
    results: VecDeque<Receiver<Result<O>>>,
}

struct Running<G, O> {
    jobs: Sender<(G, Sender<Result<O>>)>,
    threads: Vec<JoinHandle<()>>,
}

impl<G: Send + 'static, O: Send + 'static> Encoders<G, O> {
    /// Encoders on at most this number of threads.
    pub fn new(threads: usize, encode: Arc<Encode<G, O>>) -> Encoders<G, O> {
        Encoders { threads: threads.max(1), encode, running: None, results: VecDeque::new() }
    }

    /// Encodes a group that others may follow. Passes those that must be finished first to `take`: at most
    /// one group per thread is in work.
    ///
    /// # Errors
    /// Encoding an earlier group failed, or `take` did.
    pub fn push(&mut self, group: G, take: &mut dyn FnMut(O) -> Result<()>) -> Result<()> {
        while self.results.len() >= self.threads {
            self.take_first(take)?;
        }
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(Running::start(self.threads, &self.encode)?),
        };
        let (sender, result) = bounded(1);
        running.jobs.send((group, sender)).map_err(|_| lost())?;
        self.results.push_back(result);
        Ok(())
    }

    /// Encodes the last group, if there is one, and passes all that are left to `take`.
    ///
    /// # Errors
    /// As those of [`Encoders::push`].
    pub fn finish(&mut self, last: Option<G>, take: &mut dyn FnMut(O) -> Result<()>) -> Result<()> {
        let last = last.map(|group| (self.encode)(group));
        while !self.results.is_empty() {
            self.take_first(take)?;
        }
        last.map_or(Ok(()), |encoded| take(encoded?))
    }

    fn take_first(&mut self, take: &mut dyn FnMut(O) -> Result<()>) -> Result<()> {
        let Some(result) = self.results.pop_front() else { return Ok(()) };
        take(result.recv().map_err(|_| lost())??)
    }
}

impl<G, O> Drop for Encoders<G, O> {
    fn drop(&mut self) {
        self.results.clear();
        let Some(Running { jobs, threads }) = self.running.take() else { return };
        // Without a sender the threads end.
        drop(jobs);
        for thread in threads {
            // A thread that panicked has printed why, and its group's result is missing.
            _ = thread.join();
        }
    }
}

impl<G: Send + 'static, O: Send + 'static> Running<G, O> {
    fn start(count: usize, encode: &Arc<Encode<G, O>>) -> Result<Running<G, O>> {
        let (jobs, queue) = bounded::<(G, Sender<Result<O>>)>(count);
        let mut threads = Vec::with_capacity(count);
        for number in 0..count {
            let (queue, encode) = (queue.clone(), Arc::clone(encode));
            let work = move || {
                for (group, result) in queue {
                    // Nobody waits for the result of a dump that was stopped.
                    _ = result.send(encode(group));
                }
            };
            let thread = std::thread::Builder::new().name(format!("encode-{number}")).spawn(work);
            threads.push(thread.map_err(Error::no_thread)?);
        }
        Ok(Running { jobs, threads })
    }
}

#[cold]
fn lost() -> Error {
    Error::resources("a thread that encodes columns ended early")
}
