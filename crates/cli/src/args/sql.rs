//! The arguments of `innoscan sql`.

use std::ffi::OsString;

use clap::Args;

/// Arguments of `sql`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct SqlArgs {
    /// The query, and options: see `innoscan sql --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}
