//! Remedies as arguments of this module. No text of the library names an argument.

use innoscan::{Reason, Remedy};

/// A reason's text, with its remedies as arguments.
pub fn reason(reason: &Reason) -> String {
    reason.worded(word)
}

/// A remedy in words that name its argument, if it has one.
pub fn word(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::NameDirectory | Remedy::NameInDirectory => "give \"db.table\" and datadir=",
        Remedy::NameDirectories => "name the directory it is in with innodb_directories=",
        Remedy::NameBase => {
            "name the directory of its base instead, and the incremental backups on that, oldest first, up to this one: \
             datadir=BASE, incremental=[INC1, INC2]"
        }
        Remedy::ReadAnyway => "force=True reads on and may give old, missing or torn rows",
        Remedy::ReadUnended => "force=True reads their changes too",
        Remedy::DecidePrepared => {
            "say what becomes of them: prepared=\"commit\", or prepared=\"rollback\""
        }
        // These have no argument here.
        other => return other.to_string(),
    };
    words.to_owned()
}
