//! The check of all tablespaces of data directories, by the first bytes of their files: the facts that a
//! server reads when it starts, and the faults that would prevent its start.
//!
//! ```text
//! walk the directories -> sort by inode -> read every head -> sort by tablespace -> compare
//! ```

mod findings;
mod listed;
mod names;
mod walk;

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use innoscan_catalog::datadir::running_server;
use innoscan_engine::cores::cores;
use innoscan_engine::keys::Keys;
use innoscan_engine::side_by_side;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, Result};
use innoscan_format::page::SpaceHead;
pub use innoscan_format::schema::tablespaces::ListedSpace;
use innoscan_format::{Lsn, SpaceId};
use innoscan_io::Direct;
pub use innoscan_io::heads::{HeadCounters, HeadMethod, HeadOptions};
use innoscan_io::heads::{HeadFile, read_heads};

pub use self::findings::{Claimant, Finding};
use self::listed::differences;
pub use self::listed::listed_in;
use self::names::misnamed;
pub use self::walk::{Files, SpaceKind};

/// The progress of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Listing directories, with the number of files found.
    Walk(usize),
    /// Reading heads, with the number read and the number of all.
    Read(usize, usize),
    /// Checking names, with the number checked and the number of all.
    Names(usize, usize),
}

/// Options of the check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The method of reading heads. 0 threads: the usual number.
    pub heads: HeadOptions,
    /// The server's own tablespaces, if files are compared with them.
    pub listed: Option<Vec<ListedSpace>>,
    /// Whether the names of files are compared with the definitions in them.
    pub checks_names: bool,
    /// The keys of encrypted tablespaces.
    pub keys: Keys,
}

/// The time of each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Listing the directories.
    pub walk: Duration,
    /// Opening the files and reading their heads.
    pub read: Duration,
    /// Comparing them.
    pub compare: Duration,
    /// Comparing names with definitions, if requested.
    pub names: Duration,
}

/// The result of the check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of tables' files.
    pub tables: usize,
    /// The number of system tablespaces' files.
    pub system: usize,
    /// The number of undo tablespaces.
    pub undo: usize,
    /// The number of temporary tablespaces.
    pub temporary: usize,
    /// The findings, in the order of tablespaces, then of paths.
    pub findings: Vec<Finding>,
    /// The time of each part.
    pub phases: Phases,
    /// The counters of reading heads.
    pub heads: HeadCounters,
}

impl Report {
    fn count(&mut self, files: &Files) {
        for number in 0..files.len() {
            *match files.kind(number) {
                SpaceKind::Table => &mut self.tables,
                SpaceKind::System => &mut self.system,
                SpaceKind::Undo => &mut self.undo,
                SpaceKind::Temporary => &mut self.temporary,
            } += 1;
        }
    }

    /// Whether there is a fault.
    pub fn has_faults(&self) -> bool {
        self.findings.iter().any(Finding::is_fault)
    }
}

/// A file that is a tablespace.
#[derive(Clone, Copy, Debug)]
struct Known {
    space: SpaceId,
    file: u32,
    lsn: Lsn,
}

/// The default number of threads. For as many files, servers use one thread, and one more for each
/// 8000, up to 16 and to twice the cores (`fil_get_scan_threads`, fil0fil.cc, MySQL 9.7). A few
/// rings are enough to keep a device busy.
fn usual_threads(method: HeadMethod, files: usize) -> usize {
    match method {
        HeadMethod::Batched => side_by_side::usual_threads(),
        _ => 1 + (files / 8000).min((2 * cores()).min(16)),
    }
}

/// Checks all tablespace files of directories and their subdirectories. `step` receives the progress,
/// and returns whether to continue.
///
/// # Errors
/// A directory cannot be listed, reading cannot be set up, or `step` ends the check. Errors of single
/// files are findings.
pub fn check(
    directories: &[PathBuf],
    options: &CheckOptions,
    mut step: impl FnMut(Step) -> bool + Send,
) -> Result<Report> {
    let mut report = Report::default();
    let begun = Instant::now();
    let mut findings = Vec::new();
    let files = Files::walk(directories, &mut findings, |found| step(Step::Walk(found)))?;
    report.phases.walk = begun.elapsed();

    let begun = Instant::now();
    let mut heads = options.heads;
    if heads.threads == 0 {
        heads.threads = usual_threads(heads.method, files.len());
    }
    let mut known = Vec::with_capacity(files.len());
    let is_in_use = directories.iter().any(|directory| is_in_use(directory));
    report.heads = read(&files, is_in_use, &heads, &mut known, &mut findings, &mut step)?;
    add_unwritten(&files, &options.keys, &mut known, &mut findings);
    report.phases.read = begun.elapsed();

    if options.checks_names {
        let begun = Instant::now();
        findings.extend(misnamed(&files, &known, &options.keys, heads.threads, is_in_use, step)?);
        report.phases.names = begun.elapsed();
    }

    let begun = Instant::now();
    report.count(&files);
    report.findings = compare(directories, &files, known, findings, options.listed.as_deref());
    report.phases.compare = begun.elapsed();
    Ok(report)
}

/// Faults between files, then those of each file alone.
fn compare(
    directories: &[PathBuf],
    files: &Files,
    mut known: Vec<Known>,
    mut alone: Vec<Finding>,
    listed: Option<&[ListedSpace]>,
) -> Vec<Finding> {
    known.sort_unstable_by_key(|known| (known.space, known.file));
    alone.sort_by_key(ToString::to_string);
    let mut findings = duplicates(files, &known);
    if let Some(listed) = listed {
        let unwritten = unwritten(&alone);
        let is_unwritten = |name: &str| {
            let file = format!("{name}.ibd");
            directories.iter().any(|directory| unwritten.contains(&*directory.join(&file)))
        };
        findings.extend(differences(files, &known, listed, is_unwritten));
    }
    findings.extend(alone);
    findings
}

fn read(
    files: &Files,
    is_in_use: bool,
    options: &HeadOptions,
    known: &mut Vec<Known>,
    findings: &mut Vec<Finding>,
    mut step: impl FnMut(Step) -> bool + Send,
) -> Result<HeadCounters> {
    let mut wanted = (0..files.len())
        .map(|number| HeadFile { token: number as u64, path: files.c_path(number) });
    let mut done = 0;
    let mut is_cancelled = false;
    let mut take = |token: u64, head: io::Result<&[u8]>| {
        let number = token as usize;
        match head.map(|head| (head, SpaceHead::parse(head))) {
            Ok((_, Ok(head))) => {
                known.push(Known { space: head.space, file: number as u32, lsn: head.lsn });
            }
            // Created at each start, and often never written.
            Ok((_, Err(_))) if files.kind(number) == SpaceKind::Temporary => {}
            Ok((head, Err(error))) => {
                findings.push(of_header(files.path(number), head, &error, is_in_use));
            }
            Err(error) => findings.push(Finding::of_error(files.path(number), &error)),
        }
        done += 1;
        is_cancelled = !step(Step::Read(done, files.len()));
        !is_cancelled
    };
    let counters = read_heads(options, &mut wanted, &mut take)?;
    if is_cancelled { Err(Error::interrupted()) } else { Ok(counters) }
}

/// Files of a killed server whose first page is in its redo log alone.
fn add_unwritten(files: &Files, keys: &Keys, known: &mut Vec<Known>, findings: &mut Vec<Finding>) {
    let mut recovered = Vec::new();
    findings.retain(|finding| {
        let Some(path) = finding.without_header() else { return true };
        if keys.recovery_of(path).is_none() {
            return true;
        }
        let Ok(space) = Space::open(path, Direct::Off, keys) else { return true };
        recovered.push((path.to_owned(), space.header().space));
        false
    });
    for (path, space) in recovered {
        if let Some(file) = (0..files.len()).find(|&number| files.path(number) == path) {
            known.push(Known { space, file: file as u32, lsn: Lsn(0) });
        }
    }
}

/// The finding for a file with this head.
fn of_header(
    path: PathBuf,
    head: &[u8],
    error: &innoscan_format::Error,
    is_in_use: bool,
) -> Finding {
    match head {
        [] => Finding::Empty(path),
        head if is_in_use && SpaceHead::is_unwritten(head) => Finding::Unwritten(path),
        _ => Finding::NoHeader { path, what: error.to_string() },
    }
}

/// Whether a server is running on a directory.
fn is_in_use(directory: &Path) -> bool {
    running_server(directory, &directory.join("ibdata1")).is_some()
}

/// Files whose tablespaces are not known yet.
fn unwritten(findings: &[Finding]) -> BTreeSet<&Path> {
    let paths = findings.iter().filter_map(|finding| match finding {
        Finding::Unwritten(path) => Some(path.as_path()),
        _ => None,
    });
    paths.collect()
}

/// Files that claim the same tablespace. The system tablespace legitimately has several; temporary
/// ones are created at each start.
fn duplicates(files: &Files, known: &[Known]) -> Vec<Finding> {
    let claims = known.chunk_by(|one, other| one.space == other.space);
    let mut findings = Vec::new();
    for claims in claims.filter(|claims| claims.len() > 1) {
        let mut inodes = BTreeSet::new();
        let mut claimants: Vec<Claimant> = Vec::new();
        let is_its_own = |known: &&Known| {
            matches!(files.kind(known.file as usize), SpaceKind::Table | SpaceKind::Undo)
        };
        for claim in claims.iter().filter(is_its_own) {
            let path = files.path(claim.file as usize);
            let metadata = path.metadata().ok();
            // The same file under two names counts once.
            let identity = metadata.as_ref().map(|metadata| (metadata.dev(), metadata.ino()));
            if identity.is_none_or(|identity| inodes.insert(identity)) {
                let bytes = metadata.map_or(0, |metadata| metadata.len());
                claimants.push(Claimant { path, bytes, lsn: claim.lsn });
            }
        }
        if claimants.len() > 1 {
            claimants.sort_by(|one, other| (other.lsn, &one.path).cmp(&(one.lsn, &other.path)));
            findings.push(Finding::Duplicate { space: claims[0].space, files: claimants });
        }
    }
    findings
}

#[cfg(test)]
mod tests;
