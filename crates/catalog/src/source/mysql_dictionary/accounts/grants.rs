//! Grants as in `SHOW GRANTS`, and the default roles (`mysql_show_grants` and the functions it calls,
//! sql_authorization.cc, MySQL 8.0). The order of the statements is the server's: privileges on all
//! databases, static and dynamic, on databases, partial revokes of these, on tables, on routines,
//! proxies, roles.

use std::collections::BTreeMap;

use innoscan_format::charset::Charset;
use innoscan_format::schema::quoted_name;
use innoscan_format::{Error, Result};

use super::Account;
use super::attributes::Attributes;
use super::privileges::{OF_DATABASE, OF_TABLE, Privileges};
use crate::mysql_ibd::{DictionaryFile, Row};

/// The rows of all tables of grants.
#[derive(Debug)]
pub(super) struct GrantTables {
    databases: Vec<Row>,
    tables: Vec<Row>,
    columns: Vec<Row>,
    routines: Vec<Row>,
    proxies: Vec<Row>,
    roles: Vec<Row>,
    default_roles: Vec<Row>,
    dynamic: Vec<Row>,
}

impl GrantTables {
    /// Reads the tables.
    pub fn read(file: &DictionaryFile) -> innoscan_engine::Result<GrantTables> {
        let rows = |table: &str, names: &[&'static str]| file.rows(table, names, |_| true).all();
        let mut of_database = vec!["Host", "User", "Db", "Grant_priv"];
        of_database.extend(OF_DATABASE);
        Ok(GrantTables {
            databases: rows("db", &of_database)?,
            tables: rows("tables_priv", &["Host", "User", "Db", "Table_name", "Table_priv"])?,
            columns: rows(
                "columns_priv",
                &["Host", "User", "Db", "Table_name", "Column_name", "Column_priv"],
            )?,
            routines: rows(
                "procs_priv",
                &["Host", "User", "Db", "Routine_name", "Routine_type", "Proc_priv"],
            )?,
            proxies: rows(
                "proxies_priv",
                &["Host", "User", "Proxied_host", "Proxied_user", "With_grant"],
            )?,
            roles: rows(
                "role_edges",
                &["FROM_HOST", "FROM_USER", "TO_HOST", "TO_USER", "WITH_ADMIN_OPTION"],
            )?,
            default_roles: rows(
                "default_roles",
                &["HOST", "USER", "DEFAULT_ROLE_HOST", "DEFAULT_ROLE_USER"],
            )?,
            dynamic: rows("global_grants", &["USER", "HOST", "PRIV", "WITH_GRANT_OPTION"])?,
        })
    }

    /// All grants of an account. `user`: its row of `mysql.user`.
    pub fn statements(&self, account: &Account, user: &Row) -> Result<Vec<String>> {
        let attributes = Attributes::parse(user.text_if_any("User_attributes")?)?;
        let global = Privileges::of_columns(|column| user.is_yes(column))?;
        let mut statements = vec![grant(&global.listed(None), "*.*", account, &global)];
        self.dynamic(account, &mut statements)?;
        self.on_databases(account, &mut statements)?;
        for (database, taken) in &attributes.restrictions {
            let listed = taken.listed(None);
            let (database, account) = (quoted_name(database), account.in_backticks());
            statements.push(format!("REVOKE {listed} ON {database}.* FROM {account}"));
        }
        self.on_tables(account, &mut statements)?;
        for kind in ["PROCEDURE", "FUNCTION"] {
            self.on_routines(account, kind, &mut statements)?;
        }
        self.proxies(account, &mut statements)?;
        self.roles(account, &mut statements)?;
        Ok(statements)
    }

    /// The statement `SET DEFAULT ROLE`, when the account has default roles.
    pub fn default_roles(&self, account: &Account) -> Result<Option<String>> {
        let mut roles = Vec::new();
        for row in of_account(&self.default_roles, account, "USER", "HOST") {
            roles.push(Account::of(row?, "DEFAULT_ROLE_USER", "DEFAULT_ROLE_HOST")?);
        }
        roles.sort();
        let roles: Vec<String> = roles.iter().map(Account::in_quotes).collect();
        let set = format!("SET DEFAULT ROLE {} TO {}", roles.join(", "), account.in_quotes());
        Ok((!roles.is_empty()).then_some(set))
    }

    fn dynamic(&self, account: &Account, statements: &mut Vec<String>) -> Result<()> {
        let (mut plain, mut handed_on) = (Vec::new(), Vec::new());
        for row in of_account(&self.dynamic, account, "USER", "HOST") {
            let row = row?;
            let with_option = row.is_yes("WITH_GRANT_OPTION")?;
            let group = if with_option { &mut handed_on } else { &mut plain };
            group.push(row.text("PRIV")?.to_owned());
        }
        for (mut names, grant_option) in [(plain, false), (handed_on, true)] {
            if !names.is_empty() {
                names.sort_unstable();
                let option = Privileges::none(grant_option);
                statements.push(grant(&names.join(","), "*.*", account, &option));
            }
        }
        Ok(())
    }

    fn on_databases(&self, account: &Account, statements: &mut Vec<String>) -> Result<()> {
        // Database names that are patterns come after the others.
        let mut granted: BTreeMap<(bool, &str), Privileges> = BTreeMap::new();
        for row in of_account(&self.databases, account, "User", "Host") {
            let row = row?;
            let privileges = Privileges::of_columns(|column| {
                if OF_DATABASE.contains(&column) || column == "Grant_priv" {
                    row.is_yes(column)
                } else {
                    Ok(false)
                }
            })?;
            let database = row.text("Db")?;
            granted
                .entry((database.contains(['%', '_']), database))
                .or_default()
                .extend(&privileges);
        }
        for ((_, database), privileges) in &granted {
            if !privileges.is_empty() {
                let listed = privileges.listed(Some(OF_DATABASE.len()));
                let on = format!("{}.*", quoted_name(database));
                statements.push(grant(&listed, &on, account, privileges));
            }
        }
        Ok(())
    }

    fn on_tables(&self, account: &Account, statements: &mut Vec<String>) -> Result<()> {
        let mut granted: BTreeMap<String, OnTable> = BTreeMap::new();
        let place = |row: &Row| {
            let (database, table) = (row.text("Db")?, row.text("Table_name")?);
            Ok::<_, Error>(format!("{}.{}", quoted_name(database), quoted_name(table)))
        };
        for row in of_account(&self.tables, account, "User", "Host") {
            let row = row?;
            let privileges = privileges_of(row, "Table_priv")?;
            granted.entry(place(row)?).or_default().table.extend(&privileges);
        }
        for row in of_account(&self.columns, account, "User", "Host") {
            let row = row?;
            let privileges = privileges_of(row, "Column_priv")?;
            let columns = &mut granted.entry(place(row)?).or_default().columns;
            columns.entry(row.text("Column_name")?.to_owned()).or_default().extend(&privileges);
        }
        for (place, on_table) in &granted {
            if let Some(listed) = on_table.listed() {
                statements.push(grant(&listed, place, account, &on_table.table));
            }
        }
        Ok(())
    }

    fn on_routines(
        &self,
        account: &Account,
        kind: &str,
        statements: &mut Vec<String>,
    ) -> Result<()> {
        let mut granted: BTreeMap<String, Privileges> = BTreeMap::new();
        for row in of_account(&self.routines, account, "User", "Host") {
            let row = row?;
            match row.text("Routine_type")? {
                "PROCEDURE" | "FUNCTION" => {}
                other => {
                    return Err(Error::unsupported(
                        format!("a grant on a {}", other.to_lowercase()),
                        "dump the accounts from the running server",
                    ));
                }
            }
            if row.text("Routine_type")? == kind {
                let name = quoted_name(&routine_name(row.text("Routine_name")?));
                let place = format!("{}.{name}", quoted_name(row.text("Db")?));
                granted.entry(place).or_default().extend(&privileges_of(row, "Proc_priv")?);
            }
        }
        for (place, privileges) in granted.iter().filter(|granted| !granted.1.is_empty()) {
            let on = format!("{kind} {place}");
            statements.push(grant(&privileges.listed(None), &on, account, privileges));
        }
        Ok(())
    }

    fn proxies(&self, account: &Account, statements: &mut Vec<String>) -> Result<()> {
        for row in of_account(&self.proxies, account, "User", "Host") {
            let row = row?;
            let proxied = Account::of(row, "Proxied_user", "Proxied_host")?;
            let grant_option = row.number::<u8>("With_grant")? != 0;
            let option = Privileges::none(grant_option);
            statements.push(grant("PROXY", &proxied.in_backticks(), account, &option));
        }
        Ok(())
    }

    fn roles(&self, account: &Account, statements: &mut Vec<String>) -> Result<()> {
        let (mut plain, mut with_admin) = (Vec::new(), Vec::new());
        for row in of_account(&self.roles, account, "TO_USER", "TO_HOST") {
            let row = row?;
            let role = Account::of(row, "FROM_USER", "FROM_HOST")?;
            let is_admin = row.is_yes("WITH_ADMIN_OPTION")?;
            if is_admin { &mut with_admin } else { &mut plain }.push(role);
        }
        for (mut roles, option) in [(plain, ""), (with_admin, " WITH ADMIN OPTION")] {
            if !roles.is_empty() {
                roles.sort();
                let roles: Vec<String> = roles.iter().map(Account::in_backticks).collect();
                let (roles, to) = (roles.join(","), account.in_backticks());
                statements.push(format!("GRANT {roles} TO {to}{option}"));
            }
        }
        Ok(())
    }
}

/// The privileges on a table and on its columns.
#[derive(Debug, Default)]
struct OnTable {
    table: Privileges,
    columns: BTreeMap<String, Privileges>,
}

impl OnTable {
    /// The list of privileges, with the columns of each; `None` when there is none.
    fn listed(&self) -> Option<String> {
        let mut either = self.table.clone();
        for of_column in self.columns.values() {
            either.extend(of_column);
        }
        if either.is_empty() {
            return None;
        }
        if self.table.count() == OF_TABLE || either.count() == 0 {
            return Some(self.table.listed(Some(OF_TABLE)));
        }
        let mut listed = Vec::new();
        for name in either.ordered() {
            if self.table.has(name) {
                listed.push(name.to_owned());
            }
            let columns = self.columns.iter().filter(|(_, of_column)| of_column.has(name));
            let columns: Vec<String> = columns.map(|(column, _)| quoted_name(column)).collect();
            if !columns.is_empty() {
                listed.push(format!("{name} ({})", columns.join(", ")));
            }
        }
        Some(listed.join(", "))
    }
}

/// The rows of an account.
fn of_account<'r>(
    rows: &'r [Row],
    account: &'r Account,
    user: &'r str,
    host: &'r str,
) -> impl Iterator<Item = Result<&'r Row>> {
    rows.iter().filter_map(move |row| match Account::of(row, user, host) {
        Ok(other) => account.is(&other).then_some(Ok(row)),
        Err(error) => Some(Err(error)),
    })
}

/// The name of a routine in `mysql.procs_priv`, whose UTF-8 the server stores as if it were latin1
fn routine_name(stored: &str) -> String {
    let mut utf8 = Vec::new();
    let lost = Charset::Latin1.encode(stored, &mut utf8);
    let name = String::from_utf8(utf8).ok().filter(|_| lost == 0);
    name.unwrap_or_else(|| stored.to_owned())
}

fn privileges_of(row: &Row, column: &str) -> Result<Privileges> {
    let set = row.text(column)?;
    Privileges::of_names(set.split(',')).ok_or_else(|| {
        Error::unsupported(
            format!("one of the privileges `{set}`"),
            "dump the accounts from the running server",
        )
    })
}

fn grant(listed: &str, on: &str, account: &Account, privileges: &Privileges) -> String {
    let option = if privileges.grant_option { " WITH GRANT OPTION" } else { "" };
    format!("GRANT {listed} ON {on} TO {}{option}", account.in_backticks())
}
