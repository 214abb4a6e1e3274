//! Foreground readers without a scan: the latency of lookups on an idle device.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use innoscan_io::{self as io, Wait};

use super::foreground::{Foreground, Pages};
use super::read_plan::ReadPlan;
use super::requests::page_requests;
use super::{Budget, ScanOptions, Shared, open_spaces, pool_for};
use crate::pool::FileSlot;
use crate::{Error, Result, Table};

/// Runs foreground readers for a time, without a scan.
pub fn run_alone(
    table: &Table,
    options: &ScanOptions,
    foreground: &dyn Foreground,
    duration: Duration,
) -> Result<io::Counters> {
    let spaces = open_spaces(table, options)?;
    let Some(first) = spaces.first() else { return Ok(io::Counters::default()) };
    let page_bytes = first.page_bytes();
    let budget = Budget::new(&ReadPlan::of(options), options.plan.threads, page_bytes)?;
    let mut pool = pool_for(options, true, &budget, options.open_engine()?)?;
    let slots: Vec<FileSlot> = spaces
        .iter()
        .map(|space| pool.add_file(Arc::clone(space.file()), space.redo().cloned()))
        .collect();
    let shared = Shared::new(pool.waker());
    let until = Instant::now() + duration;
    std::thread::scope(|scope| {
        let (requests, mut service) = page_requests(&shared);
        Pages::new(&requests, &shared, &spaces, &slots).spawn_readers(scope, foreground)?;
        while Instant::now() < until && !options.is_cancelled() {
            let progress = service.serve(&mut pool, 0) | (pool.poll(Wait::No)? > 0);
            if !progress {
                // Announced first, so that any event after the announcement wakes the thread.
                shared.is_driver_waiting.store(true, Ordering::SeqCst);
                if !service.serve(&mut pool, 0) {
                    pool.poll(Wait::UntilSomething)?;
                }
            }
        }
        shared.is_over.store(true, Ordering::Relaxed);
        Ok::<(), Error>(())
    })?;
    Ok(pool.counters())
}
