//! The corpora: data directories of real servers after a clean shutdown, and what the servers said
//! of their tables.
//!
//! Every folder of `tests/data` and, when `INNOSCAN_CORPUS` names a directory, every folder there
//! is one: `tables.tsv` lists its tables, `data` holds the files, `expected` the answers.

use std::path::{Path, PathBuf};

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
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let roots = [Some(own), std::env::var_os("INNOSCAN_CORPUS").map(PathBuf::from)];
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
fn version_of(server: &Path) -> Option<ServerVersion> {
    let readme = std::fs::read_to_string(server.join("README")).ok()?;
    let version = readme.lines().find_map(|line| line.strip_prefix("server "))?.trim();
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>());
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let patch = numbers.next()?.ok()?;
    Some(ServerVersion::from_number(major * 10000 + minor * 100 + patch))
}
