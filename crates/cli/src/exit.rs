//! The exit codes.

use std::process::ExitCode;

/// The exit codes, as the README lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// Wrong usage, or none of the given keys has a row.
    Usage = 1,
    /// Refused, or damage was found.
    Refused = 2,
    /// Done, but damaged pages were skipped, or faults were found.
    Skipped = 3,
    /// Memory or another resource was exhausted.
    Resources = 4,
    /// The output could not be written.
    Write = 5,
    /// Ended by SIGHUP.
    HungUp = 129,
    /// Interrupted by the user.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
