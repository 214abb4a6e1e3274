//! A data directory is read only when its files hold every change; what a running or killed server
//! left is refused with the reason.

use innoscan::Keys;
use innoscan_catalog::Prepared;
use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Shutdown, Trust};
use innoscan_catalog::key_files::KeyFiles;
use innoscan_catalog::option_file::OptionFiles;
use innoscan_engine::ErrorKind;
use innoscan_format::redo::RedoHead;
use innoscan_testkit::server::Server;

const VERSION: &str = "mariadb-10.11";

fn refusal(server: &Server) -> String {
    let error = open(server, Trust::Verify(Prepared::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RefusedDirectory, "{error}");
    error.to_string()
}

fn assert_clean(server: &Server) {
    let datadir = open(server, Trust::Verify(Prepared::default())).unwrap();
    assert!(matches!(datadir.shutdown(), Shutdown::Clean { .. }), "{:?}", datadir.shutdown());
}

fn open(server: &Server, trust: Trust) -> innoscan_engine::Result<DataDir> {
    DataDir::open(&server.data(), &DataFiles::default(), trust, &Keys::default())
}

#[test]
fn only_files_that_hold_every_change_are_read() {
    let mut server = Server::start(VERSION, &[]).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    assert!(refusal(&server).contains("a server is running"), "{}", refusal(&server));

    server.stop().unwrap();
    assert_clean(&server);

    // Killed before its first checkpoint, a server leaves the last shutdown's mark as it was.
    server.restart().unwrap();
    server.sql("INSERT INTO d.t VALUES (1), (2), (3);").unwrap();
    server.kill().unwrap();
    // Its redo log has the rows.
    let crashed = open(&server, Trust::Verify(Prepared::default())).unwrap();
    assert!(crashed.is_crashed(), "{:?}", crashed.shutdown());
    let table = Catalog::new(Some(server.data())).table("d.t").unwrap();
    assert!(
        table.notes.rows.iter().any(|note| note.contains("not shut down")),
        "{:?}",
        table.notes
    );
    let forced = open(&server, Trust::Force).unwrap();
    assert!(forced.is_crashed());

    server.restart().unwrap();
    server.stop().unwrap();
    assert_clean(&server);
    let table = Catalog::new(Some(server.data())).table("d.t").unwrap();
    assert_eq!(table.def.name, "t");
    assert!(table.newest_lsn.is_some());
    assert!(table.notes.rows.is_empty(), "{:?}", table.notes);
}

/// A client's input: a statement, then nothing until the sender is dropped.
struct HeldOpen {
    statement: Option<&'static str>,
    until: std::sync::mpsc::Receiver<()>,
}

impl std::io::Read for HeldOpen {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(statement) = self.statement.take() else {
            // Ends when the sender is gone: that is what is waited for.
            let _ = self.until.recv();
            return Ok(0);
        };
        buffer[..statement.len()].copy_from_slice(statement.as_bytes());
        Ok(statement.len())
    }
}

/// `FLUSH TABLES ... FOR EXPORT` puts a `.cfg` beside a tablespace until the tables are unlocked.
#[test]
fn an_exported_table_of_a_running_server_is_read() {
    let server = Server::start(VERSION, &[]).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    let catalog = || Catalog::new(Some(server.data()));
    let error = catalog().table("d.t").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RefusedDirectory, "{error}");
    let exported = server.data().join("d/t.cfg");
    let locked = server.data().join("locked");
    std::thread::scope(|scope| {
        let (hold, until) = std::sync::mpsc::channel();
        let statement = "FLUSH TABLES d.t FOR EXPORT; SELECT 1 INTO OUTFILE 'locked';\n";
        let mut input = HeldOpen { statement: Some(statement), until };
        let server = &server;
        let client = scope.spawn(move || server.feed(&mut input));
        wait_until("the table is exported", || locked.exists());
        let table = catalog().table("d.t").unwrap();
        assert!(table.notes.rows.iter().any(|note| note.contains("export")), "{:?}", table.notes);
        drop(hold);
        client.join().unwrap().unwrap();
    });
    // The server unlocks the tables of a client that went away, at a time of its own.
    wait_until("the table is unlocked", || !exported.exists());
    let error = catalog().table("d.t").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RefusedDirectory, "{error}");
}

/// Waits for a state that another process brings about.
fn wait_until(state: &str, is_reached: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_reached() {
        assert!(std::time::Instant::now() < deadline, "it never came to be that {state}");
        std::thread::yield_now();
    }
}

/// What nobody took away says nothing: the table is not held.
#[test]
fn a_cfg_that_was_left_over_is_not_believed() {
    let mut server = Server::start(VERSION, &[]).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    let left_over = server.data().join("d/t.cfg");
    let refused = |server: &Server| {
        let error = Catalog::new(Some(server.data())).table("d.t").unwrap_err().to_string();
        assert!(error.contains("the .cfg beside it was left over"), "{error}");
    };
    std::fs::write(&left_over, "").unwrap();
    server.stop().unwrap();
    server.restart().unwrap();
    // Older than the server, which has only changed its memory.
    server.sql("INSERT INTO d.t VALUES (1);").unwrap();
    refused(&server);
    // Older than what the server wrote.
    std::fs::write(&left_over, "").unwrap();
    server.sql("INSERT INTO d.t VALUES (2);").unwrap();
    server.sql("SET GLOBAL innodb_max_dirty_pages_pct = 0;").unwrap();
    let written = || std::fs::metadata(server.data().join("d/t.ibd")).unwrap().modified().unwrap();
    let exported = std::fs::metadata(&left_over).unwrap().modified().unwrap();
    wait_until("the page is written", || written() > exported);
    refused(&server);
    server.stop().unwrap();
    let table = Catalog::new(Some(server.data())).table("d.t").unwrap();
    assert!(table.newest_lsn.is_some() && table.notes.rows.is_empty(), "{:?}", table.notes);
}

/// An encrypted redo log shows without its key whether it is empty.
#[test]
fn an_encrypted_log_says_whether_the_server_was_shut_down() {
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let options = [
        "--plugin-load-add=file_key_management",
        &format!("--file-key-management-filename={}", keys.path().display()),
        "--innodb-encrypt-log=ON",
    ];
    let mut server = Server::start(VERSION, &options).unwrap();
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB;").unwrap();
    let table = |server: &Server| Catalog::new(Some(server.data())).table("d.t");
    server.stop().unwrap();
    table(&server).unwrap();
    server.restart().unwrap();
    server.sql("INSERT INTO d.t VALUES (1);").unwrap();
    server.kill().unwrap();
    // What comes after the checkpoint needs the key. No key, a wrong one, and damage are three errors.
    let error = table(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoKey, "{error}");
    let with_key = |digits: &str| {
        std::fs::write(keys.path(), format!("1;{digits}\n")).unwrap();
        let option_files = OptionFiles { none: true, ..OptionFiles::default() };
        let key_file = Some(keys.path().to_owned());
        let files = KeyFiles { key_file, option_files, ..KeyFiles::default() };
        let keys = files.keys(|| ()).unwrap();
        Catalog::new(Some(server.data())).with_keys(keys).table("d.t")
    };
    let right = "770A8A65DA156D24EE2A093277530142";
    let error = with_key("870A8A65DA156D24EE2A093277530142").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongKey, "{error}");
    let said = error.to_string();
    assert!(said.contains("ib_logfile0") && !said.contains("870A"), "{said}");
    with_key(right).unwrap();
    let path = server.data().join("ib_logfile0");
    let log = std::fs::read(&path).unwrap();
    let mut cut = log.clone();
    let RedoHead::Circular(head) = RedoHead::parse(&log, log.len() as u64).unwrap() else {
        panic!("a log of blocks");
    };
    cut[head.checkpoint_offset() as usize + 2..].fill(0);
    std::fs::write(&path, cut).unwrap();
    let error = with_key(right).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RefusedDirectory, "{error}");
    std::fs::write(&path, log).unwrap();
    server.restart().unwrap();
    server.stop().unwrap();
    table(&server).unwrap();
}
