//! The stream that consumers read. It touches Python only on the main thread, to answer signals.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use innoscan_columnar::BatchReader;
use pyo3::prelude::*;

use crate::scan::Report;

/// The time between two looks for signals.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A reader that notes its end, and that signals end.
pub struct Stream {
    reader: BatchReader,
    rows: u64,
    report: Arc<Mutex<Option<Report>>>,
    is_ended: bool,
    /// The exception that the handler of a signal raised.
    raised: Option<PyErr>,
}

impl Stream {
    pub fn new(reader: BatchReader, report: Arc<Mutex<Option<Report>>>) -> Stream {
        Stream { reader, rows: 0, report, is_ended: false, raised: None }
    }

    /// The exception that ended the stream.
    pub fn take_raised(&mut self) -> Option<PyErr> {
        self.raised.take()
    }

    /// Waits for the next batch. Python runs handlers of signals on the main thread only.
    fn wait(&mut self) -> Result<(), ArrowError> {
        let is_main_thread = rustix::thread::gettid() == rustix::process::getpid();
        while is_main_thread && !self.reader.wait(LOOK_EVERY).map_err(external)? {
            // None: Python is ending.
            if let Some(Err(raised)) = Python::try_attach(|py| py.check_signals()) {
                let what = raised.to_string();
                self.raised = Some(raised);
                return Err(ArrowError::ExternalError(format!("interrupted: {what}").into()));
            }
        }
        Ok(())
    }
}

fn external(error: innoscan::Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        let next = match self.wait() {
            Ok(()) => self.reader.next(),
            Err(error) => Some(Err(error)),
        };
        match &next {
            Some(Ok(batch)) => self.rows += batch.num_rows() as u64,
            Some(Err(_)) => self.is_ended = true,
            None => {
                self.is_ended = true;
                let report = Report::of(&self.reader, self.rows);
                *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            }
        }
        next
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
