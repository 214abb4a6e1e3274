//! How a running server's tables are held: by somebody else, or each by itself.

use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use innoscan_testkit::server::Server;

use crate::cut_short::{dump_by, ended, rows, rows_of, with_large_table};
use crate::live::client;

/// A connection that holds both tables until its input ends.
fn holder(server: &Server) -> (Child, ChildStdin) {
    let mut holder = client(server).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = holder.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"FLUSH TABLES d.t, d.small FOR EXPORT;\n").unwrap();
    while !server.data().join("d/t.cfg").exists() || !server.data().join("d/small.cfg").exists() {
        std::thread::yield_now();
    }
    (holder, stdin)
}

#[test]
fn tables_that_somebody_else_holds_are_read_as_long_as_they_are() {
    let server = with_large_table("mariadb-10.11");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    server.sql("CREATE USER reader@localhost; GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO reader@localhost;").unwrap();
    let dump = |more: &[&str]| {
        dump_by("reader", &server, &out, &[&["--lock-mode", "none"], more].concat())
    };
    let (code, said) = ended(&mut dump(&[]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("a server is running on this directory"), "{said}");

    let (mut connection, stdin) = holder(&server);
    let (code, said) = ended(&mut dump(&[]));
    assert_eq!(code, Some(0), "{said}");
    assert!(rows(&out) == rows_of(&server));

    std::fs::remove_dir_all(&out).unwrap();
    let cut_short = dump(&["--max-rate", "8M"]).spawn().unwrap();
    while !out.join("innoscan.journal").exists() {
        std::thread::yield_now();
    }
    drop(stdin);
    connection.wait().unwrap();
    let (_connection, _stdin) = holder(&server);
    let output = cut_short.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("or the lock was released meanwhile"), "{said}");
    assert!(!out.join("metadata").exists());
}

#[test]
fn tables_that_are_locked_each_by_itself_are_whole() {
    let server = with_large_table("mariadb-10.11");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    server.sql("INSERT INTO d.small SELECT id FROM d.t WHERE id <= 1000;").unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // All rows of a table change in one transaction.
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                server.sql("UPDATE d.small SET id = id + 1000 ORDER BY id DESC;").unwrap();
                server.sql("UPDATE d.t SET v = UUID() WHERE id = 1;").unwrap();
            }
        });
        let more = ["--consistency", "table", "--lock-mode", "export", "--max-rate", "60M"];
        let mut running = dump_by("root", &server, &out, &more).spawn().unwrap();
        let (mut alone, mut both) = (0, 0);
        let code = loop {
            let held = |name: &str| server.data().join("d").join(name).exists();
            match (held("t.cfg"), held("small.cfg")) {
                (true, true) => both += 1,
                (true, false) => alone += 1,
                _ => {}
            }
            if let Some(status) = running.try_wait().unwrap() {
                break status.code();
            }
        };
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(code, Some(0));
        assert!(alone > 0 && both == 0, "{alone} times alone, {both} with the other");
    });
    let rows = rows(&out);
    assert_eq!(rows["t"].len(), 200_000);
    let ids: Vec<u64> =
        rows["small"].iter().map(|row| row.trim_matches(['(', ')']).parse().unwrap()).collect();
    assert!(ids.len() == 1000 && ids[999] - ids[0] == 999, "{} to {}", ids[0], ids[999]);
    let metadata = std::fs::read_to_string(out.join("metadata")).unwrap();
    assert!(!metadata.contains("[source]"), "{metadata}");
    let json = std::fs::read_to_string(out.join("innoscan.json")).unwrap();
    assert!(json.contains("\"consistent\": false"), "{json}");
}
