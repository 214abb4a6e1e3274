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

/// Steps of a bar.
const STEPS: u64 = 1000;

fn leaves_and_rows(progress: &Progress) -> String {
    let sorted = match progress.sorted_leaves {
        0 => String::new(),
        sorted => format!("{sorted} read to be sorted, "),
    };
    let total = if progress.is_exact { "" } else { "at least " };
    let (done, leaves, rows) = (progress.done_leaves, progress.total_leaves, progress.rows);
    format!("{sorted}{done} of {total}{leaves} leaves, {rows} rows")
}

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
        let style = "{prefix} {percent:>3}% [{bar:30}] {msg}, ETA {eta}";
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
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
                bar.set_position((progress.share() * STEPS as f64) as u64);
                bar.set_message(leaves_and_rows(progress));
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
        let share = progress.share();
        note!(
            "innoscan: {}: {:.1} % ({}), {:.1} MiB/s, ETA {:.0} s",
            self.name,
            100.0 * share,
            leaves_and_rows(progress),
            progress.read_bytes as f64 / MIB / elapsed,
            elapsed * (1.0 - share) / share.max(1e-9),
        );
    }
}
