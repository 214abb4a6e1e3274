//! Rows by primary key: for the same condition `innoscan get` gives the rows the server gives, in
//! its order, whatever the key is of.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use innoscan_io::engine::memory::splitmix64;
use innoscan_testkit::server::{Server, install};
use serde_json::Value;

use crate::parity::command;

/// A table whose key has one column `k`, or a second one `l`.
struct Keyed {
    name: &'static str,
    /// The columns and the key.
    columns: &'static str,
    /// How a value of `k` is made of a random number, in SQL.
    k: fn(u64) -> String,
    /// The same of `l`.
    l: Option<fn(u64) -> String>,
    /// Whether the server orders by value as the index does.
    is_ordered: bool,
    /// Which servers know the type.
    servers: &'static str,
}

const ANY: &str = "m";

impl Keyed {
    const fn of(name: &'static str, columns: &'static str, k: fn(u64) -> String) -> Keyed {
        Keyed { name, columns, k, l: None, is_ordered: true, servers: ANY }
    }

    const fn only_in(self, servers: &'static str) -> Keyed {
        Keyed { servers, ..self }
    }

    const fn unordered(self) -> Keyed {
        Keyed { is_ordered: false, ..self }
    }

    const fn and(self, l: fn(u64) -> String) -> Keyed {
        Keyed { l: Some(l), ..self }
    }
}

/// Words of few letters and lengths, with spaces and control characters, in quotes.
fn word(chance: u64) -> String {
    const LETTERS: [&str; 8] = ["a", "B", " ", "z", "é", "\t", "-", "A"];
    let letters = (0..chance % 9).map(|at| LETTERS[(chance >> (8 + 3 * at)) as usize % 8]);
    format!("'{}'", letters.collect::<String>())
}

/// The same without spaces at the end, which no `CHAR` has.
fn trimmed_word(chance: u64) -> String {
    format!("'{}'", word(chance).trim_matches('\'').trim_end_matches(' '))
}

fn hex(chance: u64) -> String {
    let digits = format!("{chance:016x}");
    format!("x'{}'", &digits[..2 * (chance as usize % 9)])
}

fn date_time(chance: u64) -> String {
    let (year, month, day) = (1971 + chance % 60, 1 + chance / 60 % 12, 1 + chance / 720 % 28);
    let (hour, minute) = (chance >> 40 & 15, chance >> 44 & 31);
    format!("'{year}-{month:02}-{day:02} {hour:02}:{minute:02}:01.{:06}'", chance >> 50 & 0xfff)
}

const TABLES: [Keyed; 30] = [
    Keyed::of("int_key", "k INT NOT NULL, PRIMARY KEY (k)", |n| (n as i32).to_string()),
    Keyed::of("tiny_key", "k TINYINT NOT NULL, PRIMARY KEY (k)", |n| (n as i8).to_string()),
    Keyed::of("big_key", "k BIGINT UNSIGNED NOT NULL, PRIMARY KEY (k)", |n| n.to_string()),
    Keyed::of("redundant", "k INT NOT NULL, PRIMARY KEY (k)", |n| (n as i16).to_string()),
    Keyed::of("decimals", "k DECIMAL(12,3) NOT NULL, PRIMARY KEY (k)", |n| {
        format!("{}.{:03}", n as i32 / 3, n >> 32 & 511)
    }),
    Keyed::of("dates", "k DATE NOT NULL, PRIMARY KEY (k)", |n| date_time(n)[..11].to_owned() + "'"),
    Keyed::of("date_times", "k DATETIME(6) NOT NULL, PRIMARY KEY (k)", date_time),
    Keyed::of("stamps", "k TIMESTAMP(6) NOT NULL, PRIMARY KEY (k)", |n| date_time(n % (50 * 720))),
    Keyed::of("times", "k TIME(3) NOT NULL, PRIMARY KEY (k)", |n| {
        let sign = if n & 1 == 0 { "-" } else { "" };
        format!("'{sign}{}:{:02}:03.{:03}'", n >> 8 & 511, n >> 20 & 31, n >> 30 & 511)
    }),
    Keyed::of("years", "k YEAR NOT NULL, PRIMARY KEY (k)", |n| (1901 + n % 255).to_string()),
    Keyed::of("bits", "k BIT(20) NOT NULL, PRIMARY KEY (k)", |n| (n & 0xf_ffff).to_string()),
    Keyed::of("doubles", "k DOUBLE NOT NULL, PRIMARY KEY (k)", |n| {
        format!("{}e{}", n as i32, (n >> 32) as i8)
    }),
    Keyed::of("enums", "k ENUM('z','é','a') NOT NULL, l INT NOT NULL, PRIMARY KEY (k, l)", |n| {
        ["'z'", "'é'", "'a'"][n as usize % 3].to_owned()
    })
    .and(|n| (n as i16).to_string())
    .unordered(),
    Keyed::of(
        "latin1_words",
        "k VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "utf8_words",
        "k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "utf8_chars",
        "k CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "swedish_words",
        "k VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "general_words",
        "k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "unicode_chars",
        "k CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL, PRIMARY KEY (k)",
        word,
    ),
    Keyed::of(
        "uca0900_words",
        "k VARCHAR(20) COLLATE utf8mb4_0900_ai_ci NOT NULL, PRIMARY KEY (k)",
        word,
    )
    .only_in("mysql-8.0.33,mysql-9"),
    Keyed::of(
        "uca1400_words",
        "k VARCHAR(20) COLLATE utf8mb4_uca1400_ai_ci NOT NULL, PRIMARY KEY (k)",
        word,
    )
    .only_in("mariadb-10.11,mariadb-11"),
    Keyed::of(
        "no_pad_words",
        "k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL, PRIMARY KEY (k)",
        word,
    )
    .only_in("mariadb-1"),
    Keyed::of(
        "new_bin_words",
        "k VARCHAR(20) COLLATE utf8mb4_0900_bin NOT NULL, PRIMARY KEY (k)",
        word,
    )
    .only_in("mysql-8.0.33,mysql-9"),
    Keyed::of(
        "new_bin_chars",
        "k CHAR(20) COLLATE utf8mb4_0900_bin NOT NULL, PRIMARY KEY (k)",
        trimmed_word,
    )
    .only_in("mysql-8.0.33,mysql-9"),
    Keyed::of("bytes", "k VARBINARY(20) NOT NULL, PRIMARY KEY (k)", hex),
    Keyed::of("eight_bytes", "k BINARY(8) NOT NULL, PRIMARY KEY (k)", |n| format!("x'{n:016x}'")),
    Keyed::of("uuids", "k UUID NOT NULL, PRIMARY KEY (k)", |n| {
        let version = n & 7;
        let [a, b] = [n as u32, (n >> 32) as u32];
        format!("'{a:08x}-{:04x}-{version}{:03x}-8{:03x}-{b:08x}0000'", b >> 16, a & 511, b & 511)
    })
    .only_in("mariadb-10.11,mariadb-11"),
    Keyed::of("addresses", "k INET6 NOT NULL, PRIMARY KEY (k)", |n| {
        format!("'2001:db8::{:x}:{:x}'", n as u16, n >> 48)
    })
    .only_in("mariadb-10.11,mariadb-11"),
    Keyed::of("pairs", "k VARBINARY(9) NOT NULL, l BIGINT NOT NULL, PRIMARY KEY (k, l)", |n| {
        hex(n % 40)
    })
    .and(|n| (n as i32).to_string()),
    Keyed::of(
        "descending",
        "k SMALLINT NOT NULL, l VARCHAR(30) COLLATE utf8mb4_bin NOT NULL, \
         PRIMARY KEY (k DESC, l DESC)",
        |n| (n as i8).to_string(),
    )
    .and(word)
    .only_in("mysql-8,mysql-9,mariadb-11"),
];

const ROWS: u64 = 1500;
const CONDITIONS: usize = 30;

fn fill(server: &Server, table: &Keyed, chance: &mut u64) {
    let name = table.name;
    let format = if name == "redundant" { " ROW_FORMAT=REDUNDANT" } else { "" };
    let mut sql = format!(
        "CREATE TABLE keyed.{name} ({}, n INT NOT NULL, pad CHAR(90)) ENGINE=InnoDB{format};\n",
        table.columns
    );
    sql += &format!("INSERT IGNORE INTO keyed.{name} VALUES ");
    for n in 0..ROWS {
        let k = (table.k)(splitmix64(chance));
        let l = table.l.map(|l| l(splitmix64(chance)) + ", ").unwrap_or_default();
        sql += &format!("{}({k}, {l}{n}, 'pad')", if n == 0 { "" } else { ", " });
    }
    server.sql(sql + ";").unwrap_or_else(|error| panic!("{name}: {error}"));
}

/// A condition of the kind `nth` is of, of values that are there and some that are not.
fn condition(table: &Keyed, nth: usize, chance: &mut u64) -> String {
    let mut k = || (table.k)(splitmix64(chance));
    match (table.l, table.is_ordered) {
        (None, _) => match nth % 6 {
            0 => format!("k = {}", k()),
            1 => format!("k IN ({}, {}, {})", k(), k(), k()),
            2 => format!("k BETWEEN {} AND {}", k(), k()),
            3 => format!("k > {}", k()),
            4 => format!("k<={}", k()),
            _ => format!("`k` >= {} and k < {}", k(), k()),
        },
        (Some(l), is_ordered) => {
            let (a, b) = (k(), k());
            let (c, d) = (l(splitmix64(chance)), l(splitmix64(chance)));
            match nth % 5 {
                0 => format!("k = {a}"),
                1 => format!("k = {a} AND l > {c}"),
                2 => format!("l BETWEEN {c} AND {d} AND k IN ({a}, {b})"),
                3 if is_ordered => format!("k > {a}"),
                4 if is_ordered => format!("k BETWEEN {a} AND {b}"),
                _ => format!("k IN ({a}, {b}) AND l <= {c}"),
            }
        }
    }
}

/// The `n` of the rows `get` prints.
fn get(file: &Path, more: &[&str], stdin: &str) -> Vec<i64> {
    let mut child = command()
        .args(["get", file.to_str().unwrap(), "--format", "ndjson", "--memory", "1M"])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {more:?}: {said}", file.display());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.is_empty(), said.contains(": no row "), "{said}");
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["n"].as_i64().unwrap();
    text.lines().map(row).collect()
}

fn numbers(answer: &[u8]) -> Vec<i64> {
    String::from_utf8_lossy(answer).lines().map(|line| line.parse().unwrap()).collect()
}

fn agree(version: &str) {
    install(version).unwrap();
    let options = ["--innodb-page-size=4k", "--sql-mode="];
    let mut server = Server::start(version, &options).unwrap();
    server.sql("CREATE DATABASE keyed CHARACTER SET utf8mb4;").unwrap();
    let mut chance = 5;
    let is_known =
        |table: &&Keyed| table.servers.split(',').any(|known| version.starts_with(known));
    let mut asked = Vec::new();
    for table in TABLES.iter().filter(is_known) {
        fill(&server, table, &mut chance);
        let key = if table.l.is_some() { "k, l" } else { "k" };
        let key = if table.name == "descending" { "k DESC, l DESC" } else { key };
        let all = format!("SELECT n FROM keyed.{} ORDER BY {key};", table.name);
        let all = numbers(&server.sql(all).unwrap());
        let answers: Vec<(String, Vec<i64>)> = (0..CONDITIONS)
            .map(|nth| {
                let condition = condition(table, nth, &mut chance);
                let from = format!("FROM keyed.{} FORCE INDEX (PRIMARY)", table.name);
                let sql = format!("SELECT n {from} WHERE {condition} ORDER BY {key};");
                let answer = server.sql(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                (condition, numbers(&answer))
            })
            .collect();
        let found: usize = answers.iter().map(|(_, rows)| rows.len()).sum();
        assert!(found > 0, "{}: no condition has rows", table.name);
        asked.push((table, all, answers));
    }
    server.stop().unwrap();
    for (table, all, answers) in asked {
        let file = server.data().join("keyed").join(format!("{}.ibd", table.name));
        for (condition, rows) in &answers {
            assert_eq!(
                get(&file, &["-w", condition], ""),
                *rows,
                "{version} {}: {condition}",
                table.name
            );
        }
        every_key_is_found(&file, table, &all);
    }
}

/// The rows' keys as `innoscan dump` prints them. (JSON has bytes in base64, CSV in hexadecimal.)
fn printed_keys(file: &Path, table: &Keyed) -> Vec<String> {
    let is_bytes = matches!(table.name, "bytes" | "eight_bytes" | "pairs");
    let format = if is_bytes { "csv" } else { "ndjson" };
    let dumped = command()
        .args(["dump", file.to_str().unwrap(), "--format", format, "--quiet"])
        .output()
        .unwrap();
    let text = String::from_utf8(dumped.stdout).unwrap();
    if is_bytes {
        let columns = if table.l.is_some() { 2 } else { 1 };
        let key =
            |line: &str| line.splitn(columns + 1, ',').take(columns).collect::<Vec<_>>().join(",");
        return text
            .lines()
            .skip(1)
            .map(|line| format!("0x{}", key(line).replace('"', "")))
            .collect();
    }
    let literal = |line: &str, column: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        match &row[column] {
            Value::String(value) => Some(format!("'{}'", value.replace('\'', "''"))),
            Value::Null => None,
            // A parsed number need not print as it did.
            _ => {
                let (_, behind) = line.split_once(&format!("\"{column}\":")).unwrap();
                Some(behind[..behind.find(',').unwrap()].to_owned())
            }
        }
    };
    let key = |line: &str| {
        ["k", "l"].iter().filter_map(|column| literal(line, column)).collect::<Vec<_>>().join(",")
    };
    text.lines().map(key).collect()
}

/// Each row by its key, all of them at once, and those from one to another.
fn every_key_is_found(file: &Path, table: &Keyed, all: &[i64]) {
    let keys = printed_keys(file, table);
    assert_eq!(keys.len(), all.len());
    let found = get(file, &["-"], &keys.join("\n"));
    assert!(found == all, "{}: {} of {} keys", file.display(), found.len(), all.len());
    for (at, key) in keys.iter().enumerate().step_by(keys.len().div_ceil(5)) {
        assert_eq!(get(file, &["--", key], ""), [all[at]], "{}: {key}", file.display());
    }
    if table.name != "descending" {
        let (from, to) = (keys.len() / 3, keys.len() / 2);
        let range = format!("--range={}..{}", keys[from], keys[to]);
        assert_eq!(get(file, &[&range], ""), &all[from..=to], "{}: {range}", file.display());
    }
}

#[test]
fn get_gives_what_debians_mariadb_selects() {
    agree("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn get_gives_what_every_server_selects() {
    for version in ["mysql-5.7.22", "mysql-8.0.33", "mysql-9.7", "mariadb-10.2.11", "mariadb-11.8"]
    {
        agree(version);
    }
}
