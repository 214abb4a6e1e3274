//! A scan on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Select, bounded};

use crate::scan::{ScanOptions, ScanOutcome, scan_sized};
use crate::{Error, Result, RowSink, Table};

/// The most batches that wait in the channel; 1 for a scan that may end early.
const BATCHES_MAX: usize = 4;

/// A scan on a thread of its own, whose batches are received one by one.
///
/// Dropping it stops the scan and waits for its threads: no longer than the reads in flight take.
#[derive(Debug)]
pub struct ScanThread<B> {
    batches: Option<Receiver<B>>,
    thread: Option<JoinHandle<Result<ScanOutcome>>>,
    cancel: Arc<AtomicBool>,
    outcome: Option<ScanOutcome>,
}

impl<B: Send + 'static> ScanThread<B> {
    /// Starts to scan a table into a sink.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start<S: RowSink<Batch = B> + Send + 'static>(
        table: Table,
        mut options: ScanOptions,
        sink: S,
    ) -> Result<ScanThread<B>> {
        let cancel = Arc::new(AtomicBool::new(false));
        options.hooks.cancel = Some(Arc::clone(&cancel));
        let (sender, batches) = bounded(if options.plan.slow_start { 1 } else { BATCHES_MAX });
        let run = move || {
            scan_sized(&table, table.size_bytes(), &options, &sink, |batch, _| {
                sender.send(batch).map_err(|_| Error::interrupted())
            })
        };
        let thread = std::thread::Builder::new().name("rows".to_owned()).spawn(run);
        let thread = Some(thread.map_err(Error::no_thread)?);
        Ok(ScanThread { batches: Some(batches), thread, cancel, outcome: None })
    }

    /// Waits, at most so long, until a batch or the end of the scan is present; whether it is.
    pub fn wait(&self, timeout: Duration) -> bool {
        let Some(batches) = &self.batches else { return true };
        let mut select = Select::new();
        select.recv(batches);
        select.ready_timeout(timeout).is_ok()
    }

    /// The next batch, waiting for it; `None` at the end.
    ///
    /// # Errors
    /// The error that ended the scan, after all batches before it.
    pub fn next_batch(&mut self) -> Result<Option<B>> {
        if let Some(batch) = self.batches.as_ref().and_then(|batches| batches.recv().ok()) {
            return Ok(Some(batch));
        }
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let ended = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.outcome = Some(ended?);
        }
        Ok(None)
    }

    /// The outcome of the scan; `None` before the last batch was received, and after an error.
    pub fn outcome(&self) -> Option<&ScanOutcome> {
        self.outcome.as_ref()
    }
}

impl<B> Drop for ScanThread<B> {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        // A thread that waits to send notices that the receiver is gone.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // The result of a scan that was stopped is not needed.
            _ = thread.join();
        }
    }
}
