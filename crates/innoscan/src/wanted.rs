//! Which tables of many are wanted.

use std::collections::HashSet;

use fancy_regex::Regex;

use crate::catalog::{SYSTEM_DATABASES, TableName};
use crate::{Error, Remedy, Result};

/// Which tables are wanted: of databases, by name, by pattern, and which are not.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// All of these databases. With no database and no table named: of every database.
    pub databases: Vec<String>,
    /// These tables, as `db.table`.
    pub tables: Vec<String>,
    /// Not these databases, as `db`, nor these tables, as `db.table`.
    pub excluded: Vec<String>,
    /// Of those only such as this matches in `db.table`.
    pub regex: Option<Regex>,
}

/// The rule of a selection that leaves something out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exclusion {
    /// Other databases were named, and no table of it.
    Databases,
    /// Tables were named, and not this one.
    Tables,
    /// It was excluded by name.
    Ignored,
    /// It does not match the pattern.
    Regex,
}

impl Exclusion {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Exclusion::Databases => "databases",
            Exclusion::Tables => "tables",
            Exclusion::Ignored => "excluded",
            Exclusion::Regex => "regex",
        }
    }
}

impl Wanted {
    /// A pattern as mydumper's `--regex` takes them (PCRE's, with look-around).
    ///
    /// # Errors
    /// When it is none.
    pub fn pattern(typed: &str) -> Result<Regex> {
        Regex::new(typed).map_err(|error| {
            let what = format!("`{typed}` is no regular expression: {error}");
            Error::usage(what, "it is matched against db.table, as in ^shop\\.")
        })
    }

    /// The rule that leaves out a table, or what has a name like one.
    ///
    /// # Errors
    /// When the pattern takes too long on the name.
    pub fn excludes(&self, name: &TableName) -> Result<Option<Exclusion>> {
        let qualified = name.to_string();
        let is_named = self.is_all()
            || self.databases.contains(&name.schema)
            || self.tables.contains(&qualified);
        if self.excluded.contains(&name.schema) || self.excluded.contains(&qualified) {
            return Ok(Some(Exclusion::Ignored));
        }
        if !is_named {
            return Ok(Some(self.naming()));
        }
        self.fails_pattern(&qualified)
    }

    /// Whether a table is wanted.
    ///
    /// # Errors
    /// When the pattern takes too long on the name.
    pub fn wants(&self, name: &TableName) -> Result<bool> {
        self.excludes(name).map(|exclusion| exclusion.is_none())
    }

    /// The rule that leaves out a routine or an event: they are dumped with whole databases.
    ///
    /// # Errors
    /// When the pattern takes too long on the name.
    pub fn excludes_routine(&self, name: &TableName) -> Result<Option<Exclusion>> {
        if self.excluded.contains(&name.schema) {
            return Ok(Some(Exclusion::Ignored));
        }
        if !self.wants_whole(&name.schema) {
            return Ok(Some(self.naming()));
        }
        self.fails_pattern(&name.to_string())
    }

    /// The rule that leaves out a database with all that is in it.
    pub fn excludes_database(&self, database: &str) -> Option<Exclusion> {
        if self.excluded.iter().any(|name| name == database) {
            return Some(Exclusion::Ignored);
        }
        let of_database = |table: &String| {
            let rest = table.strip_prefix(database);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let is_met = self.wants_whole(database) || self.tables.iter().any(of_database);
        (!is_met).then(|| self.naming())
    }

    /// Whether a database is wanted with all that is in it: its routines and events too.
    pub fn wants_whole(&self, database: &str) -> bool {
        let is_named = self.is_all() || self.databases.iter().any(|name| name == database);
        is_named && !self.excluded.iter().any(|name| name == database)
    }

    /// The rule that leaves out what was not named.
    fn naming(&self) -> Exclusion {
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

    /// Refuses a system database that was named, or a table of one.
    ///
    /// # Errors
    /// When one was.
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

    /// A database or table that was named and is not there.
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
        let all = Wanted::default();
        assert!(all.wants(&name("a", "t")).unwrap() && all.wants_whole("a"));
        let some = Wanted {
            databases: words(&["a", "b"]),
            tables: words(&["c.t", "d.x"]),
            excluded: words(&["b", "a.log"]),
            regex: Some(Wanted::pattern(r"^(?!a\.tmp_)").unwrap()),
        };
        for (schema, table, is_wanted) in [
            ("a", "t", true),
            ("a", "log", false),
            ("a", "tmp_1", false),
            ("b", "t", false),
            ("c", "t", true),
            ("c", "u", false),
        ] {
            assert_eq!(some.wants(&name(schema, table)).unwrap(), is_wanted, "{schema}.{table}");
        }
        assert!(some.wants_whole("a") && !some.wants_whole("b") && !some.wants_whole("c"));
        let there = [name("a", "t"), name("c", "t"), name("b", "t")];
        assert_eq!(some.missing([], &there), Some("d.x"));
        assert!(Wanted::pattern("(").is_err());
    }
}
