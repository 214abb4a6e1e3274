//! Unfinished transactions: those that were active when the server stopped without its rollback, and
//! prepared ones, which wait for `XA COMMIT` or `XA ROLLBACK` over any number of clean shutdowns. Their
//! changes are in the files as if they were committed; [`UndoLogs`] take them back in memory.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::small_tree::for_each_row;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::undo_logs::{UndoLogs, UndoTablespace};
use innoscan_engine::{Error, Result, counted};
use innoscan_format::page::undo::{
    RSEG_ARRAY_PAGE, TRX_SYS_PAGE, UndoLog, UndoState, rollback_segments,
    rollback_segments_of_space, undo_logs, undo_number,
};
use innoscan_format::page::{Page, PageKind};
use innoscan_format::schema::tablespaces::{ListedSpace, TablespacesTable};
use innoscan_format::undo::{UndoLogPage, Unfinished};
use innoscan_format::{PageNo, SpaceId};
use innoscan_io::Direct;

use crate::data_files::DataFiles;
use crate::prepared::{Decided, Prepared, PreparedTransaction, decide};

/// The unfinished transactions of a directory, and its tablespaces with undo logs.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The ids of those that were not rolled back yet.
    active: BTreeSet<u64>,
    /// Those that were prepared.
    prepared: Vec<PreparedTransaction>,
    /// Whether inserts have undo logs of their own, as in MySQL, and in MariaDB to 10.2.
    are_inserts_apart: bool,
    is_of_mysql_8: bool,
    tablespaces: Vec<UndoTablespace>,
    /// For each number in roll pointers, its tablespace.
    places: HashMap<u8, usize>,
    /// The undo logs of the transactions.
    logs: Vec<LogPlace>,
    /// Why some undo logs could not be looked into, if that is so.
    unread: Option<String>,
}

/// Where a transaction's undo log is.
#[derive(Clone, Copy, Debug)]
struct LogPlace {
    trx_id: u64,
    /// The index of its tablespace.
    tablespace: usize,
    first: PageNo,
}

/// Unfinished transactions that are taken back, and what the user should know of all of them.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// The undo logs of those whose changes are taken back; `None` if there are none.
    pub logs: Option<Arc<UndoLogs>>,
    /// The ids of tables that were empty before these transactions.
    pub emptied: Vec<u64>,
    /// What was done, in sentences.
    pub notes: Vec<String>,
}

impl Found {
    /// The reason why there may be more unfinished transactions than were found, if there is one.
    pub fn unread(&self) -> Option<String> {
        self.unread.clone()
    }

    /// Whether there are no unfinished transactions.
    pub fn is_none(&self) -> bool {
        self.active.is_empty() && self.prepared.is_empty()
    }

    /// The number of transactions: prepared, and active.
    pub fn counts(&self) -> (usize, usize) {
        (self.prepared.len(), self.active.len())
    }

    /// Whether this version can take back changes of the server: those of MySQL 8 and MariaDB 10.3 and later.
    pub fn can_be_settled(&self) -> bool {
        self.is_of_mysql_8 || !self.are_inserts_apart
    }

    /// What the user should know where changes are not taken back.
    pub fn read_as_committed(&self) -> Option<String> {
        let count = self.active.len() + self.prepared.len();
        let transactions = counted(count as u64, "unfinished transaction");
        let note = format!("{transactions}: the changes are read as if they were committed");
        (count > 0).then_some(note)
    }

    fn note_unread(&mut self, why: &Error) {
        self.unread.get_or_insert_with(|| why.to_string());
    }

    fn note_zeroes(&mut self, reader: &SpaceReader, page_no: PageNo) {
        let file = reader.space().file().path().display();
        self.unread
            .get_or_insert_with(|| format!("{file}: page {page_no}, an undo log's, is of zeroes"));
    }
    /// Decides what becomes of each transaction. `choice`: the user's for prepared ones.
    ///
    /// # Errors
    /// It cannot be decided.
    pub fn settle(self, root: &Path, choice: Prepared) -> Result<Settled> {
        let decided = decide(root, &self.prepared, choice, self.is_of_mysql_8)?;
        let notes = notes(self.active.len(), &decided);
        let active = self.active.iter().copied();
        let unfinished = Unfinished::new(active.chain(decided.rolled_back));
        // MySQL writes an undo record for each row.
        let emptied = match self.is_of_mysql_8 {
            true => Vec::new(),
            false => self.emptied(&unfinished)?,
        };
        let logs = UndoLogs::new(unfinished, self.tablespaces, self.places);
        let logs = (!logs.unfinished().is_empty()).then(|| Arc::new(logs));
        Ok(Settled { logs, emptied, notes })
    }

    /// The ids of tables that were empty before these transactions, by all their undo records.
    fn emptied(&self, unfinished: &Unfinished) -> Result<Vec<u64>> {
        let mut emptied = Vec::new();
        for log in self.logs.iter().filter(|log| unfinished.contains(log.trx_id)) {
            let Some(tablespace) = self.tablespaces.get(log.tablespace) else { continue };
            let mut reader = SpaceReader::new(tablespace.open(Direct::Off)?)?;
            let mut pages_left = reader.space().file_pages();
            let mut next = Some(log.first);
            while let Some(page_no) = next {
                pages_left = pages_left.checked_sub(1).ok_or_else(|| circle(&reader, page_no))?;
                let page = reader.with_page(page_no, |page| UndoLogPage::parse(&page))?;
                emptied.extend(page.emptied);
                next = page.next;
            }
        }
        Ok(emptied)
    }
}

fn circle(reader: &SpaceReader, page_no: PageNo) -> Error {
    let space = reader.space();
    let error = innoscan_format::Error::corrupt("the pages of an undo log link in a circle");
    let error = error.at_page(space.header().space, page_no);
    Error::from(error).in_file(space.file().path())
}

/// What was done with unfinished transactions.
fn notes(active: usize, decided: &Decided) -> Vec<String> {
    let mut notes = Vec::new();
    let of_server = decided.rolled_back.len() - decided.hidden_of_users;
    if active + of_server > 0 {
        let count = counted((active + of_server) as u64, "unfinished transaction");
        notes.push(format!("{count} rolled back (rows as after the server's own recovery)"));
    }
    if decided.committed > 0 {
        let count = counted(decided.committed as u64, "prepared transaction");
        let why = if decided.by_binlog { "as the binary log says" } else { "as was chosen" };
        notes.push(format!("{count} committed, {why}"));
    }
    if decided.hidden_of_users > 0 {
        let count = counted(decided.hidden_of_users as u64, "transaction");
        notes.push(format!(
            "{count} prepared by XA PREPARE, and neither committed nor rolled back: the changes are \
             not read"
        ));
    }
    notes
}

/// Searches the rollback segments of a directory, of a killed server through its redo log. `system`: its
/// system tablespace; `files`: where its server's files are.
///
/// # Errors
/// A rollback segment cannot be read or found.
pub(crate) fn unfinished(
    root: &Path,
    files: &DataFiles,
    system: &Arc<SystemTablespace>,
    keys: &Keys,
) -> Result<Found> {
    let mysql_ibd = root.join("mysql.ibd");
    let mut found = Found { is_of_mysql_8: mysql_ibd.is_file(), ..Found::default() };
    let mut readers: Vec<SpaceReader> = Vec::new();
    let mut spaces: HashMap<SpaceId, usize> = HashMap::new();
    let mut segments = Vec::new();
    let mut reader = SpaceReader::new(system.open(Direct::Off, keys)?)?;
    let listed = reader.with_page(TRX_SYS_PAGE, |page| rollback_segments(&page))?;
    spaces.insert(reader.space().header().space, 0);
    readers.push(reader);
    found.tablespaces.push(UndoTablespace::system(Arc::clone(system), keys));
    for path in undo_tablespaces(root, files, keys)? {
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
        spaces.insert(space, readers.len());
        readers.push(reader);
        found.tablespaces.push(UndoTablespace::new(path, keys));
    }
    if found.is_of_mysql_8 {
        match listed_tablespaces(&mysql_ibd, None, keys, TablespacesTable::undo_space) {
            Ok(listed) => {
                let missing = listed.into_iter().find(|listed| !spaces.contains_key(&listed.space));
                if let Some(ListedSpace { name, .. }) = missing {
                    found.note_unread(&not_there(root, &format!("`{name}`")));
                }
            }
            Err(error) => found.note_unread(&error),
        }
        let numbered =
            spaces.iter().filter_map(|(space, place)| Some((undo_number(*space)?, *place)));
        found.places = numbered.collect();
    } else {
        let placed = |slot: u8, space: SpaceId| Some((slot, *spaces.get(&space)?));
        found.places =
            listed.iter().filter_map(|segment| placed(segment.slot, segment.space)).collect();
    }
    segments.extend(listed.iter().map(|segment| (segment.space, segment.page_no)));
    for (space, segment) in segments {
        let place = spaces.get(&space);
        let known = place.and_then(|place| Some((*place, readers.get_mut(*place)?)));
        match known {
            Some((place, reader)) => look_into((place, reader), segment, &mut found)?,
            None => found.note_unread(&not_there(root, &format!("with number {space}"))),
        }
    }
    found.prepared.sort_by_key(|transaction| transaction.trx_id);
    // MySQL has an undo log for a transaction's inserts and one for the rest.
    found.prepared.dedup_by_key(|transaction| transaction.trx_id);
    Ok(found)
}

fn look_into(
    (tablespace, reader): (usize, &mut SpaceReader),
    segment: PageNo,
    found: &mut Found,
) -> Result<()> {
    // Pages of zeroes are no damage: the file may lack what was not needed, as in a trimmed copy.
    let is_there = |page: &Page<'_>| page.kind() != PageKind::Zeroes;
    let listed = reader.with_page(segment, |page| match is_there(&page) {
        true => undo_logs(&page).map(Some),
        false => Ok(None),
    })?;
    let Some(listed) = listed else {
        found.note_zeroes(reader, segment);
        return Ok(());
    };
    for log in listed {
        let parsed = reader.with_page(log, |page| match is_there(&page) {
            true => UndoLog::parse(&page).map(Some),
            false => Ok(None),
        })?;
        let Some(UndoLog { state, trx_id, has_all_changes }) = parsed else {
            found.note_zeroes(reader, log);
            continue;
        };
        match state {
            UndoState::Ended => continue,
            UndoState::Active => _ = found.active.insert(trx_id),
            UndoState::Prepared(by) => found.prepared.push(PreparedTransaction { trx_id, by }),
        }
        found.are_inserts_apart |= !has_all_changes;
        found.logs.push(LogPlace { trx_id, tablespace, first: log });
    }
    Ok(())
}

/// The tablespaces of `mysql.tablespaces` that `space` decodes from its rows.
///
/// # Errors
/// The rows cannot be read.
pub fn listed_tablespaces(
    mysql_ibd: &Path,
    undo_logs: Option<&Arc<UndoLogs>>,
    keys: &Keys,
    space: impl Fn(&TablespacesTable, &[Option<&[u8]>]) -> innoscan_format::Result<Option<ListedSpace>>,
) -> Result<Vec<ListedSpace>> {
    let mut reader = SpaceReader::new(Space::open(mysql_ibd, Direct::Off, keys)?)?;
    reader.space().require_key()?;
    let table = TablespacesTable::of(&reader.space().read_sdi()?)
        .map_err(|error| Error::from(error).in_file(mysql_ibd))?;
    let layout = reader.clustered(&table.def, table.root)?.layout;
    let mut listed = Vec::new();
    for_each_row(&mut reader, &layout, table.root, undo_logs, |row| {
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
pub fn undo_tablespaces(root: &Path, files: &DataFiles, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in files.of_undo(root) {
        found.extend(undo_tablespaces_in(&directory, keys)?);
    }
    Ok(found)
}

fn undo_tablespaces_in(directory: &Path, keys: &Keys) -> Result<Vec<PathBuf>> {
    let mut entries = keys.entries(directory).map_err(|error| {
        Error::read("cannot list the undo tablespaces", error).in_file(directory)
    })?;
    let is_undo = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.strip_prefix("undo").map(|rest| rest.trim_start_matches('_'));
        let is_numbered = number.is_some_and(|number| {
            number.len() == 3 && number.bytes().all(|digit| digit.is_ascii_digit())
        });
        keys.is_file(path) && (is_numbered || name.ends_with(".ibu"))
    };
    entries.retain(is_undo);
    Ok(entries)
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
