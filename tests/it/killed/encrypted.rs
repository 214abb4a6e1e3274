//! Killed servers of MySQL whose logs are encrypted, and their tables: by which keys they are read, and how a missing
//! key, a wrong one and damage are told apart.

use std::path::{Path, PathBuf};

use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::key_files::KeyFiles;
use innoscan_catalog::option_file::OptionFiles;
use innoscan_engine::ErrorKind;
use innoscan_engine::keys::Keys;
use innoscan_testkit::server::{Server, install};

use super::load::{self, Family, Plan, Random};
use super::rows::compare_tables;
use super::{
    CHANGES_OF_ROWS, Extra, Load, compare_pages_under, definitions, mysql_version, pages, seeds,
};

/// `LOG_ENCRYPTION` and `LOG_HEADER_ENCRYPTION_INFO_OFFSET`: where the header of a file of the log has the info.
const INFO_AT: usize = 1024 + 48;

/// Statements of a client between two changes of the encryption, on average.
const BETWEEN: u64 = 40;

const ENCRYPTED: Load<'_> = Load { extra: Extra::Encrypted, ..CHANGES_OF_ROWS };

/// The statements of one client; the first one also changes what is encrypted, and by which master key.
fn script(plan: Plan, client: u64) -> String {
    let statements = load::script(plan, client);
    if client != 0 {
        return statements;
    }
    let mut random = Random::new(plan.seed * 61 + 7);
    let mut sql = String::from(
        "CREATE TABLESPACE g ADD DATAFILE 'g.ibd' ENCRYPTION='Y';
         CREATE TABLE d.shared (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(500)) TABLESPACE g ENCRYPTION='Y';\n",
    );
    for statement in statements.lines() {
        sql.push_str(statement);
        sql.push('\n');
        if random.below(BETWEEN) == 0 {
            sql.push_str(&change(&mut random));
            sql.push('\n');
        }
    }
    sql
}

fn change(random: &mut Random) -> String {
    let is_on = random.below(2) == 0;
    let (on, yes) = if is_on { ("ON", "Y") } else { ("OFF", "N") };
    match random.below(12) {
        0..3 => format!("SET GLOBAL innodb_redo_log_encrypt={on};"),
        3 => format!("SET GLOBAL innodb_undo_log_encrypt={on};"),
        4..6 => "ALTER INSTANCE ROTATE INNODB MASTER KEY;".to_owned(),
        6 => format!("ALTER TABLESPACE mysql ENCRYPTION='{yes}';"),
        7..9 => format!("ALTER TABLESPACE g ENCRYPTION='{yes}';"),
        9 => {
            let table = ["dyn0", "geo", "doc"][random.below(3) as usize];
            format!("ALTER TABLE d.{table} ENCRYPTION='{yes}';")
        }
        _ => "INSERT INTO d.shared (v) SELECT REPEAT(n, 400) FROM d.digits;".to_owned(),
    }
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn each_page_is_what_mysql_recovers_by_an_encrypted_log() {
    let keys = |dir: &Path| Extra::Encrypted.keys(Family::MySql, dir);
    for seed in seeds() {
        // As it is from the start, or changed while the server runs.
        let script = if seed % 2 == 0 { load::script } else { script };
        let load = Load { script, ..ENCRYPTED };
        compare_pages_under(&mysql_version(), seed..seed + 1, load, keys);
    }
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn rows_are_what_mysql_recovers_by_an_encrypted_log() {
    compare_tables(&mysql_version(), 1000, Load { script, ..ENCRYPTED }, |_, _| Ok(()));
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn definitions_are_what_mysql_recovers_by_an_encrypted_log() {
    let load = Load { script: definitions::script, log_bytes: 2 << 20, ..ENCRYPTED };
    compare_tables(&mysql_version(), 5000, load, |_, _| Ok(()));
}

/// Pages of a spatial index have a number where others have nothing, or where an encrypted one has its type.
#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn encrypted_pages_of_a_spatial_index_are_what_mysql_recovers() {
    let version = mysql_version();
    install(&version).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let keyring = format!("--keyring-component={}", Extra::keyring(dir.path()).display());
    let mut server =
        Server::start(&version, &[&keyring, "--innodb-max-dirty-pages-pct=99"]).unwrap();
    let points = |first: u32| -> String {
        let point = |n: u32| format!("(POINT({}, {}))", n * 7919 % 10_007, n * 104_729 % 9973);
        let points: Vec<String> = (first..first + 3000).map(point).collect();
        format!("INSERT INTO d.geo (g) VALUES {};", points.join(","))
    };
    let table = "CREATE DATABASE d; CREATE TABLE d.geo (id INT PRIMARY KEY AUTO_INCREMENT, g POINT NOT NULL SRID 0,
                   SPATIAL KEY (g)) ENGINE=InnoDB ENCRYPTION='Y';";
    server.sql(table.to_owned() + &points(0)).unwrap();
    // So that the file has the pages that the log changes.
    server.stop().unwrap();
    server.restart().unwrap();
    server.sql(points(3000)).unwrap();
    server.kill().unwrap();
    let mut recovered = server.copy().unwrap();
    recovered.restart_with(&["--innodb-force-recovery=3"]).unwrap();
    recovered.stop().unwrap();
    let keys = Extra::Encrypted.keys(Family::MySql, dir.path());
    let data = recovered.data();
    let compared = pages::compare(&server.data(), &DataFiles::default(), &data, &keys);
    assert!(!compared.is_different() && compared.changed > 20, "{compared}");
}

/// The files of a log that say by which key it is encrypted.
fn files_with_info(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("#innodb_redo")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| std::fs::read(file).unwrap()[INFO_AT..].starts_with(b"lCC"));
    files
}

/// No key, a wrong one, and damage are three errors; what is not encrypted needs no key.
#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn an_encrypted_log_of_mysql_needs_its_master_key_if_the_server_was_killed() {
    let version = mysql_version();
    install(&version).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let keyring = dir.path().join("keyring");
    let options =
        [&*format!("--keyring-component={}", keyring.display()), "--innodb-redo-log-encrypt=ON"];
    let mut server = Server::start(&version, &options).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    let open = |server: &Server, keyring: Option<&Path>| {
        let option_files = OptionFiles { none: true, ..OptionFiles::default() };
        let keyring = keyring.map(Path::to_owned);
        let files = KeyFiles { keyring, option_files, ..KeyFiles::default() };
        let keys: Keys = files.keys(|| ()).unwrap();
        Catalog::new(Some(server.data())).with_keys(keys).table("d.t")
    };
    server.stop().unwrap();
    open(&server, None).unwrap();
    server.restart().unwrap();
    server.sql("INSERT INTO d.t VALUES (1);").unwrap();
    server.kill().unwrap();
    let error = open(&server, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoKey, "{error}");
    let said = error.to_string();
    for part in ["#innodb_redo/#ib_redo", "its master key INNODBKey-", "give the keyring"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let mut other: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&keyring).unwrap()).unwrap();
    for key in other["elements"].as_array_mut().unwrap() {
        key["data"] = "5A".repeat(32).into();
    }
    let wrong = dir.path().join("wrong");
    std::fs::write(&wrong, other.to_string()).unwrap();
    let error = open(&server, Some(&wrong)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongKey, "{error}");
    let said = error.to_string();
    assert!(said.contains("#innodb_redo/#ib_redo") && !said.contains("5A5A"), "{said}");
    open(&server, Some(&keyring)).unwrap();
    // The header without its info, and with a damaged key.
    let files = files_with_info(&server.data());
    let sound: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    for (at, kind, what) in [
        (0, ErrorKind::RefusedDirectory, "its header does not say by which key"),
        (10, ErrorKind::Corrupt, "no UUID of a server"),
        (60, ErrorKind::WrongKey, "or that of the log, which it encrypts, is damaged"),
    ] {
        for (file, bytes) in files.iter().zip(&sound) {
            let mut damaged = bytes.clone();
            damaged[INFO_AT + at] ^= 0x80;
            std::fs::write(file, damaged).unwrap();
        }
        let error = open(&server, Some(&keyring)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let said = error.to_string();
        assert!(said.contains("#innodb_redo/#ib_redo") && said.contains(what), "{said}");
    }
    for (file, bytes) in files.iter().zip(&sound) {
        std::fs::write(file, bytes).unwrap();
    }
    open(&server, Some(&keyring)).unwrap();
    // The header still has the key, and nothing behind the checkpoint is encrypted. When the option is first off, the
    // block that was begun is still encrypted.
    server.restart().unwrap();
    server.stop().unwrap();
    server.restart_with(&["--innodb-redo-log-encrypt=OFF"]).unwrap();
    server.stop().unwrap();
    server.restart_with(&["--innodb-redo-log-encrypt=OFF"]).unwrap();
    server.sql("INSERT INTO d.t VALUES (2);").unwrap();
    server.kill().unwrap();
    assert!(!files_with_info(&server.data()).is_empty());
    open(&server, None).unwrap();
}
