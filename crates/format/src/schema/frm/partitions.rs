//! Partitioning in a `.frm`: the clause as text, and the names in it.

use super::columns::unhex;
use super::cursor::text;
use super::image::Image;
use super::options::quoted;
use crate::charset::Charset;
use crate::schema::{Family, Partition, Partitioning, ServerVersion};
use crate::types::{Codec, ColumnType, Temporal, TemporalFormat};
use crate::{Error, Result};

/// The maximum number of partitions, including subpartitions (`MAX_PARTITIONS`, sql/unireg.h).
const MAX_PARTITIONS: u64 = 8192;

pub(super) fn define(image: &Image) -> Result<Option<Partitioning>> {
    if image.extra.partition.is_empty() {
        return Ok(None);
    }
    let clause = text(image.extra.partition);
    let clause = clause.trim_start();
    let partitions = names(clause)?;
    Ok(Some(Partitioning { clause: as_shown(clause, image.shown_by), partitions }))
}

/// Returns the clause as `SHOW CREATE TABLE` prints it. The file's differs as follows
/// (`generate_partition_syntax`, sql/sql_partition.cc): strings are hexadecimal after their
/// charset, the start of a history is a number, and the algorithm of `KEY` is always named.
fn as_shown(clause: &str, server: ServerVersion) -> String {
    let in_comment = server.family == Family::MySql || server.number < 100_200;
    // COLUMNS and TO_SECONDS were added in MySQL 5.5.
    let by = clause.lines().take_while(|line| !line.starts_with('('));
    let is_new = by.into_iter().any(|line| {
        line.contains("  COLUMNS(") || line.to_ascii_lowercase().contains("to_seconds(")
    });
    let version = if is_new { "50500" } else { "50100" };
    let mut shown = String::new();
    let mut rest = clause;
    while let Some(letter) = rest.chars().next() {
        let word = word_len(rest);
        if matches!(letter, '`' | '\'') {
            let len = quoted_len(rest, letter);
            push_path(rest.get(..len).unwrap_or(rest), &mut shown, server);
            rest = rest.get(len..).unwrap_or("");
        } else if let Some((literal, after)) = hex_literal(rest, word) {
            shown.push_str(&literal);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("/*!50611 ALGORITHM = 2 */ ") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("/*!50611 ALGORITHM = 1 */ ") {
            shown.push_str(&format!("*/ /*!50611 ALGORITHM = 1 */ /*!{version} "));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("STARTS ") {
            let digits = word_len(after);
            let (number, after) = after.split_at(digits);
            shown.push_str("STARTS ");
            shown.push_str(&timestamp(number).unwrap_or_else(|| number.to_owned()));
            rest = after;
        } else {
            let len = word.max(letter.len_utf8());
            shown.push_str(rest.get(..len).unwrap_or(rest));
            rest = rest.get(len..).unwrap_or("");
        }
    }
    if in_comment { format!("/*!{version} {shown} */") } else { shown }
}

/// Returns the bytes of the word at the beginning of `text`.
fn word_len(text: &str) -> usize {
    text.find(|letter: char| !is_word_letter(letter)).unwrap_or(text.len())
}

/// Returns the bytes of the quoted text at the beginning of `text`, including quotes.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote != '`' {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// Appends a quoted text unchanged, except for directories, which InnoDB of MySQL 5.7 prints with a
/// slash at their end.
fn push_path(quoted: &str, shown: &mut String, server: ServerVersion) {
    let is_directory = shown.ends_with("DATA DIRECTORY = ");
    let with_slash = server.family == Family::MySql && server.number >= 50_700;
    match quoted.strip_suffix('\'') {
        Some(path) if is_directory && with_slash && !path.ends_with('/') => {
            shown.push_str(path);
            shown.push_str("/'");
        }
        _ => shown.push_str(quoted),
    }
}

/// Converts `_latin1 0x6d` to `'m'`, except where the server does not: the text cannot be utf8mb3.
fn hex_literal(text: &str, word: usize) -> Option<(String, &str)> {
    let (introducer, after) = text.split_at_checked(word)?;
    let charset = Charset::by_name(introducer.strip_prefix('_')?)?;
    let after = after.strip_prefix(" 0x")?;
    let (digits, after) = after.split_at_checked(word_len(after))?;
    let bytes = unhex(digits.as_bytes())?;
    let decoded = match charset {
        Charset::Binary => String::from_utf8(bytes).ok()?,
        charset => {
            let mut decoded = Vec::new();
            if charset.decode(&bytes, &mut decoded) > 0 {
                return None;
            }
            String::from_utf8(decoded).ok()?
        }
    };
    if decoded.chars().any(|letter| u32::from(letter) > 0xffff) {
        return None;
    }
    Some((quoted(&decoded), after))
}

/// Converts seconds since 1970 to `TIMESTAMP'2026-11-21 00:00:00'`, in UTC.
fn timestamp(seconds: &str) -> Option<String> {
    let seconds: u32 = seconds.parse().ok()?;
    let codec = Codec::new(
        &ColumnType::Timestamp(Temporal { fsp: 0, format: TemporalFormat::New }),
        ServerVersion::from_number(100_000),
    );
    let mut text = Vec::new();
    codec.ok()?.write_text(&seconds.to_be_bytes(), &mut text).ok()?;
    Some(format!("TIMESTAMP'{}'", String::from_utf8(text).ok()?))
}

/// A word, a quoted name, a string, a number or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Name(String),
    Other,
    Open,
    Close,
    Comma,
}

/// Returns the partitions' names, explicit or default.
fn names(clause: &str) -> Result<Vec<Partition>> {
    let tokens = tokens(clause);
    let (mut n_partitions, mut n_subpartitions) = (None, None);
    let mut subpartitioned = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        if let Token::Word(word) = token {
            match word.to_ascii_uppercase().as_str() {
                "PARTITIONS" => n_partitions = number(next),
                "SUBPARTITIONS" => n_subpartitions = number(next),
                "SUBPARTITION" => subpartitioned = true,
                _ => {}
            }
        }
        if *token == Token::Open && is_word(next, "PARTITION") {
            break;
        }
        at += 1;
    }
    let default_subpartitions = n_subpartitions.unwrap_or(u64::from(subpartitioned));
    let mut partitions = match tokens.get(at..) {
        Some([Token::Open, definitions @ ..]) => defined(definitions)?,
        _ => {
            let is_history = clause.starts_with("PARTITION BY SYSTEM_TIME");
            let n = n_partitions.unwrap_or(if is_history { 2 } else { 1 });
            check_count(n.saturating_mul(default_subpartitions.max(1)))?;
            default_names(n, is_history)
        }
    };
    check_count(default_subpartitions.saturating_mul(partitions.len() as u64))?;
    for partition in partitions.iter_mut().filter(|_| subpartitioned) {
        if partition.subpartitions.is_empty() {
            partition.subpartitions =
                (0..default_subpartitions).map(|at| format!("{}sp{at}", partition.name)).collect();
        }
    }
    Ok(partitions)
}

/// Generates the default names `p0`, `p1`, ...; the last of a history is `pn`, for current rows.
fn default_names(n: u64, is_history: bool) -> Vec<Partition> {
    let name = |number: u64| match is_history && number + 1 == n {
        true => "pn".to_owned(),
        false => format!("p{number}"),
    };
    (0..n).map(|number| Partition { name: name(number), subpartitions: Vec::new() }).collect()
}

fn check_count(n: u64) -> Result<()> {
    if n > MAX_PARTITIONS {
        return Err(Error::corrupt(format!("the .frm file has {n} partitions")));
    }
    Ok(())
}

/// Returns the names in a list of definitions, whose opening parenthesis is already consumed.
fn defined(definitions: &[Token]) -> Result<Vec<Partition>> {
    let mut partitions: Vec<Partition> = Vec::new();
    let mut depth = 1_usize;
    let mut starts = true;
    let mut rest = definitions.iter();
    while let Some(token) = rest.next() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Word(word) if starts => {
                let is_sub = depth == 2 && word.eq_ignore_ascii_case("SUBPARTITION");
                let is_partition = depth == 1 && word.eq_ignore_ascii_case("PARTITION");
                if is_sub || is_partition {
                    let (Some(Token::Word(name)) | Some(Token::Name(name))) = rest.next() else {
                        return Err(Error::corrupt("a partition in the .frm file has no name"));
                    };
                    match partitions.last_mut().filter(|_| is_sub) {
                        Some(partition) => partition.subpartitions.push(name.clone()),
                        None => partitions
                            .push(Partition { name: name.clone(), subpartitions: Vec::new() }),
                    }
                }
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        starts = matches!(token, Token::Open | Token::Comma);
    }
    Ok(partitions)
}

fn is_word(token: Option<&Token>, wanted: &str) -> bool {
    matches!(token, Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted))
}

fn number(token: Option<&Token>) -> Option<u64> {
    match token {
        Some(Token::Word(digits)) => digits.parse().ok(),
        _ => None,
    }
}

fn tokens(clause: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut letters = clause.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '(' => tokens.push(Token::Open),
            ')' => tokens.push(Token::Close),
            ',' => tokens.push(Token::Comma),
            '`' | '\'' | '"' => {
                let mut name = String::new();
                while let Some(inner) = letters.next() {
                    if inner == '\\' && letter != '`' {
                        letters.next();
                    } else if inner == letter {
                        if letters.next_if_eq(&letter).is_none() {
                            break;
                        }
                        name.push(letter);
                    } else {
                        name.push(inner);
                    }
                }
                tokens.push(if letter == '`' { Token::Name(name) } else { Token::Other });
            }
            letter if is_word_letter(letter) => {
                let mut word = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| is_word_letter(*letter)) {
                    word.push(letter);
                }
                tokens.push(Token::Word(word));
            }
            letter if letter.is_whitespace() => {}
            _ => tokens.push(Token::Other),
        }
    }
    tokens
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$') || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(clause: &str, number: u32) -> String {
        as_shown(clause, ServerVersion::from_number(number))
    }

    fn named(clause: &str) -> Vec<(String, Vec<String>)> {
        let partitions = names(clause).unwrap();
        partitions.into_iter().map(|of| (of.name, of.subpartitions)).collect()
    }

    fn plain(names: &[&str]) -> Vec<(String, Vec<String>)> {
        names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect()
    }

    #[test]
    fn strings_and_times_print_as_text() {
        assert_eq!(
            shown(
                "PARTITION BY LIST  COLUMNS(`a`)\n(PARTITION `p` VALUES IN (_cp1251 0xe6,''))",
                101_119
            ),
            "PARTITION BY LIST  COLUMNS(`a`)\n(PARTITION `p` VALUES IN ('ж',''))"
        );
        let above_bmp = "VALUES IN (_utf8mb4 0xf09f9880)";
        assert_eq!(shown(above_bmp, 101_119), above_bmp);
        let no_text = "VALUES LESS THAN (_binary 0x00ff) COMMENT = '_latin1 0x61'";
        assert_eq!(shown(no_text, 101_119), no_text);
        assert_eq!(
            shown("PARTITION BY SYSTEM_TIME INTERVAL 1 DAY STARTS 1704067200 AUTO", 101_119),
            "PARTITION BY SYSTEM_TIME INTERVAL 1 DAY STARTS TIMESTAMP'2024-01-01 00:00:00' AUTO"
        );
    }

    #[test]
    fn old_servers_print_a_comment() {
        assert_eq!(
            shown("PARTITION BY KEY /*!50611 ALGORITHM = 2 */ (a)\nPARTITIONS 2", 50_722),
            "/*!50100 PARTITION BY KEY (a)\nPARTITIONS 2 */"
        );
        assert_eq!(
            shown("PARTITION BY KEY /*!50611 ALGORITHM = 1 */ (a)\nPARTITIONS 2", 100_113),
            "/*!50100 PARTITION BY KEY */ /*!50611 ALGORITHM = 1 */ /*!50100 (a)\nPARTITIONS 2 */"
        );
        assert_eq!(
            shown("PARTITION BY RANGE  COLUMNS(a)\n(PARTITION p DATA DIRECTORY = '/d' X)", 50_722),
            "/*!50500 PARTITION BY RANGE  COLUMNS(a)\n(PARTITION p DATA DIRECTORY = '/d/' X) */"
        );
    }

    #[test]
    fn names_given_and_by_default() {
        assert_eq!(named("PARTITION BY HASH (a)"), plain(&["p0"]));
        assert_eq!(named("PARTITION BY HASH (a)\nPARTITIONS 3"), plain(&["p0", "p1", "p2"]));
        assert_eq!(named("PARTITION BY SYSTEM_TIME \nPARTITIONS 3"), plain(&["p0", "p1", "pn"]));
        let clause = "PARTITION BY RANGE (`partition`)\n\
            (PARTITION `a``,(b` VALUES LESS THAN (f(1)) COMMENT = 'x, PARTITION y',\n \
            PARTITION p1 VALUES LESS THAN MAXVALUE)";
        assert_eq!(named(clause), plain(&["a`,(b", "p1"]));
    }

    #[test]
    fn names_of_subpartitions() {
        let by = "PARTITION BY RANGE (a)\nSUBPARTITION BY HASH (b)";
        let list = "\n(PARTITION p0 VALUES LESS THAN (1),\n PARTITION p1 VALUES LESS THAN (2))";
        let of = |name: &str, subs: &[&str]| {
            (name.to_owned(), subs.iter().map(|sub| (*sub).to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(
            named(&format!("{by}\nSUBPARTITIONS 2{list}")),
            [of("p0", &["p0sp0", "p0sp1"]), of("p1", &["p1sp0", "p1sp1"])]
        );
        assert_eq!(named(&format!("{by}{list}")), [of("p0", &["p0sp0"]), of("p1", &["p1sp0"])]);
        let given = "\n(PARTITION p0 VALUES LESS THAN (1)\n \
            (SUBPARTITION s0 ENGINE = InnoDB,\n  SUBPARTITION `s 1` ENGINE = InnoDB))";
        assert_eq!(named(&format!("{by}{given}")), [of("p0", &["s0", "s 1"])]);
    }

    #[test]
    fn too_many_are_refused() {
        for clause in [
            "PARTITION BY HASH (a)\nPARTITIONS 8193",
            "PARTITION BY HASH (a)\nPARTITIONS 99999999999",
            "PARTITION BY RANGE (a)\nPARTITIONS 8192\nSUBPARTITION BY HASH (b)\nSUBPARTITIONS 2",
        ] {
            assert!(names(clause).is_err(), "{clause}");
        }
    }
}
