//! The statement of `SHOW CREATE USER` without the default roles, which may not exist yet when the
//! account is created (`Rewriter_show_create_user`, sql_rewrite.cc, MySQL 8.0).

use innoscan_format::schema::ServerVersion;
use innoscan_format::{Error, Result};

use super::attributes::Attributes;
use super::privileges::STATIC;
use super::{Account, text_literal};
use crate::mysql_ibd::Row;

/// The columns of `mysql.user` except those of privileges.
const COLUMNS: [&str; 22] = [
    "Host",
    "User",
    "Grant_priv",
    "ssl_type",
    "ssl_cipher",
    "x509_issuer",
    "x509_subject",
    "max_questions",
    "max_updates",
    "max_connections",
    "max_user_connections",
    "plugin",
    "authentication_string",
    "password_expired",
    "password_lifetime",
    "account_locked",
    "Password_reuse_history",
    "Password_reuse_time",
    "Password_require_current",
    "User_attributes",
    "Create_role_priv",
    "Drop_role_priv",
];

/// The first version that accepts hashes in hexadecimal digits.
const WITH_HEX: u32 = 80_017;

/// The columns of `mysql.user` from which statements are composed.
pub(super) fn columns() -> Vec<&'static str> {
    let privileges = STATIC.iter().map(|(column, _)| *column);
    let mut columns: Vec<_> = COLUMNS.into_iter().chain(privileges).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// The statement `CREATE USER IF NOT EXISTS` of an account or role.
pub(super) fn create_user(account: &Account, row: &Row, server: ServerVersion) -> Result<String> {
    let attributes = Attributes::parse(row.text_if_any("User_attributes")?)?;
    if attributes.has_more_factors {
        return Err(Error::unsupported(
            "an account with more than one factor",
            "dump the accounts from the running server",
        ));
    }
    let plugin = row.text("plugin")?;
    if plugin.is_empty() {
        return Err(Error::unsupported(
            "an account without a plugin",
            "on the server, ALTER USER ... IDENTIFIED WITH",
        ));
    }
    let name = account.in_backticks();
    let mut create =
        format!("CREATE USER IF NOT EXISTS {name} IDENTIFIED WITH {}", text_literal(plugin));
    let hash = row.text_if_any("authentication_string")?.unwrap_or_default();
    if !hash.is_empty() {
        create += &format!(" AS {}", hash_literal(hash, server));
    }
    create += &required(row)?;
    create += &limits(row)?;
    create += &password_rules(row)?;
    if attributes.failed_logins != 0 || attributes.lock_days != 0 {
        let Attributes { failed_logins, lock_days, .. } = attributes;
        create += &format!(" FAILED_LOGIN_ATTEMPTS {failed_logins}");
        create += &match lock_days {
            ..0 => " PASSWORD_LOCK_TIME UNBOUNDED".to_owned(),
            days => format!(" PASSWORD_LOCK_TIME {days}"),
        };
    }
    if let Some(metadata) = attributes.metadata {
        create += &format!(" ATTRIBUTE {}", text_literal(&metadata));
    }
    Ok(create)
}

/// A hash as text, or in hexadecimal digits when it contains other than visible ASCII characters
/// (`append_auth_str`).
fn hash_literal(hash: &str, server: ServerVersion) -> String {
    if server.number < WITH_HEX || hash.bytes().all(|byte| byte.is_ascii_graphic()) {
        return text_literal(hash);
    }
    let digits: String = hash.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("0x{digits}")
}

fn required(row: &Row) -> Result<String> {
    Ok(match row.text("ssl_type")? {
        "ANY" => " REQUIRE SSL".to_owned(),
        "X509" => " REQUIRE X509".to_owned(),
        "SPECIFIED" => {
            let mut required = " REQUIRE".to_owned();
            for (words, column) in
                [("SUBJECT", "x509_subject"), ("ISSUER", "x509_issuer"), ("CIPHER", "ssl_cipher")]
            {
                let text = row.text_if_any(column)?.unwrap_or_default();
                if !text.is_empty() {
                    required += &format!(" {words} {}", text_literal(text));
                }
            }
            required
        }
        _ => " REQUIRE NONE".to_owned(),
    })
}

fn limits(row: &Row) -> Result<String> {
    let mut limits = String::new();
    for (words, column) in [
        ("MAX_QUERIES_PER_HOUR", "max_questions"),
        ("MAX_UPDATES_PER_HOUR", "max_updates"),
        ("MAX_CONNECTIONS_PER_HOUR", "max_connections"),
        ("MAX_USER_CONNECTIONS", "max_user_connections"),
    ] {
        let limit: u32 = row.number(column)?;
        if limit != 0 {
            let with = if limits.is_empty() { " WITH" } else { "" };
            limits += &format!("{with} {words} {limit}");
        }
    }
    Ok(limits)
}

/// Servers before 8.0.13 have no `Password_require_current`.
fn password_rules(row: &Row) -> Result<String> {
    let number = |column: &str| row.number_if_any::<u32>(column);
    let expire = match (row.is_yes("password_expired")?, number("password_lifetime")?) {
        (true, _) => String::new(),
        (false, None) => " DEFAULT".to_owned(),
        (false, Some(0)) => " NEVER".to_owned(),
        (false, Some(days)) => format!(" INTERVAL {days} DAY"),
    };
    let lock = if row.is_yes("account_locked")? { "LOCK" } else { "UNLOCK" };
    let mut rules = format!(" PASSWORD EXPIRE{expire} ACCOUNT {lock}");
    if row.has("Password_reuse_history") {
        rules += &match number("Password_reuse_history")? {
            None => " PASSWORD HISTORY DEFAULT".to_owned(),
            Some(count) => format!(" PASSWORD HISTORY {count}"),
        };
    }
    if row.has("Password_reuse_time") {
        rules += &match number("Password_reuse_time")? {
            None => " PASSWORD REUSE INTERVAL DEFAULT".to_owned(),
            Some(days) => format!(" PASSWORD REUSE INTERVAL {days} DAY"),
        };
    }
    if row.has("Password_require_current") {
        rules += match row.text_if_any("Password_require_current")? {
            None => " PASSWORD REQUIRE CURRENT DEFAULT",
            Some("Y") => " PASSWORD REQUIRE CURRENT",
            Some(_) => " PASSWORD REQUIRE CURRENT OPTIONAL",
        };
    }
    Ok(rules)
}
