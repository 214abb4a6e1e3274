//! Detection of the server that wrote a text.

use crate::schema::{Family, ServerVersion};

/// The server assumed for text without indications.
const DEFAULT: ServerVersion = ServerVersion { family: Family::MySql, number: 80000 };
/// The version assumed for text of a MariaDB.
const DEFAULT_MARIADB: ServerVersion = ServerVersion { family: Family::MariaDb, number: 101_100 };
/// The version assumed for text of a MySQL before 8.0.
const OLD_MYSQL: ServerVersion = ServerVersion { family: Family::MySql, number: 50700 };

/// Guesses the server that wrote SQL text: from the `Server version` comment of mysqldump and
/// mariadb-dump, else from words that only one family prints, else MySQL 8.0.
pub fn server_of_text(sql: &str) -> ServerVersion {
    const HEADER_BYTES: usize = 4096;
    let header = sql.get(..HEADER_BYTES).unwrap_or(sql);
    if let Some((_, after)) = header.split_once("Server version") {
        let line = after.lines().next().unwrap_or("");
        if let Some(version) = from_version_text(line) {
            return version;
        }
    }
    let has = |words: &[&str]| words.iter().any(|word| sql.contains(word));
    if has(&["/*M!", "MariaDB", "current_timestamp()", "uca1400", "WITH SYSTEM VERSIONING"]) {
        DEFAULT_MARIADB
    } else if has(&["DEFAULT CHARSET=utf8 ", "DEFAULT CHARSET=utf8\n", "DEFAULT CHARSET=utf8;"])
        || sql.ends_with("DEFAULT CHARSET=utf8")
        || has(&[" int(", " bigint("])
    {
        OLD_MYSQL
    } else {
        DEFAULT
    }
}

/// Finds `8.0.33` or `10.11.6-MariaDB-log` anywhere in the line.
fn from_version_text(line: &str) -> Option<ServerVersion> {
    let text = line.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut parts = text.filter(|part| part.matches('.').count() == 2);
    let mut version = parts.next()?;
    // 5.5.5-10.11.6-MariaDB: the version that MariaDB sends to old clients.
    if version == "5.5.5" && line.contains("MariaDB") {
        version = parts.next()?;
    }
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
    let (major, minor, patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if major > 99 || minor > 99 || patch > 99 {
        return None;
    }
    let number = major * 10000 + minor * 100 + patch;
    let family =
        if line.contains("MariaDB") || major >= 10 { Family::MariaDb } else { Family::MySql };
    Some(ServerVersion { family, number })
}
