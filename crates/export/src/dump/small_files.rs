//! Small files, which a thread of their own creates and writes: for a file system that takes longer than
//! for the thread that reads a small table to encode its rows.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use innoscan_engine::{Error, Result};

use super::journal::{self, Entry, Journal};

/// The maximum number of files that wait to be written.
const QUEUED_FILES: usize = 64;

/// A file that is written by one write.
pub(super) struct SmallFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// The entry in the journal once the file is written.
    pub entry: Option<Entry>,
}

/// The queue of small files.
#[derive(Debug)]
pub(super) struct SmallFiles {
    journal: Arc<Mutex<Journal>>,
    writer: RefCell<Option<Writer>>,
}

#[derive(Debug)]
struct Writer {
    queue: SyncSender<SmallFile>,
    thread: JoinHandle<Result<()>>,
}

impl SmallFiles {
    pub fn new(journal: Arc<Mutex<Journal>>) -> SmallFiles {
        SmallFiles { journal, writer: RefCell::default() }
    }

    /// Queues a file.
    ///
    /// # Errors
    /// An earlier file could not be written.
    pub fn write(&self, file: SmallFile) -> Result<()> {
        let mut writer = self.writer.borrow_mut();
        let Writer { queue, .. } = match &mut *writer {
            Some(writer) => writer,
            None => writer.insert(Writer::start(Arc::clone(&self.journal))?),
        };
        match queue.send(file) {
            Ok(()) => Ok(()),
            // The thread ends before its time only after an error.
            Err(_) => {
                let ended = || Error::resources("the thread that writes small files ended");
                Err(writer.take().and_then(|writer| writer.finish().err()).unwrap_or_else(ended))
            }
        }
    }

    /// Waits until all files are written.
    pub fn finish(&self) -> Result<()> {
        self.writer.take().map_or(Ok(()), Writer::finish)
    }
}

impl Drop for SmallFiles {
    fn drop(&mut self) {
        // A dump that is interrupted or fails has reported why. Files in the queue are of tables that are
        // finished, so they are written.
        let _ = self.finish();
    }
}

impl Writer {
    fn start(journal: Arc<Mutex<Journal>>) -> Result<Writer> {
        let (queue, files) = sync_channel(QUEUED_FILES);
        let thread = std::thread::Builder::new()
            .name("small files".to_owned())
            .spawn(move || write_all(&files, &journal))
            .map_err(Error::no_thread)?;
        Ok(Writer { queue, thread })
    }

    fn finish(self) -> Result<()> {
        drop(self.queue);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn write_all(files: &Receiver<SmallFile>, journal: &Mutex<Journal>) -> Result<()> {
    for SmallFile { path, bytes, entry } in files {
        if let Err(error) = std::fs::write(&path, bytes) {
            // Nothing more can be done about a file that cannot be removed.
            let _ = std::fs::remove_file(&path);
            return Err(Error::write("writing", error).in_file(&path));
        }
        if let Some(entry) = entry {
            journal::locked(journal).note(&entry)?;
        }
    }
    Ok(())
}
