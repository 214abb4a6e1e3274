//! Accounts in MariaDB 10.4 and later: a JSON object in `mysql.global_priv`
//! (`User_table_json`, sql/sql_acl.cc, MariaDB 10.11).

use innoscan_format::schema::ServerVersion;
use serde_json::Value;

use super::super::rows::SystemRow;
use super::account::{Account, Authentication, Tls};
use super::privileges::{
    self, REPL_CLIENT, REPL_MASTER_ADMIN, REPL_SLAVE, REPL_SLAVE_ADMIN, SLAVE_MONITOR,
    SPLIT_FROM_SUPER, SUPER,
};

/// The account of a row.
pub(super) fn account(row: SystemRow<'_>, server: ServerVersion) -> Account {
    let account = Account { user: row.text("User"), host: row.text("Host"), ..Account::default() };
    match serde_json::from_slice::<Value>(row.bytes("Priv").unwrap_or_default()) {
        Ok(Value::Object(json)) => read(account, &Json(json), server),
        _ => {
            let why = "its value in mysql.global_priv is not a JSON object".to_owned();
            // A role has no host, whatever its JSON says.
            let is_role = account.host.is_empty();
            Account { unreadable: Some(why), is_role, ..account }
        }
    }
}

/// Values by their keys, with the server's defaults for missing ones.
struct Json(serde_json::Map<String, Value>);

impl Json {
    fn text(&self, key: &str) -> String {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.0.get(key).and_then(Value::as_i64)
    }

    fn is_true(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }
}

fn read(account: Account, json: &Json, server: ServerVersion) -> Account {
    let access = match json.0.get("access") {
        None => 0,
        // Some versions write the number with a sign.
        Some(value) => value.as_u64().or(value.as_i64().map(i64::cast_unsigned)).unwrap_or(0),
    };
    let limits = ["max_questions", "max_updates", "max_connections", "max_user_connections"];
    let seconds = json.0.get("max_statement_time").and_then(Value::as_f64);
    let tls = match json.number("ssl_type") {
        Some(1) => Tls::Any,
        Some(2) => Tls::X509,
        Some(3) => Tls::Specified {
            cipher: json.text("ssl_cipher"),
            issuer: json.text("x509_issuer"),
            subject: json.text("x509_subject"),
        },
        _ => Tls::None,
    };
    Account {
        is_role: json.is_true("is_role"),
        access: access_of(access, json.number("version_id").unwrap_or(0), server),
        authentication: authentication(json),
        tls,
        limits: limits.map(|key| json.number(key).unwrap_or(0)),
        max_statement_time: seconds.unwrap_or(0.0),
        is_locked: json.is_true("account_locked"),
        is_expired: json.number("password_last_changed") == Some(0),
        password_lifetime: json.number("password_lifetime").and_then(|days| days.try_into().ok()),
        default_role: json.text("default_role"),
        ..account
    }
}

/// The privileges written by an older server, with those that were split from them later
/// (`adjust_access`, sql/sql_acl.cc, MariaDB 10.11).
fn access_of(access: u64, version_id: i64, server: ServerVersion) -> u64 {
    let all = privileges::all_global(server);
    if access == u64::MAX || server.number < 100_502 {
        return access & all;
    }
    let mut adjusted = access;
    match version_id {
        100_509.. => {}
        100_502.. if access & REPL_SLAVE_ADMIN != 0 => adjusted |= SLAVE_MONITOR,
        100_502.. => {}
        _ => {
            if access & SUPER != 0 {
                adjusted |= SPLIT_FROM_SUPER;
                if access & REPL_SLAVE != 0 {
                    adjusted |= REPL_MASTER_ADMIN;
                }
            }
            if access & (REPL_CLIENT | REPL_SLAVE) != 0 {
                adjusted |= SLAVE_MONITOR;
            }
        }
    }
    adjusted & all
}

/// The methods of authentication in `auth_or`; an empty object there stands for the account's own
/// method.
fn authentication(json: &Json) -> Vec<Authentication> {
    let own =
        Authentication { plugin: json.text("plugin"), string: json.text("authentication_string") };
    let Some(Value::Array(ways)) = json.0.get("auth_or") else { return vec![own] };
    let text = |way: &Value, key: &str| way.get(key).and_then(Value::as_str).map(str::to_owned);
    let ways = ways.iter().map(|way| match text(way, "plugin") {
        None => own.clone(),
        Some(plugin) => Authentication {
            plugin,
            string: text(way, "authentication_string").unwrap_or_default(),
        },
    });
    ways.collect()
}

#[cfg(test)]
mod tests {
    use innoscan_format::schema::Family;

    use super::*;

    #[test]
    fn privileges_of_older_servers_keep_what_was_one_with_them() {
        let server = ServerVersion { family: Family::MariaDb, number: 101_119 };
        let all = privileges::all_global(server);
        assert_eq!(access_of(u64::MAX, 0, server), all);
        // All privileges of MariaDB 10.4.
        assert_eq!(access_of((1 << 30) - 1, 100_432, server), all);
        assert_eq!(access_of(SUPER, 100_432, server), SUPER | SPLIT_FROM_SUPER);
        assert_eq!(access_of(SUPER, 101_119, server), SUPER);
        assert_eq!(access_of(REPL_CLIENT, 0, server), REPL_CLIENT | SLAVE_MONITOR);
        assert_eq!(access_of(REPL_SLAVE_ADMIN, 100_505, server), REPL_SLAVE_ADMIN | SLAVE_MONITOR);
        let old = ServerVersion { family: Family::MariaDb, number: 100_432 };
        assert_eq!(access_of(SUPER, 100_432, old), SUPER);
    }
}
