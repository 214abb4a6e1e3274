//! The cores of this machine, as numbers of threads.

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A number of threads where 0 means one per core.
pub fn threads_or_cores(threads: usize) -> usize {
    match threads {
        0 => cores(),
        threads => threads,
    }
}
