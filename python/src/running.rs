//! Work on a thread of its own, while Python's main thread answers signals and reports progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use innoscan::{Error, Progress, ProgressFn, Result};
use innoscan_columnar::BatchReader;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{own_error, to_python};
use crate::stream::LOOK_EVERY;

/// What work and the thread that waits for it share.
#[derive(Clone, Default)]
pub struct Shared {
    /// Ends the work as interrupted.
    pub cancel: Arc<AtomicBool>,
    progress: Arc<Mutex<Progress>>,
}

impl Shared {
    /// The callback that scans report their progress to.
    pub fn progress_fn(&self) -> Arc<ProgressFn> {
        let progress = Arc::clone(&self.progress);
        Arc::new(move |now: &Progress| {
            *progress.lock().unwrap_or_else(PoisonError::into_inner) = *now;
        })
    }

    /// The next batch of a reader; an error as soon as the work is cancelled.
    pub fn next_batch(&self, reader: &mut BatchReader) -> Result<Option<RecordBatch>> {
        while !self.cancel.load(Ordering::Relaxed) {
            if reader.wait(LOOK_EVERY)? {
                return reader.next().transpose().map_err(own_error);
            }
        }
        Err(Error::interrupted())
    }

    /// The newest progress.
    pub fn progress(&self) -> Progress {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Progress as Python sees it.
pub fn progress_dict<'py>(py: Python<'py>, progress: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("share", progress.share())?;
    dict.set_item("rows", progress.rows)?;
    dict.set_item("read_bytes", progress.read_bytes)?;
    Ok(dict)
}

/// Does the work without the GIL. A signal, or an exception of `on_progress`, ends it, and is raised.
pub fn run<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, done) = channel();
        let thread = std::thread::Builder::new().name("innoscan".to_owned());
        let spawned = thread.spawn_scoped(scope, move || {
            // The receiver is gone only when this thread's result is not needed.
            _ = sender.send(work());
        });
        spawned.map_err(|error| to_python(py, &Error::no_thread(error)))?;
        let done = Mutex::new(done);
        let look = || {
            let done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.recv_timeout(LOOK_EVERY)
        };
        loop {
            match py.detach(look) {
                Ok(result) => return result.map_err(|error| to_python(py, &error)),
                // The thread panicked, and so does the scope.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(to_python(py, &Error::interrupted()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(raised) = look_around(py, shared, on_progress) {
                shared.cancel.store(true, Ordering::Relaxed);
                // The thread ends as soon as it sees this.
                py.detach(|| while matches!(look(), Err(RecvTimeoutError::Timeout)) {});
                return Err(raised);
            }
        }
    })
}

fn look_around(
    py: Python<'_>,
    shared: &Shared,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    py.check_signals()?;
    if let Some(on_progress) = on_progress {
        on_progress.call1((progress_dict(py, &shared.progress())?,))?;
    }
    Ok(())
}
