//! Device models: requests per second, bytes per second, and the latency of a request.
//!
//! The model is that of cloud volumes and of the kernel's block throttle: requests are serial, and
//! each occupies the device for the longer of two times, by the limit on requests or by the limit
//! on bytes. On a disk, near places are cheaper than far ones: the model `disk` has a seek curve
//! ([`Seeks`]), and `hdd` charges each request the same.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::Seeks;

/// A device's limits; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Device {
    /// Requests per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Time of a request beyond the time in which it occupies the device.
    pub latency: Duration,
    /// The mechanics of a disk, in place of a limit on requests.
    pub seeks: Option<Seeks>,
}

/// The bytes per second of `disk`: those of `hdd`.
const DISK_BYTES_PER_SECOND: f64 = (150 << 20) as f64;

/// The named devices.
const NAMED: [(&str, f64, u64, u64); 4] = [
    // A disk of 7200 rpm with a sorted queue; its rate is midway between rim and hub.
    ("hdd", 150.0, 150 << 20, 0),
    // The smallest volume of AWS EBS's gp3: 3000 requests and 125 MiB per second.
    ("gp3", 3000.0, 125 << 20, 0),
    ("ssd", 60_000.0, 500 << 20, 100),
    ("nvme", 500_000.0, 3000 << 20, 80),
];

impl Device {
    /// The devices that have names.
    pub(crate) fn named() -> impl Iterator<Item = Device> {
        NAMED.iter().map(Device::of_named)
    }

    fn of_named(&(_, iops, bytes, latency_us): &(&str, f64, u64, u64)) -> Device {
        Device {
            iops: Some(iops),
            bytes_per_second: Some(bytes as f64),
            latency: Duration::from_micros(latency_us),
            seeks: None,
        }
    }

    /// The model `disk`.
    fn disk() -> Device {
        Device {
            bytes_per_second: Some(DISK_BYTES_PER_SECOND),
            seeks: Some(Seeks::PUBLISHED),
            ..Device::default()
        }
    }

    /// Returns the time until a read at `to` can start when the one before has ended at `from`: that of
    /// a disk's head; none on other devices.
    pub fn positioning(&self, from: u64, to: u64) -> Duration {
        match (self.seeks, self.bytes_per_second) {
            (Some(seeks), Some(rate)) => seeks.positioning(from, to, rate),
            _ => Duration::ZERO,
        }
    }

    /// Returns the time for which a request of `bytes` occupies the device.
    pub fn occupied(&self, bytes: u64) -> Duration {
        let by_count = self.iops.map_or(0.0, |iops| 1.0 / iops);
        let by_bytes = self.bytes_per_second.map_or(0.0, |rate| bytes as f64 / rate);
        Duration::from_secs_f64(by_count.max(by_bytes))
    }

    /// Returns the time of a single request of `bytes` on an idle device.
    pub fn request_cost(&self, bytes: u64) -> Duration {
        self.occupied(bytes)
            + self.latency
            + self.seeks.map_or(Duration::ZERO, |seeks| seeks.least())
    }

    /// Returns the bytes transferred in the minimum time of a request: a gap up to this size is
    /// cheaper to read than another request. `None` when one of the two has no limit.
    pub fn gap_bytes(&self) -> Option<u64> {
        if let (Some(seeks), Some(rate)) = (self.seeks, self.bytes_per_second) {
            return Some((seeks.least().as_secs_f64() * rate) as u64);
        }
        Some((self.bytes_per_second? / self.iops?) as u64)
    }

    /// Returns whether each limit differs from that of another device by less than a factor.
    pub fn is_within(&self, other: &Device, factor: f64) -> bool {
        let is_near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => one.max(other) < factor * one.min(other),
            (one, other) => one == other,
        };
        is_near(self.iops, other.iops) && is_near(self.bytes_per_second, other.bytes_per_second)
    }

    /// Returns whether the device is unlimited.
    pub fn is_unlimited(&self) -> bool {
        *self == Device::default()
    }
}

impl FromStr for Device {
    type Err = String;

    /// Parses `hdd`, `disk`, `gp3`, `ssd`, `nvme`, or `iops=3000,bw=125M,latency=500us` with any of the
    /// three.
    fn from_str(typed: &str) -> Result<Device, String> {
        if let Some(named) = NAMED.iter().find(|named| named.0 == typed) {
            return Ok(Device::of_named(named));
        }
        if typed == "disk" {
            return Ok(Device::disk());
        }
        let mut device = Device::default();
        for part in typed.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| unknown(typed))?;
            match name {
                "iops" => device.iops = Some(positive(value, 1.0)?),
                "bw" => device.bytes_per_second = Some(size(value)?),
                "latency" => device.latency = duration(value)?,
                _ => return Err(unknown(typed)),
            }
        }
        Ok(device)
    }
}

fn unknown(typed: &str) -> String {
    let names: Vec<&str> = NAMED.iter().map(|named| named.0).collect();
    format!(
        "`{typed}` is not a device: write disk, {} or iops=3000,bw=125M,latency=500us with any of the three",
        names.join(", ")
    )
}

fn positive(typed: &str, unit: f64) -> Result<f64, String> {
    let number: f64 = typed.parse().map_err(|_| format!("`{typed}` is not a number"))?;
    if number.is_finite() && number > 0.0 {
        Ok(number * unit)
    } else {
        Err(format!("`{typed}` must be more than 0"))
    }
}

fn size(typed: &str) -> Result<f64, String> {
    let number = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = byte_unit(&typed[number.len()..])
        .ok_or_else(|| format!("`{typed}` is not a number of bytes; write it with K, M, G or T"))?;
    positive(number, unit as f64)
}

/// Parses a unit of bytes: nothing, `K`, `M`, `G` or `T`, powers of 1024.
pub fn byte_unit(typed: &str) -> Option<u64> {
    let shift = match typed.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return None,
    };
    Some(1 << shift)
}

/// Parses a time: `500us`, `50ms`, `1s`.
pub fn duration(typed: &str) -> Result<Duration, String> {
    let number = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &typed[number.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(format!("`{typed}` is not a time; write it with us, ms or s")),
    };
    Duration::try_from_secs_f64(positive(number, unit)?).map_err(|error| error.to_string())
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.iops.map(|iops| format!("{iops:.0} requests/s")));
        let mib = self.bytes_per_second.map(|rate| rate / f64::from(1 << 20));
        parts.extend(mib.map(|rate| format!("{rate:.0} MiB/s")));
        if !self.latency.is_zero() {
            parts.push(format!("{} us a request", self.latency.as_micros()));
        }
        if let Some(seeks) = self.seeks {
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            parts.push(format!(
                "seeks of {} to {} ms, {:.0} on average, {:.0} revolutions a minute",
                ms(seeks.track),
                ms(seeks.full),
                ms(seeks.average),
                60.0 / seeks.revolution.as_secs_f64()
            ));
        }
        if parts.is_empty() {
            return f.write_str("no limit");
        }
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_it_for_its_share_of_a_second_or_its_bytes() {
        let disk: Device = "hdd".parse().unwrap();
        assert_eq!(disk.occupied(16384), Duration::from_secs_f64(1.0 / 150.0));
        assert_eq!(disk.occupied(150 << 20), Duration::from_secs(1));
        assert_eq!(disk.gap_bytes(), Some(1 << 20));
        let volume: Device = "gp3".parse().unwrap();
        assert_eq!(volume.gap_bytes(), Some((125 << 20) / 3000));
        assert_eq!(Device::default().occupied(u64::MAX), Duration::ZERO);
    }

    #[test]
    fn a_disk_reads_on_where_it_is_and_seeks_elsewhere() {
        let disk: Device = "disk".parse().unwrap();
        assert_eq!(disk.positioning(1 << 20, 1 << 20), Duration::ZERO);
        assert!(disk.positioning(1 << 30, 0) > Duration::from_millis(5));
        assert_eq!(disk.gap_bytes(), Some((0.0051665 * DISK_BYTES_PER_SECOND) as u64));
        let hdd: Device = "hdd".parse().unwrap();
        assert_eq!(hdd.positioning(1 << 30, 0), Duration::ZERO);
        assert!(disk.to_string().contains("12 on average, 7200 revolutions"), "{disk}");
    }

    #[test]
    fn devices_are_compared_limit_by_limit() {
        let device: Device = "iops=150,bw=150M".parse().unwrap();
        for (other, is_near) in
            [("iops=170,bw=130M", true), ("iops=200,bw=150M", false), ("bw=150M", false)]
        {
            assert_eq!(device.is_within(&other.parse().unwrap(), 1.25), is_near, "{other}");
        }
    }

    #[test]
    fn limits_can_be_typed_and_joined() {
        let typed: Device = "iops=2000,bw=10M,latency=2ms".parse().unwrap();
        assert_eq!((typed.iops, typed.bytes_per_second), (Some(2000.0), Some(10485760.0)));
        assert_eq!(typed.latency, Duration::from_millis(2));
        let rate: Device = "bw=5M".parse().unwrap();
        assert_eq!((rate.iops, rate.gap_bytes()), (None, None));
        for wrong in ["", "floppy", "iops", "iops=0", "iops=-1", "bw=1X", "latency=3", "iops=nan"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
        assert_eq!(typed.to_string(), "2000 requests/s, 10 MiB/s, 2000 us a request");
    }
}
