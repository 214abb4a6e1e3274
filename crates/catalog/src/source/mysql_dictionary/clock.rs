//! Times in zones that are an offset from UTC.

/// The offset of a zone such as `+05:30` from UTC, in minutes to the east; `None` for named zones.
pub(super) fn offset_minutes(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let of_a_day = hours < 24 && minutes < 60;
    of_a_day.then(|| sign * (i64::from(hours) * 60 + i64::from(minutes)))
}

/// A UTC time `YYYY-MM-DD hh:mm:ss` moved by an offset to the east; `None` when it is not such a time.
pub(super) fn in_zone(utc: &str, offset_minutes: i64) -> Option<String> {
    let (date, time) = utc.split_once(' ')?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute + offset_minutes;
    let (day_number, of_day) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let (year, month, day) = date_of(day_number);
    let (hour, minute) = (of_day / 60, of_day % 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.split(between).map(|part| part.parse::<u16>().ok().map(i64::from));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that a leap day is
/// the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_over_days_and_years() {
        for (utc, zone, there) in [
            ("2030-05-31 18:30:00", "+05:30", "2030-06-01 00:00:00"),
            ("2030-06-01 11:15:07", "-11:15", "2030-06-01 00:00:07"),
            ("2024-02-28 23:00:00", "+01:00", "2024-02-29 00:00:00"),
            ("2000-01-01 00:00:00", "-00:01", "1999-12-31 23:59:00"),
            ("2100-03-01 00:00:00", "-01:00", "2100-02-28 23:00:00"),
        ] {
            let offset = offset_minutes(zone).unwrap();
            assert_eq!(in_zone(utc, offset).as_deref(), Some(there), "{utc} {zone}");
        }
        for zone in ["SYSTEM", "", "+", "+24:00", "+1:99", "Europe/Berlin", "+aa:bb"] {
            assert_eq!(offset_minutes(zone), None, "{zone}");
        }
        for time in ["", "2030", "2030-13-01 00:00:00", "2030-01-01", "x-y-z a:b:c"] {
            assert_eq!(in_zone(time, 0), None, "{time}");
        }
    }
}
