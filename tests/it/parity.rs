//! The server is the judge: what the `innoscan` binary says of real servers' files is what those
//! servers said of them, byte for byte.
//!
//! Environment:
//! - `INNOSCAN`: another binary than the one that cargo built for these tests;
//! - `INNOSCAN_CORPUS`: a folder of corpora instead of the fixtures of `tests/data`;
//! - `INNOSCAN_EVERY_POLICY`: each table of the fixtures is read by each read-ahead policy, not by one
//!   of them (`make test-all` sets it);
//! - `INNOSCAN_ONLY`: words separated by commas; tables whose `corpus/db/table` has one of them.

use std::fmt::Write as _;
use std::io::{Error, Result};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use innoscan_testkit::server::{Server, fixtures, install};

use crate::corpus;
pub(crate) use crate::corpus::CorpusTable as Table;
use crate::restore::restore;
use crate::small_tables;

/// Mismatches printed in full; the rest is only counted.
const SHOWN_MAX: usize = 400;

impl Table {
    /// How it is named on the command line: by its file, or all partitions by the table's name.
    pub(crate) fn source(&self) -> Vec<String> {
        let data = self.corpus.join("data");
        if self.is("partitioned") || !self.ibd().exists() {
            let name = format!("{}.{}", self.db, self.table);
            let mut source = vec![name, "--datadir".into(), data.to_str().unwrap().into()];
            source.extend(self.options());
            return source;
        }
        let mut source = vec![self.ibd().to_str().unwrap().into()];
        source.extend(self.options());
        source
    }
}

/// The clause of a line of `opts.tsv` as options of `innoscan dump`.
fn options_of(clause: &str) -> Vec<String> {
    let mut options = Vec::new();
    let mut area = "fields";
    let mut words = String::new();
    let mut rest = clause;
    while let Some(at) = rest.find('\'') {
        words.push_str(&rest[..at]);
        let body = &rest[at + 1..];
        let mut end = 0;
        while !body[end..].starts_with('\'') {
            end += if body[end..].starts_with('\\') { 2 } else { 1 };
        }
        let mut name = Vec::new();
        for word in words.split_whitespace() {
            match word {
                "FIELDS" => area = "fields",
                "LINES" => area = "lines",
                word => name.push(word.to_lowercase()),
            }
        }
        options.push(format!("--{area}-{}", name.join("-")));
        options.push(body[..end].replace("\\'", "'"));
        words.clear();
        rest = &body[end + 1..];
    }
    options
}

/// The numbered options of a corpus: the ending of what the server wrote with them, and ours.
fn numbered_options(corpus: &Path) -> Vec<(String, Vec<String>)> {
    std::fs::read_to_string(corpus.join("opts.tsv"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(number, clause)| (format!("opts-{number}.txt"), options_of(clause)))
        .collect()
}

/// `innoscan` without arguments.
pub(crate) fn command() -> Command {
    let other = std::env::var_os("INNOSCAN").map(|path| std::path::absolute(path).unwrap());
    Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_innoscan").into()))
}

/// The same command, given by a user who owns nothing, from a copy in `dir`: it may lie where that
/// user may not go. None unless this is root.
pub(crate) fn by_another_user(command: &Command, dir: &Path) -> Option<Command> {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = dir.join("innoscan");
    // By another process: a program cannot be started while a child of another test, which was forked
    // in between, has it open for writing.
    let copied = Command::new("cp").arg(command.get_program()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let mut by_another = Command::new(copy);
    by_another.args(command.get_args()).uid(65534);
    Some(by_another)
}

/// What the binary writes to stdout; its stderr when it fails.
fn run(args: &[String]) -> Result<Vec<u8>> {
    let output = command().args(args).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    // Notes come first, the error last.
    let said = String::from_utf8_lossy(&output.stderr);
    let text: String = said.lines().next_back().unwrap_or_default().chars().take(300).collect();
    Err(Error::other(format!("{}: {text}", output.status)))
}

/// Where two texts part, with some of either from there.
pub(crate) fn difference(expected: &[u8], got: &[u8]) -> Option<String> {
    if expected == got {
        return None;
    }
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let line = expected[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    let from = at.saturating_sub(24);
    let show = |text: &[u8]| {
        text[from.min(text.len())..(at + 40).min(text.len())].escape_ascii().to_string()
    };
    Some(format!(
        "first differs at byte {at} (line {line}); {} bytes expected, {} got\n      expected ...{}\n      got      ...{}",
        expected.len(),
        got.len(),
        show(expected),
        show(got)
    ))
}

/// Fields of default INTO OUTFILE text without those of the columns in `drop`.
pub(crate) fn without_fields(text: &[u8], drop: &[usize]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut field, mut escaped) = (0, false);
    for &byte in text {
        let keep = !drop.contains(&field);
        if escaped || !matches!(byte, b'\t' | b'\n') {
            escaped = !escaped && byte == b'\\';
            if keep {
                out.push(byte);
            }
        } else if byte == b'\t' {
            field += 1;
            // one separator between each two fields that stay
            if !drop.contains(&field) && (0..field).any(|before| !drop.contains(&before)) {
                out.push(b'\t');
            }
        } else {
            out.push(b'\n');
            field = 0;
        }
    }
    out
}

/// Which of the visible columns of a definition say `word`.
pub(crate) fn fields_that_say(create: &str, word: &str) -> Vec<usize> {
    // what is said in quotes is not a keyword
    let bare = |line: &str| line.split('\'').step_by(2).collect::<String>();
    let columns = create.lines().filter(|line| line.starts_with("  `")).map(bare);
    let visible = columns.filter(|line| !line.contains("INVISIBLE"));
    visible.enumerate().filter(|(_, line)| line.contains(word)).map(|(at, _)| at).collect()
}

/// Which of the visible columns are virtual: their values are in no file.
fn virtual_fields(create: &str) -> Vec<usize> {
    fields_that_say(create, ") VIRTUAL")
}

/// Differences that are known, with their reason: part of a table's name, what is compared. They are
/// printed at every run, and one that is gone fails until it is taken from this list.
const KNOWN: [(&str, &str, &str); 8] = [
    ("mysql-5.7.22-shared-ibdata/t_shared/r_part", "schema", RESTARTED),
    ("mysql-5.7.22-shared-ibdata/t_shared/r_sub", "schema", RESTARTED),
    ("mysql-8.0.33-upgraded-shared/t_shared/r_part", "schema", MOVED),
    ("mysql-8.0.33-upgraded-shared/t_shared/r_sub", "schema", MOVED),
    ("mysql-8.0.33-upgraded-shared/t_shared2/r_was_renamed", "schema", MOVED),
    ("mariadb-10.2.11/t_fk/multi", "schema", UNDOUBLED),
    ("mariadb-10.5.23/t_fk/multi", "schema", UNDOUBLED),
    ("mariadb-11.4.5/t_fk/multi", "schema", UNDOUBLED),
];
const RESTARTED: &str =
    "the server adds a slash to the path, as innoscan does, until it is restarted";
const MOVED: &str = "the server found the files in another directory, and its dictionary has the new paths; the SDI in \
    the files has the old ones";
const UNDOUBLED: &str =
    "the server prints a backquote in a foreign key's name once, which is no valid SQL";

fn known(table: &Table, what: &str) -> Option<&'static str> {
    let name = table.name();
    let known = KNOWN.iter().find(|(known, judge, _)| name == *known && what == *judge);
    let known = known.map(|(_, _, reason)| *reason);
    // Debian's own server is of the version that the machine's release has
    let undoubled = name == "mariadb-10.11/t_fk/multi" && what == "schema" && {
        let server = corpus::version_of(&table.corpus);
        server.is_some_and(|it| it.number < 101_119 || (110_000..110_809).contains(&it.number))
    };
    known.or(undoubled.then_some(UNDOUBLED))
}

/// Counts and texts of all comparisons.
#[derive(Default)]
pub(crate) struct Report {
    passed: AtomicUsize,
    failed: AtomicUsize,
    lines: Mutex<Vec<String>>,
    known: Mutex<Vec<String>>,
}

impl Report {
    pub(crate) fn add(&self, table: &Table, what: &str, result: Result<Option<String>>) {
        let text = match (result, known(table, what)) {
            (Ok(Some(_)), Some(reason)) => {
                self.note(table, what, reason);
                return;
            }
            (Ok(None), Some(_)) => "known to differ, but does not: take it from KNOWN".to_owned(),
            (Ok(None), None) => {
                self.passed.fetch_add(1, Ordering::Relaxed);
                return;
            }
            (Ok(Some(difference)), None) => difference,
            (Err(error), _) => error.to_string(),
        };
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.lines.lock().unwrap().push(format!("{}: {what}: {text}", table.name()));
    }

    /// Something known that every run is to print.
    pub(crate) fn note(&self, table: &Table, what: &str, reason: &str) {
        self.known.lock().unwrap().push(format!("{}: {what}: {reason}", table.name()));
    }

    /// Prints what differs and the one line that counts.
    pub(crate) fn finish(self, name: &str) {
        let (passed, failed) = (self.passed.into_inner(), self.failed.into_inner());
        let mut lines = self.lines.into_inner().unwrap();
        lines.sort();
        let mut text = String::new();
        for line in lines.iter().take(SHOWN_MAX) {
            writeln!(text, "FAIL {line}").unwrap();
        }
        let mut known = self.known.into_inner().unwrap();
        known.sort();
        for line in known {
            writeln!(text, "KNOWN {line}").unwrap();
        }
        if lines.len() > SHOWN_MAX {
            writeln!(text, "... and {} more", lines.len() - SHOWN_MAX).unwrap();
        }
        println!("{text}{name}:\n{passed} passed, {failed} failed");
        assert!(failed == 0, "{name}: {failed} of {} comparisons differ", passed + failed);
        assert!(passed > 0, "{name}: nothing was compared");
    }
}

fn args(verb: &str, table: &Table, more: &[&str]) -> Vec<String> {
    let mut args = vec![verb.to_owned()];
    args.extend(table.source());
    args.extend(more.iter().map(|word| (*word).to_owned()));
    args
}

/// The fields of the server's text that no file has.
fn fields_in_no_file(table: &Table) -> Result<Vec<usize>> {
    if !table.is("virtual") {
        return Ok(Vec::new());
    }
    Ok(virtual_fields(&String::from_utf8_lossy(&table.read("create.sql")?)))
}

fn text_like_the_server(table: &Table, report: &Report) -> Result<()> {
    let drop = fields_in_no_file(table)?;
    let got = run_dump(table, "text");
    let expected = without_fields(&table.read("txt")?, &drop);
    report.add(table, "text", got.map(|got| difference(&expected, &got)));
    for (ending, options) in numbered_options(&table.corpus) {
        if !drop.is_empty() || !table.expected(&ending).exists() {
            continue;
        }
        let mut args = args("dump", table, &["--quiet", "--format", "text", "--memory", "64M"]);
        args.extend(options);
        let expected = table.read(&ending)?;
        report.add(table, &ending, run(&args).map(|got| difference(&expected, &got)));
    }
    Ok(())
}

/// The text's bytes line by line, the lines sorted: a newline in a value ends one too, in both texts.
fn sorted(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines.concat()
}

/// What reads ahead, and the order that is not the key's.
const POLICIES: [&str; 6] = ["none", "linear", "random", "physical", "segment", ANY_ORDER];
const ANY_ORDER: &str = "any order";

/// Whatever reads ahead, in a pool that most tables are larger than.
fn rows_by(policies: &[&str], table: &Table, report: &Report) -> Result<()> {
    let expected = without_fields(&table.read("txt")?, &fields_in_no_file(table)?);
    let small = ["--quiet", "--format", "text", "--memory", "1M", "--threads", "2"];
    for policy in policies.iter().filter(|policy| **policy != ANY_ORDER) {
        let mut args = args("dump", table, &small);
        args.extend(["--read-ahead".to_owned(), (*policy).to_owned()]);
        report.add(table, policy, run(&args).map(|got| difference(&expected, &got)));
    }
    if !policies.contains(&ANY_ORDER) {
        return Ok(());
    }
    let mut any_order = args("dump", table, &small);
    any_order.extend(["--order".to_owned(), "any".to_owned()]);
    let got = run(&any_order).map(|got| difference(&sorted(&expected), &sorted(&got)));
    report.add(table, ANY_ORDER, got);
    Ok(())
}

fn schema_like_the_server(table: &Table, report: &Report) -> Result<()> {
    let expected = table.read("create.sql")?;
    let got = run(&args("schema", table, &[])).map(|got| {
        let end = got.iter().rposition(|byte| !matches!(byte, b'\n' | b';')).map_or(0, |at| at + 1);
        difference(&expected, &got[..end])
    });
    report.add(table, "schema", got);
    Ok(())
}

/// Sums that no reader of files can have: values that are not there, an address in the server's
/// memory, a server that gives now one sum and now another.
const NO_SUM: &str = "the checksum of a table with";

fn checksum_like_the_server(table: &Table, report: &Report) -> Result<()> {
    let (rows, checksum) = (table.number("count")?, table.number("checksum")?);
    let common = ["--quiet", "--json", "--memory", "64M"];
    let mut with_sum = args("scan", table, &common);
    with_sum.push("--checksum".to_owned());
    let mut got = run(&with_sum);
    let no_sum = got.as_ref().is_err_and(|error| error.to_string().contains(NO_SUM));
    if no_sum {
        got = run(&args("scan", table, &common));
    }
    let got = got.and_then(|json| {
        let json: serde_json::Value = serde_json::from_slice(&json)?;
        let (found_rows, found_sum) = (json["rows"].as_u64(), json["checksum"].as_u64());
        // a versioned table's history is in the file and in the sum, but not in COUNT(*)
        let rows_fit = found_rows == Some(rows)
            || (table.is("versioned") && found_rows.is_some_and(|found| found > rows));
        let fits = rows_fit && (no_sum || found_sum == Some(checksum));
        Ok((!fits).then(|| format!("expected {rows} {checksum}, got {found_rows:?} {found_sum:?}")))
    });
    report.add(table, "scan", got);
    Ok(())
}

/// The checksum of the stored columns, where the corpus has it.
fn stored_checksum_like_the_server(table: &Table, report: &Report) -> Result<()> {
    let Ok(expected) = table.number("stored") else { return Ok(()) };
    let stored = ["--quiet", "--json", "--memory", "64M", "--checksum=stored"];
    let got = run(&args("scan", table, &stored)).and_then(|json| {
        let json: serde_json::Value = serde_json::from_slice(&json)?;
        let found = json["stored_columns_checksum"].as_u64();
        Ok((found != Some(expected)).then(|| format!("expected {expected}, got {found:?}")))
    });
    report.add(table, "stored checksum", got);
    Ok(())
}

/// A table's dump.
pub(crate) fn run_dump(table: &Table, format: &str) -> Result<Vec<u8>> {
    run(&args("dump", table, &["--quiet", "--format", format, "--memory", "64M"]))
}

/// What is not read yet is refused, with a word about why.
fn refused(table: &Table, report: &Report) {
    if !table.ibd().exists() {
        return;
    }
    let output = command().args(args("scan", table, &[])).output();
    let result = output.map(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        let well = output.status.code() == Some(2)
            && !said.trim().is_empty()
            && !said.contains("panicked");
        (!well).then(|| format!("not refused: {}: {said}", output.status))
    });
    report.add(table, "refusal", result);
}

/// Compares one thing of a table with what its server said.
type Judge<'j> = dyn Fn(&Table, &Report) -> Result<()> + 'j;

/// Compares each table; `every_policy`: with each of [`POLICIES`], or with one, in turns.
fn compare(tables: &[Table], every_policy: bool, report: &Report) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some(table) = tables.get(nth) else { break };
                    let one = &POLICIES[nth % POLICIES.len()..][..1];
                    let policies = if every_policy { &POLICIES[..] } else { one };
                    let rows_by_policies =
                        |table: &Table, report: &Report| rows_by(policies, table, report);
                    if table.is_refused() {
                        refused(table, report);
                        continue;
                    }
                    let judges: [&Judge<'_>; 5] = [
                        &text_like_the_server,
                        &rows_by_policies,
                        &schema_like_the_server,
                        &checksum_like_the_server,
                        &stored_checksum_like_the_server,
                    ];
                    for judge in judges {
                        if let Err(error) = judge(table, report) {
                            report.add(table, "expected", Err(error));
                        }
                    }
                }
            });
        }
    });
}

/// The tables of all corpora in `root` that `INNOSCAN_ONLY` leaves.
pub(crate) fn tables_in(root: &Path) -> Vec<Table> {
    let mut tables = corpus::tables_in(root);
    if let Ok(only) = std::env::var("INNOSCAN_ONLY") {
        tables.retain(|table| only.split(',').any(|word| table.name().contains(word)));
    }
    tables
}

#[test]
fn files_read_as_their_servers_do() {
    let root = std::env::var_os("INNOSCAN_CORPUS").map(PathBuf::from);
    let report = Report::default();
    let every_policy = root.is_some() || std::env::var_os("INNOSCAN_EVERY_POLICY").is_some();
    compare(&tables_in(&root.unwrap_or_else(|| fixtures().unwrap())), every_policy, &report);
    report.finish("corpora");
}

/// The servers of the matrix.
pub(crate) const VERSIONS: [&str; 11] = [
    "mysql-5.6.24",
    "mysql-5.7.22",
    "mysql-8.0.12",
    "mysql-8.0.33",
    "mysql-9.7",
    "mariadb-10.1.13",
    "mariadb-10.2.11",
    "mariadb-10.5.23",
    "mariadb-10.11",
    "mariadb-11.4.5",
    "mariadb-11.8",
];

/// Fills a server with the torture schema, compares its files with what it said, has it send its small
/// tables, and has a second one restore their SQL dumps.
fn live(version: &str, report: &Report) {
    install(version).unwrap();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live").join(version);
    std::fs::create_dir_all(&root).unwrap();
    let script = crate::tests_dir("servers/build_corpus.sh");
    let status = Command::new(script).arg(version).arg(root.join(version)).status().unwrap();
    assert!(status.success(), "build_corpus.sh {version}: {status}");
    let tables = tables_in(&root);
    compare(&tables, true, report);
    let mut filled = Server::start_in(version, &root.join(version), &[]).unwrap();
    // This one was set up without the tables of `mysql`, and so cannot list its routines.
    if version != "mysql-5.6.24" {
        small_tables::compare(&filled);
    }
    filled.stop().unwrap();
    let mut server = Server::start(version, &[]).unwrap();
    restore(&server, &tables, report);
    server.stop().unwrap();
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn debians_mariadb_agrees() {
    let report = Report::default();
    live("mariadb-10.11", &report);
    report.finish("mariadb-10.11");
}

#[test]
#[ignore = "installs and fills every server: make test-all"]
fn every_server_agrees() {
    let report = Report::default();
    for version in VERSIONS.into_iter().filter(|version| *version != "mariadb-10.11") {
        live(version, &report);
    }
    report.finish("every server");
}

#[test]
fn a_damaged_line_is_told_by_its_first_byte() {
    assert_eq!(difference(b"a\tb\n", b"a\tb\n"), None);
    assert!(
        difference(b"a\nb\n", b"a\nc\n").unwrap().starts_with("first differs at byte 2 (line 2)")
    );
}

#[test]
fn virtual_columns_leave_the_text() {
    let create = "CREATE TABLE `t` (\n  `v` int GENERATED ALWAYS AS (`a`) VIRTUAL,\n  `a` int COMMENT ') VIRTUAL',\n  `h` int INVISIBLE,\n  `w` int GENERATED ALWAYS AS (1) VIRTUAL\n)";
    assert_eq!(virtual_fields(create), [0, 2]);
    assert_eq!(without_fields(b"1\tx\\\ty\t3\n\\N\t\t\\N\n", &[0, 2]), b"x\\\ty\n\n");
    assert_eq!(without_fields(b"1\t2\t3\n", &[1]), b"1\t3\n");
}

#[test]
fn clauses_become_options() {
    let clause = r#"FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '\\' LINES TERMINATED BY '\r\n'"#;
    let expected = [
        "--fields-terminated-by",
        ",",
        "--fields-optionally-enclosed-by",
        "\"",
        "--fields-escaped-by",
        "\\\\",
        "--lines-terminated-by",
        "\\r\\n",
    ];
    assert_eq!(options_of(clause), expected);
}
