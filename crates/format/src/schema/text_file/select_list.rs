//! The columns of a view, from the statement in its file.
//!
//! The server writes the statement with an alias in backticks, after `AS`, for each expression of a
//! `SELECT` (`st_select_lex::print`, sql/sql_select.cc, MariaDB 10.11), and a view has the columns
//! of its first `SELECT`, after `WITH` and opening parentheses.

use super::lex::{Token, Tokens};

/// Returns the aliases of the first `SELECT`; `None` where the statement has another form.
pub(super) fn columns(query: &str) -> Option<Vec<String>> {
    let tokens: Vec<Token<'_>> = Tokens::new(query).collect();
    let mut rest = tokens.as_slice();
    loop {
        match rest.split_first()? {
            (Token::Symbol('('), behind) => rest = behind,
            (word, behind) if word.is_word("with") => rest = behind_with(behind)?,
            (word, behind) if word.is_word("select") => return aliases(behind),
            _ => return None,
        }
    }
}

/// Skips the definitions of `WITH`: `[RECURSIVE] name [(columns)] AS (...) [CYCLE names RESTRICT],
/// ...`.
fn behind_with<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let mut rest = match tokens.split_first()? {
        (word, behind) if word.is_word("recursive") => behind,
        _ => tokens,
    };
    loop {
        let (name, behind) = rest.split_first()?;
        name.name()?;
        rest = behind;
        if rest.first()? == &Token::Symbol('(') {
            rest = behind_group(rest)?;
        }
        let (word, behind) = rest.split_first()?;
        if !word.is_word("as") || behind.first()? != &Token::Symbol('(') {
            return None;
        }
        rest = behind_group(behind)?;
        if rest.first()?.is_word("cycle") {
            let end = rest.iter().position(|token| token.is_word("restrict"))?;
            rest = rest.get(end + 1..)?;
        }
        match rest.split_first()? {
            (Token::Symbol(','), behind) => rest = behind,
            _ => return Some(rest),
        }
    }
}

/// Skips the parentheses at the beginning of `tokens`.
fn behind_group<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol('(') => depth += 1,
            Token::Symbol(')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return tokens.get(at + 1..);
        }
    }
    None
}

/// Returns the last names of the expressions up to the end of the list. An expression with another
/// end makes the whole list unknown.
fn aliases(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    const ENDS: [&str; 11] = [
        "from",
        "union",
        "intersect",
        "except",
        "where",
        "group",
        "having",
        "window",
        "order",
        "limit",
        "procedure",
    ];
    let mut columns = Vec::new();
    let mut rest = tokens;
    let (mut as_alias, mut is_last) = (false, false);
    let mut alias = None;
    while !is_last {
        let token = rest.first();
        if token == Some(&Token::Symbol('(')) {
            rest = behind_group(rest)?;
            (alias, as_alias) = (None, false);
            continue;
        }
        // Behind AS any word is an alias.
        let ends = |token: &Token<'_>| ENDS.iter().any(|word| token.is_word(word)) && !as_alias;
        is_last = token.is_none_or(|token| *token == Token::Symbol(')') || ends(token));
        match token {
            Some(token) if !is_last && *token != Token::Symbol(',') => {
                alias = if as_alias { token.name() } else { None };
                as_alias = token.is_word("as");
            }
            _ => {
                columns.push(alias.take()?);
                as_alias = false;
            }
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    Some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str) -> Vec<String> {
        columns(query).unwrap_or_default()
    }

    #[test]
    fn columns_are_the_aliases_of_the_first_select() {
        assert_eq!(names("select 1 AS `1`,'a,b' AS `it's``q`"), ["1", "it's`q"]);
        let nested = "select (select max(`x`) AS `in` from `t`) AS `a`,cast(1 as char(3)) AS `b` \
                      from (select 1 AS `c`) `d`";
        assert_eq!(names(nested), ["a", "b"]);
        assert_eq!(names("(select 1 AS `a`) union (select 2 AS `b`)"), ["a"]);
        assert_eq!(names("select distinct 1 AS `a` union select 2 AS `b`"), ["a"]);
        assert_eq!(names("select 1 AS `a` limit 3"), ["a"]);
        let with = "with recursive r(`x`) as (select 1 AS `n`), s as (select 2 AS `m`)\
                    select `r`.`x` AS `z` from `r`";
        assert_eq!(names(with), ["z"]);
    }

    #[test]
    fn other_forms_are_not_guessed() {
        let others = [
            "values (1,'a')",
            "select 1 AS `a`,2",
            "select 1",
            "with c 2 as (select 1 AS `a`)select 1 AS `b`",
            "select (1 AS `a`",
            "",
            "select 'a AS `b`",
        ];
        for query in others {
            assert_eq!(columns(query), None, "{query}");
        }
    }
}
