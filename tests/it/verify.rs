//! `verify` names what is wrong with a dump, and compares its rows with those of a stopped or running
//! server; `innoscan.json` is as `docs/innoscan.schema.json` describes it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use innoscan_testkit::server::{Server, install};
use serde_json::Value;

use crate::json_schema;
use crate::parity::command;

/// Tables of several engines and kinds, and what is no table.
pub const SHOP: &str = "CREATE DATABASE shop; USE shop;
    CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, t VARCHAR(100), at DATETIME);
    INSERT INTO orders SELECT seq, REPEAT(CHAR(65 + seq % 26), seq % 90), '2024-02-29 12:00:00'
      FROM seq_1_to_5000;
    CREATE TABLE parts (id INT NOT NULL PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 3;
    INSERT INTO parts SELECT seq, seq * 2 FROM seq_1_to_100;
    CREATE TABLE words (id INT NOT NULL PRIMARY KEY, t TEXT, FULLTEXT KEY (t)) ENGINE=InnoDB;
    INSERT INTO words VALUES (1, 'logical read ahead'), (2, 'linear read ahead');
    CREATE TABLE compact (id INT NOT NULL PRIMARY KEY) ROW_FORMAT=COMPACT;
    CREATE TABLE redundant (id INT NOT NULL PRIMARY KEY) ROW_FORMAT=REDUNDANT;
    CREATE TABLE other (id INT NOT NULL PRIMARY KEY, t TEXT) ENGINE=MyISAM;
    INSERT INTO other VALUES (1, 'x'), (2, NULL);
    CREATE TABLE aria (id INT) ENGINE=Aria; INSERT INTO aria VALUES (1);
    CREATE VIEW v AS SELECT id FROM orders;
    CREATE TRIGGER tr BEFORE INSERT ON orders FOR EACH ROW SET NEW.t = UPPER(NEW.t);
    CREATE PROCEDURE p () SELECT 1; CREATE FUNCTION f () RETURNS INT RETURN 1;
    CREATE EVENT e ON SCHEDULE EVERY 1 YEAR DO SELECT 1;
    CREATE SEQUENCE s;
    CREATE DATABASE crm; CREATE TABLE crm.people (id INT NOT NULL PRIMARY KEY);
    INSERT INTO crm.people VALUES (1), (2);\n";

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Its output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Its code is this, and stderr has each of the words.
    #[track_caller]
    pub fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "`{word}`: {self:?}");
        }
    }
}

pub fn run<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    let output = command().args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// A server with the shop, with accounts and grants: only such a server has events.
pub fn shop(version: &str) -> Server {
    install(version).unwrap();
    let server = Server::start(version, &["--skip-grant-tables=OFF"]).unwrap();
    server.sql(SHOP).unwrap();
    server
}

fn dump(from: &[&str], out: &Path, more: &[&str]) -> Ended {
    run([&["dump", "-q", "-o", out.to_str().unwrap()], from, more].concat())
}

fn verify(out: &Path, more: &[&str]) -> Ended {
    run([&["verify", out.to_str().unwrap()], more].concat())
}

/// `innoscan.json` is as its schema has it.
#[track_caller]
fn is_described(out: &Path) -> Value {
    let docs = crate::tests_dir("../docs");
    let read = |path: PathBuf| -> Value {
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()
    };
    let manifest = read(out.join("innoscan.json"));
    let faults = json_schema::faults(&read(docs.join("innoscan.schema.json")), &manifest);
    assert!(faults.is_empty(), "{}: {faults:#?}", out.display());
    manifest
}

/// A copy of a dump, changed; what `verify` says of it.
fn changed(out: &Path, change: impl FnOnce(&Path)) -> Ended {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    change(copy.path());
    verify(copy.path(), &[])
}

/// The first file of a table's rows.
fn rows_of(out: &Path, manifest: &Value, table: &str) -> String {
    let tables = manifest["tables"].as_array().unwrap();
    let table = tables.iter().find(|entry| entry["table"] == table).unwrap();
    let files = table["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["rows"] != 0).unwrap();
    let name = file["name"].as_str().unwrap().to_owned();
    assert!(out.join(&name).is_file());
    name
}

fn faults_are_named(out: &Path, manifest: &Value) {
    let rows = rows_of(out, manifest, "orders");
    let flip = |name: &str, at: usize| {
        let name = name.to_owned();
        move |dir: &Path| {
            let mut bytes = std::fs::read(dir.join(&name)).unwrap();
            bytes[at] ^= 1;
            std::fs::write(dir.join(&name), bytes).unwrap();
        }
    };
    changed(out, flip(&rows, 20)).says(2, &[&rows, "its CRC-32 is", "copy it again"]);
    let cut = |dir: &Path| {
        let file = std::fs::OpenOptions::new().write(true).open(dir.join(&rows)).unwrap();
        file.set_len(30).unwrap();
    };
    changed(out, cut).says(2, &[&rows, "it has 30 bytes, and"]);
    let remove = |name: &str| {
        let name = name.to_owned();
        move |dir: &Path| std::fs::remove_file(dir.join(name)).unwrap()
    };
    changed(out, remove(&rows)).says(2, &[&rows, "it is missing"]);
    // Each file that is of no table is as known as those of tables.
    let names = |files: &Value| -> Vec<String> {
        let files = files.as_array().unwrap().iter();
        files.map(|file| file["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut others = names(&manifest["files"]);
    assert!(!others.is_empty());
    others.extend(manifest["marker"]["name"].as_str().map(str::to_owned));
    for name in &others {
        changed(out, flip(name, 0)).says(2, &[name, "its CRC-32 is"]);
        changed(out, remove(name)).says(2, &[name, "it is missing"]);
    }
    let add = |name: &'static str| move |dir: &Path| std::fs::write(dir.join(name), "x").unwrap();
    changed(out, add("more.sql")).says(2, &["more.sql: innoscan.json does not list it"]);
    changed(out, add("more.partial")).says(2, &["more.partial", "cut short", "--resume"]);
    changed(out, add("innoscan.journal"))
        .says(2, &["innoscan.journal", "a dump into this directory was interrupted"]);
    let unfinished = |dir: &Path| {
        add("innoscan.journal")(dir);
        remove("innoscan.json")(dir);
    };
    changed(out, unfinished).says(2, &["unfinished", "--resume"]);
    changed(out, remove("innoscan.json")).says(2, &["there is no innoscan.json in it"]);
}

#[test]
fn every_fault_of_a_dump_is_named() {
    let mut server = shop("mariadb-10.11");
    let temporary = tempfile::tempdir().unwrap();
    let out = |name: &str| temporary.path().join(name);
    let socket = server.socket().to_str().unwrap().to_owned();
    // Of the running server.
    let live = ["-S", &socket, "-u", "root", "--users", "-A"];
    dump(&live, &out("live"), &[]).says(0, &[]);
    assert_eq!(is_described(&out("live"))["origin"]["server"], "MariaDB");
    verify(&out("live"), &["--decompress"]).says(0, &[]);
    server.stop().unwrap();
    // Of its files, in every layout.
    let data = server.data();
    let data = data.to_str().unwrap();
    for layout in ["mydumper", "mysqlsh", "files"] {
        for compress in ["zstd", "gzip", "none"] {
            let dir = out(&format!("{layout}-{compress}"));
            let options = ["--layout", layout, "-c", compress, "-F", "128K", "--users"];
            dump(&[data], &dir, &options).says(0, &[]);
            let manifest = is_described(&dir);
            assert_eq!(manifest["complete"], true);
            let ended = verify(&dir, &["--decompress"]);
            ended.says(0, &[]);
            assert!(ended.out.contains("complete and unchanged"), "{ended:?}");
            let json = verify(&dir, &["--json"]).json();
            let files = std::fs::read_dir(&dir).unwrap().count() as u64 - 1;
            assert_eq!((&json["sound"], &json["files"]), (&true.into(), &files.into()), "{json}");
            if compress == "zstd" {
                faults_are_named(&dir, &manifest);
            }
        }
    }
    run(["verify", data]).says(2, &["there is no innoscan.json in it"]);
    verify(&out("files-none"), &["-S", &socket]).says(1, &["--socket has no effect"]);
}

#[test]
fn a_dump_that_is_not_complete_is_not_whole() {
    let mut server = shop("mariadb-10.11");
    server.sql("CREATE TABLE shop.c (id INT NOT NULL) ENGINE=CSV;").unwrap();
    server.stop().unwrap();
    let data = server.data();
    let data = data.to_str().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    for layout in ["mydumper", "mysqlsh", "files"] {
        let dir = temporary.path().join(layout);
        dump(&[data], &dir, &["--layout", layout]).says(2, &["shop.c"]);
        let manifest = is_described(&dir);
        assert_eq!(manifest["complete"], false);
        let ended = verify(&dir, &[]);
        ended.says(2, &["table shop.c: it was not dumped: ", "CSV"]);
        let json = verify(&dir, &["--json"]).json();
        let faults = json["faults"].as_array().unwrap();
        assert_eq!(faults.len(), 1, "{json}");
        assert_eq!((&faults[0]["fault"], &json["sound"]), (&"incomplete".into(), &false.into()));
    }
    let dir = temporary.path().join("condition");
    dump(&[data], &dir, &["-T", "shop.orders", "-w", "id < 3"]).says(0, &[]);
    assert_eq!(is_described(&dir)["conditional"], true);
    verify(&dir, &[]).says(0, &[]);
    verify(&dir, &["--against", data]).says(2, &["the rows of a condition"]);
}

fn rows_are_compared(version: &str) {
    let mut server = shop(version);
    server.stop().unwrap();
    let data = server.data();
    let data = data.to_str().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let (all, shop) = (temporary.path().join("all"), temporary.path().join("shop"));
    dump(&[data], &all, &["--layout", "mysqlsh"]).says(0, &[]);
    dump(&[data], &shop, &["-B", "shop"]).says(0, &[]);
    for (out, same) in [(&all, 8), (&shop, 7)] {
        let ended = verify(out, &["--against", data]);
        ended.says(0, &[]);
        let expected = format!("{same} tables with the same rows as in the source\n");
        assert!(ended.out.ends_with(&expected), "{ended:?}");
    }
    server.restart().unwrap();
    let socket = server.socket().to_str().unwrap().to_owned();
    let running = ["--against", "server", "-S", &socket, "-u", "root"];
    verify(&all, &running).says(0, &[]);
    verify(&all, &["--against", data]).says(2, &["a server is running on this directory"]);
    server
        .sql(
            "UPDATE shop.orders SET t = 'changed' WHERE id = 77; DROP TABLE shop.compact;
             UPDATE shop.other SET t = 'y' WHERE id = 2; CREATE TABLE shop.later (id INT);
             CREATE DATABASE new; CREATE TABLE new.t (id INT);",
        )
        .unwrap();
    let differ = |out: &Path, against: &[&str], is_whole: bool| {
        let ended = verify(out, &[against, &["--json"]].concat());
        let rows = "its rows differ: their checksum is ";
        ended.says(2, &[&format!("shop.orders: {rows}"), &format!("shop.other: {rows}")]);
        ended.says(2, &["shop.compact: it is in the dump and not in the source"]);
        ended.says(2, &["shop.later: it is in the source and not in the dump"]);
        // A dump of one database says nothing of others.
        assert_eq!(ended.err.contains("new.t: "), is_whole, "{ended:?}");
        let against = &ended.json()["against"];
        let differences = against["differences"].as_array().unwrap();
        assert_eq!(differences.len(), if is_whole { 5 } else { 4 }, "{against}");
        assert_eq!(against["same"], if is_whole { 5 } else { 4 }, "{against}");
    };
    differ(&all, &running, true);
    differ(&shop, &running, false);
    server.stop().unwrap();
    differ(&all, &["--against", data], true);
    differ(&shop, &["--against", data], false);
}

#[test]
fn rows_are_compared_with_a_mariadb() {
    rows_are_compared("mariadb-10.11");
}
