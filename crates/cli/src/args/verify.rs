//! Arguments of `innoscan verify`.

use std::path::PathBuf;

use clap::Args;
use innoscan_engine::PlanOptions;

use super::{DataFileArgs, KeyFileArgs, OfflineKeyArgs, ServerArgs};
use crate::sizes::ByteSize;

/// `innoscan verify`.
#[derive(Debug, Args)]
#[command(
    // -h is the host, as in MySQL's own clients.
    disable_help_flag = true,
    after_help = "Examples:\n  innoscan verify OUT\n  innoscan verify OUT --against /backup/mysql\n  \
                  innoscan verify OUT --against server -S /run/mysqld/mysqld.sock -u backup -p"
)]
pub struct VerifyArgs {
    /// The directory of a dump, in any layout
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Print help (-h alone prints a summary)
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,

    /// The summary that -h alone prints
    #[arg(long, hide = true, action = clap::ArgAction::HelpShort)]
    pub short_help: Option<bool>,

    /// Also compare the rows with those of a source, by CHECKSUM TABLE: the data directory of a
    /// stopped server, or the word server for the running server at --socket or --host
    #[arg(long, value_name = "SOURCE")]
    pub against: Option<PathBuf>,

    /// Also decompress compressed files
    #[arg(long)]
    pub decompress: bool,

    /// Print one JSON object (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// Number of threads that decode rows of a data directory [default: one per core]
    #[arg(short = 't', long, value_name = "N")]
    pub threads: Option<usize>,

    /// Total memory for pages of a data directory
    #[arg(long, default_value_t = ByteSize(PlanOptions::MEMORY_BYTES), value_name = "SIZE")]
    pub memory: ByteSize,

    /// Read the data directory of a running server or of one that was not shut down cleanly: rows
    /// may be old, missing or torn
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub data_files: DataFileArgs,

    /// Print only faults and errors on stderr, no progress
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub key_files: KeyFileArgs,

    #[command(flatten)]
    pub server: ServerArgs,
}

impl VerifyArgs {
    /// The keys of encrypted tables, with the option files.
    pub fn key_args(&self) -> OfflineKeyArgs {
        self.key_files.with(&self.server.option_files)
    }

    /// Whether the rows are compared with those of a running server.
    pub fn is_against_server(&self) -> bool {
        self.against.as_ref().is_some_and(|source| source.as_os_str() == "server")
    }

    /// Whether the rows are compared with those of files.
    pub fn is_against_files(&self) -> bool {
        self.against.is_some() && !self.is_against_server()
    }
}
