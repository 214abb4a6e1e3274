//! A thread that writes full frames to a file while the next one is filled.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{Appender, failed_before};
use crate::{Frame, Slab};

/// The number of frames: one is filled, one is written.
pub(super) const FRAMES: usize = 2;

/// Frames on their way to a file.
#[derive(Debug)]
pub(super) struct WriteBehind {
    full: Sender<Frame>,
    /// Frames that were written, or not used yet.
    empty: Receiver<Frame>,
    thread: JoinHandle<io::Result<Appender>>,
}

impl WriteBehind {
    /// Starts the thread. All but one of the slab's frames are free.
    pub fn start(mut appender: Appender, slab: &Slab) -> io::Result<WriteBehind> {
        let (full, written) = channel::<Frame>();
        let (is_empty, empty) = channel();
        slab.take()
            .and_then(|frame| is_empty.send(frame).ok())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let write = move || {
            for frame in written {
                appender.append(&frame)?;
                // The receiver is gone when the file is given up.
                let _ = is_empty.send(frame);
            }
            Ok(appender)
        };
        let thread = std::thread::Builder::new().name("output".to_owned()).spawn(write)?;
        Ok(WriteBehind { full, empty, thread })
    }

    /// Queues a full frame, and returns one to be filled.
    ///
    /// # Errors
    /// Writing an earlier frame failed, or this one.
    pub fn exchange(self, full: Frame) -> io::Result<(WriteBehind, Frame)> {
        let queued = self.full.send(full).ok();
        match queued.and_then(|()| self.empty.recv().ok()) {
            Some(empty) => Ok((self, empty)),
            // The thread ends before its time only after an error.
            None => self.end().and(Err(failed_before())),
        }
    }

    /// Waits until all frames are written.
    pub fn end(self) -> io::Result<Appender> {
        drop(self.full);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }
}
