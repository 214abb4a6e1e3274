//! The `innoscan` command.

#[macro_use]
mod messages;
mod args;
mod commands;
mod exit;
mod log;
mod progress;
mod remedies;
mod signals;
mod sizes;
mod stats;

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    if typed.len() <= 1 {
        return match commands::here() {
            Ok(exit) => exit.into(),
            Err(error) => messages::report(&error, messages::Verb::Other).into(),
        };
    }
    let verb = match args::parse(typed) {
        Ok(verb) => verb,
        Err(error) => {
            let exit =
                if error.use_stderr() { messages::Exit::Usage } else { messages::Exit::Done };
            // A closed terminal is nothing to report.
            let _ = error.print();
            return exit.into();
        }
    };
    let met_by = match verb {
        args::Verb::Dump(_) => messages::Verb::Dump,
        args::Verb::Get(_) | args::Verb::Scan(_) => messages::Verb::Rows,
        args::Verb::Check(_) => messages::Verb::Check,
        _ => messages::Verb::Other,
    };
    match signals::survive_file_size_limit().and_then(|()| commands::run(verb)) {
        Ok(exit) => exit.into(),
        Err(error) => messages::report(&error, met_by).into(),
    }
}
