//! Accounts and roles with their grants: first all accounts, then the grants, then the default roles, so
//! that every name exists before a statement uses it.

use innoscan_catalog::ledger::{ItemKind, Listed};
use innoscan_catalog::object::{Object, ObjectKind};
use innoscan_engine::Result;
use innoscan_format::schema::Family;
use innoscan_format::schema::quoted_name;

use crate::session::{Session, cell, quoted_text};

/// Accounts that a server creates for itself.
const SERVER_ACCOUNTS: [&str; 4] =
    ["mysql.infoschema", "mysql.session", "mysql.sys", "mariadb.sys"];

/// MariaDB's role of every account, which always exists (10.11).
const PUBLIC: &str = "PUBLIC";

/// An account or a role, as statements name it.
struct Grantee {
    user: String,
    host: String,
    /// `'name'@'host'`; for roles of MariaDB, which have no host, only the name.
    name: String,
}

impl Grantee {
    fn new(user: String, host: String) -> Grantee {
        let name = format!("{}@{}", quoted_text(&user), quoted_text(&host));
        Grantee { user, host, name }
    }

    fn role_of_mariadb(role: String) -> Grantee {
        let name = if role == PUBLIC { role.clone() } else { quoted_name(&role) };
        Grantee { user: role, host: String::new(), name }
    }
}

/// The accounts and roles that a dump lists: all but those the server creates for itself.
///
/// # Errors
/// If the account may not see them, with the server's error.
pub fn grantees(session: &mut Session) -> Result<Vec<Listed>> {
    let users = accounts(session)?.into_iter().map(|account| (ItemKind::User, account.name));
    let mut listed: Vec<Listed> = users.map(|(kind, name)| Listed::new("", kind, &name)).collect();
    if session.is_mariadb() {
        let own = roles(session)?.into_iter().filter(|role| role.user != PUBLIC);
        listed.extend(own.map(|role| Listed::new("", ItemKind::Role, &role.name)));
    }
    Ok(listed)
}

/// Fetches the statements of all accounts and roles.
///
/// # Errors
/// If the account may not see them, with the server's error.
pub fn users(session: &mut Session, objects: &mut Vec<Object>) -> Result<()> {
    // Hashes may be binary; MySQL 8.0.17 and later can show them in hexadecimal.
    _ = session.try_run("SET SESSION print_identified_with_as_hex = ON");
    let accounts = accounts(session)?;
    let roles = if session.is_mariadb() { roles(session)? } else { Vec::new() };
    for account in &accounts {
        if let Some(create) = create_user(session, account)? {
            objects.push(Object::new("", ObjectKind::User, &account.name, vec![create]));
        }
    }
    for role in roles.iter().filter(|role| role.user != PUBLIC) {
        // The loading account gets ADMIN OPTION on a role it creates, so it can grant the role on.
        let create = format!("CREATE ROLE IF NOT EXISTS {}", role.name);
        objects.push(Object::new("", ObjectKind::User, &role.name, vec![create]));
    }
    for account in roles.iter().chain(&accounts) {
        let grants = session.rows(&format!("SHOW GRANTS FOR {}", account.name))?;
        let grants: Vec<String> = grants.iter().map(|row| cell(row, 0)).collect();
        objects.push(Object::new("", ObjectKind::Grants, &account.name, grants));
    }
    for account in &accounts {
        if let Some(set) = default_roles(session, account)? {
            objects.push(Object::new("", ObjectKind::DefaultRole, &account.name, vec![set]));
        }
    }
    Ok(())
}

fn accounts(session: &mut Session) -> Result<Vec<Grantee>> {
    // Roles of MariaDB have no host.
    let rows = session.rows("SELECT user, host FROM mysql.user WHERE host <> '' ORDER BY 1, 2")?;
    let accounts = rows.iter().map(|row| Grantee::new(cell(row, 0), cell(row, 1)));
    Ok(accounts.filter(|account| !SERVER_ACCOUNTS.contains(&&*account.user)).collect())
}

fn roles(session: &mut Session) -> Result<Vec<Grantee>> {
    let rows = session.rows("SELECT user FROM mysql.user WHERE is_role = 'Y' ORDER BY 1")?;
    Ok(rows.iter().map(|row| Grantee::role_of_mariadb(cell(row, 0))).collect())
}

/// `CREATE USER` of an account; `None` before MySQL 5.7 and MariaDB 10.2, where the grants create it.
fn create_user(session: &mut Session, account: &Grantee) -> Result<Option<String>> {
    let version = session.version();
    let since = if version.family == Family::MariaDb { 100_200 } else { 50_700 };
    if version.number < since {
        return Ok(None);
    }
    let create = cell(&session.show_create("USER", &account.name)?, 0);
    let create = without_default_roles(&create);
    Ok(Some(create.replacen("CREATE USER ", "CREATE USER IF NOT EXISTS ", 1)))
}

/// A `CREATE USER` without its default roles, which may not exist yet.
fn without_default_roles(create: &str) -> String {
    let roles = unquoted(create, " DEFAULT ROLE ").zip(unquoted(create, " REQUIRE "));
    match roles {
        Some((from, to)) if from < to => format!("{}{}", &create[..from], &create[to..]),
        _ => create.to_owned(),
    }
}

/// The position of some words outside names and strings.
fn unquoted(sql: &str, words: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_escaped = false;
    sql.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some('\''), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '`') => quote = Some(c),
            _ => {}
        }
        (quote.is_none() && sql[at..].starts_with(words)).then_some(at)
    })
}

/// The statement that sets the default roles of an account; MariaDB shows them among the grants.
fn default_roles(session: &mut Session, account: &Grantee) -> Result<Option<String>> {
    if session.is_mariadb() || session.version().number < 80_000 {
        return Ok(None);
    }
    let sql = format!(
        "SELECT default_role_user, default_role_host FROM mysql.default_roles \
         WHERE user = {} AND host = {} ORDER BY 1, 2",
        quoted_text(&account.user),
        quoted_text(&account.host)
    );
    let rows = session.rows(&sql)?;
    let roles: Vec<String> =
        rows.iter().map(|row| Grantee::new(cell(row, 0), cell(row, 1)).name).collect();
    let set = format!("SET DEFAULT ROLE {} TO {}", roles.join(", "), account.name);
    Ok((!roles.is_empty()).then_some(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_roles_are_left_out_and_names_left_alone() {
        let name = "CREATE USER `a DEFAULT ROLE b``REQUIRE c`@`%` IDENTIFIED WITH 'x' AS 0x24";
        let end = " REQUIRE NONE ATTRIBUTE '{\"comment\": \"it\\'s DEFAULT ROLE b REQUIRE c\"}'";
        let whole = format!("{name}{end}");
        assert_eq!(without_default_roles(&whole), whole);
        let create = format!("{name} DEFAULT ROLE `r REQUIRE x`@`%`,`s`@`%`{end}");
        assert_eq!(without_default_roles(&create), whole);
    }
}
