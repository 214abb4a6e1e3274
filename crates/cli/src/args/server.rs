//! Arguments for a running server: its address, and how its tables are locked.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use innoscan_live::lock::LockOptions;
use innoscan_live::small_tables::SmallTablesMode;
use innoscan_live::snapshot::{Consistency, LockMode};
use innoscan_live::{Account, Password, Tls};

use super::keys::OptionFileArgs;

/// The address and account of a running server, with the options of its own clients.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Running server, on this machine")]
pub struct ServerArgs {
    /// Socket file [default: from the option files, otherwise the usual paths]
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Host name; localhost connects through the socket
    #[arg(short = 'h', long, value_name = "HOST")]
    pub host: Option<String>,

    /// TCP port
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,

    /// User name
    #[arg(short = 'u', long, value_name = "USER")]
    pub user: Option<String>,

    /// Prompt for the password [default: from the option files or MYSQL_PWD]
    #[arg(short = 'p', long, num_args = 0..=1, require_equals = true, value_name = "")]
    pub password: Option<Option<String>>,

    /// TLS for TCP connections: DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY
    #[arg(hide_short_help = true, long, default_value = "PREFERRED", value_name = "MODE", value_parser = tls)]
    pub ssl_mode: Tls,

    /// Certificates of trusted authorities (PEM)
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,

    #[command(flatten)]
    pub option_files: OptionFileArgs,
}

/// How the tables of a running server are locked.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Locking")]
pub struct LockArgs {
    /// How tables are kept from changing: export locks them until they are read; clone locks them
    /// only while their files are copied by reflink (XFS, btrfs), for milliseconds; auto is clone
    /// where possible, otherwise export; none takes no lock: another connection holds FLUSH TABLES
    /// ... FOR EXPORT until the tables are read
    #[arg(long, value_enum, default_value_t = LockModeArg::Auto, value_name = "MODE")]
    pub lock_mode: LockModeArg,

    /// all: one consistent snapshot of all tables, locked by one statement; table: each table is
    /// locked by itself, and tables may be from different times
    #[arg(long, value_enum, default_value_t = ConsistencyArg::All, value_name = "WHICH",
          conflicts_with = "resume")]
    pub consistency: ConsistencyArg,

    /// How InnoDB tables with at most 1 MiB of files are read: files, like all others, under the
    /// lock; select, by SELECT over several connections in one consistent snapshot; auto, by SELECT
    /// if there are more than 256 InnoDB tables
    #[arg(long, value_enum, default_value_t = SmallTablesArg::Auto, value_name = "HOW")]
    pub small_tables: SmallTablesArg,

    /// Seconds to keep trying for the lock; other sessions are blocked for at most one second at a
    /// time
    #[arg(hide_short_help = true, long, default_value_t = 60, value_name = "SECONDS")]
    pub lock_wait_timeout: u64,

    /// Refuse to lock while a statement that could delay the lock has been running for this many
    /// seconds
    #[arg(hide_short_help = true, long, default_value_t = 60, value_name = "SECONDS")]
    pub long_query_guard: u64,
}

/// Objects of a server other than tables.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Views, triggers, routines, events, accounts")]
pub struct ObjectArgs {
    /// Do not dump views
    #[arg(short = 'W', long)]
    pub no_views: bool,

    /// Do not dump triggers
    #[arg(long)]
    pub no_triggers: bool,

    /// Do not dump functions, procedures and packages
    #[arg(long)]
    pub no_routines: bool,

    /// Do not dump events
    #[arg(long)]
    pub no_events: bool,

    /// Also dump accounts and their grants
    #[arg(long)]
    pub users: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LockModeArg {
    Auto,
    Export,
    Clone,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConsistencyArg {
    All,
    Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SmallTablesArg {
    Auto,
    Files,
    Select,
}

fn tls(typed: &str) -> Result<Tls, String> {
    Tls::by_name(typed).ok_or_else(|| format!("unknown TLS mode `{typed}`: use DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"))
}

impl ServerArgs {
    /// The account to connect with, from the arguments, option files, environment and prompt; and
    /// notes on the option files for the user.
    pub fn account(&self) -> anyhow::Result<(Account, Vec<String>)> {
        let is_of_client = |group: &str| matches!(group, "client" | "innoscan");
        let files = self.option_files.files().read(is_of_client)?;
        let password = match &self.password {
            None => None,
            Some(None) => {
                let typed = rpassword::prompt_password("Password: ").context(
                    "there is no terminal to prompt for the password: use an option file \
                     (--defaults-file) or MYSQL_PWD",
                )?;
                Some(Password(typed))
            }
            Some(Some(_)) => anyhow::bail!(
                "a password on the command line is visible to all users of the machine: use -p \
                 alone, an option file, or MYSQL_PWD"
            ),
        };
        let account = Account {
            host: self.host.clone(),
            port: self.port,
            socket: self.socket.clone(),
            user: self.user.clone(),
            password,
            tls: self.ssl_mode,
            tls_ca: self.ssl_ca.clone(),
        };
        Ok((account.completed(&files)?, files.notes))
    }
}

impl LockArgs {
    /// The lock mode.
    pub fn mode(&self) -> LockMode {
        match self.lock_mode {
            LockModeArg::Auto => LockMode::Auto,
            LockModeArg::Export => LockMode::Export,
            LockModeArg::Clone => LockMode::Clone,
            LockModeArg::None => LockMode::Others,
        }
    }

    /// Whether all tables are from one consistent snapshot.
    pub fn consistency(&self) -> Consistency {
        match self.consistency {
            ConsistencyArg::All => Consistency::All,
            ConsistencyArg::Table => Consistency::Table,
        }
    }

    /// How small tables are read.
    pub fn small(&self) -> SmallTablesMode {
        match self.small_tables {
            SmallTablesArg::Auto => SmallTablesMode::Auto,
            SmallTablesArg::Files => SmallTablesMode::Files,
            SmallTablesArg::Select => SmallTablesMode::Select,
        }
    }

    /// The timeouts of the lock.
    pub fn options(&self) -> LockOptions {
        LockOptions {
            wait: Duration::from_secs(self.lock_wait_timeout),
            long_query: Duration::from_secs(self.long_query_guard),
            on_wait: |holders| note!("innoscan: waiting for the lock: {holders}"),
        }
    }
}
