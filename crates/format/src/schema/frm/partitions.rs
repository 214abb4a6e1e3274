//! How a table is partitioned: the clause as text, and the names in it.

use super::cursor::text;
use super::image::Image;
use crate::schema::{Partition, Partitioning, TableDef};
use crate::{Error, Result};

/// The most partitions a server makes, subpartitions counted (`MAX_PARTITIONS`, sql/unireg.h).
const MAX_PARTITIONS: u64 = 8192;

pub(super) fn define(image: &Image, _def: &TableDef) -> Result<Option<Partitioning>> {
    if image.extra.partition.is_empty() {
        return Ok(None);
    }
    let clause = text(image.extra.partition);
    let clause = clause.trim_start();
    let partitions = names(clause)?;
    Ok(Some(Partitioning { clause: clause.to_owned(), partitions }))
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

/// The partitions' names, given or by default.
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
            let n = n_partitions.unwrap_or(1);
            check_count(n.saturating_mul(default_subpartitions.max(1)))?;
            (0..n)
                .map(|number| Partition { name: format!("p{number}"), subpartitions: Vec::new() })
                .collect()
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

fn check_count(n: u64) -> Result<()> {
    if n > MAX_PARTITIONS {
        return Err(Error::corrupt(format!("the .frm file tells of {n} partitions")));
    }
    Ok(())
}

/// The names of a list of definitions, its opening parenthesis left out.
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
