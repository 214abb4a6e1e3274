//! `innoscan sql`: a program of its own, since it has more code than all the rest.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::args::SqlArgs;
use crate::messages::Exit;

/// The name of the program.
const PROGRAM: &str = "innoscan-sql";

/// Becomes the program, beside this one or in `PATH`.
pub fn run(args: &SqlArgs) -> anyhow::Result<Exit> {
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.with_file_name(PROGRAM);
    let program = if beside.is_file() { beside } else { PathBuf::from(PROGRAM) };
    let error = Command::new(&program).args(&args.arguments).exec();
    if error.kind() == ErrorKind::NotFound {
        bail!(
            "there is no {PROGRAM} beside {} or in PATH: SQL is a program of its own; `make sql` in the source \
             directory builds it",
            own.display()
        );
    }
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
