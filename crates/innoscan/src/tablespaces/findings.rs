//! What is wrong with tablespace files, or worth to be known of them.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use innoscan_format::{Lsn, SpaceId};
use serde_json::{Value, json};

/// One of some files that say they are the same tablespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Of the newest change to its first page.
    pub lsn: Lsn,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Several files say they are the same tablespace; the newest first page first. A server does
    /// not start with them.
    Duplicate {
        /// The tablespace.
        space: SpaceId,
        /// The files.
        files: Vec<Claimant>,
    },
    /// A tablespace that its server knows of, and no file says to be.
    Missing {
        /// The tablespace.
        space: SpaceId,
        /// Its name as the server knows it.
        name: String,
    },
    /// A file that says to be a tablespace its server does not know of.
    Stray {
        /// The tablespace.
        space: SpaceId,
        /// Where it is.
        path: PathBuf,
    },
    /// A file of no bytes.
    Empty(PathBuf),
    /// A file whose first page is all zeroes, as a running server leaves it until it writes the page.
    /// No fault of itself.
    Unwritten(PathBuf),
    /// A file that does not begin as a tablespace does.
    NoHeader {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file whose definitions (SDI) say that they are in another.
    Misnamed {
        /// Where it is.
        path: PathBuf,
        /// Whose the definitions are.
        name: String,
    },
    /// A file whose definitions (SDI) cannot be read.
    NoSdi {
        /// Where it is.
        path: PathBuf,
        /// Why.
        why: String,
        /// Something is wrong with them. Else they may be written right now, or are encrypted.
        is_fault: bool,
    },
    /// A file or directory that cannot be read.
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// The system's reason.
        why: String,
    },
    /// One that was there when its directory was listed, and later was not. No fault of itself.
    Gone(PathBuf),
    /// A symbolic link, which is followed. No fault of itself.
    Symlink {
        /// Where it is.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
}

impl Finding {
    /// Of a file or directory that cannot be read.
    pub fn of_error(path: PathBuf, error: &io::Error) -> Finding {
        match error.kind() {
            ErrorKind::NotFound if path.is_symlink() => {
                Finding::Unreadable { path, why: "the link leads nowhere".to_owned() }
            }
            ErrorKind::NotFound => Finding::Gone(path),
            _ => Finding::Unreadable { path, why: error.to_string() },
        }
    }

    /// Whether something is wrong.
    pub fn is_fault(&self) -> bool {
        match self {
            Finding::Gone(_) | Finding::Symlink { .. } | Finding::Unwritten(_) => false,
            Finding::NoSdi { is_fault, .. } => *is_fault,
            _ => true,
        }
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let name = |path: &Path| path.to_string_lossy().into_owned();
        match self {
            Finding::Duplicate { space, files } => {
                let file = |file: &Claimant| json!({ "path": name(&file.path), "bytes": file.bytes, "lsn": file.lsn.0 });
                let files: Vec<Value> = files.iter().map(file).collect();
                json!({ "finding": "duplicate", "space": space.0, "files": files })
            }
            Finding::Missing { space, name } => {
                json!({ "finding": "missing", "space": space.0, "name": name })
            }
            Finding::Stray { space, path } => {
                json!({ "finding": "stray", "space": space.0, "path": name(path) })
            }
            Finding::Empty(path) => json!({ "finding": "empty", "path": name(path) }),
            Finding::Unwritten(path) => json!({ "finding": "unwritten", "path": name(path) }),
            Finding::NoHeader { path, what } => {
                json!({ "finding": "no header", "path": name(path), "what": what })
            }
            Finding::Misnamed { path, name: of } => {
                json!({ "finding": "misnamed", "path": name(path), "definitions_of": of })
            }
            Finding::NoSdi { path, why, is_fault } => {
                json!({ "finding": "no sdi", "path": name(path), "why": why, "fault": is_fault })
            }
            Finding::Unreadable { path, why } => {
                json!({ "finding": "unreadable", "path": name(path), "why": why })
            }
            Finding::Gone(path) => json!({ "finding": "gone", "path": name(path) }),
            Finding::Symlink { path, target } => {
                json!({ "finding": "symlink", "path": name(path), "target": name(target) })
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Duplicate { space, files } => {
                write!(
                    f,
                    "tablespace {space} is claimed by {} files, the newest first:",
                    files.len()
                )?;
                for Claimant { path, bytes, lsn } in files {
                    write!(f, "\n  {} ({bytes} bytes, LSN {lsn})", path.display())?;
                }
                Ok(())
            }
            Finding::Missing { space, name } => {
                write!(f, "{name}: tablespace {space} has no file")
            }
            Finding::Stray { space, path } => {
                write!(f, "{}: the server has no tablespace {space}", path.display())
            }
            Finding::Empty(path) => write!(f, "{}: it has no bytes", path.display()),
            Finding::Unwritten(path) => {
                write!(
                    f,
                    "{}: the running server has not written its first page yet",
                    path.display()
                )
            }
            Finding::NoHeader { path, what } => write!(f, "{}: {what}", path.display()),
            Finding::Misnamed { path, name } => {
                write!(f, "{}: the definitions in it are those of {name}", path.display())
            }
            // The reason names the file.
            Finding::NoSdi { why, .. } => write!(f, "its name was not checked: {why}"),
            Finding::Unreadable { path, why } => write!(f, "{}: {why}", path.display()),
            Finding::Gone(path) => write!(f, "{}: it went away meanwhile", path.display()),
            Finding::Symlink { path, target } => {
                write!(f, "{}: a symbolic link to {}", path.display(), target.display())
            }
        }
    }
}
