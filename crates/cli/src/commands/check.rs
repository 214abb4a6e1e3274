//! `innoscan check`.

use std::path::{Path, PathBuf};

use innoscan::Table;
use innoscan::check::Subject;
use serde_json::Value;

use crate::args::{CheckArgs, SourceArgs};
use crate::messages::Exit;

pub fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let table = table(&args.from, &args.source)?;
    let paths: Vec<PathBuf> = match &table {
        Some(table) => table.files.iter().map(|file| file.path.clone()).collect(),
        None => vec![PathBuf::from(&args.source)],
    };
    let mut objects = Vec::new();
    let mut is_sound = true;
    for path in paths {
        let subject = Subject::open(&path, table.as_ref())?;
        if let Some(error) = &subject.not_understood {
            note!("innoscan: note: records were not looked into: {error}");
        }
        let report = subject.check(|_, _| ())?;
        is_sound &= report.is_sound();
        if args.json {
            let mut object = report.to_json();
            object["file"] = Value::String(path.display().to_string());
            objects.push(object);
        } else {
            let report = report.to_string();
            out!("{}: {}", path.display(), report.trim_end_matches('\n'));
        }
    }
    if args.json {
        out!("{}", Value::Array(objects));
    }
    Ok(if is_sound { Exit::Done } else { Exit::Refused })
}

/// The table a source is of; `None` for a file whose definition is not to be had, of which much
/// can be said all the same.
pub(super) fn table(from: &SourceArgs, source: &str) -> anyhow::Result<Option<Table>> {
    match super::catalog(from)?.table(source) {
        Ok(table) => Ok(Some(table)),
        Err(error) if Path::new(source).is_file() && !error.is_directory() => {
            note!("innoscan: note: read without a definition: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
