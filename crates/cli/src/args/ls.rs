//! Arguments of `innoscan ls`.

use std::path::PathBuf;

use clap::Args;

use super::{DataFileArgs, OfflineKeyArgs};

/// `innoscan ls`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  innoscan ls /var/lib/mysql\n  innoscan ls /backup/mysql -B shop \
                  --json\n  innoscan ls OUT"
)]
pub struct LsArgs {
    /// Directories of stopped servers, physical backups, directories of dumps, or .ibd files
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,

    /// List only these databases, separated by commas
    #[arg(short = 'B', long, value_delimiter = ',', value_name = "DB")]
    pub databases: Vec<String>,

    /// List only these tables, as db.table, separated by commas
    #[arg(short = 'T', long, value_delimiter = ',', value_name = "DB.TABLE")]
    pub tables_list: Vec<String>,

    /// Print one JSON object with exact sizes (docs/json.md)
    #[arg(long)]
    pub json: bool,

    /// List the files of a running server or of one that was not shut down cleanly: the list may be
    /// out of date
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub data_files: DataFileArgs,

    #[command(flatten)]
    pub key_files: OfflineKeyArgs,
}
