//! What the command says and how it ends: usage, messages, exit codes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use innoscan_testkit::server::Server;

use crate::live::{QUICK, client};
use crate::parity::command;

/// The folder with `cities.ibd` and `flights.ibd` of the demo.
pub(crate) fn demo() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
        std::fs::create_dir_all(&folder).unwrap();
        for table in ["cities", "flights"] {
            let archive = crate::tests_dir("data/demo");
            let unpacked = Command::new("tar")
                .args(["--use-compress-program", "zstd -d --long=27", "-xf"])
                .arg(archive.join(format!("{table}.tar.zst")))
                .arg("-C")
                .arg(&folder)
                .status()
                .unwrap();
            assert!(unpacked.success());
        }
        folder
    })
}

fn cities() -> String {
    demo().join("cities.ibd").to_str().unwrap().to_owned()
}

fn flights() -> String {
    demo().join("flights.ibd").to_str().unwrap().to_owned()
}

/// How a command ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    /// It was refused as wrong usage, in a line with all these words.
    #[track_caller]
    fn is_usage(&self, words: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(words.iter().all(|word| self.err.contains(word)), "{words:?}: {self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
    }
}

fn run<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    let output = command().args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs it with a reader that goes away after the first bytes.
fn cut_off(args: &[&str]) -> Ended {
    let mut child =
        command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), out: String::from_utf8_lossy(&first).into_owned(), err }
}

#[test]
fn a_dump_whose_reader_goes_away_is_not_done() {
    for format in ["sql", "text", "csv", "ndjson"] {
        let ended = cut_off(&["dump", &flights(), "--format", format, "-q"]);
        assert_eq!(ended.code, Some(5), "{format}: {ended:?}");
        let last = ended.err.lines().last().unwrap();
        assert_eq!(
            last,
            "innoscan: writing the output: Broken pipe (os error 32): the dump is not complete"
        );
    }
    let ended = cut_off(&["get", &cities(), "--range", "1..", "-q"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.err.contains("writing the output"), "{ended:?}");
}

#[test]
fn the_last_line_of_sql_says_that_the_dump_is_whole() {
    let ended = run(["dump", &flights(), "-q"]);
    let last = ended.out.lines().last().unwrap();
    assert!(last.starts_with("-- Dump completed on 2"), "{last}");
    assert_eq!(last.len(), "-- Dump completed on 2026-11-22 10:11:12".len());
}

#[test]
fn a_directory_that_is_no_servers_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().to_str().unwrap();
    std::fs::create_dir_all(root.path().join("photos/2026")).unwrap();
    for verb in ["dump", "ls"] {
        let ended = run([verb, path]);
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains("no file of a server is in it"), "{ended:?}");
    }
    // The directory above a server's.
    let below = root.path().join("mysql");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("ibdata1"), "").unwrap();
    let ended = run(["dump", path]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
    assert!(ended.err.contains(below.to_str().unwrap()), "{ended:?}");
}

#[test]
fn options_without_effect_are_refused() {
    let ibd = flights();
    let dir = demo().to_str().unwrap();
    let refused: &[(&[&str], &[&str])] = &[
        (&["dump", &ibd, "--users"], &["--users", "or a running server"]),
        (&["dump", &ibd, "--no-views"], &["--no-views"]),
        (&["dump", &ibd, "-S", "/tmp/s"], &["--socket", "files are named"]),
        (&["dump", &ibd, "--ssl-mode", "REQUIRED"], &["--ssl-mode"]),
        (&["dump", &ibd, "--lock-mode", "export"], &["--lock-mode", "without locks"]),
        (&["dump", &ibd, "-B", "shop"], &["--databases", "one by one"]),
        (&["dump", &ibd, "-T", "shop.t"], &["--tables-list", "one by one"]),
        (&["dump", &ibd, "-x", "^a"], &["--regex", "one by one"]),
        (&["dump", &ibd, "--ignore-table", "a.b"], &["--ignore-table", "one by one"]),
        (&["dump", &ibd, "-A"], &["--all-databases", "one by one"]),
        (&["dump", &ibd, "--datadir", "/d"], &["--datadir", "db.table"]),
        (&["dump", dir, "--datadir", "/d"], &["--datadir", "db.table"]),
        (&["dump", "-S", "/tmp/s", "-A", "--force"], &["--force", "it is for files"]),
        (&["dump", "-S", "/tmp/s", "-A", "--schema", "s.sql"], &["--schema", "it is for files"]),
        (&["dump", &ibd, "--layout", "files"], &["--layout", "stdout"]),
        (&["dump", &ibd, "-F", "1M"], &["--chunk-filesize", "stdout"]),
        (&["dump", &ibd, "--no-checksums"], &["--no-checksums", "stdout"]),
        (&["dump", &ibd, "--resume"], &["--resume", "stdout"]),
        (&["dump", &ibd, "--overwrite"], &["--overwrite", "stdout"]),
        (&["dump", &ibd, "-o", "X", "--overwrite"], &["--overwrite", "--layout files"]),
        (&["dump", &ibd, "-d", "-m"], &["--no-schemas", "--no-data"]),
        (&["dump", &ibd, "-d", "--format", "csv"], &["--no-data", "--format sql"]),
        (&["dump", &ibd, "-d", "-w", "a=1"], &["--where", "--no-data"]),
        (&["dump", &ibd, "--format", "csv", "--statement-size", "1M"], &["--format sql"]),
        (&["dump", &ibd, "--format", "csv", "-N"], &["--insert-ignore", "--format sql"]),
        (&["dump", &ibd, "--format", "text", "--replace"], &["--replace", "--format sql"]),
        (&["dump", &ibd, "--format", "csv", "--add-drop-table"], &["CREATE TABLE"]),
        (
            &["dump", &ibd, "--format", "ndjson", "--fields-terminated-by", ";"],
            &["--fields-terminated-by", "--format text"],
        ),
        (&["dump", &ibd, "--lines-terminated-by", ";"], &["--lines-terminated-by"]),
        (
            &["dump", &ibd, "--format", "csv", "--fields-terminated-by", "-"],
            &["--fields-terminated-by", "one character", "--format text"],
        ),
        (
            &["dump", &ibd, "--format", "csv", "--lines-terminated-by", ";"],
            &["--lines-terminated-by", "--format csv"],
        ),
        (&["dump", &ibd, "--format", "csv", "--null", "a,b"], &["--null", "quotes"]),
        (&["dump", &ibd, "--format", "ndjson", "--null", "N"], &["--null", "--format csv"]),
        (&["dump", &ibd, "--format", "text", "--no-header"], &["--no-header", "--format csv"]),
        (&["dump", &ibd, "--binary", "0x"], &["--binary", "--format csv"]),
        (&["dump", &ibd, "--timestamps", "iso"], &["--timestamps", "ndjson"]),
        (&["dump", &ibd, "--format", "ndjson", "--fields-enclosed-by", "x"], &["--format text"]),
        (&["dump", &ibd, "--include-invisible"], &["--include-invisible", "SQL and"]),
        (&["dump", "-A", "-h", "db1", "-S", "/s"], &["--socket", "TCP"]),
        (&["dump", "-A", "-h", "localhost", "-P", "3307"], &["--port", "127.0.0.1"]),
        (&["dump", "-A", "-S", "/s", "--ssl-ca", "f"], &["--ssl-ca", "127.0.0.1"]),
        (
            &["dump", "-A", "--lock-mode", "none", "--lock-wait-timeout", "5"],
            &["--lock-wait-timeout", "another connection holds the lock"],
        ),
        (&["get", &ibd, "1", "--format", "sql", "--include-invisible"], &["SQL always"]),
        (&["scan", &ibd, "--read-ahead-threshold", "5"], &["--read-ahead linear"]),
        (&["scan", &ibd, "--read-ahead", "logical", "--tmpdir", "/tmp"], &["--tmpdir", "segment"]),
        (&["scan", &ibd, "--lra-size", "64M", "--no-spill"], &["--no-spill", "segment"]),
        (&["scan", &ibd, "--lra-size", "64M", "--read-ahead", "none"], &["--lra-size", "a window"]),
        (&["check", &ibd, "--datadir", "/tmp"], &["--datadir", "a file is named"]),
        (&["tablespaces", dir, "-S", "/s"], &["--socket", "--server-list=server"]),
    ];
    for (args, words) in refused {
        run(*args).is_usage(words);
    }
    for accepted in [
        &["dump", &ibd, "-q", "-d", "--add-drop-table"][..],
        &["dump", &ibd, "-q", "-c", "-N", "-s", "1M"],
        &["dump", &ibd, "-q", "--format", "text", "--fields-terminated-by", ";", "-m"],
        &["scan", &ibd, "-q", "--read-ahead", "segment", "--tmpdir", dir],
        &["scan", &ibd, "-q", "--tmpdir", dir],
        &["scan", &ibd, "-q", "--no-spill", "--nice"],
    ] {
        let ended = run(accepted);
        assert_eq!(ended.code, Some(0), "{accepted:?}: {}", ended.err);
    }
}

#[test]
fn a_lone_h_is_help() {
    for args in [&["dump", "-h"][..], &["tablespaces", "-h"], &["dump", "-A", "-h"]] {
        let ended = run(args);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
        assert!(ended.out.contains("Usage: "), "{ended:?}");
    }
    run(["dump", "-h", "-A"]).is_usage(&["--help prints help"]);
    for verb in ["dump", "scan", "get", "explain", "warm", "bench", "verify", "tablespaces"] {
        let (short, long) = (run([verb, "-h"]).out, run([verb, "--help"]).out);
        assert!(!short.contains("--ssl-ca") && !short.contains("--lra-sleep <"), "{short}");
        // What can be copied is not broken by the width of the terminal.
        let (_, examples) = short.split_once("Examples:\n").unwrap_or_default();
        assert!(examples.lines().all(|line| line.len() < 80), "{examples}");
        if verb != "tablespaces" {
            let is_longer = short.lines().count() < long.lines().count();
            assert!(is_longer, "{verb}: {short}\n{long}");
        }
    }
}

#[test]
fn sql_without_its_program_says_how_to_get_it() {
    run(["sql", "SELECT 1", "--datadir", "/backup"]).is_usage(&["innoscan-sql", "`make sql`"]);
}

#[test]
fn a_password_in_the_command_line_is_refused_and_not_repeated() {
    for typed in ["-psecret", "-ppw", "-pwd", "-p=secret", "-Apsecret", "--password=secret"] {
        let ended = run(["dump", "-S", "/tmp/no.sock", typed, "-A"]);
        ended.is_usage(&["a password on the command line is visible to all users", "MYSQL_PWD"]);
        for part in ["secret", "ecret", "ppw", "pwd", "'d'"] {
            assert!(!ended.err.contains(part), "{typed}: {ended:?}");
        }
        run(["tablespaces", "/tmp", typed]).is_usage(&["a password on the command line"]);
    }
    // Not a password: what follows is a file's name.
    assert!(!run(["dump", "--", "-psecret"]).err.contains("a password"));
}

#[test]
fn options_of_other_programs_are_answered() {
    let answers = [
        ("--single-transaction", "not needed: a dump is one consistent snapshot of all tables"),
        ("--routines", "not needed: functions, procedures"),
        ("-R", "not needed: functions, procedures"),
        ("-E", "not needed: events are dumped"),
        ("--triggers", "unless --no-triggers is given"),
        ("--opt", "not needed"),
        ("--quick", "not needed"),
        ("--lock-tables", "not needed"),
        ("--all", "--all-databases (-A)"),
        ("-a", "--all-databases (-A)"),
        ("--hex-blob", "0x"),
        ("--extended-insert", "--statement-size"),
        ("--complete-insert", "names its columns"),
        ("--master-data=2", "binary log"),
        ("--set-gtid-purged=OFF", "not set"),
        ("--result-file=x", "-o DIR"),
        ("--tab=x", "--format text"),
        ("--rows=1", "--chunk-filesize"),
        ("--compress-protocol", "-c compresses"),
        ("--no-tablespaces", "never written"),
        ("--column-statistics=0", "never dumped"),
        ("--skip-triggers", "--no-triggers"),
        ("--skip-lock-tables", "see --help"),
        ("--default-character-set=utf8mb4", "character set of its column"),
        ("--max_allowed_packet=1G", "--statement-size"),
        ("--no-create-info", "--no-schemas (-m)"),
        ("--no-create-db", "IF NOT EXISTS"),
        ("--compact", "few comments"),
        ("--flush-logs", "FLUSH LOGS"),
        ("--flush-privileges", "--users"),
        ("--system=all", "--users"),
        ("-f", "does not stop the others"),
        ("-k", "--lock-mode none"),
        ("--logfile=x", "2> FILE"),
        ("-L", "2> FILE"),
        ("--daemon", "docs/cron.md"),
        ("--parallel=4", "--threads (-t)"),
        ("--target-dir=x", "--outputdir (-o)"),
        ("--backup", "prepare it"),
        ("--prepare", "that made the backup"),
        ("--copy-back", "that made the backup"),
        ("--build-empty-files", "innoscan.json lists it"),
        ("--dump-history", "mariadb-dump"),
        ("--ssl-key=x", "--ssl-mode"),
    ];
    for (option, answer) in answers {
        let ended = run(["dump", "-S", "/tmp/no.sock", "-A", option]);
        ended.is_usage(&["there is no -", answer]);
        assert!(!ended.err.contains("Usage:"), "{ended:?}");
    }
    run(["dump", "-t", &flights()]).is_usage(&["--threads", "--no-schemas (-m)"]);
}

#[test]
fn a_page_beyond_the_end_is_named_as_such() {
    let ended = run(["inspect", &flights(), "99999"]);
    assert_eq!(ended.code, Some(2));
    let pages = std::fs::metadata(flights()).unwrap().len() / 16384;
    let wanted = format!("there is no page 99999: the file has {pages} pages of 16 KiB");
    assert!(ended.err.contains(&wanted), "{ended:?}");
    assert!(!ended.err.contains("--on-corrupt"), "{ended:?}");
}

#[test]
fn keys_of_text_are_looked_up_and_those_with_too_many_values_refused() {
    let [upper, lower] = ["AA", "aa"].map(|key| run(["get", &flights(), key]));
    assert_eq!((upper.code, &upper.out), (Some(0), &lower.out), "{upper:?}");
    assert!(upper.out.starts_with("AA\t"), "{upper:?}");
    let ended = run(["get", &cities(), "1,2"]);
    assert!(ended.err.contains("2 values were given for a primary key of 1;"), "{ended:?}");
}

/// The options below each heading of a verb's help.
fn headings(verb: &str) -> Vec<(String, String)> {
    let help = run([verb, "--help"]).out;
    let mut heading = String::new();
    let mut found = Vec::new();
    for line in help.lines() {
        if !line.starts_with(' ') && line.ends_with(':') {
            heading = line.trim_end_matches(':').to_owned();
        }
        let first = line.trim_start();
        if line.starts_with("  ") && first.starts_with(['-', '<', '[']) {
            found.push((heading.clone(), first.to_owned()));
        }
    }
    found
}

#[test]
fn help_lists_options_where_they_belong() {
    for verb in ["dump", "scan", "get", "explain", "schema", "check", "warm", "bench", "inspect"] {
        let found = headings(verb);
        let heading_of = |start: &str| {
            let option = found.iter().find(|(_, line)| line.starts_with(start));
            option.map(|(heading, _)| heading.as_str())
        };
        for option in ["--datadir", "--schema", "--force"] {
            assert_eq!(heading_of(option), Some("Files"), "{verb} {option}: {found:?}");
        }
        let argument = if verb == "inspect" { "<FILE>" } else { "<SOURCE>" };
        let argument = if verb == "dump" { "[SOURCES]" } else { argument };
        assert_eq!(heading_of(argument), Some("Arguments"), "{verb}: {found:?}");
    }
    for (heading, line) in headings("tablespaces") {
        let is_of_server = line.contains("--socket");
        if is_of_server || line.contains("--json") || line.contains("--threads") {
            assert_eq!(heading.starts_with("Running server"), is_of_server, "{line}");
        }
    }
    assert!(run(["dump", "--help"]).out.contains("e.g. ^(?!test\\.)"));
}

#[test]
fn the_exit_code_tells_which_signal_ended_it() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // Whoever runs the tests may ignore a signal, which its children then do too.
        let mut child = Command::new("env")
            .args(["--default-signal=INT,TERM,HUP"])
            .arg(command().get_program())
            .args(["dump", &flights(), "-q", "--max-rate", "1M", "--lra-size", "256K"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 10_000]).unwrap();
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}: {output:?}");
    }
}

/// What it draws on a terminal of so many columns: lines, without control sequences.
fn drawn(columns: u32, args: &[&str]) -> Vec<String> {
    const PTY: &str = "
import fcntl, os, pty, re, struct, sys, termios
columns, args = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.execv(args[0], args)
drawn = b''
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    drawn += read
os.waitpid(child, 0)
for line in re.split('[\\r\\n]', re.sub('\\x1b\\\\[[0-9;?]*[A-Za-z]', '\\n', drawn.decode())):
    if line:
        print(line)
";
    let command = command();
    let output = Command::new("python3")
        .args(["-c", PTY, &columns.to_string()])
        .arg(command.get_program())
        .args(args)
        // Without a kind of terminal no progress is drawn.
        .env("TERM", "xterm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn progress_fits_on_a_narrow_terminal() {
    for columns in [20, 50] {
        let args = ["scan", &cities(), "--max-rate", "20M", "--lra-size", "1M"];
        let lines = drawn(columns, &args);
        let of_progress = |line: &&String| line.contains(" % ");
        let bars: Vec<&String> = lines.iter().filter(of_progress).collect();
        assert!(!bars.is_empty(), "{lines:?}");
        for bar in bars {
            assert!(bar.chars().count() <= columns as usize, "{columns}: {bar}");
            assert!(!bar.contains("leaves"), "{bar}");
            assert!(columns < 50 || bar.contains("cities"), "{bar}");
        }
    }
}

#[test]
fn a_dump_tells_of_each_table_only_when_asked() {
    let dump = |more: &str| {
        let output = command()
            .args(["dump", &cities(), "--format", "csv", more])
            .stdout(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let tables = |said: &str| said.lines().filter(|line| line.contains("cities: 3")).count();
    let said = dump("-v");
    assert_eq!(tables(&said), 1, "{said}");
    let phases = |said: &str| said.lines().any(|line| line.starts_with("innoscan: planning 0."));
    assert!(phases(&said) && said.contains(" s, reading "), "{said}");
    let said = dump("--include-invisible");
    assert_eq!(tables(&said), 0, "{said}");
    assert!(!phases(&said), "{said}");
    assert!(said.contains("innoscan: dumped 1 table: 3"), "{said}");
    assert!(!dump("-q").contains("dumped"));
}

#[test]
fn keys_without_a_row_are_named() {
    let get = |keys: &[&str]| run([&["get", &*cities()], keys].concat());
    let key = get(&["--range", "1.."]).out.lines().next().unwrap().to_owned();
    let key = key.split('\t').next().unwrap();
    let ended = get(&[key, "1", "2"]);
    assert_eq!((ended.code, ended.out.lines().count()), (Some(0), 1), "{ended:?}");
    for missing in ["no row has the key 1\n", "no row has the key 2\n"] {
        assert!(ended.err.contains(missing), "{ended:?}");
    }
    assert!(!ended.err.contains(&format!("key {key}\n")), "{ended:?}");
    let ended = get(&["1"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("no row has the key 1\n"), "{ended:?}");
    assert_eq!(get(&["--range", "1..2"]).code, Some(0));
}

#[test]
fn databases_that_are_named_as_files_are_answered() {
    run(["dump", "-S", "/s", "-u", "root", "shop"]).is_usage(&["use -B shop"]);
    run(["dump", "-S", "/s", "-B", "shop", "crm"]).is_usage(&["use -B shop,crm"]);
    run(["dump", "-S", "/s", "-A", "shop"]).is_usage(&["use -B shop"]);
    let ended = run(["dump", "-S", "/s", "-p", "secret"]);
    ended.is_usage(&["the word after -p is neither a file nor a password"]);
    assert!(!ended.err.contains("secret"), "{ended:?}");
}

#[test]
fn rows_that_cannot_be_told_apart_are_refused_before_a_server_is_asked() {
    for wanted in [&["-A"][..], &["-B", "a,b"], &["-T", "a.b,a.c"]] {
        let args = [&["dump", "-S", "/tmp/no.sock", "--format", "csv"], wanted].concat();
        run(args).is_usage(&["cannot be distinguished", "-o"]);
    }
}

#[test]
fn a_password_without_a_terminal_is_asked_for_in_vain() {
    let output = Command::new("setsid")
        .arg("-w")
        .arg(command().get_program())
        .args(["dump", "--no-defaults", "-S", "/tmp/no.sock", "-A", "-p"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("there is no terminal to prompt for the password"), "{said}");
}

/// A stopped server's directory with a table that has a FULLTEXT index, one of partitions and one
/// without a primary key.
fn stopped() -> Server {
    let mut server = Server::start("mariadb-10.11", &QUICK).unwrap();
    server
        .sql(
            "CREATE DATABASE shop; USE shop;
             CREATE TABLE notes (id INT PRIMARY KEY, t TEXT, FULLTEXT (t)) ENGINE=InnoDB;
             INSERT INTO notes VALUES (1, 'one'), (2, 'two');
             CREATE TABLE parts (id INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3;
             INSERT INTO parts VALUES (1), (2), (3), (4);
             CREATE TABLE nopk (a INT) ENGINE=InnoDB;
             INSERT INTO nopk VALUES (5);",
        )
        .unwrap();
    server.stop().unwrap();
    server
}

#[test]
fn files_of_a_database_are_named_in_many_ways() {
    let server = stopped();
    let data = server.data();
    let shop = data.join("shop");
    let file = |name: &str| shop.join(name).to_str().unwrap().to_owned();
    // Its directory.
    let ended = run(["dump", shop.to_str().unwrap()]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let wanted = format!("innoscan dump {} -B shop", data.canonicalize().unwrap().display());
    assert!(ended.err.contains(&wanted), "{ended:?}");
    // All its files, as a shell's `*.ibd` names them.
    let mut files: Vec<String> = std::fs::read_dir(&shop)
        .unwrap()
        .flatten()
        .map(|entry| entry.path().to_str().unwrap().to_owned())
        .filter(|path| path.ends_with(".ibd"))
        .collect();
    files.sort();
    assert!(files.iter().any(|file| file.contains("FTS_")), "{files:?}");
    let out = tempfile::tempdir().unwrap();
    let directory = out.path().to_str().unwrap();
    let all = [vec!["dump".into()], files, vec!["-o".into(), directory.into()]].concat();
    let ended = run(all);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("dumped 3 tables: 7 rows"), "{ended:?}");
    assert!(ended.err.contains("FULLTEXT"), "{ended:?}");
    // A directory that is in use.
    let ended = run(["dump", &file("nopk.ibd"), "-o", directory, "--layout", "files"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--overwrite"), "{ended:?}");
    // A definition from the .frm beside a copy.
    let copy = out.path().join("copy.ibd");
    std::fs::copy(file("nopk.ibd"), &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let ended = run(["dump", copy, "--schema", &file("nopk.frm"), "--format", "csv", "-q"]);
    assert_eq!((ended.code, &*ended.out), (Some(0), "a\r\n5\r\n"), "{ended:?}");
    // Keys, where there are none.
    let ended = run(["get", &file("nopk.ibd"), "5"]);
    assert!(ended.err.contains("has no primary key to find rows by; use --where"), "{ended:?}");
    // A typing error in what is left out.
    let ended =
        run(["dump", data.to_str().unwrap(), "--ignore-table", "shop.nopc,shop.parts", "-d"]);
    assert!(ended.err.contains("--ignore-table shop.nopc: no such database or table"), "{ended:?}");
    assert!(!ended.err.contains("--ignore-table shop.parts:"), "{ended:?}");
    let ended = run(["dump", data.to_str().unwrap(), "-B", "mysql"]);
    assert!(ended.err.contains("`mysql` is left out on purpose"), "{ended:?}");
}

#[test]
fn who_holds_the_lock_is_said() {
    let server = Server::start("mariadb-10.11", &QUICK).unwrap();
    server
        .sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE=InnoDB;")
        .unwrap();
    let socket = server.socket().to_str().unwrap().to_owned();
    let mut holder = client(&server)
        .arg("--unbuffered")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut statements = holder.stdin.take().unwrap();
    statements
        .write_all(b"BEGIN; INSERT INTO shop.t VALUES (1); SELECT CONNECTION_ID();\n")
        .unwrap();
    let mut id = String::new();
    BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut id).unwrap();
    let login = ["dump", "--no-defaults", "-u", "root", "-S", &socket, "--lock-mode", "export"];
    let dump = |more: &[&str]| run([&login, more].concat());
    let ended = dump(&["-B", "shop", "-q", "--lock-wait-timeout", "4"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let who = format!("connection {} of root", id.trim());
    for start in ["waiting for the lock: ", "could not be locked within 4 s: "] {
        let wanted = format!("{start}{who}");
        assert!(ended.err.contains(&wanted), "{wanted}: {ended:?}");
    }
    let remedy = format!("(KILL {})", id.trim());
    assert!(ended.err.contains("has been in a transaction for"), "{ended:?}");
    assert!(ended.err.contains(&remedy), "{ended:?}");
    drop(statements);
    holder.wait().unwrap();
    // A pattern alone chooses from all databases.
    let ended = dump(&["-x", "^shop", "-q"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("CREATE TABLE `t`"), "{ended:?}");
    let ended = dump(&["-B", "mysql"]);
    assert!(ended.err.contains("`mysql` is left out on purpose"), "{ended:?}");
    let ended = run(["dump", "--no-defaults", "-h", "127.0.0.1", "-P", "1", "-A"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(!ended.err.contains("Error {"), "{ended:?}");
}
