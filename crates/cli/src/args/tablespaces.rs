//! Arguments of `innoscan tablespaces`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use innoscan_tools::tablespaces::HeadMethod;

use super::{KeyFileArgs, OfflineKeyArgs, ServerArgs, pause};

/// `innoscan tablespaces`.
#[derive(Debug, Args)]
#[command(
    // -h is the host, as in MySQL's own clients.
    disable_help_flag = true,
    after_help = "Examples:\n  innoscan tablespaces /var/lib/mysql\n  innoscan tablespaces \
                  /var/lib/mysql --innodb-directories '/ssd1;/ssd2' \\\n    --read full-page --json")]
pub struct TablespacesArgs {
    /// Data directories, searched with all their subdirectories
    #[arg(required = true, value_name = "DATADIR")]
    pub directories: Vec<PathBuf>,

    /// Print help (-h alone prints a summary)
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,

    /// The summary that -h alone prints
    #[arg(long, hide = true, action = clap::ArgAction::HelpShort)]
    pub short_help: Option<bool>,

    /// More directories, written like the server's innodb_directories: separated by semicolons
    #[arg(long, value_delimiter = ';', value_name = "DIRS")]
    pub innodb_directories: Vec<PathBuf>,

    /// Compare the files with the server's list of tablespaces: the one in the dictionary of the
    /// first DATADIR, whose server is shut down, or the one of a running server
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "dictionary",
          require_equals = true, value_name = "WHOSE")]
    pub server_list: Option<ServerListArg>,

    /// Also compare each file's name with the definitions in the file (SDI, MySQL 8 and later);
    /// reads a few more pages of each file
    #[arg(long)]
    pub sdi: bool,

    /// How the start of a file is read: full-page, 16 KiB through the page cache with the kernel's
    /// read-ahead (MySQL up to 9.0); fadvise, the same without read-ahead; light, 4 KiB without
    /// read-ahead; direct, 16 KiB bypassing the page cache (latest servers); batched, one device
    /// block bypassing the page cache, hundreds of files at once by io_uring [default: batched
    /// where io_uring is permitted, otherwise light]
    #[arg(long = "read", value_name = "METHOD")]
    pub method: Option<HeadMethod>,

    /// Number of threads; each thread of batched has its own io_uring [default: as MySQL, one plus
    /// one per 8000 files, up to 16 and to twice the cores; for batched four per core, up to 16]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// batched: files in flight, all threads together
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub depth: u16,

    /// Emulate a slower device: no read takes less than this time, e.g. 1ms
    #[arg(long, default_value = "0ms", value_name = "TIME", value_parser = pause)]
    pub latency: Duration,

    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// Print on stderr how long opening and reading took
    #[arg(long)]
    pub stats: bool,

    /// Show no progress on stderr
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub key_files: KeyFileArgs,

    #[command(flatten)]
    pub server: ServerArgs,
}

/// Where the list of tablespaces comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServerListArg {
    Dictionary,
    Server,
}

impl TablespacesArgs {
    /// The keys of encrypted tables, with the option files.
    pub fn key_args(&self) -> OfflineKeyArgs {
        self.key_files.with(&self.server.option_files)
    }
}
