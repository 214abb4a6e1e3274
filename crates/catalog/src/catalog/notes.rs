//! Warnings about a table for the user.

use innoscan_engine::{Notes, Result, counted};
use innoscan_format::Lsn;
use innoscan_format::schema::TableDef;

use super::known::Known;
use super::{Catalog, Directory};
use crate::datadir::{DataDir, Shutdown};

/// The warnings about all tables of a directory.
fn of_directory(directory: &Directory) -> Vec<String> {
    let mut notes = Vec::new();
    match directory.datadir.shutdown() {
        Shutdown::Clean { .. } => {}
        Shutdown::Unknown(why) => notes.push(format!("consistency was not verified: {why}")),
        Shutdown::Crashed { end } => notes.push(of_crashed(*end, &directory.datadir)),
    }
    if let Some(why) = directory.datadir.undo_unread() {
        notes.push(format!(
            "whether there are unfinished transactions (XA PREPARE) is not known: {why}"
        ));
    }
    notes.extend_from_slice(directory.datadir.settled_notes());
    notes
}

/// The warning about the directory of a killed server, or a backup that was not prepared.
fn of_crashed(end: Lsn, datadir: &DataDir) -> String {
    match (datadir.incrementals(), datadir.is_backup()) {
        (0, false) => {
            format!("its server was not shut down; read through the redo log, as of LSN {end}")
        }
        (0, true) => {
            format!("the backup was not prepared; read through the redo log, as of LSN {end}")
        }
        (incrementals, _) => format!(
            "the backup was not prepared; read with {}, through their redo logs, as of LSN {end}",
            counted(incrementals as u64, "incremental backup")
        ),
    }
}

impl Catalog {
    /// The warnings about all tables of the data directory, which each of them has too.
    ///
    /// # Errors
    /// The directory must not be read.
    pub fn directory_notes(&self) -> Result<Vec<String>> {
        let root = self.datadir()?;
        match DataDir::is_one(root) {
            true => Ok(of_directory(&self.judged(root)?)),
            false => Ok(Vec::new()),
        }
    }
}

/// The warnings about a table: unverified facts, and gaps in the definition.
pub(super) fn notes(directory: Option<&Directory>, def: &TableDef, is_one_file: bool) -> Notes {
    let mut notes = Notes::default();
    match directory {
        None => notes.rows.push(
            "the file is in no data directory: whether its server was shut down cleanly is unknown"
                .to_owned(),
        ),
        Some(directory) => notes.rows = of_directory(directory),
    }
    let has_sdi = def.physical.table_id.is_some();
    let has_counter = def.columns.iter().any(|column| column.auto_increment);
    match directory.map(|found| (&found.dictionary, &found.counters)) {
        Some((Known::Unreadable(why), _)) => {
            notes
                .definition
                .push(format!("foreign keys are not printed, because they cannot be read: {why}"));
        }
        None | Some((Known::Nothing, _)) if !has_sdi => notes.definition.push(
            "foreign keys are not printed: the .frm has none, and ibdata1 was not read".to_owned(),
        ),
        Some((_, Known::Unreadable(why))) if has_counter => {
            notes
                .definition
                .push(format!("AUTO_INCREMENT= is that of the last DDL; its counter: {why}"));
        }
        None | Some((_, Known::Nothing)) if has_sdi && has_counter => notes
            .definition
            .push("AUTO_INCREMENT= is that of the last DDL, for mysql.ibd was not read".to_owned()),
        _ => {}
    }
    if is_one_file && def.partitioning.is_some() {
        notes
            .rows
            .push("this is one partition of a partitioned table; name db.table for all".into());
    }
    notes
}
