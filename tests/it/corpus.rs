//! The corpora: data directories of real servers after a clean shutdown, and what the servers said
//! of their tables.
//!
//! Every archive of `tests/data` and, when `INNOSCAN_CORPUS` names a directory, every folder there
//! is one: `tables.tsv` lists its tables, `data` holds the files, `expected` the answers.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use innoscan::{KeyFiles, Keys, OpenOptions, OptionFiles, ServerVersion, Table};
use innoscan_format::keys::{DigestName, KeyFilePassword, Keys as PageKeys};
use innoscan_format::secret::Secret;
use innoscan_testkit::server::fixtures;

/// A table of a corpus.
pub(crate) struct CorpusTable {
    /// The folder of the corpus.
    pub(crate) corpus: PathBuf,
    /// The server that wrote it, where the corpus has a README.
    version: Option<ServerVersion>,
    pub(crate) db: String,
    pub(crate) table: String,
    file_db: String,
    file_table: String,
    /// What `tables.tsv` says of it: `-`, or words such as `partitioned`.
    flags: Vec<String>,
}

impl CorpusTable {
    /// The server that wrote it.
    pub(crate) fn version(&self) -> ServerVersion {
        self.version.unwrap_or_else(|| panic!("{}: no README", self.corpus.display()))
    }

    /// The server that wrote it, as `install.sh` names it.
    pub(crate) fn server_name(&self) -> String {
        let readme = std::fs::read_to_string(self.corpus.join("README")).unwrap();
        let line = readme.lines().find(|line| line.starts_with("server ")).unwrap();
        line.rsplit_once('(').unwrap().1.trim_end_matches(')').to_owned()
    }

    /// The options with which that server can restore it.
    pub(crate) fn server_options(&self) -> Vec<String> {
        options_in(&self.corpus, "server-options")
    }

    /// Its corpus, which is named after the server.
    pub(crate) fn server(&self) -> String {
        self.corpus.file_name().unwrap().to_string_lossy().into_owned()
    }

    /// `db/table`, as file names.
    pub(crate) fn place(&self) -> String {
        format!("{}/{}", self.file_db, self.file_table)
    }

    /// `corpus/db/table`, as file names.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.server(), self.place())
    }

    /// Its file, without the ending.
    pub(crate) fn file(&self) -> PathBuf {
        self.corpus.join("data").join(self.place())
    }

    /// The tablespace.
    pub(crate) fn ibd(&self) -> PathBuf {
        self.corpus.join("data").join(self.place() + ".ibd")
    }

    /// The options that innoscan needs to read the corpus: where its keys are.
    pub(crate) fn options(&self) -> Vec<String> {
        options_in(&self.corpus, "source-options")
    }

    /// The same, for the library.
    pub(crate) fn open(&self) -> innoscan::Result<Table> {
        options_of(&self.corpus).open(self.file())
    }

    /// The keys of its pages.
    pub(crate) fn page_keys(&self) -> PageKeys {
        let (mut keys, option) = (PageKeys::default(), |name: &str| file_of(&self.corpus, name));
        let read = |path: PathBuf| std::fs::read(path).unwrap();
        if let Some(keyring) = option("--keyring") {
            keys.add_keyring(&read(keyring)).unwrap();
        }
        if let Some(file) = option("--file-key-management-filename") {
            let password = option("--file-key-management-filekey").map(|path| KeyFilePassword {
                password: Secret::new(read(path).trim_ascii_end().to_vec()),
                digest: DigestName::Sha1,
                pbkdf2_iterations: 0,
            });
            keys.add_key_file(&read(file), password.as_ref()).unwrap();
        }
        keys
    }

    /// The file with what the server said of it: `txt`, `create.sql`, ...
    pub(crate) fn expected(&self, ending: &str) -> PathBuf {
        self.corpus.join("expected").join(format!("{}.{ending}", self.place()))
    }

    /// What the server said of it.
    pub(crate) fn read(&self, ending: &str) -> Result<Vec<u8>> {
        let path = self.expected(ending);
        std::fs::read(&path).map_err(|error| Error::other(format!("{}: {error}", path.display())))
    }

    /// A number the server said of it.
    pub(crate) fn number(&self, ending: &str) -> Result<u64> {
        String::from_utf8_lossy(&self.read(ending)?).trim().parse().map_err(Error::other)
    }

    /// `SHOW CREATE TABLE`; `None` when it is not UTF-8 or not there.
    pub(crate) fn create_sql(&self) -> Option<String> {
        String::from_utf8(self.read("create.sql").ok()?).ok()
    }

    /// How a printed definition differs from what the server said; `None` when it does not.
    pub(crate) fn definition_difference(&self, expected: &str, printed: &str) -> Option<String> {
        if printed == expected {
            return None;
        }
        let lines = expected.lines().zip(printed.lines()).find(|(was, is)| was != is);
        let (was, is) = lines.unwrap_or(("lines", "fewer or more lines"));
        Some(format!("{}\n  was {was}\n  is  {is}", self.file().display()))
    }

    /// Whether innoscan does not read the table, and refuses it by name.
    pub(crate) fn is_refused(&self) -> bool {
        self.file_db == "t_refused" && REFUSED.contains(&self.file_table.as_str())
    }

    /// Whether `tables.tsv` says `word`.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.flags.iter().any(|flag| flag == word)
    }
}

/// Tables of the database `t_refused` whose files the fixtures do not have; innoscan reads the others by now.
const REFUSED: [&str; 1] = ["in_general"];

/// All tables of all corpora that are there and say which server wrote them.
pub(crate) fn tables() -> Vec<CorpusTable> {
    let roots = [Some(fixtures().unwrap()), std::env::var_os("INNOSCAN_CORPUS").map(PathBuf::from)];
    let mut tables: Vec<CorpusTable> =
        roots.into_iter().flatten().flat_map(|root| tables_in(&root)).collect();
    tables.retain(|table| table.version.is_some());
    tables
}

/// The tables of all corpora in `root`.
pub(crate) fn tables_in(root: &Path) -> Vec<CorpusTable> {
    let mut corpora: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    corpora.sort();
    corpora.iter().flat_map(|corpus| tables_of(corpus)).collect()
}

fn tables_of(corpus: &Path) -> Vec<CorpusTable> {
    let Ok(list) = std::fs::read_to_string(corpus.join("tables.tsv")) else { return Vec::new() };
    let version = version_of(corpus);
    let table = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [db, table, file_db, file_table, flags] = cells.as_slice() else {
            panic!("{}: {line:?}", corpus.display())
        };
        CorpusTable {
            corpus: corpus.to_owned(),
            version,
            db: unhex(db),
            table: unhex(table),
            file_db: (*file_db).to_owned(),
            file_table: (*file_table).to_owned(),
            flags: flags.split(',').filter(|flag| *flag != "refused").map(str::to_owned).collect(),
        }
    };
    list.lines().map(table).collect()
}

/// The options of a corpus in a file of it, one a line.
pub(crate) fn options_in(corpus: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(corpus.join(file)).unwrap_or_default();
    let path = corpus.to_str().unwrap();
    text.lines().map(|line| line.replace("{corpus}", path)).collect()
}

/// The keys of a corpus, from its options.
/// The options of the library for a corpus: its keys, and its files outside of the data directory.
pub(crate) fn options_of(corpus: &Path) -> OpenOptions {
    OpenOptions::default().with(|open| {
        open.keys = keys_of(corpus);
        open.files.directories.extend(file_of(corpus, "--innodb-directories"));
    })
}

fn keys_of(corpus: &Path) -> Keys {
    let file = |name: &str| file_of(corpus, name);
    let files = KeyFiles {
        keyring: file("--keyring"),
        key_file: file("--file-key-management-filename"),
        password_file: file("--file-key-management-filekey"),
        option_files: OptionFiles { none: true, ..OptionFiles::default() },
        ..KeyFiles::default()
    };
    files.keys(|| ()).unwrap()
}

/// The file that an option of a corpus names.
fn file_of(corpus: &Path, name: &str) -> Option<PathBuf> {
    let options = options_in(corpus, "source-options");
    let value = options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))?;
    Some(PathBuf::from(value.strip_prefix("FILE:").unwrap_or(value)))
}

fn unhex(text: &str) -> String {
    let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    String::from_utf8(bytes.collect::<std::result::Result<_, _>>().unwrap()).unwrap()
}

/// What the README of a corpus says: `server   10.11.19-MariaDB-0+deb12u1 (mariadb-10.11)`.
pub(crate) fn version_of(server: &Path) -> Option<ServerVersion> {
    let readme = std::fs::read_to_string(server.join("README")).ok()?;
    let version = readme.lines().find_map(|line| line.strip_prefix("server "))?.trim();
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>());
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let patch = numbers.next()?.ok()?;
    Some(ServerVersion::from_number(major * 10000 + minor * 100 + patch))
}
