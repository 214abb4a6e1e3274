//! `PARTITION BY`: the clause is kept as text; the names of partitions, which determine file names,
//! are read from it or generated like the server does (sql_partition.cc, partition_info.cc).

use super::cursor::Cursor;
use super::{Result, SyntaxError};
use crate::schema::{Partition, Partitioning};

/// The maximum number of partitions of any server (MySQL 8192, `MAX_PARTITIONS`).
const MAX_PARTITIONS: u64 = 8192;

/// Parses the clause, `None` when there is none.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Partitioning>> {
    if !cursor.is_word("PARTITION") {
        return Ok(None);
    }
    let mut clause = cursor.fork();
    cursor.expect_word("PARTITION")?;
    cursor.expect_word("BY")?;
    let by_system_time = cursor.is_word("SYSTEM_TIME");
    skip_to_definitions(cursor, by_system_time)?;
    let count = eat_count(cursor, &["PARTITIONS"])?;
    let mut subpartition_count = None;
    if cursor.eat_words(&["SUBPARTITION", "BY"]) {
        skip_to_definitions(cursor, false)?;
        subpartition_count = Some(eat_count(cursor, &["SUBPARTITIONS"])?.unwrap_or(1));
    }
    let partitions = if cursor.is_symbol('(') {
        definitions(cursor, subpartition_count)?
    } else {
        made_up(count.unwrap_or(if by_system_time { 2 } else { 1 }), by_system_time)
            .into_iter()
            .map(|name| Partition {
                subpartitions: made_up_subpartitions(&name, subpartition_count),
                name,
            })
            .collect()
    };
    Ok(Some(Partitioning { clause: clause.rest_of_text().to_owned(), partitions }))
}

/// Skips the partitioning function: words, numbers and the expression's parentheses.
fn skip_to_definitions(cursor: &mut Cursor<'_>, by_system_time: bool) -> Result<()> {
    if by_system_time {
        // SYSTEM_TIME [INTERVAL n unit | LIMIT n] [STARTS expression] [AUTO]
        let ends = |cursor: &Cursor<'_>| {
            cursor.is_end() || cursor.is_word("PARTITIONS") || cursor.is_symbol('(')
        };
        while !ends(cursor) {
            cursor.advance();
        }
        return Ok(());
    }
    cursor.eat_word("LINEAR");
    let methods = ["RANGE", "LIST", "HASH", "KEY"];
    if cursor.eat_any(&methods).is_none() {
        return Err(cursor.unexpected("RANGE, LIST, HASH, KEY or SYSTEM_TIME"));
    }
    if cursor.eat_word("ALGORITHM") {
        cursor.expect_symbol('=')?;
        cursor.number()?;
    }
    cursor.eat_any(&["COLUMNS", "COLUMN_LIST"]);
    cursor.parenthesized()?;
    Ok(())
}

fn eat_count(cursor: &mut Cursor<'_>, word: &[&str]) -> Result<Option<u64>> {
    if !cursor.eat_words(word) {
        return Ok(None);
    }
    let place = cursor.position();
    let count = cursor.number()?;
    if count == 0 || count > MAX_PARTITIONS {
        let found = format!("{count} partitions");
        return Err(SyntaxError::at(place, found, format!("1 to {MAX_PARTITIONS}")));
    }
    Ok(Some(count))
}

/// Generates the default names `p0`, `p1`, ...; the last of a `SYSTEM_TIME` table is `pn`.
fn made_up(count: u64, by_system_time: bool) -> Vec<String> {
    let name = |n| match by_system_time && n + 1 == count {
        true => "pn".to_owned(),
        false => format!("p{n}"),
    };
    (0..count).map(name).collect()
}

fn made_up_subpartitions(partition: &str, count: Option<u64>) -> Vec<String> {
    (0..count.unwrap_or(0)).map(|n| format!("{partition}sp{n}")).collect()
}

/// Parses `(PARTITION p VALUES ... (SUBPARTITION s ..., ...), ...)`.
fn definitions(cursor: &mut Cursor<'_>, subpartition_count: Option<u64>) -> Result<Vec<Partition>> {
    cursor.expect_symbol('(')?;
    let mut partitions = Vec::new();
    loop {
        cursor.expect_word("PARTITION")?;
        let name = cursor.identifier()?;
        if cursor.eat_word("VALUES") {
            if cursor.eat_words(&["LESS", "THAN"]) {
                if !cursor.eat_word("MAXVALUE") {
                    cursor.parenthesized()?;
                }
            } else {
                cursor.expect_word("IN")?;
                cursor.parenthesized()?;
            }
        } else {
            cursor.eat_any(&["HISTORY", "CURRENT", "DEFAULT"]);
        }
        let mut subpartitions = Vec::new();
        options(cursor, &mut subpartitions)?;
        if subpartitions.is_empty() {
            subpartitions = made_up_subpartitions(&name, subpartition_count);
        }
        partitions.push(Partition { name, subpartitions });
        if !cursor.eat_symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')')?;
    Ok(partitions)
}

/// Skips a partition's options up to `,` or `)`; collects the names of its subpartitions.
fn options(cursor: &mut Cursor<'_>, subpartitions: &mut Vec<String>) -> Result<()> {
    while !cursor.is_symbol(',') && !cursor.is_symbol(')') {
        if !cursor.eat_symbol('(') {
            cursor.any()?;
            continue;
        }
        loop {
            cursor.expect_word("SUBPARTITION")?;
            subpartitions.push(cursor.identifier()?);
            while !cursor.is_symbol(',') && !cursor.is_symbol(')') {
                cursor.any()?;
            }
            if !cursor.eat_symbol(',') {
                break;
            }
        }
        cursor.expect_symbol(')')?;
    }
    Ok(())
}
