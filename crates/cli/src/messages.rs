//! Messages on stdout and stderr, and exit codes.

use std::fmt;
use std::io::Write as _;

use innoscan_engine::{ErrorKind, Notes, Remedy, Table};
use innoscan_format::schema::TableDef;
use serde_json::json;

pub use crate::exit::Exit;
use crate::{log, remedies};

/// The kind of command that reports an error, which decides on the remedies that the message names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Writes a backup, which must not be cut short.
    Dump,
    /// Reads rows, and may skip damage.
    Rows,
    /// Lists the damage itself.
    Check,
    /// All other commands.
    Other,
}

/// Prints a line on stdout; see [`print_line`].
macro_rules! out {
    ($($text:tt)*) => { $crate::messages::print_line(format_args!($($text)*)) };
}

/// Prints a line on stderr; see [`note_line`].
macro_rules! note {
    ($($text:tt)*) => { $crate::messages::note_line(format_args!($($text)*)) };
}

/// Prints a line on stdout. If that fails, the program ends as when rows cannot be written.
pub fn print_line(text: fmt::Arguments<'_>) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{text}") {
        let error = innoscan_engine::Error::write("writing the output", error);
        std::process::exit(report(&error.into(), Verb::Other) as i32);
    }
}

/// Prints a line on stderr, if anything reads it.
pub fn note_line(text: fmt::Arguments<'_>) {
    log::line(&text.to_string());
}

/// The exit code of an error. The reader of the output may close it early (`| head`), except that of a
/// dump.
pub fn exit_of(error: &anyhow::Error, verb: Verb) -> Exit {
    let Some(error) = error.downcast_ref::<innoscan_engine::Error>() else { return Exit::Usage };
    match error.kind() {
        ErrorKind::BrokenPipe if verb != Verb::Dump => Exit::Done,
        ErrorKind::BrokenPipe | ErrorKind::Write => Exit::Write,
        ErrorKind::Interrupted => crate::signals::exit(),
        ErrorKind::Resources => Exit::Resources,
        _ => Exit::Refused,
    }
}

/// Prints an error of a command; returns its exit code.
pub fn report(error: &anyhow::Error, verb: Verb) -> Exit {
    let exit = exit_of(error, verb);
    match error.downcast_ref::<innoscan_engine::Error>() {
        _ if exit == Exit::Done => {}
        Some(error) if error.kind() == ErrorKind::BrokenPipe => {
            failed(&format!("{error}: the dump is not complete"), exit);
        }
        Some(error) => failed(&message(error, verb), exit),
        None => failed(&format!("{error:#}"), exit),
    }
    if let Some(advice) = error.downcast_ref::<Advice>() {
        note!("innoscan: {advice}");
    }
    exit
}

/// Logs the error that ends a command.
fn failed(message: &str, exit: Exit) {
    if !log::event("error", json!({ "message": message, "exit_code": exit as i32 })) {
        note!("innoscan: {message}");
    }
}

/// The advice on an error without remedies, printed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice(pub String);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error's text, with its remedies. Those for damage depend on the command.
pub fn message(error: &innoscan_engine::Error, verb: Verb) -> String {
    let message = remedies::message(error);
    let remedies = match (error.kind(), verb) {
        (ErrorKind::Corrupt, Verb::Dump | Verb::Rows) => {
            &[Remedy::CheckFile, Remedy::SkipDamagedPages][..]
        }
        (ErrorKind::Corrupt, Verb::Other) => &[Remedy::CheckFile],
        _ => return message,
    };
    let words: Vec<String> = remedies.iter().map(remedies::word).collect();
    format!("{message}; {}", words.join(", "))
}

/// Prints the warnings about a table's rows.
pub fn row_notes(table: &Table) {
    print_notes(&table.def, &table.notes.rows);
}

/// Prints the warnings about a definition.
pub fn definition_notes(def: &TableDef, notes: &Notes) {
    print_notes(def, &notes.definition);
}

fn print_notes(def: &TableDef, notes: &[String]) {
    for note in notes {
        note!("innoscan: {}: note: {note}", def.qualified_name());
    }
}
