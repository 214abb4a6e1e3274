//! The same work on many things, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::Result;
use crate::scan::spawn;

/// The most things that a thread does before it hands over what came of them.
const THINGS_AT_ONCE: usize = 32;

/// Threads for work that is mostly reading a little of each of many files: more than there are cores,
/// since most of them wait.
pub(crate) fn usual_threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (4 * cores).min(16)
}

/// Does `work` on each thing with some threads. `take` is given what came of each soon after it is
/// there, in any order, and ends it all by an error.
pub(crate) fn side_by_side<T: Sync, D: Send>(
    things: &[T],
    threads: usize,
    work: impl Fn(&T) -> D + Sync,
    mut take: impl FnMut(&T, D) -> Result<()>,
) -> Result<()> {
    // Some at a time, since threads that hand over each by itself do little but wake one another; few
    // enough that all have something to do.
    let at_once = (things.len() / (4 * threads.max(1))).clamp(1, THINGS_AT_ONCE);
    let chunks: Vec<&[T]> = things.chunks(at_once).collect();
    let (next, chunks) = (&AtomicUsize::new(0), &chunks);
    let work = &work;
    thread::scope(|scope| {
        // What waits to be taken is memory.
        let (sender, receiver) = mpsc::sync_channel(threads);
        for number in 0..threads.min(chunks.len()) {
            let sender = sender.clone();
            spawn(scope, format!("look-{number}"), move || {
                while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done: Vec<(&T, D)> =
                        chunk.iter().map(|thing| (thing, work(thing))).collect();
                    if sender.send(done).is_err() {
                        return;
                    }
                }
            })?;
        }
        drop(sender);
        receiver.into_iter().flatten().try_for_each(|(thing, done)| take(thing, done))
    })
}
