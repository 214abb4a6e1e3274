//! `innoscan dump` of a running server.

use std::sync::Arc;
use std::time::Duration;

use innoscan_engine::cores::threads_or_cores;
use innoscan_export::dump::{ConfirmFn, Dump, Origin};
use innoscan_live::snapshot::{Consistency, LockMode, Plan, Snapshot, SnapshotOptions};
use innoscan_live::{Account, Session};
use serde_json::json;

use super::{OfServer, seconds, write};
use crate::args::DumpArgs;
use crate::messages::Exit;
use crate::{log, remedies};

pub fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.all_databases
            || !args.databases.is_empty()
            || !args.tables_list.is_empty()
            || args.regex.is_some(),
        "name what to dump: files or a directory, or for a running server -B DATABASES, -T TABLES, \
         -x REGEX or -A"
    );
    let account = crate::commands::account(&args.server)?;
    let options = SnapshotOptions {
        filter: super::filter(args)?,
        mode: args.lock.mode(),
        consistency: args.lock.consistency(),
        lock: args.lock.options(),
        small: args.lock.small(),
        sessions: sessions(args),
        condition: crate::commands::condition(args.condition.as_deref())?,
        keys: crate::commands::keys(&args.key_args())?,
    };
    if args.dry_run {
        return report_plan(args, &account, &options);
    }
    // Before tables are locked, since it may take long.
    let unfinished = super::unfinished(args)?;
    let cancel = crate::signals::cancel_on_signal()?;
    let mut snapshot = Snapshot::take(&account, &options, &cancel)?;
    log_lock(&snapshot);
    super::require_something(&snapshot.inventory.ledger, args, nothing())?;
    super::note_unmatched(&snapshot.inventory.ledger, args);
    for (name, error) in snapshot.unread.iter().filter(|_| !args.report.quiet) {
        let why = remedies::message(error);
        note!("innoscan: {name}: note: read by SELECT, because its files cannot be read: {why}");
    }
    let origin = origin(&mut snapshot, &account, &options)?;
    let selected = std::mem::take(&mut snapshot.selected);
    let deferred = std::mem::take(&mut snapshot.deferred);
    let small = snapshot.small.tables.len();
    let dump = Dump {
        tables: snapshot.tables.iter().collect(),
        objects: snapshot.objects.iter().collect(),
        deferred,
        selected,
        small: std::mem::take(&mut snapshot.small),
        unfinished,
        phases: std::mem::take(&mut snapshot.phases),
        locked_since: snapshot.locked_since(),
        ledger: std::mem::take(&mut snapshot.inventory.ledger),
        ..Dump::default()
    };
    let of_server = OfServer { origin: Some(origin), confirm: confirmation(&snapshot) };
    let written = write(args, dump, of_server, Arc::clone(&cancel));
    // A lost lock is the cause of a failed write, so it is reported first.
    let held = snapshot.release().map_err(|error| super::with_resume(error, args))?;
    let (summary, layout) = written?;
    if let Some(why) = &snapshot.coordinates.unread {
        note!(
            "innoscan: note: the binary log position is not recorded: {why}; grant REPLICATION CLIENT"
        );
    }
    if !args.report.quiet {
        report_lock(&snapshot, small, &options, held);
    }
    Ok(super::end(&summary, layout, args))
}

/// Logs that the tables were locked, and that they no longer are where they were copied.
fn log_lock(snapshot: &Snapshot) {
    let is_locked = snapshot.locked_since().is_some();
    if !is_locked && !snapshot.is_cloned {
        return;
    }
    let waited = snapshot.waited.as_secs_f64();
    let fields = json!({ "tables": snapshot.tables.len(), "waited_seconds": waited });
    log::event("lock_taken", fields);
    if !is_locked {
        log::event("lock_released", json!({}));
    }
}

/// Confirms that the tables were locked, and releases the lock, which is logged if it is not another connection's.
fn confirmation(snapshot: &Snapshot) -> Option<Arc<ConfirmFn>> {
    let (confirmation, since) = (snapshot.confirmation()?, snapshot.locked_since());
    Some(Arc::new(move || {
        confirmation.conclude()?;
        if let Some(since) = since {
            log::event("lock_released", json!({ "held_seconds": since.elapsed().as_secs_f64() }));
        }
        Ok(())
    }))
}

fn origin(
    snapshot: &mut Snapshot,
    account: &Account,
    options: &SnapshotOptions,
) -> anyhow::Result<Origin> {
    Ok(Origin {
        server: Some(snapshot.control().version()),
        version_text: snapshot.control().version_text().to_owned(),
        hostname: snapshot.control().text("SELECT @@hostname")?.unwrap_or_default(),
        user: account.user.clone().unwrap_or_default(),
        binlog: snapshot.coordinates.binlog.clone(),
        gtid: snapshot.coordinates.gtid.clone(),
        is_consistent: options.consistency == Consistency::All,
    })
}

/// Number of connections that fetch small tables.
fn sessions(args: &DumpArgs) -> usize {
    const MOST: usize = 16;
    threads_or_cores(args.read.threads.unwrap_or_default()).min(MOST)
}

fn nothing() -> innoscan_engine::Error {
    innoscan_engine::Error::refused(
        "no object of the server is selected",
        "see --databases, --tables-list, --ignore-table and --regex",
    )
}

fn report_plan(
    args: &DumpArgs,
    account: &Account,
    options: &SnapshotOptions,
) -> anyhow::Result<Exit> {
    let mut control = Session::connect(account)?;
    let mut plan = Plan::make(&mut control, account, options)?;
    super::require_something(&plan.inventory.ledger, args, nothing())?;
    out!("server          {} at {}", control.version_text(), account.place());
    out!("data directory  {}", plan.directory.display());
    out!(
        "lock            {}{}",
        if options.consistency == Consistency::Table { "each table separately, " } else { "" },
        match (options.mode, plan.is_cloned) {
            (LockMode::Others, _) => "taken by another connection",
            (_, true) => "until the files are copied by reflink",
            (_, false) => "until the tables are read",
        }
    );
    if !plan.small.is_empty() {
        let count = plan.small.len();
        out!("small tables    {count}, fetched in one consistent snapshot");
    }
    plan.check_files(options);
    Ok(super::ledger::print(&plan.inventory.ledger))
}

fn report_lock(snapshot: &Snapshot, small: usize, options: &SnapshotOptions, held: Duration) {
    let how = if snapshot.is_cloned { "copied by reflink" } else { "read" };
    let count = snapshot.tables.len();
    let were = if count == 1 { "1 table was".to_owned() } else { format!("{count} tables were") };
    match (options.mode, options.consistency) {
        (LockMode::Others, _) => note!("innoscan: {were} locked by another connection"),
        (_, Consistency::Table) => note!(
            "innoscan: each table was locked separately until it was {how}, for at most {}; the \
             tables are not one consistent snapshot",
            seconds(held)
        ),
        (_, Consistency::All) if count > 0 => note!(
            "innoscan: {were} locked for {} until {how}; waiting for the lock took {}",
            seconds(held),
            seconds(snapshot.waited),
        ),
        _ => {}
    }
    if small > 0 {
        note!(
            "innoscan: {small} small tables were fetched in one consistent snapshot; commits were \
             blocked for {}",
            seconds(snapshot.stopped)
        );
    }
    if let Some((file, position)) = &snapshot.coordinates.binlog {
        let gtid = &snapshot.coordinates.gtid;
        note!("innoscan: binary log {file}, position {position}; GTIDs `{gtid}`");
    }
}
