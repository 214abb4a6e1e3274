//! Signals that end the program: the first one lets it clean up, the second ends it at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

/// The last signal received; 0 for none.
static CAME: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// A flag that Ctrl-C, SIGTERM and SIGHUP set; a second signal ends the program at once. Signals that
/// the parent process set to be ignored (`nohup`) stay ignored.
pub fn cancel_on_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let is_second = Arc::new(AtomicBool::new(false));
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if ignored & (1 << (signal - 1)) != 0 {
            continue;
        }
        let code = 128 + signal;
        // Actions are done in the order they are registered in.
        flag::register_conditional_shutdown(signal, code, Arc::clone(&is_second))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&CAME), signal as usize))
            .and_then(|_| flag::register(signal, Arc::clone(&is_second)))
            .and_then(|_| flag::register(signal, Arc::clone(&cancel)))
            .context("cannot install signal handlers")?;
    }
    Ok(cancel)
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail like any other write: without a handler,
/// SIGXFSZ ends the program without a message.
pub fn survive_file_size_limit() -> anyhow::Result<()> {
    // The flag is never read: the write returns the error.
    flag::register(SIGXFSZ, Arc::default()).context("cannot install signal handlers")?;
    Ok(())
}

/// The exit code after a signal.
pub fn exit() -> Exit {
    match i32::try_from(CAME.load(Ordering::SeqCst)) {
        Ok(SIGTERM) => Exit::Terminated,
        Ok(SIGHUP) => Exit::HungUp,
        _ => Exit::Interrupted,
    }
}

/// Mask of the ignored signals; bit 0 is signal 1.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
