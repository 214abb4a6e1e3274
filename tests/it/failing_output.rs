//! Output that fails at any moment: a reader that goes away, a limit of file sizes, a full disk, a kill.
//! What is there then never looks like a whole dump, unless it is one.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use innoscan_testkit::damage::Random;
use innoscan_testkit::server::{Server, install};
use serde_json::Value;
use tempfile::TempDir;

use crate::parity::command;

/// Bytes that a pipe holds which nobody has read.
const PIPE_BYTES: usize = 64 << 10;

/// The last line of a script that is whole.
const END: &[u8] = b"-- Dump completed";

/// A stopped server's directory.
fn stopped() -> Server {
    install("mariadb-10.11").unwrap();
    let mut server = Server::start("mariadb-10.11", &["--skip-grant-tables=OFF"]).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d;
             CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
             CREATE TABLE parts (id INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3;
             CREATE TABLE my (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=MyISAM;
             CREATE TABLE empty_one (id INT) ENGINE=InnoDB;
             INSERT INTO t WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 900)
               SELECT a.i * 1000 + b.i, REPEAT(SHA2(a.i * 1000 + b.i, 256), 2) FROM n a, n b
               WHERE a.i <= 20;
             INSERT INTO parts SELECT id FROM t LIMIT 1000; INSERT INTO my SELECT * FROM t LIMIT 900;
             CREATE VIEW v AS SELECT id FROM t; CREATE SEQUENCE s;
             CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 'x';
             CREATE PROCEDURE p() SELECT 1; CREATE ROLE r;",
        )
        .unwrap();
    server.stop().unwrap();
    server
}

/// Ways to dump into a directory.
const DIRECTORIES: &[&[&str]] = &[
    &["-c", "none"],
    &["-c", "zstd", "-F", "256K"],
    &["-c", "gzip", "-F", "1M"],
    &["--layout", "mysqlsh", "-c", "none", "-F", "512K"],
    &["--layout", "mysqlsh", "-c", "zstd"],
    &["--layout", "files", "-F", "256K"],
    &["--layout", "files", "-c", "zstd"],
    &["--format", "csv"],
    &["--format", "ndjson", "-c", "gzip"],
    &["--format", "text", "-F", "300K"],
];

/// The one of [`DIRECTORIES`] that is written over.
const OVERWRITABLE: usize = 5;

/// Ways to dump to stdout: the source within the data directory, options.
const STREAMS: &[(&str, &[&str])] = &[
    ("", &["--users"]),
    ("", &["--format", "sql", "--add-drop-table"]),
    ("d/t.ibd", &[]),
    ("d/t.ibd", &["--format", "csv"]),
    ("d/t.ibd", &["--format", "ndjson"]),
    ("d/t.ibd", &["--format", "text"]),
];

/// A dump that came to its end: what it should be, and how long it took.
struct Whole {
    files: BTreeMap<String, Vec<u8>>,
    time: Duration,
}

impl Whole {
    fn bytes_max(&self) -> usize {
        self.files.values().map(Vec::len).max().unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }
}

struct Source {
    data: PathBuf,
    directories: Vec<Whole>,
    streams: Vec<Vec<u8>>,
    _server: Server,
}

fn to_directory(data: &Path, number: usize, out: &Path) -> Vec<String> {
    let word = |path: &Path| path.to_str().unwrap().to_owned();
    let mut args = vec!["dump".to_owned(), word(data), "--users".to_owned(), "-q".to_owned()];
    args.extend(["-o".to_owned(), word(out)]);
    args.extend(DIRECTORIES[number].iter().map(|word| (*word).to_owned()));
    args
}

fn to_stream(data: &Path, number: usize) -> Vec<String> {
    let (source, options) = STREAMS[number];
    let source = data.join(source).to_str().unwrap().trim_end_matches('/').to_owned();
    let mut args = vec!["dump".to_owned(), source, "-q".to_owned()];
    args.extend(options.iter().map(|word| (*word).to_owned()));
    args
}

impl Source {
    fn new() -> Source {
        let server = stopped();
        let data = server.data();
        let directories = (0..DIRECTORIES.len()).map(|number| {
            let dir = tempfile::tempdir().unwrap();
            let out = dir.path().join("out");
            let begun = Instant::now();
            let output = command().args(to_directory(&data, number, &out)).output().unwrap();
            let time = begun.elapsed();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{:?}: {said}", DIRECTORIES[number]);
            Whole { files: files(&out), time }
        });
        let directories = directories.collect();
        let streams = (0..STREAMS.len()).map(|number| {
            let output = command().args(to_stream(&data, number)).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{:?}: {said}", STREAMS[number]);
            output.stdout
        });
        let streams = streams.collect();
        Source { data, directories, streams, _server: server }
    }
}

/// All files of a directory, if it is there.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(out).into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    entries.map(read).collect()
}

/// Files that say when something was.
const DATED: [&str; 4] = ["metadata", "innoscan.json", "@.json", "@.done.json"];

/// What a directory lacks of a whole dump.
fn lacks(whole: &Whole, files: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let names: Vec<&String> = files.keys().collect();
    if names != whole.files.keys().collect::<Vec<_>>() {
        return Some(format!("the files are {names:?}"));
    }
    let differs = |(name, bytes): &(&String, &Vec<u8>)| {
        !DATED.contains(&&***name) && whole.files[*name] != **bytes
    };
    let differs = files.iter().find(differs).map(|(name, _)| format!("{name} differs"));
    differs.or_else(|| (!is_marked(files)).then(|| "there is no mark".to_owned()))
}

/// Whether `innoscan.json` says that a dump is complete.
fn says_complete(files: &BTreeMap<String, Vec<u8>>) -> bool {
    let json =
        files.get("innoscan.json").map(|text| serde_json::from_slice::<Value>(text).unwrap());
    json.is_some_and(|json| json["complete"] == true)
}

fn is_marked(files: &BTreeMap<String, Vec<u8>>) -> bool {
    let markers = ["metadata", "@.done.json"];
    markers.iter().any(|name| files.contains_key(*name)) || says_complete(files)
}

/// What is wrong with a directory after a dump that may not have come to its end.
fn wrong_directory(whole: &Whole, out: &Path, status: ExitStatus) -> Option<String> {
    let mut files = files(out);
    if status.code() == Some(0) || is_marked(&files) {
        if status.signal().is_some() {
            // Its last act is to take these away, after all is there.
            files.remove("innoscan.journal");
            for marker in ["metadata", "@.done.json"] {
                if let Some(text) = files.remove(&format!("{marker}.partial")) {
                    files.insert(marker.to_owned(), text);
                }
            }
        }
        return lacks(whole, &files);
    }
    None
}

/// What is wrong with the end of a dump whose output failed.
fn wrong_end(status: ExitStatus, said: &str) -> Option<String> {
    match status.code() {
        Some(0) => None,
        Some(5) if !said.contains("panicked") && said.contains("innoscan: ") => None,
        _ => Some(format!("{status}: {said}")),
    }
}

fn stream_of_a_reader_that_goes(source: &Source, random: &mut Random) -> Option<String> {
    let number = random.below(STREAMS.len());
    let whole = &source.streams[number];
    let some = random.below(whole.len() + whole.len() / 20);
    let mut dump = command()
        .args(to_stream(&source.data, number))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut read = Vec::new();
    let mut stdout = dump.stdout.take().unwrap();
    stdout.by_ref().take(some as u64).read_to_end(&mut read).unwrap();
    drop(stdout);
    let output = dump.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let fits = read.len() + PIPE_BYTES >= whole.len();
    let what = match output.status.code() {
        Some(0) if !fits => Some("exit code 0".to_owned()),
        Some(0) => None,
        _ if read.len() >= whole.len() => Some(format!("all was read: {}: {said}", output.status)),
        _ => wrong_end(output.status, &said),
    };
    what.map(|what| format!("{:?}, {some} bytes read: {what}", STREAMS[number]))
}

/// The command under a limit of file sizes.
fn limited(bytes: usize, args: &[String]) -> Command {
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--fsize={bytes}")).arg("--").arg(command().get_program()).args(args);
    limited
}

fn stream_into_a_limited_file(source: &Source, random: &mut Random) -> Option<String> {
    let number = random.below(STREAMS.len());
    let whole = &source.streams[number];
    let limit = random.below(whole.len() + whole.len() / 20);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    let output = limited(limit, &to_stream(&source.data, number))
        .stdout(std::fs::File::create(&path).unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let written = std::fs::read(&path).unwrap();
    // The last line says when it was.
    let end = |text: &[u8]| text.windows(END.len()).rposition(|words| words == END);
    let rows = |text: &[u8]| text[..end(text).unwrap_or(text.len())].to_vec();
    let is_whole = written.len() == whole.len() && rows(&written) == rows(whole);
    let what = match output.status.code() {
        Some(0) if !is_whole => Some("exit code 0".to_owned()),
        // the mark is the beginning of the last line, and that may be cut
        _ if end(&written).is_some() && written.len() + 40 < whole.len() => {
            Some("has the end mark".to_owned())
        }
        _ if limit >= whole.len() && !is_whole => Some(format!("the limit is enough: {said}")),
        _ => wrong_end(output.status, &said),
    };
    what.map(|what| format!("{:?}, limit of {limit} bytes: {what}", STREAMS[number]))
}

fn directory_of_limited_files(source: &Source, random: &mut Random) -> Option<String> {
    let number = random.below(DIRECTORIES.len());
    let whole = &source.directories[number];
    let reach = if random.below(2) == 0 { 8 << 10 } else { whole.bytes_max() * 21 / 20 };
    let limit = random.below(reach);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = to_directory(&source.data, number, &out);
    let output = limited(limit, &args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let wrong = wrong_end(output.status, &said);
    let what = wrong.or_else(|| wrong_directory(whole, &out, output.status));
    what.map(|what| format!("{:?}, limit of {limit} bytes: {what}", DIRECTORIES[number]))
}

/// A file system of few bytes, for as long as it lasts.
struct Small(TempDir);

impl Small {
    /// `None` where it cannot be had.
    fn mount(bytes: usize) -> Option<Small> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(dir.path());
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        is_mounted.then_some(Small(dir))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // What is left of it goes with the machine.
        _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn directory_on_a_full_disk(source: &Source, random: &mut Random) -> Option<String> {
    let number = random.below(DIRECTORIES.len());
    let whole = &source.directories[number];
    let size = (16 << 10) + random.below(whole.bytes() * 23 / 20);
    let Some(small) = Small::mount(size) else {
        println!("skipped: a full disk: mounting is root's");
        return None;
    };
    let out = small.0.path().join("out");
    let output = command().args(to_directory(&source.data, number, &out)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let wrong = wrong_end(output.status, &said);
    let what = wrong.or_else(|| wrong_directory(whole, &out, output.status));
    what.map(|what| format!("{:?}, a disk of {size} bytes: {what}", DIRECTORIES[number]))
}

fn killed(source: &Source, random: &mut Random) -> Option<String> {
    let number = random.below(DIRECTORIES.len());
    let whole = &source.directories[number];
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let micros = usize::try_from(whole.time.as_micros()).unwrap();
    let after = Duration::from_micros(random.below(micros * 11 / 10) as u64);
    let mut dump = command()
        .args(to_directory(&source.data, number, &out))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + after;
    while Instant::now() < until && dump.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // It may have come to its end before.
    _ = dump.kill();
    let status = dump.wait().unwrap();
    let is_end = status.signal() == Some(9) || status.code() == Some(0);
    let wrong = (!is_end).then(|| status.to_string());
    let what = wrong.or_else(|| wrong_directory(whole, &out, status));
    what.map(|what| format!("{:?}, killed after {after:?}: {what}", DIRECTORIES[number]))
}

/// A way to fail: what is wrong afterwards.
type Failing = fn(&Source, &mut Random) -> Option<String>;

fn outputs_fail(runs: u64) {
    const WAYS: [(&str, Failing); 5] = [
        ("reader gone", stream_of_a_reader_that_goes),
        ("stream limited", stream_into_a_limited_file),
        ("files limited", directory_of_limited_files),
        ("full disk", directory_on_a_full_disk),
        ("killed", killed),
    ];
    let source = Source::new();
    let mut wrong = Vec::new();
    for run in 0..runs {
        let mut random = Random::new(run + 1);
        random.below(2);
        let (way, fail) = WAYS[random.below(WAYS.len())];
        wrong.extend(fail(&source, &mut random).map(|what| format!("run {run}, {way}: {what}")));
    }
    println!("{runs} outputs failed, {} in a wrong way", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn output_that_fails_never_looks_like_a_whole_dump() {
    outputs_fail(100);
}

#[test]
#[ignore = "a thousand dumps: make test-all"]
fn output_that_fails_in_a_thousand_ways_never_looks_like_a_whole_dump() {
    outputs_fail(1000);
}

#[test]
fn a_limit_of_file_sizes_is_an_error_with_a_message() {
    let server = stopped();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = to_directory(&server.data(), 0, &out);
    let output = limited(100_000, &args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert!(said.contains("to continue, run the same command with --resume"), "{said}");
    // Without the limit, it continues.
    let output = command().args(&args).arg("--resume").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.join("metadata").exists());
    // A dump over another that is whole.
    let out = dir.path().join("over");
    let args = to_directory(&server.data(), OVERWRITABLE, &out);
    assert_eq!(command().args(&args).output().unwrap().status.code(), Some(0));
    assert!(says_complete(&files(&out)));
    let output = limited(100, &[&args[..], &["--overwrite".to_owned()]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(!says_complete(&files(&out)), "{said}");
}
