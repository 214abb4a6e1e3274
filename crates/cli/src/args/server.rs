//! Where a running server is, and how its tables are held still.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use innoscan_live::lock::LockOptions;
use innoscan_live::small_tables::SmallTablesBy;
use innoscan_live::snapshot::{Consistency, LockMode};
use innoscan_live::{Account, OptionFiles, Password, Tls};

/// A running server, named as its own clients name it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "A running server, on this machine")]
pub struct ServerArgs {
    /// Its socket [default: of the option files, else the usual places]
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Its host; localhost is its socket
    #[arg(short = 'h', long, value_name = "HOST")]
    pub host: Option<String>,

    /// Its port
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,

    /// The account
    #[arg(short = 'u', long, value_name = "USER")]
    pub user: Option<String>,

    /// Ask for the password; else it is that of the option files, or of MYSQL_PWD
    #[arg(short = 'p', long, num_args = 0..=1, require_equals = true, value_name = "")]
    pub password: Option<Option<String>>,

    /// TLS where it is reached by host: DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY
    #[arg(hide_short_help = true, long, default_value = "PREFERRED", value_name = "MODE", value_parser = tls)]
    pub ssl_mode: Tls,

    /// Who may have signed its certificate
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,

    /// Read this option file alone
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,

    /// Read this option file after the usual ones
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub defaults_extra_file: Option<PathBuf>,

    /// Read no option file
    #[arg(hide_short_help = true, long)]
    pub no_defaults: bool,
}

/// How a server's tables are held still.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Locks")]
pub struct LockArgs {
    /// export locks the tables until they are read, clone until they are copied by reflink (XFS,
    /// btrfs): milliseconds; auto takes clone where it can; none: another connection holds them by
    /// FLUSH TABLES ... FOR EXPORT until they are read
    #[arg(long, value_enum, default_value_t = LockModeArg::Auto, value_name = "MODE")]
    pub lock_mode: LockModeArg,

    /// all: all tables are of one moment, locked by one statement; table: each is of its own, locked
    /// when its turn comes
    #[arg(long, value_enum, default_value_t = ConsistencyArg::All, value_name = "WHICH",
          conflicts_with = "resume")]
    pub consistency: ConsistencyArg,

    /// Tables of InnoDB whose files have at most 1 MiB: files reads them from their files, as all
    /// others, and locks them; select fetches them over several connections in one consistent
    /// snapshot; auto does that where there are more than 256 tables
    #[arg(long, value_enum, default_value_t = SmallTablesArg::Auto, value_name = "HOW")]
    pub small_tables: SmallTablesArg,

    /// How many seconds the lock is tried; others are held up for one at a time
    #[arg(hide_short_help = true, long, default_value_t = 60, value_name = "SECONDS")]
    pub lock_wait_timeout: u64,

    /// Refuse while a statement that may keep the lock away has run for so many seconds
    #[arg(hide_short_help = true, long, default_value_t = 60, value_name = "SECONDS")]
    pub long_query_guard: u64,
}

/// What of a server is no table.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What a server has beside tables")]
pub struct ObjectArgs {
    /// Leave views out
    #[arg(short = 'W', long)]
    pub no_views: bool,

    /// Leave triggers out
    #[arg(long)]
    pub no_triggers: bool,

    /// Leave functions, procedures and packages out
    #[arg(long)]
    pub no_routines: bool,

    /// Leave events out
    #[arg(long)]
    pub no_events: bool,

    /// Also accounts and their grants
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
    Tls::by_name(typed).ok_or_else(|| format!("`{typed}` is no mode of TLS"))
}

impl ServerArgs {
    /// The account they name, together with option files, environment and prompt; and what is to be
    /// told of the files.
    pub fn account(&self) -> anyhow::Result<(Account, Vec<String>)> {
        let files = OptionFiles {
            only: self.defaults_file.clone(),
            extra: self.defaults_extra_file.clone(),
            none: self.no_defaults,
        };
        let files = files.read()?;
        let password = match &self.password {
            None => None,
            Some(None) => {
                let typed = rpassword::prompt_password("Password: ").context(
                    "there is no terminal to ask for the password on: use an option file \
                     (--defaults-file) or MYSQL_PWD",
                )?;
                Some(Password(typed))
            }
            Some(Some(_)) => anyhow::bail!(
                "a password in the command line is seen by all users of the machine: use -p alone, \
                 an option file, or MYSQL_PWD"
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
    /// The mode.
    pub fn mode(&self) -> LockMode {
        match self.lock_mode {
            LockModeArg::Auto => LockMode::Auto,
            LockModeArg::Export => LockMode::Export,
            LockModeArg::Clone => LockMode::Clone,
            LockModeArg::None => LockMode::Others,
        }
    }

    /// Of which moment tables are.
    pub fn consistency(&self) -> Consistency {
        match self.consistency {
            ConsistencyArg::All => Consistency::All,
            ConsistencyArg::Table => Consistency::Table,
        }
    }

    /// What is done about small tables.
    pub fn small(&self) -> SmallTablesBy {
        match self.small_tables {
            SmallTablesArg::Auto => SmallTablesBy::Auto,
            SmallTablesArg::Files => SmallTablesBy::Files,
            SmallTablesArg::Select => SmallTablesBy::Select,
        }
    }

    /// The times.
    pub fn options(&self) -> LockOptions {
        LockOptions {
            wait: Duration::from_secs(self.lock_wait_timeout),
            long_query: Duration::from_secs(self.long_query_guard),
            on_wait: |holders| note!("innoscan: waiting for the lock: {holders}"),
        }
    }
}
