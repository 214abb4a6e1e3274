//! Accounts, roles and their grants, from the servers' tables of privileges.
//!
//! ```text
//! mysql.global_priv (MariaDB 10.4) or mysql.user    accounts, roles, privileges on *.*
//! mysql.db                                          on a database
//! mysql.tables_priv, mysql.columns_priv             on a table, on columns
//! mysql.procs_priv                                  on a routine
//! mysql.proxies_priv, mysql.roles_mapping           proxies; roles (MariaDB)
//! ```

mod account;
mod create_user;
mod global_priv;
mod grants;
mod privileges;
mod user_table;

use std::path::Path;

use innoscan_engine::{Error, Result};
use innoscan_format::schema::{Family, ServerVersion};

use self::account::Account;
use self::grants::{GrantTables, GrantsByAccount};
use super::super::{FoundObject, Item, ItemKind, UnreadList};
use super::rows::SystemRows;
use crate::object::{Object, ObjectKind, ObjectSession};

/// Accounts that a server creates for itself.
const SERVER_ACCOUNTS: [&str; 4] =
    ["mysql.infoschema", "mysql.session", "mysql.sys", "mariadb.sys"];

/// All accounts and roles except the server's own: accounts first, each group in the order of names.
///
/// An account whose row cannot be read has an error. Where a table of grants cannot be read, none of
/// the accounts is complete, so the accounts are reported as an unread list.
pub(super) fn accounts(
    server: ServerVersion,
    mysql: &Path,
) -> std::result::Result<Vec<FoundObject>, UnreadList> {
    let unread = |error| UnreadList { kinds: vec![ItemKind::User, ItemKind::Role], error };
    let mut accounts = read_accounts(server, mysql).map_err(unread)?;
    accounts.retain(|account| !SERVER_ACCOUNTS.contains(&&*account.user));
    accounts.sort_by(|a, b| (a.is_role, &a.user, &a.host).cmp(&(b.is_role, &b.user, &b.host)));
    let grants = GrantTables::read(server, mysql).map_err(unread)?;
    let grants = grants.by_account();
    Ok(accounts.iter().map(|account| found(server, account, &grants)).collect())
}

fn read_accounts(server: ServerVersion, mysql: &Path) -> Result<Vec<Account>> {
    let global_priv = mysql.join("global_priv.frm");
    if global_priv.is_file() {
        let rows = SystemRows::read(&global_priv)?;
        return Ok(rows.iter().map(|row| global_priv::account(row, server)).collect());
    }
    let rows = SystemRows::read(&mysql.join("user.frm"))?;
    Ok(rows.iter().map(|row| user_table::account(row, server)).collect())
}

fn found(server: ServerVersion, account: &Account, grants: &GrantsByAccount<'_>) -> FoundObject {
    let name = account.object_name();
    let kind = if account.is_role { ItemKind::Role } else { ItemKind::User };
    let statements = match &account.unreadable {
        Some(why) => Err(Error::refused(why.clone(), "dump it from a running server")),
        None => {
            let create = create_user::create(server, account);
            let create = create.map(|sql| Object::new("", ObjectKind::User, &name, vec![sql]));
            let (on_packages, grants): (Vec<String>, Vec<String>) =
                grants.of(server, account).into_iter().partition(|grant| is_on_package(grant));
            let grants = Object::new("", ObjectKind::Grants, &name, grants);
            let on_packages = (!on_packages.is_empty()).then(|| Object {
                session: Some(ObjectSession { sql_mode: "ORACLE".into(), ..Default::default() }),
                ..Object::new("", ObjectKind::Grants, &name, on_packages)
            });
            Ok(create.into_iter().chain([grants]).chain(on_packages).collect())
        }
    };
    FoundObject { item: Item::new("", kind, &name), statements }
}

/// Whether a grant is on a package: a server reads it only in `sql_mode=ORACLE`.
fn is_on_package(grant: &str) -> bool {
    let on = grant.split_once(" ON ").map(|(_, on)| on);
    on.is_some_and(|on| on.starts_with("PACKAGE "))
}

/// Whether the version has `SHOW CREATE USER`; before, grants create the accounts.
fn has_create_user(server: ServerVersion) -> bool {
    let since = if server.family == Family::MariaDb { 100_200 } else { 50_700 };
    server.number >= since
}
