//! Privileges as bits and as words.

use innoscan_format::schema::{Family, ServerVersion};

/// The privileges in the order of their bits and of `SHOW GRANTS` (`command_array`, sql/sql_acl.cc,
/// MySQL 5.7 and MariaDB 10.11; privilege.h of the latter).
const WORDS: [&str; 40] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "RELOAD",
    "SHUTDOWN",
    "PROCESS",
    "FILE",
    "GRANT",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "SHOW DATABASES",
    "SUPER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "REPLICATION SLAVE",
    "REPLICATION CLIENT",
    "CREATE VIEW",
    "SHOW VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "CREATE USER",
    "EVENT",
    "TRIGGER",
    "CREATE TABLESPACE",
    "DELETE HISTORY",
    "SET USER",
    "FEDERATED ADMIN",
    "CONNECTION ADMIN",
    "READ_ONLY ADMIN",
    "REPLICATION SLAVE ADMIN",
    "REPLICATION MASTER ADMIN",
    "BINLOG ADMIN",
    "BINLOG REPLAY",
    "SLAVE MONITOR",
    "SHOW CREATE ROUTINE",
];

/// The columns of `mysql.user` and `mysql.db` in lower case, without `_priv`, by their bits.
const COLUMNS: [&str; 40] = [
    "select",
    "insert",
    "update",
    "delete",
    "create",
    "drop",
    "reload",
    "shutdown",
    "process",
    "file",
    "grant",
    "references",
    "index",
    "alter",
    "show_db",
    "super",
    "create_tmp_table",
    "lock_tables",
    "execute",
    "repl_slave",
    "repl_client",
    "create_view",
    "show_view",
    "create_routine",
    "alter_routine",
    "create_user",
    "event",
    "trigger",
    "create_tablespace",
    "delete_history",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "show_create_routine",
];

pub(super) const SUPER: u64 = 1 << 15;
pub(super) const GRANT: u64 = 1 << 10;
pub(super) const REPL_SLAVE: u64 = 1 << 19;
pub(super) const REPL_CLIENT: u64 = 1 << 20;
pub(super) const REPL_SLAVE_ADMIN: u64 = 1 << 34;
pub(super) const REPL_MASTER_ADMIN: u64 = 1 << 35;
pub(super) const SLAVE_MONITOR: u64 = 1 << 38;
/// Privileges that MariaDB 10.5.2 split from `SUPER`.
pub(super) const SPLIT_FROM_SUPER: u64 = 0xf << 30 | 1 << 34 | 0b11 << 36;

/// Privileges on a table, except GRANT OPTION.
const ON_TABLE: u64 = 0b11_1111 | 1 << 11 | 1 << 12 | 1 << 13 | 0b11 << 21 | 1 << 27;
/// Privileges on a database, except GRANT OPTION.
const ON_DATABASE: u64 = ON_TABLE | 0b111 << 16 | 0b11 << 23 | 1 << 26;
const DELETE_HISTORY: u64 = 1 << 29;
const SHOW_CREATE_ROUTINE: u64 = 1 << 39;

/// All privileges of a server on `*.*`, including GRANT OPTION.
pub(super) fn all_global(server: ServerVersion) -> u64 {
    let count = match (server.family, server.number) {
        (Family::MySql, _) => 29,
        (_, ..100_304) => 29,
        (_, ..100_502) => 30,
        (_, ..100_508) => 38,
        (_, ..110_300) => 39,
        _ => 40,
    };
    (1 << count) - 1
}

/// All privileges on a database, except GRANT OPTION.
pub(super) fn all_on_database(server: ServerVersion) -> u64 {
    (ON_DATABASE | DELETE_HISTORY | SHOW_CREATE_ROUTINE) & all_global(server)
}

/// All privileges on a table, except GRANT OPTION.
pub(super) fn all_on_table(server: ServerVersion) -> u64 {
    (ON_TABLE | DELETE_HISTORY) & all_global(server)
}

/// The bit of a column of `mysql.user` or `mysql.db`; 0 for an unknown one.
pub(super) fn of_column(column: &str) -> u64 {
    let column = column.to_ascii_lowercase();
    let name = column.strip_suffix("_priv").unwrap_or(&column);
    let name = if name == "delete_versioning_rows" { "delete_history" } else { name };
    bit(COLUMNS.iter().position(|known| !known.is_empty() && *known == name))
}

/// The bits of a set in `mysql.tables_priv` and similar tables: `Select,Create View`; `None` where
/// a member is unknown.
pub(super) fn of_set(members: &str) -> Option<u64> {
    let members = members.split(',').filter(|member| !member.is_empty());
    let known = members.map(|member| match &*member.to_ascii_uppercase() {
        "DELETE VERSIONING ROWS" => Some(DELETE_HISTORY),
        member => Some(bit(WORDS.iter().position(|word| *word == member))).filter(|bit| *bit != 0),
    });
    known.collect::<Option<Vec<u64>>>().map(|bits| bits.into_iter().fold(0, |all, bit| all | bit))
}

fn bit(place: Option<usize>) -> u64 {
    place.map_or(0, |place| 1 << place)
}

/// The single privileges of a set, as words in the order in which a server lists them.
pub(super) fn words(
    access: u64,
    server: ServerVersion,
) -> impl Iterator<Item = (u64, &'static str)> {
    let renames = server.family == Family::MariaDb && server.number >= 100_502;
    let words = WORDS.iter().enumerate().map(move |(place, &word)| match word {
        "REPLICATION CLIENT" if renames => (1 << place, "BINLOG MONITOR"),
        word => (1 << place, word),
    });
    words.filter(move |&(bit, _)| access & bit != 0 && bit != GRANT)
}

/// The privileges between `GRANT` and `ON`.
pub(super) fn listed(access: u64, all: u64, server: ServerVersion) -> String {
    let all = all & !GRANT;
    match access & !GRANT {
        0 => "USAGE".to_owned(),
        rights if rights & all == all => "ALL PRIVILEGES".to_owned(),
        rights => words(rights, server).map(|(_, word)| word).collect::<Vec<_>>().join(", "),
    }
}
