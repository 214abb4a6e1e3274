//! The metrics of a dump in the text form of Prometheus (`--metrics`), for the textfile collector of its node exporter.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use innoscan_catalog::ledger::State;
use innoscan_engine::{Error, Result};
use innoscan_export::dump::Summary;
use innoscan_export::phases::Phase;
use innoscan_io::{Counters, KindCounters, SERVICE_BOUNDS_US, directory_with};
use tempfile::Builder;

use crate::messages::Exit;

/// Writes the metrics to a file, which is replaced when they are complete. `summary`: of a dump that came to its end.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, summary: Option<&Summary>, exit: Exit) -> Result<()> {
    let text = text(summary, exit, SystemTime::now());
    let replaced = || {
        // Others read it, as the collector does.
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        let mut file = Builder::new().permissions(permissions).tempfile_in(directory_with(path))?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    };
    replaced().map(drop).map_err(|error| Error::write("writing the metrics", error).in_file(path))
}

fn text(summary: Option<&Summary>, exit: Exit, now: SystemTime) -> String {
    let mut page = Page::default();
    let now_seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    page.gauge("end_timestamp_seconds", "When the dump ended.", now_seconds);
    page.gauge("exit_code", "The exit code of innoscan.", exit as i32);
    let is_complete = summary.is_some_and(|summary| summary.ledger.is_complete());
    page.gauge("complete", "Whether every selected object is dumped.", u8::from(is_complete));
    let Some(summary) = summary else { return page.0 };
    page.gauge("seconds", "The duration of the dump.", summary.elapsed.as_secs_f64());
    page.head("objects", "gauge", "Objects of the source, by what became of them.");
    let entries = || summary.ledger.entries();
    for (state, count) in [
        ("dumped", entries().filter(|entry| matches!(entry.state, State::Dumped { .. })).count()),
        ("left_out", entries().filter(|entry| matches!(entry.state, State::LeftOut(_))).count()),
        ("not_dumped", summary.ledger.not_dumped().count()),
    ] {
        page.sample("objects", &format!("state=\"{state}\""), count);
    }
    page.gauge("rows", "Rows dumped.", summary.rows());
    let help = "Bytes of definitions and rows, before compression.";
    page.gauge("output_bytes", help, summary.plain_bytes());
    let locked = [
        ("lock_wait_seconds", Phase::WaitingForLock, "How long the lock was waited for."),
        ("lock_seconds", Phase::Locked, "How long the tables were locked."),
    ];
    for (name, phase, help) in locked {
        if let Some(time) = summary.phases.of(phase) {
            page.gauge(name, help, time.as_secs_f64());
        }
    }
    let mut reads = Counters::default();
    summary.tables.iter().for_each(|table| reads.merge(&table.scan.reads));
    page.reads(&reads, summary.phases.of(Phase::Reading).unwrap_or_default().as_secs_f64());
    page.0
}

/// The text, to which metrics are added. Their names begin with `innoscan_dump_`.
#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        _ = write!(
            self.0,
            "# HELP innoscan_dump_{name} {help}\n# TYPE innoscan_dump_{name} {kind}\n"
        );
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        _ = writeln!(self.0, "innoscan_dump_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.sample(name, "", value);
    }

    fn reads(&mut self, reads: &Counters, reading_seconds: f64) {
        let kinds = [("sync", &reads.demand), ("async", &reads.ahead)];
        self.head("read_bytes", "gauge", "Bytes read, waited for (sync) or ahead (async).");
        for (kind, reads) in kinds {
            self.sample("read_bytes", &format!("kind=\"{kind}\""), reads.read_bytes);
        }
        // Little's law.
        let in_flight = reads.total().service.as_secs_f64() / reading_seconds.max(1e-9);
        self.gauge("queue_depth", "Read requests in flight, on average.", in_flight);
        self.head("read_seconds", "histogram", "Service times of read requests.");
        for (kind, reads) in kinds {
            self.histogram("read_seconds", kind, reads);
        }
    }

    fn histogram(&mut self, name: &str, kind: &str, reads: &KindCounters) {
        let mut count = 0;
        for (bound_us, within) in SERVICE_BOUNDS_US.iter().zip(reads.service_counts) {
            count += within;
            let labels = format!("kind=\"{kind}\",le=\"{}\"", *bound_us as f64 / 1e6);
            self.sample(&format!("{name}_bucket"), &labels, count);
        }
        let kind = format!("kind=\"{kind}\"");
        self.sample(&format!("{name}_bucket"), &format!("{kind},le=\"+Inf\""), reads.requests);
        self.sample(&format!("{name}_sum"), &kind, reads.service.as_secs_f64());
        self.sample(&format!("{name}_count"), &kind, reads.requests);
    }
}
