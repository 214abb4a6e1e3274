//! A wake as a flag, for engines without a descriptor to wait at.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::Wake;

/// Whether an engine was woken.
#[derive(Debug, Default)]
pub(super) struct WakeFlag {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl WakeFlag {
    fn lock(&self) -> MutexGuard<'_, bool> {
        // A flag is in no state between two values when a thread panics.
        self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Consumes a wake, if there was one; returns whether there was.
    pub fn take(&self) -> bool {
        std::mem::take(&mut *self.lock())
    }

    /// Waits for a wake, no longer than until `deadline`, and consumes it.
    pub fn wait(&self, deadline: Option<Instant>) {
        let is_unset = |is_set: &mut bool| !*is_set;
        match deadline {
            None => {
                let woken = self.changed.wait_while(self.lock(), is_unset);
                *woken.unwrap_or_else(PoisonError::into_inner) = false;
            }
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now());
                let woken = self.changed.wait_timeout_while(self.lock(), left, is_unset);
                *woken.unwrap_or_else(PoisonError::into_inner).0 = false;
            }
        }
    }
}

impl Wake for WakeFlag {
    fn wake(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }
}
