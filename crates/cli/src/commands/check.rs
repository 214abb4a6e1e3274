//! `innoscan check`.

use std::path::Path;
use std::sync::Arc;

use innoscan_catalog::catalog::Catalog;
use innoscan_engine::{Error, ErrorKind, Table, TableFile, counted};
use innoscan_tools::check::{Report, Subject, Tablespace, shared_tablespace, tablespaces_in};
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
    let spaces = match Path::new(source).is_file() {
        true => vec![tablespace(&catalog, source)?],
        false => of_table(catalog.table(source)?),
    };
    let io = super::io_options(&args.io)?;
    let mut checked = Checked::default();
    for Tablespace { file, tables } in spaces {
        let subject = Subject::open(&file, tables.iter().map(|table| &**table), &io)?;
        for (table, error) in &subject.not_understood {
            note!("innoscan: note: records of {table} were not checked: {error}");
        }
        let report = subject.check(|_, _| ())?;
        let path = file.path;
        if !args.json {
            let report = report.to_string();
            out!("{}: {}", path.display(), report.trim_end_matches('\n'));
        }
        checked.add(&path, subject.has_definitions(), &report, args.json);
    }
    Ok(checked.end(args))
}

/// The tablespaces of a table.
fn of_table(table: Table) -> Vec<Tablespace> {
    let table = Arc::new(table);
    let mut files: Vec<TableFile> = Vec::new();
    for file in &table.files {
        if !files.iter().any(|other| other.path == file.path) {
            files.push(file.clone());
        }
    }
    let space = |file| Tablespace { file, tables: vec![Arc::clone(&table)] };
    files.into_iter().map(space).collect()
}

/// The tablespace of a file, with the tables in it. Pages and links can be checked without a definition too.
pub(super) fn tablespace(catalog: &Catalog, file: &str) -> anyhow::Result<Tablespace> {
    let path = Path::new(file);
    if let Some(shared) = shared(catalog, path)? {
        return Ok(shared);
    }
    let mut space = whole(catalog, path);
    if let Some(error) = add_table(&mut space, catalog)? {
        if !catalog.keys().is_file(path) {
            return Err(error.into());
        }
        note!("innoscan: note: no table definition: {}", remedies::message(&error));
    }
    Ok(space)
}

fn shared(catalog: &Catalog, path: &Path) -> anyhow::Result<Option<Tablespace>> {
    Ok(shared_tablespace(path, |root| catalog.without_definition(Some(root)))?)
}

fn whole(catalog: &Catalog, path: &Path) -> Tablespace {
    let file = TableFile::whole(path.to_owned()).with_keys(catalog.keys().clone());
    Tablespace { file, tables: Vec::new() }
}

/// Adds the table of a file that has one table; returns the reason if its definition is not found.
fn add_table(space: &mut Tablespace, catalog: &Catalog) -> innoscan_engine::Result<Option<Error>> {
    match catalog.table(&space.file.path.to_string_lossy()) {
        Ok(table) => space.tables.push(Arc::new(table)),
        Err(error) if error.kind() == ErrorKind::RefusedDirectory => return Err(error),
        Err(error) => return Ok(Some(error)),
    }
    Ok(None)
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
            1 => "; 1 file has no table definition (a full-text index, general or undo tablespace): its \
                  keys were not compared"
                .to_owned(),
            count => format!(
                "; {count} files have no table definition (full-text indexes, general or undo \
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

/// The tablespaces that the sources name, with the catalogs that have their definitions.
#[derive(Default)]
struct Sources {
    /// One catalog per data directory.
    catalogs: Vec<Catalog>,
    spaces: Vec<(usize, Tablespace)>,
}

impl Sources {
    fn find(args: &CheckArgs, checked: &mut Checked) -> anyhow::Result<Sources> {
        let given = super::catalog(&args.from, &args.key_files)?;
        let mut sources = Sources { catalogs: vec![given], spaces: Vec::new() };
        for source in &args.sources {
            let path = Path::new(source);
            if path.is_dir() {
                let catalog = |root| sources.catalogs[0].without_definition(root);
                let found = tablespaces_in(path, catalog)?;
                sources.catalogs.push(found.catalog);
                let catalog = sources.catalogs.len() - 1;
                found.notes.iter().for_each(|note| note!("innoscan: note: {note}"));
                sources.spaces.extend(found.found.into_iter().map(|space| (catalog, space)));
                for (table, why) in found.without_file {
                    checked.fail(table, remedies::reason(&why));
                }
            } else if path.is_file() {
                let catalog = &sources.catalogs[0];
                let shared = shared(catalog, path)?;
                sources.spaces.push((0, shared.unwrap_or_else(|| whole(catalog, path))));
            } else {
                match sources.catalogs[0].table(source) {
                    Ok(table) => {
                        sources.spaces.extend(of_table(table).into_iter().map(|space| (0, space)))
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
    let mut sources = Sources::find(args, &mut checked)?;
    let all = sources.spaces.len();
    let names_all = args.verbose || all <= FEW_FILES;
    let mut count = Count::new(args.quiet);
    for (done, (catalog, space)) in sources.spaces.iter_mut().enumerate() {
        count.show("checking", done, Some(all));
        // Tables of the server's own databases are not in the plan of a directory.
        if space.tables.is_empty()
            && !space.file.is_system()
            && let Some(error) = add_table(space, &sources.catalogs[*catalog])?
            && args.verbose
        {
            let (path, why) = (space.file.path.display(), remedies::message(&error));
            note!("innoscan: note: {path}: no definition: {why}");
        }
        let Tablespace { file, tables } = space;
        let path = &file.path;
        let subject = Subject::open(file, tables.iter().map(|table| &**table), &io);
        let report =
            subject.and_then(|subject| Ok((subject.check(|_, _| ())?, subject.has_definitions())));
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
