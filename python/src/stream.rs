//! The stream that consumers read. It touches Python only on the main thread, to answer signals.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use innoscan_columnar::BatchReader;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::scan::Report;

/// A reader that notes its end, and ends when the user interrupts Python.
pub struct Stream {
    reader: BatchReader,
    rows: u64,
    report: Arc<Mutex<Option<Report>>>,
    is_ended: bool,
}

impl Stream {
    pub fn new(reader: BatchReader, report: Arc<Mutex<Option<Report>>>) -> Stream {
        Stream { reader, rows: 0, report, is_ended: false }
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        if is_main_thread() && is_interrupted() {
            self.is_ended = true;
            return Some(Err(ArrowError::ExternalError(Box::new(innoscan::Error::interrupted()))));
        }
        match self.reader.next() {
            Some(Ok(batch)) => {
                self.rows += batch.num_rows() as u64;
                Some(Ok(batch))
            }
            Some(Err(error)) => {
                self.is_ended = true;
                Some(Err(error))
            }
            None => {
                self.is_ended = true;
                let report = Report::of(&self.reader, self.rows);
                *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
                None
            }
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}

/// Python runs handlers of signals on the main thread only.
fn is_main_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Whether the handler of a signal raised an exception. `KeyboardInterrupt` is raised again when the consumer
/// returns to Python, since consumers raise their own exceptions for the errors of a stream.
fn is_interrupted() -> bool {
    let raised = Python::try_attach(|py| {
        let Err(raised) = py.check_signals() else { return false };
        if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
            // The stream ends in any case.
            _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
        }
        true
    });
    raised.unwrap_or(false)
}
