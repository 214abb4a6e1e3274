//! Delivery of the workers' batches in key order.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::{DAMAGE_MAX, Damage, LeafId, OpeningTimes, Progress, ScanOptions, ScanOutcome, Shared};
use crate::{Error, Result};

/// The output of a worker for a task, or for part of one.
pub(super) struct Output<B> {
    /// The task's number.
    pub task: u64,
    /// Whether this is the last output of the task.
    pub is_last: bool,
    /// The leaf that ends with the output's last row.
    pub end: Option<LeafId>,
    pub batch: B,
    pub rows: u64,
    pub leaves: u64,
    /// The time for opening leaves that are stored compressed.
    pub opening: OpeningTimes,
    pub damage: Vec<Damage>,
    /// The error that ended the task.
    pub error: Option<Error>,
}

/// The turn of tasks: their batches are delivered in the order of their numbers.
#[derive(Default)]
pub(super) struct Turn {
    task: Mutex<u64>,
    changed: Condvar,
}

impl Turn {
    /// Waits until it is `task`'s turn, or `is_stopped`.
    pub fn wait_for(&self, task: u64, is_stopped: impl Fn() -> bool) {
        let turn = self.lock();
        let _turn = self
            .changed
            .wait_while(turn, |turn| *turn < task && !is_stopped())
            .unwrap_or_else(PoisonError::into_inner);
    }

    pub fn wake_all(&self) {
        // The lock ensures that no thread is between its check and its wait.
        let _turn = self.lock();
        self.changed.notify_all();
    }

    fn pass(&self) {
        *self.lock() += 1;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The interval of progress reports and of checks for cancellation.
const TICK: Duration = Duration::from_millis(100);

/// Delivers all outputs in order; returns when the workers are gone, or at the first error.
pub(super) fn deliver<B>(
    outputs: &Receiver<Output<B>>,
    options: &ScanOptions,
    shared: &Shared,
    in_order: &mut impl FnMut(B, Option<LeafId>) -> Result<()>,
) -> Result<ScanOutcome> {
    let mut outcome = ScanOutcome::default();
    let mut early: BTreeMap<u64, Output<B>> = BTreeMap::new();
    let mut turn = 0;
    let mut reported_at = Instant::now();
    loop {
        let output = match early.remove(&turn) {
            Some(output) => Some(output),
            None => match outputs.recv_timeout(TICK) {
                Ok(output) => Some(output),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            },
        };
        match output {
            Some(output) if output.task == turn => {
                let is_last = output.is_last;
                take(output, &mut outcome, in_order)?;
                if is_last {
                    turn += 1;
                    shared.turn.pass();
                    shared.delivered.store(turn, Ordering::SeqCst);
                    shared.wake_driver();
                }
            }
            Some(output) => _ = early.insert(output.task, output),
            None => {}
        }
        if options.is_cancelled() {
            return Err(Error::interrupted());
        }
        if reported_at.elapsed() >= TICK {
            reported_at = Instant::now();
            report_progress(options, shared, &outcome);
        }
    }
    report_progress(options, shared, &outcome);
    Ok(outcome)
}

/// Delivers an output, and adds its counts.
pub(super) fn take<B>(
    output: Output<B>,
    outcome: &mut ScanOutcome,
    in_order: &mut impl FnMut(B, Option<LeafId>) -> Result<()>,
) -> Result<()> {
    outcome.rows += output.rows;
    outcome.leaf_pages += output.leaves;
    outcome.opening.decrypt += output.opening.decrypt;
    outcome.opening.decompress += output.opening.decompress;
    outcome.damaged += output.damage.len() as u64;
    let room = DAMAGE_MAX - outcome.damage.len();
    outcome.damage.extend(output.damage.into_iter().take(room));
    let end = output.end.filter(|_| outcome.damaged == 0);
    in_order(output.batch, end)?;
    output.error.map_or(Ok(()), Err)
}

/// Reports progress, if a callback is set.
pub(super) fn report_progress(options: &ScanOptions, shared: &Shared, outcome: &ScanOutcome) {
    if let Some(progress) = &options.hooks.progress {
        progress(&Progress {
            done_leaves: outcome.leaf_pages,
            sorted_leaves: shared.sorted_leaves.load(Ordering::Relaxed),
            total_leaves: shared.total_leaves.load(Ordering::Relaxed),
            is_exact: shared.is_total_exact.load(Ordering::Relaxed),
            rows: outcome.rows,
            read_bytes: shared.read_bytes.load(Ordering::Relaxed),
        });
    }
}
