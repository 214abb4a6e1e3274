//! The mechanics of a rotating disk: the time before a read that depends on where the head is.

use std::time::Duration;

/// The seek curve and rotation of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seeks {
    /// A seek to the next track.
    pub track: Duration,
    /// The average over random seeks.
    pub average: Duration,
    /// A seek over the whole disk.
    pub full: Duration,
    /// One revolution.
    pub revolution: Duration,
    /// The size of the disk.
    pub capacity_bytes: u64,
}

/// The share of the disk that the average seek crosses: the mean distance of two random places.
const AVERAGE_SHARE: f64 = 1.0 / 3.0;

impl Seeks {
    /// The disk of 7200 rpm of which a manufacturer has published all three seek times (Hitachi Travelstar
    /// 7K320, section 4.4.2, for reads, typical), with the capacity of a disk of today.
    pub const PUBLISHED: Seeks = Seeks {
        track: Duration::from_millis(1),
        average: Duration::from_millis(12),
        full: Duration::from_millis(20),
        revolution: Duration::from_micros(8333),
        capacity_bytes: 4_000_000_000_000,
    };

    /// The time of a seek over a distance. Its square root counts up to the average seek, while the arm
    /// accelerates and brakes, and beyond it the distance itself (Ruemmler and Wilkes, "An Introduction to
    /// Disk Drive Modeling", IEEE Computer 27(3), 1994).
    fn seek(&self, distance_bytes: u64) -> Duration {
        let share = (distance_bytes as f64 / self.capacity_bytes as f64).min(1.0);
        match share <= AVERAGE_SHARE {
            true => {
                self.track + (self.average - self.track).mul_f64((share / AVERAGE_SHARE).sqrt())
            }
            false => {
                let beyond = (share - AVERAGE_SHARE) / (1.0 - AVERAGE_SHARE);
                self.average + (self.full - self.average).mul_f64(beyond)
            }
        }
    }

    /// The time until a read at `to` can start, when the head is at `from` (bytes from the start of the
    /// file), on a disk that transfers `bytes_per_second`. On the same track the platter turns until the
    /// place is there; elsewhere a seek is followed by half a revolution.
    pub fn positioning(&self, from: u64, to: u64, bytes_per_second: f64) -> Duration {
        let track_bytes = bytes_per_second * self.revolution.as_secs_f64();
        match to.checked_sub(from) {
            Some(gap) if (gap as f64) < track_bytes => {
                Duration::from_secs_f64(gap as f64 / bytes_per_second)
            }
            _ => self.seek(from.abs_diff(to)) + self.revolution / 2,
        }
    }

    /// The shortest time between reads that are not on the same track.
    pub fn least(&self) -> Duration {
        self.track + self.revolution / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 150e6;
    const DISK: Seeks = Seeks::PUBLISHED;

    fn ms(from: u64, to: u64) -> f64 {
        DISK.positioning(from, to, RATE).as_secs_f64() * 1e3
    }

    #[test]
    fn the_published_times_are_on_the_curve() {
        let half_turn = 8.333 / 2.0;
        for (share, seek_ms) in [(1.0 / 3.0, 12.0), (1.0, 20.0)] {
            let distance = (DISK.capacity_bytes as f64 * share) as u64;
            assert!((ms(distance, 0) - seek_ms - half_turn).abs() < 0.01, "{share}");
        }
        assert!((ms(16384, 0) - 1.0 - half_turn).abs() < 0.01);
    }

    #[test]
    fn the_next_bytes_take_no_time_and_a_gap_its_own() {
        assert_eq!(ms(4096, 4096), 0.0);
        assert!((ms(0, 150_000) - 1.0).abs() < 1e-6);
        // Beyond the track, a seek of next to no distance is needed.
        assert!((ms(0, 1_500_000) - DISK.least().as_secs_f64() * 1e3).abs() < 0.1);
    }

    #[test]
    fn longer_ways_take_longer() {
        let ways = (0..1000).map(|n| ms(DISK.capacity_bytes / 1000 * n, 0));
        assert!(ways.collect::<Vec<_>>().is_sorted());
    }
}
