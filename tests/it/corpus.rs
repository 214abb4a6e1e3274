//! The corpora: data directories of real servers after a clean shutdown, and what the servers said
//! of their tables.
//!
//! Every archive of `tests/data` and, when `INNOSCAN_CORPUS` names a directory, every folder there
//! is one: `tables.tsv` lists its tables, `data` holds the files, `expected` the answers.
//! Archives are unpacked once, below cargo's target directory.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use innoscan_format::schema::ServerVersion;

/// A table of a corpus.
pub struct CorpusTable {
    /// The server that wrote it.
    pub server: ServerVersion,
    /// What `tables.tsv` says of it: `-`, or words such as `partitioned`.
    pub flags: String,
    /// Its file without the ending.
    pub file: PathBuf,
    /// What the server said of it, without the ending.
    pub expected: PathBuf,
}

impl CorpusTable {
    /// The tablespace.
    pub fn ibd(&self) -> PathBuf {
        self.file.add_extension_to("ibd")
    }

    /// `SHOW CREATE TABLE`; `None` when it is not UTF-8 or not there.
    pub fn create_sql(&self) -> Option<String> {
        String::from_utf8(std::fs::read(self.expected.add_extension_to("create.sql")).ok()?).ok()
    }

    /// How a printed definition differs from what the server said; `None` when it does not.
    pub fn definition_difference(&self, expected: &str, printed: &str) -> Option<String> {
        if printed == expected {
            return None;
        }
        let lines = expected.lines().zip(printed.lines()).find(|(was, is)| was != is);
        let (was, is) = lines.unwrap_or(("lines", "fewer or more lines"));
        Some(format!("{}\n  was {was}\n  is  {is}", self.file.display()))
    }

    /// Whether `tables.tsv` says `word`.
    pub fn is(&self, word: &str) -> bool {
        self.flags.split(',').any(|flag| flag == word)
    }
}

trait AddExtension {
    fn add_extension_to(&self, extension: &str) -> PathBuf;
}

impl AddExtension for PathBuf {
    fn add_extension_to(&self, extension: &str) -> PathBuf {
        let mut path = self.clone().into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }
}

/// All tables of all corpora that are there.
pub fn tables() -> Vec<CorpusTable> {
    let roots = [Some(fixtures()), std::env::var_os("INNOSCAN_CORPUS").map(PathBuf::from)];
    let mut tables = Vec::new();
    for root in roots.into_iter().flatten() {
        let Ok(servers) = std::fs::read_dir(root) else { continue };
        let mut servers: Vec<PathBuf> = servers.flatten().map(|entry| entry.path()).collect();
        servers.sort();
        for server in servers {
            tables_of(&server, &mut tables);
        }
    }
    tables
}

/// The archives of `tests/data`, unpacked.
pub fn fixtures() -> PathBuf {
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    let unpack_all = || {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
        std::fs::create_dir_all(&root).unwrap();
        let archives = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("data"));
        for archive in archives.unwrap().flatten() {
            let name = archive.file_name().into_string().unwrap();
            if let Some(name) = name.strip_suffix(".tar.zst") {
                unpack(&archive.path(), &root, name);
            }
        }
        root
    };
    UNPACKED.get_or_init(unpack_all).clone()
}

/// Unpacks `archive`, which holds a folder `name`, unless the same was before.
fn unpack(archive: &Path, root: &Path, name: &str) {
    let packed = std::fs::read(archive).unwrap();
    let mut hasher = DefaultHasher::new();
    packed.hash(&mut hasher);
    let stamp = format!("{:016x}", hasher.finish());
    let folder = root.join(name);
    if std::fs::read_to_string(folder.join(".from")).is_ok_and(|from| from == stamp) {
        return;
    }
    let new = tempfile::tempdir_in(root).unwrap();
    let mut tar = Command::new("tar")
        .args(["-x", "-S", "--no-same-owner", "-C"])
        .arg(new.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("tar, which unpacks the fixtures");
    let mut decoder = zstd::Decoder::new(File::open(archive).unwrap()).unwrap();
    decoder.window_log_max(27).unwrap();
    std::io::copy(&mut decoder, &mut tar.stdin.take().unwrap()).unwrap();
    assert!(tar.wait().unwrap().success(), "{}: tar failed", archive.display());
    let unpacked = new.path().join(name);
    std::fs::write(unpacked.join(".from"), stamp).unwrap();
    _ = std::fs::remove_dir_all(&folder);
    std::fs::rename(unpacked, folder).unwrap();
}

fn tables_of(server: &Path, tables: &mut Vec<CorpusTable>) {
    let Some(version) = version_of(server) else { return };
    let Ok(list) = std::fs::read_to_string(server.join("tables.tsv")) else { return };
    for line in list.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [_, _, db, table, flags] = cells.as_slice() else {
            panic!("{}: {line:?}", server.display())
        };
        tables.push(CorpusTable {
            server: version,
            flags: (*flags).to_owned(),
            file: server.join("data").join(db).join(table),
            expected: server.join("expected").join(db).join(table),
        });
    }
}

/// What the README of a corpus says: `server   10.11.19-MariaDB-0+deb12u1 (mariadb-10.11)`.
pub fn version_of(server: &Path) -> Option<ServerVersion> {
    let readme = std::fs::read_to_string(server.join("README")).ok()?;
    let version = readme.lines().find_map(|line| line.strip_prefix("server "))?.trim();
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>());
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let patch = numbers.next()?.ok()?;
    Some(ServerVersion::from_number(major * 10000 + minor * 100 + patch))
}
