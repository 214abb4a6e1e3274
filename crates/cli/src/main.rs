//! The `innoscan` command.

#[macro_use]
mod messages;
mod args;
mod commands;
mod progress;
mod sizes;
mod stats;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let exit =
                if error.use_stderr() { messages::Exit::Usage } else { messages::Exit::Done };
            // A closed terminal is nothing to report.
            let _ = error.print();
            return exit.into();
        }
    };
    let is_check = matches!(cli.verb, args::Verb::Check(_));
    match commands::run(cli.verb) {
        Ok(exit) => exit.into(),
        Err(error) => messages::report(&error, is_check).into(),
    }
}
