//! Rows by any column: for random conditions `innoscan get -w` gives the rows the server selects,
//! and texts compare as the server compares them.

mod columns;

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_format::charset::{CollationId, Collator};
use innoscan_format::schema::Family;
use innoscan_io::engine::memory::splitmix64;
use innoscan_testkit::server::{Server, install};
use serde_json::Value;

use self::columns::{COLUMNS, Chance, Column, word};
use crate::parity::command;

const ROWS: usize = 400;
const CONDITIONS: usize = 1000;

/// A comparison of a column.
fn comparison(column: &Column, chance: &mut Chance) -> String {
    let name = column.name;
    let not = ["", "NOT "][chance.below(2)];
    let Some(literal) = column.literal else { return format!("{name} IS {not}NULL") };
    match chance.below(12) {
        0 => format!("{name} IS {not}NULL"),
        1 if !column.is_only_equal => {
            let literal = column.equal.unwrap_or(literal);
            format!("{name} {not}BETWEEN {} AND {}", literal(chance), literal(chance))
        }
        2 => {
            let literal = column.equal.unwrap_or(literal);
            let values: Vec<String> = (0..=chance.below(4)).map(|_| literal(chance)).collect();
            format!("`{name}` {not}IN ({})", values.join(", "))
        }
        3 if chance.below(5) == 0 => format!("{name} {} NULL", ["=", "<>", "<=>"][chance.below(3)]),
        4 if column.is_integer => {
            let operator = ["<", "<=", ">", ">="][chance.below(4)];
            format!("{name} {operator} {}", ["5.5", "-3.5", "0.5"][chance.below(3)])
        }
        5..8 if !column.is_only_equal => {
            format!("{name}{}{}", ["<", "<=", ">", ">="][chance.below(4)], literal(chance))
        }
        _ => {
            let literal = column.equal.unwrap_or(literal);
            format!("{name}{}{}", ["=", "=", "<>", "!=", "<=>"][chance.below(5)], literal(chance))
        }
    }
}

/// Where rows are, and a condition on them.
type Asked = (String, String);

/// Random conditions: on the table of all columns, and on those whose key one column begins.
fn conditions(columns: &[&Column], chance: &mut Chance) -> Vec<Asked> {
    let keyed: Vec<&Column> = columns.iter().copied().filter(|column| column.is_key()).collect();
    let mut asked = Vec::with_capacity(CONDITIONS);
    for nth in 0..CONDITIONS {
        let mut all = Vec::new();
        let table = if nth % 3 == 0 {
            let column = keyed[chance.below(keyed.len())];
            all.push(comparison(column, chance));
            if chance.below(2) == 0 {
                all.push(format!("m {} {}", ["=", "<", ">="][chance.below(3)], chance.below(4)));
            }
            format!("k_{}", column.name)
        } else {
            // One of each column: IS NULL of a date means something else beside another.
            let mut wanted = BTreeMap::new();
            for _ in 0..1 + chance.below(3) {
                let column = columns[chance.below(columns.len())];
                wanted.insert(column.name, comparison(column, chance));
            }
            all.extend(wanted.into_values());
            "every".to_owned()
        };
        if chance.below(2) == 0 {
            all.reverse();
        }
        asked.push((table, all.join(" AND ")));
    }
    asked
}

fn fill(server: &Server, columns: &[&Column], chance: &mut Chance) {
    let definition = |column: &&Column| {
        let null = if column.is_nullable { "NULL" } else { "NOT NULL" };
        format!(", {} {} {null}", column.name, column.ty)
    };
    let all: String = columns.iter().map(definition).collect();
    let mut sql = format!("CREATE TABLE w.every (n INT NOT NULL PRIMARY KEY{all});\n");
    for n in 0..ROWS {
        let values =
            columns.iter().map(|column| match column.is_nullable && chance.below(9) == 0 {
                true => "NULL".to_owned(),
                false => (column.value)(chance),
            });
        let values: Vec<String> = values.collect();
        sql += &format!("INSERT INTO w.every VALUES ({n}, {});\n", values.join(", "));
    }
    for column in columns.iter().filter(|column| column.is_key()) {
        let Column { name, ty, .. } = column;
        sql += &format!(
            "CREATE TABLE w.k_{name} ({name} {ty} NOT NULL, m INT NOT NULL, n INT NOT NULL, \
             pad CHAR(150), PRIMARY KEY ({name}, m));\nINSERT IGNORE INTO w.k_{name} VALUES "
        );
        let row = |n| format!("({}, {}, {n}, 'x')", (column.value)(chance), chance.below(4));
        sql += &((0..ROWS).map(row).collect::<Vec<_>>().join(", ") + ";\n");
    }
    server.sql(sql).unwrap();
}

/// The `n` of the rows `get` prints, in order.
fn get(file: &Path, condition: &str) -> Vec<i64> {
    let output = command()
        .args(["get", file.to_str().unwrap(), "--format", "ndjson", "--memory", "1M"])
        .args(["--threads", "1", "-w", condition])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} -w \"{condition}\": {said}", file.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["n"].as_i64().unwrap();
    let mut rows: Vec<i64> = text.lines().map(row).collect();
    rows.sort_unstable();
    rows
}

fn agree(version: &str) {
    install(version).unwrap();
    let mut server = Server::start(version, &["--innodb-page-size=16k", "--sql-mode="]).unwrap();
    server.sql("CREATE DATABASE w CHARACTER SET utf8mb4;").unwrap();
    let mut chance = Chance(7);
    let is_known =
        |column: &&Column| column.servers.split(',').any(|known| version.starts_with(known));
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_known).collect();
    fill(&server, &columns, &mut chance);
    let asked = conditions(&columns, &mut chance);
    let select = |(table, condition): &Asked| {
        format!("SELECT '-'; SELECT n FROM w.{table} WHERE {condition} ORDER BY n;\n")
    };
    let answers = server.sql(asked.iter().map(select).collect::<String>()).unwrap();
    let answers = String::from_utf8(answers).unwrap();
    let answers: Vec<Vec<i64>> = answers
        .split("-\n")
        .skip(1)
        .map(|rows| rows.lines().map(|row| row.parse().unwrap()).collect())
        .collect();
    assert_eq!(answers.len(), asked.len());
    texts_compare_as_on(&server, version, &mut chance);
    server.stop().unwrap();
    let mut found = 0;
    for ((table, condition), rows) in asked.iter().zip(&answers) {
        let file = server.data().join("w").join(format!("{table}.ibd"));
        assert_eq!(get(&file, condition), *rows, "{version} {table} -w \"{condition}\"");
        found += rows.len();
    }
    assert!(found > 10 * CONDITIONS, "{version}: {found} rows in all");
}

/// Collations of charset utf8mb4 that are compared, and the servers that have them.
const COLLATIONS: [(&str, &str); 7] = [
    ("utf8mb4_general_ci", "m"),
    ("utf8mb4_unicode_ci", "m"),
    ("utf8mb4_unicode_520_ci", "m"),
    ("utf8mb4_0900_ai_ci", "mysql-8.0.33,mysql-9"),
    ("utf8mb4_unicode_nopad_ci", "mariadb-1"),
    ("utf8mb4_uca1400_ai_ci", "mariadb-10.11,mariadb-11"),
    ("utf8mb4_uca1400_nopad_ai_ci", "mariadb-10.11,mariadb-11"),
];

/// Texts of few characters, compared with each other in every collation.
fn texts_compare_as_on(server: &Server, version: &str, chance: &mut Chance) {
    let family = if version.starts_with("mysql") { Family::MySql } else { Family::MariaDb };
    for (collation, servers) in COLLATIONS {
        if !servers.split(',').any(|known| version.starts_with(known)) {
            continue;
        }
        let id = CollationId::by_name(collation, family).unwrap();
        let collator = Collator::of(id).unwrap();
        let key = |text: &str| {
            let mut key = Vec::new();
            collator.append_sort_key(text.as_bytes(), &mut key).unwrap();
            key
        };
        let pairs: Vec<(String, String)> = (0..3000).map(|_| pair(chance)).collect();
        let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let ask = |(a, b): &(String, String)| {
            format!(
                "SELECT STRCMP(CONVERT(X'{}' USING utf8mb4) COLLATE {collation}, \
                 CONVERT(X'{}' USING utf8mb4));\n",
                hex(a),
                hex(b)
            )
        };
        let answer = server.sql(pairs.iter().map(ask).collect::<String>()).unwrap();
        for ((a, b), said) in pairs.iter().zip(String::from_utf8(answer).unwrap().lines()) {
            let order = (key(a).cmp(&key(b)) as i8).to_string();
            assert_eq!(order, said, "{version} {collation}: {a:?} {b:?}");
        }
    }
}

/// Two texts that begin alike more often than not.
fn pair(chance: &mut Chance) -> (String, String) {
    let (head, mut a, mut b) = (word(chance), word(chance), word(chance));
    for text in [&mut a, &mut b] {
        let code = match chance.below(3) {
            0 => splitmix64(&mut chance.0) % 0x3000,
            1 => splitmix64(&mut chance.0) % 0x1_0000,
            _ => splitmix64(&mut chance.0) % 0x11_0000,
        };
        text.extend(char::from_u32(code as u32));
    }
    (format!("{head}{a}"), format!("{head}{b}"))
}

#[test]
fn debians_mariadb_selects_the_same_rows() {
    agree("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn every_server_selects_the_same_rows() {
    for version in ["mysql-5.7.22", "mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        agree(version);
    }
}
