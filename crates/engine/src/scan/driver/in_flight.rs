//! The amount that is read ahead at a time: enough to keep the device busy, and no more, since all other
//! requests to the device wait behind it.
//!
//! Reads in flight beyond that amount only wait. While reads complete quickly, up to [`BYTES_MAX`] are in
//! flight: on a fast device nobody waits long behind them. When reads take long, fewer are, and when their mean
//! time stays long, the device is slow, and [`io::Depth`] finds by trial how many reads it needs.

use std::time::Duration;

use innoscan_io::{self as io, KindCounters};

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

pub(super) struct InFlight {
    reads_max: usize,
    /// The limit on a slow device; `None` on others.
    slow: Option<io::Depth>,
    /// The reads up to the last judgement, and their time.
    judged: (u64, Duration),
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
            least_bytes: run_bytes.min(BYTES_MAX),
            bytes_max: BYTES_MAX,
            seen_requests: 0,
            seen_service: Duration::ZERO,
        }
    }

    /// Whether another read may start.
    pub fn admits(&mut self, now: &io::Progress) -> bool {
        match &mut self.slow {
            Some(depth) => depth.admits(now.in_flight_reads, now.in_flight_bytes),
            None => now.in_flight_bytes < self.bytes_max,
        }
    }

    /// Takes note that other limits keep reads from starting.
    pub fn note_full(&mut self) {
        if let Some(depth) = &mut self.slow {
            depth.note_full();
        }
    }

    /// Adapts the limit to the reads that completed since the last call. `ahead`: those of read-ahead.
    pub fn observe(&mut self, now: &io::Progress, ahead: &KindCounters) {
        match &mut self.slow {
            Some(depth) => depth.observe(now),
            None => self.adapt(ahead),
        }
        let (requests, service) = self.judged;
        let reads = ahead.requests - requests;
        if self.slow.is_none() && reads >= JUDGED_READS {
            self.judged = (ahead.requests, ahead.service);
            if (ahead.service - service).div_f64(reads as f64) > SERVICE_MAX {
                self.slow = Some(io::Depth::new(self.reads_max));
            }
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
            in_flight.observe(&progress(pending, counters, at), &counters);
            while pending < 128 && in_flight.admits(&progress(pending, counters, at)) {
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
