//! The selection of databases and tables by their names.

use std::collections::HashSet;

use fancy_regex::Regex;
use innoscan_engine::{Error, Remedy, Result};

use crate::catalog::{SYSTEM_DATABASES, TableName};

/// A selection of databases and tables by their names: listed, matched by a pattern, or excluded. A
/// [`Filter`](crate::ledger::Filter) is wider: it also selects kinds of objects.
#[derive(Clone, Debug, Default)]
pub struct TableSelection {
    /// Selected databases. With neither databases nor tables, all databases are selected.
    pub databases: Vec<String>,
    /// Selected tables, as `db.table`.
    pub tables: Vec<String>,
    /// Excluded databases, as `db`, and tables, as `db.table`.
    pub excluded: Vec<String>,
    /// A pattern that selected tables must match in `db.table`.
    pub regex: Option<Regex>,
}

/// The rule of a selection that excludes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exclusion {
    /// Other databases were selected, and no table of this one.
    Databases,
    /// Tables were selected, but not this one.
    Tables,
    /// The object was excluded by name.
    Ignored,
    /// The object does not match the pattern.
    Regex,
}

impl Exclusion {
    /// The name of the rule in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Exclusion::Databases => "databases",
            Exclusion::Tables => "tables",
            Exclusion::Ignored => "excluded",
            Exclusion::Regex => "regex",
        }
    }
}

impl TableSelection {
    /// Compiles a pattern like those of mydumper's `--regex` (PCRE with look-around).
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn pattern(typed: &str) -> Result<Regex> {
        Regex::new(typed).map_err(|error| {
            let what = format!("`{typed}` is not a regular expression: {error}");
            Error::usage(what, "it is matched against db.table, as in ^shop\\.")
        })
    }

    /// The rule that excludes a table, or an object with a name like a table's.
    ///
    /// # Errors
    /// The pattern takes too long to match the name.
    pub fn excludes(&self, name: &TableName) -> Result<Option<Exclusion>> {
        let qualified = name.to_string();
        let is_named = self.is_all()
            || self.databases.contains(&name.schema)
            || self.tables.contains(&qualified);
        if self.excluded.contains(&name.schema) || self.excluded.contains(&qualified) {
            return Ok(Some(Exclusion::Ignored));
        }
        if !is_named {
            return Ok(Some(self.unselected_rule()));
        }
        self.fails_pattern(&qualified)
    }

    /// Whether a table is selected.
    ///
    /// # Errors
    /// The pattern takes too long to match the name.
    pub fn selects(&self, name: &TableName) -> Result<bool> {
        self.excludes(name).map(|exclusion| exclusion.is_none())
    }

    /// The rule that excludes a routine or an event, which are dumped only with whole databases.
    ///
    /// # Errors
    /// The pattern takes too long to match the name.
    pub fn excludes_routine(&self, name: &TableName) -> Result<Option<Exclusion>> {
        if self.excluded.contains(&name.schema) {
            return Ok(Some(Exclusion::Ignored));
        }
        if !self.selects_whole_database(&name.schema) {
            return Ok(Some(self.unselected_rule()));
        }
        self.fails_pattern(&name.to_string())
    }

    /// The rule that excludes a database with all its objects.
    pub fn excludes_database(&self, database: &str) -> Option<Exclusion> {
        if self.excluded.iter().any(|name| name == database) {
            return Some(Exclusion::Ignored);
        }
        let of_database = |table: &String| {
            let rest = table.strip_prefix(database);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let is_selected =
            self.selects_whole_database(database) || self.tables.iter().any(of_database);
        (!is_selected).then(|| self.unselected_rule())
    }

    /// Whether a database is selected with all its objects, including routines and events.
    pub fn selects_whole_database(&self, database: &str) -> bool {
        let is_named = self.is_all() || self.databases.iter().any(|name| name == database);
        is_named && !self.excluded.iter().any(|name| name == database)
    }

    /// The rule that excludes objects that were not named.
    fn unselected_rule(&self) -> Exclusion {
        if self.databases.is_empty() { Exclusion::Tables } else { Exclusion::Databases }
    }

    fn fails_pattern(&self, qualified: &str) -> Result<Option<Exclusion>> {
        let Some(regex) = &self.regex else { return Ok(None) };
        let matches = regex.is_match(qualified).map_err(|error| {
            let what = format!("the regular expression fails on `{qualified}`: {error}");
            Error::usage(what, "use a simpler one")
        })?;
        Ok((!matches).then_some(Exclusion::Regex))
    }

    /// Refuses a system database, or a table of one, in the selection.
    ///
    /// # Errors
    /// The selection names one.
    pub fn require_no_system(&self) -> Result<()> {
        let named = self.databases.iter().chain(&self.tables);
        let is_system = |name: &&String| {
            let database = name.split('.').next().unwrap_or_default();
            SYSTEM_DATABASES.contains(&database)
        };
        let Some(name) = named.into_iter().find(is_system) else { return Ok(()) };
        Err(Error::refused(
            format!(
                "`{name}` is left out on purpose: every server has system databases of its own"
            ),
            Remedy::SelectUsers,
        ))
    }

    /// A selected database or table that does not exist.
    pub fn missing<'n>(
        &self,
        databases: impl IntoIterator<Item = &'n str>,
        tables: impl IntoIterator<Item = &'n TableName>,
    ) -> Option<&str> {
        let mut there: HashSet<String> = databases.into_iter().map(str::to_owned).collect();
        for table in tables {
            there.insert(table.schema.clone());
            there.insert(table.to_string());
        }
        let named = self.databases.iter().chain(&self.tables);
        named.map(String::as_str).find(|name| !there.contains(*name))
    }

    fn is_all(&self) -> bool {
        self.databases.is_empty() && self.tables.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_patterns_and_exclusions_together() {
        let name = |schema: &str, table: &str| TableName {
            schema: schema.to_owned(),
            table: table.to_owned(),
        };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let all = TableSelection::default();
        assert!(all.selects(&name("a", "t")).unwrap() && all.selects_whole_database("a"));
        let some = TableSelection {
            databases: words(&["a", "b"]),
            tables: words(&["c.t", "d.x"]),
            excluded: words(&["b", "a.log"]),
            regex: Some(TableSelection::pattern(r"^(?!a\.tmp_)").unwrap()),
        };
        for (schema, table, is_wanted) in [
            ("a", "t", true),
            ("a", "log", false),
            ("a", "tmp_1", false),
            ("b", "t", false),
            ("c", "t", true),
            ("c", "u", false),
        ] {
            assert_eq!(some.selects(&name(schema, table)).unwrap(), is_wanted, "{schema}.{table}");
        }
        assert!(
            some.selects_whole_database("a")
                && !some.selects_whole_database("b")
                && !some.selects_whole_database("c")
        );
        let there = [name("a", "t"), name("c", "t"), name("b", "t")];
        assert_eq!(some.missing([], &there), Some("d.x"));
        assert!(TableSelection::pattern("(").is_err());
    }
}
