//! What is said on stdout and stderr, and the exit code that goes with it.

use std::fmt;
use std::io::Write as _;

use innoscan::{ErrorKind, Notes, Remedy, Table, TableDef};

use crate::remedies;

pub use crate::exit::Exit;

/// The verb that met an error, as far as what is said depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Its output is somebody's backup: cut short it is no backup.
    Dump,
    /// Reads rows, and may skip damage.
    Rows,
    /// Lists the damage itself.
    Check,
    /// Any other.
    Other,
}

/// A line on stdout, of a reader that may go away.
macro_rules! out {
    ($($text:tt)*) => { $crate::messages::print_line(format_args!($($text)*)) };
}

/// A line on stderr; nobody may be there to read it.
macro_rules! note {
    ($($text:tt)*) => { $crate::messages::note_line(format_args!($($text)*)) };
}

/// What `out!` does: when it cannot, the program ends as it does when rows cannot be written.
pub fn print_line(text: fmt::Arguments<'_>) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{text}") {
        let error = innoscan::Error::write("writing the output", error);
        std::process::exit(report(&error.into(), Verb::Other) as i32);
    }
}

/// What `note!` does.
pub fn note_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The exit code an error leads to. Output to be looked at may be cut off by who looks at it
/// (`| head`); a dump may not.
pub fn exit_of(error: &anyhow::Error, verb: Verb) -> Exit {
    let Some(error) = error.downcast_ref::<innoscan::Error>() else { return Exit::Usage };
    match error.kind() {
        ErrorKind::BrokenPipe if verb != Verb::Dump => Exit::Done,
        ErrorKind::BrokenPipe | ErrorKind::Write => Exit::Write,
        ErrorKind::Interrupted => crate::signals::exit(),
        ErrorKind::Resources => Exit::Resources,
        _ => Exit::Refused,
    }
}

/// Prints an error that a verb met, and gives its exit code.
pub fn report(error: &anyhow::Error, verb: Verb) -> Exit {
    let exit = exit_of(error, verb);
    match error.downcast_ref::<innoscan::Error>() {
        _ if exit == Exit::Done => {}
        Some(error) if error.kind() == ErrorKind::BrokenPipe => {
            note!("innoscan: {error}: the dump is not complete");
        }
        Some(error) => note!("innoscan: {}", message(error, verb)),
        None => note!("innoscan: {error:#}"),
    }
    if let Some(advice) = error.downcast_ref::<Advice>() {
        note!("innoscan: {advice}");
    }
    exit
}

/// What to do about an error, where the error does not say it: printed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice(pub String);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error's text. What to do about damage depends on who met it; other errors say it themselves.
pub fn message(error: &innoscan::Error, verb: Verb) -> String {
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

/// Prints what the user should know of a table's rows.
pub fn row_notes(table: &Table) {
    print_notes(&table.def, &table.notes.rows);
}

/// Prints what the user should know of a definition.
pub fn definition_notes(def: &TableDef, notes: &Notes) {
    print_notes(def, &notes.definition);
}

fn print_notes(def: &TableDef, notes: &[String]) {
    for note in notes {
        note!("innoscan: {}: note: {note}", def.qualified_name());
    }
}
