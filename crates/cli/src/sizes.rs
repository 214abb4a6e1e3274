//! Sizes and separators as typed on the command line, and sizes as printed.

use std::fmt;
use std::str::FromStr;

/// Bytes of a MiB.
pub const MIB: f64 = (1 << 20) as f64;

/// A number of bytes, typed with K, M, G or T (powers of 1024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(typed: &str) -> Result<ByteSize, String> {
        let wrong = || format!("`{typed}` is not a size; write a number with K, M, G or T");
        let number = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = innoscan_io::byte_unit(&typed[number.len()..]).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(unit).map(ByteSize).ok_or_else(wrong)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

/// Units of bytes, the largest first.
const UNITS: [(u64, &str); 4] =
    [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// A number of bytes for people: `912 B`, `27 KiB`, `1.4 MiB`.
pub fn bytes(bytes: u64) -> String {
    let (unit, name) = unit_of(bytes);
    format!("{} {name}", in_unit(bytes, unit))
}

/// Progress in bytes, in the unit of the total: `1.2 of 4.3 GiB`.
pub fn bytes_of(done: u64, all: u64) -> String {
    let (unit, name) = unit_of(all);
    format!("{} of {} {name}", in_unit(done, unit), in_unit(all, unit))
}

fn unit_of(bytes: u64) -> (u64, &'static str) {
    UNITS.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1, "B"))
}

fn in_unit(bytes: u64, unit: u64) -> String {
    // Tenths of bytes and KiB are noise.
    let decimals = usize::from(unit > 1 << 10);
    format!("{:.decimals$}", bytes as f64 / unit as f64)
}

/// A separator as mysqldump takes it: `\t`, `\n`, `\r`, `\0`, `\\`, or `0x` and hex digits.
pub fn separator(typed: &str) -> Result<Vec<u8>, String> {
    if let Some(hex) = typed.strip_prefix("0x") {
        let wrong = || format!("`{typed}` is not a hexadecimal separator");
        if hex.is_empty() || hex.len() % 2 != 0 || !hex.is_ascii() {
            return Err(wrong());
        }
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).map_err(|_| wrong());
        return (0..hex.len()).step_by(2).map(byte).collect();
    }
    let mut bytes = Vec::with_capacity(typed.len());
    let mut rest = typed.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b'b') => 8,
            Some(b'Z') => 26,
            Some(other) => other,
            None => b'\\',
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_their_units() {
        assert_eq!("512M".parse(), Ok(ByteSize(512 << 20)));
        assert_eq!("1000000".parse(), Ok(ByteSize(1_000_000)));
        assert_eq!("2g".parse(), Ok(ByteSize(2 << 30)));
        for wrong in ["", "M", "1X", "-1", "99999999999T"] {
            assert!(wrong.parse::<ByteSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_are_printed_in_units_that_suit_them() {
        for (number, text) in [
            (0, "0 B"),
            (912, "912 B"),
            (27 << 10, "27 KiB"),
            (1_468_006, "1.4 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
        assert_eq!(bytes_of(1 << 29, 4 << 30), "0.5 of 4.0 GiB");
    }

    #[test]
    fn separators_take_escapes() {
        assert_eq!(separator("\\t"), Ok(b"\t".to_vec()));
        assert_eq!(separator("0x0d0A"), Ok(b"\r\n".to_vec()));
        assert_eq!(separator("\\\\"), Ok(b"\\".to_vec()));
        assert!(separator("0xq").is_err());
    }
}
