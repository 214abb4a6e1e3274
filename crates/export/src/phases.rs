//! The time of a dump, by phases.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A phase of a dump, in the order in which they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Listing all objects, with the facts needed to dump each.
    Planning,
    /// Waiting for a server to grant the lock.
    WaitingForLock,
    /// Holding locks on tables, possibly while other phases proceed.
    Locked,
    /// Copying files by reflink.
    Copying,
    /// Reading tables, and writing their definitions and rows.
    Reading,
    /// Syncing the written files to disk.
    Syncing,
}

impl Phase {
    /// All phases.
    pub const ALL: [Phase; 6] = [
        Phase::Planning,
        Phase::WaitingForLock,
        Phase::Locked,
        Phase::Copying,
        Phase::Reading,
        Phase::Syncing,
    ];

    /// The name of the phase in messages and in `innoscan.json`.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Planning => "planning",
            Phase::WaitingForLock => "waiting for the lock",
            Phase::Locked => "locked",
            Phase::Copying => "copying",
            Phase::Reading => "reading",
            Phase::Syncing => "syncing",
        }
    }
}

/// The time of each phase; phases that a dump does not have are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases(BTreeMap<Phase, Duration>);

impl Phases {
    /// Adds to the time of a phase.
    pub fn add(&mut self, phase: Phase, time: Duration) {
        *self.0.entry(phase).or_default() += time;
    }

    /// Runs `work` and adds its time to a phase.
    pub fn time<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.add(phase, begun.elapsed());
        done
    }

    /// The time of a phase, if the dump had it.
    pub fn of(&self, phase: Phase) -> Option<Duration> {
        self.0.get(&phase).copied()
    }

    /// The phases as JSON: `[{"name": "planning", "seconds": 0.8}]`.
    pub(crate) fn to_json(&self) -> Value {
        let json = |(phase, time): (&Phase, &Duration)| json!({ "name": phase.name(), "seconds": time.as_secs_f64() });
        self.0.iter().map(json).collect()
    }
}

impl fmt::Display for Phases {
    /// Writes the phases as `planning 0.80 s, reading 3.10 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (phase, time)) in self.0.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{} {:.2} s", phase.name(), time.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_added_up_and_told_in_their_order() {
        let mut phases = Phases::default();
        assert_eq!(phases.to_string(), "");
        phases.add(Phase::Syncing, Duration::from_millis(500));
        phases.add(Phase::Planning, Duration::from_millis(1240));
        phases.add(Phase::Syncing, Duration::from_millis(250));
        assert_eq!(phases.time(Phase::Copying, || 7), 7);
        let text = phases.to_string();
        assert!(text.starts_with("planning 1.24 s, copying 0.0"), "{text}");
        assert!(text.ends_with(", syncing 0.75 s"), "{text}");
        assert_eq!(phases.of(Phase::Syncing), Some(Duration::from_millis(750)));
        assert_eq!(phases.of(Phase::Locked), None);
        assert_eq!(phases.to_json()[0], json!({ "name": "planning", "seconds": 1.24 }));
    }

    #[test]
    fn they_stand_in_their_order() {
        assert!(Phase::ALL.is_sorted());
    }
}
