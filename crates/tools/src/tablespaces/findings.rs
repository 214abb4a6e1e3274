//! Findings about tablespace files: faults and facts worth knowing.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use innoscan_format::{Lsn, SpaceId};
use serde_json::{Value, json};

/// One of several files that claim to be the same tablespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// The path of the file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The LSN of the newest change to the first page.
    pub lsn: Lsn,
}

/// A finding about a tablespace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Several files claim to be the same tablespace; the newest first page comes first. A server does
    /// not start with them.
    Duplicate {
        /// The tablespace.
        space: SpaceId,
        /// The files.
        files: Vec<Claimant>,
    },
    /// A tablespace in the server's list that has no file.
    Missing {
        /// The tablespace.
        space: SpaceId,
        /// The name of the tablespace in the server's list.
        name: String,
    },
    /// A file of a tablespace that is not in the server's list.
    Stray {
        /// The tablespace.
        space: SpaceId,
        /// The path of the file.
        path: PathBuf,
    },
    /// An empty file.
    Empty(PathBuf),
    /// A file whose first page is all zeroes, as a running server leaves it until it writes the page.
    /// Not a fault.
    Unwritten(PathBuf),
    /// A file that does not begin like a tablespace.
    NoHeader {
        /// The path of the file.
        path: PathBuf,
        /// The error.
        what: String,
    },
    /// A file whose definitions (SDI) name another file.
    Misnamed {
        /// The path of the file.
        path: PathBuf,
        /// The name in the definitions.
        name: String,
    },
    /// A file whose definitions (SDI) cannot be read.
    NoSdi {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        why: String,
        /// Whether this is a fault. Otherwise the definitions may be being written, or are encrypted.
        is_fault: bool,
    },
    /// A file or directory that cannot be read.
    Unreadable {
        /// The path of the file or directory.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
    /// A file that was listed and then vanished. Not a fault.
    Gone(PathBuf),
    /// A symbolic link, which is followed. Not a fault.
    Symlink {
        /// The path of the link.
        path: PathBuf,
        /// The target of the link.
        target: PathBuf,
    },
}

impl Finding {
    /// The finding for a file or directory that cannot be read.
    pub fn of_error(path: PathBuf, error: &io::Error) -> Finding {
        match error.kind() {
            ErrorKind::NotFound if path.is_symlink() => {
                Finding::Unreadable { path, why: "the link leads nowhere".to_owned() }
            }
            ErrorKind::NotFound => Finding::Gone(path),
            _ => Finding::Unreadable { path, why: error.to_string() },
        }
    }

    /// The path of a file that does not begin like a tablespace, if that is the finding.
    pub(super) fn without_header(&self) -> Option<&Path> {
        match self {
            Finding::Unwritten(path) | Finding::NoHeader { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Whether the finding is a fault.
    pub fn is_fault(&self) -> bool {
        match self {
            Finding::Gone(_) | Finding::Symlink { .. } | Finding::Unwritten(_) => false,
            Finding::NoSdi { is_fault, .. } => *is_fault,
            _ => true,
        }
    }

    /// The finding as JSON.
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
