//! The amount that is read ahead at a time: enough to keep the device busy, and no more, since all other
//! requests to the device wait behind it.
//!
//! Reads in flight beyond that amount only wait. While reads complete quickly, up to [`BYTES_MAX`] are in
//! flight: on a fast device nobody waits long behind them. When reads take long, fewer are, and when their mean
//! time stays long, the device is slow, and [`io::Depth`] finds by trial how many reads it needs.

use std::time::Duration;

use innoscan_io::{self as io, KindCounters, Observed};

/// The most bytes in flight: more than any device transfers within the latency of a request.
const BYTES_MAX: usize = 8 << 20;

/// Reads that take longer than this wait for each other. A smaller limit would let the device idle when
/// the scan thread is not woken at once on a busy machine.
const SERVICE_MAX: Duration = Duration::from_millis(16);

/// Bytes by which the limit grows after each read that completed quickly.
const STEP_BYTES: usize = 64 << 10;

/// The reads whose mean time tells whether the device is slow. Shorter spans say little: some devices serve
/// reads in bursts.
const JUDGED_READS: u64 = 128;

/// Of a device that completes more than this per second, the most reads in flight would take two thirds of
/// [`SERVICE_MAX`]: it is not slow.
const FAST_IOPS: f64 = 1.5 * 128.0 / 0.016;
const FAST_BYTES: f64 = 1.5 * BYTES_MAX as f64 / 0.016;

/// The time in which a slow device shows whether it has become fast.
const TRIAL: Duration = Duration::from_millis(300);

pub(super) struct InFlight {
    reads_max: usize,
    /// The limit on a slow device; `None` on others.
    slow: Option<io::Depth>,
    /// The reads up to the last judgement, and their time.
    judged: (u64, Duration),
    /// The state at the start of the current trial of whether a slow device has become fast.
    tried: Option<io::Progress>,
    least_bytes: usize,
    bytes_max: usize,
    seen_requests: u64,
    seen_service: Duration,
}

impl InFlight {
    /// A limit for at most `reads_max` reads in flight, each of at most `run_bytes`.
    pub fn new(reads_max: usize, run_bytes: usize) -> InFlight {
        InFlight {
            reads_max,
            slow: None,
            judged: (0, Duration::ZERO),
            tried: None,
            least_bytes: run_bytes.min(BYTES_MAX),
            bytes_max: BYTES_MAX,
            seen_requests: 0,
            seen_service: Duration::ZERO,
        }
    }

    /// Begins with what is known of the device: on one on which the most in flight would take long, with as
    /// few reads as a slow device may need.
    pub fn begin(&mut self, device: &io::Device, run_bytes: u64) {
        let rate = run_bytes as f64 / device.occupied(run_bytes).as_secs_f64();
        let quick_bytes = rate * SERVICE_MAX.as_secs_f64();
        if self.slow.is_none() && quick_bytes < BYTES_MAX as f64 {
            let depth = io::Depth::new(self.reads_max);
            self.slow = Some(depth.starting_below(2.0 * quick_bytes));
        }
    }

    /// Whether reads take long.
    pub fn is_slow(&self) -> bool {
        self.slow.is_some()
    }

    /// Whether the device is slow, and about as many reads are in flight as it needs: while their number is
    /// still sought, a trial of shorter reads would add to it.
    pub fn is_settled(&self) -> bool {
        self.slow.as_ref().is_some_and(io::Depth::has_started)
    }

    /// Whether another read may start beside those in flight.
    pub fn admits(&mut self, reads: usize, bytes: usize) -> bool {
        match &mut self.slow {
            Some(depth) => depth.admits(reads, bytes),
            None => bytes < self.bytes_max,
        }
    }

    /// Takes note that other limits keep reads from starting.
    pub fn note_full(&mut self) {
        if let Some(depth) = &mut self.slow {
            depth.note_full();
        }
    }

    /// Adapts the limit to the reads that completed since the last call. `ahead`: those of read-ahead;
    /// `progress`: those of all kinds, which only a slow device needs.
    pub fn observe(&mut self, ahead: &KindCounters, progress: impl FnOnce() -> io::Progress) {
        match &mut self.slow {
            Some(depth) => {
                let now = progress();
                depth.observe(&now);
                self.judge_slow(ahead, &now);
            }
            None => {
                self.adapt(ahead);
                self.judge(ahead);
            }
        }
    }

    /// Decides from time to time whether the device is slow.
    fn judge(&mut self, ahead: &KindCounters) {
        let (requests, service) = self.judged;
        let reads = ahead.requests - requests;
        if reads < JUDGED_READS {
            return;
        }
        self.judged = (ahead.requests, ahead.service);
        if (ahead.service - service).div_f64(reads as f64) > SERVICE_MAX {
            self.slow = Some(io::Depth::new(self.reads_max));
        }
    }

    /// Decides from time to time whether a slow device is slow no more: others had held it up, or it completes
    /// so much that reads would not take long however many there are.
    fn judge_slow(&mut self, ahead: &KindCounters, now: &io::Progress) {
        let seen = Observed::between(self.tried.get_or_insert(*now), now);
        if seen.elapsed < TRIAL {
            return;
        }
        self.tried = Some(*now);
        if seen.iops() > FAST_IOPS || seen.bytes_per_second() > FAST_BYTES {
            self.slow = None;
            self.tried = None;
            self.judged = (ahead.requests, ahead.service);
        }
    }

    fn adapt(&mut self, ahead: &KindCounters) {
        let requests = ahead.requests - self.seen_requests;
        if requests == 0 {
            return;
        }
        let service = (ahead.service - self.seen_service).div_f64(requests as f64);
        (self.seen_requests, self.seen_service) = (ahead.requests, ahead.service);
        let steps = usize::try_from(requests).unwrap_or(usize::MAX);
        let wanted = match service > SERVICE_MAX {
            true => self.bytes_max / 8 * 7,
            false => self.bytes_max.saturating_add(steps.saturating_mul(STEP_BYTES)),
        };
        self.bytes_max = wanted.clamp(self.least_bytes, BYTES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reads in flight in the end on a device that serves reads of `run_bytes` one after the other,
    /// each taking the given time, and whether it counts as slow.
    fn in_the_end(run_bytes: usize, each: Duration) -> (usize, bool) {
        let mut in_flight = InFlight::new(128, 1 << 20);
        let mut counters = KindCounters::default();
        let (mut pending, mut at) = (0, Duration::ZERO);
        let mut entered = std::collections::VecDeque::new();
        for _ in 0..50_000 {
            let progress = |pending: usize, completed: KindCounters, at: Duration| io::Progress {
                at,
                completed,
                in_flight_reads: pending,
                in_flight_bytes: pending * run_bytes,
            };
            in_flight.observe(&counters, || progress(pending, counters, at));
            while pending < 128 && in_flight.admits(pending, pending * run_bytes) {
                pending += 1;
                entered.push_back(at);
            }
            at += each;
            pending -= 1;
            counters.requests += 1;
            counters.read_bytes += run_bytes as u64;
            counters.service += at - entered.pop_front().unwrap();
        }
        (pending + 1, in_flight.slow.is_some())
    }

    #[test]
    fn a_device_that_is_known_to_be_slow_has_few_reads_in_flight_at_once() {
        for (device, is_slow) in [("hdd", true), ("gp3", true), ("ssd", false), ("nvme", false)] {
            let mut in_flight = InFlight::new(128, 1 << 20);
            in_flight.begin(&device.parse().unwrap(), 256 << 10);
            assert_eq!(in_flight.is_slow(), is_slow, "{device}");
        }
    }

    #[test]
    fn a_slow_device_has_few_reads_in_flight_and_a_fast_one_as_many_as_it_takes() {
        // A disk of 150 MiB per second.
        let (reads, is_slow) = in_the_end(1 << 20, Duration::from_micros(6667));
        assert!(is_slow && reads <= 4, "{reads}");
        // 3000 requests a second.
        let (reads, is_slow) = in_the_end(32 << 10, Duration::from_micros(333));
        assert!(is_slow && reads <= 8, "{reads}");
        assert_eq!(in_the_end(1 << 20, Duration::from_micros(300)), (8, false));
    }
}
