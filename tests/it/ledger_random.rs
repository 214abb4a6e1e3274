//! Directories of a stopped server with files taken away, cut, damaged, renamed or closed, at random:
//! every object of the whole directory is in the ledger unless nothing is left of it, what is said
//! to be dumped is as it was, and a dump that is said to be complete is.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use innoscan_testkit::damage::Random;
use innoscan_testkit::server::Server;
use tempfile::TempDir;

use crate::ledger::{Entry, Key, Manifest, Plan};
use crate::parity::command;

const SCHEMA: &str = include_str!("ledger/random.sql");

/// What was done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Renamed(String),
    Damaged,
    Cut,
    Closed,
}

/// A stopped server's directory as it is whole, and its dump.
struct Base {
    dir: TempDir,
    /// Of each file, below the directory, of `d`, `e` and the server's tables of objects.
    files: Vec<String>,
    manifest: Manifest,
    dump: BTreeMap<String, Vec<u8>>,
    is_root: bool,
}

fn files_below(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|it| (it.file_name().into_string().unwrap(), std::fs::read(it.path()).unwrap()))
        .collect()
}

impl Base {
    fn new() -> Base {
        let mut server = Server::start("mariadb-10.11", &["--skip-grant-tables=OFF"]).unwrap();
        server.sql(SCHEMA).unwrap();
        server.stop().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::copy(command().get_program(), root.join("innoscan")).unwrap();
        let data = root.join("data");
        std::fs::create_dir(&data).unwrap();
        link_all(&server.data(), &data);
        let mut files = Vec::new();
        for database in ["d", "e", "mysql"] {
            for name in files_below(&data.join(database)).into_keys() {
                let of_objects = ["proc.", "event.", "global_priv."];
                if database != "mysql" || of_objects.iter().any(|it| name.starts_with(it)) {
                    files.push(format!("{database}/{name}"));
                }
            }
        }
        let mut base = Base {
            files,
            manifest: Manifest { complete: false, entries: BTreeMap::new(), unlisted: Vec::new() },
            dump: BTreeMap::new(),
            is_root: std::fs::metadata("/proc/self").unwrap().uid() == 0,
            dir,
        };
        let out = root.join("whole");
        let output = base.dump(&data, &out, false, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        base.manifest = Manifest::read(&out).unwrap();
        base.dump = files_below(&out);
        assert!(base.manifest.complete && base.manifest.entries.len() > 25);
        base
    }

    fn dump(&self, data: &Path, out: &Path, by_another: bool, more: &[&str]) -> Output {
        let mut dump = Command::new(self.dir.path().join("innoscan"));
        dump.args(["dump", data.to_str().unwrap(), "--users", "-q", "-c", "none"]);
        dump.args(["--threads", "1", "--memory", "64M", "-o", out.to_str().unwrap()]).args(more);
        if by_another {
            dump.uid(65534);
        }
        dump.stdin(Stdio::null()).output().unwrap()
    }
}

/// Copies of links; everybody may read what is there.
fn link_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).unwrap();
            link_all(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            let open = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(entry.path(), open).unwrap();
            let linked = std::fs::hard_link(entry.path(), &target);
            linked.or_else(|_| std::fs::copy(entry.path(), &target).map(drop)).unwrap();
        }
    }
}

/// What was done to a directory.
struct Changed {
    files: BTreeMap<String, Change>,
    directories: BTreeMap<String, Change>,
}

fn close(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
}

fn damage(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        if !bytes.is_empty() {
            let reach = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(600) };
            let at = random.below(reach);
            bytes[at] ^= 1 << random.below(8);
        }
    }
}

impl Changed {
    /// Changes a copy of the base at random.
    fn new(base: &Base, data: &Path, random: &mut Random) -> Changed {
        let mut changed = Changed { files: BTreeMap::new(), directories: BTreeMap::new() };
        for _ in 0..=random.below(4) {
            let file = base.files[random.below(base.files.len())].clone();
            match random.below(20) {
                0..6 => changed.file(data, &file, Change::Removed, random),
                6..9 => changed.file(data, &file, Change::Damaged, random),
                9..12 => changed.file(data, &file, Change::Cut, random),
                12..14 => {
                    let (dir, name) = file.split_once('/').unwrap();
                    changed.file(data, &file, Change::Renamed(format!("{dir}/x{name}")), random);
                }
                14..16 if base.is_root => changed.file(data, &file, Change::Closed, random),
                16 => changed.directory(base, data, random),
                // all that begins so
                _ => {
                    let stem = file.split(['.', '#']).next().unwrap().to_owned();
                    for file in &base.files {
                        if file.split(['.', '#']).next() == Some(&stem) {
                            changed.file(data, file, Change::Removed, random);
                        }
                    }
                }
            }
        }
        changed
    }

    fn directory(&mut self, base: &Base, data: &Path, random: &mut Random) {
        let name = ["d", "e", "mysql"][random.below(3)].to_owned();
        let path = data.join(&name);
        if self.directories.contains_key(&name) {
            return;
        }
        if random.below(2) == 0 && base.is_root {
            close(&path);
            self.directories.insert(name, Change::Closed);
        } else if name != "mysql" {
            std::fs::remove_dir_all(&path).unwrap();
            let of_directory = |file: &&String| file.starts_with(&format!("{name}/"));
            for file in base.files.iter().filter(of_directory) {
                self.files.insert(file.clone(), Change::Removed);
            }
            self.directories.insert(name, Change::Removed);
        }
    }

    fn file(&mut self, data: &Path, file: &str, change: Change, random: &mut Random) {
        let path = data.join(file);
        let Ok(mut bytes) = std::fs::read(&path) else { return };
        if self.files.contains_key(file) {
            return;
        }
        // The file is the base's too: one of its own takes its place.
        std::fs::remove_file(&path).unwrap();
        match &change {
            Change::Removed => {}
            Change::Renamed(to) => std::fs::write(data.join(to), bytes).unwrap(),
            Change::Damaged => {
                damage(&mut bytes, random);
                std::fs::write(&path, bytes).unwrap();
            }
            Change::Cut => {
                let some = random.below(bytes.len());
                let page = if random.below(2) == 0 { some / 8192 * 8192 } else { some };
                std::fs::write(&path, &bytes[..page]).unwrap();
            }
            Change::Closed => {
                std::fs::write(&path, bytes).unwrap();
                close(&path);
            }
        }
        self.files.insert(file.to_owned(), change);
    }

    fn is_closed(&self) -> bool {
        let mut all = self.files.values().chain(self.directories.values());
        all.any(|change| *change == Change::Closed)
    }

    fn is_damaged(&self, file: &str) -> bool {
        matches!(self.files.get(file), Some(Change::Damaged | Change::Cut))
    }

    fn is_gone(&self, file: &str) -> bool {
        matches!(self.files.get(file), Some(Change::Removed | Change::Renamed(_)))
    }

    /// Damage that no checksum or length tells of: text, and definitions.
    fn is_untold(&self, file: &str) -> bool {
        let has_sums = [".ibd", ".MAD", ".MAI"].iter().any(|ending| file.ends_with(ending));
        let is_text = [".TRG", ".TRN", "db.opt", "/va.frm", "/vb.frm", "/vc.frm"];
        match self.files.get(file) {
            Some(Change::Damaged) => !has_sums,
            Some(Change::Cut) => is_text.iter().any(|ending| file.ends_with(ending)),
            _ => false,
        }
    }
}

/// The files that an object is in: definition and data.
fn files_of(base: &Base, (kind, database, name): &Key, entry: &Entry) -> Vec<String> {
    let of = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        base.files.iter().filter(|file| wanted(file)).cloned().collect()
    };
    let stem = |file: &str| file.split(['.', '#']).next().unwrap().to_owned();
    match &**kind {
        "database" => of(&|file| *file == format!("{database}/db.opt")),
        "trigger" => {
            let table = entry.table.as_ref().unwrap();
            let (list, mark) =
                (format!("{database}/{table}.TRG"), format!("{database}/{name}.TRN"));
            of(&|file| *file == list || *file == mark)
        }
        "function" | "procedure" => of(&|file| stem(file) == "mysql/proc"),
        "event" => of(&|file| stem(file) == "mysql/event"),
        "user" | "role" => of(&|file| stem(file) == "mysql/global_priv"),
        _ => of(&|file| stem(file) == format!("{database}/{name}") && !file.ends_with(".TRG")),
    }
}

/// Names of the files of a dump that an object is in, by itself.
fn output_of<'f>(
    dump: &'f BTreeMap<String, Vec<u8>>,
    (kind, database, name): &Key,
    entry: &Entry,
) -> BTreeMap<&'f String, &'f Vec<u8>> {
    let table = entry.table.clone().unwrap_or_default();
    let of_object = |file: &str| match &**kind {
        "database" => file == format!("{database}-schema-create.sql"),
        "trigger" => file == format!("{database}.{table}-schema-triggers.sql"),
        "function" | "procedure" | "event" => file == format!("{database}-schema-post.sql"),
        "user" | "role" => file == "innoscan.users",
        _ => {
            let stem = format!("{database}.{name}");
            let rest = file.strip_prefix(&stem).unwrap_or_default();
            rest.starts_with('.') || (rest.starts_with("-schema") && !rest.contains("triggers"))
        }
    };
    dump.iter().filter(|(file, _)| of_object(file)).collect()
}

/// Files without the name of a database in front of other names.
fn unqualified(files: &BTreeMap<&String, &Vec<u8>>, database: &str) -> Vec<String> {
    let qualifier = format!("`{database}`.");
    let text = |bytes: &&Vec<u8>| String::from_utf8_lossy(bytes).replace(&qualifier, "");
    files.values().map(text).collect()
}

/// A dump of a changed directory.
struct Case<'b> {
    base: &'b Base,
    changed: Changed,
    manifest: Manifest,
    dump: BTreeMap<String, Vec<u8>>,
    wrong: Vec<String>,
}

impl Case<'_> {
    /// The objects that share a file of the output with another.
    fn share(&self, key: &Key, entry: &Entry) -> Vec<&Key> {
        let group = |kind: &str| match kind {
            "function" | "procedure" | "event" => "post".to_owned(),
            "user" | "role" => "users".to_owned(),
            kind => kind.to_owned(),
        };
        let shares = |(other, of): &(&Key, &Entry)| {
            group(&other.0) == group(&key.0)
                && other.1 == key.1
                && match &*key.0 {
                    "trigger" => of.table == entry.table,
                    "function" | "procedure" | "event" | "user" | "role" => true,
                    _ => other.2 == key.2,
                }
        };
        self.base.manifest.entries.iter().filter(shares).map(|(key, _)| key).collect()
    }

    fn state(&self, key: &Key) -> Option<&str> {
        self.manifest.entries.get(key).map(|entry| &*entry.state)
    }

    /// Whether nothing is left of an object, or of what it is in.
    fn may_be_missing(&self, key: &Key, files: &[String]) -> bool {
        let database = ("database".to_owned(), key.1.clone(), key.1.clone());
        let is_left = files.iter().any(|file| !self.changed.is_gone(file));
        let in_directory = ["table", "view", "trigger", "sequence"].contains(&&*key.0);
        let by_another_kind = ["table", "view", "sequence"].iter().any(|kind| {
            let other = ((*kind).to_owned(), key.1.clone(), key.2.clone());
            ["table", "view", "sequence"].contains(&&*key.0)
                && self.state(&other) == Some("not_dumped")
        });
        let is_gone = self.changed.directories.get(&key.1) == Some(&Change::Removed);
        (!is_left && key.0 != "database")
            || by_another_kind
            || self.manifest.unlisted.contains(&key.0)
            || (in_directory && self.state(&database) == Some("not_dumped"))
            || (is_gone && (in_directory || key.0 == "database"))
    }

    /// Holds one object of the whole directory against the dump; whether it is whole or gone.
    fn object(&mut self, key: &Key, entry: &Entry) -> bool {
        let files = files_of(self.base, key, entry);
        let Some(state) = self.state(key) else {
            if !self.may_be_missing(key, &files) {
                self.wrong.push(format!("{key:?} is missing in silence"));
            }
            return files.iter().all(|file| self.changed.is_gone(file));
        };
        if entry.state != "dumped" || state != "dumped" {
            return state == entry.state;
        }
        // Statements of objects tell of their database's charset. One without db.opt is of the charset
        // that its server is started with.
        let options = format!("{}/db.opt", key.1);
        let is_of_options = key.0 != "table" && self.changed.files.contains_key(&options);
        let is_untold = is_of_options || files.iter().any(|file| self.changed.is_untold(file));
        let together = self.share(key, entry);
        let is_comparable = together.iter().all(|key| self.state(key) == Some("dumped"));
        let expected = output_of(&self.base.dump, key, entry);
        let got = output_of(&self.dump, key, entry);
        // A view keeps its database's name where one that it may read cannot be looked at.
        let is_same = match &*key.0 {
            "view" => unqualified(&expected, &key.1) == unqualified(&got, &key.1),
            _ => expected == got,
        };
        if !is_same && !is_untold && is_comparable {
            let names: Vec<&&String> = got.keys().collect();
            self.wrong.push(format!("{key:?} is dumped, and not as it was: {names:?}"));
        }
        true
    }

    fn objects(&mut self) {
        let entries = &self.base.manifest.entries;
        let mut is_whole = true;
        for (key, entry) in entries {
            is_whole &= self.object(key, entry);
        }
        if self.manifest.complete && !is_whole {
            self.wrong.push("is not complete and says it is".to_owned());
        }
        let renamed = self.changed.files.values().any(|it| matches!(it, Change::Renamed(_)));
        // Damage to a list of names without a checksum makes other names.
        let is_untold = self.changed.files.keys().any(|file| self.changed.is_untold(file));
        for (key, entry) in &self.manifest.entries {
            let is_new = !entries.contains_key(key) && entry.state == "dumped";
            if is_new && !renamed && !is_untold {
                self.wrong.push(format!("{key:?} is new"));
            }
        }
    }

    /// Holds the dry run against the dump.
    fn plan(&mut self, dry: &Output, code: Option<i32>) {
        let plan = Plan::of(&dry.stdout);
        let mut is_found_by_reading = false;
        if plan.len() != self.manifest.entries.len() {
            let (plan, dump) = (plan.len(), self.manifest.entries.len());
            self.wrong.push(format!("{plan} objects planned, {dump} in the dump"));
        }
        for (key, entry) in &self.manifest.entries {
            let planned = plan.state(key, entry);
            if planned == Some(&*entry.state) {
                continue;
            }
            let files = files_of(self.base, key, entry);
            let is_damaged = files.iter().any(|file| self.changed.is_damaged(file));
            if is_damaged && planned == Some("dumped") && entry.state == "not_dumped" {
                is_found_by_reading = true;
                continue;
            }
            self.wrong.push(format!("{key:?} is planned {planned:?} and becomes {entry:?}"));
        }
        if dry.status.code() != code && !(is_found_by_reading && code == Some(2)) {
            let dry = dry.status.code();
            self.wrong.push(format!("the dry run ends with {dry:?}, the dump with {code:?}"));
        }
    }
}

/// How a case ended, and what is wrong with it.
enum Outcome {
    Refused(String),
    Judged { complete: bool },
}

fn open_again(dir: &Path) {
    for name in ["d", "e", "mysql"] {
        let open = std::fs::Permissions::from_mode(0o755);
        _ = std::fs::set_permissions(dir.join(name), open);
    }
}

fn case(base: &Base, seed: u64, wrong: &Mutex<Vec<String>>) -> Outcome {
    let dir = tempfile::tempdir_in(base.dir.path()).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    link_all(&base.dir.path().join("data"), &data);
    let mut random = Random::new(seed + 1);
    random.below(2);
    let changed = Changed::new(base, &data, &mut random);
    let by_another = changed.is_closed();
    let out = dir.path().join("out");
    let dry = base.dump(&data, &out, by_another, &["--dry-run"]);
    let dump = base.dump(&data, &out, by_another, &[]);
    open_again(&data);
    let said = String::from_utf8_lossy(&dump.stderr).into_owned();
    let what = format!("seed {seed}: {:?} {:?}", changed.files, changed.directories);
    let fail = |text: String| wrong.lock().unwrap().push(format!("{what}: {text}"));
    for output in [&dry, &dump] {
        let said = String::from_utf8_lossy(&output.stderr);
        let is_end = matches!(output.status.code(), Some(0 | 2));
        if !is_end || said.contains("panicked") {
            fail(format!("{}: {said}", output.status));
        }
    }
    let code = dump.status.code();
    let Some(manifest) = Manifest::read(&out) else {
        if code != Some(2) || dry.status.code() != Some(2) {
            fail(format!("no ledger: {code:?}, the dry run {:?}: {said}", dry.status.code()));
        }
        return Outcome::Refused(format!("{what}: {said}"));
    };
    let complete = manifest.complete;
    if let Some(end) = manifest.wrong_end(code, &out) {
        fail(end);
    }
    let dump = files_below(&out);
    let mut case = Case { base, changed, manifest, dump, wrong: Vec::new() };
    case.objects();
    case.plan(&dry, code);
    case.wrong.into_iter().for_each(fail);
    Outcome::Judged { complete }
}

fn random_sources(seeds: u64) {
    let base = Base::new();
    if !base.is_root {
        println!("skipped: files and directories that may not be read: only root is another user");
    }
    let (next, wrong) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    let outcome = case(&base, seed, &wrong);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    assert_eq!(outcomes.len() as u64, seeds, "a case died");
    let mut refused = BTreeSet::new();
    let mut complete_count = 0;
    for outcome in outcomes {
        match outcome {
            Outcome::Refused(why) => _ = refused.insert(why),
            Outcome::Judged { complete } => complete_count += usize::from(complete),
        }
    }
    for why in &refused {
        println!("refused as a whole: {why}");
    }
    println!("{seeds} sources: {complete_count} complete, {} refused as a whole", refused.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn random_sources_lose_nothing_in_silence() {
    random_sources(60);
}

#[test]
#[ignore = "five hundred dumps: make test-all"]
fn five_hundred_random_sources_lose_nothing_in_silence() {
    random_sources(500);
}
