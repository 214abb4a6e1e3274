//! Signals that end the program: the first one in order, the second at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

/// The signal that came last; 0: none.
static CAME: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// A flag that Ctrl-C, SIGTERM and SIGHUP set; a second one ends the program at once. Those that the
/// program was started to ignore (`nohup`) stay ignored.
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
            .context("listening for signals")?;
    }
    Ok(cancel)
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) fail as any other does: without a handler
/// its signal ends the program, and nobody is told why.
pub fn survive_file_size_limit() -> anyhow::Result<()> {
    // The flag is not looked at: the write itself says what happened.
    flag::register(SIGXFSZ, Arc::default()).context("listening for signals")?;
    Ok(())
}

/// How a program ends that was interrupted.
pub fn exit() -> Exit {
    match i32::try_from(CAME.load(Ordering::SeqCst)) {
        Ok(SIGTERM) => Exit::Terminated,
        Ok(SIGHUP) => Exit::HungUp,
        _ => Exit::Interrupted,
    }
}

/// The signals that are ignored: bit 0 is signal 1.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
