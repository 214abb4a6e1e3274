//! Dumps into one file.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use innoscan_engine::{Error, Remedy, Result};
use innoscan_io::directory_with;
use tempfile::{Builder, NamedTempFile};

use super::{Dump, DumpOptions, Summary, TableOutcome, to_stream};

/// Dumps into one file, with what [`to_stream`] writes. The file has its name when it is complete, and is not kept where
/// a table failed, unless it is a script, whose last line says what is missing.
///
/// # Errors
/// As [`to_stream`]; the file exists, and `options.overwrite` is not set.
pub fn to_file(
    dump: Dump<'_>,
    path: &Path,
    options: &DumpOptions,
    finished: impl FnMut(&TableOutcome),
) -> Result<Summary> {
    if !options.overwrite && path.symlink_metadata().is_ok() {
        return Err(exists().in_file(path));
    }
    let failed = |error| Error::write("writing it", error).in_file(path);
    let directory = directory_with(path);
    if !directory.is_dir() {
        return Err(Error::refused("there is no such directory", "create it").in_file(directory));
    }
    let file = partial(path, directory).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let summary = to_stream(dump, &mut out, options, finished)
        .map_err(|error| if error.file().is_some() { error } else { error.in_file(path) })?;
    let is_whole = options.format.is_sql() || summary.failed().next().is_none();
    if is_whole {
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        keep(file, path, options.overwrite)?;
    }
    Ok(summary)
}

fn exists() -> Error {
    Error::refused("the file exists", ["name another file".into(), Remedy::Overwrite])
}

/// A file beside the final one, with the permissions of any new file.
fn partial(path: &Path, directory: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default();
    Builder::new()
        .prefix(name)
        .suffix(".partial")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
}

fn keep(mut file: NamedTempFile, path: &Path, overwrite: bool) -> Result<()> {
    let failed = |error| Error::write("writing it", error).in_file(path);
    file.flush().and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let kept = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(exists().in_file(path))
        }
        Err(error) => Err(failed(error.error)),
    }
}
