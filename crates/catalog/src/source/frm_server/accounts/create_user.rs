//! Statements that create accounts.

use innoscan_format::schema::{Family, ServerVersion};

use super::super::text::Quoting;
use super::account::{Account, PUBLIC, Tls, mysql_text};
use super::has_create_user;

/// `CREATE USER IF NOT EXISTS ...` like in `SHOW CREATE USER`, or `CREATE ROLE`; `None` for
/// `PUBLIC`, which always exists, and for accounts of servers on which grants create them.
pub(super) fn create(server: ServerVersion, account: &Account) -> Option<String> {
    let name = account.in_statement(server);
    if account.is_role {
        return (account.user != PUBLIC).then(|| format!("CREATE ROLE IF NOT EXISTS {name}"));
    }
    has_create_user(server).then(|| match server.family {
        Family::MariaDb => mariadb(&name, account),
        Family::MySql => mysql(&name, account),
    })
}

/// The statement of `mysql_show_create_user` in sql/sql_acl.cc, MariaDB 10.11.
fn mariadb(name: &str, account: &Account) -> String {
    let mut sql = format!("CREATE USER IF NOT EXISTS {name}{}", parameters(account, false));
    if account.is_locked {
        sql += " ACCOUNT LOCK";
    }
    match (account.is_expired, account.password_lifetime) {
        (true, _) => sql += " PASSWORD EXPIRE",
        (_, Some(0)) => sql += " PASSWORD EXPIRE NEVER",
        (_, Some(days)) => sql += &format!(" PASSWORD EXPIRE INTERVAL {days} DAY"),
        (_, None) => {}
    }
    sql
}

/// The text after the name in MariaDB's `CREATE USER` and in its first `GRANT`
/// (`add_user_parameters`, sql/sql_acl.cc, MariaDB 10.11).
pub(super) fn parameters(account: &Account, may_grant: bool) -> String {
    let text = |text: &str| Quoting::default().text(text);
    let is_own =
        |plugin: &str| matches!(plugin, "" | "mysql_native_password" | "mysql_old_password");
    let mut sql = String::new();
    match account.authentication.as_slice() {
        [way] if is_own(&way.plugin) => {
            if !way.string.is_empty() {
                sql += &format!(" IDENTIFIED BY PASSWORD {}", text(&way.string));
            }
        }
        ways => {
            for (at, way) in ways.iter().enumerate() {
                sql += if at == 0 { " IDENTIFIED VIA " } else { " OR " };
                sql += &way.plugin;
                if !way.string.is_empty() {
                    sql += &format!(" USING {}", text(&way.string));
                }
            }
        }
    }
    match &account.tls {
        Tls::None => {}
        Tls::Any => sql += " REQUIRE SSL",
        Tls::X509 => sql += " REQUIRE X509",
        Tls::Specified { cipher, issuer, subject } => {
            sql += " REQUIRE";
            for (word, value) in [("ISSUER", issuer), ("SUBJECT", subject), ("CIPHER", cipher)] {
                if !value.is_empty() {
                    sql += &format!(" {word} {}", text(value));
                }
            }
        }
    }
    sql + &with(account, may_grant)
}

/// The clause ` WITH ...`: resource limits, and the right to grant.
pub(super) fn with(account: &Account, may_grant: bool) -> String {
    const LIMITS: [&str; 4] = [
        "MAX_QUERIES_PER_HOUR",
        "MAX_UPDATES_PER_HOUR",
        "MAX_CONNECTIONS_PER_HOUR",
        "MAX_USER_CONNECTIONS",
    ];
    let mut sql = String::new();
    if may_grant {
        sql += " GRANT OPTION";
    }
    for (word, limit) in LIMITS.iter().zip(account.limits) {
        if limit != 0 {
            sql += &format!(" {word} {limit}");
        }
    }
    if account.max_statement_time != 0.0 {
        sql += &format!(" MAX_STATEMENT_TIME {:.6}", account.max_statement_time);
    }
    if sql.is_empty() { sql } else { format!(" WITH{sql}") }
}

/// The statement of `mysql_show_create_user` and `write_user` in sql/auth/sql_user.cc, MySQL 5.7. Names
/// and texts are quoted as statements need it, unlike some of the server's own text.
fn mysql(name: &str, account: &Account) -> String {
    let mut sql = format!("CREATE USER IF NOT EXISTS {name}");
    if let Some(way) = account.authentication.first().filter(|way| !way.plugin.is_empty()) {
        sql += &format!(" IDENTIFIED WITH {}", mysql_text(&way.plugin));
        if !way.string.is_empty() {
            sql += &format!(" AS {}", mysql_text(&way.string));
        }
    }
    sql += " REQUIRE";
    match &account.tls {
        Tls::None => sql += " NONE",
        Tls::Any => sql += " SSL",
        Tls::X509 => sql += " X509",
        Tls::Specified { cipher, issuer, subject } => {
            for (word, value) in [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)] {
                if !value.is_empty() {
                    sql += &format!(" {word} {}", mysql_text(value));
                }
            }
        }
    }
    sql += &with(account, false);
    sql += &match (account.is_expired, account.password_lifetime) {
        (true, _) => " PASSWORD EXPIRE".to_owned(),
        (_, None) => " PASSWORD EXPIRE DEFAULT".to_owned(),
        (_, Some(0)) => " PASSWORD EXPIRE NEVER".to_owned(),
        (_, Some(days)) => format!(" PASSWORD EXPIRE INTERVAL {days} DAY"),
    };
    sql += if account.is_locked { " ACCOUNT LOCK" } else { " ACCOUNT UNLOCK" };
    sql
}
