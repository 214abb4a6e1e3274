//! Remedies as options of the command line. No text of the library names an option.

use innoscan_catalog::Exclusion;
use innoscan_catalog::ledger::FilterRule;
use innoscan_engine::{Error, Reason, Remedy};
use innoscan_format::Remedy as FormatRemedy;

/// An error's text, with its remedies as options.
pub fn message(error: &Error) -> String {
    reason(&error.reason())
}

/// A reason's text, with its remedies as options.
pub fn reason(reason: &Reason) -> String {
    reason.worded(word)
}

/// A remedy in words that name its option, if it has one.
pub fn word(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::Format(remedy) => return format_word(remedy),
        Remedy::CheckDefinition { file_has_own: false } => {
            "is the CREATE TABLE of --schema that of this table?"
        }
        Remedy::CheckDefinition { file_has_own: true } => {
            "is the CREATE TABLE of --schema that of this table? The file has a definition of its \
             own, which is read without --schema"
        }
        Remedy::NameFileWithDefinition { file, definition } => {
            let (file, definition) = (file.display(), definition.display());
            return format!("name that file: {file} --schema {definition}");
        }
        Remedy::SeeDefinition => "see `innoscan schema` for its columns",
        Remedy::NameDirectory => "add --datadir DIR",
        Remedy::NameInDirectory => "give db.table with --datadir DIR",
        Remedy::NameBase => {
            "name the directory of its base instead, and the incremental backups on that, oldest first, up to this one: \
             BASE --incremental INC1 --incremental INC2"
        }
        Remedy::NameDirectories => "name the directory it is in with --innodb-directories",
        Remedy::NameSystemFiles => {
            "name the files of the system tablespace as the server does: --innodb-data-file-path 'ibdata1:12M;...', and \
             --innodb-data-home-dir DIR if they are not in the data directory"
        }
        Remedy::DumpDirectory => "dump all of it with `innoscan dump`",
        Remedy::DumpLive => "dump it live (innoscan dump -S SOCKET)",
        Remedy::ReadAnyway => "--force reads on and may give old, missing or torn rows",
        Remedy::ReadUnended => "--force reads their changes too",
        Remedy::DecidePrepared => {
            "say what becomes of them: --prepared commit, or --prepared rollback"
        }
        Remedy::UseCondition => "use --where, which looks at all rows",
        Remedy::ReadAllRows => "read all rows instead: innoscan dump",
        Remedy::SkipDamagedPages => "--on-corrupt skip reads the rows around it",
        Remedy::CheckFile => "innoscan check lists all damage of the file",
        Remedy::RaiseMemory { bytes } => return format!("raise --memory to {bytes}"),
        Remedy::LowerThreads => "lower --threads",
        Remedy::ReadInWindows => "use --read-ahead logical, which spills nothing",
        Remedy::SetTmpdir => "name another directory for temporary files with --tmpdir",
        Remedy::UsePageCache => "use --direct optional or --direct off",
        Remedy::NameDevice => "name one: --device hdd, gp3, ssd, nvme or iops=..,bw=..",
        Remedy::Overwrite => "use --overwrite to replace files of the same names",
        Remedy::Resume => "run the same dump command with --resume",
        Remedy::RedoChanged => "use --resume=redo to dump such tables again",
        Remedy::BeginAnew => "leave out --resume",
        Remedy::NameDump => "give the directory of a dump (dump -o DIR)",
        Remedy::ChooseLayout(name) => return format!("use --layout {name}"),
        Remedy::ChooseFormat(name) => return format!("use --format {name}"),
        Remedy::KeepFormat => "leave out --format",
        Remedy::LeaveOutTable => "leave it out (--ignore-table)",
        Remedy::LeaveOutRoutines => "leave routines out by --no-routines",
        Remedy::SelectUsers => {
            "accounts and grants of a running server are dumped with --users; for the rest use \
             mysqldump"
        }
        Remedy::OmitComparison => "leave out --against",
        Remedy::NameServer => "name it: --socket PATH, or --host 127.0.0.1",
        Remedy::SkipOptionFiles => "use --no-defaults",
        Remedy::LockForExport => "use --lock-mode export",
        Remedy::ChangeLockMode => "use another --lock-mode",
        Remedy::RaiseQueryGuard => "give --long-query-guard more",
        Remedy::RaiseLockWait => "give --lock-wait-timeout more",
        // These need no option.
        other => return other.to_string(),
    };
    words.to_owned()
}

fn format_word(remedy: &FormatRemedy) -> String {
    let words = match remedy {
        FormatRemedy::PassDefinition => "pass --schema FILE with its CREATE TABLE",
        FormatRemedy::SumStoredColumns => {
            "--checksum=stored calculates the checksum of the stored columns"
        }
        FormatRemedy::GiveKeyring => {
            "give the server's keyring with --keyring FILE, or its option file with --defaults-file FILE"
        }
        FormatRemedy::GiveKeyFile => {
            "give the server's key file with --file-key-management-filename FILE, or its option file \
             with --defaults-file FILE"
        }
        other => return other.to_string(),
    };
    words.to_owned()
}

/// The option by which a filter leaves an object out.
pub fn filter_rule(rule: FilterRule) -> String {
    let words = match rule {
        FilterRule::Selection(Exclusion::Databases) => "--databases",
        FilterRule::Selection(Exclusion::Tables) => "--tables-list",
        FilterRule::Selection(Exclusion::Ignored) => "--ignore-table",
        FilterRule::Selection(Exclusion::Regex) => "--regex",
        FilterRule::NoViews => "--no-views",
        FilterRule::NoTriggers => "--no-triggers",
        FilterRule::NoRoutines => "--no-routines",
        FilterRule::NoEvents => "--no-events",
        FilterRule::NoUsers => "dumped only with --users",
        FilterRule::NoSchemas => "--no-schemas",
        FilterRule::Format => "this --format holds rows alone",
        rule @ FilterRule::System => return rule.to_string(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_options_that_the_library_does_not() {
        let remedies = [Remedy::DumpLive, "shut it down".into(), Remedy::ReadAnyway];
        let error = Error::refused_directory("a server is running", remedies);
        assert_eq!(
            error.to_string(),
            "a server is running; dump it live, or shut it down (reading it anyway may give old, \
             missing or torn rows)"
        );
        assert_eq!(
            message(&error),
            "a server is running; dump it live (innoscan dump -S SOCKET), or shut it down (--force \
             reads on and may give old, missing or torn rows)"
        );
        assert_eq!(filter_rule(FilterRule::Selection(Exclusion::Ignored)), "--ignore-table");
        assert_eq!(
            filter_rule(FilterRule::System),
            "the server's own, which its installation creates"
        );
        let error = Error::resources("too little").with_remedy(Remedy::RaiseMemory { bytes: 4096 });
        assert_eq!(message(&error), "too little; raise --memory to 4096");
        assert_eq!(message(&Error::interrupted()), "interrupted");
    }
}
