//! A seeded load: tables of every form of record, and sessions that change disjoint sets of rows.

use std::fmt::Write as _;

use innoscan_io::engine::memory::splitmix64;

/// Sets of rows: a row belongs to one by its id's remainder.
const CLASSES: u64 = 8;
/// Rows of each table at first.
const ROWS: u64 = 480;
/// Changes of each session.
const CHANGES: u64 = 160;

/// Pseudo-random numbers (SplitMix64).
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        splitmix64(&mut self.0) % end
    }

    fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// A table of the load. All have the columns `id` and `v`.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    create: &'static str,
    /// Columns of long text, which may be off the page.
    texts: &'static [&'static str],
    has_number: bool,
}

impl Table {
    /// Whether it has a column that is computed when it is read.
    pub fn has_virtual(&self) -> bool {
        self.create.contains("VIRTUAL")
    }
}

const fn table(
    name: &'static str,
    create: &'static str,
    texts: &'static [&'static str],
    has_number: bool,
) -> Table {
    Table { name, create, texts, has_number }
}

const TABLES: [Table; 10] = [
    table(
        "dynamic",
        "(id INT PRIMARY KEY, v VARCHAR(200), n INT, t TEXT, b LONGBLOB, KEY (n))",
        &["t", "b"],
        true,
    ),
    table(
        "text_key",
        "(k VARCHAR(40) COLLATE utf8mb4_general_ci, id INT, v VARCHAR(300), t MEDIUMTEXT,
          PRIMARY KEY (k, id), KEY (id))",
        &["t"],
        false,
    ),
    table("row_id", "(id INT, v VARCHAR(100), w CHAR(30) DEFAULT 'w', n INT, KEY (id))", &[], true),
    table(
        "redundant",
        "(id INT PRIMARY KEY, v VARCHAR(300), n INT, t TEXT) ROW_FORMAT=REDUNDANT",
        &["t"],
        true,
    ),
    table(
        "redundant_text_key",
        "(k VARCHAR(40), id INT, v VARCHAR(300), PRIMARY KEY (k, id), KEY (id)) ROW_FORMAT=REDUNDANT",
        &[],
        false,
    ),
    table(
        "compressed",
        "(id INT PRIMARY KEY, v VARCHAR(300), n INT, t TEXT) ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
        &["t"],
        true,
    ),
    table(
        "compact",
        "(id INT, t TEXT, v VARCHAR(300), n INT, PRIMARY KEY (id, t(10)), KEY (v(20))) ROW_FORMAT=COMPACT",
        &["t"],
        true,
    ),
    table(
        "computed",
        "(id INT PRIMARY KEY, v VARCHAR(50), n INT, vn INT AS (n + 1) VIRTUAL,
          sv VARCHAR(60) AS (CONCAT(v, 'x')) STORED, KEY (vn), KEY (n))",
        &[],
        true,
    ),
    table(
        "partitioned",
        "(id INT PRIMARY KEY, v VARCHAR(300), n INT, t TEXT) PARTITION BY HASH (id) PARTITIONS 3",
        &["t"],
        true,
    ),
    table("instant", "(id INT PRIMARY KEY, v VARCHAR(200), n INT, gone INT, t TEXT)", &["t"], true),
];

/// Filled in one statement by an unfinished transaction.
const EMPTY: Table = table("was_empty", "(id INT PRIMARY KEY, v VARCHAR(200))", &[], false);

/// The load of a seed.
pub struct Load {
    pub seed: u64,
    is_mariadb: bool,
    tables: Vec<Table>,
    /// How many sessions stay open.
    open: u64,
    has_prepared: bool,
}

impl Load {
    pub fn new(seed: u64, version: &str) -> Load {
        let mut random = Random(seed);
        let mut tables: Vec<Table> = TABLES.into();
        tables.push(EMPTY);
        Load {
            seed,
            is_mariadb: version.starts_with("mariadb"),
            tables,
            open: 1 + random.below(4),
            has_prepared: random.one_in(3),
        }
    }

    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The names of transactions that a user prepared.
    pub fn prepared(&self) -> impl Iterator<Item = String> {
        self.has_prepared.then(|| format!("xa{}", self.seed)).into_iter()
    }

    /// The tables with rows, some of which were changed before others.
    pub fn schema(&self) -> String {
        let mut random = Random(self.seed ^ 0x5EED);
        let mut sql =
            "DROP DATABASE IF EXISTS d; CREATE DATABASE d CHARACTER SET utf8mb4; USE d;\n"
                .to_owned();
        for table in &self.tables {
            _ = writeln!(sql, "CREATE TABLE {} {};", table.name, table.create);
        }
        for table in &self.tables[..TABLES.len()] {
            let rows: Vec<String> = (0..ROWS).map(|id| insert(table, id, &mut random)).collect();
            for statement in rows {
                sql.push_str(&statement);
            }
            if table.name == "instant" {
                self.alter_instantly(&mut sql, &mut random);
            }
        }
        for (name, options) in self.json_tables() {
            let row =
                "JSON_OBJECT('a', 'aaaa', 'b', REPEAT('b', 30000), 'c', '0123456789', 'd', 7)";
            _ = writeln!(
                sql,
                "CREATE TABLE {name} (id INT PRIMARY KEY, n INT, b JSON) {options};
                 INSERT INTO {name} VALUES (1, 1, {row}), (2, 2, {row}), (3, 3, {row}), (4, 4, {row});"
            );
        }
        for class in 0..CLASSES {
            sql.push_str(&changes(&self.tables[..TABLES.len()], class, CHANGES / 4, &mut random));
        }
        format!("SET autocommit = 0;\n{sql}COMMIT;\n")
    }

    /// Adds and drops columns, with rows written in between.
    fn alter_instantly(&self, sql: &mut String, random: &mut Random) {
        let alters: &[&str] = match self.is_mariadb {
            true => &[
                "ADD COLUMN x VARCHAR(60) NOT NULL DEFAULT 'x of old rows'",
                "ADD COLUMN y INT FIRST",
                "DROP COLUMN gone",
                "ADD COLUMN z TEXT DEFAULT 'z'",
            ],
            false => &[
                "ADD COLUMN x VARCHAR(60) NOT NULL DEFAULT 'x of old rows'",
                "ADD COLUMN y INT FIRST",
                "DROP COLUMN gone",
                "ADD COLUMN z INT DEFAULT 77",
            ],
        };
        let table = self.tables.iter().find(|table| table.name == "instant").unwrap();
        let some = random.below(alters.len() as u64 + 1) as usize;
        for (alter, nth) in alters[..some].iter().zip(1..) {
            _ = writeln!(sql, "ALTER TABLE instant {alter}, ALGORITHM=INSTANT;");
            for id in ROWS * nth..ROWS * nth + 60 {
                sql.push_str(&insert(table, id, random));
            }
        }
    }

    /// Tables with documents of which an unfinished transaction changes parts: MySQL notes the changed bytes alone.
    pub fn json_tables(&self) -> &[(&'static str, &'static str)] {
        match self.is_mariadb {
            true => &[],
            false => &[
                ("json_parts", "ROW_FORMAT=DYNAMIC"),
                ("json_parts_compact", "ROW_FORMAT=COMPACT"),
                ("json_parts_zip", "ROW_FORMAT=COMPRESSED"),
            ],
        }
    }

    /// The statements of the sessions that stay open.
    pub fn sessions(&self) -> Vec<String> {
        let mut sessions = Vec::new();
        for class in 1..=self.open {
            let mut random = Random(self.seed << 8 | class);
            let mut sql = format!("{OPEN}BEGIN;\n");
            sql.push_str(&changes(&self.tables[..TABLES.len()], class, CHANGES, &mut random));
            if class == 1 {
                let from = "SELECT id + 10000, v FROM redundant WHERE id % 8 = 7";
                sql.push_str("SET unique_checks = 0, foreign_key_checks = 0;\n");
                _ = writeln!(sql, "INSERT INTO was_empty {from};");
                for (name, _) in self.json_tables() {
                    _ = writeln!(
                        sql,
                        "UPDATE {name} SET b = JSON_SET(b, '$.a', 'zzzz') WHERE id > 1;
                         UPDATE {name} SET b = JSON_SET(b, '$.a', 'yyy', '$.c', 'five'), n = -2 WHERE id = 2;
                         UPDATE {name} SET b = JSON_SET(b, '$.c', '987') WHERE id = 2;
                         UPDATE {name} SET b = JSON_REMOVE(b, '$.d') WHERE id = 3;
                         UPDATE {name} SET b = JSON_SET(b, '$.b', REPEAT('x', 20000)) WHERE id = 3;
                         UPDATE {name} SET b = JSON_SET(b, '$.a', 'x') WHERE id = 3;
                         UPDATE {name} SET b = JSON_OBJECT('b', REPEAT('y', 25000)) WHERE id = 4;
                         UPDATE {name} SET b = JSON_SET(b, '$.b', 'y') WHERE id = 4;"
                    );
                }
                sql.push_str("SET unique_checks = 1, foreign_key_checks = 1;\n");
                sql.push_str(&changes(&self.tables[..TABLES.len()], class, 20, &mut random));
            }
            sessions.push(sql);
        }
        for name in self.prepared() {
            let mut random = Random(self.seed << 8 | 6);
            let work = changes(&self.tables[..TABLES.len()], 6, CHANGES / 2, &mut random);
            // An XA transaction has savepoints, too.
            sessions.push(format!(
                "{OPEN}XA START '{name}';\n{work}XA END '{name}';\nXA PREPARE '{name}';\n"
            ));
        }
        sessions
    }

    /// Changes that are committed while the sessions are open.
    pub fn committed_last(&self) -> String {
        let mut random = Random(self.seed ^ 0xC0);
        let work = changes(&self.tables[..TABLES.len()], 0, CHANGES, &mut random);
        format!("{OPEN}BEGIN;\n{work}COMMIT;\n")
    }
}

const OPEN: &str = "USE d; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;\n";

/// Changes of rows of one class.
fn changes(tables: &[Table], class: u64, count: u64, random: &mut Random) -> String {
    let mut sql = String::new();
    let mut is_saved = false;
    for _ in 0..count {
        if is_saved && random.one_in(6) {
            sql.push_str("ROLLBACK TO SAVEPOINT s;\n");
            is_saved = false;
        } else if random.one_in(15) {
            sql.push_str("SAVEPOINT s;\n");
            is_saved = true;
        }
        let table = &tables[random.below(tables.len() as u64) as usize];
        // A few rows are changed again and again.
        let most = if random.one_in(3) { 6 } else { ROWS / CLASSES };
        let id = class + CLASSES * random.below(most);
        change(table, id, random, &mut sql);
    }
    sql
}

fn change(table: &Table, id: u64, random: &mut Random, sql: &mut String) {
    let name = table.name;
    match random.below(12) {
        0 => _ = writeln!(sql, "DELETE FROM {name} WHERE id = {id};"),
        1 => {
            _ = writeln!(sql, "DELETE FROM {name} WHERE id = {id};");
            sql.push_str(&insert(table, id, random));
        }
        2 => {
            // To another key, or to one that compares equal.
            let to = id + CLASSES * (ROWS + random.below(100));
            _ = match table.create.contains("k VARCHAR") && random.one_in(2) {
                true => writeln!(sql, "UPDATE IGNORE {name} SET k = UPPER(k) WHERE id = {id};"),
                false => writeln!(sql, "UPDATE IGNORE {name} SET id = {to} WHERE id = {id};"),
            };
        }
        3 => sql.push_str(&insert(table, id + CLASSES * ROWS * 4, random)),
        4 | 5 if !table.texts.is_empty() => {
            let column = table.texts[random.below(table.texts.len() as u64) as usize];
            let text = text(random);
            _ = writeln!(sql, "UPDATE IGNORE {name} SET {column} = {text} WHERE id = {id};");
        }
        6 | 7 if table.has_number => {
            let number = number(random);
            _ = writeln!(sql, "UPDATE {name} SET n = {number} WHERE id = {id};");
        }
        8 => {
            for round in 0..random.below(12) {
                _ = writeln!(sql, "UPDATE {name} SET v = CONCAT('round {round}') WHERE id = {id};");
            }
        }
        9 => {
            let value = value(random);
            let end = id + 3 * CLASSES;
            _ = writeln!(
                sql,
                "UPDATE {name} SET v = {value} WHERE id IN ({id}, {}, {end});",
                id + CLASSES
            );
        }
        _ => {
            let value = value(random);
            _ = writeln!(sql, "UPDATE {name} SET v = {value} WHERE id = {id};");
        }
    }
}

fn insert(table: &Table, id: u64, random: &mut Random) -> String {
    let (mut columns, mut values) = ("id, v".to_owned(), format!("{id}, {}", value(random)));
    if table.create.contains("k VARCHAR") {
        columns.push_str(", k");
        _ = write!(values, ", 'Key-{}-{id}'", id % 37);
    }
    if table.has_number {
        columns.push_str(", n");
        _ = write!(values, ", {}", number(random));
    }
    for column in table.texts {
        _ = write!(columns, ", {column}");
        _ = write!(values, ", {}", text(random));
    }
    format!("INSERT IGNORE INTO {} ({columns}) VALUES ({values});\n", table.name)
}

fn value(random: &mut Random) -> String {
    match random.below(8) {
        0 => "NULL".to_owned(),
        1 => "''".to_owned(),
        2 => format!("REPEAT('z', {})", random.below(50)),
        _ => {
            format!("'{} of {}'", ["a", "k", "w"][random.below(3) as usize], random.below(1 << 30))
        }
    }
}

fn number(random: &mut Random) -> String {
    if random.one_in(6) { "NULL".to_owned() } else { random.below(1 << 20).to_string() }
}

/// A text of the page, or off it.
fn text(random: &mut Random) -> String {
    let times = match random.below(6) {
        0 => return "NULL".to_owned(),
        1 | 2 => random.below(20),
        3 | 4 => random.below(900),
        _ => 1000 + random.below(4000),
    };
    format!("REPEAT('text {} ', {times})", random.below(1000))
}
