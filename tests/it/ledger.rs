//! The ledger of a dump, held against the lists of the server itself: every object is in both, what
//! is not dumped has a reason, and a dry run says what the dump then does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use innoscan_testkit::server::{Server, install, quote};
use serde_json::Value;
use tempfile::TempDir;

use crate::parity::command;

const COMMON: &str = include_str!("ledger/common.sql");
const MARIADB: &str = include_str!("ledger/mariadb.sql");
const MYSQL: &str = include_str!("ledger/mysql.sql");
const UNREADABLE: &str = include_str!("ledger/unreadable.sql");
const UNREADABLE_MYSQL: &str = include_str!("ledger/unreadable_mysql.sql");

/// The servers' own databases.
const SYSTEM: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];

/// A running server with something of every kind.
pub(crate) struct Source {
    pub(crate) server: Server,
    /// What lies outside its directory.
    pub(crate) elsewhere: TempDir,
}

/// A new server, with a place outside its directory for tables.
pub(crate) fn server(version: &str) -> Source {
    install(version).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let directories = format!("--innodb-directories={}", elsewhere.path().display());
    let mut options = vec!["--skip-grant-tables=OFF"];
    if !version.starts_with("mariadb") {
        options.push(&directories);
    }
    let server = Server::start(version, &options).unwrap();
    Source { server, elsewhere }
}

/// The statements that make what a stopped directory holds.
pub(crate) fn readable(version: &str) -> String {
    let own = if version.starts_with("mariadb") { MARIADB } else { MYSQL };
    format!("{COMMON}\n{own}\n")
}

/// A server with what its stopped directory holds; `with_unreadable`: and with what it does not.
fn source(version: &str, with_unreadable: bool) -> Source {
    let source = server(version);
    let is_mariadb = version.starts_with("mariadb");
    let mut sql = readable(version);
    if with_unreadable {
        if is_mariadb {
            sql += "INSTALL SONAME 'ha_archive'; INSTALL SONAME 'ha_blackhole';\n";
        }
        let elsewhere = source.elsewhere.path().to_str().unwrap();
        sql += &UNREADABLE.replace("@DIRECTORY@", elsewhere);
        sql += if is_mariadb { "" } else { UNREADABLE_MYSQL };
    }
    source.server.sql(sql).unwrap();
    source
}

/// Kind, database, name.
pub(crate) type Key = (String, String, String);

/// An object as the ledger or the server lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) engine: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) partitions: BTreeSet<String>,
    /// `dumped`, `left_out`, `not_dumped`; of the server's lists nothing.
    pub(crate) state: String,
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) damaged: u64,
}

/// What `innoscan.json` says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) complete: bool,
    pub(crate) entries: BTreeMap<Key, Entry>,
    pub(crate) unlisted: Vec<String>,
}

fn entry(json: &Value) -> (Key, Entry) {
    let word = |name: &str| json[name].as_str().map(str::to_owned);
    let key = (word("kind").unwrap(), word("database").unwrap_or_default(), word("name").unwrap());
    let partitions = json["partitions"].as_array().into_iter().flatten();
    let entry = Entry {
        engine: word("engine"),
        table: word("table"),
        partitions: partitions.map(|name| name.as_str().unwrap().to_owned()).collect(),
        state: word("state").unwrap(),
        by: word("by"),
        reason: word("reason"),
        damaged: json["damaged"].as_u64().unwrap_or_default(),
    };
    (key, entry)
}

impl Manifest {
    /// That of a dump's directory, if it has one.
    pub(crate) fn read(out: &Path) -> Option<Manifest> {
        let text = std::fs::read(out.join("innoscan.json")).ok()?;
        let json: Value = serde_json::from_slice(&text).unwrap();
        let listed = json["ledger"].as_array().unwrap();
        let entries: BTreeMap<Key, Entry> = listed.iter().map(entry).collect();
        assert_eq!(entries.len(), listed.len(), "an object is listed twice");
        let unlisted = json["unlisted"].as_array().unwrap().iter();
        let kinds = unlisted.flat_map(|unlisted| {
            assert!(!unlisted["reason"].as_str().unwrap().is_empty());
            unlisted["kinds"].as_array().unwrap().clone()
        });
        let unlisted = kinds.map(|kind| kind.as_str().unwrap().to_owned()).collect();
        Some(Manifest { complete: json["complete"].as_bool().unwrap(), entries, unlisted })
    }

    /// What is wrong with how a dump in the layout of mydumper ended.
    pub(crate) fn wrong_end(&self, code: Option<i32>, out: &Path) -> Option<String> {
        let is_missing = |entry: &Entry| entry.state == "not_dumped";
        let lacks = self.entries.values().any(is_missing) || !self.unlisted.is_empty();
        let is_damaged = self.entries.values().any(|entry| entry.damaged > 0);
        let without_reason = |(_, entry): &(&Key, &Entry)| match &*entry.state {
            "dumped" => false,
            "left_out" => entry.by.as_ref().is_none_or(String::is_empty),
            "not_dumped" => entry.reason.as_ref().is_none_or(String::is_empty),
            _ => true,
        };
        if let Some((key, entry)) = self.entries.iter().find(without_reason) {
            return Some(format!("{key:?} has no reason: {entry:?}"));
        }
        let ends = (code, self.complete, out.join("metadata").exists());
        let expected = match (lacks, is_damaged) {
            (true, _) => (Some(2), false, false),
            (false, true) => (Some(3), false, false),
            (false, false) => (Some(0), true, true),
        };
        (ends != expected)
            .then(|| format!("exit code, complete, metadata are {ends:?} in place of {expected:?}"))
    }
}

/// Lines of the client, in cells.
fn rows(server: &Server, sql: &str) -> Vec<Vec<String>> {
    let text = server.sql(format!("{sql};\n")).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Every object that the server lists.
fn lists(server: &Server) -> BTreeMap<Key, Entry> {
    let mut lists: BTreeMap<Key, Entry> = BTreeMap::new();
    let mut add = |kind: &str, database: &str, name: &str, entry: Entry| {
        lists.insert((kind.to_owned(), database.to_owned(), name.to_owned()), entry);
    };
    for row in rows(server, "SELECT schema_name FROM information_schema.schemata") {
        add("database", &row[0], &row[0], Entry::default());
    }
    let tables =
        "SELECT table_schema, table_name, table_type, engine FROM information_schema.tables";
    for row in rows(server, tables) {
        match &*row[2] {
            "BASE TABLE" | "SYSTEM VERSIONED" => {
                let engine = Some(row[3].clone());
                add("table", &row[0], &row[1], Entry { engine, ..Entry::default() });
            }
            "SEQUENCE" => add("sequence", &row[0], &row[1], Entry::default()),
            _ => {}
        }
    }
    for row in rows(server, "SELECT table_schema, table_name FROM information_schema.views") {
        add("view", &row[0], &row[1], Entry::default());
    }
    let triggers = "SELECT trigger_schema, trigger_name, event_object_table \
                    FROM information_schema.triggers";
    for row in rows(server, triggers) {
        let table = Some(row[2].clone());
        add("trigger", &row[0], &row[1], Entry { table, ..Entry::default() });
    }
    let routines = "SELECT LOWER(routine_type), routine_schema, routine_name \
                    FROM information_schema.routines";
    for row in rows(server, routines) {
        add(&row[0], &row[1], &row[2], Entry::default());
    }
    for row in rows(server, "SELECT event_schema, event_name FROM information_schema.events") {
        add("event", &row[0], &row[1], Entry::default());
    }
    let accounts = "SELECT QUOTE(user), QUOTE(host) FROM mysql.user WHERE host <> '' AND user NOT IN \
                    ('mysql.infoschema', 'mysql.session', 'mysql.sys', 'mariadb.sys')";
    for row in rows(server, accounts) {
        add("user", "", &format!("{}@{}", row[0], row[1]), Entry::default());
    }
    if server.version().starts_with("mariadb") {
        let roles = "SELECT user FROM mysql.user WHERE is_role = 'Y' AND user <> 'PUBLIC'";
        for row in rows(server, roles) {
            add("role", "", &quote(&row[0]), Entry::default());
        }
    }
    let partitions = "SELECT table_schema, table_name, IFNULL(subpartition_name, partition_name) \
                      FROM information_schema.partitions WHERE partition_name IS NOT NULL";
    for row in rows(server, partitions) {
        let key = ("table".to_owned(), row[0].clone(), row[1].clone());
        lists.get_mut(&key).unwrap().partitions.insert(row[2].clone());
    }
    lists
}

fn is_of_system(key: &Key) -> bool {
    SYSTEM.contains(&&*key.1)
}

/// Exit code and stderr.
fn ended(command: &mut Command) -> (Option<i32>, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn dumped(from: &[&str], out: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut dump = command();
    ended(dump.arg("dump").args(from).args(["-q", "-o", out.to_str().unwrap()]).args(more))
}

/// The ledger of a whole dump has what the server lists, and nothing else.
fn is_what_is_listed(lists: &BTreeMap<Key, Entry>, from: &[&str], way: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let (code, said) = dumped(from, &out, &["--users"]);
    let manifest = Manifest::read(&out).unwrap_or_else(|| panic!("{way}: {code:?}: {said}"));
    assert_eq!(manifest.wrong_end(code, &out), None, "{way}: {said}");
    let incomplete = out.join("metadata.incomplete").exists();
    assert_eq!(incomplete, !manifest.complete, "{way}");
    for (key, entry) in manifest.entries.iter().filter(|(key, _)| is_of_system(key)) {
        assert_eq!((&*key.0, entry.by.as_deref()), ("database", Some("system")), "{way}: {key:?}");
    }
    let of_user = |entries: &BTreeMap<Key, Entry>| -> BTreeSet<Key> {
        entries.keys().filter(|key| !is_of_system(key)).cloned().collect()
    };
    let (expected, got) = (of_user(lists), of_user(&manifest.entries));
    let missing: Vec<&Key> = expected.difference(&got).collect();
    let extra: Vec<&Key> = got.difference(&expected).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{way}: lacks {missing:?}, has {extra:?}");
    for key in &expected {
        let (listed, entry) = (&lists[key], &manifest.entries[key]);
        assert_eq!(entry.partitions, listed.partitions, "{way}: {key:?}");
        assert_eq!(entry.engine, listed.engine, "{way}: {key:?}");
        assert_eq!(entry.table, listed.table, "{way}: {key:?}");
        assert_ne!(entry.state, "left_out", "{way}: {key:?}");
    }
    let states = |state: &str| manifest.entries.values().filter(|it| it.state == state).count();
    println!("{way}: {} dumped, {} not dumped", states("dumped"), states("not_dumped"));
}

fn live(server: &Server) -> Vec<&str> {
    let socket = server.socket().to_str().unwrap();
    vec!["--no-defaults", "-u", "root", "-S", socket]
}

fn ledger_is_the_servers_lists(version: &str) {
    for with_unreadable in [false, true] {
        let Source { mut server, elsewhere: _kept } = source(version, with_unreadable);
        let lists = lists(&server);
        assert!(lists.keys().filter(|key| !is_of_system(key)).count() > 40);
        is_what_is_listed(&lists, &[&live(&server)[..], &["-A"]].concat(), "live");
        server.stop().unwrap();
        is_what_is_listed(&lists, &[server.data().to_str().unwrap()], "offline");
    }
}

#[test]
fn the_ledger_of_debians_mariadb_is_the_servers_own_lists() {
    ledger_is_the_servers_lists("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn the_ledger_of_other_servers_is_their_own_lists() {
    for version in ["mysql-8.0.33", "mysql-9.7"] {
        ledger_is_the_servers_lists(version);
    }
}

/// What a dry run says of each object, by how it describes the object.
pub(crate) struct Plan(Vec<String>);

impl Plan {
    pub(crate) fn of(stdout: &[u8]) -> Plan {
        let text = String::from_utf8_lossy(stdout);
        let heads = ["server          ", "data directory  ", "lock            "];
        let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
        let is_list = |line: &&str| line.starts_with("CANNOT BE DUMPED: ");
        let lines = text.lines().filter(|line| !is_head(line) && !is_list(line));
        Plan(lines.map(str::to_owned).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The state it gives an object, as `innoscan.json` names it.
    pub(crate) fn state(&self, key: &Key, entry: &Entry) -> Option<&'static str> {
        let described = described(key, entry);
        let said = self.0.iter().find_map(|line| line.strip_prefix(&*described))?;
        let begins = |words: &str| said.starts_with(words);
        match () {
            () if begins(": to be ") => Some("dumped"),
            () if begins(": left out (") => Some("left_out"),
            () if begins(": CANNOT BE DUMPED: ") => Some("not_dumped"),
            () => None,
        }
    }
}

/// An object as a dry run describes it.
fn described((kind, database, name): &Key, entry: &Entry) -> String {
    let mut facts: Vec<String> = entry.engine.iter().cloned().collect();
    facts.extend(entry.table.as_ref().map(|table| format!("of table {table}")));
    match entry.partitions.len() {
        0 => {}
        1 => facts.push("1 partition".to_owned()),
        count => facts.push(format!("{count} partitions")),
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    match (&**kind, &**database) {
        ("database", _) | (_, "") => format!("{kind} {name}{facts}"),
        _ => format!("{kind} {database}.{name}{facts}"),
    }
}

/// Choices of what to dump and how.
const CHOICES: &[&[&str]] = &[
    &[],
    &["--users"],
    &["--no-views"],
    &["--no-triggers"],
    &["--no-routines"],
    &["--no-events", "--users"],
    &["-m"],
    &["-d"],
    &["-B", "d"],
    &["-B", "größe-1 x,a.b'c\"d", "--users"],
    &["-T", "d.dynamic,d.ranges,größe-1 x.other"],
    &["-T", "d.z_view"],
    &["--ignore-table", "d.dynamic,größe-1 x"],
    &["-x", "^d\\.(dyn|a_|hash|in_mem|tr)"],
    &["-x", "nothing is called so"],
    &["--format", "csv"],
    &["--format", "ndjson", "--users"],
    &["--format", "text", "--no-views"],
    &["--layout", "files"],
    &["--layout", "mysqlsh", "-c", "none"],
];

fn dry_run_agrees(from: &[&str], way: &str, wrong: &mut Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    for (number, choice) in CHOICES.iter().enumerate() {
        let all: &[&str] = match way {
            "live" if !choice.iter().any(|word| ["-B", "-T"].contains(word)) => &["-A"],
            _ => &[],
        };
        let out = dir.path().join(number.to_string());
        let args = [from, all, choice].concat();
        let mut dry = command();
        let dry = dry.arg("dump").args(&args).args(["--dry-run", "-o", out.to_str().unwrap()]);
        let dry = dry.stdin(Stdio::null()).output().unwrap();
        assert!(!out.exists(), "{way}: {choice:?}: a dry run wrote");
        let (code, said) = dumped(&args, &out, &[]);
        let mut fail = |what: String| wrong.push(format!("{way}: {choice:?}: {what}"));
        if dry.status.code() != code {
            fail(format!("the dry run ends with {:?}, the dump with {code:?}", dry.status.code()));
        }
        let Some(manifest) = Manifest::read(&out) else {
            if code != Some(2) {
                fail(format!("no ledger: {code:?}: {said}"));
            }
            continue;
        };
        let plan = Plan::of(&dry.stdout);
        if plan.len() != manifest.entries.len() {
            fail(format!("{} objects planned, {} dumped", plan.len(), manifest.entries.len()));
        }
        for (key, entry) in &manifest.entries {
            let planned = plan.state(key, entry);
            if planned != Some(&*entry.state) {
                fail(format!("{key:?} is planned {planned:?} and becomes {entry:?}"));
            }
        }
    }
}

fn dry_runs_agree(version: &str) {
    let Source { mut server, elsewhere: _kept } = source(version, true);
    let mut wrong = Vec::new();
    dry_run_agrees(&live(&server), "live", &mut wrong);
    server.stop().unwrap();
    dry_run_agrees(&[server.data().to_str().unwrap()], "offline", &mut wrong);
    assert!(wrong.is_empty(), "{version}:\n{}", wrong.join("\n"));
}

#[test]
fn a_dry_run_says_what_a_dump_of_debians_mariadb_does() {
    dry_runs_agree("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn a_dry_run_says_what_dumps_of_other_servers_do() {
    for version in ["mysql-8.0.33", "mysql-9.7"] {
        dry_runs_agree(version);
    }
}
