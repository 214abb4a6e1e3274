//! What can be typed after `innoscan tablespaces`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use innoscan::tablespaces::HeadWay;

use super::pause;

/// `innoscan tablespaces`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  innoscan tablespaces /var/lib/mysql\n  innoscan tablespaces \
                  /var/lib/mysql --innodb-directories '/ssd1;/ssd2' --read full-page --json")]
pub struct TablespacesArgs {
    /// Data directories; all directories below them are looked through
    #[arg(required = true, value_name = "DATADIR")]
    pub directories: Vec<PathBuf>,

    /// Further directories, as the server's variable has them: separated by semicolons
    #[arg(long, value_delimiter = ';', value_name = "DIRS")]
    pub innodb_directories: Vec<PathBuf>,

    /// How a file's beginning is read: full-page reads 16 KiB through the page cache, to which the
    /// kernel's read-ahead adds as much again (servers to MySQL 9.0); fadvise does without
    /// read-ahead; light reads 4 KiB so; direct reads 16 KiB around the page cache (the newest
    /// servers); batched reads 4 KiB around it, of hundreds of files at once by io_uring
    #[arg(long = "read", default_value_t = HeadWay::Batched, value_name = "WAY")]
    pub way: HeadWay,

    /// Threads, of all ways but batched [default: as many as MySQL takes: one, and one for each 8000
    /// files, up to 16 and to twice the cores]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Files at once, of batched
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
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
}
