//! `sql_mode` as stored by servers in files: a bit for each mode (`sql_mode_names`,
//! sql/sys_vars.cc, MariaDB 10.11 and MySQL 5.7; bits from 32 on are used by MariaDB only).

use super::Family;

/// The modes by their bits.
const NAMES: [&str; 35] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "IGNORE_BAD_TABLE_OPTIONS",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "POSTGRESQL",
    "ORACLE",
    "MSSQL",
    "DB2",
    "MAXDB",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    "MYSQL323",
    "MYSQL40",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NO_AUTO_CREATE_USER",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "EMPTY_STRING_IS_NULL",
    "SIMULTANEOUS_ASSIGNMENT",
    "TIME_ROUND_FRACTIONAL",
];

/// Returns the names of the modes whose bits are set, separated by commas; `None` when a bit has no
/// meaning.
pub fn names(bits: u64, family: Family) -> Option<String> {
    let mut names = Vec::new();
    for bit in (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1) {
        match (bit, family) {
            // MySQL has no name for it (`NOT_USED`).
            (4, Family::MySql) => {}
            (32.., Family::MySql) => return None,
            (bit, _) => names.push(*NAMES.get(usize::try_from(bit).ok()?)?),
        }
    }
    Some(names.join(","))
}

/// Converts the modes from the names in the servers' own tables to those that sessions accept.
pub fn of_set(members: &str) -> String {
    let members = members.split(',').filter(|member| !matches!(*member, "" | "NOT_USED"));
    let members = members.map(|member| match member {
        "INVALID_DATES" => "ALLOW_INVALID_DATES",
        member => member,
    });
    members.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_by_their_names() {
        // As in a trigger's file of MariaDB 10.11, and in its SHOW CREATE TRIGGER.
        let oracle = "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ORACLE,NO_KEY_OPTIONS,\
                      NO_TABLE_OPTIONS,NO_FIELD_OPTIONS,NO_AUTO_CREATE_USER,\
                      SIMULTANEOUS_ASSIGNMENT";
        assert_eq!(names(8_858_427_918, Family::MariaDb).as_deref(), Some(oracle));
        assert_eq!(names(8_858_427_918, Family::MySql), None);
        assert_eq!(names(1 << 35, Family::MariaDb), None);
        assert_eq!(names(0, Family::MySql).as_deref(), Some(""));
        assert_eq!(of_set("ANSI_QUOTES,NOT_USED,INVALID_DATES"), "ANSI_QUOTES,ALLOW_INVALID_DATES");
    }
}
