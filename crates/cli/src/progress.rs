//! Progress of scans on stderr: a bar on a terminal, otherwise a line every few seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use innoscan_engine::scan::{Progress, ProgressFn};

use crate::sizes::{bytes, bytes_of};

/// Interval between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Steps of a bar.
const STEPS: u64 = 1000;

/// The progress of several tables, read one after the other, as one total.
#[derive(Default)]
pub struct Whole {
    /// The name of each table, and the bytes of its files; 0 if not known.
    tables: Vec<(String, u64)>,
    /// Finished tables, and their rows.
    done: AtomicUsize,
    done_rows: AtomicU64,
}

impl Whole {
    /// The total of tables with these names and bytes of files.
    pub fn new(tables: Vec<(String, u64)>) -> Whole {
        Whole { tables, ..Whole::default() }
    }

    /// Counts a finished table and its rows; the next table begins.
    fn next(&self, rows: u64) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.done_rows.fetch_add(rows, Ordering::Relaxed);
    }

    fn total_bytes(&self) -> u64 {
        self.tables.iter().map(|(_, bytes)| bytes).sum()
    }

    /// The finished share of the total, from that of the current table.
    fn share(&self, of_table: f64) -> f64 {
        let done = self.done.load(Ordering::Relaxed);
        let total = self.total_bytes();
        let Some((_, present)) = self.tables.get(done) else { return of_table };
        if total == 0 {
            return (done as f64 + of_table) / self.tables.len() as f64;
        }
        let before: u64 = self.tables.iter().take(done).map(|(_, bytes)| bytes).sum();
        (before as f64 + *present as f64 * of_table) / total as f64
    }

    /// One line with the most important parts first, since it may be cut off.
    fn line(&self, progress: &Progress, elapsed: Duration) -> String {
        let share = self.share(progress.share());
        let eta_s = elapsed.as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let done = self.done.load(Ordering::Relaxed);
        let count = self.tables.len();
        let name = match self.tables.get(done) {
            Some((name, _)) if count > 1 => format!("{name} {}/{count}", done + 1),
            Some((name, _)) => name.clone(),
            None => String::new(),
        };
        let mut line = format!("{:.0} % | {name}", 100.0 * share);
        let total = self.total_bytes();
        let done_bytes = (share * total as f64) as u64;
        if total > 0 {
            line += &format!(" | {}", bytes_of(done_bytes, total));
        }
        let rows = self.done_rows.load(Ordering::Relaxed) + progress.rows;
        line += &format!(" | {} rows", short(rows));
        if total > 0 {
            let rate = done_bytes as f64 / elapsed.as_secs_f64().max(1e-3);
            line += &format!(" | {}/s", bytes(rate as u64));
        }
        format!("{line} | ETA {}", duration(eta_s))
    }
}

/// `745`, `745k`, `2.6M`.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", number / 1000),
        1_000_000..1_000_000_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.1}G", number as f64 / 1e9),
    }
}

/// `6 s`, `12 min`, `3.4 h`.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 1e6 => format!("{:.1} h", seconds / 3600.0),
        _ => "unknown".to_owned(),
    }
}

/// Shows the progress of a scan, or of several as a whole.
pub struct Bar {
    bar: Option<ProgressBar>,
    /// Time of the last line; `None` on a terminal.
    lines: Option<Arc<Mutex<Instant>>>,
    whole: Arc<Whole>,
    begun: Instant,
}

impl Bar {
    /// A bar for these tables; shows nothing if `quiet`.
    pub fn new(quiet: bool, whole: Whole) -> Bar {
        let (whole, begun) = (Arc::new(whole), Instant::now());
        if quiet {
            return Bar { bar: None, lines: None, whole, begun };
        }
        if !std::io::stderr().is_terminal() {
            return Bar { bar: None, lines: Some(Arc::new(Mutex::new(begun))), whole, begun };
        }
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        // The message is cut off at the terminal's width.
        if let Ok(style) = ProgressStyle::with_template("{bar:10} {wide_msg}") {
            bar.set_style(style);
        }
        Bar { bar: Some(bar), lines: None, whole, begun }
    }

    /// The callback for a scan.
    pub fn callback(&self) -> Option<Arc<ProgressFn>> {
        let (whole, begun) = (Arc::clone(&self.whole), self.begun);
        if let Some(bar) = self.bar.clone() {
            return Some(Arc::new(move |progress: &Progress| {
                bar.set_message(whole.line(progress, begun.elapsed()));
                if bar.is_finished() {
                    bar.reset();
                }
                bar.set_position((whole.share(progress.share()) * STEPS as f64) as u64);
            }));
        }
        let last = Arc::clone(self.lines.as_ref()?);
        Some(Arc::new(move |progress: &Progress| {
            let Ok(mut last) = last.lock() else { return };
            if last.elapsed() >= LINE_EVERY {
                *last = Instant::now();
                note!("innoscan: {}", whole.line(progress, begun.elapsed()));
            }
        }))
    }

    /// Counts a finished table and its rows.
    pub fn next_table(&self, rows: u64) {
        self.whole.next(rows);
    }

    /// Removes the bar; the next progress shows it again.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows progress as a count of files.
pub struct Count {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    what: &'static str,
    /// Start of this part, and time of its last line.
    begun: Instant,
    shown: Instant,
}

impl Count {
    /// A count; shows nothing if `quiet`.
    pub fn new(quiet: bool) -> Count {
        let is_terminal = !quiet && std::io::stderr().is_terminal();
        let bar =
            is_terminal.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        if let (Some(bar), Ok(style)) = (&bar, ProgressStyle::with_template("{wide_msg}")) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Count { bar, is_quiet: quiet, what: "", begun: now, shown: now }
    }

    /// Shows `done` files, of `all` if known.
    pub fn show(&mut self, what: &'static str, done: usize, all: Option<usize>) {
        if self.is_quiet {
            return;
        }
        let now = Instant::now();
        if self.what != what {
            (self.what, self.begun, self.shown) = (what, now, now);
        }
        let every = if self.bar.is_some() { LINE_EVERY / 50 } else { LINE_EVERY };
        if now - self.shown < every {
            return;
        }
        self.shown = now;
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

    /// Removes the line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Whole {
        Whole::new(vec![("a.b".to_owned(), 1 << 20), ("a.c".to_owned(), 3 << 20)])
    }

    #[test]
    fn the_whole_is_weighed_by_bytes() {
        let whole = whole();
        assert_eq!(whole.share(0.5), 0.125);
        whole.next(7);
        assert_eq!(whole.share(0.0), 0.25);
        whole.next(7);
        assert_eq!(whole.share(1.0), 1.0);
        assert_eq!(Whole::default().share(0.3), 0.3);
        let unknown = Whole::new(vec![("a.b".to_owned(), 0), ("a.c".to_owned(), 0)]);
        unknown.next(7);
        assert_eq!(unknown.share(0.5), 0.75);
    }

    #[test]
    fn a_line_says_which_table_how_much_and_how_long() {
        let whole = whole();
        whole.next(12_000);
        let progress = Progress {
            done_leaves: 1,
            total_leaves: 3,
            is_exact: true,
            rows: 345,
            ..Progress::default()
        };
        assert_eq!(
            whole.line(&progress, Duration::from_secs(2)),
            "50 % | a.c 2/2 | 2.0 of 4.0 MiB | 12k rows | 1.0 MiB/s | ETA 2 s"
        );
    }
}
