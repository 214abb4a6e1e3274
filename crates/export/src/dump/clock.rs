//! The time of day in the notation of the loaders' manifests.

use std::time::{SystemTime, UNIX_EPOCH};

use innoscan_format::value::Timestamp;

/// `2026-11-21 02:08:16`, in UTC.
pub(super) fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    let mut text = Vec::new();
    Timestamp { seconds, micros: 0, fsp: 0 }.write_text(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// `2026-11-21T02:08:16Z`: a time as innoscan's own JSON has it.
pub fn json_utc(time: SystemTime) -> String {
    format!("{}Z", utc(time).replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_that_of_the_calendar() {
        let time = UNIX_EPOCH + Duration::from_secs(1_795_226_896);
        assert_eq!(utc(time), "2026-11-21 02:08:16");
        assert_eq!(json_utc(time), "2026-11-21T02:08:16Z");
    }
}
