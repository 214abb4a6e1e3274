//! Comparison of files with the definitions that MySQL 8 and later keep in them.

use std::path::Path;

use innoscan_engine::keys::Keys;
use innoscan_engine::side_by_side::side_by_side;
use innoscan_engine::space::Space;
use innoscan_engine::{Error, ErrorKind, Result};
use innoscan_format::Error as FormatError;
use innoscan_format::schema::SdiNames;
use innoscan_io::Direct;

use super::findings::Finding;
use super::walk::{Files, SpaceKind};
use super::{Known, Step};

/// Files whose names differ from their definitions, and those whose definitions cannot be
/// read. Files without definitions, of MariaDB and MySQL to 5.7, are skipped.
pub(super) fn misnamed(
    files: &Files,
    known: &[Known],
    keys: &Keys,
    threads: usize,
    is_in_use: bool,
    mut step: impl FnMut(Step) -> bool,
) -> Result<Vec<Finding>> {
    let of_tables = known.iter().map(|known| known.file as usize);
    let numbers: Vec<usize> =
        of_tables.filter(|&number| files.kind(number) == SpaceKind::Table).collect();
    let mut findings = Vec::new();
    let mut done = 0;
    let name = |number: &usize| of_another(&files.path(*number), keys);
    side_by_side(&numbers, threads, name, |number, told| {
        let path = || files.path(*number);
        match told {
            Ok(None) => {}
            Ok(Some(name)) => findings.push(Finding::Misnamed { path: path(), name }),
            Err(_) if !path().exists() => findings.push(Finding::Gone(path())),
            Err(error) => {
                let is_refused = matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::NoKey);
                let is_fault = !is_refused && !is_in_use;
                findings.push(Finding::NoSdi { path: path(), why: error.to_string(), is_fault });
            }
        }
        done += 1;
        if step(Step::Names(done, numbers.len())) { Ok(()) } else { Err(Error::interrupted()) }
    })?;
    Ok(findings)
}

/// The name in the definitions of a file, if it is not the file's own.
fn of_another(path: &Path, keys: &Keys) -> Result<Option<String>> {
    let space = Space::open(path, Direct::Off, keys)?;
    if space.header().sdi_root.is_none() {
        return Ok(None);
    }
    let in_file = |error: FormatError| Error::from(error).in_file(path);
    space.require_key()?;
    let objects = space.read_sdi()?;
    let names = SdiNames::of(&objects).map_err(in_file)?;
    let directory = path.parent().and_then(Path::file_name).unwrap_or_default();
    let file = path.file_name().unwrap_or_default();
    Ok(names.of_another(&directory.to_string_lossy(), &file.to_string_lossy()))
}
