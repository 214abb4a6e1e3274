//! Accounts in MySQL up to 5.7 and MariaDB up to 10.3: columns of `mysql.user`
//! (`User_table_tabular`, sql/sql_acl.cc, MariaDB 10.11; `acl_load`, sql/auth/sql_auth_cache.cc,
//! MySQL 5.7).

use innoscan_format::schema::{Family, ServerVersion};

use super::super::rows::SystemRow;
use super::account::{Account, Authentication, Tls};
use super::privileges;

/// The account of a row.
pub(super) fn account(row: SystemRow<'_>, server: ServerVersion) -> Account {
    let access = row
        .privileges()
        .filter(|(_, is_set)| *is_set)
        .fold(0, |access, (column, _)| access | privileges::of_column(column));
    let tls = match &*row.text("ssl_type") {
        "ANY" => Tls::Any,
        "X509" => Tls::X509,
        "SPECIFIED" => Tls::Specified {
            cipher: row.text("ssl_cipher"),
            issuer: row.text("x509_issuer"),
            subject: row.text("x509_subject"),
        },
        _ => Tls::None,
    };
    let limits = ["max_questions", "max_updates", "max_connections", "max_user_connections"];
    let limits = limits.map(|column| row.text(column).parse().unwrap_or(0));
    let lifetime = row.bytes("password_lifetime").map(|_| row.number("password_lifetime"));
    Account {
        user: row.text("User"),
        host: row.text("Host"),
        is_role: server.family == Family::MariaDb && row.is_yes("is_role"),
        unreadable: None,
        access,
        authentication: vec![authentication(row)],
        tls,
        limits,
        max_statement_time: row.text("max_statement_time").parse().unwrap_or(0.0),
        is_locked: row.is_yes("account_locked"),
        is_expired: row.is_yes("password_expired"),
        password_lifetime: lifetime,
        default_role: row.text("default_role"),
    }
}

/// The plugin and its text; for the servers' own plugins also the hash that old servers keep in
/// `Password`.
fn authentication(row: SystemRow<'_>) -> Authentication {
    let plugin = row.text("plugin");
    let (string, password) = (row.text("authentication_string"), row.text("Password"));
    let has_password = matches!(&*plugin, "" | "mysql_native_password" | "mysql_old_password");
    let string = if string.is_empty() && has_password { password } else { string };
    Authentication { plugin, string }
}
