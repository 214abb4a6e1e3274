//! Arguments of `innoscan dump` and `innoscan get`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use innoscan_export::sink::Format;

use super::{
    KeyFileArgs, LockArgs, ObjectArgs, OfflineKeyArgs, ReadArgs, ReportArgs, ServerArgs, SourceArgs,
};
use crate::sizes::ByteSize;

/// `innoscan dump`.
#[derive(Debug, Args)]
#[command(
    // -h is the host, as in MySQL's own clients.
    disable_help_flag = true,
    after_help = "Examples:\n  innoscan dump /var/lib/mysql/shop/orders.ibd > orders.sql\n  \
                  innoscan dump -S /run/mysqld/mysqld.sock -u backup -p -B shop,crm -o OUT
  \
                  innoscan dump /backup/mysql -B shop,crm -o OUT --layout mydumper -F 256M"
)]
pub struct DumpArgs {
    /// A data or backup directory, .ibd files, or db.table names with --datadir; if none is given,
    /// the tables of a running server
    pub sources: Vec<String>,

    /// Print help (-h alone prints a summary)
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,

    /// The summary that -h alone prints
    #[arg(long, hide = true, action = clap::ArgAction::HelpShort)]
    pub short_help: Option<bool>,

    /// Databases to dump, separated by commas
    #[arg(short = 'B', long, value_delimiter = ',', value_name = "DB")]
    pub databases: Vec<String>,

    /// Tables to dump, as db.table, separated by commas; with --databases, in addition to those
    #[arg(short = 'T', long, value_delimiter = ',', value_name = "DB.TABLE")]
    pub tables_list: Vec<String>,

    /// Dump all databases
    #[arg(short = 'A', long, conflicts_with_all = ["databases", "tables_list"])]
    pub all_databases: bool,

    /// Databases (db) and tables (db.table) to leave out, separated by commas
    #[arg(long, visible_alias = "exclude", value_delimiter = ',', value_name = "DB[.TABLE]")]
    pub ignore_table: Vec<String>,

    /// Dump only tables whose db.table matches this regular expression, e.g. ^(?!test\.)
    #[arg(short = 'x', long, value_name = "REGEX")]
    pub regex: Option<String>,

    /// Dump only rows that satisfy a condition: columns compared with values by =, <>,
    /// <, <=, >, >=, BETWEEN, IN or IS NULL, joined by AND; strings and dates in quotes, times
    /// in UTC. If it starts with the first columns of the primary key, only the pages with such keys are
    /// read
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// Output directory; or one file, if its name ends like .parquet, .csv or .sql; or - for stdout
    #[arg(short, long, default_value = "-", value_name = "DIR|FILE")]
    pub outputdir: String,

    /// Output format [default: sql; in the layout mysqlsh, text for LOAD DATA; or by the name of the output]
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Layout of the directory: mydumper for myloader, mysqlsh for util.loadDump, or plain files
    /// [default: mydumper for sql, files for other formats]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub layout: Option<LayoutArg>,

    /// Compress the output, in Parquet and Arrow the columns in it [default: zstd in the layouts mydumper
    /// and mysqlsh and in Parquet and Arrow, otherwise none]
    #[arg(short, long, value_enum, num_args = 0..=1, default_missing_value = "zstd",
          require_equals = false, value_name = "HOW")]
    pub compress: Option<CompressArg>,

    /// Start a new file after this many bytes of rows, before compression [default: 64M in the
    /// layouts mydumper and mysqlsh, otherwise one file per table]
    #[arg(short = 'F', long, value_name = "SIZE")]
    pub chunk_filesize: Option<ByteSize>,

    /// Do not record table checksums (layouts mydumper and mysqlsh)
    #[arg(hide_short_help = true, long)]
    pub no_checksums: bool,

    /// Resume an interrupted dump in DIR. Finished files of tables that have not changed since are
    /// kept; a table that has changed stops the command (unchanged) or is dumped again (redo)
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "unchanged",
          require_equals = true, conflicts_with = "dry_run", value_name = "HOW")]
    pub resume: Option<ResumeArg>,

    /// Write into a directory that is not empty, and replace files of the same names (layout files
    /// only)
    #[arg(long)]
    pub overwrite: bool,

    /// Print what would be dumped and how, without locking or writing anything
    #[arg(long)]
    pub dry_run: bool,

    /// Write metrics of the dump to this file when it ends, also when it fails: time, rows, bytes, requests, locks, in the
    /// text form of Prometheus (docs/cron.md)
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    /// What is printed on stderr: lines for people, or one JSON object for each event (docs/log.md)
    #[arg(hide_short_help = true, long, value_enum, default_value_t = LogFormatArg::Text, value_name = "FORMAT")]
    pub log_format: LogFormatArg,

    /// Print a line for each table on stderr, and at the end how the time was spent
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Dump only definitions, no rows
    #[arg(short = 'd', long)]
    pub no_data: bool,

    /// Dump only rows, no definitions
    #[arg(short = 'm', long)]
    pub no_schemas: bool,

    /// Include columns that SELECT * leaves out (sql always includes them)
    #[arg(hide_short_help = true, long)]
    pub include_invisible: bool,

    #[command(flatten)]
    pub sql: SqlArgs,

    #[command(flatten)]
    pub text: TextArgs,

    #[command(flatten)]
    pub csv: CsvArgs,

    #[cfg(feature = "columnar")]
    #[command(flatten)]
    pub columnar: ColumnarArgs,

    #[command(flatten)]
    pub server: ServerArgs,

    #[command(flatten)]
    pub objects: ObjectArgs,

    #[command(flatten)]
    pub lock: LockArgs,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: KeyFileArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

/// The form of what is printed on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormatArg {
    /// Lines for people
    Text,
    /// One JSON object for each event
    Json,
}

/// What `--resume` does about a table that has changed since the dump was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResumeArg {
    Unchanged,
    Redo,
}

/// `innoscan get`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan get /var/lib/mysql/shop/orders.ibd 4711 4712\n  innoscan get \
                  shop.lines --datadir /backup/mysql \\\n    --range 4711,1..4712 --format ndjson\n  \
                  innoscan get shop.users --datadir /backup/mysql \\\n    -w \"email = 'ann@example.org'\""
)]
pub struct GetArgs {
    /// An .ibd file, or db.table with --datadir
    pub source: String,

    /// Primary keys: the values of the key's columns, or of the first ones, separated by commas, as
    /// the server prints them (times in UTC, binary as 0x...); - reads keys from stdin, one per
    /// line. Keys without a row are listed on stderr; if none has a row, the exit code is 1
    #[arg(allow_negative_numbers = true, required_unless_present_any = ["range", "condition"],
          conflicts_with_all = ["range", "condition"])]
    pub keys: Vec<String>,

    /// Print all keys from A to B, both included; either may be left out
    #[arg(long, value_name = "A..B", conflicts_with = "condition", allow_hyphen_values = true)]
    pub range: Option<String>,

    /// Print all rows that satisfy a condition: columns compared with values by =, <>,
    /// <, <=, >, >=, BETWEEN, IN or IS NULL, joined by AND; strings and dates in quotes, times
    /// in UTC. If it starts with the first columns of the primary key, only the pages with such keys are
    /// read
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// Output format
    #[arg(long, value_parser = format_parser(), default_value = "text", value_name = "FORMAT")]
    pub format: Format,

    /// Include columns that SELECT * leaves out (sql always includes them)
    #[arg(long)]
    pub include_invisible: bool,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

/// Options of `--format sql`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format sql")]
pub struct SqlArgs {
    /// Maximum size of an INSERT statement, in bytes; a longer row gets a statement of its own
    #[arg(short, long, default_value = "1000000", value_name = "SIZE")]
    pub statement_size: ByteSize,

    /// Write INSERT IGNORE
    #[arg(short = 'N', long, conflicts_with = "replace")]
    pub insert_ignore: bool,

    /// Write REPLACE instead of INSERT
    #[arg(long)]
    pub replace: bool,

    /// Write DROP TABLE IF EXISTS before each CREATE TABLE
    #[arg(long)]
    pub add_drop_table: bool,
}

/// Options of `--format text`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format text (separators can be written as \\t or 0x09)")]
pub struct TextArgs {
    /// Field separator; for csv, one character [default: \t, for csv a comma]
    #[arg(long, value_name = "S")]
    pub fields_terminated_by: Option<String>,

    /// Quote character around every field
    #[arg(
        hide_short_help = true,
        long,
        value_name = "C",
        conflicts_with = "fields_optionally_enclosed_by"
    )]
    pub fields_enclosed_by: Option<String>,

    /// Quote character around string fields
    #[arg(hide_short_help = true, long, value_name = "C")]
    pub fields_optionally_enclosed_by: Option<String>,

    /// Escape character
    #[arg(hide_short_help = true, long, default_value = "\\\\", value_name = "C")]
    pub fields_escaped_by: String,

    /// Prefix of every line
    #[arg(hide_short_help = true, long, default_value = "", value_name = "S")]
    pub lines_starting_by: String,

    /// Line terminator; for csv, \n or \r\n [default: \n, for csv \r\n]
    #[arg(hide_short_help = true, long, value_name = "S")]
    pub lines_terminated_by: Option<String>,
}

/// Options of `--format csv` and `--format ndjson`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format csv, ndjson")]
pub struct CsvArgs {
    /// csv: leave out the header line with the column names
    #[arg(long)]
    pub no_header: bool,

    /// csv: text that stands for NULL; an equal value is quoted [default: an empty field]
    #[arg(
        hide_short_help = true,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT"
    )]
    pub null: String,

    /// csv: encoding of binary values: hex CAFE, base64 yv4=, 0x 0xCAFE
    #[arg(hide_short_help = true, long, value_enum, default_value_t = BinaryArg::Hex, value_name = "FORM")]
    pub binary: BinaryArg,

    /// csv, ndjson: form of TIMESTAMP values, which are in UTC: server 2024-01-01 12:00:00, iso
    /// 2024-01-01T12:00:00Z
    #[arg(long, value_enum, default_value_t = TimestampsArg::Server, value_name = "FORM")]
    pub timestamps: TimestampsArg,
}

/// Options of `--format parquet` and `--format arrow`.
#[cfg(feature = "columnar")]
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format parquet, arrow")]
pub struct ColumnarArgs {
    /// Types of columns: portable, which Spark, Iceberg, Delta and Trino read as they are (TIME as text,
    /// BIGINT UNSIGNED as decimal(20,0)), or native, the closest Arrow types; then, after commas, types
    /// for kinds of columns, as time=int64, enum=text, tinyint1=bool, zero-dates=fail (see
    /// docs/columns.md) [default: portable for parquet, native for arrow]
    #[arg(long, value_name = "TYPES")]
    pub types: Vec<String>,

    /// Type of a column, as token=uuid or shop.orders.token=uuid; may be repeated
    #[arg(long, value_name = "COLUMN=TYPE")]
    pub column: Vec<String>,

    /// parquet: number the fields from 1, for readers that map columns by number
    #[arg(hide_short_help = true, long)]
    pub field_ids: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BinaryArg {
    Hex,
    Base64,
    #[value(name = "0x")]
    Prefixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimestampsArg {
    Server,
    Iso,
}

/// The parser of `--format`: takes the names of the library's formats.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = Format::all().into_iter().filter_map(|format| format.name());
    PossibleValuesParser::new(names)
        .try_map(|name| Format::named(&name).ok_or("there is no such format"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    Files,
    Mydumper,
    Mysqlsh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompressArg {
    None,
    Zstd,
    Gzip,
    /// In Parquet files only
    Snappy,
}

/// Where a dump is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpOutput<'a> {
    /// One stream, to stdout.
    Stdout,
    /// One stream, into a file.
    File(&'a Path),
    /// The files of a layout.
    Directory(&'a Path),
}

impl DumpOutput<'_> {
    /// Whether the output is one stream.
    pub fn is_stream(self) -> bool {
        !matches!(self, DumpOutput::Directory(_))
    }
}

/// The format of files whose names end so.
fn format_of(extension: &str) -> Option<Format> {
    let extension = if ["json", "jsonl"].contains(&extension) { "ndjson" } else { extension };
    let mut formats = Format::all().into_iter();
    formats.find(|format| format.name().is_some() && format.extension() == extension)
}

impl DumpArgs {
    /// Where the dump is written. A name that ends like a format's files is one file, unless it is that of a
    /// directory, or an option is about the files of a directory.
    pub fn output(&self) -> DumpOutput<'_> {
        let path = Path::new(&self.outputdir);
        let needs_directory =
            self.layout.is_some() || self.chunk_filesize.is_some() || self.resume.is_some();
        match self.format_of_name() {
            _ if self.outputdir == "-" => DumpOutput::Stdout,
            Some(_) if !needs_directory && !path.is_dir() => DumpOutput::File(path),
            _ => DumpOutput::Directory(path),
        }
    }

    /// The format of which the name of the output is.
    pub fn format_of_name(&self) -> Option<Format> {
        format_of(Path::new(&self.outputdir).extension()?.to_str()?)
    }

    /// Takes the format from the name of the output, if no option says it.
    pub fn infer_format(&mut self) {
        if self.format.is_none() && self.layout.is_none() {
            self.format = self.format_of_name();
        }
    }

    /// Whether the format is Parquet or Arrow, which compress columns themselves.
    pub fn is_columnar(&self) -> bool {
        self.format.as_ref().is_some_and(Format::is_binary)
    }

    /// The keys of encrypted tables, with the option files.
    pub fn key_args(&self) -> OfflineKeyArgs {
        self.key_files.with(&self.server.option_files)
    }
}
