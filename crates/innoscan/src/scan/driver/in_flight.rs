//! How much is read ahead at a time: enough to keep the device busy, and no more, since whatever else
//! is asked of it waits behind.
//!
//! What is under way beyond that only waits, and the longer for it. So as long as reads are over soon
//! more may be under way, and when they take long, less: where a request transfers for longer than
//! that by itself, two are, the next one waiting for its turn.

use std::time::Duration;

use innoscan_io::KindCounters;

/// What is under way is more than any device transfers while a request takes its way.
const MOST_BYTES: usize = 8 << 20;

/// Reads that take longer wait for each other. Less, and a scan thread that is not woken at once, on a
/// busy machine, lets the device run dry.
const SERVICE_MOST: Duration = Duration::from_millis(16);

/// Bytes by which more may be under way after each read that was over soon.
const STEP_BYTES: usize = 64 << 10;

pub(super) struct InFlight {
    least_bytes: usize,
    most_bytes: usize,
    seen_requests: u64,
    seen_service: Duration,
}

impl InFlight {
    /// `run_bytes`: the most of a read.
    pub fn new(run_bytes: usize) -> InFlight {
        InFlight {
            least_bytes: run_bytes.min(MOST_BYTES),
            most_bytes: MOST_BYTES,
            seen_requests: 0,
            seen_service: Duration::ZERO,
        }
    }

    /// Whether nothing more is to be read ahead for now.
    pub fn is_enough(&self, pending_bytes: usize) -> bool {
        pending_bytes >= self.most_bytes
    }

    /// Learns from the reads that were over since the last time.
    pub fn learn(&mut self, ahead: &KindCounters) {
        let requests = ahead.requests - self.seen_requests;
        if requests == 0 {
            return;
        }
        let service = (ahead.service - self.seen_service).div_f64(requests as f64);
        (self.seen_requests, self.seen_service) = (ahead.requests, ahead.service);
        let steps = usize::try_from(requests).unwrap_or(usize::MAX);
        let wanted = match service > SERVICE_MOST {
            true => self.most_bytes / 8 * 7,
            false => self.most_bytes.saturating_add(steps.saturating_mul(STEP_BYTES)),
        };
        self.most_bytes = wanted.clamp(self.least_bytes, MOST_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is under way in the end on a device that takes reads of so many bytes one after the
    /// other, for so long each.
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
            in_flight.learn(&counters);
        }
        pending
    }

    #[test]
    fn as_much_is_under_way_as_does_not_wait_long() {
        // A disk of 150 MiB a second: one, and the next.
        let on_disk = in_the_end(1 << 20, Duration::from_micros(6667));
        assert!((2..=3).contains(&on_disk), "{on_disk}");
        // 3000 requests a second: 48 of them take 16 ms.
        let few_bytes = in_the_end(32 << 10, Duration::from_micros(333));
        assert!((40..=56).contains(&few_bytes), "{few_bytes}");
        assert_eq!(in_the_end(1 << 20, Duration::from_micros(300)), 8);
    }
}
