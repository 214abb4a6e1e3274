//! How far a scan is, on stderr: a bar on a terminal, else a line every few seconds.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use innoscan::scan::{Progress, ProgressFn};

use crate::sizes::MIB;

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows a scan's progress.
pub struct Bar {
    bar: Option<ProgressBar>,
    lines: Option<Arc<Lines>>,
}

struct Lines {
    name: String,
    started: Instant,
    last: Mutex<Instant>,
}

impl Bar {
    /// A bar for the table of this name; nothing at all when `quiet`.
    pub fn new(quiet: bool, name: &str) -> Bar {
        if quiet {
            return Bar { bar: None, lines: None };
        }
        let started = Instant::now();
        if !std::io::stderr().is_terminal() {
            let lines = Lines { name: name.to_owned(), started, last: Mutex::new(started) };
            return Bar { bar: None, lines: Some(Arc::new(lines)) };
        }
        let style = "{prefix} {percent:>3}% [{bar:30}] {pos}/{len} leaves, {msg}, ETA {eta}";
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr())
            .with_prefix(name.to_owned());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Bar { bar: Some(bar), lines: None }
    }

    /// What a scan is to call.
    pub fn callback(&self) -> Option<Arc<ProgressFn>> {
        if let Some(bar) = self.bar.clone() {
            return Some(Arc::new(move |progress: &Progress| {
                bar.set_length(progress.total_leaves);
                bar.set_position(progress.done_leaves);
                bar.set_message(format!("{} rows", progress.rows));
            }));
        }
        let lines = Arc::clone(self.lines.as_ref()?);
        Some(Arc::new(move |progress: &Progress| lines.tell(progress)))
    }

    /// Takes the bar away; the next progress brings it back.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Lines {
    fn tell(&self, progress: &Progress) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() < LINE_EVERY {
            return;
        }
        *last = Instant::now();
        let elapsed = self.started.elapsed().as_secs_f64();
        let share = progress.done_leaves as f64 / progress.total_leaves.max(1) as f64;
        eprintln!(
            "innoscan: {}: {:.1} % ({} of {}{} leaves), {} rows, {:.1} MiB/s, ETA {:.0} s",
            self.name,
            100.0 * share,
            progress.done_leaves,
            if progress.is_exact { "" } else { "at least " },
            progress.total_leaves,
            progress.rows,
            progress.read_bytes as f64 / MIB / elapsed,
            elapsed * (1.0 - share) / share.max(1e-9),
        );
    }
}
