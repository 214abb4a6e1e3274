//! The partitioning clause, from what a `.frm` keeps to what `SHOW CREATE TABLE` prints.
//!
//! A `.frm` keeps the clause as text that parses back to itself on every server: strings as
//! `_utf8 0xC3A9`, the hash of `KEY` spelled out. What prints is meant for people, and for
//! servers that know nothing of partitions (`generate_partition_syntax`, sql_partition.cc, MySQL
//! 5.6 and MariaDB 10.1).

use super::Dialect;
use super::names::push_quoted;
use crate::charset::Charset;

const ALGORITHM_1: &str = "/*!50611 ALGORITHM = 1 */ ";
const ALGORITHM_2: &str = "/*!50611 ALGORITHM = 2 */ ";

impl Dialect {
    /// Appends the clause on a line of its own.
    pub(super) fn push_partitioning(self, out: &mut String, clause: &str) {
        out.push('\n');
        if clause.starts_with("/*") {
            *out += clause;
            return;
        }
        let clause = with_strings(clause);
        if self.is_mariadb_since(100_200) {
            *out += &format!(" {clause}");
            return;
        }
        let (head, rest) = clause.split_once('\n').unwrap_or((&clause, ""));
        let subpartitioning =
            rest.lines().next().filter(|line| line.starts_with("SUBPARTITION BY"));
        let new = |line: &str| line.to_ascii_lowercase().contains("to_seconds(");
        let comment =
            if head.contains("  COLUMNS(") || new(head) || subpartitioning.is_some_and(new) {
                "/*!50500"
            } else {
                "/*!50100"
            };
        let clause = clause
            .replace(ALGORITHM_2, "")
            .replace(ALGORITHM_1, &format!("*/ {ALGORITHM_1}{comment} "));
        *out += &format!("{comment} {clause} */");
    }
}

/// Each `_charset 0x...` outside of names and strings as a string in quotes.
fn with_strings(clause: &str) -> String {
    let mut out = String::with_capacity(clause.len());
    let mut rest = clause;
    while let Some(at) = rest.find(['_', '\'', '`']) {
        let (before, from) = rest.split_at(at);
        out += before;
        let (printed, after) = match from.as_bytes().first() {
            Some(b'_') if !before.ends_with(is_word) => match introduced(from) {
                Some((text, after)) => (text, after),
                None => ("_".to_owned(), from.get(1..).unwrap_or("")),
            },
            Some(quote @ (b'\'' | b'`')) => {
                let end = end_of_quoted(from, *quote);
                let (quoted, after) = from.split_at(end);
                (quoted.to_owned(), after)
            }
            _ => ("_".to_owned(), from.get(1..).unwrap_or("")),
        };
        out += &printed;
        rest = after;
    }
    out + rest
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// A string said in hexadecimal, and what follows it.
fn introduced(from: &str) -> Option<(String, &str)> {
    let (name, after) = from.strip_prefix('_')?.split_once(" 0x")?;
    let charset = Charset::by_name(name)?;
    let end = after.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(after.len());
    let (digits, after) = after.split_at_checked(end)?;
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks(2) {
        bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
    }
    let mut utf8 = Vec::new();
    charset.decode(&bytes, &mut utf8);
    let mut quoted = String::new();
    push_quoted(&mut quoted, &String::from_utf8_lossy(&utf8));
    Some((quoted, after))
}

/// Where what begins with a quote ends: after the quote that is neither doubled nor escaped.
fn end_of_quoted(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' if quote == b'\'' => at += 2,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_in_hexadecimal_become_text() {
        let clause =
            "VALUES IN ((_utf8 0xC3A9,_latin1 0x69742773),(NULL,'_utf8 0x41')) `_utf8 0x41`";
        let printed = "VALUES IN (('é','it''s'),(NULL,'_utf8 0x41')) `_utf8 0x41`";
        assert_eq!(with_strings(clause), printed);
        for whole in ["a_utf8 0x41", "_nothing 0x41", "_", "'", "`a``", "'\\"] {
            assert_eq!(with_strings(whole), whole);
        }
    }
}
