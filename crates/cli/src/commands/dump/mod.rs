//! `innoscan dump`.

mod live;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use innoscan::catalog::{Catalog, TableName};
use innoscan::dump::{
    ConfirmFn, Dump, DumpOptions, Format, Layout, OnChange, Origin, Summary, TableOutcome,
    Unfinished, is_begun, to_directory, to_stream,
};
use innoscan::sink::csv::CsvOptions;
use innoscan::sink::sql::{SqlOptions, Verb};
use innoscan::sink::text::TextOptions;
use innoscan::sink::{Compression, LeftOutReason};
use innoscan::{Table, Wanted};
use innoscan_live::snapshot::Consistency;

use crate::args::{CompressArg, DumpArgs, FormatArg, LayoutArg, ResumeArg};
use crate::messages::{self, Advice, Exit};
use crate::progress::{Bar, Whole};
use crate::sizes::{bytes, separator};
use crate::stats;

pub fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    if args.sources.is_empty() {
        return live::run(args);
    }
    let (tables, unresolved) = tables(args)?;
    if tables.is_empty() && unresolved == 0 {
        return Err(innoscan::Error::refused(
            "there is no InnoDB table to dump",
            "see --databases, --tables-list and --ignore-table",
        )
        .into());
    }
    if args.dry_run {
        for table in &tables {
            for file in &table.files {
                out!("{}: {}", table.qualified_name(), file.path.display());
            }
        }
        return Ok(if unresolved > 0 { Exit::Refused } else { Exit::Done });
    }
    let dump = Dump { unfinished: unfinished(args)?, ..Dump::of(&tables) };
    let summary = write(args, dump, OfServer::default(), crate::signals::cancel_on_signal()?)?;
    Ok(exit(&summary, unresolved))
}

/// What there is of a dump that is to be gone on with.
fn unfinished(args: &DumpArgs) -> anyhow::Result<Option<Unfinished>> {
    let on_change = match args.resume {
        None => return Ok(None),
        Some(ResumeArg::Unchanged) => OnChange::Refuse,
        Some(ResumeArg::Redo) => OnChange::Redo,
    };
    let Some(unfinished) = Unfinished::open(Path::new(&args.outputdir), on_change)? else {
        return Ok(None);
    };
    for (file, wrong) in unfinished.spoiled() {
        note!("innoscan: {file}: note: dumped anew, with what follows it: {wrong}");
    }
    if !args.tell.quiet {
        let (files, done_bytes) = unfinished.done();
        note!("innoscan: {files} files of rows are done, {}", bytes(done_bytes));
    }
    Ok(Some(unfinished))
}

/// What is known of a dump whose server runs.
#[derive(Default)]
struct OfServer {
    origin: Option<Origin>,
    confirm: Option<Arc<ConfirmFn>>,
}

/// Writes what there is to dump as the arguments say, and tells of each table.
fn write(
    args: &DumpArgs,
    dump: Dump<'_>,
    of_server: OfServer,
    cancel: Arc<AtomicBool>,
) -> anyhow::Result<Summary> {
    let layout = layout(args, &dump.tables);
    let format = match layout {
        Layout::MySqlShell if args.format.is_none() => Format::Load,
        _ => format(args)?,
    };
    for table in &dump.tables {
        messages::row_notes(table);
        if !args.no_schemas && args.format.is_none_or(|format| format == FormatArg::Sql) {
            messages::definition_notes(&table.def, &table.notes);
        }
    }
    let bar = Bar::new(args.tell.quiet, whole(&dump));
    let first = dump.tables.first().copied();
    let mut scan = super::scan_options(&args.read, first, bar.callback(), cancel)?;
    scan.on_corrupt = super::on_corrupt(&args.tell);
    scan.keys = super::condition(args.condition.as_deref())?;
    if args.outputdir != "-" {
        scan.temporary_dir.get_or_insert_with(|| args.outputdir.clone().into());
    }
    let defaults = DumpOptions::in_layout(layout, format);
    let options = DumpOptions {
        checksums: defaults.checksums && !args.no_checksums,
        compression: match args.compress {
            None => layout.compression(),
            Some(CompressArg::None) => Compression::None,
            Some(CompressArg::Zstd) => Compression::Zstd { level: 3 },
            Some(CompressArg::Gzip) => Compression::Gzip { level: 6 },
        },
        chunk_bytes: args.chunk_filesize.map_or(layout.chunk_bytes(), |size| Some(size.0)),
        definitions: !args.no_schemas,
        rows: !args.no_data,
        drop_tables: args.sql.add_drop_table,
        overwrite: args.overwrite,
        origin: of_server.origin,
        confirm: of_server.confirm,
        scan,
        ..defaults
    };
    let finished = |outcome: &TableOutcome| {
        bar.clear();
        bar.next_table(outcome.rows);
        tell(outcome, args.verbose);
        if let Some(form) = args.tell.stats {
            let name = format!("{}.{}", outcome.database, outcome.table);
            stats::print(form, &name, &outcome.scan, None);
        }
    };
    let summary = match &*args.outputdir {
        "-" => to_stream(dump, &mut std::io::stdout().lock(), &options, finished)?,
        dir => to_directory(dump, Path::new(dir), &options, finished)
            .map_err(|error| with_resume(error, args))?,
    };
    bar.clear();
    tell_all(&summary, args);
    if !args.tell.quiet && summary.failed().next().is_none() {
        tell_loader(layout, &args.outputdir);
    }
    Ok(summary)
}

/// The tables as their progress is shown; of those whose turn comes later no size is known.
fn whole(dump: &Dump<'_>) -> Whole {
    let read = dump.tables.iter().map(|table| (table.qualified_name(), table.size_bytes()));
    let later = dump.later.iter().map(|table| (format!("{}.{}", table.database, table.name), 0));
    Whole::new(read.chain(later).collect())
}

/// An error, and how to go on with the dump it ended, where something is done of it.
fn with_resume(error: innoscan::Error, args: &DumpArgs) -> anyhow::Error {
    // Others say themselves what to do.
    let ends_work =
        error.is_write() || error.is_interrupted() || error.is_resources() || error.is_server();
    if !ends_work || args.outputdir == "-" || !is_begun(Path::new(&args.outputdir)) {
        return error.into();
    }
    let without = match args.lock.consistency() {
        Consistency::All => "",
        Consistency::Table => ", and without --consistency,",
    };
    anyhow::Error::new(error).context(Advice(format!(
        "what is done is kept: the same command with --resume{without} goes on with it"
    )))
}

/// How to have it loaded.
fn tell_loader(layout: Layout, directory: &str) {
    match layout {
        Layout::Files => {}
        Layout::MyDumper => note!("innoscan: to load it: myloader -d {directory}"),
        Layout::MySqlShell => {
            note!("innoscan: to load it: mysqlsh, util.loadDump(\"{directory}\")")
        }
    }
}

/// The layout asked for. SQL in a directory is as mydumper has it, when its names can be had: they
/// begin with the tables' databases.
fn layout(args: &DumpArgs, tables: &[&Table]) -> Layout {
    let is_sql = args.format.is_none_or(|format| format == FormatArg::Sql);
    let named = tables.iter().all(|table| !table.def.schema.is_empty());
    match args.layout {
        _ if args.outputdir == "-" => Layout::Files,
        Some(LayoutArg::Files) => Layout::Files,
        Some(LayoutArg::Mydumper) => Layout::MyDumper,
        Some(LayoutArg::Mysqlsh) => Layout::MySqlShell,
        None if is_sql && named => Layout::MyDumper,
        None => Layout::Files,
    }
}

/// The tables named, and how many could not be understood; those were told of.
fn tables(args: &DumpArgs) -> anyhow::Result<(Vec<Table>, usize)> {
    let directory = match &args.sources[..] {
        [one] if Path::new(one).is_dir() => Some(Path::new(one).to_owned()),
        _ => None,
    };
    let Some(directory) = directory else {
        let catalog = super::catalog(&args.from)?;
        let found: Result<Vec<Table>, innoscan::Error> =
            args.sources.iter().map(|source| catalog.table(source)).collect();
        return Ok((found?, 0));
    };
    let mut from = args.from.clone();
    from.datadir = Some(directory);
    let catalog = super::catalog(&from)?;
    let mut tables = Vec::new();
    let mut unresolved = 0;
    for name in names(args, &catalog)? {
        match catalog.named(&name) {
            Ok(table) => tables.push(table),
            // A directory that may not be read as a whole is refused once.
            Err(error) if error.is_directory() => return Err(error.into()),
            Err(error) => {
                unresolved += 1;
                note!("innoscan: {name}: {error}");
            }
        }
    }
    Ok((tables, unresolved))
}

fn wanted(args: &DumpArgs) -> anyhow::Result<Wanted> {
    Ok(Wanted {
        databases: args.databases.clone(),
        tables: args.tables_list.clone(),
        excluded: args.ignore_table.clone(),
        regex: args.regex.as_deref().map(Wanted::pattern).transpose()?,
    })
}

fn names(args: &DumpArgs, catalog: &Catalog) -> anyhow::Result<Vec<TableName>> {
    let wanted = wanted(args)?;
    wanted.require_no_system()?;
    let known = catalog.names()?;
    if let Some(name) = wanted.missing([], &known) {
        return Err(innoscan::Error::refused(
            format!("there is no InnoDB table of `{name}` in the directory"),
            "check the name; it is case-sensitive",
        )
        .into());
    }
    let mut names = Vec::new();
    for name in known {
        if wanted.wants(&name)? {
            names.push(name);
        }
    }
    Ok(names)
}

fn format(args: &DumpArgs) -> anyhow::Result<Format> {
    Ok(match args.format.unwrap_or(FormatArg::Sql) {
        FormatArg::Sql => Format::Sql(SqlOptions {
            statement_size_bytes: usize::try_from(args.sql.statement_size.0)?,
            verb: match (args.sql.insert_ignore, args.sql.replace) {
                (true, _) => Verb::InsertIgnore,
                (_, true) => Verb::Replace,
                _ => Verb::Insert,
            },
            ..SqlOptions::default()
        }),
        FormatArg::Text => Format::Text(text_options(args)?),
        FormatArg::Csv => Format::Csv(CsvOptions {
            include_invisible: args.include_invisible,
            ..CsvOptions::default()
        }),
        FormatArg::Ndjson => Format::Ndjson { include_invisible: args.include_invisible },
    })
}

fn text_options(args: &DumpArgs) -> anyhow::Result<TextOptions> {
    let unescaped = |typed: &str| separator(typed).map_err(anyhow::Error::msg);
    let character = |typed: &str, option: &str| -> anyhow::Result<Option<u8>> {
        match &unescaped(typed)?[..] {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            _ => anyhow::bail!("--{option} takes one character, not `{typed}`"),
        }
    };
    let text = &args.text;
    let (enclosed, optional) = match (&text.fields_enclosed_by, &text.fields_optionally_enclosed_by)
    {
        (Some(typed), _) => (character(typed, "fields-enclosed-by")?, false),
        (None, Some(typed)) => (character(typed, "fields-optionally-enclosed-by")?, true),
        (None, None) => (None, false),
    };
    Ok(TextOptions {
        fields_terminated_by: unescaped(&text.fields_terminated_by)?,
        enclosed_by: enclosed,
        optionally_enclosed: optional,
        escaped_by: character(&text.fields_escaped_by, "fields-escaped-by")?,
        lines_starting_by: unescaped(&text.lines_starting_by)?,
        lines_terminated_by: unescaped(&text.lines_terminated_by)?,
        include_invisible: args.include_invisible,
    })
}

fn qualified(outcome: &TableOutcome) -> String {
    match &*outcome.database {
        "" => outcome.table.clone(),
        database => format!("{database}.{}", outcome.table),
    }
}

/// A table's end, on stderr: what went wrong always, the rest when `verbose`.
pub fn tell(outcome: &TableOutcome, verbose: bool) {
    let name = qualified(outcome);
    for left in &outcome.left_out {
        if left.reason != LeftOutReason::Generated {
            note!("innoscan: {name}: note: not written: {left}");
        }
    }
    if outcome.unmapped_characters > 0 {
        note!(
            "innoscan: {name}: warning: {} characters have no meaning in their charset and became \
             U+FFFD; --format sql and text keep their bytes",
            outcome.unmapped_characters
        );
    }
    super::report_damage(&outcome.scan.damage, outcome.scan.damaged);
    if let Some(error) = &outcome.error {
        note!(
            "innoscan: {name}: NOT DUMPED: {error}{}",
            messages::hint(error, messages::Verb::Dump)
        );
    } else if verbose {
        let kept = match outcome.kept_files {
            0 => String::new(),
            files => format!("; {files} files were done"),
        };
        note!(
            "innoscan: {name}: {} rows, {} in {}{kept}",
            outcome.rows,
            bytes(outcome.plain_bytes),
            seconds(outcome.elapsed)
        );
    }
}

fn tell_all(summary: &Summary, args: &DumpArgs) {
    if args.tell.quiet || (args.verbose && summary.tables.len() < 2) {
        return;
    }
    let plain_bytes: u64 = summary.tables.iter().map(|table| table.plain_bytes).sum();
    let rate = plain_bytes as f64 / summary.elapsed.as_secs_f64().max(1e-9);
    note!(
        "innoscan: {}, {} rows, {} in {}, {}/s{}",
        match summary.tables.len() {
            1 => "1 table".to_owned(),
            count => format!("{count} tables"),
        },
        summary.rows(),
        bytes(plain_bytes),
        seconds(summary.elapsed),
        bytes(rate as u64),
        match summary.failed().count() {
            0 => String::new(),
            failed => format!("; {failed} NOT DUMPED"),
        }
    );
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn exit(summary: &Summary, unresolved: usize) -> Exit {
    if unresolved > 0 || summary.failed().next().is_some() {
        let resources =
            |table: &TableOutcome| table.error.as_ref().is_some_and(innoscan::Error::is_resources);
        return if summary.failed().any(resources) { Exit::Resources } else { Exit::Refused };
    }
    if summary.tables.iter().any(TableOutcome::is_damaged) { Exit::Skipped } else { Exit::Done }
}
