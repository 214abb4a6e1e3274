//! Grants of accounts, as statements in the order of `SHOW GRANTS` (`mysql_show_grants` in
//! sql/sql_acl.cc, MariaDB 10.11, and sql/auth/sql_authorization.cc, MySQL 5.7): roles, privileges on
//! everything, on databases, on tables and columns, on routines, proxies, the default role. Within a
//! group the servers use the order in memory; here it is the order in the table.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_engine::{Error, Result};
use innoscan_format::schema::{Family, ServerVersion};

use super::super::rows::{SystemRow, SystemRows};
use super::super::text::Quoting;
use super::account::{Account, PUBLIC, grantee, mysql_text};
use super::create_user::{parameters, with};
use super::has_create_user;
use super::privileges::{self, GRANT};

/// The rows of the tables of grants.
pub(super) struct GrantTables {
    databases: SystemRows,
    tables: SystemRows,
    columns: SystemRows,
    routines: SystemRows,
    proxies: SystemRows,
    roles: SystemRows,
}

impl GrantTables {
    /// Reads the tables.
    ///
    /// # Errors
    /// A table cannot be read, or has an unknown privilege.
    pub fn read(server: ServerVersion, mysql: &Path) -> Result<GrantTables> {
        let table = |name: &str| SystemRows::read(&mysql.join(format!("{name}.frm")));
        // Some versions lack some of these tables.
        let optional = |name: &str| match mysql.join(format!("{name}.frm")).is_file() {
            true => table(name),
            false => Ok(SystemRows::default()),
        };
        let tables = GrantTables {
            databases: table("db")?,
            tables: table("tables_priv")?,
            columns: table("columns_priv")?,
            routines: optional("procs_priv")?,
            proxies: optional("proxies_priv")?,
            roles: match server.family {
                Family::MariaDb => optional("roles_mapping")?,
                Family::MySql => SystemRows::default(),
            },
        };
        tables.require_known()?;
        Ok(tables)
    }

    fn require_known(&self) -> Result<()> {
        let sets = [
            (&self.tables, "Table_priv"),
            (&self.tables, "Column_priv"),
            (&self.columns, "Column_priv"),
            (&self.routines, "Proc_priv"),
        ];
        for (rows, column) in sets {
            for row in rows.iter() {
                let members = row.text(column);
                if privileges::of_set(&members).is_none() {
                    let why = format!("{column} has a privilege that is not known: {members}");
                    return Err(Error::refused(why, "dump the accounts from a running server"));
                }
            }
        }
        for row in self.databases.iter() {
            let unknown =
                row.privileges().find(|&(name, is_set)| is_set && privileges::of_column(name) == 0);
            if let Some((name, _)) = unknown {
                let why = format!("mysql.db has a privilege that is not known: {name}");
                return Err(Error::refused(why, "dump the accounts from a running server"));
            }
        }
        Ok(())
    }

    /// The rows by account.
    pub fn by_account(&self) -> GrantsByAccount<'_> {
        GrantsByAccount {
            databases: self.databases.grouped(["User", "Host"]),
            tables: self.tables.grouped(["User", "Host"]),
            columns: self.columns.grouped(["User", "Host", "Db", "Table_name"]),
            routines: self.routines.grouped(["User", "Host"]),
            proxies: self.proxies.grouped(["User", "Host"]),
            roles: self.roles.grouped(["User", "Host"]),
        }
    }
}

/// Rows by user and host.
type ByAccount<'a> = BTreeMap<[String; 2], Vec<SystemRow<'a>>>;

/// The rows of the tables of grants, by account.
pub(super) struct GrantsByAccount<'a> {
    databases: ByAccount<'a>,
    tables: ByAccount<'a>,
    /// Rows by account, database and table.
    columns: BTreeMap<[String; 4], Vec<SystemRow<'a>>>,
    routines: ByAccount<'a>,
    proxies: ByAccount<'a>,
    roles: ByAccount<'a>,
}

impl GrantsByAccount<'_> {
    /// The statements for an account.
    pub fn of(&self, server: ServerVersion, account: &Account) -> Vec<String> {
        let to = account.in_statement(server);
        let key = [account.user.clone(), account.host.clone()];
        let rows = |rows: &ByAccount<'_>, f: &mut dyn FnMut(SystemRow<'_>)| {
            rows.get(&key).into_iter().flatten().for_each(|&row| f(row));
        };
        let mut grants = Vec::new();
        let name = |name: &str| Quoting::default().name(name);
        rows(&self.roles, &mut |row| {
            let admin = if row.is_yes("Admin_option") { " WITH ADMIN OPTION" } else { "" };
            grants.push(format!("GRANT {} TO {to}{admin}", name(&row.text("Role"))));
        });
        grants.extend(global(server, account, &to));
        rows(&self.databases, &mut |row| {
            let access = row
                .privileges()
                .filter(|(_, is_set)| *is_set)
                .fold(0, |access, (column, _)| access | privileges::of_column(column));
            let listed = privileges::listed(access, privileges::all_on_database(server), server);
            let on = format!("{}.*", name(&row.text("Db")));
            grants.push(grant(&listed, &on, &to, access));
        });
        rows(&self.tables, &mut |row| {
            let access = privileges::of_set(&row.text("Table_priv")).unwrap_or(0);
            let listed = self.on_table(server, row, access);
            let on = format!("{}.{}", name(&row.text("Db")), name(&row.text("Table_name")));
            grants.push(grant(&listed, &on, &to, access));
        });
        for typed in ["PROCEDURE", "FUNCTION", "PACKAGE", "PACKAGE BODY"] {
            rows(&self.routines, &mut |row| {
                if row.text("Routine_type") != typed {
                    return;
                }
                let access = privileges::of_set(&row.text("Proc_priv")).unwrap_or(0);
                let listed = privileges::listed(access, u64::MAX, server);
                let routine = name(&row.text("Routine_name"));
                let on = format!("{typed} {}.{routine}", name(&row.text("Db")));
                grants.push(grant(&listed, &on, &to, access));
            });
        }
        rows(&self.proxies, &mut |row| {
            let (user, mut host) = (row.text("Proxied_user"), row.text("Proxied_host"));
            if host.is_empty() && server.family == Family::MariaDb {
                host.push('%');
            }
            let on = grantee(server, &user, &host);
            let admin = if row.text("With_grant") == "0" { 0 } else { GRANT };
            grants.push(grant("PROXY", &on, &to, admin));
        });
        if !account.default_role.is_empty() {
            grants.push(format!("SET DEFAULT ROLE {} FOR {to}", name(&account.default_role)));
        }
        grants
    }

    /// The privileges on a table, and on its columns.
    fn on_table(&self, server: ServerVersion, row: SystemRow<'_>, access: u64) -> String {
        let on_columns = privileges::of_set(&row.text("Column_priv")).unwrap_or(0);
        let all = privileges::all_on_table(server);
        if on_columns == 0 || access & all == all {
            return privileges::listed(access, all, server);
        }
        let key = ["User", "Host", "Db", "Table_name"].map(|column| row.text(column));
        let columns = || self.columns.get(&key).into_iter().flatten();
        let mut listed = Vec::new();
        for (bit, word) in privileges::words(access | on_columns, server) {
            if access & bit != 0 {
                listed.push(word.to_owned());
            }
            let has = |column: &&SystemRow<'_>| {
                privileges::of_set(&column.text("Column_priv")).unwrap_or(0) & bit != 0
            };
            let named = columns().filter(has);
            let named: Vec<String> =
                named.map(|column| Quoting::default().name(&column.text("Column_name"))).collect();
            if !named.is_empty() {
                listed.push(format!("{word} ({})", named.join(", ")));
            }
        }
        if listed.is_empty() { "USAGE".to_owned() } else { listed.join(", ") }
    }
}

fn grant(listed: &str, on: &str, to: &str, access: u64) -> String {
    let with = if access & GRANT == 0 { "" } else { " WITH GRANT OPTION" };
    format!("GRANT {listed} ON {on} TO {to}{with}")
}

/// The privileges on `*.*`; for `PUBLIC` only where it has some.
fn global(server: ServerVersion, account: &Account, to: &str) -> Option<String> {
    let may_grant = account.access & GRANT != 0;
    let listed = privileges::listed(account.access, privileges::all_global(server), server);
    let behind = match server.family {
        _ if account.is_role => if may_grant { " WITH GRANT OPTION" } else { "" }.to_owned(),
        Family::MariaDb => parameters(account, may_grant),
        Family::MySql if has_create_user(server) => {
            if may_grant { " WITH GRANT OPTION" } else { "" }.to_owned()
        }
        Family::MySql => old_mysql(account) + &with(account, may_grant),
    };
    let is_empty = account.access == 0 && account.user == PUBLIC && account.is_role;
    (!is_empty).then(|| format!("GRANT {listed} ON *.* TO {to}{behind}"))
}

/// The grant by which MySQL 5.6 creates an account.
fn old_mysql(account: &Account) -> String {
    let mut sql = String::new();
    if let Some(way) = account.authentication.first() {
        let is_own = matches!(&*way.plugin, "" | "mysql_native_password" | "mysql_old_password");
        match (is_own, way.string.is_empty()) {
            (true, true) => {}
            (true, false) => sql += &format!(" IDENTIFIED BY PASSWORD {}", mysql_text(&way.string)),
            (false, _) => {
                sql += &format!(" IDENTIFIED WITH {}", mysql_text(&way.plugin));
                if !way.string.is_empty() {
                    sql += &format!(" AS {}", mysql_text(&way.string));
                }
            }
        }
    }
    let tls = Account { tls: account.tls.clone(), ..Account::default() };
    sql + &parameters(&tls, false)
}
