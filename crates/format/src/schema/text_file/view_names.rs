//! Names of databases in a view's query.
//!
//! A server stores the query with fully qualified names: `` `db`.`table` `` after `FROM` and
//! `JOIN`, `` `db`.`table`.`column` `` elsewhere, unless the table has an alias. `SHOW CREATE VIEW`
//! in a session that uses the view's database omits that database, in MySQL 8 from each name; older
//! servers and MariaDB omit it from all names, and only if every table read is in that database,
//! including those under other views and in stored functions (`view_store_create_info`,
//! sql_show.cc; `Item_ident::print`, item.cc, MariaDB 10.11 and MySQL 8.0). The names of stored
//! functions, and of sequences in `nextval` and so on, are unchanged.

use super::lex::{Token, Tokens};

/// The names in a view's query that are qualified by a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewNames {
    /// Database and name of each table, view and sequence that the query reads.
    tables: Vec<(String, String)>,
    /// Database names that can be omitted: the database, the offset of its first byte in the query,
    /// and that of the name it qualifies.
    databases: Vec<(String, usize, usize)>,
    calls_functions: bool,
    has_derived_tables: bool,
}

/// Functions of sequences, unquoted before a parenthesis.
const OF_SEQUENCES: [&str; 3] = ["nextval", "lastval", "setval"];

impl ViewNames {
    /// Finds the names in a query in the server's stored form.
    pub fn of(query: &str) -> ViewNames {
        let tokens: Vec<(usize, Token<'_>)> = Tokens::with_places(query).collect();
        let mut names = ViewNames::default();
        let mut places = Places::default();
        let mut at = 0;
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            let chain = chain(rest);
            let tokens_of_chain = (2 * chain.len()).saturating_sub(1);
            match chain.as_slice() {
                [] => {
                    let token = rest.first().map(|(_, token)| *token);
                    let derives = |token: Token<'_>| token.is_word("select");
                    names.has_derived_tables |=
                        places.place == Place::Table && token.is_some_and(derives);
                    token.into_iter().for_each(|token| places.pass(token));
                    at += 1;
                    continue;
                }
                parts => names.add(parts, rest.get(tokens_of_chain), places.place),
            }
            places.place = Place::Expression;
            at += tokens_of_chain;
        }
        names
    }

    fn add(&mut self, parts: &[Part], behind: Option<&(usize, Token<'_>)>, place: Place) {
        let is_called = behind.is_some_and(|(_, token)| *token == Token::Symbol('('));
        match (parts, place) {
            ([database, table], Place::Table) => {
                self.tables.push((database.name.clone(), table.name.clone()));
                self.databases.push((database.name.clone(), database.start, table.start));
            }
            ([database, name], Place::Sequence) => {
                self.tables.push((database.name.clone(), name.name.clone()));
            }
            (_, Place::Expression) if is_called => self.calls_functions = true,
            ([database, table, _], _) => {
                self.databases.push((database.name.clone(), database.start, table.start));
            }
            _ => {}
        }
    }

    /// Iterates over database and name of each table, view and sequence that the query reads.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tables.iter().map(|(database, table)| (&**database, &**table))
    }

    /// Returns whether the query calls stored functions, which may read any table.
    pub fn calls_functions(&self) -> bool {
        self.calls_functions
    }

    /// Returns whether the query has a `SELECT` in place of a table, which MySQL 5.7 treats as a
    /// table of another database.
    pub fn has_derived_tables(&self) -> bool {
        self.has_derived_tables
    }

    /// Returns `query`, from which these names were found, without the names of this database.
    pub fn without_database(&self, query: &str, database: &str) -> String {
        let mut text = String::with_capacity(query.len());
        let mut done = 0;
        let own = self.databases.iter().filter(|name| name.0 == database);
        for &(_, start, end) in own {
            text.push_str(query.get(done..start).unwrap_or_default());
            done = end;
        }
        text.push_str(query.get(done..).unwrap_or_default());
        text
    }
}

/// A part of a qualified name.
struct Part {
    name: String,
    start: usize,
}

/// Returns the parts of the quoted, qualified name at the beginning of the tokens.
fn chain(tokens: &[(usize, Token<'_>)]) -> Vec<Part> {
    let mut parts = Vec::new();
    for pair in tokens.chunks(2) {
        let [(start, name @ Token::Name(_)), behind @ ..] = pair else { return Vec::new() };
        parts.extend(name.name().map(|name| Part { name, start: *start }));
        if !matches!(behind, [(_, Token::Symbol('.'))]) {
            break;
        }
    }
    parts
}

/// The context of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// After `FROM` or `JOIN` and opening parentheses.
    Table,
    /// After `nextval(` and so on.
    Sequence,
    #[default]
    Expression,
}

/// The context of the next name, derived from the words before it.
#[derive(Default)]
struct Places<'a> {
    place: Place,
    before: Option<Token<'a>>,
    /// For each open parenthesis, whether it begins with a `SELECT`; `extract(year from ...)` does
    /// not.
    selects: Vec<bool>,
    is_select: bool,
}

impl<'a> Places<'a> {
    fn pass(&mut self, token: Token<'a>) {
        let is = |words: &[&str]| words.iter().any(|word| token.is_word(word));
        self.place = match token {
            Token::Symbol('(') => {
                self.selects.push(self.is_select);
                let of_sequence = |before: Token<'_>| {
                    OF_SEQUENCES.iter().any(|function| before.is_word(function))
                };
                match self.place {
                    // Tables in parentheses: their joins belong to the same SELECT.
                    Place::Table => Place::Table,
                    _ => {
                        self.is_select = false;
                        match self.before.is_some_and(of_sequence) {
                            true => Place::Sequence,
                            false => Place::Expression,
                        }
                    }
                }
            }
            Token::Symbol(')') => {
                self.is_select = self.selects.pop().unwrap_or_default();
                Place::Expression
            }
            _ if is(&["select"]) => {
                self.is_select = true;
                Place::Expression
            }
            _ if is(&["from", "join", "straight_join"]) && self.is_select => Place::Table,
            _ => Place::Expression,
        };
        self.before = Some(token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(query: &str) -> String {
        ViewNames::of(query).without_database(query, "d")
    }

    fn tables(query: &str) -> Vec<String> {
        let names = ViewNames::of(query);
        names.tables().map(|(database, table)| format!("{database} {table}")).collect()
    }

    #[test]
    fn the_database_is_left_out_where_a_server_leaves_it_out() {
        let cases = [
            (
                "select `d`.`t`.`a` AS `a`,'`d`.`t`' AS `b` from `d`.`t`",
                "select `t`.`a` AS `a`,'`d`.`t`' AS `b` from `t`",
            ),
            // An alias with the same name as the database.
            (
                "select `d`.`a` AS `a` from (`e`.`t` `d` join `d`.`t` on(`d`.`a` = `d`.`t`.`b`))",
                "select `d`.`a` AS `a` from (`e`.`t` `d` join `t` on(`d`.`a` = `t`.`b`))",
            ),
            (
                "select extract(year from `d`.`a`) AS `y` from (`d`.`t` `d` join (`d`.`u` join \
                 `d`.`w`))",
                "select extract(year from `d`.`a`) AS `y` from (`t` `d` join (`u` join `w`))",
            ),
            (
                "select `d`.`f`(`d`.`t`.`a`) AS `f`,nextval(`d`.`s`) AS `n` from (select 1 AS \
                 `a` from `d`.`t`) `t`",
                "select `d`.`f`(`t`.`a`) AS `f`,nextval(`d`.`s`) AS `n` from (select 1 AS `a` \
                 from `t`) `t`",
            ),
            ("with d as (select 1 AS `t`)select `d`.`t` AS `t` from `d`", ""),
            ("select `D`.`t`.`a` AS `a` from `D`.`t` where `d`.`e`.`f`.`g`", ""),
        ];
        for (query, expected) in cases {
            let expected = if expected.is_empty() { query } else { expected };
            assert_eq!(without(query), expected);
        }
    }

    #[test]
    fn tables_are_behind_from_and_join() {
        let query = "select trim(leading 'x' from `x`.`c`) AS `t`,lastval(`d`.`s`) AS `l` from \
                     (`d`.`a` `x` straight_join `e`.`b`) where exists(select 1 from `f`.`c`)";
        assert_eq!(tables(query), ["d s", "d a", "e b", "f c"]);
        assert!(!ViewNames::of(query).calls_functions());
        let derived = "select `a` AS `a` from (`d`.`t` join (select 1 AS `a`) `s`)";
        assert!(ViewNames::of(derived).has_derived_tables());
        assert!(!ViewNames::of(query).has_derived_tables());
        for call in ["select `f`() AS `f`", "select 1 + `d`.`f`(1) AS `f`"] {
            assert!(ViewNames::of(call).calls_functions(), "{call}");
        }
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for query in ["", "`d`.", "`d`.`t`.", "from `d`.`t`", ")))(", "`a", "select from (`d`."] {
            assert_eq!(without(query), query);
        }
    }
}
