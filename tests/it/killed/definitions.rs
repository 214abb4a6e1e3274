//! Servers that are killed while they define tables: which tables there are, their definitions and rows are
//! those that the server has after its recovery.

use std::collections::BTreeSet;
use std::path::Path;

use super::load::{Plan, Random};
use super::rows::{checksum, compare_tables};
use super::{CHANGES_OF_ROWS, Load, mysql_version, version};
use crate::parity::command;

/// Tables of each client.
const TABLES: u64 = 3;

/// The statements of one client: almost each defines a table.
pub fn script(plan: Plan, client: u64) -> String {
    let mut random = Random::new(plan.seed * 307 + client);
    let mut sql = String::from("USE d;\nSET SESSION innodb_lock_wait_timeout=1;\n");
    let mut statements: Vec<String> = (0..TABLES).map(|nth| create(&table(client, nth))).collect();
    statements.push(format!(
        "CREATE TABLE p{client} (id INT PRIMARY KEY, k INT, v VARCHAR(40)) ENGINE=InnoDB PARTITION BY HASH (id) \
         PARTITIONS 3; INSERT INTO p{client} SELECT n, n, 'p' FROM digits;"
    ));
    for nth in 0..3000 {
        statements.push(match random.below(20) {
            0..2 => insert(&mut random, client, nth),
            2 => partitioned(&mut random, client, nth),
            3 => recreate(&mut random, client),
            _ => alter(&mut random, client, nth),
        });
    }
    sql.push_str(&statements.join("\n"));
    sql
}

fn create(table: &str) -> String {
    format!(
        "CREATE TABLE `{table}` (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(40), w VARCHAR(90) DEFAULT 'w') \
         ENGINE=InnoDB; INSERT INTO `{table}` (k, v) SELECT n, REPEAT('v', n) FROM digits;"
    )
}

/// The name of a table, of which one has a file of another name.
fn table(client: u64, nth: u64) -> String {
    format!("t{client}{}{nth}", if nth == 2 { "-" } else { "_" })
}

fn name(random: &mut Random, client: u64) -> String {
    table(client, random.below(TABLES))
}

fn insert(random: &mut Random, client: u64, nth: u64) -> String {
    format!("INSERT INTO `{}` (k) SELECT n + {nth} FROM digits;", name(random, client))
}

fn recreate(random: &mut Random, client: u64) -> String {
    let table = name(random, client);
    match random.below(3) {
        0 => format!("TRUNCATE TABLE `{table}`;"),
        1 => {
            format!("RENAME TABLE `{table}` TO `{table}_r`; RENAME TABLE `{table}_r` TO `{table}`;")
        }
        _ => format!("DROP TABLE `{table}`; {}", create(&table)),
    }
}

fn partitioned(random: &mut Random, client: u64, nth: u64) -> String {
    let change = match random.below(5) {
        0 => "ADD PARTITION PARTITIONS 1".to_owned(),
        1 => "COALESCE PARTITION 1".to_owned(),
        2 => format!("ADD COLUMN x{nth} INT DEFAULT {nth}"),
        3 => format!("ADD KEY k{nth} (k)"),
        _ => "TRUNCATE PARTITION p0".to_owned(),
    };
    format!("ALTER TABLE p{client} {change};")
}

/// A change of a table in place, or by a copy. Some fail, since the column or key is not there.
fn alter(random: &mut Random, client: u64, nth: u64) -> String {
    let table = name(random, client);
    let other = random.below(8);
    let change = match random.below(18) {
        0 => format!("ADD KEY k{other} (k)"),
        1 => format!("ADD KEY k{other} (k, v)"),
        2 => format!("DROP KEY k{other}"),
        3 => format!("ADD COLUMN x{other} INT DEFAULT {nth}"),
        4 => format!("ADD COLUMN x{other} VARCHAR(20) DEFAULT 'x{nth}' FIRST"),
        5 => format!("DROP COLUMN x{other}"),
        6 => format!("RENAME COLUMN x{other} TO x{}", random.below(8)),
        7 => format!("RENAME INDEX k{other} TO k{}", random.below(8)),
        8 => format!("ALTER COLUMN k SET DEFAULT {nth}"),
        9 => format!("MODIFY v VARCHAR({})", 40 + nth % 200),
        10 => format!("MODIFY w VARCHAR(90) DEFAULT 'w{nth}'"),
        11 => "FORCE".to_owned(),
        12 => format!("COMMENT 'c{nth}'"),
        13 => "ROW_FORMAT=COMPACT".to_owned(),
        14 => "ROW_FORMAT=REDUNDANT".to_owned(),
        15 => format!("ADD COLUMN x{other} INT, ADD KEY k{other} (x{other}), ALGORITHM=COPY"),
        16 => format!("AUTO_INCREMENT={}", 1000 + nth),
        _ => "MODIFY k BIGINT, ALGORITHM=COPY".to_owned(),
    };
    format!("ALTER TABLE `{table}` {change};")
}

#[test]
fn definitions_are_what_the_server_recovers() {
    compare_definitions(&version());
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn definitions_are_what_mysql_recovers() {
    compare_definitions(&mysql_version());
}

/// The names of tables of a directory, as innoscan lists them.
fn listed(data: &Path) -> BTreeSet<String> {
    let output = command().arg("ls").arg(data).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names =
        text.lines().filter_map(|line| line.strip_prefix("table")?.split_whitespace().next());
    names.filter_map(|name| Some(name.strip_prefix("d.")?.to_owned())).collect()
}

fn compare_definitions(version: &str) {
    let load = Load { script, log_bytes: 2 << 20, ..CHANGES_OF_ROWS };
    compare_tables(version, 5000, load, |data, tables| {
        for table in listed(data).difference(tables) {
            if version.starts_with("mysql") {
                return Err(format!("the server has no table {table}"));
            }
            // What only the files of MariaDB have is refused.
            if let Ok(sum) = checksum(data, &format!("d.{table}")) {
                return Err(format!("{table} has the sum {sum}, and the server has no such table"));
            }
        }
        Ok(())
    });
}
