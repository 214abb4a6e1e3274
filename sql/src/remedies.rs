//! Remedies as options of this program. No text of the library names an option.

use innoscan::{Error, Reason, Remedy};

/// An error's text, with its remedies as options.
pub fn message(error: &Error) -> String {
    reason(&error.reason())
}

/// A reason's text, with its remedies as options.
pub fn reason(reason: &Reason) -> String {
    reason.worded(word)
}

fn word(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::NameDirectory | Remedy::NameInDirectory => "give db.table with --datadir DIR",
        Remedy::NameDirectories => "name the directory it is in with --innodb-directories",
        Remedy::NameBase => {
            "name the directory of its base instead, and the incremental backups on that, oldest first, up to this one: \
             --datadir BASE --incremental INC1 --incremental INC2"
        }
        Remedy::ReadAnyway => "--force reads on and may give old, missing or torn rows",
        Remedy::ReadUnended => "--force reads their changes too",
        Remedy::DecidePrepared => {
            "say what becomes of them: --prepared commit, or --prepared rollback"
        }
        // These have no option here.
        other => return other.to_string(),
    };
    words.to_owned()
}
