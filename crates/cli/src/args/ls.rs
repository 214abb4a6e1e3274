//! What can be typed after `innoscan ls`.

use std::path::PathBuf;

use clap::Args;

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

    /// Only these databases, separated by commas
    #[arg(short = 'B', long, value_delimiter = ',', value_name = "DB")]
    pub databases: Vec<String>,

    /// Only these tables, as db.table, separated by commas
    #[arg(short = 'T', long, value_delimiter = ',', value_name = "DB.TABLE")]
    pub tables_list: Vec<String>,

    /// Print one JSON object (docs/json.md), with exact sizes
    #[arg(long)]
    pub json: bool,

    /// List the files of a running server or one that was not shut down cleanly: what is listed may
    /// be old
    #[arg(long)]
    pub force: bool,
}
