//! `innoscan` without a command: what the current directory is, and three commands that make sense there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan_catalog::catalog::{Catalog, FileKind, SYSTEM_DATABASES, database_of};
use innoscan_catalog::datadir::{DataDir, running_server};
use innoscan_catalog::system_files;
use innoscan_engine::counted;
use innoscan_export::dump::MANIFEST_NAME;
use innoscan_format::schema::filename;
use innoscan_live::SOCKETS;
use rustix::process::Flock;

use crate::args::{OfflineKeyArgs, SourceArgs};
use crate::messages::Exit;
use crate::{remedies, sizes};

/// Where servers of Linux distributions have their data.
const DATA_DIRECTORY: &str = "/var/lib/mysql";

/// What is said of a data directory whose server is running.
const RUNNING: &str = "Its server is running, so its tables are read through the server.";

/// A command, and what it does.
type Command = (String, &'static str);

/// What is said of a directory.
struct Words {
    about: Vec<String>,
    commands: Vec<Command>,
}

/// Prints what the current directory is.
///
/// # Errors
/// It is gone, or cannot be listed.
pub fn run() -> anyhow::Result<Exit> {
    let here = std::env::current_dir()?;
    let files = tables_in(&here)?;
    let words = match files.first() {
        _ if here.join(MANIFEST_NAME).is_file() => dump(&here),
        _ if DataDir::is_one(&here) => data_directory(&here, ".")?,
        Some(file) => tablespaces(&here, files.len(), file)?,
        None => elsewhere(&here)?,
    };
    for line in words.about {
        out!("{line}");
    }
    let width = words.commands.iter().map(|(command, _)| command.chars().count()).max();
    let width = width.unwrap_or_default();
    out!("");
    for (command, what) in words.commands {
        out!("  {command:<width$}   {what}");
    }
    out!("");
    out!("All commands: innoscan --help");
    Ok(Exit::Done)
}

/// A table's files.
struct TableFiles {
    name: String,
    /// The first of them.
    path: PathBuf,
    bytes: u64,
}

/// The tables with files in a directory, the largest first.
fn tables_in(directory: &Path) -> std::io::Result<Vec<TableFiles>> {
    let mut found: BTreeMap<String, TableFiles> = BTreeMap::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = match FileKind::of(&path) {
            Some(FileKind::Partition(table)) => table,
            Some(FileKind::Table) => {
                filename::decode_table(&path.file_stem().unwrap_or_default().to_string_lossy())
                    .table
            }
            Some(FileKind::FullText | FileKind::LeftOver) | None => continue,
        };
        let bytes = std::fs::metadata(&path).map(|found| found.len()).unwrap_or_default();
        let table = TableFiles { name: name.clone(), path: path.clone(), bytes: 0 };
        let table = found.entry(name).or_insert(table);
        table.bytes += bytes;
        if path < table.path {
            table.path = path;
        }
    }
    let mut found: Vec<TableFiles> = found.into_values().collect();
    found.sort_by_key(|table| std::cmp::Reverse(table.bytes));
    Ok(found)
}

/// A data directory or backup, which is named `typed` in commands.
fn data_directory(root: &Path, typed: &str) -> anyhow::Result<Words> {
    let (mut databases, mut tables) = (0, Vec::new());
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    for directory in entries.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let database = database_of(directory.file_name().unwrap_or_default());
        if SYSTEM_DATABASES.contains(&&*database) {
            continue;
        }
        // Directories that the user may not read are no reason to say nothing.
        let found = tables_in(&directory).unwrap_or_default();
        databases += u64::from(!found.is_empty());
        tables.extend(
            found.into_iter().map(|table| (format!("{database}.{}", table.name), table.bytes)),
        );
    }
    let bytes: u64 = tables.iter().map(|(_, bytes)| bytes).sum();
    let mut about = vec![format!(
        "{} is the data directory of a server, or a copy of one: {} in {}, {}.",
        root.display(),
        counted(tables.len() as u64, "InnoDB table"),
        counted(databases, "database"),
        sizes::bytes(bytes)
    )];
    let largest = tables.iter().max_by_key(|(_, bytes)| *bytes).map(|(name, _)| quoted(name));
    let largest = largest.unwrap_or_else(|| "DB.TABLE".to_owned());
    if let Some(server) = server_of(root) {
        about.push(RUNNING.to_owned());
        let ls = (format!("innoscan ls {typed} --force"), "its tables, as the files have them");
        return Ok(Words { about, commands: of_server(&server, &largest, ls) });
    }
    let catalog = catalog(Some(root))?;
    match catalog.require_readable().and_then(|()| catalog.directory_notes()) {
        Ok(notes) => about.extend(notes.into_iter().map(|note| format!("Note: {note}"))),
        Err(error) => about.push(format!("It is not read: {}", remedies::message(&error))),
    }
    let commands = vec![
        (format!("innoscan ls {typed}"), "every table, and what cannot be read"),
        (format!("innoscan dump {typed} -o ~/dump"), "a logical backup, as SQL for myloader"),
        (
            format!("innoscan scan {largest} --datadir {typed} --checksum"),
            "what CHECKSUM TABLE says, and how fast it is read",
        ),
    ];
    Ok(Words { about, commands })
}

/// The catalog of commands without options.
fn catalog(root: Option<&Path>) -> anyhow::Result<Catalog> {
    let from = SourceArgs { datadir: root.map(Path::to_owned), ..SourceArgs::default() };
    super::catalog(&from, &OfflineKeyArgs::default())
}

/// The server that runs on a data directory.
fn server_of(root: &Path) -> Option<Flock> {
    running_server(root, &root.join(system_files::FIRST))
}

/// Commands for a running server and one of its tables, and another one.
fn of_server(server: &Flock, table: &str, other: Command) -> Vec<Command> {
    let usual = || SOCKETS.into_iter().find(|socket| Path::new(socket).exists());
    let socket = socket_of(server).or_else(|| usual().map(str::to_owned));
    let socket = quoted(socket.as_deref().unwrap_or("SOCKET"));
    vec![
        (format!("innoscan dump -S {socket} -A -o ~/dump"), "a logical backup of the server"),
        (
            format!("innoscan dump -S {socket} -T {table} > ~/table.sql"),
            "one table, as mysqldump writes it",
        ),
        other,
    ]
}

/// The socket of a running server, if its command line names it.
fn socket_of(server: &Flock) -> Option<String> {
    let pid = server.pid?.as_raw_nonzero();
    let typed = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = typed.split(|byte| *byte == 0).map(String::from_utf8_lossy).rev();
    words.find_map(|word| Some(word.strip_prefix("--socket=")?.to_owned()))
}

/// Files of tables, in a directory of a database or alone.
fn tablespaces(here: &Path, count: usize, largest: &TableFiles) -> anyhow::Result<Words> {
    let root = DataDir::root_of(&largest.path);
    let place = match &root {
        Some(root) => format!("in the data directory {}", root.display()),
        None => "without the data directory of their server".to_owned(),
    };
    let tables = counted(count as u64, "InnoDB table");
    let mut about = vec![format!("{} has the files of {tables}, {place}.", here.display())];
    let file = largest.path.strip_prefix(here).unwrap_or(&largest.path).to_string_lossy();
    let file = quoted(&file);
    if let Some(server) = root.as_deref().and_then(server_of) {
        about.push(RUNNING.to_owned());
        let database = database_of(here.file_name().unwrap_or_default());
        let table = quoted(&format!("{database}.{}", largest.name));
        let schema =
            (format!("innoscan schema {file} --force"), "its CREATE TABLE, as the file has it");
        return Ok(Words { about, commands: of_server(&server, &table, schema) });
    }
    if let Err(error) = catalog(None)?.definition(&largest.path.to_string_lossy()) {
        about.push(format!("The largest is not read: {}", remedies::message(&error)));
    }
    let commands = vec![
        (format!("innoscan check {file}"), "whether it is damaged, and where"),
        (format!("innoscan schema {file}"), "its CREATE TABLE"),
        (format!("innoscan dump {file} > ~/table.sql"), "its rows, as mysqldump writes them"),
    ];
    Ok(Words { about, commands })
}

fn dump(here: &Path) -> Words {
    let commands = vec![
        ("innoscan verify .".to_owned(), "whether all files are there, as they were written"),
        ("innoscan ls .".to_owned(), "what is in it, and what is not"),
        (
            format!("innoscan verify . --against {DATA_DIRECTORY}"),
            "whether it has the rows of that data directory",
        ),
    ];
    Words { about: vec![format!("{} is a dump by innoscan.", here.display())], commands }
}

/// A directory without files of InnoDB.
fn elsewhere(here: &Path) -> anyhow::Result<Words> {
    let nothing = format!("{} has no files of InnoDB.", here.display());
    let usual = Path::new(DATA_DIRECTORY);
    if DataDir::is_one(usual) {
        let words = data_directory(usual, DATA_DIRECTORY)?;
        let about = [vec![nothing], words.about].concat();
        return Ok(Words { about, ..words });
    }
    let commands = vec![
        ("innoscan ls DIR".to_owned(), "the tables of a data directory, a backup or a snapshot"),
        ("innoscan dump DIR -o ~/dump".to_owned(), "a logical backup of it, as SQL for myloader"),
        ("innoscan check FILE.ibd".to_owned(), "whether the file of a table is damaged"),
    ];
    let about =
        "Name a server's data directory (such as /var/lib/mysql), a copy of one, or .ibd files.";
    Ok(Words { about: vec![nothing, about.to_owned()], commands })
}

/// A word of a command line, in quotes if the shell needs them.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./@".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
