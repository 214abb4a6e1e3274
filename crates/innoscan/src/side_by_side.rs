//! The same work on many things, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::Result;
use crate::scan::spawn;

/// Threads for work that is mostly reading a little of each of many files: more than there are cores,
/// since most of them wait.
pub(crate) fn usual_threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (4 * cores).min(16)
}

/// Does `work` on each thing with some threads. `take` is given what came of each as soon as it is
/// there, in any order, and ends it all by an error.
pub(crate) fn side_by_side<T: Sync, D: Send>(
    things: &[T],
    threads: usize,
    work: impl Fn(&T) -> D + Sync,
    mut take: impl FnMut(&T, D) -> Result<()>,
) -> Result<()> {
    let next = &AtomicUsize::new(0);
    let work = &work;
    thread::scope(|scope| {
        // What waits to be taken is memory.
        let (sender, receiver) = mpsc::sync_channel(threads);
        for number in 0..threads.min(things.len()) {
            let sender = sender.clone();
            spawn(scope, format!("look-{number}"), move || {
                while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((thing, work(thing))).is_err() {
                        return;
                    }
                }
            })?;
        }
        drop(sender);
        receiver.into_iter().try_for_each(|(thing, done)| take(thing, done))
    })
}
