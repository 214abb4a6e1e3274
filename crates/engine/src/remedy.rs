//! Remedies of errors: values that a program translates into its own options.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use innoscan_format as format;

/// A remedy of an error. [`fmt::Display`] writes a plain sentence that names no option of any
/// program.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A remedy that errors of the format crate have too.
    Format(format::Remedy),
    /// Check whether the definition that was given is this table's.
    CheckDefinition {
        /// Whether the file has its own definition, which could be used instead.
        file_has_own: bool,
    },
    /// Name the file of the table's rows, with the `.frm` that defines it.
    NameFileWithDefinition {
        /// The `.ibd` file.
        file: PathBuf,
        /// The `.frm` file.
        definition: PathBuf,
    },
    /// See the table's definition.
    SeeDefinition,
    /// Name the data directory in which to look up the table's name.
    NameDirectory,
    /// Name the table as `db.table` of a data directory.
    NameInDirectory,
    /// Name the directories with files outside of the data directory.
    NameDirectories,
    /// Name the base of an incremental backup, and the incremental backups up to it.
    NameBase,
    /// Name the files of the system tablespace, as the server's option `innodb_data_file_path` does.
    NameSystemFiles,
    /// Dump the directory as a whole.
    DumpDirectory,
    /// Dump through the running server, which locks the tables.
    DumpLive,
    /// Start the server on the directory and shut it down cleanly.
    ShutDownServer,
    /// Read rows that must not be relied on: they may be old, missing or torn.
    ReadAnyway,
    /// Read the changes of transactions that never ended.
    ReadUnended,
    /// Say what becomes of prepared transactions.
    DecidePrepared,
    /// Choose rows by a condition, which reads all rows.
    UseCondition,
    /// Read all rows.
    ReadAllRows,
    /// Skip damaged pages and read the rows around them.
    SkipDamagedPages,
    /// List all damage of the file.
    CheckFile,
    /// Allow more memory for pages.
    RaiseMemory {
        /// The least number of bytes that is enough.
        bytes: u64,
    },
    /// Use fewer threads.
    LowerThreads,
    /// Use another directory for temporary files.
    SetTmpdir,
    /// Read a window of leaves at a time, which spills none.
    ReadInWindows,
    /// Read through the page cache.
    UsePageCache,
    /// Name the device that the files are on.
    NameDevice,
    /// Write into a directory that is empty or does not exist.
    EmptyDirectory,
    /// Replace files of the same names.
    Overwrite,
    /// Resume the interrupted dump in the directory.
    Resume,
    /// Resume the dump and dump again the tables that changed since it was started.
    RedoChanged,
    /// Start a new dump instead of resuming one.
    BeginAnew,
    /// Name the directory of a dump.
    NameDump,
    /// Write in the layout of this name.
    ChooseLayout(&'static str),
    /// Write rows in the format of this name.
    ChooseFormat(&'static str),
    /// Write rows in the layout's own format.
    KeepFormat,
    /// Leave the table out of the dump.
    LeaveOutTable,
    /// Leave routines out of the dump.
    LeaveOutRoutines,
    /// Select accounts and grants for the dump.
    SelectUsers,
    /// Verify the dump without comparing it with a source.
    OmitComparison,
    /// Name the server's socket or host.
    NameServer,
    /// Read no option files.
    SkipOptionFiles,
    /// Lock the tables for export until they are read.
    LockForExport,
    /// Lock the tables in another way.
    ChangeLockMode,
    /// Allow statements to run longer before the lock is tried.
    RaiseQueryGuard,
    /// Wait longer for the lock.
    RaiseLockWait,
    /// Another remedy, as a sentence that begins with what to do.
    Other(Cow<'static, str>),
}

impl Remedy {
    /// Whether the remedy is inferior to all others, and is named after them in parentheses.
    fn is_last_resort(&self) -> bool {
        matches!(self, Remedy::ReadAnyway | Remedy::ReadUnended)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::Format(remedy) => return remedy.fmt(f),
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
            Remedy::NameDirectories => "name the directory it is in",
            Remedy::NameBase => {
                "name the directory of its base, and the incremental backups up to this one"
            }
            Remedy::NameSystemFiles => "name all files of the system tablespace",
            Remedy::DumpDirectory => "dump all of it",
            Remedy::DumpLive => "dump it live",
            Remedy::ShutDownServer => {
                "start the server on this directory (or a copy) and shut it down cleanly"
            }
            Remedy::ReadAnyway => "reading it anyway may give old, missing or torn rows",
            Remedy::ReadUnended => "reading it anyway gives their changes too",
            Remedy::DecidePrepared => "say whether prepared transactions are committed",
            Remedy::UseCondition => "use a condition, which looks at all rows",
            Remedy::ReadAllRows => "read all rows instead",
            Remedy::SkipDamagedPages => "skip damaged pages to read the rows around them",
            Remedy::CheckFile => "a check of the file lists all its damage",
            Remedy::RaiseMemory { bytes } => {
                return write!(f, "allow {bytes} bytes of memory at least");
            }
            Remedy::LowerThreads => "use fewer threads",
            Remedy::SetTmpdir => "choose another directory for temporary files",
            Remedy::ReadInWindows => "use logical read-ahead, which spills nothing",
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
        Remedy::Format(remedy)
    }
}

/// The remedies of an error, each of which is enough; the best comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies(Vec<Remedy>);

impl Remedies {
    /// The remedies, the best first.
    pub fn as_slice(&self) -> &[Remedy] {
        &self.0
    }

    /// The sentence `A, B, or C (D)` of the remedies, each in the words of `word`; a last resort is in
    /// parentheses.
    pub fn worded(&self, word: impl Fn(&Remedy) -> String) -> String {
        let worded = |is_last_resort: bool| -> Vec<String> {
            let of_kind = |remedy: &&Remedy| remedy.is_last_resort() == is_last_resort;
            self.0.iter().filter(of_kind).map(&word).collect()
        };
        let first = match &worded(false)[..] {
            [others @ .., last] if !others.is_empty() => {
                format!("{}, or {last}", others.join(", "))
            }
            remedies => remedies.concat(),
        };
        match (first, worded(true).join("; ")) {
            (first, last_resorts) if last_resorts.is_empty() => first,
            (first, last_resorts) if first.is_empty() => last_resorts,
            (first, last_resorts) => format!("{first} ({last_resorts})"),
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

/// A reason why something is not done, and the remedies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// What happened, and where.
    pub what: String,
    /// The remedies; none where nothing can be done, or `what` contains one.
    pub remedies: Remedies,
}

impl Reason {
    /// A reason and its remedies.
    pub fn new(what: impl Into<String>, remedies: impl Into<Remedies>) -> Reason {
        Reason { what: what.into(), remedies: remedies.into() }
    }

    /// The reason as text, each remedy in the words of `word`.
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
    fn remedies_are_joined_and_the_last_resort_comes_last() {
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
