//! What can be done about an error: values, which a program puts into the words of its own options.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use innoscan_format as format;

/// One way out of an error. [`fmt::Display`] gives a plain sentence that names no option of any
/// program.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// To give the table's `CREATE TABLE`.
    PassDefinition,
    /// To see whether the definition that was given is of this table.
    CheckDefinition {
        /// Whether the file has a definition of its own, which could be used in its place.
        file_has_own: bool,
    },
    /// To name the file of the table's rows, with the `.frm` that defines it.
    NameFileWithDefinition {
        /// The `.ibd` file.
        file: PathBuf,
        /// The `.frm` file.
        definition: PathBuf,
    },
    /// To look at the table's definition.
    SeeDefinition,
    /// To name the data directory that a table's name is of.
    NameDirectory,
    /// To name the table as `db.table` of a data directory.
    NameInDirectory,
    /// To dump the directory as a whole.
    DumpDirectory,
    /// To dump through the running server, which locks the tables.
    DumpLive,
    /// To dump it from its server.
    DumpFromServer,
    /// To have the server rewrite the table by such a statement, or to dump it there.
    ConvertOnServer(Cow<'static, str>),
    /// To start the server on the directory and shut it down cleanly.
    ShutDownServer,
    /// To shut the server down cleanly, and to read its files without its redo log being looked at.
    ReadAfterShutdown,
    /// To read what must not be relied on: rows may be old, missing or torn.
    ReadAnyway,
    /// To read changes of transactions that were left without an end.
    ReadUnended,
    /// To choose rows by a condition, which looks at all rows.
    UseCondition,
    /// To read all rows.
    ReadAllRows,
    /// To pass over damaged pages and read the rows around them.
    SkipDamagedPages,
    /// To list all damage of the file.
    CheckFile,
    /// To allow more memory for pages.
    RaiseMemory {
        /// The least that suffices.
        bytes: u64,
    },
    /// To use fewer threads.
    LowerThreads,
    /// To have temporary files in another directory.
    SetTmpdir,
    /// To let reads go through the page cache.
    UsePageCache,
    /// To say what device the files are on.
    NameDevice,
    /// To write into a directory that is empty or does not exist.
    EmptyDirectory,
    /// To replace files of the same names.
    Overwrite,
    /// To resume the dump that was begun in the directory.
    Resume,
    /// To dump tables anew that changed since the dump was begun, when it is resumed.
    RedoChanged,
    /// To begin a dump instead of resuming one.
    BeginAnew,
    /// To name the directory of a dump.
    NameDump,
    /// To write in the layout of this name.
    ChooseLayout(&'static str),
    /// To write rows in the format of this name.
    ChooseFormat(&'static str),
    /// To write rows in the format that belongs to the layout.
    KeepFormat,
    /// To leave the table out of the dump.
    LeaveOutTable,
    /// To leave routines out of the dump.
    LeaveOutRoutines,
    /// To have accounts and grants dumped.
    SelectUsers,
    /// To verify the dump without comparing it with a source.
    OmitComparison,
    /// To name the server's socket or host.
    NameServer,
    /// To read no option files.
    SkipOptionFiles,
    /// To lock the tables for export until they are read.
    LockForExport,
    /// To lock the tables in another way.
    ChangeLockMode,
    /// To let statements run for longer before the lock is tried.
    RaiseQueryGuard,
    /// To wait longer for the lock.
    RaiseLockWait,
    /// Another, as a sentence that begins with what to do.
    Other(Cow<'static, str>),
}

impl Remedy {
    /// Whether it is no equal of the other ways out, and is named after them in parentheses.
    fn is_last_resort(&self) -> bool {
        matches!(self, Remedy::ReadAnyway | Remedy::ReadUnended)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::PassDefinition => "pass the table's CREATE TABLE",
            Remedy::CheckDefinition { file_has_own: false } => {
                "is the CREATE TABLE that was given that of this table?"
            }
            Remedy::CheckDefinition { file_has_own: true } => {
                "is the CREATE TABLE that was given that of this table? The file has a definition \
                 of its own, which is read when none is given"
            }
            Remedy::NameFileWithDefinition { file, definition } => {
                let (file, definition) = (file.display(), definition.display());
                return write!(f, "name that file, {file}, and as its definition {definition}");
            }
            Remedy::SeeDefinition => "see the table's definition",
            Remedy::NameDirectory => "name the data directory",
            Remedy::NameInDirectory => "name db.table and the data directory it is in",
            Remedy::DumpDirectory => "dump all of it",
            Remedy::DumpLive => "dump it live",
            Remedy::DumpFromServer => "dump it from its server",
            Remedy::ConvertOnServer(sql) => {
                return write!(f, "on the server, {sql}, or dump it there");
            }
            Remedy::ShutDownServer => {
                "start the server on this directory (or a copy) and shut it down cleanly"
            }
            Remedy::ReadAfterShutdown => "shut the server down cleanly, and read its files anyway",
            Remedy::ReadAnyway => "reading it anyway may give old, missing or torn rows",
            Remedy::ReadUnended => "reading it anyway gives their changes too",
            Remedy::UseCondition => "use a condition, which looks at all rows",
            Remedy::ReadAllRows => "read all rows instead",
            Remedy::SkipDamagedPages => "skip damaged pages to read the rows around them",
            Remedy::CheckFile => "a check of the file lists all its damage",
            Remedy::RaiseMemory { bytes } => {
                return write!(f, "allow {bytes} bytes of memory at least");
            }
            Remedy::LowerThreads => "use fewer threads",
            Remedy::SetTmpdir => "choose another directory for temporary files",
            Remedy::UsePageCache => "let reads go through the page cache",
            Remedy::NameDevice => "say what device it is",
            Remedy::EmptyDirectory => "give a directory that is empty or does not exist",
            Remedy::Overwrite => "allow files of the same names to be replaced",
            Remedy::Resume => "resume the dump with the same options",
            Remedy::RedoChanged => "dump such tables again",
            Remedy::BeginAnew => "begin a dump instead of resuming one",
            Remedy::NameDump => "give the directory of a dump",
            Remedy::ChooseLayout(name) => return write!(f, "choose the layout {name}"),
            Remedy::ChooseFormat(name) => return write!(f, "choose the format {name}"),
            Remedy::KeepFormat => "leave the format to the layout",
            Remedy::LeaveOutTable => "leave the table out",
            Remedy::LeaveOutRoutines => "leave routines out",
            Remedy::SelectUsers => {
                "accounts and grants of a running server are dumped on request; for the rest use \
                 mysqldump"
            }
            Remedy::OmitComparison => "leave out the comparison",
            Remedy::NameServer => "name the server's socket or its host",
            Remedy::SkipOptionFiles => "read no option files",
            Remedy::LockForExport => "lock the tables for export",
            Remedy::ChangeLockMode => "lock the tables in another way",
            Remedy::RaiseQueryGuard => "let statements run for longer",
            Remedy::RaiseLockWait => "wait longer for the lock",
            Remedy::Other(sentence) => sentence,
        })
    }
}

impl From<&'static str> for Remedy {
    fn from(sentence: &'static str) -> Remedy {
        Remedy::Other(sentence.into())
    }
}

impl From<String> for Remedy {
    fn from(sentence: String) -> Remedy {
        Remedy::Other(sentence.into())
    }
}

impl From<format::Remedy> for Remedy {
    fn from(remedy: format::Remedy) -> Remedy {
        match remedy {
            format::Remedy::ConvertOnServer(sql) => Remedy::ConvertOnServer(sql),
            format::Remedy::DumpFromServer => Remedy::DumpFromServer,
            format::Remedy::PassDefinition => Remedy::PassDefinition,
            format::Remedy::ReadAfterShutdown => Remedy::ReadAfterShutdown,
            format::Remedy::Other(sentence) => Remedy::Other(sentence),
            other => Remedy::Other(other.to_string().into()),
        }
    }
}

/// The ways out of an error, of which each is enough; the best comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies(Vec<Remedy>);

impl Remedies {
    /// The ways out, the best first.
    pub fn as_slice(&self) -> &[Remedy] {
        &self.0
    }

    /// The sentence `A, B, or C (D)` of the ways out, each in the words of `word`; a last resort is in
    /// parentheses.
    pub fn worded(&self, word: impl Fn(&Remedy) -> String) -> String {
        let worded = |is_last_resort: bool| -> Vec<String> {
            let of_kind = |remedy: &&Remedy| remedy.is_last_resort() == is_last_resort;
            self.0.iter().filter(of_kind).map(&word).collect()
        };
        let ways = match &worded(false)[..] {
            [first @ .., last] if !first.is_empty() => format!("{}, or {last}", first.join(", ")),
            ways => ways.concat(),
        };
        match (ways, worded(true).join("; ")) {
            (ways, last_resorts) if last_resorts.is_empty() => ways,
            (ways, last_resorts) if ways.is_empty() => last_resorts,
            (ways, last_resorts) => format!("{ways} ({last_resorts})"),
        }
    }

    pub(crate) fn push(&mut self, remedy: Remedy) {
        self.0.push(remedy);
    }
}

impl fmt::Display for Remedies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(Remedy::to_string))
    }
}

impl<R: Into<Remedy>> From<R> for Remedies {
    fn from(remedy: R) -> Remedies {
        Remedies(vec![remedy.into()])
    }
}

impl<const N: usize> From<[Remedy; N]> for Remedies {
    fn from(remedies: [Remedy; N]) -> Remedies {
        Remedies(remedies.into())
    }
}

/// Why something is not done, and the ways out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// What happened, and where.
    pub what: String,
    /// The ways out; none where nothing can be done, or `what` says it.
    pub remedies: Remedies,
}

impl Reason {
    /// What happened, and the ways out.
    pub fn new(what: impl Into<String>, remedies: impl Into<Remedies>) -> Reason {
        Reason { what: what.into(), remedies: remedies.into() }
    }

    /// The reason as a text, each way out in the words of `word`.
    pub fn worded(&self, word: impl Fn(&Remedy) -> String) -> String {
        match &*self.remedies.worded(word) {
            "" => self.what.clone(),
            remedies => format!("{}; {remedies}", self.what),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(Remedy::to_string))
    }
}

impl From<&str> for Reason {
    fn from(what: &str) -> Reason {
        Reason { what: what.to_owned(), remedies: Remedies::default() }
    }
}

impl From<String> for Reason {
    fn from(what: String) -> Reason {
        Reason { what, remedies: Remedies::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_out_are_joined_and_the_last_resort_comes_last() {
        let other = |sentence: &'static str| Remedy::from(sentence);
        for (remedies, text) in [
            (Remedies::default(), ""),
            (other("a").into(), "a"),
            ([other("a"), other("b")].into(), "a, or b"),
            ([other("a"), other("b"), other("c")].into(), "a, b, or c"),
            (
                [Remedy::ReadUnended, other("a")].into(),
                "a (reading it anyway gives their changes too)",
            ),
            (Remedy::ReadUnended.into(), "reading it anyway gives their changes too"),
        ] {
            assert_eq!(remedies.to_string(), text);
            let reason = Reason { what: "why".to_owned(), remedies };
            let expected = if text.is_empty() { "why".to_owned() } else { format!("why; {text}") };
            assert_eq!(reason.to_string(), expected);
        }
    }
}
