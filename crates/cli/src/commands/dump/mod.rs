//! `innoscan dump`.

#[cfg(feature = "columnar")]
mod columnar;
mod format;
mod ledger;
mod live;
mod metrics;
mod offline;
mod sources;

use self::format::format;
use crate::args::CompressArg;
use crate::args::DumpArgs;
use crate::args::DumpOutput;
use crate::args::LayoutArg;
use crate::args::LogFormatArg;
use crate::args::ResumeArg;
use crate::log;
use crate::messages;
use crate::messages::Advice;
use crate::messages::Exit;
use crate::progress::Bar;
use crate::progress::Whole;
use crate::remedies;
use crate::sizes::bytes;
use crate::stats;
use innoscan_catalog::TableSelection;
use innoscan_catalog::ledger::Entry;
use innoscan_catalog::ledger::Filter;
use innoscan_catalog::ledger::Item;
use innoscan_catalog::ledger::ItemKind;
use innoscan_catalog::ledger::Ledger;
use innoscan_catalog::ledger::ObjectKinds;
use innoscan_catalog::ledger::State;
use innoscan_engine::ErrorKind;
use innoscan_engine::LeftOutReason;
use innoscan_engine::Losses;
use innoscan_engine::Reason;
use innoscan_engine::Remedy;
use innoscan_engine::Table;
use innoscan_engine::counted;
use innoscan_engine::scan::ScanOptions;
use innoscan_export::dump::BegunFn;
use innoscan_export::dump::ConfirmFn;
use innoscan_export::dump::DUMPER;
use innoscan_export::dump::Dump;
use innoscan_export::dump::DumpOptions;
use innoscan_export::dump::InterruptedDump;
use innoscan_export::dump::Layout;
use innoscan_export::dump::OnChange;
use innoscan_export::dump::Origin;
use innoscan_export::dump::REPLACED_NAME_PREFIX;
use innoscan_export::dump::Summary;
use innoscan_export::dump::TableOutcome;
use innoscan_export::dump::is_interrupted;
use innoscan_export::dump::to_directory;
use innoscan_export::dump::to_file;
use innoscan_export::dump::to_stream;
use innoscan_export::sink::Compression;
use innoscan_export::sink::Format;
use innoscan_export::sink::shell_tsv::ShellTsvOptions;
use innoscan_io::directory_with;
use innoscan_live::snapshot::Consistency;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::BufWriter;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Buffer size for a dump to stdout.
const STREAM_BYTES: usize = 64 << 10;

pub fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    if args.log_format == LogFormatArg::Json {
        log::set_json();
    }
    log::event("started", json!({ "dumper": DUMPER, "output": args.outputdir }));
    note_name(args);
    let ended = if args.sources.is_empty() { live::run(args) } else { offline::run(args) };
    if let Err(error) = &ended {
        write_metrics(args, None, messages::exit_of(error, messages::Verb::Dump));
    }
    ended
}

/// Writes the metrics, if they are wanted; returns the exit code, which is another one if they cannot be written.
fn write_metrics(args: &DumpArgs, summary: Option<&Summary>, exit: Exit) -> Exit {
    let Some(path) = &args.metrics else { return exit };
    match metrics::write(path, summary, exit) {
        Ok(()) => exit,
        Err(error) => {
            note!("innoscan: {}", remedies::message(&error));
            Exit::Write
        }
    }
}

/// Notes where the name of the output looks like something else.
fn note_name(args: &DumpArgs) {
    let Some(of_name) = args.format_of_name().filter(|_| !args.report.quiet) else { return };
    let name = &args.outputdir;
    let written = args.format.clone().unwrap_or_default();
    match args.output() {
        DumpOutput::Directory(path) if !path.exists() => {
            note!("innoscan: note: creating {name} as a directory");
        }
        DumpOutput::File(_) if written.extension() != of_name.extension() => {
            let format = written.name().unwrap_or_default();
            note!("innoscan: note: {name} is written in the format {format}");
        }
        _ => {}
    }
}

/// Notes names in `--ignore-table` that match nothing.
fn note_unmatched(ledger: &Ledger, args: &DumpArgs) {
    for ignored in &args.ignore_table {
        let matches = |entry: &Entry| {
            let item = &entry.listed.item;
            let is_left_out = matches!(entry.state, State::LeftOut(_));
            // The tables of a database that is left out as a whole are not listed.
            let is_within = item.kind == ItemKind::Database
                && is_left_out
                && ignored.strip_prefix(&*item.database).is_some_and(|rest| rest.starts_with('.'));
            is_within
                || *ignored == item.database
                || *ignored == format!("{}.{}", item.database, item.name)
        };
        if !ledger.entries().any(matches) {
            note!("innoscan: note: --ignore-table {ignored}: no such database or table");
        }
    }
}

/// The filter of objects that the arguments select.
fn filter(args: &DumpArgs) -> anyhow::Result<Filter> {
    let is_sql = args.format.as_ref().is_none_or(Format::is_sql);
    Ok(Filter {
        tables: TableSelection {
            databases: args.databases.clone(),
            tables: args.tables_list.clone(),
            excluded: args.ignore_table.clone(),
            regex: args.regex.as_deref().map(TableSelection::pattern).transpose()?,
        },
        kinds: ObjectKinds {
            views: !args.objects.no_views,
            triggers: !args.objects.no_triggers,
            routines: !args.objects.no_routines,
            events: !args.objects.no_events,
            users: args.objects.users,
        },
        definitions: !args.no_schemas,
        holds_objects: is_sql || !args.output().is_stream(),
        select_refusal: (!is_sql).then(|| {
            let why = "rows fetched by SELECT are not written in this format";
            Reason::new(why, Remedy::ChooseFormat("sql"))
        }),
    })
}

/// The state of the interrupted dump that `--resume` continues.
fn unfinished(args: &DumpArgs) -> anyhow::Result<Option<InterruptedDump>> {
    let on_change = match args.resume {
        None => return Ok(None),
        Some(ResumeArg::Unchanged) => OnChange::Refuse,
        Some(ResumeArg::Redo) => OnChange::Redo,
    };
    let Some(unfinished) = InterruptedDump::open(Path::new(&args.outputdir), on_change)? else {
        return Ok(None);
    };
    for (file, wrong) in unfinished.spoiled() {
        note!("innoscan: {file}: note: dumped again, with the files after it: {wrong}");
    }
    if !args.report.quiet {
        let (files, done_bytes) = unfinished.done();
        let are = if files == 1 { "is" } else { "are" };
        let files = counted(files as u64, "file");
        note!("innoscan: {files} of rows {are} already complete, {}", bytes(done_bytes));
    }
    Ok(Some(unfinished))
}

/// What a dump of a running server has in addition.
#[derive(Default)]
struct OfServer {
    origin: Option<Origin>,
    confirm: Option<Arc<ConfirmFn>>,
}

/// Notes the general tablespaces that must exist before the dump is loaded.
fn note_tablespaces(dump: &mut Dump<'_>) {
    let named = dump.tables.iter().flat_map(|table| table.def.general_tablespaces());
    let names: BTreeSet<&str> = named.collect();
    if names.is_empty() {
        return;
    }
    let names = Vec::from_iter(names).join(", ");
    let note = format!(
        "definitions name general tablespaces, which a dump does not create: {names}; before it is loaded, create them by \
         CREATE TABLESPACE"
    );
    note!("innoscan: note: {note}");
    dump.ledger.note(note);
}

/// Writes the dump to stdout or a directory, and reports each table.
fn write(
    args: &DumpArgs,
    mut dump: Dump<'_>,
    of_server: OfServer,
    cancel: Arc<AtomicBool>,
) -> anyhow::Result<(Summary, Layout)> {
    let layout = layout(args, &dump.tables);
    if args.compress == Some(CompressArg::Snappy) && !args.is_columnar() {
        anyhow::bail!("--compress snappy is for --format parquet; others take zstd, gzip or none");
    }
    let format = match layout {
        Layout::MySqlShell if args.format.is_none() => Format::ShellTsv(ShellTsvOptions),
        _ => format(args)?,
    };
    #[cfg(feature = "columnar")]
    columnar::check(&format, &dump)?;
    if args.output() == DumpOutput::Stdout {
        refuse_terminal(&format)?;
    }
    for table in &dump.tables {
        messages::row_notes(table);
        if !args.no_schemas && args.format.as_ref().is_none_or(Format::is_sql) {
            messages::definition_notes(&table.def, &table.notes);
        }
    }
    if !args.no_schemas {
        note_tablespaces(&mut dump);
    }
    let bar = Bar::new(args.report.quiet, whole(&dump));
    let first = dump.tables.first().copied();
    let mut scan = super::scan_options(&args.read, first, bar.callback(), cancel)?;
    scan.rows.on_corrupt = super::on_corrupt(&args.report);
    scan.rows.condition = super::condition(args.condition.as_deref())?;
    #[cfg(feature = "columnar")]
    {
        scan.plan.memory_bytes -= columnar::group_bytes(&format).min(scan.plan.memory_bytes / 2);
    }
    let spill = match args.output() {
        DumpOutput::Stdout => None,
        DumpOutput::File(path) => Some(directory_with(path)),
        DumpOutput::Directory(path) => Some(path),
    };
    if let Some(directory) = spill {
        scan.plan.spill = scan.plan.spill.preferring(directory.to_owned());
    }
    let options = dump_options(args, layout, format, of_server, scan);
    let finished = |outcome: &TableOutcome| {
        bar.clear();
        bar.next_table(outcome.rows);
        report_table(outcome, args.verbose);
        if let Some(form) = args.report.stats {
            let name = format!("{}.{}", outcome.database, outcome.table);
            stats::print(form, &name, &outcome.scan, None);
        }
    };
    let summary = match args.output() {
        DumpOutput::Stdout => {
            // Several small tables fit into one write.
            let mut stdout = BufWriter::with_capacity(STREAM_BYTES, std::io::stdout().lock());
            to_stream(dump, &mut stdout, &options, finished)?
        }
        DumpOutput::File(path) => to_file(dump, path, &options, finished)?,
        DumpOutput::Directory(path) => to_directory(dump, path, &options, finished)
            .map_err(|error| with_resume(error, args))?,
    };
    bar.clear();
    Ok((summary, layout))
}

/// The options of a dump from the arguments.
fn dump_options(
    args: &DumpArgs,
    layout: Layout,
    format: Format,
    of_server: OfServer,
    scan: ScanOptions,
) -> DumpOptions {
    let defaults = DumpOptions::in_layout(layout, format);
    DumpOptions {
        checksums: defaults.checksums && !args.no_checksums,
        compression: compression(args, layout),
        chunk_bytes: args.chunk_filesize.map_or(layout.chunk_bytes(), |size| Some(size.0)),
        is_selection: is_selection(args),
        definitions: !args.no_schemas,
        rows: !args.no_data,
        drop_tables: args.sql.add_drop_table,
        overwrite: args.overwrite,
        origin: of_server.origin,
        begun: log::is_json().then(|| Arc::new(log_begun) as Arc<BegunFn>),
        confirm: of_server.confirm,
        scan,
        ..defaults
    }
}

/// Logs that a table begins.
fn log_begun(database: &str, table: &str) {
    log::event("table_begun", json!({ "database": database, "table": table }));
}

/// Refuses binary output on a terminal.
pub fn refuse_terminal(format: &Format) -> anyhow::Result<()> {
    if format.is_binary() && std::io::stdout().is_terminal() {
        let name = format.name().unwrap_or_default();
        anyhow::bail!("{name} is binary, and would go to the terminal: write it to a file with >");
    }
    Ok(())
}

/// Whether the arguments select databases or tables.
fn is_selection(args: &DumpArgs) -> bool {
    let names_tables = match &args.sources[..] {
        [] => false,
        [one] => !Path::new(one).is_dir(),
        _ => true,
    };
    let chooses =
        !args.databases.is_empty() || !args.tables_list.is_empty() || args.regex.is_some();
    names_tables || chooses
}

/// The tables for the progress bar; the sizes of deferred tables are not known.
fn whole(dump: &Dump<'_>) -> Whole {
    let read = dump.tables.iter().map(|table| (table.qualified_name(), table.size_bytes()));
    let deferred =
        dump.deferred.iter().map(|table| (format!("{}.{}", table.database, table.name), 0));
    // Tables read by SELECT come before them, and are not counted.
    let small = dump.small.tables.iter();
    let small = small
        .map(|table| (format!("{}.{}", table.name.schema, table.name.table), table.size_bytes));
    Whole::new(read.chain(deferred).chain(small).collect())
}

/// Adds the advice to resume to an error that interrupted a dump, if finished files were kept.
fn with_resume(error: innoscan_engine::Error, args: &DumpArgs) -> anyhow::Error {
    // Other errors have a remedy of their own.
    use ErrorKind::{BrokenPipe, Interrupted, Resources, Server, Write};
    let ends_work = matches!(error.kind(), BrokenPipe | Interrupted | Resources | Server | Write);
    if !ends_work || args.output().is_stream() || !is_interrupted(Path::new(&args.outputdir)) {
        return error.into();
    }
    let without = match args.lock.consistency() {
        Consistency::All => "",
        Consistency::Table => " and without --consistency",
    };
    anyhow::Error::new(error).context(Advice(format!(
        "finished files are kept; to continue, run the same command with --resume{without}"
    )))
}

/// Prints the command that loads the dump.
fn note_loader(layout: Layout, directory: &str, compression: Compression) {
    match layout {
        Layout::Files => {}
        Layout::MyDumper => {
            let lacks = old_myloader(Path::new(directory), compression);
            note!("innoscan: to load it: myloader -d {directory}{lacks}");
            // myloader does not load users.
            let users = Path::new(directory).join("innoscan.users");
            if users.exists() {
                note!("innoscan: then its users, with the client: mysql < {}", users.display());
            }
        }
        Layout::MySqlShell => {
            note!("innoscan: to load it: mysqlsh, util.loadDump(\"{directory}\")")
        }
    }
}

/// What the installed myloader cannot load of the dump, if it is older than 0.11.
fn old_myloader(directory: &Path, compression: Compression) -> String {
    let asked = std::process::Command::new("myloader").arg("--version").output();
    let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = said.unwrap_or_default();
    let version = version.split_whitespace().find(|word| word.contains('.')).unwrap_or_default();
    let version = version.trim_start_matches('v').trim_end_matches(',');
    let is_old = ["0.9.", "0.10."].iter().any(|old| version.starts_with(old));
    let mut lacks = Vec::new();
    if is_old && matches!(compression, Compression::Zstd { .. }) {
        lacks.push("cannot read .zst files: decompress them first, or dump with -c gzip");
    }
    if is_old && has_renamed_database(directory) {
        lacks.push(
            "does not load databases whose file names begin with mydumper_: load these files with \
             the client, or use a newer myloader",
        );
    }
    match lacks.is_empty() {
        true => String::new(),
        false => format!(" (the installed myloader {version} {})", lacks.join("; it ")),
    }
}

/// Whether a database's name is not in the names of its files, which myloader takes it from before
/// 0.11.
fn has_renamed_database(directory: &Path) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.starts_with(REPLACED_NAME_PREFIX))
}

/// Refuses a dump without any object: a pattern that matches nothing, an empty directory.
fn require_something(
    ledger: &Ledger,
    args: &DumpArgs,
    nothing: innoscan_engine::Error,
) -> anyhow::Result<()> {
    let is_wanted = |state: &State| matches!(state, State::Planned(_) | State::NotDumped(_));
    let counts = ledger.counts(is_wanted);
    // A server without tables still has databases to dump.
    let is_nothing = match args.regex {
        Some(_) => counts.keys().all(|kind| *kind == ItemKind::Database),
        None => counts.is_empty(),
    };
    if is_nothing && ledger.unlisted().is_empty() {
        return Err(nothing.into());
    }
    Ok(())
}

/// The layout of the output. The default for SQL in a directory is mydumper's, if the databases of all
/// tables are known: its file names start with them.
fn layout(args: &DumpArgs, tables: &[&Table]) -> Layout {
    let is_sql = args.format.as_ref().is_none_or(Format::is_sql);
    let named = tables.iter().all(|table| !table.def.schema.is_empty());
    match args.layout {
        _ if args.output().is_stream() => Layout::Files,
        Some(LayoutArg::Files) => Layout::Files,
        Some(LayoutArg::Mydumper) => Layout::MyDumper,
        Some(LayoutArg::Mysqlsh) => Layout::MySqlShell,
        None if is_sql && named => Layout::MyDumper,
        None => Layout::Files,
    }
}

fn qualified(outcome: &TableOutcome) -> String {
    match &*outcome.database {
        "" => outcome.table.clone(),
        database => format!("{database}.{}", outcome.table),
    }
}

/// Reports a finished table on stderr: faults always, the rest if `verbose`.
pub fn report_table(outcome: &TableOutcome, verbose: bool) {
    let name = qualified(outcome);
    for left in &outcome.left_out {
        if left.reason != LeftOutReason::Generated {
            note!("innoscan: {name}: note: not written: {left}");
        }
    }
    report_losses(&name, outcome.losses);
    super::report_damage(&outcome.scan.damage, outcome.scan.damaged);
    if let Some(error) = &outcome.error {
        let message = messages::message(error, messages::Verb::Dump);
        let item = Item::new(&outcome.database, ItemKind::Table, &outcome.table);
        if !ledger::log_not_dumped(&item, &message) {
            note!("innoscan: NOT DUMPED: table {name}: {message}");
        }
    } else if !log_done(outcome) && verbose {
        let kept = match outcome.kept_files {
            0 => String::new(),
            1 => "; 1 file kept".to_owned(),
            files => format!("; {files} files kept"),
        };
        note!(
            "innoscan: {name}: {}, {} in {}{kept}",
            counted(outcome.rows, "row"),
            bytes(outcome.plain_bytes),
            seconds(outcome.elapsed)
        );
    }
}

/// Logs that a table is complete, if JSON is logged; returns whether it is.
fn log_done(outcome: &TableOutcome) -> bool {
    let fields = json!({
        "database": outcome.database,
        "table": outcome.table,
        "rows": outcome.rows,
        "bytes": outcome.plain_bytes,
        "seconds": outcome.elapsed.as_secs_f64(),
        "kept_files": outcome.kept_files,
    });
    log::event("table_done", fields)
}

/// Reports values that the output does not hold.
fn report_losses(name: &str, losses: Losses) {
    let Losses { replaced_characters, dates_as_null, srids_left_out } = losses;
    if replaced_characters > 0 {
        note!(
            "innoscan: {name}: warning: {} not valid in the column's character set, replaced with \
             U+FFFD; --format sql and text keep the bytes",
            counted(replaced_characters, "character")
        );
    }
    if dates_as_null > 0 {
        note!(
            "innoscan: {name}: warning: {} that no calendar has (as 0000-00-00) became NULL; --types \
             zero-dates=text keeps them, zero-dates=fail refuses the table",
            counted(dates_as_null, "date")
        );
    }
    if srids_left_out > 0 {
        note!(
            "innoscan: {name}: warning: {} of an SRID that is not the column's, which WKB does not \
             hold; --types geometry=ewkb or geometry=struct keeps it",
            counted(srids_left_out, "geometry value")
        );
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn compression(args: &DumpArgs, layout: Layout) -> Compression {
    match args.compress {
        // Columns are compressed within the file.
        _ if args.is_columnar() => Compression::None,
        None => layout.compression(),
        Some(CompressArg::None) => Compression::None,
        Some(CompressArg::Zstd) => Compression::Zstd { level: 3 },
        Some(CompressArg::Gzip) => Compression::Gzip { level: 6 },
        // Refused before: only columns are compressed so.
        Some(CompressArg::Snappy) => Compression::None,
    }
}

/// Prints the last lines of a dump, and returns its exit code.
fn end(summary: &Summary, layout: Layout, args: &DumpArgs) -> Exit {
    ledger::summarize(summary, args);
    let exit = exit_of(summary);
    if exit == Exit::Done && !args.report.quiet {
        note_loader(layout, &args.outputdir, compression(args, layout));
    }
    let exit = write_metrics(args, Some(summary), exit);
    ledger::log_ended(summary, exit);
    exit
}

/// The exit code of a dump.
fn exit_of(summary: &Summary) -> Exit {
    let ledger = &summary.ledger;
    let is_dumped = ledger.unlisted().is_empty() && ledger.not_dumped().next().is_none();
    if is_dumped {
        return if ledger.is_complete() { Exit::Done } else { Exit::Skipped };
    }
    let is_of_resources = |error: &innoscan_engine::Error| error.kind() == ErrorKind::Resources;
    let resources = |table: &TableOutcome| table.error.as_ref().is_some_and(is_of_resources);
    if summary.failed().any(resources) { Exit::Resources } else { Exit::Refused }
}
