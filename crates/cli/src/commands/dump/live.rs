//! `innoscan dump` of a running server.

use std::sync::Arc;
use std::time::Duration;

use innoscan_live::inventory::Kind;
use innoscan_live::snapshot::{Snapshot, SnapshotOptions};

use super::{seconds, write};
use crate::args::DumpArgs;
use crate::messages::{self, Exit};

pub fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.all_databases || !args.databases.is_empty() || !args.tables_list.is_empty(),
        "name what to dump: files or a directory; or of a running server -B DATABASES, -T TABLES, -A"
    );
    let (account, notes) = args.server.account()?;
    for note in notes {
        note!("innoscan: note: {note}");
    }
    let options = SnapshotOptions {
        wanted: super::wanted(args)?,
        mode: args.lock.mode(),
        lock: args.lock.options(),
    };
    let cancel = crate::commands::cancel_on_signal()?;
    let mut snapshot = Snapshot::take(&account, &options, &cancel)?;
    let mut unread = 0;
    for (name, error) in &snapshot.unread {
        unread += 1;
        note!("innoscan: {name}: NOT DUMPED: {error}{}", messages::hint(error));
    }
    for entry in &snapshot.inventory.entries {
        if entry.kind != Kind::InnoDb {
            unread += 1;
            note!("innoscan: {}: NOT DUMPED: {:?}", entry.name, entry.kind);
        }
    }
    let written = write(args, &snapshot.tables, Arc::clone(&cancel));
    if let Some(lost) = snapshot.lost() {
        return Err(lost.into());
    }
    let held = snapshot.release()?;
    let summary = written?;
    if !args.tell.quiet {
        tell_lock(&snapshot, held);
    }
    Ok(super::exit(&summary, unread))
}

fn tell_lock(snapshot: &Snapshot, held: Duration) {
    let how = if snapshot.is_cloned { "copied by reflink" } else { "read" };
    note!(
        "innoscan: {} tables were locked for {} until they were {how}; the lock came after {}",
        snapshot.tables.len(),
        seconds(held),
        seconds(snapshot.waited),
    );
    if let Some((file, position)) = &snapshot.coordinates.binlog {
        note!(
            "innoscan: binary log {file}, position {position}; GTIDs `{}`",
            snapshot.coordinates.gtid
        );
    }
}
