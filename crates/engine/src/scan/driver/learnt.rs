//! What the scan thread learns about the device while it reads: whether its plan suits the device, and what
//! the next scan should know of it.
//!
//! The branch pages are read first, many at a time, so they show how many requests per second the device
//! completes. A device that serves those quickly may still turn out to be slow: volumes in a cloud serve
//! bursts. So the plan is reconsidered when reads of leaves become slow.

use std::time::Duration;

use innoscan_io::{self as io, Device, Observed};

use crate::ScanOptions;
use crate::devices::KnownDevices;
use crate::scan::plan::is_fast;

/// The reads of branch pages that show whether a device is fast.
const BRANCH_READS: u64 = 64;

/// The least time, and the least reads, of a sample of leaf reads: longer than the bursts in which devices
/// serve reads.
const SAMPLE: Duration = Duration::from_millis(300);
const SAMPLE_READS: u64 = 32;

/// A device whose limits changed by less than this factor keeps its plan.
const NOTABLE: f64 = 1.5;

/// Two samples agree if their limits differ by less than this factor. One sample alone may be of a moment in
/// which the device was held up.
const AGREEING: f64 = 2.0;

/// The most plans after the first: a device that changes all the time is not worth following.
const CHANGES_MAX: u32 = 4;

pub(super) struct Learnt {
    known: KnownDevices,
    /// Whether the reads show the device as it is.
    is_unthrottled: bool,
    device: Assumed,
    /// The device as the branch pages of this scan show it.
    by_branches: Option<Device>,
    /// The start of the reads by the current plan.
    plan_start: Reading,
    /// The start of the current sample of slow reads.
    sample_start: Option<Reading>,
    /// The device as the last sample shows it, if it calls for another plan.
    suspected: Option<Device>,
    changes: u32,
}

/// What the plan assumes about the device.
#[derive(Clone, Copy, Debug)]
enum Assumed {
    Nothing,
    /// The caller named it.
    Named(Device),
    /// It is so fast that one plan suits all tables.
    Fast(Device),
    Slow(Device),
}

impl Assumed {
    fn learnt(device: Device) -> Assumed {
        match is_fast(&device) {
            true => Assumed::Fast(device),
            false => Assumed::Slow(device),
        }
    }
}

/// The reads so far, and how long the scan thread has waited for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub progress: io::Progress,
    pub wait: Duration,
}

impl Reading {
    /// The reads since an earlier state.
    fn since(&self, before: &Reading) -> Observed {
        Observed::between(&before.progress, &self.progress)
    }

    /// The reads since an earlier state, and only the time in which the thread waited for them: others on
    /// a busy machine do not count.
    fn waited_since(&self, before: &Reading) -> Observed {
        Observed { elapsed: self.wait - before.wait, ..self.since(before) }
    }

    /// Whether the device has limited the scan since then: for most of the time nothing else was to do.
    fn is_limited_since(&self, before: &Reading) -> bool {
        self.wait - before.wait > self.since(before).elapsed / 2
    }
}

impl Learnt {
    pub fn new(options: &ScanOptions) -> Learnt {
        Learnt {
            known: options.io.known_devices.clone(),
            is_unthrottled: !options.io.slows_reads(),
            device: options.io.device.map_or(Assumed::Nothing, Assumed::Named),
            by_branches: None,
            plan_start: Reading::default(),
            sample_start: None,
            suspected: None,
            changes: 0,
        }
    }

    /// Begins with a tablespace, before any of its pages is read.
    pub fn begin(&mut self, file: &io::File, now: Reading) {
        if self.is_unthrottled && matches!(self.device, Assumed::Nothing) {
            self.device = self.known.get(file).map_or(Assumed::Nothing, Assumed::learnt);
        }
        // The page cache says nothing about the device, and is fast.
        self.by_branches = (!file.is_direct()).then(Device::default);
        self.plan_start = now;
    }

    /// The device whose limits the plan regards: one that is named, or known to be slow.
    pub fn device(&self) -> Option<Device> {
        match self.device {
            Assumed::Named(device) | Assumed::Slow(device) => Some(device),
            Assumed::Nothing | Assumed::Fast(_) => None,
        }
    }

    /// Whether the device is known to be so fast that its plan needs no knowledge of all leaves.
    pub fn is_fast(&self) -> bool {
        matches!(self.device, Assumed::Fast(_))
    }

    /// Takes note of the reads of branch pages. `are_all`: no more will come.
    pub fn note_branches(&mut self, now: &Reading, are_all: bool) {
        if self.by_branches.is_none() {
            let seen = now.waited_since(&self.plan_start);
            let is_enough = seen.requests >= BRANCH_READS || are_all && seen.requests > 0;
            self.by_branches = is_enough.then(|| seen.device(None));
        }
        let Some(device) = self.by_branches else { return };
        match self.device {
            Assumed::Nothing => self.device = Assumed::learnt(device),
            // It completes far fewer requests now than were remembered.
            Assumed::Slow(before) if completes_fewer(&device, &before) => {
                self.device = Assumed::Slow(Device { iops: device.iops, ..before });
            }
            _ => {}
        }
        self.plan_start = *now;
    }

    /// Looks at leaf reads while they are slow; says whether they show the device to be another than it was
    /// taken for, and slow.
    pub fn reconsider(&mut self, now: &Reading) -> bool {
        if matches!(self.device, Assumed::Named(_)) || self.changes == CHANGES_MAX {
            return false;
        }
        let start = *self.sample_start.get_or_insert(*now);
        let seen = now.since(&start);
        if seen.elapsed < SAMPLE || seen.requests < SAMPLE_READS {
            return false;
        }
        self.sample_start = Some(*now);
        // What was taken for fast shows nothing about the limits of the slow device.
        let device = seen.device(self.device());
        let is_news = now.is_limited_since(&start)
            && matches!(Assumed::learnt(device), Assumed::Slow(_))
            && !self.device().is_some_and(|before| before.is_within(&device, NOTABLE));
        let suspected = std::mem::replace(&mut self.suspected, is_news.then_some(device));
        if !is_news || !suspected.is_some_and(|before| before.is_within(&device, AGREEING)) {
            return false;
        }
        self.suspected = None;
        self.changes += 1;
        self.plan_start = *now;
        self.device = Assumed::Slow(device);
        true
    }

    /// Remembers the device after the last read of a tablespace.
    pub fn remember(&mut self, file: &io::File, now: &Reading) {
        let seen = now.since(&self.plan_start);
        if !self.is_unthrottled || seen.elapsed < SAMPLE || seen.requests < SAMPLE_READS {
            return;
        }
        let device = match self.device {
            Assumed::Nothing | Assumed::Named(_) => return,
            Assumed::Slow(before) if now.is_limited_since(&self.plan_start) => {
                seen.device(Some(before))
            }
            Assumed::Slow(before) | Assumed::Fast(before) => {
                no_less_than(&before, &seen, self.by_branches)
            }
        };
        self.known.set(file, device);
        self.device = Assumed::learnt(device);
    }
}

/// Whether a device completes notably fewer requests than it did before.
fn completes_fewer(now: &Device, before: &Device) -> bool {
    now.iops.zip(before.iops).is_some_and(|(now, before)| now < before / NOTABLE)
}

/// A device that has not limited the scan: its limits are no less than what was observed.
fn no_less_than(before: &Device, seen: &Observed, by_branches: Option<Device>) -> Device {
    let branch_iops = by_branches.and_then(|device| device.iops).unwrap_or_default();
    Device {
        iops: before.iops.map(|iops| iops.max(seen.iops()).max(branch_iops)),
        bytes_per_second: before.bytes_per_second.map(|limit| limit.max(seen.bytes_per_second())),
        ..*before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reads of a device that completes `iops` reads of 16 KiB a second, of which the thread waits for
    /// `wait` of the time.
    struct Reads {
        now: Reading,
    }

    impl Reads {
        fn new() -> Reads {
            Reads { now: Reading::default() }
        }

        fn run(&mut self, iops: f64, ms: u64, wait: f64) -> Reading {
            let time = Duration::from_millis(ms);
            let requests = (iops * time.as_secs_f64()) as u64;
            self.now.progress.at += time;
            self.now.progress.completed.requests += requests;
            self.now.progress.completed.read_bytes += requests * (16 << 10);
            self.now.wait += time.mul_f64(wait);
            self.now
        }
    }

    fn learnt(change: impl FnOnce(&mut ScanOptions)) -> Learnt {
        Learnt::new(&ScanOptions::default().with(change))
    }

    #[test]
    fn branch_pages_tell_fast_devices_from_slow_ones() {
        for (iops, is_fast) in [(150.0, false), (3000.0, false), (60e3, true), (400e3, true)] {
            let (mut learnt, mut reads) = (learnt(|_| ()), Reads::new());
            learnt.note_branches(&reads.run(iops, 1, 1.0), false);
            assert!(!learnt.is_fast() || is_fast, "{iops}");
            learnt.note_branches(&reads.run(iops, 500, 1.0), true);
            assert_eq!(learnt.is_fast(), is_fast, "{iops}");
            assert_eq!(learnt.device().is_none(), is_fast, "{iops}");
        }
    }

    #[test]
    fn all_reads_of_branch_pages_count_however_often_they_are_looked_at() {
        let (mut learnt, mut reads) = (learnt(|_| ()), Reads::new());
        for _ in 0..5 {
            learnt.note_branches(&reads.run(150.0, 60, 1.0), false);
        }
        assert!(learnt.device().is_none());
        // The last look comes when nothing more was read.
        learnt.note_branches(&reads.run(0.0, 0, 1.0), true);
        assert_eq!(learnt.device().unwrap().iops.unwrap().round(), 150.0);
    }

    #[test]
    fn branch_pages_correct_what_is_remembered_of_a_slow_device() {
        for (iops, known) in [(150.0, 150.0), (2500.0, 3000.0), (9000.0, 3000.0)] {
            let (mut learnt, mut reads) = (learnt(|_| ()), Reads::new());
            learnt.device = Assumed::Slow("iops=3000,bw=125M".parse().unwrap());
            learnt.note_branches(&reads.run(iops, 500, 1.0), true);
            assert_eq!(learnt.device().unwrap().iops.unwrap().round(), known);
        }
    }

    #[test]
    fn a_slow_device_is_believed_when_two_samples_agree() {
        let (mut learnt, mut reads) = (learnt(|_| ()), Reads::new());
        learnt.note_branches(&reads.run(50e3, 10, 1.0), true);
        assert!(!learnt.reconsider(&reads.run(100e3, 400, 1.0)));
        // It was held up for a moment, then a busy machine kept the scan from reading.
        assert!(!learnt.reconsider(&reads.run(200.0, 400, 1.0)));
        assert!(!learnt.reconsider(&reads.run(2000.0, 400, 0.2)));
        assert!(!learnt.reconsider(&reads.run(2000.0, 400, 0.9)));
        assert!(!learnt.reconsider(&reads.run(2000.0, 200, 0.9)));
        assert!(learnt.reconsider(&reads.run(2000.0, 200, 0.9)));
        assert_eq!(learnt.device().unwrap().iops.unwrap().round(), 2000.0);
        // What is known is no news.
        for _ in 0..4 {
            assert!(!learnt.reconsider(&reads.run(2000.0, 400, 0.9)));
        }
    }

    #[test]
    fn a_device_that_is_named_is_not_doubted() {
        let named: Device = "nvme".parse().unwrap();
        let mut learnt = learnt(|scan| scan.io.device = Some(named));
        let mut reads = Reads::new();
        for _ in 0..9 {
            learnt.note_branches(&reads.run(100.0, 500, 1.0), true);
            assert!(!learnt.reconsider(&reads.run(100.0, 500, 1.0)));
        }
        assert_eq!(learnt.device(), Some(named));
        assert!(!learnt.is_fast());
    }

    #[test]
    fn a_device_that_changes_all_the_time_is_followed_no_further() {
        let (mut learnt, mut reads) = (learnt(|_| ()), Reads::new());
        learnt.note_branches(&reads.run(3000.0, 500, 1.0), true);
        let mut change = |iops| (0..4).any(|_| learnt.reconsider(&reads.run(iops, 400, 1.0)));
        let changes = (0..10).filter(|n| change(if n % 2 == 0 { 200.0 } else { 3000.0 })).count();
        assert_eq!(changes, CHANGES_MAX as usize);
    }
}
