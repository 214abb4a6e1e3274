//! What can be typed. Short flags follow mydumper, long names are the ones both families know.

mod dump;
mod effect;
mod habits;
mod ls;
mod server;
mod tablespaces;
mod verify;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use innoscan::{Device, duration};

pub use self::dump::{
    BinaryArg, CompressArg, DumpArgs, FormatArg, GetArgs, LayoutArg, ResumeArg, TimestampsArg,
};
pub use self::ls::LsArgs;
pub use self::server::{LockArgs, ObjectArgs, ServerArgs};
pub use self::tablespaces::{ServerListArg, TablespacesArgs};
pub use self::verify::VerifyArgs;
use crate::sizes::ByteSize;

/// Reads every row of InnoDB tables from their files, at disk speed.
#[derive(Debug, Parser)]
#[command(name = "innoscan", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What was typed, program name first, as a verb that makes sense.
///
/// # Errors
/// What is wrong with it, or the help or version that was asked for.
pub fn parse(typed: Vec<OsString>) -> Result<Verb, clap::Error> {
    if let Some(refusal) = habits::refusal(&typed) {
        return Err(usage(refusal));
    }
    let mut command = Cli::command();
    command.build();
    let typed = habits::with_help(typed);
    let matches = command.try_get_matches_from_mut(typed).map_err(answered)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let refusal = matches.subcommand().and_then(|(name, typed)| {
        effect::refusal(command.find_subcommand(name)?, &cli.verb, typed)
    });
    match refusal {
        Some(refusal) => Err(usage(refusal)),
        None => Ok(cli.verb),
    }
}

/// What the parser says, or what is better said of an option of another program.
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
            usage("a host must follow --host (-h); --help prints help")
        }
        ErrorKind::ValueValidation if argument.starts_with("--threads") => usage(format!(
            "{}; -t is --threads here: for no CREATE TABLE use --no-schemas (-m)",
            error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ")
        )),
        _ => error,
    }
}

/// Wrong usage, with what to do instead.
fn usage(message: impl std::fmt::Display) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Logical backup of tables: SQL, INTO OUTFILE text, CSV or NDJSON
    Dump(Box<DumpArgs>),
    /// Read a whole table without output: rows, checksum, read statistics
    Scan(Box<ScanArgs>),
    /// Print rows by primary key, by a range of it, or by a condition on any columns
    Get(Box<GetArgs>),
    /// Tell what a scan would cost under each read-ahead policy, from the branch pages alone
    Explain(Box<ExplainArgs>),
    /// Print a table's CREATE TABLE as SHOW CREATE TABLE would
    Schema(SchemaArgs),
    /// List the databases, tables and other objects of a directory or of a dump
    #[command(visible_alias = "tables")]
    Ls(LsArgs),
    /// Verify a dump: every file as it was written, nothing missing; its rows against a source's
    Verify(Box<VerifyArgs>),
    /// Verify tablespaces, or all of a directory: checksums, links, tree order, free lists
    Check(CheckArgs),
    /// Read a table into the page cache, for servers that read through it
    Warm(Box<WarmArgs>),
    /// Read a table under each read-ahead policy, one after the other, and say what each took
    Bench(Box<BenchArgs>),
    /// Look at every tablespace of a data directory as a server does when it starts: duplicates,
    /// files that are none
    Tablespaces(TablespacesArgs),
    /// Print one page with its fields named
    Inspect(InspectArgs),
}

/// Which tables, and where their definition comes from.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Files")]
pub struct SourceArgs {
    /// The data directory that `db.table` sources lie in
    #[arg(long, value_name = "DIR")]
    pub datadir: Option<PathBuf>,

    /// Take the table's definition from this file's CREATE TABLE instead of SDI or .frm
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,

    /// Read the files of a running server or one that was not shut down cleanly: rows may be old,
    /// missing or torn
    #[arg(long)]
    pub force: bool,
}

/// How to read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// Read-ahead: none, linear and random are a server's own, physical reads the whole file in
    /// order, logical a sorted window of the leaves that come next, segment all leaves in file order
    /// (for rows in key order it sets leaves aside in --tmpdir), auto whichever costs least on
    /// --device [default: logical, with --order any segment]
    #[arg(hide_short_help = true, long, value_enum, value_name = "POLICY")]
    pub read_ahead: Option<ReadAheadArg>,

    /// The order of the rows: that of the key, or any
    #[arg(long, value_enum, default_value_t = OrderArg::Key, value_name = "ORDER")]
    pub order: OrderArg,

    /// Where segment sets leaves aside that memory cannot hold, up to the table's size [default: the
    /// output directory, else the system's]; auto does so only where this is given or there is an
    /// output directory
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub tmpdir: Option<PathBuf>,

    /// Pages of an extent that linear read-ahead wants accessed in order, of 64; 0 turns it off
    #[arg(hide_short_help = true, long, default_value_t = 56, value_name = "PAGES",
          value_parser = clap::value_parser!(u32).range(0..=64))]
    pub read_ahead_threshold: u32,

    /// Window of logical read-ahead
    #[arg(hide_short_help = true, long, default_value = "512M", value_name = "SIZE")]
    pub lra_size: ByteSize,

    /// Rest so long after each window, as 50ms: for others to read
    #[arg(hide_short_help = true, long, default_value = "0ms", value_name = "TIME", value_parser = pause)]
    pub lra_sleep: Duration,

    /// Memory for pages, in all
    #[arg(long, default_value = "768M", value_name = "SIZE")]
    pub memory: ByteSize,

    /// Threads that decode [default: one a core]
    #[arg(short = 't', long, value_name = "N")]
    pub threads: Option<usize>,

    /// The device the files are on: hdd, gp3, ssd, nvme, iops=3000,bw=125M,latency=500us (any of
    /// these three), or auto, which measures it in half a second and remembers. It decides which
    /// gaps between wanted pages are read through
    #[arg(hide_short_help = true, long, value_name = "DEVICE")]
    pub device: Option<DeviceArg>,

    /// Read no faster than --device would: shows what a scan would take there
    #[arg(hide_short_help = true, long, requires = "device")]
    pub impose: bool,

    /// The most reads in flight: on a disk others wait behind them
    #[arg(hide_short_help = true, long, default_value_t = 128, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depth: u32,

    /// Read at most so much a second, and leave the rest to others
    #[arg(long, value_name = "SIZE")]
    pub max_rate: Option<ByteSize>,

    /// Make at most so many requests a second
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iops: Option<u32>,

    /// Whether to read around the page cache; optional falls back where the file system cannot
    #[arg(hide_short_help = true, long, value_enum, default_value_t = DirectArg::Optional, value_name = "MODE")]
    pub direct: DirectArg,

    /// How to ask the kernel [default: uring where permitted, else pread]
    #[arg(hide_short_help = true, long, value_enum, value_name = "ENGINE")]
    pub io_engine: Option<EngineArg>,
}

/// What is told of reading, and what damage does.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Damage, statistics, progress")]
pub struct TellArgs {
    /// What a damaged page does: fail ends the table, skip counts it, reports the keys lost and
    /// ends with exit code 3
    #[arg(long, value_enum, default_value_t = OnCorruptArg::Fail, value_name = "WHAT")]
    pub on_corrupt: OnCorruptArg,

    /// Print what reading took on stderr: requests, waits, pages read ahead and their use
    #[arg(hide_short_help = true, long, value_enum, num_args = 0..=1, default_missing_value = "text",
          require_equals = true, value_name = "FORM")]
    pub stats: Option<StatsArg>,

    /// On stderr only errors, and what is not written or guessed: no progress, no counts
    #[arg(short, long)]
    pub quiet: bool,
}

/// The exponent of a Zipf distribution.
fn zipf(typed: &str) -> Result<f64, String> {
    match typed.parse() {
        Ok(exponent) if (0.0..=5.0).contains(&exponent) => Ok(exponent),
        _ => Err(format!("`{typed}` is not a number of 0 to 5")),
    }
}

/// A time, which may be none.
fn pause(typed: &str) -> Result<Duration, String> {
    if matches!(typed, "0" | "0us" | "0ms" | "0s") { Ok(Duration::ZERO) } else { duration(typed) }
}

/// A device, or the wish to measure it.
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

/// One table, and how to read it.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// An .ibd file, or db.table with --datadir
    pub source: String,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// `innoscan scan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan scan /var/lib/mysql/shop/orders.ibd --checksum\n  innoscan \
                  scan shop.orders --datadir /backup/mysql --json"
)]
pub struct ScanArgs {
    /// Only the rows that satisfy a condition, as `id BETWEEN 1 AND 9 AND total > 5` (see dump)
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// Also compute what CHECKSUM TABLE of the server that wrote the file would give
    #[arg(long)]
    pub checksum: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub table: TableArgs,

    #[command(flatten)]
    pub tell: TellArgs,
}

/// `innoscan explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "What is printed: first the verdict for each device, then the table's layout, and the\n\
                  cost of each policy. Without --device, those of three are told; --device auto\n\
                  measures yours.\n\n\
                  Examples:\n  innoscan explain /var/lib/mysql/shop/orders.ibd --device auto\n  \
                  innoscan explain shop.orders --datadir /backup/mysql \\\n    \
                  --device iops=4000,bw=250M --json"
)]
pub struct ExplainArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub table: TableArgs,
}

/// `innoscan bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "What is printed: a row for each policy; sorted is segment with the rows put back in key\n\
                  order, (file) reads the whole file in order, as dd does; expected s is what explain\n\
                  says of --device.\n\n\
                  Examples:\n  innoscan bench /backup/mysql/shop/orders.ibd\n  \
                  innoscan bench shop.orders --datadir /backup/mysql --device gp3 --impose \\\n    \
                  --policies none,logical,segment\n  \
                  innoscan bench orders.ibd --foreground=8 --lookup-rate 100 --device hdd \\\n    \
                  --impose --policies none,logical --max-rate 50M"
)]
pub struct BenchArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// The policies, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "POLICIES",
          default_values_t = [ReadAheadArg::None, ReadAheadArg::Linear, ReadAheadArg::Random,
                              ReadAheadArg::Physical, ReadAheadArg::Logical, ReadAheadArg::Segment])]
    pub policies: Vec<ReadAheadArg>,

    /// Beside each scan let so many threads look up rows by primary key, on the same pool and
    /// device, and say what they felt. --lra-sleep, --max-rate and --max-iops hold up the scan alone
    #[arg(long, num_args = 0..=1, default_missing_value = "4", require_equals = true,
          value_name = "THREADS", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub foreground: Option<u32>,

    /// Lookups a second, of all threads together [default: each thread begins the next when one is
    /// over]
    #[arg(long, value_name = "N", requires = "foreground", value_parser = clap::value_parser!(u32).range(1..))]
    pub lookup_rate: Option<u32>,

    /// How unevenly rows are looked up: the one of rank r is wanted r^-S as often as the first
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
}

/// `innoscan check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan check /var/lib/mysql/shop/orders.ibd\n  innoscan check \
                  shop.orders --datadir /backup/mysql --json\n  innoscan check /backup/mysql"
)]
pub struct CheckArgs {
    /// .ibd files, db.table names with --datadir, data or backup directories, or directories of
    /// databases
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,

    /// A line for each file that is sound, too, where there are many
    #[arg(short, long)]
    pub verbose: bool,

    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub from: SourceArgs,
}

/// `innoscan inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan inspect orders.ibd 0\n  innoscan inspect orders.ibd 4"
)]
pub struct InspectArgs {
    /// A tablespace file
    pub file: String,

    /// The page's number
    pub page: u32,

    /// Also print all bytes in hexadecimal
    #[arg(long)]
    pub hex: bool,

    #[command(flatten)]
    pub from: SourceArgs,
}
