//! A catalog that all threads ask. One thread has it, so what it learns of a directory is read once for all tables of a
//! query; of a killed server that is the redo log.

use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use innoscan::{Error, Result};
use innoscan_catalog::catalog::Catalog;

type Question = Box<dyn FnOnce(&Catalog) + Send>;

/// A catalog on a thread of its own, which ends with this.
pub struct SharedCatalog {
    questions: Sender<Question>,
}

impl SharedCatalog {
    /// Starts the thread.
    ///
    /// # Errors
    /// There can be no further thread.
    pub fn start(make: impl FnOnce() -> Catalog + Send + 'static) -> Result<SharedCatalog> {
        let (questions, asked) = channel::<Question>();
        let thread = Builder::new().name("catalog".to_owned());
        let started = thread.spawn(move || {
            let catalog = make();
            for question in asked {
                question(&catalog);
            }
        });
        started.map_err(Error::no_thread)?;
        Ok(SharedCatalog { questions })
    }

    /// What the catalog answers.
    ///
    /// # Errors
    /// That of the answer.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Catalog) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = channel();
        let question: Question = Box::new(move |catalog| {
            // The caller may be gone.
            _ = answer.send(question(catalog));
        });
        let sent = self.questions.send(question).ok();
        let answer = sent.and_then(|()| answered.recv().ok());
        // It ends early only by a panic, which has its own message.
        answer.unwrap_or_else(|| Err(Error::resources("the thread with the catalog ended")))
    }
}
