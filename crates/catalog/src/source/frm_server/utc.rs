//! Conversion of times in UTC to zones that are offsets.

/// The offset of a zone such as `+05:30` from UTC, in minutes; `None` for named zones.
pub(super) fn offset_minutes(zone: &str) -> Option<i64> {
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let two_digits = |text: &str| text.parse::<u8>().ok().map(i64::from);
    Some(sign * (two_digits(hours)? * 60 + two_digits(minutes)?))
}

/// A time such as `2038-01-01 00:00:00` moved by some minutes.
pub(super) fn plus_minutes(time: &str, minutes: i64) -> Option<String> {
    let (date, clock) = time.split_once(' ')?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let moved = days_from_civil(year, month, day) * 1440 + hour * 60 + minute + minutes;
    let (year, month, day) = civil_from_days(moved.div_euclid(1440));
    let of_day = moved.rem_euclid(1440);
    let (hour, minute) = (of_day / 60, of_day % 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"))
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Days since 1970-01-01, in years that begin with March so that leap days come last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        assert_eq!(offset_minutes("+05:30"), Some(330));
        assert_eq!(offset_minutes("-00:15"), Some(-15));
        assert_eq!(offset_minutes("SYSTEM"), None);
        assert_eq!(offset_minutes(""), None);
    }

    #[test]
    fn times_move_over_ends_of_years_and_leap_days() {
        let moved = |time: &str, minutes| plus_minutes(time, minutes).unwrap_or_default();
        assert_eq!(moved("2034-12-31 19:00:00", 300), "2035-01-01 00:00:00");
        assert_eq!(moved("2024-02-29 00:00:07", -1), "2024-02-28 23:59:07");
        assert_eq!(moved("2023-02-28 23:30:00", 90), "2023-03-01 01:00:00");
        assert_eq!(moved("2000-03-01 00:00:00", -1), "2000-02-29 23:59:00");
        assert_eq!(moved("1970-01-01 00:00:00", -60), "1969-12-31 23:00:00");
        for wrong in ["", "2024-13-01 00:00:00", "2024-01-01", "0-0-0 0:0"] {
            assert_eq!(plus_minutes(wrong, 1), None, "{wrong}");
        }
    }
}
