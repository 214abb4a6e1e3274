//! The length of the longest read: as long as the device needs for its rate, and no longer, since the requests
//! of others wait behind it.
//!
//! What is known of a device may be wrong: reads that are too short for it meet its limit on requests, and look
//! like a low limit on bytes. So a slow device is tried with reads of twice and of half the length, and the
//! rate decides. Trials that fail are repeated ever less often.

use std::time::Duration;

use innoscan_io::{Observed, Progress};

/// The time for which a length is tried: longer than the bursts in which devices serve reads.
const TRIAL: Duration = Duration::from_millis(400);
/// The least reads of a trial.
const TRIAL_READS: u64 = 16;
/// The time after a change in which reads of the length before complete.
const SETTLING: Duration = Duration::from_millis(100);

/// Longer reads must raise the rate by this factor.
const GAIN: f64 = 1.1;
/// Shorter reads must keep this share of the rate.
const KEPT: f64 = 0.93;

/// Trials after which a failed one is repeated: at first, and at most.
const PATIENCE: u32 = 2;
const PATIENCE_MAX: u32 = 64;

/// The limit on the length of a read.
pub(super) struct RunLength {
    bytes: u64,
    least_bytes: u64,
    most_bytes: u64,
    /// The rate with reads of `bytes`, as last seen.
    rate: f64,
    tried: Option<Direction>,
    start: Option<Progress>,
    longer: Repetition,
    shorter: Repetition,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Longer,
    Shorter,
}

/// When a trial in one direction is made again.
#[derive(Clone, Copy)]
struct Repetition {
    patience: u32,
    wait: u32,
}

impl Repetition {
    const FIRST: Repetition = Repetition { patience: PATIENCE, wait: 0 };

    fn fail(&mut self) {
        self.wait = self.patience;
        self.patience = (self.patience * 2).min(PATIENCE_MAX);
    }
}

impl RunLength {
    /// Reads of at most `most_bytes`, of which `least_bytes` are enough for any device.
    pub fn new(least_bytes: u64, most_bytes: u64) -> RunLength {
        RunLength {
            bytes: most_bytes,
            least_bytes: least_bytes.min(most_bytes),
            most_bytes,
            rate: 0.0,
            tried: None,
            start: None,
            longer: Repetition::FIRST,
            shorter: Repetition::FIRST,
        }
    }

    /// Begins with a length that suits what is known of the device.
    pub fn begin(&mut self, bytes: u64) {
        *self = RunLength::new(self.least_bytes, self.most_bytes);
        self.bytes = bytes.clamp(self.least_bytes, self.most_bytes);
    }

    /// The most bytes of the next read.
    pub fn limit_bytes(&self) -> u64 {
        match self.tried {
            None => self.bytes,
            Some(direction) => self.in_direction(direction),
        }
    }

    fn in_direction(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Longer => (self.bytes * 2).min(self.most_bytes),
            Direction::Shorter => (self.bytes / 2).max(self.least_bytes),
        }
    }

    /// Takes note of the reads on a slow device.
    pub fn observe(&mut self, now: &Progress) {
        let start = *self.start.get_or_insert(Progress { at: now.at + SETTLING, ..*now });
        if now.at < start.at {
            // Not settled yet.
            self.start = Some(Progress { at: start.at, ..*now });
            return;
        }
        let seen = Observed::between(&start, now);
        if seen.elapsed < TRIAL || seen.requests < TRIAL_READS {
            return;
        }
        self.start = None;
        self.judge(seen.bytes_per_second());
    }

    /// Ends a trial, and begins the next.
    fn judge(&mut self, rate: f64) {
        let Some(direction) = self.tried.take() else {
            self.rate = rate;
            self.tried = self.next_trial();
            return;
        };
        let is_better = match direction {
            Direction::Longer => rate > GAIN * self.rate,
            Direction::Shorter => rate >= KEPT * self.rate,
        };
        if is_better {
            self.bytes = self.in_direction(direction);
            // The best of both: a length that keeps a share of a share is no gain.
            self.rate = self.rate.max(rate);
            self.tried = (self.in_direction(direction) != self.bytes).then_some(direction);
            return;
        }
        self.repetition(direction).fail();
    }

    fn repetition(&mut self, direction: Direction) -> &mut Repetition {
        match direction {
            Direction::Longer => &mut self.longer,
            Direction::Shorter => &mut self.shorter,
        }
    }

    fn next_trial(&mut self) -> Option<Direction> {
        for direction in [Direction::Longer, Direction::Shorter] {
            if self.in_direction(direction) == self.bytes {
                continue;
            }
            let repetition = self.repetition(direction);
            match repetition.wait.checked_sub(1) {
                None => return Some(direction),
                Some(wait) => repetition.wait = wait,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    /// The share of the best rate that a device of limits on requests and bytes gives in `seconds`, and the
    /// length in the end. `noise` changes the rate at random by up to that share.
    fn run(begin: u64, iops: f64, bytes_per_second: f64, seconds: u64, noise: f64) -> (f64, u64) {
        let mut length = RunLength::new(256 * KIB, 1024 * KIB);
        length.begin(begin);
        let mut now = Progress::default();
        let mut random = 1_u64;
        while now.at < Duration::from_secs(seconds) {
            length.observe(&now);
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let factor = 1.0 + noise * ((random >> 40) as f64 / (1 << 23) as f64 - 1.0);
            let bytes = length.limit_bytes();
            let each = (1.0 / iops).max(bytes as f64 / bytes_per_second) * factor;
            now.at += Duration::from_secs_f64(each);
            now.completed.requests += 1;
            now.completed.read_bytes += bytes;
        }
        let best = bytes_per_second.min(iops * (1 << 20) as f64);
        let rate = now.completed.read_bytes as f64 / now.at.as_secs_f64();
        (rate / best, length.bytes)
    }

    #[test]
    fn reads_become_as_long_as_the_device_needs() {
        for begin in [256 * KIB, 512 * KIB, 1024 * KIB] {
            for noise in [0.0, 0.1, 0.3] {
                // A disk: 150 requests and 150 MiB per second.
                let (share, bytes) = run(begin, 150.0, 157e6, 60, noise);
                assert!(share > 0.93 && bytes == 1024 * KIB, "{begin} {noise}: {share} {bytes}");
                // Longer reads gain nothing.
                let (share, bytes) = run(begin, 3000.0, 131e6, 60, noise);
                assert!(share > 0.97 && bytes == 256 * KIB, "{begin} {noise}: {share} {bytes}");
            }
        }
    }

    #[test]
    fn a_limit_below_what_is_enough_is_kept() {
        let mut length = RunLength::new(256 * KIB, 64 * KIB);
        length.begin(1024 * KIB);
        assert_eq!(length.limit_bytes(), 64 * KIB);
        assert!(length.next_trial().is_none());
    }
}
