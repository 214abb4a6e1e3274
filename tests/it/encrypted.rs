//! Encrypted tables: keys are found as servers find them, a missing key, a wrong key and damage are different errors,
//! and no key is in any output. That rows are right is the matter of `parity.rs`.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use innoscan_testkit::server::{Server, fixtures};
use rustix::process::{Pid, Signal, kill_process};

use crate::corpus::{options_in, tables_in};
use crate::parity::command;

const MYSQL: &str = "mysql-8.0.33-tde-component";
const MARIADB: &str = "mariadb-10.11-enc-ctr";

/// The corpora of servers with keys: the fixtures, or those of `INNOSCAN_CORPUS`.
fn corpora() -> BTreeSet<PathBuf> {
    let root = std::env::var_os("INNOSCAN_CORPUS").map(PathBuf::from);
    let tables = tables_in(&root.unwrap_or_else(|| fixtures().unwrap())).into_iter();
    // Those of shared tablespaces have options too, but only some have keys.
    let corpora: BTreeSet<PathBuf> = tables
        .filter(|table| table.corpus.join("data/t_encrypted").is_dir())
        .map(|table| table.corpus)
        .collect();
    assert!(!corpora.is_empty(), "no corpus has keys");
    corpora
}

fn corpus(name: &str) -> PathBuf {
    fixtures().unwrap().join(name)
}

fn source_options(corpus: &Path) -> Vec<String> {
    options_in(corpus, "source-options")
}

/// The output of the command, without the option files of this machine.
fn output(args: &[&str], options: &[String]) -> Output {
    let mut command = command();
    command.args(args).args(options).stdin(Stdio::null());
    if !options.iter().any(|option| option.starts_with("--defaults-file")) {
        command.arg("--no-defaults");
    }
    command.output().unwrap()
}

/// What a command says that ends with this exit code.
fn said(code: i32, args: &[&str], options: &[String]) -> String {
    let output = output(args, options);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?} {options:?}: {said}");
    said
}

/// A table of a corpus that is encrypted by its own DDL.
fn file(corpus: &Path) -> String {
    corpus.join("data/t_encrypted/dynamic.ibd").to_str().unwrap().to_owned()
}

fn checksum(source: &str, options: &[String]) -> Option<u64> {
    let output = output(&["scan", source, "--checksum", "--json"], options);
    serde_json::from_slice::<serde_json::Value>(&output.stdout).ok()?["checksum"].as_u64()
}

/// What the server said of [`file`].
fn right_checksum(corpus: &Path) -> u64 {
    let path = corpus.join("expected/t_encrypted/dynamic.checksum");
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// Whether corpora are the fixtures, which lack pages of their system tablespaces.
fn is_trimmed() -> bool {
    std::env::var_os("INNOSCAN_CORPUS").is_none()
}

/// What is dumped of a corpus: its directory, or its files where a fixture has only a part of `mysql.ibd`.
fn sources(corpus: &Path) -> Vec<String> {
    let data = corpus.join("data");
    if !is_trimmed() || !data.join("mysql.ibd").exists() {
        return vec![data.to_str().unwrap().to_owned()];
    }
    let files = std::fs::read_dir(data.join("t_encrypted")).unwrap();
    let paths = files.map(|file| file.unwrap().path().to_str().unwrap().to_owned());
    paths.filter(|path| path.ends_with(".ibd") && !path.contains("#p#")).collect()
}

#[test]
fn every_command_reads_a_directory_with_its_keys() {
    for corpus in corpora() {
        let options = source_options(&corpus);
        let data = corpus.join("data");
        let data = data.to_str().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let out = out.to_str().unwrap();
        let sources = sources(&corpus);
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        said(0, &[&["dump", "-o", out, "--quiet"], &sources[..]].concat(), &options);
        said(0, &["verify", out, "--against", data], &options);
        let whole = if is_trimmed() { format!("{data}/t_encrypted") } else { data.to_owned() };
        said(0, &["check", "--quiet", &whole], &options);
        said(0, &[&["ls"], &sources[..]].concat(), &options);
        said(0, &["tablespaces", data, "--sdi", "--quiet"], &options);
        let file = file(&corpus);
        said(0, &["explain", &file], &options);
        said(0, &["inspect", &file, "4"], &options);
        said(0, &["get", &file, "--range", "1.."], &options);
        let scan = output(&["scan", &file], &options);
        assert!(String::from_utf8_lossy(&scan.stdout).contains("\ndecrypt "), "{scan:?}");
    }
}

#[test]
fn a_missing_key_is_named_with_the_remedy() {
    for (name, key, remedy) in [
        (MYSQL, "its master key INNODBKey-", "--keyring FILE"),
        (MARIADB, "its key 1 is not known", "--file-key-management-filename FILE"),
    ] {
        let corpus = corpus(name);
        for args in [&["scan"][..], &["scan", "--on-corrupt", "skip"], &["dump"], &["explain"]] {
            let file = file(&corpus);
            let args = [args, &[&*file]].concat();
            let said = said(2, &args, &[]);
            assert!(said.contains(key) && said.contains(remedy), "{said}");
            assert!(said.contains("dynamic.ibd: it is encrypted"), "{said}");
        }
    }
    let data = corpus(MYSQL).join("data");
    let said = said(2, &["dump", data.to_str().unwrap(), "-o", "/nonexistent/x"], &[]);
    assert!(said.contains("mysql.ibd: it is encrypted"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_wrong_key_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let written = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let mysql = corpus(MYSQL);
    let keyring = std::fs::read(mysql.join("keys/component_keyring_file")).unwrap();
    let mut other: serde_json::Value = serde_json::from_slice(&keyring).unwrap();
    for key in other["elements"].as_array_mut().unwrap() {
        key["data"] = "5A".repeat(32).into();
    }
    let other = other.to_string();
    let option = format!("--keyring={}", written("keyring", other.as_bytes()));
    let mariadb = corpus(MARIADB);
    let keys = format!("--file-key-management-filename={}", written("keys", other_keys()));
    let cbc = "--file-key-management-encryption-algorithm=aes_cbc".to_owned();
    let right_keys: Vec<String> = source_options(&mariadb)
        .into_iter()
        .filter(|option| !option.contains("algorithm"))
        .collect();
    for (corpus, options, why) in [
        (&mysql, vec![option], "is not the one that encrypted it"),
        (&mariadb, vec![keys], "version 1 of key 1 is wrong"),
        (&mariadb, [right_keys, vec![cbc]].concat(), "or the algorithm is not aes_cbc"),
    ] {
        for more in [&["scan"][..], &["scan", "--on-corrupt", "skip"], &["dump"]] {
            let file = file(corpus);
            let args = [more, &[&*file]].concat();
            let said = said(2, &args, &options);
            assert!(said.contains(why) && !said.contains("checksum mismatch"), "{said}");
        }
    }
}

fn other_keys() -> &'static [u8] {
    b"1;00112233445566778899aabbccddeeff\n2;00112233445566778899aabbccddeeff\n3;00112233445566778899aabbccddeeff\n"
}

#[test]
fn damage_to_an_encrypted_page_has_its_place_and_can_be_skipped() {
    for name in [MYSQL, MARIADB] {
        let corpus = corpus(name);
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("dynamic.ibd");
        std::fs::copy(file(&corpus), &copy).unwrap();
        if let Ok(frm) = std::fs::read(file(&corpus).replace(".ibd", ".frm")) {
            std::fs::write(copy.with_extension("frm"), frm).unwrap();
        }
        let options = source_options(&corpus);
        let copy = copy.to_str().unwrap();
        let sound = output(&["scan", copy, "--json"], &options);
        let sound: serde_json::Value = serde_json::from_slice(&sound.stdout).unwrap();
        let mut bytes = std::fs::read(copy).unwrap();
        let leaf = (4..bytes.len() / 16384).find(|page| {
            let header = &bytes[page * 16384..][..38];
            header[8..12] != header[12..16] && header[12..16] != [0xFF; 4]
        });
        let leaf = leaf.unwrap();
        bytes[leaf * 16384 + 9000] ^= 1;
        std::fs::write(copy, &bytes).unwrap();
        let text = said(2, &["scan", copy], &options);
        assert!(
            text.contains("checksum mismatch") && text.contains(&format!("page {leaf}")),
            "{text}"
        );
        let skipped = output(&["scan", copy, "--json", "--on-corrupt", "skip"], &options);
        let skipped: serde_json::Value = serde_json::from_slice(&skipped.stdout).unwrap();
        assert_eq!(skipped["damaged"], 1);
        assert!(skipped["rows"].as_u64() < sound["rows"].as_u64());
    }
}

#[test]
fn option_files_name_the_keys_as_for_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let written = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (plugin, component) = (corpus("mysql-8.0.33-tde-plugin"), corpus(MYSQL));
    let mariadb = corpus(MARIADB);
    let keyring = component.join("keys/component_keyring_file");
    let configuration = format!("{{\"path\": \"{}\", \"read_only\": true}}", keyring.display());
    let cnf = written("component_keyring_file.cnf", configuration);
    let files = [
        (
            &plugin,
            format!("[mysqld]\nkeyring_file_data={}\n", plugin.join("keys/keyring").display()),
        ),
        (&component, format!("[mysqld-8.0]\nplugin-dir = {}\n", dir.path().display())),
        (
            &mariadb,
            format!(
                "[client]\nuser=x\n[mariadb]\nloose-file_key_management_filename = {0}/keys/keys.enc\n\
                 file-key-management-filekey = FILE:{0}/keys/filekey\n\
                 file_key_management_encryption_algorithm=AES_CTR\n",
                mariadb.display()
            ),
        ),
    ];
    for (number, (corpus, text)) in files.into_iter().enumerate() {
        let option = format!("--defaults-file={}", written(&format!("{number}.cnf"), text));
        assert_eq!(
            checksum(&file(corpus), std::slice::from_ref(&option)),
            Some(right_checksum(corpus)),
            "{option}"
        );
    }
    let option = format!("--keyring={cnf}");
    assert_eq!(checksum(&file(&component), &[option]), Some(right_checksum(&component)));
}

#[test]
fn keys_of_other_services_come_as_lists() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list");
    let mysql = corpus(MYSQL);
    let keyring = std::fs::read(mysql.join("keys/component_keyring_file")).unwrap();
    let keyring: serde_json::Value = serde_json::from_slice(&keyring).unwrap();
    let line = |key: &serde_json::Value| {
        format!("{}={}\n", key["data_id"].as_str().unwrap(), key["data"].as_str().unwrap())
    };
    let lines: String = keyring["elements"].as_array().unwrap().iter().map(line).collect();
    std::fs::write(&list, format!("# from elsewhere\n{lines}")).unwrap();
    let option = format!("--keyring={}", list.display());
    assert_eq!(checksum(&file(&mysql), &[option]), Some(right_checksum(&mysql)));

    let mariadb = corpus("mariadb-11.8-enc");
    let keys = std::fs::read_to_string(mariadb.join("keys/keys.txt")).unwrap();
    let with_version = |line: &str| match line.trim().split_once(';') {
        Some((id, key)) => format!("{id};1;{key}\n"),
        None => String::new(),
    };
    std::fs::write(&list, keys.lines().map(with_version).collect::<String>()).unwrap();
    let option = format!("--file-key-management-filename={}", list.display());
    assert_eq!(checksum(&file(&mariadb), &[option]), Some(right_checksum(&mariadb)));
}

#[test]
fn a_file_of_an_export_needs_no_keyring() {
    let corpus = corpus(MYSQL);
    let exported = corpus.join("exported/exported.ibd");
    let path = corpus.join("expected/t_encrypted/exported.checksum");
    let expected = std::fs::read_to_string(path).unwrap().trim().parse().ok();
    assert_eq!(checksum(exported.to_str().unwrap(), &[]), expected);
    assert!(expected.is_some());

    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("exported.ibd");
    std::fs::copy(&exported, &copy).unwrap();
    let mut key = std::fs::read(exported.with_extension("cfp")).unwrap();
    key[20] ^= 1;
    std::fs::write(copy.with_extension("cfp"), &key).unwrap();
    let said = said(2, &["scan", copy.to_str().unwrap()], &[]);
    assert!(said.contains("the key is another tablespace's"), "{said}");
}

#[test]
fn key_files_that_are_none_are_refused_without_being_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let path = path.to_str().unwrap();
    let secret = "8f3a1c5d7e902b4466a1d0e3f5c79b28";
    for (option, text, why) in [
        ("--keyring", format!("Keyring file version:2.0{secret}EOF{secret}"), "checksum is wrong"),
        ("--keyring", format!("Keyring file version:3.0{secret}EOF"), "not known"),
        (
            "--keyring",
            format!("{{\"elements\": [{{\"data_id\": \"a\", \"data\": {secret}}}]}}"),
            "(line 1, column",
        ),
        ("--keyring", format!("a={secret}x"), "line 1 has no key in hexadecimal digits"),
        ("--keyring", format!("\ntablespace:1={secret}"), "line 2 has other than 64 digits"),
        (
            "--file-key-management-filename",
            format!("1;{secret}\n2;{secret}0"),
            "line 2 is not ID;KEY",
        ),
        ("--file-key-management-filename", format!("Salted__{secret}"), "its password"),
    ] {
        std::fs::write(path, text).unwrap();
        let said = said(2, &["scan", &file(&corpus(MYSQL))], &[format!("{option}={path}")]);
        assert!(said.contains(why) && !said.contains(&secret[..16]), "{why}: {said}");
        assert!(said.contains(path), "{said}");
    }
    let said = said(
        1,
        &["scan", "x.ibd"],
        &[
            "--file-key-management-filename=k".into(),
            format!("--file-key-management-filekey={secret}"),
        ],
    );
    assert!(said.contains("FILE:") && !said.contains(&secret[..16]), "{said}");
}

/// Everything in a corpus's files of keys that must not be seen: the longest runs of digits, and the password.
fn secrets(corpus: &Path) -> Vec<Vec<u8>> {
    let mut secrets = Vec::new();
    for file in std::fs::read_dir(corpus.join("keys")).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for digits in bytes.split(|byte| !byte.is_ascii_hexdigit()).filter(|run| run.len() >= 32) {
            secrets.extend([digits.to_ascii_lowercase(), digits.to_ascii_uppercase()]);
            let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
            secrets.push(digits.chunks_exact(2).map(byte).collect());
        }
        if path.ends_with("filekey") {
            secrets.push(bytes.trim_ascii().to_vec());
        }
    }
    secrets
}

fn assert_unseen(secrets: &[Vec<u8>], text: &[u8], what: &str) {
    for secret in secrets {
        let is_seen = text.windows(secret.len()).any(|window| window == secret);
        assert!(!is_seen, "{what} has {}", secret.escape_ascii());
    }
}

#[test]
fn no_key_is_in_any_output() {
    for name in [MYSQL, MARIADB, "mariadb-11.8-enc"] {
        let corpus = corpus(name);
        let secrets = secrets(&corpus);
        assert!(secrets.len() > 3 || name == MARIADB && !secrets.is_empty(), "{name}");
        let options = source_options(&corpus);
        let (data, file) = (corpus.join("data"), file(&corpus));
        let data = data.to_str().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let commands: [&[&str]; 9] = [
            &["dump", data, "-o", out.to_str().unwrap()],
            &["dump", data, "--dry-run"],
            &["scan", &file, "--json"],
            &["check", data, "--verbose"],
            &["check", &file, "--json"],
            &["inspect", &file, "0", "--hex"],
            &["inspect", &file, "4", "--hex"],
            &["explain", &file, "--json"],
            &["schema", &file],
        ];
        for args in commands {
            let output = output(args, &options);
            assert_unseen(&secrets, &output.stdout, &format!("{args:?}"));
            assert_unseen(&secrets, &output.stderr, &format!("{args:?}"));
        }
        for file in std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()) {
            assert_unseen(&secrets, &std::fs::read(&file).unwrap(), &file.display().to_string());
        }
    }
}

/// A process that writes a dump to a pipe that nobody reads further is killed by a signal that leaves a core dump.
fn dies_with_core(source: &str, options: &[String], look: impl FnOnce(Pid)) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh"]);
    shell
        .arg(command().get_program())
        .args(["dump", source, "--no-defaults", "-o", "-"])
        .args(options);
    let child = shell.current_dir(&dir).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let pid = Pid::from_child(&child);
    look(pid);
    kill_process(pid, Signal::ABORT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()));
    status.core_dumped()
}

#[test]
fn no_key_is_seen_from_outside_the_process() {
    let corpus = corpus(MYSQL);
    let secrets = secrets(&corpus);
    let data = corpus.join("data");
    let look = |pid: Pid| {
        for file in ["cmdline", "environ"] {
            let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
            assert_unseen(&secrets, &std::fs::read(&path).unwrap(), &path);
        }
    };
    let is_dumped = dies_with_core(data.to_str().unwrap(), &source_options(&corpus), look);
    assert!(!is_dumped, "a core dump, which has the keys");
    // The same without keys: it says whether this machine writes core dumps at all.
    let plain = fixtures().unwrap().join("mysql-8.0.33/data");
    println!("without keys: {}", dies_with_core(plain.to_str().unwrap(), &[], |_| ()));
}

/// Dumps of a running server's encrypted tables with these options; the dumped tables are compared with the server.
fn live(server: &Server, options: &[String], reads_files: bool) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let of_server = ["-S", server.socket().to_str().unwrap(), "-u", "root"];
    let args =
        [&["dump", "-B", "e", "--compress", "none", "-o", out.to_str().unwrap()], &of_server[..]]
            .concat();
    let said = said(0, &args, options);
    assert_eq!(!said.contains("read by SELECT"), reads_files, "{said}");
    if reads_files {
        let verify = ["verify", out.to_str().unwrap(), "--against", "server"];
        let compared = output(&[&verify, &of_server[..]].concat(), &[]);
        let text = String::from_utf8_lossy(&compared.stdout);
        assert!(text.contains("3 tables with the same rows as in the source"), "{text}");
    }
    let loaded = std::fs::read_to_string(out.join("e.id_and_text.00000.sql")).unwrap();
    assert_eq!(loaded.matches("'hello").count(), 500, "{loaded}");
}

/// Three tables, and how each is encrypted.
fn fill(server: &Server, is_encrypted: &str) {
    let rows: Vec<String> = (0..500).map(|id| format!("({id},'hello {id}')")).collect();
    let sql = format!(
        "CREATE DATABASE e; USE e;
         CREATE TABLE id_and_text (id INT PRIMARY KEY, t TEXT) {is_encrypted};
         CREATE TABLE counted (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT) {is_encrypted};
         CREATE TABLE plain (id INT PRIMARY KEY);
         INSERT INTO id_and_text VALUES {0};
         INSERT INTO counted SELECT id + 1, t FROM id_and_text;
         INSERT INTO plain SELECT id FROM id_and_text;",
        rows.join(",")
    );
    server.sql(sql).unwrap();
}

#[test]
fn encrypted_tables_of_a_running_mariadb() {
    let dir = tempfile::tempdir().unwrap();
    let keys = dir.path().join("keys");
    std::fs::write(&keys, other_keys()).unwrap();
    let keys = format!("--file-key-management-filename={}", keys.display());
    let options = ["--plugin-load-add=file_key_management", &keys];
    let mut server = Server::start("mariadb-10.11", &options).unwrap();
    fill(&server, "ENCRYPTED=YES ENCRYPTION_KEY_ID=3");
    live(&server, &[keys], true);
    // Without the keys the server decrypts.
    live(&server, &[], false);
    live(&server, &["--consistency=table".into()], false);
    server.stop().unwrap();
}

#[test]
#[ignore = "installs MySQL 8.0: make test-all"]
fn encrypted_tables_of_a_running_mysql_need_no_keyring() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = dir.path().join("keyring");
    let option = format!("--keyring-component={}", keyring.display());
    let mut server = Server::start("mysql-8.0.33", &[&option]).unwrap();
    fill(&server, "ENCRYPTION='Y'");
    live(&server, &[], true);
    live(&server, &["--consistency=table".into()], true);
    server.stop().unwrap();
}
