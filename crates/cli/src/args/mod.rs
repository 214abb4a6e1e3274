//! Command line arguments. Short flags follow mydumper; long names are those that mydumper and mysqldump share.

mod data_files;
mod dump;
mod effect;
mod habits;
mod keys;
mod ls;
mod server;
mod sql;
mod tablespaces;
mod verify;
mod version;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use innoscan_engine::ahead::Linear;
use innoscan_engine::{IoOptions, PlanOptions};
use innoscan_io::{Device, duration};

pub use self::data_files::DataFileArgs;
pub use self::dump::{
    BinaryArg, CompressArg, DumpArgs, DumpOutput, GetArgs, LayoutArg, LogFormatArg, ResumeArg,
    TimestampsArg,
};
pub use self::keys::{KeyFileArgs, OfflineKeyArgs};
pub use self::ls::LsArgs;
pub use self::server::{LockArgs, ObjectArgs, ServerArgs};
pub use self::sql::SqlArgs;
pub use self::tablespaces::{ServerListArg, TablespacesArgs};
pub use self::verify::VerifyArgs;
use crate::sizes::ByteSize;

/// Reads every row of InnoDB tables from their files, at disk speed.
#[derive(Debug, Parser)]
#[command(name = "innoscan", version, long_version = version::LONG, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Parses the words of a command line, program name first, into a command.
///
/// # Errors
/// Wrong usage; also the help or version text, if requested.
pub fn parse(typed: Vec<OsString>) -> Result<Verb, clap::Error> {
    if let Some(refusal) = habits::refusal(&typed) {
        return Err(usage(refusal));
    }
    let mut command = Cli::command();
    command.build();
    let typed = habits::with_help(typed);
    let matches = command.try_get_matches_from_mut(typed).map_err(answered)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    if let Verb::Dump(args) = &mut cli.verb {
        args.infer_format();
    }
    let refusal = matches.subcommand().and_then(|(name, typed)| {
        effect::refusal(command.find_subcommand(name)?, &cli.verb, typed)
    });
    match refusal {
        Some(refusal) => Err(usage(refusal)),
        None => Ok(cli.verb),
    }
}

/// The parser's error, or a better answer to an option of another program.
fn answered(error: clap::Error) -> clap::Error {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => return error,
    };
    let is_without_value = matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value.is_empty());
    match error.kind() {
        ErrorKind::UnknownArgument => match habits::instead_of(argument) {
            Some(answer) => usage(answer),
            None => error,
        },
        ErrorKind::InvalidValue if is_without_value && argument.starts_with("--host") => {
            usage("--host (-h) needs a host name; --help prints help")
        }
        // The value may be the password, which must not be repeated.
        ErrorKind::ValueValidation if argument.starts_with("--file-key-management-filekey") => {
            usage(
                "--file-key-management-filekey needs FILE: and the path of a file with the password: a \
             password on the command line is visible to all users of the machine",
            )
        }
        ErrorKind::ValueValidation if argument.starts_with("--threads") => usage(format!(
            "{}; -t means --threads here: to leave out CREATE TABLE use --no-schemas (-m)",
            error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ")
        )),
        _ => error,
    }
}

/// An error for wrong usage, with the remedy in its message.
fn usage(message: impl std::fmt::Display) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Dump tables as SQL, INTO OUTFILE text, CSV or NDJSON (logical backup)
    Dump(Box<DumpArgs>),
    /// Read a whole table without writing rows: row count, checksum, read statistics
    Scan(Box<ScanArgs>),
    /// Print rows by primary key, by a range of keys, or by a condition on any columns
    Get(Box<GetArgs>),
    /// Estimate the cost of a scan under each read-ahead policy, reading only the non-leaf pages
    Explain(Box<ExplainArgs>),
    /// Print a table's CREATE TABLE, as SHOW CREATE TABLE does
    Schema(SchemaArgs),
    /// List the databases, tables and other objects of a data directory or a dump
    #[command(visible_alias = "tables")]
    Ls(LsArgs),
    /// Verify a dump: all files present and unchanged, and optionally the same rows as a source
    Verify(Box<VerifyArgs>),
    /// Check tablespaces or whole directories: checksums, page links, tree order, free lists
    Check(CheckArgs),
    /// Load a table into the page cache, for servers that read through it
    Warm(Box<WarmArgs>),
    /// Scan a table under each read-ahead policy in turn, and compare the times
    Bench(Box<BenchArgs>),
    /// Check all tablespaces of a data directory as a server does at startup: duplicate ids,
    /// invalid files
    Tablespaces(TablespacesArgs),
    /// Print one page, field by field
    Inspect(InspectArgs),
    /// Run a query over tables: SQL by DataFusion, in the program innoscan-sql
    Sql(SqlArgs),
    /// Write the man pages, and completions for bash, zsh and fish
    Manual(ManualArgs),
}

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// Directory for the pages (in man1) and the completions (in completions)
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Where tables and their definitions come from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Files")]
pub struct SourceArgs {
    /// Data directory of the tables that are named db.table
    #[arg(long, value_name = "DIR")]
    pub datadir: Option<PathBuf>,

    #[command(flatten)]
    pub data_files: DataFileArgs,

    /// Take the table definition from this file, a CREATE TABLE statement or a .frm, instead of the
    /// SDI or .frm of the table
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,

    /// Read the files of a running server or of one that was not shut down cleanly: rows may be
    /// old, missing or torn
    #[arg(long)]
    pub force: bool,
}

/// How files are read.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Reading (K, M, G, T in SIZE are powers of 1024; TIME in us, ms or s)"
)]
pub struct ReadArgs {
    /// Read-ahead policy: none, linear and random work as in a server; physical reads the whole
    /// file in file order; logical reads the next leaf pages in key order, a window of them sorted
    /// by their place in the file; segment reads all leaf pages in file order and, for rows in key
    /// order, spills leaves to --tmpdir; auto chooses the cheaper of logical and segment for the
    /// device, which it learns from its first reads [default: auto; logical with --lra-size or
    /// --lra-sleep]
    #[arg(hide_short_help = true, long, value_enum, value_name = "POLICY")]
    pub read_ahead: Option<ReadAheadArg>,

    /// Order of the rows: primary key, or any
    #[arg(long, value_enum, default_value_t = OrderArg::Key, value_name = "ORDER")]
    pub order: OrderArg,

    /// Directory for leaves that segment spills when memory is full, up to the size of the table
    /// [default: the first of the output directory, $TMPDIR or /tmp, and /var/tmp that is on a disk
    /// with room for twice the leaves]
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub tmpdir: Option<PathBuf>,

    /// Spill no leaves: read by a plan for which memory is enough
    #[arg(hide_short_help = true, long, conflicts_with = "tmpdir")]
    pub no_spill: bool,

    /// linear: pages of an extent (of 64) that must have been accessed in order before the next
    /// extent is read ahead; 0 disables it
    #[arg(hide_short_help = true, long, default_value_t = Linear::THRESHOLD_DEFAULT, value_name = "PAGES",
          value_parser = clap::value_parser!(u32).range(0..=64))]
    pub read_ahead_threshold: u32,

    /// Window of logical read-ahead [default: 512M]
    #[arg(hide_short_help = true, long, value_name = "SIZE")]
    pub lra_size: Option<ByteSize>,

    /// Pause after each window, e.g. 50ms, to let others read
    #[arg(hide_short_help = true, long, default_value = "0ms", value_name = "TIME", value_parser = pause)]
    pub lra_sleep: Duration,

    /// Total memory for pages
    #[arg(long, default_value_t = ByteSize(PlanOptions::MEMORY_BYTES), value_name = "SIZE")]
    pub memory: ByteSize,

    /// Number of threads that decode rows [default: one per core]
    #[arg(short = 't', long, value_name = "N")]
    pub threads: Option<usize>,

    /// Device the files are on: hdd, disk (with a seek curve), gp3, ssd, nvme, iops=3000,bw=125M,latency=500us (any of the
    /// three), or auto, which measures it for half a second and remembers the result. It decides
    /// which gaps between wanted pages are read through, and what --read-ahead auto chooses
    /// [default: learnt from the first reads, and remembered]
    #[arg(hide_short_help = true, long, value_name = "DEVICE")]
    pub device: Option<DeviceArg>,

    /// Emulate --device: read no faster than that device would
    #[arg(hide_short_help = true, long, alias = "impose", requires = "device")]
    pub emulate: bool,

    #[command(flatten)]
    pub io: IoArgs,
}

impl ReadArgs {
    /// The read-ahead policy: the options of logical read-ahead name it too.
    pub fn read_ahead(&self) -> ReadAheadArg {
        let is_logical = self.lra_size.is_some() || !self.lra_sleep.is_zero();
        let default = if is_logical { ReadAheadArg::Logical } else { ReadAheadArg::Auto };
        self.read_ahead.unwrap_or(default)
    }
}

/// How files are read by every command that reads pages.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Reading (K, M, G, T in SIZE are powers of 1024; TIME in us, ms or s)"
)]
pub struct IoArgs {
    /// Maximum number of reads in flight; on a disk, reads of others wait behind them
    #[arg(hide_short_help = true, long, default_value_t = IoOptions::DEPTH as u32, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depth: u32,

    /// Others first: one read at a time, of at most 256 KiB, and none for twice as long after each, so that
    /// a request of others waits for one of these at most, and the device is free two thirds of the time
    #[arg(long)]
    pub nice: bool,

    /// I/O priority, where the kernel's scheduler of the device honours it (mq-deadline, bfq): low, or idle,
    /// which reads only while no other process reads or writes [default: that of the process]
    #[arg(hide_short_help = true, long, value_enum, value_name = "PRIORITY")]
    pub io_priority: Option<PriorityArg>,

    /// Maximum bytes to read per second, e.g. 100M
    #[arg(long, value_name = "SIZE")]
    pub max_rate: Option<ByteSize>,

    /// Maximum number of read requests per second
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iops: Option<u32>,

    /// Bypass the page cache (O_DIRECT): required, optional (where the file system can), off
    #[arg(hide_short_help = true, long, value_enum, default_value_t = DirectArg::Optional, value_name = "MODE")]
    pub direct: DirectArg,

    /// Interface for reading files [default: uring (io_uring) where permitted, otherwise pread]
    #[arg(hide_short_help = true, long, value_enum, value_name = "ENGINE")]
    pub io_engine: Option<EngineArg>,
}

/// How damage and errors are handled and what is reported.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Errors, statistics, progress")]
pub struct ReportArgs {
    /// What to do about a damaged page: fail ends the table; skip goes on, reports the keys lost
    /// and ends with exit code 3
    #[arg(long, value_enum, default_value_t = OnCorruptArg::Fail, value_name = "WHAT")]
    pub on_corrupt: OnCorruptArg,

    /// Print read statistics on stderr: requests, waits, pages read ahead and how many of them were
    /// used
    #[arg(hide_short_help = true, long, value_enum, num_args = 0..=1, default_missing_value = "text",
          require_equals = true, value_name = "FORM")]
    pub stats: Option<StatsArg>,

    /// Print only errors, warnings and notes on stderr: no progress, no summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// The exponent of a Zipf distribution.
fn zipf(typed: &str) -> Result<f64, String> {
    match typed.parse() {
        Ok(exponent) if (0.0..=5.0).contains(&exponent) => Ok(exponent),
        _ => Err(format!("`{typed}` is not a number from 0 to 5")),
    }
}

/// A duration, which may be 0.
fn pause(typed: &str) -> Result<Duration, String> {
    if matches!(typed, "0" | "0us" | "0ms" | "0s") { Ok(Duration::ZERO) } else { duration(typed) }
}

/// The device of `--device`, or `auto` to measure it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceArg {
    Auto,
    Known(Device),
}

impl FromStr for DeviceArg {
    type Err = String;

    fn from_str(typed: &str) -> Result<DeviceArg, String> {
        match typed {
            "auto" => Ok(DeviceArg::Auto),
            typed => typed.parse().map(DeviceArg::Known),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsArg {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReadAheadArg {
    None,
    Linear,
    Random,
    Physical,
    Logical,
    Segment,
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    Key,
    Any,
}

/// The I/O priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PriorityArg {
    Low,
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectArg {
    Required,
    Optional,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    Uring,
    Pread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnCorruptArg {
    Fail,
    Skip,
}

/// The arguments of a command that reads one table.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// An .ibd file, or db.table with --datadir
    pub source: String,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// What a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChecksumArg {
    Table,
    Stored,
}

/// `innoscan scan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan scan /var/lib/mysql/shop/orders.ibd --checksum\n  innoscan \
                  scan shop.orders --datadir /backup/mysql --json"
)]
pub struct ScanArgs {
    /// Read only rows that satisfy a condition, e.g. `id BETWEEN 1 AND 9 AND total > 5` (see
    /// innoscan dump)
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// Also compute a checksum: table, what CHECKSUM TABLE gives on the server that wrote the file;
    /// stored, of the stored columns, also where there are virtual ones, as a query gives it on any
    /// server (docs/restore.md) [default without KIND: table]
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true,
          default_missing_value = "table")]
    pub checksum: Option<ChecksumArg>,

    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub table: TableArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

/// `innoscan explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "The output has a verdict for each device, then the layout of the table, then the cost\n\
                  of each policy. Without --device, three common devices are shown; --device auto\n\
                  measures the device of the files.\n\n\
                  Examples:\n  innoscan explain /var/lib/mysql/shop/orders.ibd --device auto\n  \
                  innoscan explain shop.orders --datadir /backup/mysql \\\n    \
                  --device iops=4000,bw=250M --json"
)]
pub struct ExplainArgs {
    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub table: TableArgs,
}

/// `innoscan bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "The output has a row for each policy; sorted is segment with the rows put back into key\n\
                  order, (file) reads the whole file in order, as dd does; expected s is the estimate of\n\
                  explain for --device.\n\n\
                  Examples:\n  innoscan bench /backup/mysql/shop/orders.ibd\n  \
                  innoscan bench shop.orders --datadir /backup/mysql --device gp3 --emulate \\\n    \
                  --policies none,logical,segment\n  \
                  innoscan bench orders.ibd --foreground=8 --lookup-rate 100 --device hdd \\\n    \
                  --emulate --policies none,logical --max-rate 50M"
)]
pub struct BenchArgs {
    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// Policies to run, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "POLICIES",
          default_values_t = [ReadAheadArg::None, ReadAheadArg::Linear, ReadAheadArg::Random,
                              ReadAheadArg::Physical, ReadAheadArg::Logical, ReadAheadArg::Segment])]
    pub policies: Vec<ReadAheadArg>,

    /// During each scan, look rows up by primary key in this many threads, on the same buffer pool
    /// and device, and print the latencies. --lra-sleep, --max-rate and --max-iops throttle only
    /// the scan
    #[arg(long, num_args = 0..=1, default_missing_value = "4", require_equals = true,
          value_name = "THREADS", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub foreground: Option<u32>,

    /// Lookups per second, all threads together [default: each thread starts its next lookup when
    /// the last one ends]
    #[arg(long, value_name = "N", requires = "foreground", value_parser = clap::value_parser!(u32).range(1..))]
    pub lookup_rate: Option<u32>,

    /// Skew of the lookups: the row of rank r is looked up r^-S times as often as the first (Zipf
    /// distribution)
    #[arg(long, default_value_t = 0.99, value_name = "S", requires = "foreground", value_parser = zipf)]
    pub zipf: f64,

    #[command(flatten)]
    pub table: TableArgs,
}

/// `innoscan warm`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  innoscan warm /var/lib/mysql/shop/orders.ibd --force\n  \
                  innoscan warm shop.orders --datadir /var/lib/mysql --force \\\n    \
                  --read-ahead logical --max-rate 100M")]
pub struct WarmArgs {
    #[command(flatten)]
    pub table: TableArgs,
}

/// `innoscan schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan schema /var/lib/mysql/shop/orders.ibd\n  innoscan schema \
                  shop.orders --datadir /backup/mysql"
)]
pub struct SchemaArgs {
    /// An .ibd or .frm file, or db.table with --datadir
    pub source: String,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,
}

/// `innoscan check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan check /var/lib/mysql/shop/orders.ibd\n  innoscan check \
                  shop.orders --datadir /backup/mysql --json\n  innoscan check /backup/mysql"
)]
pub struct CheckArgs {
    /// .ibd files, db.table names with --datadir, data or backup directories, or directories of
    /// single databases
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,

    /// Print a line for each sound file too, even if there are many
    #[arg(short, long)]
    pub verbose: bool,

    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// Show no progress on stderr
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub io: IoArgs,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,
}

/// `innoscan inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan inspect orders.ibd 0\n  innoscan inspect orders.ibd 4"
)]
pub struct InspectArgs {
    /// Tablespace file
    pub file: String,

    /// Page number
    pub page: u32,

    /// Also print all bytes in hexadecimal
    #[arg(long)]
    pub hex: bool,

    #[command(flatten)]
    pub io: IoArgs,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,
}
