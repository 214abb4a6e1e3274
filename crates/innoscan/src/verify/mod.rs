//! Verification of a dump's directory: every file listed in `innoscan.json` exists and is unchanged,
//! no other file exists, and no object of the source is missing. [`against`] compares
//! the dump's rows with a source's.

pub mod against;
mod manifest;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

pub use self::manifest::{Manifest, ManifestEntry, ManifestState, ManifestTable};
use crate::dump::{MANIFEST_NAME, is_interrupted};
use crate::{Error, Reason, Remedies, Remedy, Result, counted};

/// The kind of a fault in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A file is missing.
    Missing,
    /// A file's size differs from the size that was written.
    Size,
    /// A file's checksum differs from the checksum that was written.
    Checksum,
    /// A compressed file cannot be decompressed, or not to the original size.
    Compression,
    /// A file cannot be read.
    Unreadable,
    /// A file exists that the dump does not list.
    Unlisted,
    /// The dump was not finished.
    InterruptedDump,
    /// An object of the source was not dumped, or not completely.
    Incomplete,
}

impl FaultKind {
    /// The name of the kind in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Missing => "missing",
            FaultKind::Size => "size",
            FaultKind::Checksum => "checksum",
            FaultKind::Compression => "compression",
            FaultKind::Unreadable => "unreadable",
            FaultKind::Unlisted => "unlisted",
            FaultKind::InterruptedDump => "unfinished",
            FaultKind::Incomplete => "incomplete",
        }
    }

    /// The remedies of the fault.
    pub fn remedies(self) -> Remedies {
        match self {
            FaultKind::Missing | FaultKind::Size | FaultKind::Checksum | FaultKind::Compression => {
                ["copy it again from where the dump was made".into(), "dump again".into()].into()
            }
            FaultKind::Unreadable => "make it readable, and verify again".into(),
            FaultKind::Unlisted => {
                "move it away if it is not of the dump: a loader may load it".into()
            }
            FaultKind::InterruptedDump => {
                [Remedy::Resume, "dump again into an empty directory".into()].into()
            }
            FaultKind::Incomplete => {
                ["dump it by other means".into(), "remove the cause and dump again".into()].into()
            }
        }
    }
}

/// A fault in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The file, or the object of the source.
    pub subject: String,
    /// The description of the fault.
    pub what: String,
}

impl Fault {
    fn new(kind: FaultKind, subject: &str, what: impl Into<String>) -> Fault {
        Fault { kind, subject: subject.to_owned(), what: what.into() }
    }

    /// The subject and description, with the remedies.
    pub fn reason(&self) -> Reason {
        Reason::new(format!("{}: {}", self.subject, self.what), self.kind.remedies())
    }

    /// The fault as a JSON object with `fault`, `subject`, `what`.
    pub fn to_json(&self) -> Value {
        json!({ "fault": self.kind.name(), "subject": self.subject, "what": self.what })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The faults, those of files first.
    pub faults: Vec<Fault>,
    /// The number of files read.
    pub files: u64,
    /// The number of bytes read.
    pub bytes: u64,
}

/// Verifies a dump. `decompress`: whether compressed files are also decompressed, and their sizes
/// compared. `on_progress` receives the number of files read and of all files; it returns whether to
/// continue.
///
/// # Errors
/// The directory cannot be listed, or `on_progress` stopped the verification.
pub fn verify(
    directory: &Path,
    manifest: &Manifest,
    decompress: bool,
    mut on_progress: impl FnMut(usize, usize) -> bool,
) -> Result<Report> {
    let mut report = Report::default();
    let all = manifest.all_files().count();
    for (done, file) in manifest.all_files().enumerate() {
        if !on_progress(done, all) {
            return Err(Error::interrupted());
        }
        match read::file(directory, file, decompress) {
            Ok(bytes) => {
                report.files += 1;
                report.bytes += bytes;
            }
            Err(fault) => report.faults.push(fault),
        }
    }
    report.faults.extend(others(directory, manifest)?);
    report.faults.extend(incomplete(manifest));
    Ok(report)
}

/// Files in the directory that the dump does not list.
fn others(directory: &Path, manifest: &Manifest) -> Result<Vec<Fault>> {
    let known: BTreeSet<&str> = manifest.all_files().map(|file| &*file.name).collect();
    let mut faults = Vec::new();
    let is_unfinished = is_interrupted(directory);
    if is_unfinished {
        let what = "a dump into this directory was interrupted";
        faults.push(Fault::new(FaultKind::InterruptedDump, "innoscan.journal", what));
    }
    let mut names = Vec::new();
    let listing = |error| Error::read("listing it", error).in_file(directory);
    for entry in std::fs::read_dir(directory).map_err(listing)? {
        names.push(entry.map_err(listing)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names {
        if known.contains(&*name) || matches!(&*name, MANIFEST_NAME | "innoscan.journal") {
            continue;
        }
        faults.push(match name.strip_suffix(".partial") {
            Some(_) => {
                let what = "it was being written when a dump was cut short";
                Fault::new(FaultKind::InterruptedDump, &name, what)
            }
            None => Fault::new(FaultKind::Unlisted, &name, "innoscan.json does not list it"),
        });
    }
    Ok(faults)
}

/// Objects of the source that are not, or not completely, in the dump.
fn incomplete(manifest: &Manifest) -> Vec<Fault> {
    let mut faults = Vec::new();
    for ManifestEntry { listed, state } in &manifest.ledger {
        let what = match state {
            ManifestState::Dumped { damaged: 0 } | ManifestState::LeftOut(_) => continue,
            ManifestState::Dumped { damaged } => {
                format!("rows are missing: damage was skipped in {}", counted(*damaged, "place"))
            }
            ManifestState::NotDumped(reason) => format!("it was not dumped: {reason}"),
        };
        faults.push(Fault::new(FaultKind::Incomplete, &listed.item.to_string(), what));
    }
    for (kinds, reason) in &manifest.unlisted {
        let what = format!("the source's list of them could not be read: {reason}");
        faults.push(Fault::new(FaultKind::Incomplete, &kinds.join(", "), what));
    }
    if !manifest.is_complete && faults.is_empty() {
        let what = "it says that the dump is not complete, and not why";
        faults.push(Fault::new(FaultKind::Incomplete, MANIFEST_NAME, what));
    }
    let is_incomplete = |name: &str| name.ends_with(".incomplete");
    if let Some(marker) = &manifest.marker
        && is_incomplete(&marker.name) == manifest.is_complete
    {
        let what = "its name and innoscan.json do not agree on whether the dump is complete";
        faults.push(Fault::new(FaultKind::Incomplete, &marker.name, what));
    }
    faults
}
