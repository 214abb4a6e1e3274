//! The limits of a device, estimated from reads that were made for another purpose.

use std::time::Duration;

use crate::{Device, Progress};

/// Reads that completed within a time, while others waited: so the device was busy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// Completed reads.
    pub requests: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// The time.
    pub elapsed: Duration,
}

impl Observed {
    /// The reads that completed between two states.
    pub fn between(before: &Progress, now: &Progress) -> Observed {
        Observed {
            requests: now.completed.requests - before.completed.requests,
            read_bytes: now.completed.read_bytes - before.completed.read_bytes,
            elapsed: now.at.saturating_sub(before.at),
        }
    }

    /// Requests per second.
    pub fn iops(&self) -> f64 {
        self.requests as f64 / self.seconds()
    }

    /// Bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.read_bytes as f64 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.elapsed.as_secs_f64().max(1e-6)
    }

    /// The named device that would have taken nearly the same time for these reads.
    fn nearest(&self) -> Device {
        let took = self.seconds().ln();
        let distance =
            |device: &Device| (device.busy(self).as_secs_f64().max(1e-6).ln() - took).abs();
        let nearest =
            Device::named().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.unwrap_or_default()
    }

    /// Whether these reads met the limit on bytes of a device. Short reads met the one on requests, whatever is
    /// known of the device: its rate may have been taken for too low.
    fn are_large_for(&self, device: &Device) -> bool {
        let mean_bytes = self.read_bytes / self.requests.max(1);
        mean_bytes > SHORT_BYTES && device.gap_bytes().is_some_and(|gap| mean_bytes > gap)
    }

    /// The named device, scaled to the time that these reads took, by no more than [`SCALE_MAX`], and the
    /// fastest one only down: a few reads say little.
    fn near(&self, named: &Device) -> Device {
        let is_fastest = Device::named().all(|other| other.iops <= named.iops);
        let scale_max = if is_fastest { 1.0 } else { SCALE_MAX };
        let scale = named.busy(self).as_secs_f64() / self.seconds();
        let scale = scale.clamp(1.0 / SCALE_MAX, scale_max);
        let scaled = |limit: Option<f64>| limit.map(|limit| limit * scale);
        match self.are_large_for(named) {
            true => Device { bytes_per_second: scaled(named.bytes_per_second), ..*named },
            false => Device { iops: scaled(named.iops), ..*named },
        }
    }

    /// The device: `before` as it was known, or else the nearest named device, with the limit that these
    /// reads met: small reads meet the limit on requests, large ones that on bytes. The other limit is at
    /// least what was observed.
    pub fn device(&self, before: Option<Device>) -> Device {
        let Some(base) = before else { return self.near(&self.nearest()) };
        let (iops, rate) = (self.iops(), self.bytes_per_second());
        let at_least = |limit: Option<f64>, observed: f64| limit.map(|limit| limit.max(observed));
        match self.are_large_for(&base) {
            true => {
                Device { iops: at_least(base.iops, iops), bytes_per_second: Some(rate), ..base }
            }
            false => Device {
                iops: Some(iops),
                bytes_per_second: at_least(base.bytes_per_second, rate),
                ..base
            },
        }
    }
}

/// The most bytes of a read that is short: the largest page of InnoDB.
const SHORT_BYTES: u64 = 64 << 10;

/// The most by which a named device is scaled.
const SCALE_MAX: f64 = 4.0;

impl Device {
    /// The time that the device takes for reads, many at a time.
    fn busy(&self, reads: &Observed) -> Duration {
        let mean_bytes = reads.read_bytes / reads.requests.max(1);
        self.occupied(mean_bytes).mul_f64(reads.requests as f64) + self.latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(requests: u64, kib_each: u64, ms: u64) -> Observed {
        let read_bytes = (requests * kib_each) << 10;
        Observed { requests, read_bytes, elapsed: Duration::from_millis(ms) }
    }

    #[test]
    fn small_reads_show_the_limit_on_requests() {
        let disk = observed(300, 16, 2000).device(None);
        assert!(disk.is_within(&"iops=150,bw=150M".parse().unwrap(), 1.001), "{disk}");
        let volume = observed(1000, 20, 250).device(None);
        assert!(volume.is_within(&"iops=4000,bw=125M".parse().unwrap(), 1.001), "{volume}");
        let no_time_at_all = observed(1000, 20, 0).device(None);
        assert_eq!(no_time_at_all.bytes_per_second, Some((3000_u64 << 20) as f64));
    }

    #[test]
    fn a_few_large_reads_tell_kinds_of_devices_apart() {
        let fast = |ms| observed(14, 280, ms).device(None).iops.unwrap() > 20e3;
        assert!(fast(1) && fast(3) && fast(8));
        assert!(!fast(30) && !fast(93));
        let disk = observed(14, 280, 100).device(None);
        assert_eq!(disk.iops.map(f64::round), Some(140.0));
    }

    #[test]
    fn large_reads_show_the_limit_on_bytes() {
        let disk: Device = "iops=90,bw=150M".parse().unwrap();
        let disk = observed(200, 2048, 4000).device(Some(disk));
        assert_eq!(disk, "iops=90,bw=100M".parse().unwrap());
        let faster = observed(1000, 1024, 1000).device(Some(disk));
        assert_eq!(
            faster,
            "iops=90,bw=1000M"
                .parse()
                .map(|device| Device { iops: Some(1000.0), ..device })
                .unwrap()
        );
    }

    #[test]
    fn short_reads_are_never_taken_for_large_ones() {
        let misjudged: Device = "iops=3000,bw=36M".parse().unwrap();
        let disk = observed(300, 16, 2000).device(Some(misjudged));
        assert_eq!(disk, "iops=150,bw=36M".parse().unwrap());
    }

    #[test]
    fn a_limit_is_at_least_what_was_observed() {
        let slow: Device = "iops=100,bw=1M".parse().unwrap();
        let seen = observed(1000, 8, 1000).device(Some(slow));
        assert_eq!(seen, "iops=1000,bw=8000K".parse().unwrap());
    }

    #[test]
    fn no_time_is_no_division_by_zero() {
        assert!(Observed::default().device(None).iops.unwrap() >= 0.0);
        assert!(observed(1, 16, 0).iops().is_finite());
    }
}
