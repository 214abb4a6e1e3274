//! What rows are written, and as what.

use clap::{Args, ValueEnum};

use super::{LockArgs, ObjectArgs, ReadArgs, ServerArgs, SourceArgs, TellArgs};
use crate::sizes::ByteSize;

/// `innoscan dump`.
#[derive(Debug, Args)]
#[command(
    // -h is the host, as everywhere in the field.
    disable_help_flag = true,
    after_help = "Examples:\n  innoscan dump /var/lib/mysql/shop/orders.ibd > orders.sql\n  \
                  innoscan dump -S /run/mysqld/mysqld.sock -u backup -p -B shop,crm -o OUT
  \
                  innoscan dump /backup/mysql -B shop,crm -o OUT --layout mydumper -F 256M"
)]
pub struct DumpArgs {
    /// .ibd files, db.table names with --datadir, or one data or backup directory; none: a running
    /// server's tables
    pub sources: Vec<String>,

    /// Print help; -h alone prints less of it
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,

    /// What -h alone stands for
    #[arg(long, hide = true, action = clap::ArgAction::HelpShort)]
    pub short_help: Option<bool>,

    /// Databases of a directory or server, separated by commas
    #[arg(short = 'B', long, value_delimiter = ',', value_name = "DB")]
    pub databases: Vec<String>,

    /// Tables of a directory or server as db.table, separated by commas; with -B these too
    #[arg(short = 'T', long, value_delimiter = ',', value_name = "DB.TABLE")]
    pub tables_list: Vec<String>,

    /// All databases of a server
    #[arg(short = 'A', long, conflicts_with_all = ["databases", "tables_list"])]
    pub all_databases: bool,

    /// Databases to leave out, as db, and tables, as db.table, separated by commas
    #[arg(long, visible_alias = "exclude", value_delimiter = ',', value_name = "DB[.TABLE]")]
    pub ignore_table: Vec<String>,

    /// Of those only such as this regular expression matches in db.table: as ^(?!test\.)
    #[arg(short = 'x', long, value_name = "REGEX")]
    pub regex: Option<String>,

    /// Only the rows that satisfy a condition: columns compared with values by =, <>, <, <=, >, >=,
    /// BETWEEN, IN or IS NULL, joined by AND; text and dates in quotes, times in UTC. Where it
    /// begins with the primary key, only its pages are read
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// Where to write: a directory, or - for stdout
    #[arg(short, long, default_value = "-", value_name = "DIR")]
    pub outputdir: String,

    /// What to write [default: sql; in the layout mysqlsh, what that holds]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<FormatArg>,

    /// How a directory is laid out: mydumper for myloader, mysqlsh for util.loadDump, or plain
    /// files [default: mydumper for sql, files for the rest]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub layout: Option<LayoutArg>,

    /// Compress the output [default: zstd in the layouts mydumper and mysqlsh, else none]
    #[arg(short, long, value_enum, num_args = 0..=1, default_missing_value = "zstd",
          require_equals = false, value_name = "HOW")]
    pub compress: Option<CompressArg>,

    /// Begin a new file when one has this much (before compression) [default: 64M in the layouts
    /// mydumper and mysqlsh]
    #[arg(short = 'F', long, value_name = "SIZE")]
    pub chunk_filesize: Option<ByteSize>,

    /// Do not tell the tables' checksums in the layouts mydumper and mysqlsh
    #[arg(hide_short_help = true, long)]
    pub no_checksums: bool,

    /// Go on with the dump that was begun into DIR and did not end. What is done of a table is kept if
    /// the table has not changed since; of one that has, it is dumped anew (redo), or nothing is done
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "unchanged",
          require_equals = true, conflicts_with = "dry_run", value_name = "HOW")]
    pub resume: Option<ResumeArg>,

    /// Write into a directory that holds files already; those of the same names are replaced
    /// (layout files alone)
    #[arg(long)]
    pub overwrite: bool,

    /// Say what would be dumped and how, and neither lock nor write anything
    #[arg(long)]
    pub dry_run: bool,

    /// A line for each table on stderr, and at the end where the time went
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Only definitions
    #[arg(short = 'd', long)]
    pub no_data: bool,

    /// Only rows
    #[arg(short = 'm', long)]
    pub no_schemas: bool,

    /// Also columns that SELECT * leaves out (sql always has them)
    #[arg(hide_short_help = true, long)]
    pub include_invisible: bool,

    #[command(flatten)]
    pub sql: SqlArgs,

    #[command(flatten)]
    pub text: TextArgs,

    #[command(flatten)]
    pub csv: CsvArgs,

    #[command(flatten)]
    pub server: ServerArgs,

    #[command(flatten)]
    pub objects: ObjectArgs,

    #[command(flatten)]
    pub lock: LockArgs,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub tell: TellArgs,
}

/// What is done about tables that have changed since a dump was begun.
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

    /// Keys: the values of the primary key's columns, or of the first ones, separated by commas, as
    /// the server prints them (times in UTC, bytes as 0x...); - reads keys from stdin, one a line.
    /// Keys without a row are named on stderr; when none has one, the exit code is 1
    #[arg(allow_negative_numbers = true, required_unless_present_any = ["range", "condition"],
          conflicts_with_all = ["range", "condition"])]
    pub keys: Vec<String>,

    /// All keys from A to B, both among them; either may be left out
    #[arg(long, value_name = "A..B", conflicts_with = "condition", allow_hyphen_values = true)]
    pub range: Option<String>,

    /// All rows that satisfy a condition: columns compared with values by =, <>, <, <=, >, >=,
    /// BETWEEN, IN or IS NULL, joined by AND; text and dates in quotes, times in UTC. Where it
    /// begins with the primary key, only its pages are read
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,

    /// What to write
    #[arg(long, value_enum, default_value_t = FormatArg::Text, value_name = "FORMAT")]
    pub format: FormatArg,

    /// Also columns that SELECT * leaves out (sql always has them)
    #[arg(long)]
    pub include_invisible: bool,

    #[command(flatten)]
    pub from: SourceArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub tell: TellArgs,
}

/// The shape of `--format sql`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format sql")]
pub struct SqlArgs {
    /// Bytes of an INSERT statement
    #[arg(short, long, default_value = "1000000", value_name = "SIZE")]
    pub statement_size: ByteSize,

    /// INSERT IGNORE
    #[arg(short = 'N', long, conflicts_with = "replace")]
    pub insert_ignore: bool,

    /// REPLACE instead of INSERT
    #[arg(long)]
    pub replace: bool,

    /// DROP TABLE IF EXISTS before each CREATE TABLE
    #[arg(long)]
    pub add_drop_table: bool,
}

/// The shape of `--format text`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format text (escapes such as \\t and 0x09 are understood)")]
pub struct TextArgs {
    /// Between fields; for csv too, one character [default: \t, of csv a comma]
    #[arg(long, value_name = "S")]
    pub fields_terminated_by: Option<String>,

    /// Around every field
    #[arg(
        hide_short_help = true,
        long,
        value_name = "C",
        conflicts_with = "fields_optionally_enclosed_by"
    )]
    pub fields_enclosed_by: Option<String>,

    /// Around string fields
    #[arg(hide_short_help = true, long, value_name = "C")]
    pub fields_optionally_enclosed_by: Option<String>,

    /// Before what must be escaped
    #[arg(hide_short_help = true, long, default_value = "\\\\", value_name = "C")]
    pub fields_escaped_by: String,

    /// Before a line
    #[arg(hide_short_help = true, long, default_value = "", value_name = "S")]
    pub lines_starting_by: String,

    /// After a line; for csv too, \n or \r\n [default: \n, of csv \r\n]
    #[arg(hide_short_help = true, long, value_name = "S")]
    pub lines_terminated_by: Option<String>,
}

/// The shape of `--format csv`, and of times for other programs.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "--format csv, ndjson")]
pub struct CsvArgs {
    /// csv: no first line with the columns' names
    #[arg(long)]
    pub no_header: bool,

    /// csv: what NULL is written as; a value that is the same is quoted [default: nothing]
    #[arg(
        hide_short_help = true,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT"
    )]
    pub null: String,

    /// csv: how bytes without a charset are written: CAFE, yv4= or 0xCAFE
    #[arg(hide_short_help = true, long, value_enum, default_value_t = BinaryArg::Hex, value_name = "FORM")]
    pub binary: BinaryArg,

    /// csv and ndjson: how TIMESTAMP, which is in UTC, is written: 2024-01-01 12:00:00 as the
    /// server does, or 2024-01-01T12:00:00Z
    #[arg(long, value_enum, default_value_t = TimestampsArg::Server, value_name = "FORM")]
    pub timestamps: TimestampsArg,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    Sql,
    Text,
    Csv,
    Ndjson,
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
}
