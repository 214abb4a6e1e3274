//! SQL over the files of InnoDB tables, by DataFusion: the command `innoscan-sql`.

mod catalog;
mod filters;
mod output;
mod remedies;
mod shared_catalog;
mod source;
mod table;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use datafusion::common::config::Dialect;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use innoscan::{DataFiles, ErrorKind, KeyFiles, OptionFiles, Prepared, ScanOptions};
use innoscan_engine::devices::KnownDevices;
use tempfile::NamedTempFile;

use crate::catalog::{Databases, InnodbFunction, Places, Tables};
use crate::output::Format;

/// The name of the data directory's catalog.
const CATALOG: &str = "innodb";

/// Runs a query over tables in their files, without a server.
///
/// A table is named db.table with --datadir, or innodb('path.ibd'). EXPLAIN shows what is read.
#[derive(Parser)]
#[command(name = "innoscan-sql", version)]
struct Args {
    /// The query; - reads it from standard input
    query: String,
    /// The data directory of a stopped or killed server, a backup or a snapshot
    #[arg(long, value_name = "DIR")]
    datadir: Option<PathBuf>,
    /// The database of tables that are named without one
    #[arg(short = 'D', long, value_name = "DB")]
    database: Option<String>,
    /// The form of the rows
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The file for the rows; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Threads; default: one for each core
    #[arg(long)]
    threads: Option<usize>,
    /// MySQL's keyring, the configuration of its component, or a list of keys
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
    /// MariaDB's key file, or a list of keys
    #[arg(long, value_name = "FILE")]
    file_key_management_filename: Option<PathBuf>,
    /// The file with the password of MariaDB's key file
    #[arg(long, value_name = "FILE")]
    file_key_management_filekey: Option<PathBuf>,
    /// Directories with files of tables outside of the data directory, separated by semicolons
    #[arg(long, value_delimiter = ';', value_name = "DIRS")]
    innodb_directories: Vec<PathBuf>,
    /// Incremental backup by mariadb-backup on the directory, which is its base; again for each one on that, oldest
    /// first. None of them is prepared, and nothing is written
    #[arg(long, value_name = "DIR", requires = "datadir")]
    incremental: Vec<PathBuf>,
    /// Prepared transactions that no binary log in the directory has: show their changes (commit), take them
    /// back (rollback), or read nothing (refuse). Those of XA PREPARE are taken back except with commit
    #[arg(long, default_value = Prepared::default().word(), value_name = "WHAT",
          value_parser = PossibleValuesParser::new(Prepared::WORDS).try_map(|word| word.parse::<Prepared>()))]
    prepared: Prepared,
    /// The only option file to read: the server's, which says where keys and files are
    #[arg(long, value_name = "FILE")]
    defaults_file: Option<PathBuf>,
    /// Read no option files
    #[arg(long)]
    no_defaults: bool,
    /// Read the files of a running server, or one that was not shut down: rows may be old, missing or torn
    #[arg(long)]
    force: bool,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(asked) => {
            // Help and version are no errors.
            _ = asked.print();
            return ExitCode::from(u8::from(asked.use_stderr()));
        }
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = args.threads {
        runtime.worker_threads(threads.max(1));
    }
    let ended = runtime.enable_all().build().context("starting threads").and_then(|runtime| {
        let ended = runtime.block_on(async {
            tokio::select! {
                ended = run(&args) => ended.map(|()| ExitCode::SUCCESS),
                interrupted = tokio::signal::ctrl_c() => {
                    interrupted.context("waiting for signals").map(|()| ExitCode::from(130))
                }
            }
        });
        runtime.shutdown_background();
        ended
    });
    ended.unwrap_or_else(|error| {
        let (what, code) = message(&error);
        eprintln!("innoscan: {what}");
        ExitCode::from(code)
    })
}

/// The message of an error, and the exit code of the command `innoscan` for it.
fn message(error: &anyhow::Error) -> (String, u8) {
    if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<innoscan::Error>()) {
        let code = match error.kind() {
            ErrorKind::Usage => 1,
            ErrorKind::Resources => 4,
            ErrorKind::Write | ErrorKind::BrokenPipe => 5,
            _ => 2,
        };
        return (remedies::message(error), code);
    }
    if error.chain().any(|cause| cause.is::<std::io::Error>()) {
        return (format!("{error:#}"), 5);
    }
    match error.downcast_ref::<DataFusionError>() {
        // Its text has the text of its causes.
        Some(DataFusionError::ResourcesExhausted(_)) => (error.to_string(), 4),
        Some(_) => (error.to_string(), 1),
        None => (format!("{error:#}"), 1),
    }
}

async fn run(args: &Args) -> Result<()> {
    let query = match args.query.as_str() {
        "-" => {
            let mut query = String::new();
            std::io::stdin().read_to_string(&mut query).context("reading the query")?;
            query
        }
        query => query.to_owned(),
    };
    let session = session(args)?;
    let rows = session.sql(&query).await?.execute_stream().await?;
    match &args.output {
        None => output::write(args.format, rows, &mut std::io::stdout()).await,
        Some(path) => {
            let writing = || format!("writing {}", path.display());
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")));
            let mut file = file.with_context(writing)?;
            output::write(args.format, rows, &mut file).await?;
            file.flush().and_then(|()| file.as_file().sync_all()).with_context(writing)?;
            // The file gets its name when it is complete, and replaces none.
            file.persist_noclobber(path)
                .map(drop)
                .map_err(|error| error.error)
                .with_context(writing)
        }
    }
}

fn session(args: &Args) -> Result<SessionContext> {
    let option_files =
        OptionFiles { only: args.defaults_file.clone(), extra: None, none: args.no_defaults };
    let keys = KeyFiles {
        keyring: args.keyring.clone(),
        key_file: args.file_key_management_filename.clone(),
        password_file: args.file_key_management_filekey.clone(),
        option_files: option_files.clone(),
        ..KeyFiles::default()
    };
    let mut options = ScanOptions::default();
    options.io.known_devices = KnownDevices::of_user();
    options.plan.threads = args.threads.unwrap_or(0);
    let places = Places {
        datadir: args.datadir.clone(),
        keys: keys.keys(|| ())?,
        files: DataFiles {
            directories: args.innodb_directories.clone(),
            incrementals: DataFiles::incrementals_of(&args.incremental),
            ..DataFiles::default()
        },
        option_files,
        prepared: args.prepared,
        force: args.force,
    };
    let tables = Arc::new(Tables::new(places, options)?);
    tables.require_readable()?;
    let database = args.database.as_deref().unwrap_or("information_schema");
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema(CATALOG, database);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    let parser = &mut config.options_mut().sql_parser;
    parser.dialect = Dialect::MySQL;
    parser.enable_ident_normalization = false;
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    let session = SessionContext::new_with_state(state);
    session.register_catalog(CATALOG, Arc::new(Databases(Arc::clone(&tables))));
    session.register_udtf("innodb", Arc::new(InnodbFunction(tables)));
    Ok(session)
}
