//! The commands: arguments become calls of the library.

mod bench;
mod check;
mod dump;
mod explain;
mod get;
mod here;
mod inspect;
mod ls;
mod manual;
mod scan;
mod schema;
mod sql;
mod tablespaces;
mod verify;
mod warm;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use innoscan_catalog::catalog::Catalog;
use innoscan_engine::IoOptions;
use innoscan_engine::Table;
use innoscan_engine::condition::RowCondition;
use innoscan_engine::devices::KnownDevices;
use innoscan_engine::keys::Keys;
use innoscan_engine::recovery::IndexMemory;
use innoscan_engine::scan::{
    Damage, OnCorrupt, PlanOptions, ProgressFn, ReadAheadPolicy, RowOrder, ScanOptions, Spill,
};
use innoscan_io::{Device, Direct, EngineKind, File, Priority, honours_priorities};
use innoscan_live::Account;
use rustix::process::DumpableBehavior;

use crate::args::{
    DeviceArg, DirectArg, EngineArg, IoArgs, OfflineKeyArgs, OnCorruptArg, OrderArg, PriorityArg,
    ReadAheadArg, ReadArgs, ReportArgs, ServerArgs, SourceArgs, Verb,
};
use crate::messages::Exit;

/// Runs no command: prints what the current directory is, and commands that make sense there.
pub fn here() -> anyhow::Result<Exit> {
    here::run()
}

/// Runs a command.
pub fn run(verb: Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Dump(args) => dump::run(&args),
        Verb::Scan(args) => scan::run(&args),
        Verb::Get(args) => get::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Schema(args) => schema::run(&args),
        Verb::Ls(args) => ls::run(&args),
        Verb::Verify(args) => verify::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Warm(args) => warm::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Tablespaces(args) => tablespaces::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Sql(args) => sql::run(&args),
        Verb::Manual(args) => manual::run(&args),
    }
}

/// The account to connect to a server with; prints notes on the option files.
fn account(server: &ServerArgs) -> anyhow::Result<Account> {
    let (account, notes) = server.account()?;
    for note in notes {
        note!("innoscan: note: {note}");
    }
    Ok(account)
}

/// The keys of encrypted tables. Before they are read, the process is made one whose memory no core dump shows.
fn keys(args: &OfflineKeyArgs) -> anyhow::Result<Keys> {
    let without_dump = || {
        // It fails on no kernel that has the call; the keys are needed in any case.
        _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    };
    Ok(args.key_files.files(&args.option_files).keys(without_dump)?)
}

fn catalog(from: &SourceArgs, key_args: &OfflineKeyArgs) -> anyhow::Result<Catalog> {
    let catalog = Catalog::new(from.datadir.clone()).with_force(from.force);
    let catalog = catalog.with_keys(keys(key_args)?);
    let catalog = catalog.with_files(from.data_files.files(), key_args.option_files.files());
    let catalog = catalog.with_prepared(from.data_files.prepared);
    let Some(path) = &from.schema else { return Ok(catalog) };
    if path.extension().is_some_and(|extension| extension == "frm") {
        return Ok(catalog.with_frm(path)?);
    }
    let sql = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the definition in {}", path.display()))?;
    Ok(catalog.with_definition(path.clone(), sql))
}

/// The catalog for a command that reads tables with `read`.
fn catalog_to_read(
    from: &SourceArgs,
    key_args: &OfflineKeyArgs,
    read: &ReadArgs,
) -> anyhow::Result<Catalog> {
    let bytes = usize::try_from(read.memory.0 / INDEX_SHARE).unwrap_or(usize::MAX);
    Ok(catalog(from, key_args)?.with_index_memory(IndexMemory { bytes, spill: spill(read) }))
}

/// The part of the memory that the index of a redo log may take before it is spilled.
const INDEX_SHARE: u64 = 4;

fn spill(args: &ReadArgs) -> Spill {
    match &args.tmpdir {
        _ if args.no_spill => Spill::Never,
        Some(directory) => Spill::In(directory.clone()),
        None => Spill::default(),
    }
}

/// The options of a scan. `table` is one of the tables to read: with `--device auto` the device of its
/// first file is measured.
fn scan_options(
    args: &ReadArgs,
    table: Option<&Table>,
    progress: Option<Arc<ProgressFn>>,
    cancel: Arc<AtomicBool>,
) -> anyhow::Result<ScanOptions> {
    let mut io = io_options(&args.io)?;
    let first_file = table.and_then(|table| table.files.first()?.stored_paths().into_iter().next());
    if args.io.io_priority.is_some()
        && let Some(file) = &first_file
    {
        note_scheduler(file, io.direct)?;
    }
    io.known_devices = KnownDevices::of_user();
    let device = match (args.device, &first_file) {
        (Some(DeviceArg::Known(device)), _) => Some(device),
        (Some(DeviceArg::Auto), Some(file)) => Some(measured(file, &io)?),
        (Some(DeviceArg::Auto), None) | (None, _) => None,
    };
    io.emulated = device.filter(|_| args.emulate).unwrap_or_default();
    io.device = device;
    io.pause = args.lra_sleep;
    let mut options = ScanOptions { io, ..ScanOptions::default() };
    options.plan.policy = policy_of(args.read_ahead(), args);
    options.plan.window_bytes = args.lra_size.map_or(PlanOptions::WINDOW_BYTES, |size| size.0);
    options.plan.memory_bytes = args.memory.0;
    options.plan.threads = args.threads.unwrap_or(0);
    options.plan.spill = spill(args);
    options.rows.order = match args.order {
        OrderArg::Key => RowOrder::Key,
        OrderArg::Any => RowOrder::Any,
    };
    options.hooks.progress = progress;
    options.hooks.cancel = Some(cancel);
    Ok(options)
}

/// How files are read.
fn io_options(args: &IoArgs) -> anyhow::Result<IoOptions> {
    if let Some(priority) = args.io_priority {
        let priority = match priority {
            PriorityArg::Low => Priority::Lowest,
            PriorityArg::Idle => Priority::Idle,
        };
        priority.apply().context("cannot set the I/O priority")?;
    }
    let mut io = IoOptions::default();
    io.direct = match args.direct {
        DirectArg::Required => Direct::Required,
        DirectArg::Optional => Direct::Optional,
        DirectArg::Off => Direct::Off,
    };
    io.engine = match args.io_engine {
        None => EngineKind::Auto,
        Some(EngineArg::Uring) => EngineKind::Uring,
        Some(EngineArg::Pread) => EngineKind::Pread,
    };
    io.depth = args.depth as usize;
    io.yields = args.nice;
    io.limits = Device {
        iops: args.max_iops.map(f64::from),
        bytes_per_second: args.max_rate.map(|rate| rate.0.max(1) as f64),
        ..Device::default()
    };
    Ok(io)
}

/// Notes that the scheduler of a file's device ignores priorities, if it does.
fn note_scheduler(path: &Path, direct: Direct) -> anyhow::Result<()> {
    let file = File::open(path, direct)?;
    match innoscan_io::scheduler_of(file.identity()) {
        Some(scheduler) if honours_priorities(&scheduler) => {}
        Some(scheduler) => note!(
            "innoscan: note: --io-priority has no effect: the I/O scheduler of the device is {scheduler}, \
             which ignores priorities; --nice needs no scheduler"
        ),
        None => note!(
            "innoscan: note: --io-priority may have no effect: the I/O scheduler of the device is unknown; \
             --nice needs no scheduler"
        ),
    }
    Ok(())
}

/// Parses a condition on columns.
fn condition(typed: Option<&str>) -> anyhow::Result<Option<Arc<RowCondition>>> {
    Ok(typed.map(RowCondition::parse_where).transpose()?.map(Arc::new))
}

/// Measures the device of a file, or takes the remembered result; prints it.
fn measured(path: &Path, io: &IoOptions) -> anyhow::Result<Device> {
    let (device, memory) = io.known_devices.get_or_measure(path, io.direct, io.engine)?;
    let kept = match memory {
        Some(memory) => format!("remembered in {}", memory.display()),
        None => "not remembered".to_owned(),
    };
    note!("innoscan: the device of {}: {device} ({kept})", path.display());
    Ok(device)
}

/// The policy of a name; `None` for `auto`.
fn policy_of(named: ReadAheadArg, args: &ReadArgs) -> Option<ReadAheadPolicy> {
    Some(match named {
        ReadAheadArg::Auto => return None,
        ReadAheadArg::None => ReadAheadPolicy::None,
        ReadAheadArg::Linear => ReadAheadPolicy::Linear { threshold: args.read_ahead_threshold },
        ReadAheadArg::Random => ReadAheadPolicy::Random,
        ReadAheadArg::Physical => ReadAheadPolicy::Physical,
        ReadAheadArg::Logical => ReadAheadPolicy::Logical,
        ReadAheadArg::Segment => ReadAheadPolicy::Segment,
    })
}

fn on_corrupt(args: &ReportArgs) -> OnCorrupt {
    match args.on_corrupt {
        OnCorruptArg::Fail => OnCorrupt::Fail,
        OnCorruptArg::Skip => OnCorrupt::Skip,
    }
}

/// Lines about skipped damage on stderr, at most.
const DAMAGE_LINES: usize = 50;

fn report_damage(damage: &[Damage], damaged: u64) {
    for one in damage.iter().take(DAMAGE_LINES) {
        note!("innoscan: skipped: {one}");
    }
    let listed = damage.len().min(DAMAGE_LINES) as u64;
    if damaged > listed {
        note!("innoscan: skipped: {} more places", damaged - listed);
    }
}
