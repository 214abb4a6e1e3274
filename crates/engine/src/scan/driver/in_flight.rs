//! The amount that is read ahead at a time: enough to keep the device busy, and no more, since all other
//! requests to the device wait behind it.
//!
//! Reads in flight beyond that amount only wait. So while reads complete quickly more
//! may be in flight, and when they take long, fewer: where a single request transfers for longer
//! than the limit, two are in flight, and the second waits for its turn.

use std::time::Duration;

use innoscan_io::KindCounters;

/// The most bytes in flight: more than any device transfers within the latency of a request.
const BYTES_MAX: usize = 8 << 20;

/// Reads that take longer than this wait for each other. A smaller limit would let the device idle when
/// the scan thread is not woken at once on a busy machine.
const SERVICE_MAX: Duration = Duration::from_millis(16);

/// Bytes by which the limit grows after each read that completed quickly.
const STEP_BYTES: usize = 64 << 10;

pub(super) struct InFlight {
    least_bytes: usize,
    bytes_max: usize,
    seen_requests: u64,
    seen_service: Duration,
}

impl InFlight {
    /// A limit for reads of at most `run_bytes`.
    pub fn new(run_bytes: usize) -> InFlight {
        InFlight {
            least_bytes: run_bytes.min(BYTES_MAX),
            bytes_max: BYTES_MAX,
            seen_requests: 0,
            seen_service: Duration::ZERO,
        }
    }

    /// Whether no more should be read ahead for now.
    pub fn is_enough(&self, pending_bytes: usize) -> bool {
        pending_bytes >= self.bytes_max
    }

    /// Adapts the limit to the reads that completed since the last call.
    pub fn adapt(&mut self, ahead: &KindCounters) {
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

    /// The final amount in flight on a device that serves reads of `run_bytes` one after the other, each
    /// taking the given time.
    fn in_the_end(run_bytes: usize, each: Duration) -> usize {
        let mut in_flight = InFlight::new(1 << 20);
        let mut counters = KindCounters::default();
        let mut pending = 0;
        for _ in 0..10_000 {
            pending = 0;
            while !in_flight.is_enough(pending * run_bytes) {
                pending += 1;
            }
            counters.requests += 1;
            counters.service += each * pending as u32;
            in_flight.adapt(&counters);
        }
        pending
    }

    #[test]
    fn as_much_is_under_way_as_does_not_wait_long() {
        // A disk of 150 MiB per second: one read, and the next.
        let on_disk = in_the_end(1 << 20, Duration::from_micros(6667));
        assert!((2..=3).contains(&on_disk), "{on_disk}");
        // 3000 requests a second: 48 of them take 16 ms.
        let few_bytes = in_the_end(32 << 10, Duration::from_micros(333));
        assert!((40..=56).contains(&few_bytes), "{few_bytes}");
        assert_eq!(in_the_end(1 << 20, Duration::from_micros(300)), 8);
    }
}
