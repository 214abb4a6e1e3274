//! Tables without a file beside those of their database: in the system tablespace, and outside of the data directory.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Output;

use innoscan_testkit::server::{Server, fixtures};

use crate::parity::command;

fn output(args: &[&str]) -> (Output, String) {
    let output = command().args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

/// A server with tables in the system tablespace (`s`, `parts`) and outside of the data directory (`r`, `spread`); the
/// checksums that it says.
fn filled(remote: &Path, options: &[&str]) -> (Server, Vec<(String, u64)>) {
    let server = Server::start("mariadb-10.11", options).unwrap();
    let remote = remote.display();
    let rows = "SELECT seq, REPEAT(CHAR(65 + seq % 26), 100 + seq % 400) FROM seq_1_to_900";
    let sql = format!(
        "CREATE DATABASE e; USE e;
         SET GLOBAL innodb_file_per_table = 0;
         CREATE TABLE s (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT);
         CREATE TABLE parts (id INT PRIMARY KEY, t TEXT) PARTITION BY HASH (id) PARTITIONS 3;
         SET GLOBAL innodb_file_per_table = 1;
         CREATE TABLE own (id INT PRIMARY KEY, t TEXT);
         CREATE TABLE r (id INT PRIMARY KEY, t TEXT) DATA DIRECTORY='{remote}';
         CREATE TABLE spread (id INT PRIMARY KEY, t TEXT) PARTITION BY RANGE (id)
           (PARTITION a VALUES LESS THAN (300) DATA DIRECTORY '{remote}/one',
            PARTITION b VALUES LESS THAN (MAXVALUE));
         INSERT INTO s {rows}; INSERT INTO parts {rows}; INSERT INTO own {rows};
         INSERT INTO r {rows}; INSERT INTO spread {rows};
         DELETE FROM s WHERE id % 7 = 3;"
    );
    server.sql(sql).unwrap();
    let sum = |table: &str| (format!("e.{table}"), server.checksum("e", table).unwrap().unwrap());
    let sums = ["own", "parts", "r", "s", "spread"].map(sum);
    (server, sums.into())
}

/// A directory in which the server may write. MySQL passes over those whose names begin with a dot.
fn remote() -> tempfile::TempDir {
    let remote = tempfile::Builder::new().prefix("elsewhere").tempdir().unwrap();
    std::fs::create_dir(remote.path().join("one")).unwrap();
    for path in [remote.path().to_owned(), remote.path().join("one")] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    remote
}

/// Checks that the tables are read, and have these checksums.
fn assert_read(data: &str, options: &[&str], sums: &[(String, u64)]) {
    for (table, sum) in sums {
        let args = ["scan", table, "--datadir", data, "--checksum", "--json"];
        let (scanned, said) = output(&[&args, options].concat());
        let json: serde_json::Value = serde_json::from_slice(&scanned.stdout).expect(&said);
        assert_eq!(json["checksum"].as_u64(), Some(*sum), "{table}");
    }
}

/// Checks that the table is refused, with a message that has all of these texts.
fn assert_refused(data: &str, options: &[&str], table: &str, texts: &[&str]) {
    let (refused, said) = output(&[&["scan", table, "--datadir", data], options].concat());
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for text in texts {
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn every_table_is_found_and_what_is_not_is_named() {
    let remote = remote();
    let (mut server, sums) = filled(remote.path(), &[]);
    let create = String::from_utf8(server.sql("SHOW CREATE TABLE e.r").unwrap()).unwrap();
    let lengths =
        "ANALYZE TABLE e.s, e.parts; SELECT table_name, data_length FROM information_schema.tables
                   WHERE table_schema = 'e' AND table_name IN ('s', 'parts')";
    let lengths = String::from_utf8(server.sql(lengths).unwrap()).unwrap();
    let lengths = lengths.lines().filter(|line| line.matches('\t').count() == 1);
    let lengths = Vec::from_iter(lengths).join("\n");
    server.stop().unwrap();
    let data = server.data();
    let (data, directories) = (data.to_str().unwrap(), remote.path().to_str().unwrap());
    let with = ["--innodb-directories", directories];
    assert_read(data, &with, &sums);
    let (schema, _) = output(&[&["schema", "e.r", "--datadir", data], &with[..]].concat());
    let schema = String::from_utf8(schema.stdout).unwrap();
    let schema = schema.trim_end().trim_end_matches(';');
    assert_eq!(create.trim_end().strip_prefix("r\t"), Some(schema));

    let dir = tempfile::tempdir().unwrap();
    let [whole, cut] = ["whole", "cut"].map(|name| dir.path().join(name).display().to_string());
    let (dumped, said) = output(&[&["dump", data, "-o", &whole], &with[..]].concat());
    assert_eq!(dumped.status.code(), Some(0), "{said}");
    let (compared, _) = output(&[&["verify", &whole, "--against", data], &with[..]].concat());
    let compared = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.contains("5 tables with the same rows"), "{compared}");
    let (listed, _) = output(&[&["ls", data, "--json"], &with[..]].concat());
    assert_eq!(listed.status.code(), Some(0));
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let objects = listed["sources"][0]["objects"].as_array().unwrap();
    for line in lengths.lines() {
        let (table, data_length) = line.split_once('\t').unwrap();
        let is_it =
            |object: &&serde_json::Value| object["database"] == "e" && object["name"] == table;
        let object = objects.iter().find(is_it).unwrap();
        assert_eq!(object["bytes"].to_string(), data_length, "{object}");
    }

    let (dumped, said) = output(&["dump", data, "-o", &cut]);
    assert_eq!(dumped.status.code(), Some(2), "{said}");
    let missing: Vec<&str> = said.lines().filter(|line| line.contains("NOT DUMPED")).collect();
    assert_eq!(missing.len(), 2, "{said}");
    for (line, table) in missing.iter().zip(["e.r ", "e.spread "]) {
        assert!(line.contains(table) && line.contains("--innodb-directories"), "{line}");
    }

    assert_checked(data, &with);
}

/// Checks that `check` knows every table of the system tablespace, and finds damage there.
fn assert_checked(data: &str, options: &[&str]) {
    let (checked, said) = output(&[&["check", data], options].concat());
    assert_eq!(checked.status.code(), Some(0), "{said}");
    let system = format!("{data}/ibdata1");
    let indexes = || {
        let (checked, said) = output(&[&["check", &system, "--json"], options].concat());
        let json: serde_json::Value = serde_json::from_slice(&checked.stdout).expect(&said);
        let indexes = json["files"][0]["indexes"].as_array().cloned().expect(&said);
        (checked.status.code(), indexes)
    };
    let (code, known) = indexes();
    assert_eq!(code, Some(0));
    let root_of = |table: &str| {
        let index = known.iter().find(|index| index["table"] == table).expect(table);
        assert_eq!(index["parents_compared"], index["level_pages"].as_array().unwrap().len() > 1);
        assert!(index["key_columns_compared"].as_u64() > Some(0), "{index}");
        index["root"].as_u64().unwrap()
    };
    let root = root_of("e.s");
    let partition = known.iter().filter_map(|index| index["table"].as_str());
    assert!(partition.clone().any(|table| table.starts_with("e.parts, partition ")), "{known:?}");
    let (described, said) = output(&[&["inspect", &system, &root.to_string()], options].concat());
    let described = String::from_utf8(described.stdout).unwrap();
    assert!(described.contains("child page"), "{said}{described}");

    // A page of the doublewrite buffer is a copy, which nothing depends on; a root is not.
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&system).unwrap();
    for (page, code) in [(100, 0), (root, 2)] {
        let mut before = [0; 6];
        let at = page * 16384 + 8000;
        file.read_exact_at(&mut before, at).unwrap();
        file.write_all_at(b"damage", at).unwrap();
        let (checked, said) = output(&[&["check", data, "-q"], options].concat());
        let out = String::from_utf8(checked.stdout).unwrap();
        assert_eq!(checked.status.code(), Some(code), "{said}{out}");
        let line = format!("ibdata1: page: page {page}: checksum mismatch");
        assert_eq!(out.contains(&line), code == 2, "{out}");
        file.write_all_at(&before, at).unwrap();
    }
}

#[test]
fn a_system_tablespace_of_several_files_is_read_as_one() {
    let remote = remote();
    let files = "--innodb-data-file-path=ibdata1:5M;ibdata2:3M;ibdata3:4M:autoextend";
    let (mut server, mut sums) = filled(remote.path(), &[files]);
    server.stop().unwrap();
    let data = server.data();
    sums.retain(|(table, _)| ["e.s", "e.parts"].contains(&&**table));
    assert_eq!(sums.len(), 2);
    let root = data.to_str().unwrap();
    assert_read(root, &[], &sums);
    let directories = format!("--innodb-directories={}", remote.path().display());
    let (checked, said) = output(&["check", root, &directories]);
    assert_eq!(checked.status.code(), Some(0), "{said}");

    let wrong = ["--innodb-data-file-path", "ibdata1:5M;ibdata3:4M;ibdata2:3M"];
    let (last, away) = (data.join("ibdata3"), remote.path().join("away"));
    std::fs::rename(&last, &away).unwrap();
    let texts = ["more files (innodb_data_file_path", "--innodb-data-file-path 'ibdata1:12M"];
    assert_refused(root, &[], "e.s", &texts);
    assert_refused(root, &[], "e.parts", &texts);
    std::fs::rename(&away, &last).unwrap();
    // The pages' numbers show the order of the files.
    assert_refused(root, &wrong, "e.s", &["ibdata1"]);
}

#[test]
fn a_system_tablespace_in_another_directory_is_found_by_its_options() {
    let remote = remote();
    let home = format!("--innodb-data-home-dir={}", remote.path().display());
    let names = "--innodb-data-file-path=first:6M;one/second:6M:autoextend";
    let (mut server, sums) = filled(remote.path(), &[&home, names]);
    let data = server.data();
    let data = data.to_str().unwrap();
    // The redo log is locked too, which is in the data directory.
    for options in [&[&*home, names][..], &[]] {
        assert_refused(data, options, "e.own", &["a server is running on this directory"]);
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out").display().to_string();
    let socket = server.socket().to_str().unwrap();
    let (dumped, said) = output(&["dump", "-S", socket, "-u", "root", "-B", "e", "-o", &out]);
    assert!(dumped.status.success(), "{said}");

    server.stop().unwrap();
    let directories = format!("--innodb-directories={}", remote.path().display());
    assert_read(data, &[&home, names, &directories], &sums);
    // The same from the option file of the server, and nothing from that of another.
    let option_file = remote.path().join("my.cnf");
    let defaults = format!("--defaults-file={}", option_file.display());
    let write = |datadir: &str| {
        let (home, names) = (home.trim_start_matches('-'), names.trim_start_matches('-'));
        let directories = directories.trim_start_matches('-');
        let text = format!("[mysqld]\ndatadir={datadir}\n{home}\n{names}\n{directories}\n");
        std::fs::write(&option_file, text).unwrap();
    };
    write(data);
    assert_read(data, &[&defaults], &sums);
    write(&out);
    assert_refused(data, &[&defaults], "e.s", &["there is no ibdata1", "--innodb-data-home-dir"]);
    assert_refused(data, &[], "e.s", &["there is no ibdata1", "--innodb-data-home-dir"]);
}

#[test]
fn a_second_copy_of_a_file_is_refused() {
    let remote = remote();
    let (mut server, sums) = filled(remote.path(), &[]);
    server.stop().unwrap();
    let data = server.data();
    let data = data.as_path();
    let copies = std::fs::canonicalize(remote.path()).unwrap().join("old");
    std::fs::create_dir_all(copies.join("e")).unwrap();
    // The system tablespace and tables of the data directory itself are never taken from elsewhere.
    for name in ["ibdata1", "e/own.ibd"] {
        std::fs::copy(data.join(name), copies.join(name)).unwrap();
    }
    let options = [&*format!("--innodb-directories={}", remote.path().display())];
    assert_read(data.to_str().unwrap(), &options, &sums);

    let (file, copy) = (copies.with_file_name("e").join("r.ibd"), copies.join("e/r.ibd"));
    std::fs::copy(&file, &copy).unwrap();
    let texts = ["two files are of `e.r`", file.to_str().unwrap(), copy.to_str().unwrap()];
    assert_refused(data.to_str().unwrap(), &options, "e.r", &texts);
}

#[test]
fn tables_of_mysql_ibd_are_read_by_name() {
    let fixture = fixtures().unwrap().join("mysql-8.0.12/data");
    let dir = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(fixture).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_file() {
            std::fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    // The fixture has no directories without tables.
    std::fs::create_dir(dir.path().join("mysql")).unwrap();
    // `CHECKSUM TABLE` of a new server of 8.0.12, whose help tables are always the same.
    let sums = [("mysql.help_relation", 535_412_887), ("mysql.help_category", 2_177_783_955)];
    assert_read(dir.path().to_str().unwrap(), &[], &sums.map(|(name, sum)| (name.to_owned(), sum)));
    // The dictionary's own tables too, which no SHOW CREATE TABLE shows.
    let (listed, said) =
        output(&["scan", "mysql.tables", "--json", "--datadir", dir.path().to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&listed.stdout).expect(&said);
    assert!(json["rows"].as_u64().unwrap() > 202, "{json}");
}

#[test]
fn pages_of_the_change_buffer_and_its_free_ones_are_told_apart() {
    let options = ["--innodb-buffer-pool-size=8M", "--innodb-change-buffering=all"];
    let mut server = Server::start("mariadb-10.11", &options).unwrap();
    let rows = "SELECT seq, MD5(seq), SHA1(seq), MD5(seq * 7) FROM seq_1_to_60000";
    let sql = format!(
        "CREATE DATABASE e; USE e;
         CREATE TABLE t (id INT PRIMARY KEY, a CHAR(40), b CHAR(40), c CHAR(40), KEY (a), KEY (b), KEY (c));
         INSERT INTO t {rows};"
    );
    server.sql(&sql).unwrap();
    // Not emptied by the shutdown, unless it is a slow one.
    server.stop().unwrap();
    let system = server.data().join("ibdata1").display().to_string();
    let (checked, said) = output(&["check", &system, "--json"]);
    assert_eq!(checked.status.code(), Some(0), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    let indexes = json["files"][0]["indexes"].as_array().unwrap();
    let buffer = indexes.iter().find(|index| index["id"] == 0xFFFF_FFFF_0000_0000_u64).unwrap();
    assert!(buffer["level_pages"][0].as_u64() > Some(1), "{buffer}");
    assert!(json["files"][0]["kinds"]["IBUF_FREE_LIST"].as_u64() > Some(0), "{json}");
}

/// Undo tablespaces outside of the data directory show transactions that were prepared (`XA PREPARE`), whose changes are
/// in the files of the tables.
fn a_prepared_transaction_is_found(version: &str, options: &[&str]) {
    let remote = remote();
    let directory = format!("--innodb-undo-directory={}", remote.path().display());
    let mut server = Server::start(version, &[&[&*directory], options].concat()).unwrap();
    let sql = "CREATE DATABASE e; CREATE TABLE e.t (id INT PRIMARY KEY) ENGINE=InnoDB;
               XA START 'x'; INSERT INTO e.t VALUES (1); XA END 'x'; XA PREPARE 'x';";
    server.sql(sql).unwrap();
    server.stop().unwrap();
    let data = server.data();
    let data = data.to_str().unwrap();
    let out = remote.path().join("out").display().to_string();
    let (dumped, said) = output(&["dump", data, "-o", &out]);
    assert!(dumped.status.success(), "{said}");
    let note =
        "innoscan: note: whether there are unfinished transactions (XA PREPARE) is not known";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    assert!(said.contains("innodb_undo_directory"), "{said}");
    let undo = [&*directory, "--quiet"];
    let (read, said) =
        output(&[&["dump", "e.t", "--datadir", data, "--format", "text"], &undo[..]].concat());
    assert!(read.status.success() && read.stdout.is_empty(), "{said}");
    assert!(said.contains("1 transaction prepared by XA PREPARE"), "{said}");
    let (checked, said) = output(&["check", data, &directory, "--verbose"]);
    let checked = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.contains("/undo") && checked.contains(": sound"), "{said}{checked}");
}

#[test]
fn undo_tablespaces_in_another_directory_are_read() {
    a_prepared_transaction_is_found("mariadb-10.11", &["--innodb-undo-tablespaces=2"]);
}

#[test]
#[ignore = "starts servers of MySQL: make test-all"]
fn undo_tablespaces_of_mysql_in_another_directory_are_read() {
    for version in ["mysql-8.0.12", "mysql-8.0.33", "mysql-9.7"] {
        a_prepared_transaction_is_found(version, &[]);
    }
}
