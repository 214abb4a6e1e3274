//! `innoscan check`.

use std::path::{Path, PathBuf};

use innoscan_catalog::catalog::Catalog;
use innoscan_engine::{ErrorKind, Table, counted};
use innoscan_tools::check::{Report, Subject, tablespaces_in};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::messages::Exit;
use crate::progress::Count;
use crate::remedies;

/// The version of the JSON object.
const FORMAT: u32 = 1;
/// Up to this many files, sound files have a line too.
const FEW_FILES: usize = 20;

pub fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    match &args.sources[..] {
        [one] if !Path::new(one).is_dir() => run_one(args, one),
        _ => run_many(args),
    }
}

/// One table, in full.
fn run_one(args: &CheckArgs, source: &str) -> anyhow::Result<Exit> {
    let catalog = super::catalog(&args.from, &args.key_files)?;
    let table = table(&catalog, source)?;
    let io = super::io_options(&args.io)?;
    let mut checked = Checked::default();
    for path in files_of(table.as_ref(), source) {
        let subject = Subject::open(&path, table.as_ref(), &io, catalog.keys())?;
        if let Some(error) = &subject.not_understood {
            note!("innoscan: note: records were not checked: {error}");
        }
        let report = subject.check(|_, _| ())?;
        if !args.json {
            let report = report.to_string();
            out!("{}: {}", path.display(), report.trim_end_matches('\n'));
        }
        checked.add(&path, table.is_some(), &report, args.json);
    }
    Ok(checked.end(args))
}

fn files_of(table: Option<&Table>, source: &str) -> Vec<PathBuf> {
    match table {
        Some(table) => table.files.iter().map(|file| file.path.clone()).collect(),
        None => vec![PathBuf::from(source)],
    }
}

/// The files checked so far, and the results.
#[derive(Default)]
struct Checked {
    files: u64,
    pages: u64,
    damaged: u64,
    /// Files without a definition.
    without_definition: u64,
    /// Files and tables that could not be checked, and why.
    not_checked: Vec<(String, String)>,
    reports: Vec<Value>,
}

impl Checked {
    fn add(&mut self, path: &Path, has_definition: bool, report: &Report, is_kept: bool) {
        self.files += 1;
        self.pages += report.pages;
        self.damaged += u64::from(!report.is_sound());
        self.without_definition += u64::from(!has_definition);
        if is_kept {
            let mut object = report.to_json();
            object["file"] = path.display().to_string().into();
            object["definition"] = has_definition.into();
            self.reports.push(object);
        }
    }

    fn fail(&mut self, what: String, why: String) {
        // Most errors name the file themselves.
        let why = why.strip_prefix(&format!("{what}: ")).unwrap_or(&why).to_owned();
        note!("innoscan: NOT CHECKED: {what}: {why}");
        self.not_checked.push((what, why));
    }

    fn is_sound(&self) -> bool {
        self.damaged == 0 && self.not_checked.is_empty()
    }

    /// Prints the JSON object, if requested.
    fn end(self, args: &CheckArgs) -> Exit {
        if self.is_empty() {
            note!("innoscan: no tablespace was found: give a data directory, or .ibd files");
            return Exit::Refused;
        }
        let exit = if self.is_sound() { Exit::Done } else { Exit::Refused };
        if args.json {
            let not_checked =
                self.not_checked.iter().map(|(what, why)| json!({ "subject": what, "error": why }));
            let not_checked: Vec<Value> = not_checked.collect();
            let object = json!({
                "format": FORMAT,
                "sound": self.is_sound(),
                "files": self.reports,
                "not_checked": not_checked,
            });
            out!("{object}");
        }
        exit
    }

    /// Whether no file was found, neither checked nor refused.
    fn is_empty(&self) -> bool {
        self.files == 0 && self.not_checked.is_empty()
    }

    fn summarize(&self) {
        let without = match self.without_definition {
            0 => String::new(),
            1 => "; 1 file has no table definition (a full-text index or general tablespace): its \
                  keys were not compared"
                .to_owned(),
            count => format!(
                "; {count} files have no table definition (full-text indexes or general \
                 tablespaces): their keys were not compared"
            ),
        };
        let not_checked = match self.not_checked.len() {
            0 => String::new(),
            count => format!("; {count} could NOT be checked"),
        };
        let result = match self.damaged {
            0 => "sound".to_owned(),
            damaged => format!("{damaged} DAMAGED"),
        };
        let (files, pages) = (counted(self.files, "file"), counted(self.pages, "page"));
        out!("checked {files}, {pages}: {result}{not_checked}{without}");
    }
}

/// The files that the sources name, with the catalogs that have their definitions.
#[derive(Default)]
struct Sources {
    /// One catalog per data directory.
    catalogs: Vec<Catalog>,
    files: Vec<(usize, PathBuf)>,
}

impl Sources {
    fn find(args: &CheckArgs, checked: &mut Checked) -> anyhow::Result<Sources> {
        let given = super::catalog(&args.from, &args.key_files)?;
        let keys = given.keys().clone();
        let mut sources = Sources { catalogs: vec![given], files: Vec::new() };
        for source in &args.sources {
            let path = Path::new(source);
            if path.is_dir() {
                let catalog = |root| {
                    let catalog = Catalog::new(root).with_force(args.from.force);
                    args.from.data_files.set(catalog.with_keys(keys.clone()))
                };
                let found = tablespaces_in(path, |root| catalog(Some(root)))?;
                sources.catalogs.push(catalog(found.root));
                let catalog = sources.catalogs.len() - 1;
                sources.files.extend(found.files.into_iter().map(|file| (catalog, file)));
                for (table, why) in found.without_file {
                    checked.fail(table, remedies::reason(&why));
                }
            } else if path.is_file() {
                sources.files.push((0, path.to_owned()));
            } else {
                match sources.catalogs[0].table(source) {
                    Ok(table) => {
                        let paths = table.files.into_iter().map(|file| (0, file.path));
                        sources.files.extend(paths);
                    }
                    Err(error) if error.kind() == ErrorKind::RefusedDirectory => {
                        return Err(error.into());
                    }
                    Err(error) => checked.fail(source.clone(), remedies::message(&error)),
                }
            }
        }
        Ok(sources)
    }
}

/// Several tables, or whole directories: a line each, faults in full, and a summary.
fn run_many(args: &CheckArgs) -> anyhow::Result<Exit> {
    let io = super::io_options(&args.io)?;
    let mut checked = Checked::default();
    let sources = Sources::find(args, &mut checked)?;
    let all = sources.files.len();
    let names_all = args.verbose || all <= FEW_FILES;
    let mut count = Count::new(args.quiet);
    for (done, (catalog, path)) in sources.files.iter().enumerate() {
        count.show("checking", done, Some(all));
        let catalog = &sources.catalogs[*catalog];
        let table = match catalog.table(&path.to_string_lossy()) {
            Ok(table) => Some(table),
            Err(error) if error.kind() == ErrorKind::RefusedDirectory => return Err(error.into()),
            Err(error) => {
                if args.verbose {
                    let why = remedies::message(&error);
                    note!("innoscan: note: {}: no definition: {why}", path.display());
                }
                None
            }
        };
        let report = Subject::open(path, table.as_ref(), &io, catalog.keys()).and_then(|subject| {
            let has_definition = table.is_some() && subject.not_understood.is_none();
            Ok((subject.check(|_, _| ())?, has_definition))
        });
        match report {
            Ok((report, has_definition)) => {
                if !args.json {
                    print_brief(path, &report, names_all);
                }
                checked.add(path, has_definition, &report, args.json);
            }
            Err(error) if error.kind() == ErrorKind::Resources => return Err(error.into()),
            Err(error) => checked.fail(path.display().to_string(), remedies::message(&error)),
        }
    }
    count.clear();
    if !args.json && !checked.is_empty() {
        checked.summarize();
    }
    Ok(checked.end(args))
}

fn print_brief(path: &Path, report: &Report, names_all: bool) {
    let path = path.display();
    if report.is_sound() {
        if names_all {
            out!("{path}: ok, {}", counted(report.pages, "page"));
        }
        return;
    }
    for finding in &report.findings {
        out!("{path}: {finding}");
    }
    let listed = report.findings.len() as u64;
    if listed < report.findings_total {
        out!("{path}: ... and {} more", report.findings_total - listed);
    }
    let bad = report.findings_total - report.harmless_total;
    let pages = counted(report.damaged_pages.len() as u64, "damaged page");
    out!("{path}: DAMAGED: {}, {pages}", counted(bad, "finding"));
}

/// The table of a source; `None` for a file without a definition, of which pages and links can be
/// checked all the same.
pub(super) fn table(catalog: &Catalog, source: &str) -> anyhow::Result<Option<Table>> {
    match catalog.table(source) {
        Ok(table) => Ok(Some(table)),
        Err(error)
            if Path::new(source).is_file() && error.kind() != ErrorKind::RefusedDirectory =>
        {
            note!("innoscan: note: no table definition: {}", remedies::message(&error));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
