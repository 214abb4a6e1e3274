//! Checksums of dumped rows against `CHECKSUM TABLE`, where the server's record has null bits that no
//! column of the definition shows.

use innoscan_testkit::server::{Server, install};

use crate::live::QUICK;
use crate::verify::run;

/// Tables of so many nullable columns and long unique keys, which may be NULL or not, with rows of fixed
/// size but for their BLOBs or not.
fn tables() -> String {
    let mut sql = "CREATE DATABASE d; USE d;\n".to_owned();
    for nullable in [1, 6, 7, 8, 9, 15, 16] {
        for (keys, may_be_null) in [(0, true), (1, true), (1, false), (2, true), (2, false)] {
            for engine in ["InnoDB", "MyISAM"] {
                add_table(&mut sql, nullable, keys, may_be_null, engine);
            }
        }
    }
    // Keys of several columns, of which one may be NULL; a key that is hashed by choice.
    sql + "CREATE TABLE mixed (a INT, b BLOB NOT NULL, c INT, d INT, e INT, f INT, g INT, h INT, i INT,
             UNIQUE KEY (b, a)) ENGINE=InnoDB;
           INSERT INTO mixed VALUES (1, 'x', 3, 4, 5, 6, 7, 8, 9), (NULL, 'y', 3, 4, 5, 6, 7, 8, NULL);
           CREATE TABLE short (a INT, b INT, c INT, d INT, e INT, f INT, g INT, h INT,
             UNIQUE KEY (a) USING HASH) ENGINE=InnoDB;
           INSERT INTO short VALUES (1, NULL, 3, 4, 5, 6, 7, 8), (NULL, NULL, 3, 4, 5, 6, 7, 8);
           CREATE TABLE bits (a BIT(3), b BLOB, c INT, d INT, e INT, UNIQUE KEY (b)) ENGINE=MyISAM;
           INSERT INTO bits VALUES (b'101', 'x', 3, 4, 5), (NULL, 'y', 3, 4, 5);\n"
}

fn add_table(sql: &mut String, nullable: usize, keys: usize, may_be_null: bool, engine: &str) {
    let plain = if may_be_null { nullable.saturating_sub(keys) } else { nullable };
    let null = if may_be_null { "NULL" } else { "NOT NULL" };
    let columns = (0..plain).map(|n| format!("c{n} INT NULL"));
    let blobs = (0..keys).map(|n| format!("b{n} BLOB {null}, UNIQUE (b{n})"));
    let columns: Vec<String> = ["id INT NOT NULL".to_owned()].into_iter().chain(columns).collect();
    let columns: Vec<String> = columns.into_iter().chain(blobs).collect();
    let name = format!("{engine}_{nullable}_{keys}_{may_be_null}");
    *sql += &format!("CREATE TABLE {name} ({}) ENGINE={engine};\n", columns.join(", "));
    let rows = (1..=40).map(|row| {
        let plain = (0..plain).map(|n| match (row + n) % 3 {
            0 => "NULL".to_owned(),
            _ => (row * n).to_string(),
        });
        let blobs = (0..keys).map(|n| match (row + n) % 5 {
            0 if may_be_null => "NULL".to_owned(),
            _ => format!("'{row} {n}'"),
        });
        let values: Vec<String> = [row.to_string()].into_iter().chain(plain).chain(blobs).collect();
        format!("({})", values.join(", "))
    });
    let rows: Vec<String> = rows.collect();
    *sql += &format!("INSERT INTO {name} VALUES {};\n", rows.join(", "));
}

#[test]
fn long_unique_keys_have_null_bits() {
    install("mariadb-10.11").unwrap();
    let mut server = Server::start("mariadb-10.11", &QUICK).unwrap();
    server.sql(tables()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let socket = server.socket().to_str().unwrap().to_owned();
    let running = ["-S", &socket, "-u", "root", "--no-defaults"];
    let against = |name: &str, source: &str| {
        let more: &[&str] = if source == "server" { &running } else { &[] };
        run([&["verify", &*out(name), "--against", source], more].concat())
    };
    let dump = |name: &str, source: &[&str]| {
        let out = out(name);
        run([&["dump", "-q", "-B", "d", "-o", &out], source].concat()).says(0, &[]);
    };
    let is_same = |name: &str, source: &str, tables: usize| {
        let ended = against(name, source);
        ended.says(0, &[]);
        let same = format!("{tables} tables with the same rows as in the source");
        assert!(ended.out.contains(&same), "{ended:?}");
    };
    // By the server's definitions, and by those of the files.
    dump("live", &running);
    is_same("live", "server", 37);
    server.stop().unwrap();
    let data = server.data().to_str().unwrap().to_owned();
    is_same("live", &data, 37);
    dump("offline", &[&data]);
    server.restart().unwrap();
    is_same("offline", "server", 73);
}

/// The statements of docs/restore.md for the checksum of a table's stored columns.
fn documented(table: &str) -> String {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/restore.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let begin = "SET @db = 'shop', @tbl = 'orders';";
    let (_, statements) = docs.split_once(begin).unwrap();
    let (statements, _) = statements.split_once("```").unwrap();
    format!("SET @db = 'd', @tbl = '{table}';{statements}")
}

#[test]
fn virtual_columns_are_left_out_of_a_sum_that_servers_give_too() {
    install("mariadb-10.11").unwrap();
    let mut server = Server::start("mariadb-10.11", &QUICK).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d;
             CREATE TABLE v (id INT PRIMARY KEY, a INT, s INT AS (a * 2) STORED,
               v INT AS (a + 1) VIRTUAL, t TIMESTAMP NULL, `odd``name` VARCHAR(20) CHARACTER SET ucs2,
               x INT INVISIBLE DEFAULT 3, f FLOAT, j JSON, b BIT(9), e ENUM('a', 'b'));
             INSERT INTO v (id, a, t, `odd``name`, f, j, b, e) SELECT seq, IF(seq % 7 = 0, NULL, seq),
               FROM_UNIXTIME(seq * 1000), CONCAT('n', seq), seq / 3, '{}', seq % 512, 1 + seq % 2
               FROM seq_1_to_2000;
             CREATE TABLE empty LIKE v; CREATE TABLE plain AS SELECT id, a FROM v;",
        )
        .unwrap();
    let sum_of = |server: &Server, table: &str| -> u64 {
        let answer = server.sql(documented(table)).unwrap();
        String::from_utf8(answer).unwrap().trim().parse().unwrap()
    };
    let expected = sum_of(&server, "v");
    assert_ne!(expected, 0);
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let socket = server.socket().to_str().unwrap().to_owned();
    let running = ["-S", &socket, "-u", "root", "--no-defaults"];
    let is_same = |name: &str, source: &[&str]| {
        let ended = run([&["verify", &*out(name), "--against"], source].concat());
        ended.says(0, &[]);
        assert!(ended.out.contains("3 tables with the same rows as in the source"), "{ended:?}");
    };
    let manifest = |name: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read(dir.path().join(name).join("innoscan.json")).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        json["tables"].as_array().unwrap().clone()
    };
    let against_server = [&["server"], &running[..]].concat();
    run([&["dump", "-q", "-B", "d", "-o", &*out("live")], &running[..]].concat()).says(0, &[]);
    is_same("live", &against_server);
    server.stop().unwrap();
    let data = server.data().to_str().unwrap().to_owned();
    run(["dump", "-q", "-o", &out("offline"), &data]).says(0, &[]);
    for name in ["live", "offline"] {
        is_same(name, &[&data]);
        for table in manifest(name) {
            let is_plain = table["table"] == "plain";
            assert_eq!(table["checksum"].is_null(), !is_plain, "{table}");
            assert_eq!(table["stored_columns_checksum"].is_null(), is_plain, "{table}");
            if table["table"] == "v" {
                assert_eq!(table["stored_columns_checksum"], expected);
            }
        }
    }
    let scan = ["scan", "d.v", "--datadir", &data];
    let refused = run([&scan[..], &["--checksum"]].concat());
    refused.says(2, &["--checksum=stored calculates the checksum of the stored columns"]);
    let summed = run([&scan[..], &["--checksum=stored"]].concat());
    assert!(summed.out.contains(&format!("{expected} of the stored columns")), "{summed:?}");

    // One value that only the sum shows.
    server.restart().unwrap();
    server.sql("UPDATE d.v SET f = 0.5 WHERE id = 1999").unwrap();
    assert_ne!(sum_of(&server, "v"), expected);
    let differing = run([&["verify", &*out("offline"), "--against"], &against_server[..]].concat());
    differing.says(2, &["d.v"]);
}
