//! Unfinished transactions: prepared ones wait for `XA COMMIT` or `XA ROLLBACK` over any number of
//! clean shutdowns, and a rollback interrupted by a shutdown continues at the next start. Their
//! changes are in the files as if they were committed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_engine::keys::Keys;
use innoscan_engine::small_tree::for_each_row;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::{Error, Result};
use innoscan_format::PageNo;
use innoscan_format::page::undo::{
    RSEG_ARRAY_PAGE, TRX_SYS_PAGE, UndoState, rollback_segments, rollback_segments_of_space,
    undo_logs, undo_state,
};
use innoscan_format::schema::tablespaces::{ListedSpace, TablespacesTable};
use innoscan_io::Direct;

use crate::data_files::DataFiles;

/// The number of unfinished transactions of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The number of prepared transactions (`XA PREPARE`).
    pub prepared: u32,
    /// The number of transactions that were not rolled back yet.
    pub active: u32,
}

impl Unfinished {
    /// Whether there are no unfinished transactions.
    pub fn is_none(self) -> bool {
        self == Unfinished::default()
    }
}

/// Searches the rollback segments of a directory whose redo log is empty. `system`: its system
/// tablespace; `files`: where its server's files are.
///
/// # Errors
/// A rollback segment cannot be read or found.
pub fn unfinished(
    root: &Path,
    files: &DataFiles,
    system: &SystemTablespace,
    keys: &Keys,
) -> Result<Unfinished> {
    let mut spaces = HashMap::new();
    let mut segments = Vec::new();
    let mut system = SpaceReader::new(system.open(Direct::Off, keys)?)?;
    segments.extend(system.with_page(TRX_SYS_PAGE, |page| rollback_segments(&page))?);
    spaces.insert(system.space().header().space, system);
    for path in undo_tablespaces(root, files)? {
        let mut reader = SpaceReader::new(Space::open(&path, Direct::Off, keys)?)?;
        let space = reader.space().header().space;
        // The data directory's own come first; the other directories may be of several servers.
        if spaces.contains_key(&space) {
            continue;
        }
        if is_of_mysql_8(&path) {
            let listed =
                reader.with_page(RSEG_ARRAY_PAGE, |page| rollback_segments_of_space(&page))?;
            segments.extend(listed.into_iter().map(|segment| (space, segment)));
        }
        spaces.insert(space, reader);
    }
    let mysql_ibd = root.join("mysql.ibd");
    if mysql_ibd.is_file() {
        let listed = listed_tablespaces(&mysql_ibd, keys, TablespacesTable::undo_space)?;
        let missing = listed.into_iter().find(|listed| !spaces.contains_key(&listed.space));
        if let Some(ListedSpace { name, .. }) = missing {
            return Err(not_there(root, &format!("`{name}`")));
        }
    }
    let mut found = Unfinished::default();
    for (space, segment) in segments {
        let reader = spaces
            .get_mut(&space)
            .ok_or_else(|| not_there(root, &format!("with number {space}")))?;
        look_into(reader, segment, &mut found)?;
    }
    Ok(found)
}

fn look_into(reader: &mut SpaceReader, segment: PageNo, found: &mut Unfinished) -> Result<()> {
    for log in reader.with_page(segment, |page| undo_logs(&page))? {
        match reader.with_page(log, |page| undo_state(&page))? {
            UndoState::Active => found.active += 1,
            UndoState::Prepared => found.prepared += 1,
            UndoState::Ended => {}
        }
    }
    Ok(())
}

/// The tablespaces of `mysql.tablespaces` that `space` decodes from its rows.
///
/// # Errors
/// The rows cannot be read.
pub fn listed_tablespaces(
    mysql_ibd: &Path,
    keys: &Keys,
    space: impl Fn(&TablespacesTable, &[Option<&[u8]>]) -> innoscan_format::Result<Option<ListedSpace>>,
) -> Result<Vec<ListedSpace>> {
    let mut reader = SpaceReader::new(Space::open(mysql_ibd, Direct::Off, keys)?)?;
    reader.space().require_key()?;
    let table = TablespacesTable::of(&reader.space().read_sdi()?)
        .map_err(|error| Error::from(error).in_file(mysql_ibd))?;
    let layout = reader.clustered(&table.def, table.root)?.layout;
    let mut listed = Vec::new();
    for_each_row(&mut reader, &layout, table.root, |row| {
        listed.extend(space(&table, row)?);
        Ok(())
    })?;
    Ok(listed)
}

/// The undo tablespaces of a data directory: `undo001` of MySQL 5.6, 5.7 and MariaDB, `undo_001` and `*.ibu` of
/// MySQL 8.
///
/// # Errors
/// A directory of them cannot be listed.
pub fn undo_tablespaces(root: &Path, files: &DataFiles) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in files.of_undo(root) {
        found.extend(undo_tablespaces_in(&directory)?);
    }
    Ok(found)
}

fn undo_tablespaces_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .map_err(|error| {
            Error::read("cannot list the undo tablespaces", error).in_file(directory)
        })?;
    let is_undo = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.strip_prefix("undo").map(|rest| rest.trim_start_matches('_'));
        let is_numbered = number.is_some_and(|number| {
            number.len() == 3 && number.bytes().all(|digit| digit.is_ascii_digit())
        });
        path.is_file() && (is_numbered || name.ends_with(".ibu"))
    };
    Ok(entries.into_iter().map(|entry| entry.path()).filter(is_undo).collect())
}

fn is_of_mysql_8(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("undo_") || name.ends_with(".ibu")
}

fn not_there(root: &Path, which: &str) -> Error {
    Error::refused_directory(
        format!("the undo tablespace {which} is not in the directory"),
        "put it there, or name its directory, the server's innodb_undo_directory",
    )
    .in_file(root)
}
