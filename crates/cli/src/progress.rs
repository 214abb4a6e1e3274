//! How far a scan is, on stderr: a bar on a terminal, else a line every few seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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

/// Several tables, one after the other, as one whole.
#[derive(Default)]
pub struct Whole {
    /// Bytes of each one's files.
    sizes_bytes: Vec<u64>,
    /// Those that are done.
    done: AtomicUsize,
}

impl Whole {
    /// Of tables whose files have so many bytes.
    pub fn new(sizes_bytes: Vec<u64>) -> Whole {
        Whole { sizes_bytes, done: AtomicUsize::new(0) }
    }

    /// The next table begins.
    pub fn next(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// How much of all is done when of the present table this share is.
    fn share(&self, of_table: f64) -> f64 {
        let done = self.done.load(Ordering::Relaxed);
        let total: u64 = self.sizes_bytes.iter().sum();
        let before: u64 = self.sizes_bytes.iter().take(done).sum();
        match self.sizes_bytes.get(done) {
            Some(present) if total > 0 => {
                (before as f64 + *present as f64 * of_table) / total as f64
            }
            _ => of_table,
        }
    }
}

/// Shows a scan's progress, or that of several as a whole.
pub struct Bar {
    bar: Option<ProgressBar>,
    lines: Option<Arc<Lines>>,
    whole: Arc<Whole>,
}

struct Lines {
    name: String,
    started: Instant,
    last: Mutex<Instant>,
}

impl Bar {
    /// A bar for the table of this name; nothing at all when `quiet`.
    pub fn new(quiet: bool, name: &str) -> Bar {
        Bar::of_whole(quiet, name, Whole::default())
    }

    /// A bar for several tables.
    pub fn of_whole(quiet: bool, name: &str, whole: Whole) -> Bar {
        let whole = Arc::new(whole);
        if quiet {
            return Bar { bar: None, lines: None, whole };
        }
        let started = Instant::now();
        if !std::io::stderr().is_terminal() {
            let lines = Lines { name: name.to_owned(), started, last: Mutex::new(started) };
            return Bar { bar: None, lines: Some(Arc::new(lines)), whole };
        }
        let style = "{prefix} {percent:>3}% [{bar:30}] {msg}, ETA {eta}";
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
            .with_prefix(name.to_owned());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Bar { bar: Some(bar), lines: None, whole }
    }

    /// What a scan is to call.
    pub fn callback(&self) -> Option<Arc<ProgressFn>> {
        let whole = Arc::clone(&self.whole);
        if let Some(bar) = self.bar.clone() {
            return Some(Arc::new(move |progress: &Progress| {
                bar.set_position((whole.share(progress.share()) * STEPS as f64) as u64);
                bar.set_message(leaves_and_rows(progress));
            }));
        }
        let lines = Arc::clone(self.lines.as_ref()?);
        Some(Arc::new(move |progress: &Progress| {
            lines.tell(progress, whole.share(progress.share()));
        }))
    }

    /// A table is done.
    pub fn next_table(&self) {
        self.whole.next();
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
    fn tell(&self, progress: &Progress, share: f64) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() < LINE_EVERY {
            return;
        }
        *last = Instant::now();
        let elapsed = self.started.elapsed().as_secs_f64();
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

/// Shows how many of something are done.
pub struct Count {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    what: &'static str,
    /// When this part began, and was told of last.
    begun: Instant,
    told: Instant,
}

impl Count {
    /// Nothing at all when `quiet`.
    pub fn new(quiet: bool) -> Count {
        let is_terminal = !quiet && std::io::stderr().is_terminal();
        let bar =
            is_terminal.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        if let (Some(bar), Ok(style)) = (&bar, ProgressStyle::with_template("{msg}")) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Count { bar, is_quiet: quiet, what: "", begun: now, told: now }
    }

    /// So many are done, of so many if that is known.
    pub fn tell(&mut self, what: &'static str, done: usize, all: Option<usize>) {
        if self.is_quiet {
            return;
        }
        let now = Instant::now();
        if self.what != what {
            (self.what, self.begun, self.told) = (what, now, now);
        }
        let every = if self.bar.is_some() { LINE_EVERY / 50 } else { LINE_EVERY };
        if now - self.told < every {
            return;
        }
        self.told = now;
        let rate = done as f64 / (now - self.begun).as_secs_f64();
        let of_all = all.map_or(String::new(), |all| {
            let eta_s = all.saturating_sub(done) as f64 / rate.max(1e-9);
            format!(
                " of {all} ({:.1} %), ETA {eta_s:.0} s",
                100.0 * done as f64 / all.max(1) as f64
            )
        });
        let line = format!("{what}: {done} files{of_all}, {rate:.0} files/s");
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => note!("innoscan: {line}"),
        }
    }

    /// Takes it away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_is_weighed_by_bytes() {
        let whole = Whole::new(vec![100, 300]);
        assert_eq!(whole.share(0.5), 0.125);
        whole.next();
        assert_eq!(whole.share(0.0), 0.25);
        whole.next();
        assert_eq!(whole.share(1.0), 1.0);
        assert_eq!(Whole::default().share(0.3), 0.3);
    }
}
