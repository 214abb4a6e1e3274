//! What can be typed after `innoscan tablespaces`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use innoscan::tablespaces::HeadWay;

use super::{ServerArgs, pause};

/// `innoscan tablespaces`.
#[derive(Debug, Args)]
#[command(
    // -h is the host, as everywhere in the field.
    disable_help_flag = true,
    after_help = "Examples:\n  innoscan tablespaces /var/lib/mysql\n  innoscan tablespaces \
                  /var/lib/mysql --innodb-directories '/ssd1;/ssd2' \\\n    --read full-page --json")]
pub struct TablespacesArgs {
    /// Data directories; all directories below them are looked through
    #[arg(required = true, value_name = "DATADIR")]
    pub directories: Vec<PathBuf>,

    /// Print help; -h alone prints less of it
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,

    /// What -h alone stands for
    #[arg(long, hide = true, action = clap::ArgAction::HelpShort)]
    pub short_help: Option<bool>,

    /// Further directories, as the server's variable has them: separated by semicolons
    #[arg(long, value_delimiter = ';', value_name = "DIRS")]
    pub innodb_directories: Vec<PathBuf>,

    /// Hold the files against the tablespaces the server has: those in the dictionary of the first
    /// DATADIR, whose server is shut down, or those a running server tells
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "dictionary",
          require_equals = true, value_name = "WHOSE")]
    pub server_list: Option<ServerListArg>,

    /// Hold each file's name against the definitions in it too (SDI, MySQL 8 and later): reads some
    /// pages more of each file
    #[arg(long)]
    pub sdi: bool,

    /// How a file's beginning is read: full-page reads 16 KiB through the page cache, to which the
    /// kernel's read-ahead adds as much again (servers to MySQL 9.0); fadvise does without
    /// read-ahead; light reads 4 KiB so; direct reads 16 KiB around the page cache (the newest
    /// servers); batched reads the device's block around it, of hundreds of files at once by io_uring
    /// [default: batched where io_uring is permitted, else light]
    #[arg(long = "read", value_name = "WAY")]
    pub way: Option<HeadWay>,

    /// Threads; of batched each has an io_uring of its own [default: as many as MySQL takes: one, and
    /// one for each 8000 files, up to 16 and to twice the cores; of batched four a core, up to 16]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Files at once of all threads together, of batched
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub depth: u16,

    /// No read is over before so long, as 1ms: shows what a slower device would take
    #[arg(long, default_value = "0ms", value_name = "TIME", value_parser = pause)]
    pub latency: Duration,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Say on stderr what opening and reading took
    #[arg(long)]
    pub stats: bool,

    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub server: ServerArgs,
}

/// Who says which tablespaces there are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServerListArg {
    Dictionary,
    Server,
}
