//! Objects that a server hides from an account: its lists show only objects on which the account has
//! privileges, and do not show that there are others.

use std::collections::BTreeSet;

use innoscan_catalog::catalog::SYSTEM_DATABASES;
use innoscan_catalog::ledger::{Filter, ItemKind, Unlisted};
use innoscan_engine::Result;
use innoscan_format::schema::quoted_name;

use crate::session::{Session, cell};

/// A class of objects, with the privileges that each show all of them.
struct Class {
    kinds: &'static [ItemKind],
    /// Privileges granted on `*.*`.
    everywhere: &'static [&'static str],
    /// Privileges granted on the database.
    on_database: &'static [&'static str],
}

const CLASSES: [Class; 4] = [
    Class {
        kinds: &[ItemKind::Table, ItemKind::View, ItemKind::Sequence],
        everywhere: &["SELECT"],
        on_database: &["SELECT"],
    },
    Class { kinds: &[ItemKind::Trigger], everywhere: &["TRIGGER"], on_database: &["TRIGGER"] },
    Class { kinds: &[ItemKind::Event], everywhere: &["EVENT"], on_database: &["EVENT"] },
    // SELECT shows routines only if granted on `*.*`, which includes the table mysql.proc.
    Class {
        kinds: &[ItemKind::Function, ItemKind::Procedure, ItemKind::Package, ItemKind::PackageBody],
        everywhere: &["SELECT", "SHOW_ROUTINE", "SHOW CREATE ROUTINE", "EXECUTE", "ALTER ROUTINE"],
        on_database: &["EXECUTE", "ALTER ROUTINE", "CREATE ROUTINE", "SHOW CREATE ROUTINE"],
    },
];

/// The privileges of an account on whole databases.
#[derive(Debug, Default, PartialEq, Eq)]
struct Granted {
    /// Privileges on all databases.
    everywhere: BTreeSet<String>,
    /// Patterns of database names, as in `GRANT`, with the privileges on those databases.
    databases: Vec<(String, BTreeSet<String>)>,
    /// Databases with privileges revoked that are granted on `*.*` (`partial_revokes`, MySQL).
    revoked: Vec<String>,
}

/// The classes of objects that the server may hide from the account.
///
/// # Errors
/// If the connection is lost.
pub fn hidden(session: &mut Session, filter: &Filter) -> Result<Vec<Unlisted>> {
    // A server without grant tables hides nothing, and refuses the statement.
    let Ok(rows) = session.rows("SHOW GRANTS") else { return Ok(Vec::new()) };
    let granted = Granted::parse(rows.iter().map(|row| cell(row, 0)));
    let account = session.text("SELECT CURRENT_USER()")?.unwrap_or_default();
    let wanted: BTreeSet<&str> = {
        let of_tables = filter.tables.tables.iter().filter_map(|table| table.split('.').next());
        filter.tables.databases.iter().map(String::as_str).chain(of_tables).collect()
    };
    let mut hidden = Vec::new();
    for Class { kinds, everywhere, on_database } in CLASSES {
        let kinds: Vec<ItemKind> =
            kinds.iter().copied().filter(|kind| filter.may_select(*kind)).collect();
        let is_shown = match wanted.is_empty() {
            true => granted.has_everywhere(everywhere),
            false => {
                wanted.iter().all(|database| granted.has_on(database, everywhere, on_database))
            }
        };
        // Tables named one by one are found, or reported as missing.
        let names_tables = filter.tables.databases.is_empty() && !filter.tables.tables.is_empty();
        let is_named = names_tables && kinds.contains(&ItemKind::Table);
        if !kinds.is_empty() && !is_shown && !is_named {
            let (privilege, place) = match (wanted.is_empty(), everywhere[0] == on_database[0]) {
                (false, true) => {
                    let lacks =
                        |database: &&&str| !granted.has_on(database, everywhere, on_database);
                    let lacking = wanted.iter().filter(lacks);
                    let lacking: Vec<String> =
                        lacking.map(|name| format!("{}.*", quoted_name(name))).collect();
                    (on_database[0], lacking.join(", "))
                }
                _ => (everywhere[0], "*.*".to_owned()),
            };
            let reason = format!(
                "the account {account} lacks the privilege {privilege} on {place}, so the server \
                 may hide some of them"
            );
            hidden.push(Unlisted { kinds, reason: reason.into() });
        }
    }
    Ok(hidden)
}

impl Granted {
    fn parse(grants: impl Iterator<Item = String>) -> Granted {
        let mut granted = Granted::default();
        for grant in grants {
            if let Some(database) = grant.strip_prefix("REVOKE ").and_then(database_of) {
                granted.revoked.push(database);
                continue;
            }
            let Some((privileges, target)) = privileges_and_target(&grant) else { continue };
            match target {
                Target::Everything => granted.everywhere.extend(privileges),
                Target::Database(pattern) => granted.databases.push((pattern, privileges)),
            }
        }
        granted
    }

    fn has_everywhere(&self, wanted: &[&str]) -> bool {
        let is_own = |database: &String| !SYSTEM_DATABASES.contains(&&**database);
        has_any(&self.everywhere, wanted) && !self.revoked.iter().any(is_own)
    }

    fn has_on(&self, database: &str, everywhere: &[&str], on_database: &[&str]) -> bool {
        let on_it = self.databases.iter().filter(|(pattern, _)| matches_name(pattern, database));
        let is_revoked = self.revoked.iter().any(|revoked| revoked == database);
        (has_any(&self.everywhere, everywhere) && !is_revoked)
            || on_it.into_iter().any(|(_, privileges)| has_any(privileges, on_database))
    }
}

fn has_any(privileges: &BTreeSet<String>, wanted: &[&str]) -> bool {
    privileges.contains("ALL PRIVILEGES") || wanted.iter().any(|name| privileges.contains(*name))
}

enum Target {
    Everything,
    Database(String),
}

/// The privileges and target of `GRANT SELECT, TRIGGER ON `shop`.* TO ...`; `None` for roles, tables and
/// routines.
fn privileges_and_target(grant: &str) -> Option<(BTreeSet<String>, Target)> {
    let rest = grant.strip_prefix("GRANT ")?;
    let (privileges, rest) = rest.split_once(" ON ")?;
    let privileges = privileges.split(", ").map(str::to_owned).collect();
    if rest.starts_with("*.* ") {
        return Some((privileges, Target::Everything));
    }
    database_of(rest).map(|pattern| (privileges, Target::Database(pattern)))
}

/// The database in ``... `shop`.* TO ...`` or `... FROM ...`.
fn database_of(rest: &str) -> Option<String> {
    let end = rest.find("`.* ")?;
    let start = rest.get(..end)?.find('`')? + 1;
    Some(rest.get(start..end)?.replace("``", "`"))
}

/// Whether a database name matches a pattern of `GRANT`: `_` is any character, `%` any number of them,
/// and a backslash escapes the next character.
fn matches_name(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Prefix lengths of the name that the pattern so far matches.
    let mut ends: BTreeSet<usize> = BTreeSet::from([0]);
    let mut place = 0;
    while let Some(&c) = pattern.get(place) {
        place += 1;
        let mut next = BTreeSet::new();
        for &end in &ends {
            match c {
                '%' => next.extend(end..=name.len()),
                '_' if end < name.len() => _ = next.insert(end + 1),
                '_' => {}
                c => {
                    let c = if c == '\\' { pattern.get(place).copied().unwrap_or(c) } else { c };
                    if name.get(end) == Some(&c) {
                        next.insert(end + 1);
                    }
                }
            }
        }
        place += usize::from(c == '\\');
        ends = next;
    }
    ends.contains(&name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_on_databases_are_patterns() {
        for (pattern, name, is_met) in [
            ("shop", "shop", true),
            ("shop", "shops", false),
            ("sh_p", "shop", true),
            (r"sh\_p", "shop", false),
            (r"sh\_p", "sh_p", true),
            ("s%", "shop", true),
            ("%", "", true),
            ("%x", "shop", false),
        ] {
            assert_eq!(matches_name(pattern, name), is_met, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_granted_on_tables_shows_no_whole_database() {
        let grants = [
            "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*x'",
            "GRANT SELECT, TRIGGER ON `sh``op`.* TO `u`@`%`",
            "GRANT SELECT ON `crm`.`t` TO `u`@`%`",
            "GRANT `reader`@`%` TO `u`@`%`",
            "GRANT ALL PRIVILEGES ON `own`.* TO `u`@`%` WITH GRANT OPTION",
            "REVOKE EVENT ON `own`.* FROM `u`@`%`",
        ];
        let granted = Granted::parse(grants.iter().map(|grant| (*grant).to_owned()));
        assert!(!granted.has_everywhere(&["SELECT"]));
        let has_on = |database: &str, wanted: &[&str]| granted.has_on(database, wanted, wanted);
        assert!(has_on("sh`op", &["SELECT"]) && !has_on("sh`op", &["EVENT"]));
        assert!(!has_on("crm", &["SELECT"]));
        assert!(has_on("own", &["EVENT"]));
        // A privilege that shows routines when granted on *.* does not when granted on a database.
        assert!(!granted.has_on("sh`op", &["SELECT"], &["EXECUTE"]));
        assert_eq!(granted.revoked, ["own"]);
    }
}
