//! A seeded load on a server: clients that change rows in every way, and define tables anew, until the
//! server is killed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use innoscan_io::engine::memory::splitmix64;

/// Clients at the same time.
const CLIENTS: u64 = 4;

/// Statements of each client: more than a server executes before it is killed.
const STATEMENTS: usize = 6000;

/// The two families of servers, whose statements differ a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    MariaDb,
    MySql,
}

impl Family {
    /// The family of a version, as `install.sh` names it.
    pub fn of(version: &str) -> Family {
        if version.starts_with("mysql") { Family::MySql } else { Family::MariaDb }
    }
}

/// What a load depends on.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub family: Family,
    pub seed: u64,
    pub page_kib: u64,
}

impl Plan {
    /// The plan of another load on the same server.
    pub fn nth(self, nth: u64) -> Plan {
        Plan { seed: self.seed + (nth << 32), ..self }
    }
}

/// A random number generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed ^ 0x9e37_79b9)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        splitmix64(&mut self.0) % end
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// The tables that exist before the load.
pub fn tables(plan: Plan) -> String {
    let mut sql = String::from("CREATE DATABASE d; USE d;\n");
    // Larger pages cannot be compressed so.
    let zip = match plan.page_kib {
        ..=4 => ["ROW_FORMAT=COMPRESSED"; 2],
        8 => ["ROW_FORMAT=COMPRESSED", "KEY_BLOCK_SIZE=2"],
        16 => ["ROW_FORMAT=COMPRESSED", "KEY_BLOCK_SIZE=4"],
        _ => ["ROW_FORMAT=DYNAMIC"; 2],
    };
    for (name, options) in [
        ("dyn", ["ROW_FORMAT=DYNAMIC"; 2]),
        ("red", ["ROW_FORMAT=REDUNDANT"; 2]),
        ("com", ["ROW_FORMAT=COMPACT"; 2]),
        ("zip", zip),
    ] {
        for (nth, options) in options.into_iter().enumerate() {
            writeln!(
                sql,
                "CREATE TABLE {name}{nth} (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(500), \
                 c CHAR(30), b LONGBLOB, KEY (k), KEY (v(60))) ENGINE=InnoDB {options};"
            )
            .unwrap();
        }
    }
    if plan.family == Family::MySql {
        sql += "CREATE TABLE doc (id INT PRIMARY KEY AUTO_INCREMENT, k INT, j JSON, KEY (k)) ENGINE=InnoDB;
                CREATE TABLE varied (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(300)) ENGINE=InnoDB;
                CREATE TABLE varied_red (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(300)) ENGINE=InnoDB
                  ROW_FORMAT=REDUNDANT;\n";
    }
    sql + "CREATE TABLE geo (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(500), g POINT NOT NULL,
             SPATIAL KEY (g)) ENGINE=InnoDB;
           CREATE TABLE keyed (k VARCHAR(40), n INT, v TEXT, PRIMARY KEY (k, n)) ENGINE=InnoDB;
           CREATE TABLE digits (n INT PRIMARY KEY) ENGINE=InnoDB;
           INSERT INTO digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);\n"
}

/// The statements of one client, which mostly change rows.
pub fn script(plan: Plan, client: u64) -> String {
    let mut random = Random::new(plan.seed * 101 + client);
    let mut sql = String::from("USE d;\nSET SESSION innodb_lock_wait_timeout=1;\n");
    let mut made = 0;
    for _ in 0..STATEMENTS {
        let statement = match random.below(100) {
            0..30 => insert(&mut random),
            30..50 => update(&mut random),
            50..60 => delete(&mut random),
            60..66 => keyed(&mut random),
            66..70 => geometry(&mut random),
            70..74 => transaction(&mut random),
            74..76 => bulk(&mut random),
            76..84 if plan.family == Family::MySql => document(&mut random),
            76..94 => insert(&mut random),
            _ => define(&mut random, client, &mut made, plan),
        };
        sql.push_str(&statement);
        sql.push('\n');
    }
    sql
}

fn table(random: &mut Random) -> String {
    let name = random.one_of(&["dyn", "red", "com", "zip"]);
    format!("{name}{}", random.below(2))
}

fn text(random: &mut Random, len_max: u64) -> String {
    let (len, letter) = (random.below(len_max), b'a' + random.below(26) as u8);
    format!("REPEAT('{}{}', {})", char::from(letter), random.below(1000), len / 3 + 1)
}

fn blob(random: &mut Random) -> String {
    match random.below(10) {
        0..6 => "NULL".to_owned(),
        6..9 => text(random, 3000),
        _ => text(random, 120_000),
    }
}

fn insert(random: &mut Random) -> String {
    let table = table(random);
    let mut rows = Vec::new();
    for _ in 0..=random.below(6) {
        let (v, c, b) = (text(random, 400), text(random, 24), blob(random));
        rows.push(format!("({}, {v}, {c}, {b})", random.below(100_000)));
    }
    format!("INSERT INTO {table} (k, v, c, b) VALUES {};", rows.join(", "))
}

fn update(random: &mut Random) -> String {
    let (table, id) = (table(random), random.below(3000));
    let set = match random.below(6) {
        0 => format!("k = {}", random.below(100_000)),
        1 => format!("v = {}", text(random, 400)),
        2 => format!("b = {}", blob(random)),
        3 => format!("c = {}, v = {}", text(random, 20), text(random, 100)),
        4 => format!("id = id + {}", 100_000 + random.below(1_000_000)),
        _ => "k = k + 1, v = NULL".to_owned(),
    };
    format!("UPDATE {table} SET {set} WHERE id BETWEEN {id} AND {};", id + random.below(8))
}

fn delete(random: &mut Random) -> String {
    let (table, id) = (table(random), random.below(3000));
    format!("DELETE FROM {table} WHERE id BETWEEN {id} AND {};", id + random.below(30))
}

fn keyed(random: &mut Random) -> String {
    let (key, n, v) = (text(random, 30), random.below(50), text(random, 2000));
    match random.below(3) {
        0 => format!("DELETE FROM keyed WHERE n = {n} LIMIT 5;"),
        1 => format!("UPDATE IGNORE keyed SET k = {key} WHERE n = {n} LIMIT 3;"),
        _ => format!("REPLACE INTO keyed VALUES ({key}, {n}, {v});"),
    }
}

fn geometry(random: &mut Random) -> String {
    let point = format!("POINT({}, {})", random.below(1000), random.below(1000));
    match random.below(4) {
        0 => format!("DELETE FROM geo WHERE id BETWEEN {0} AND {0} + 3;", random.below(1000)),
        1 => format!("UPDATE geo SET g = {point} WHERE id = {};", random.below(1000)),
        _ => format!(
            "INSERT INTO geo (k, v, g) VALUES ({}, {}, {point});",
            random.below(1000),
            text(random, 300)
        ),
    }
}

fn transaction(random: &mut Random) -> String {
    let mut sql = "BEGIN; ".to_owned();
    for _ in 0..random.below(6) {
        sql += &match random.below(3) {
            0 => insert(random),
            1 => update(random),
            _ => delete(random),
        };
    }
    if random.below(3) == 0 {
        sql += "SAVEPOINT s; ";
        sql += &update(random);
        sql += " ROLLBACK TO SAVEPOINT s; ";
    }
    sql + random.one_of(&[" COMMIT;", " COMMIT;", " ROLLBACK;"])
}

fn bulk(random: &mut Random) -> String {
    let table = table(random);
    format!(
        "INSERT INTO {table} (k, v, c) SELECT a.n * 100 + b.n, REPEAT('q', a.n * b.n + 3), b.n FROM \
         digits a, digits b WHERE a.n < {};",
        random.below(10)
    )
}

/// Changes of MySQL's own kind: documents updated in part, columns added and dropped by row versions.
fn document(random: &mut Random) -> String {
    let id = random.below(300);
    match random.below(12) {
        0..3 => {
            let (a, c) = (text(random, 400), text(random, 40_000));
            format!(
                "INSERT INTO doc (k, j) VALUES ({id}, JSON_OBJECT('a', {a}, 'n', 1, 'c', {c}));"
            )
        }
        3..6 => format!(
            "UPDATE doc SET j = JSON_SET(j, '$.a', {}, '$.n', {id}) WHERE id BETWEEN {id} AND {};",
            text(random, 300),
            id + 3
        ),
        6 => format!("UPDATE doc SET j = JSON_REMOVE(j, '$.c'), k = k + 1 WHERE id = {id};"),
        7 => format!("DELETE FROM doc WHERE id = {id};"),
        8 => {
            let table = random.one_of(&["varied", "varied_red"]);
            let nth = random.below(6);
            let change = match random.below(3) {
                0 => format!("DROP COLUMN x{nth}"),
                1 => format!("ADD COLUMN x{nth} INT DEFAULT {nth} FIRST"),
                _ => format!("ADD COLUMN x{nth} VARCHAR(90) AFTER id"),
            };
            format!("ALTER TABLE {table} {change}, ALGORITHM=INSTANT;")
        }
        _ => {
            let table = random.one_of(&["varied", "varied_red"]);
            let v = text(random, 200);
            match random.below(4) {
                0 => format!("DELETE FROM {table} WHERE id BETWEEN {id} AND {};", id + 4),
                1 => format!(
                    "UPDATE {table} SET v = {v}, k = NULL WHERE id BETWEEN {id} AND {};",
                    id + 9
                ),
                _ => format!("INSERT INTO {table} (k, v) VALUES ({id}, {v}), (1, NULL), (2, {v});"),
            }
        }
    }
}

/// Statements that define tables of this client alone, or change them.
fn define(random: &mut Random, client: u64, made: &mut u64, plan: Plan) -> String {
    let own = |nth: u64| format!("own_{client}_{nth}");
    if *made == 0 || random.below(4) == 0 {
        *made += 1;
        let mut formats = vec!["ROW_FORMAT=DYNAMIC", "ROW_FORMAT=REDUNDANT", "ROW_FORMAT=COMPACT"];
        if plan.page_kib <= 16 {
            formats.push("ROW_FORMAT=COMPRESSED");
        }
        let name = own(*made);
        let format = random.one_of(&formats);
        return format!(
            "CREATE TABLE {name} (id INT PRIMARY KEY, k INT, v VARCHAR(300), b BLOB, KEY (k)) \
             ENGINE=InnoDB {format}; INSERT INTO {name} SELECT a.n * 10 + b.n, b.n, REPEAT('r', \
             a.n * 9), NULL FROM digits a, digits b;"
        );
    }
    let name = own(1 + random.below(*made));
    let nth = random.below(1000);
    let if_exists = if plan.family == Family::MySql { "" } else { "IF EXISTS " };
    match random.below(12) {
        0 => format!("DROP TABLE IF EXISTS {name};"),
        1 => format!("TRUNCATE TABLE {name};"),
        2 => format!("ALTER TABLE {name} ADD COLUMN x{nth} INT DEFAULT {nth}, ALGORITHM=INSTANT;"),
        3 => format!("ALTER TABLE {name} ADD COLUMN y{nth} VARCHAR(40) DEFAULT 'y' FIRST;"),
        4 => format!("ALTER TABLE {name} DROP COLUMN {if_exists}v;"),
        5 => format!("ALTER TABLE {name} ADD KEY k{nth} (k, id);"),
        6 => format!("ALTER TABLE {name} FORCE;"),
        7 => format!("RENAME TABLE {name} TO {name}_r; RENAME TABLE {name}_r TO {name};"),
        8 => format!("OPTIMIZE TABLE {};", table(random)),
        9 => format!("ALTER TABLE {name} DROP KEY {if_exists}k;"),
        _ => format!(
            "INSERT IGNORE INTO {name} (id, k, b) SELECT {nth} + a.n * 10 + b.n, a.n, REPEAT('s', \
             {} * b.n) FROM digits a, digits b;",
            random.below(2000)
        ),
    }
}

/// Starts the clients; they end when their server does.
pub fn start(socket: &Path, dir: &Path, script: impl Fn(u64) -> String) -> Vec<Child> {
    let client = |number| {
        let path = dir.join(format!("load{number}.sql"));
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(script(number).as_bytes()).unwrap();
        Command::new("mariadb")
            .args(["--no-defaults", "--skip-ssl", "-uroot", "-N", "-B", "-f", "-S"])
            .arg(socket)
            .stdin(std::fs::File::open(&path).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    (0..CLIENTS).map(client).collect()
}
