//! A connection to a server, and queries.

use innoscan_catalog::catalog::TableName;
use innoscan_engine::{Error, Result};
use innoscan_format::schema::{Family, ServerVersion, quoted_name};
use mysql::prelude::Queryable;
use mysql::{DriverError, Value};

use crate::account::{Account, Tls};

/// A row in the text protocol; `None` is NULL.
pub type TextRow = Vec<Option<Vec<u8>>>;

/// A connection to a server, with session settings that make results independent of the server's
/// configuration.
pub struct Session {
    conn: mysql::Conn,
    version: ServerVersion,
    version_text: String,
    place: String,
}

/// Session settings: names in UTF-8 and in backticks, times in UTC, no row limit. The statement timeout
/// is set when the server's version is known.
const SETTINGS: [&str; 7] = [
    "SET NAMES utf8mb4",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION sql_mode = ''",
    "SET SESSION sql_quote_show_create = 1",
    "SET SESSION wait_timeout = 86400",
    "SET SESSION net_write_timeout = 86400",
    "SET SESSION sql_select_limit = 18446744073709551615",
];

impl Session {
    /// Opens a connection.
    ///
    /// # Errors
    /// The error of the connection or of the server.
    pub fn connect(account: &Account) -> Result<Session> {
        let place = account.place();
        let failed = |error| at_server("connecting", &place, &error);
        let tls = account.tls;
        let conn = match mysql::Conn::new(account.to_opts(tls)?) {
            Err(mysql::Error::DriverError(DriverError::TlsNotSupported))
                if tls == Tls::Preferred =>
            {
                mysql::Conn::new(account.to_opts(Tls::Disabled)?)
            }
            conn => conn,
        };
        let conn = conn.map_err(failed)?;
        let version = ServerVersion { family: Family::MySql, number: 0 };
        let mut session = Session { conn, version, version_text: String::new(), place };
        for setting in SETTINGS {
            session.run(setting)?;
        }
        session.version_text = session.text("SELECT VERSION()")?.unwrap_or_default();
        session.version = version_of(&session.version_text);
        match session.version {
            ServerVersion { family: Family::MariaDb, number: 100_101.. } => {
                session.run("SET SESSION max_statement_time = 0")?;
            }
            ServerVersion { family: Family::MySql, number: 50_708.. } => {
                session.run("SET SESSION max_execution_time = 0")?;
            }
            _ => {}
        }
        Ok(session)
    }

    /// The server's version.
    pub fn version(&self) -> ServerVersion {
        self.version
    }

    /// The version as the server prints it.
    pub fn version_text(&self) -> &str {
        &self.version_text
    }

    /// Whether the server is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.version.family == Family::MariaDb
    }

    /// The connection id, as `KILL` takes it.
    pub fn id(&self) -> u32 {
        self.conn.connection_id()
    }

    /// Runs a statement without a result.
    ///
    /// # Errors
    /// The server's error, with the start of the statement.
    pub fn run(&mut self, sql: &str) -> Result<()> {
        self.try_run(sql).map_err(|error| self.failed(sql, &error))
    }

    /// Runs a statement without a result, and returns the driver's error.
    pub(crate) fn try_run(&mut self, sql: &str) -> mysql::Result<()> {
        self.conn.query_drop(sql)
    }

    pub(crate) fn failed(&self, sql: &str, error: &mysql::Error) -> Error {
        let shown: String = sql.chars().take(80).collect();
        at_server(&shown, &self.place, error)
    }

    /// All rows of a result.
    ///
    /// # Errors
    /// The server's error, with the start of the statement.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>> {
        let mut rows = Vec::new();
        self.for_each_row(sql, |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Calls `take` for each row of a result as it arrives.
    ///
    /// # Errors
    /// The server's error, with the start of the statement; the error of `take`.
    pub fn for_each_row(
        &mut self,
        sql: &str,
        mut take: impl FnMut(TextRow) -> Result<()>,
    ) -> Result<()> {
        let place = self.place.clone();
        let failed = |error| {
            let shown: String = sql.chars().take(80).collect();
            at_server(&shown, &place, &error)
        };
        let answer = self.conn.query_iter(sql).map_err(failed)?;
        for row in answer {
            let cells = row.map_err(failed)?.unwrap();
            take(cells.into_iter().map(bytes_of).collect())?;
        }
        Ok(())
    }

    /// The first column of the first row of a result, as text.
    ///
    /// # Errors
    /// As [`Session::rows`].
    pub fn text(&mut self, sql: &str) -> Result<Option<String>> {
        let first = self.rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next());
        Ok(first.flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The first row of a result, which must have one.
    pub(crate) fn first_row(&mut self, sql: &str) -> Result<TextRow> {
        let row = self.rows(sql)?.into_iter().next();
        row.ok_or_else(|| Error::server(sql, "the server returned no row"))
    }

    /// The row of `SHOW CREATE` for an object: its kind, as the statement has it, and its quoted name.
    pub(crate) fn show_create(&mut self, kind: &str, name: &str) -> Result<TextRow> {
        self.first_row(&format!("SHOW CREATE {kind} {name}"))
    }

    /// The `CREATE TABLE` statement of a table.
    pub(crate) fn create_table(&mut self, name: &TableName) -> Result<String> {
        Ok(cell(&self.show_create("TABLE", &qualified(&name.schema, &name.table))?, 1))
    }

    /// Sets the isolation level that a consistent snapshot needs.
    pub(crate) fn set_repeatable_read(&mut self) -> Result<()> {
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    }

    /// Starts a transaction that reads the rows as they are now, after
    /// [`Session::set_repeatable_read`].
    pub(crate) fn start_snapshot(&mut self) -> Result<()> {
        self.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    }
}

fn bytes_of(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(bytes),
        // The text protocol has no other values.
        other => Some(other.as_sql(true).into_bytes()),
    }
}

/// A cell as text; empty if NULL or missing.
pub fn cell(row: &TextRow, nth: usize) -> String {
    let bytes = row.get(nth).and_then(|cell| cell.as_deref()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// The quoted name of a table or another object of a database: `` `database`.`name` ``.
pub(crate) fn qualified(database: &str, name: &str) -> String {
    format!("{}.{}", quoted_name(database), quoted_name(name))
}

/// A quoted string literal, for a session without `NO_BACKSLASH_ESCAPES`.
pub fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn at_server(doing: &str, place: &str, error: &mysql::Error) -> Error {
    let said = match error {
        // The `Display` of the whole error prints the names of its variants.
        mysql::Error::MySqlError(error) => error.to_string(),
        mysql::Error::DriverError(error) => error.to_string(),
        mysql::Error::IoError(error) => error.to_string(),
        mysql::Error::CodecError(error) => error.to_string(),
        mysql::Error::UrlError(error) => error.to_string(),
        error => error.to_string(),
    };
    Error::server(format!("{doing} at {place}"), said)
}

/// `10.11.19-MariaDB-0+deb12u1`, `5.5.5-10.1.13-MariaDB`, `8.0.33`.
fn version_of(text: &str) -> ServerVersion {
    let family = match text.contains("MariaDB") {
        true => Family::MariaDb,
        false => Family::MySql,
    };
    let text = text.strip_prefix("5.5.5-").filter(|_| family == Family::MariaDb).unwrap_or(text);
    let mut numbers =
        text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0u32).min(999);
    let number = next() * 10_000 + next() * 100 + next();
    ServerVersion { family, number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_print_them() {
        for (text, family, number) in [
            ("10.11.19-MariaDB-0+deb12u1", Family::MariaDb, 101_119),
            ("5.5.5-10.1.13-MariaDB", Family::MariaDb, 100_113),
            ("8.0.33", Family::MySql, 80_033),
            ("9.7.4-1debian", Family::MySql, 90_704),
            ("5.7.22-log", Family::MySql, 50_722),
        ] {
            assert_eq!(version_of(text), ServerVersion { family, number }, "{text}");
        }
    }
}
