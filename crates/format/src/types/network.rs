//! MariaDB's `UUID`, `INET4` and `INET6`.
//!
//! Addresses are stored as their bytes. A UUID whose text has a version of 1 to 5 and the RFC's
//! variant is stored with its parts in reverse order, so that those of one node sort by time;
//! others are stored in order. The stored bytes show which (sql_type_uuid.h, MariaDB 10.11):
//!
//! ```text
//! text    11223344-5566-1788-99aa-bbccddeeff01
//! stored  bbccddeeff01 99aa 1788 5566 11223344     byte 6 has its top bit set, byte 8 is 01..80
//! ```
//!
//! Columns created before MariaDB 10.9.8, 10.10.6 and 10.11.5 reverse all UUIDs (MDEV-29959).

use super::wrong_length;
use crate::{Result, bytes};

fn exactly<const N: usize>(stored: &[u8], what: &'static str) -> Result<[u8; N]> {
    if stored.len() != N {
        return Err(wrong_length(what, N, stored.len()));
    }
    bytes::array(stored, 0)
}

/// Returns a UUID's bytes in the order of its text; `always_reversed` for columns of old servers.
pub(super) fn uuid(stored: &[u8], always_reversed: bool) -> Result<[u8; 16]> {
    let record: [u8; 16] = exactly(stored, "a UUID")?;
    let [n0, n1, n2, n3, n4, n5, v0, v1, h0, h1, m0, m1, l0, l1, l2, l3] = record;
    if always_reversed || v0 & h0.wrapping_neg() & 0x80 != 0 {
        return Ok([l0, l1, l2, l3, m0, m1, h0, h1, v0, v1, n0, n1, n2, n3, n4, n5]);
    }
    Ok(record)
}

/// Appends a UUID, with its bytes in the order of its text, as
/// `11223344-5566-1788-99aa-bbccddeeff01`.
pub fn write_uuid(uuid: [u8; 16], out: &mut Vec<u8>) {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let digit = |nibble: u8| HEX.get(usize::from(nibble & 15)).copied().unwrap_or_default();
    for (place, byte) in uuid.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(&[digit(byte >> 4), digit(byte)]);
    }
}

/// Parses a UUID's text: 32 hexadecimal digits, with dashes between any of them.
pub(super) fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|digit| *digit != '-').collect();
    let is_uuid = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| is_uuid)?;
    Some(number.to_be_bytes())
}

/// Returns the stored form of a UUID: its parts in reverse order if its version is 1 to 5
/// (`mem_need_swap`, sql_type_uuid.h, MariaDB 10.11).
pub(super) fn stored_uuid(text_order: [u8; 16], always_reversed: bool) -> [u8; 16] {
    let [l0, l1, l2, l3, m0, m1, h0, h1, v0, v1, n0, n1, n2, n3, n4, n5] = text_order;
    if always_reversed || (h0 > 0 && h0 < 0x60 && v0 & 0x80 != 0) {
        return [n0, n1, n2, n3, n4, n5, v0, v1, h0, h1, m0, m1, l0, l1, l2, l3];
    }
    text_order
}

/// Reads an `INET4`'s bytes.
pub(super) fn inet4(stored: &[u8]) -> Result<[u8; 4]> {
    exactly(stored, "an INET4")
}

/// Appends an IPv4 address as `192.0.2.1`.
pub fn write_inet4([a, b, c, d]: [u8; 4], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{a}.{b}.{c}.{d}").as_bytes());
}

/// Reads an `INET6`'s bytes.
pub(super) fn inet6(stored: &[u8]) -> Result<[u8; 16]> {
    exactly(stored, "an INET6")
}

/// Appends an IPv6 address in the server's form: lower case, the first longest run of zero words
/// (even of one) as `::`, the last four bytes as IPv4 after `::` and `::ffff:` (`Inet6::to_string`,
/// sql_type_inet.cc).
pub fn write_inet6(address: [u8; 16], out: &mut Vec<u8>) {
    let mut words = [0_u16; 8];
    for (word, pair) in words.iter_mut().zip(address.chunks_exact(2)) {
        *word = pair.iter().fold(0, |word, &byte| word << 8 | u16::from(byte));
    }
    let (gap, gap_len) = longest_zeros(words);
    let [.., sixth, _, _] = words;
    let ends_as_ipv4 = gap == 0 && (gap_len == 6 || (gap_len == 5 && sixth == 0xffff));
    for (place, word) in words.into_iter().enumerate() {
        if gap_len > 0 && place == gap {
            out.extend_from_slice(if place == 0 { b"::" } else { b":" });
        } else if place > gap && place < gap + gap_len {
            // Within the run of zeros.
        } else if place == 6 && ends_as_ipv4 {
            let [.., a, b, c, d] = address;
            write_inet4([a, b, c, d], out);
            return;
        } else {
            out.extend_from_slice(format!("{word:x}").as_bytes());
            if place < 7 {
                out.push(b':');
            }
        }
    }
}

/// Returns the index and length of the first longest run of zeros; length 0 when there is none.
fn longest_zeros(words: [u16; 8]) -> (usize, usize) {
    let (mut best, mut best_len) = (0, 0);
    let mut run_len = 0;
    for (place, word) in words.into_iter().enumerate() {
        run_len = if word == 0 { run_len + 1 } else { 0 };
        if run_len > best_len {
            (best, best_len) = (place + 1 - run_len, run_len);
        }
    }
    (best, best_len)
}
