//! Parallel work on many items.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::Result;
use crate::cores::cores;
use crate::scan::spawn;

/// The most items that a thread processes before it sends the results.
const THINGS_AT_ONCE: usize = 32;

/// The number of threads for work that mostly reads a little of each of many files: more than there are
/// cores, since most of them wait.
pub fn usual_threads() -> usize {
    (4 * cores()).min(16)
}

/// Runs `work` on each item with some threads. `take` receives each result soon after it is
/// available, in any order; its error ends all work.
pub fn side_by_side<T: Sync, D: Send>(
    things: &[T],
    threads: usize,
    work: impl Fn(&T) -> D + Sync,
    mut take: impl FnMut(&T, D) -> Result<()>,
) -> Result<()> {
    // Items are sent in groups, since threads that send each item alone do little but wake one another;
    // the groups are small enough to occupy all threads.
    let at_once = (things.len() / (4 * threads.max(1))).clamp(1, THINGS_AT_ONCE);
    let chunks: Vec<&[T]> = things.chunks(at_once).collect();
    let (next, chunks) = (&AtomicUsize::new(0), &chunks);
    let work = &work;
    thread::scope(|scope| {
        // A bounded channel limits the memory for waiting results.
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
