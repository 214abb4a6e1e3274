//! The idle time between reads that yield to those of others.
//!
//! A device that is busy while it reads is left idle for twice the time of the read. The limit of a volume or
//! a control group says nothing by the time of a read: it serves reads at once until too many came in a
//! slice of time, and then lets all wait, those of others too. So after such waits reads keep to two thirds of
//! the rate that met the limit, less if they meet it again, and come nearer to it only slowly.

use std::time::{Duration, Instant};

/// The idle time after a read, as a multiple of the read's own time: a device is busy with such reads for at
/// most a third of the time.
const IDLE_TIMES: u32 = 2;

/// The least duration of a read that waited for a limit, and how many times as long as the fastest one it
/// took.
const WAIT: Duration = Duration::from_millis(8);
const WAIT_TIMES: u32 = 8;

/// Two waits within this time are those of a limit; a single one may have any reason.
const REPEATED: Duration = Duration::from_secs(1);

/// The longest time between the starts of two reads, unless the reads themselves take longer.
const INTERVAL_MAX: Duration = Duration::from_millis(50);

/// The time without a wait after which reads come a ninth more often.
const RECOVERY: Duration = Duration::from_secs(20);

/// The pace of reads that yield.
#[derive(Debug)]
pub(super) struct Yielding {
    /// The time of the fastest read.
    fastest: Duration,
    /// The least time between the starts of two reads.
    interval: Duration,
    /// The start of the time since the last wait or recovery, and the reads since then.
    since: Instant,
    reads: u32,
    /// Whether the last wait may be the first of two.
    has_waited: bool,
}

impl Yielding {
    pub fn new(now: Instant) -> Yielding {
        let (fastest, interval) = (Duration::MAX, Duration::ZERO);
        Yielding { fastest, interval, since: now, reads: 0, has_waited: false }
    }

    /// Takes note of a read, and returns when the next may start.
    pub fn after_read(&mut self, started_at: Instant, now: Instant) -> Instant {
        let took = now - started_at;
        self.fastest = self.fastest.min(took);
        self.reads += 1;
        if took >= WAIT.max(self.fastest * WAIT_TIMES) {
            self.slow_down(now);
            (self.since, self.reads, self.has_waited) = (now, 0, true);
        } else if now - self.since >= RECOVERY {
            self.interval = self.interval * 9 / 10;
            (self.since, self.reads, self.has_waited) = (now, 0, false);
        }
        (now + took * IDLE_TIMES).max(started_at + self.interval)
    }

    fn slow_down(&mut self, now: Instant) {
        let elapsed = now - self.since;
        let interval = match self.interval.is_zero() {
            true if !self.has_waited || elapsed > REPEATED => return,
            true => elapsed / self.reads,
            false => self.interval,
        };
        self.interval = (interval * 3 / 2).min(INTERVAL_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Duration = Duration::from_millis(100);
    const READ: Duration = Duration::from_micros(500);

    /// Reads for ten minutes on a device that serves `limit` reads in each slice, and lets others wait for the
    /// next one, beside `others` reads in each slice. Returns our reads a second, and the share of time in
    /// which reads had to wait.
    fn read(limit: u32, others: u32) -> (u32, f64) {
        let begin = Instant::now();
        let mut yielding = Yielding::new(begin);
        let (mut now, mut reads, mut waited) = (begin, 0, Duration::ZERO);
        let (mut slice, mut in_slice) = (0, 0);
        while now - begin < Duration::from_secs(600) {
            let this = (now - begin).as_millis() / SLICE.as_millis();
            if this != slice {
                (slice, in_slice) = (this, 0);
            }
            let started_at = now;
            if in_slice + others >= limit {
                now = begin + SLICE * (u32::try_from(slice).unwrap() + 1);
                waited += now - started_at;
            }
            in_slice += 1;
            now = yielding.after_read(started_at, now + READ);
            reads += 1;
        }
        (reads / 600, waited.as_secs_f64() / 600.0)
    }

    #[test]
    fn reads_stay_below_a_limit_that_they_have_met() {
        // A limit of 150 a second, of which others take 40.
        let (reads, waiting) = read(15, 4);
        assert!((25..=110).contains(&reads), "{reads} reads a second");
        assert!(waiting < 0.01, "{waiting}");
    }

    #[test]
    fn a_single_long_read_does_not_slow_the_others() {
        let begin = Instant::now();
        let mut yielding = Yielding::new(begin);
        for second in 1..100 {
            let at = begin + 2 * Duration::from_secs(second);
            assert_eq!(yielding.after_read(at, at + READ), at + 3 * READ);
            let long = at + Duration::from_millis(100);
            assert_eq!(yielding.after_read(at, long), long + 2 * (long - at));
        }
    }

    #[test]
    fn a_device_without_a_limit_is_idle_for_two_thirds_of_the_time() {
        assert_eq!(read(u32::MAX, 0), (666, 0.0));
    }
}
