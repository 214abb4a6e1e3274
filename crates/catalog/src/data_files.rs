//! Where a server keeps its data files beside its data directory: options that are in none of these files.

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};

use crate::option_file::{FileOptions, OptionFiles};
use crate::system_files::SystemFiles;

/// The data directory of packages, of servers whose option files name none.
const DATADIR: &str = "/var/lib/mysql";

/// The server's options for the places of its data files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFiles {
    /// The files of the system tablespace.
    pub system: SystemFiles,
    /// `innodb_undo_directory`: the directory of undo tablespaces. Default: the data directory.
    pub undo_directory: Option<PathBuf>,
    /// `innodb_directories`: directories with files of tables and tablespaces, searched with their subdirectories.
    pub directories: Vec<PathBuf>,
    /// Incremental backups on the data directory, which is then their base, oldest first. None of them was prepared.
    /// [`DataFiles::incrementals_of`] makes them of the paths that a user gives.
    pub incrementals: Vec<PathBuf>,
}

impl DataFiles {
    /// The paths of incremental backups as they have to be in [`DataFiles::incrementals`]: without links, so that the paths
    /// of files in the newest begin with it. A directory that does not exist is named as it is.
    pub fn incrementals_of(paths: &[PathBuf]) -> Vec<PathBuf> {
        let canonical =
            |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        paths.iter().map(canonical).collect()
    }

    /// The directory that has the newest files: the last incremental backup on `base`, or `base` itself.
    pub fn newest<'d>(&'d self, base: &'d Path) -> &'d Path {
        self.incrementals.last().map_or(base, PathBuf::as_path)
    }

    /// The places for the data directory `root`: what the user did not say is taken from the option files of its server.
    /// Those of another data directory, such as the one of which `root` is a backup, are passed over.
    ///
    /// # Errors
    /// A named option file cannot be read, or a value has no known form.
    pub fn for_directory(&self, root: &Path, option_files: &OptionFiles) -> Result<DataFiles> {
        let mut files = self.clone();
        let Some(options) = options_of(root, option_files)? else { return Ok(files) };
        let directory = |name: &str| {
            let value = options.get(name).filter(|value| !value.is_empty());
            value.map(|value| root.join(value))
        };
        if files.system == SystemFiles::default() {
            let path = options.get("innodb-data-file-path").filter(|path| !path.is_empty());
            let path = path.map(str::parse).transpose().map_err(|why: String| {
                Error::refused(
                    format!("innodb_data_file_path of the server's option file: {why}"),
                    "correct the option file",
                )
            })?;
            files.system = SystemFiles { home: directory("innodb-data-home-dir"), path };
        }
        files.undo_directory = files.undo_directory.or_else(|| directory("innodb-undo-directory"));
        if files.directories.is_empty() {
            let listed = options.get("innodb-directories").unwrap_or_default().split(';');
            let named = listed.map(str::trim).filter(|name| !name.is_empty());
            files.directories = named.map(|name| root.join(name)).collect();
        }
        Ok(files)
    }

    /// The directories that may have undo tablespaces, which the server also finds in `innodb_directories`.
    pub(crate) fn of_undo(&self, root: &Path) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        let all = [root].into_iter().map(Path::to_owned);
        let all = all.chain(self.undo_directory.clone()).chain(self.directories.iter().cloned());
        for directory in all {
            let is_same = |other: &PathBuf| is_same(other, &directory);
            if !found.iter().any(is_same) {
                found.push(directory);
            }
        }
        found
    }
}

/// The options of the server whose data directory is `root`, if its option files are found.
fn options_of(root: &Path, option_files: &OptionFiles) -> Result<Option<FileOptions>> {
    let is_named = option_files.only.is_some() || option_files.extra.is_some();
    let options = match option_files.read_of_server() {
        Ok(options) => options,
        Err(error) if is_named => return Err(error),
        // The usual files may be for the server's user only.
        Err(_) => return Ok(None),
    };
    let is_of_root = match options.get("datadir") {
        Some(datadir) => is_same(Path::new(datadir), root),
        None => is_named || is_same(Path::new(DATADIR), root),
    };
    Ok(is_of_root.then_some(options))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || canonical(one).is_some_and(|one| Some(one) == canonical(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places that an option file gives for `root`.
    fn given(text: &str, root: &Path, typed: &DataFiles) -> Result<DataFiles> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        let only = Some(file.path().to_owned());
        typed.for_directory(root, &OptionFiles { only, ..OptionFiles::default() })
    }

    #[test]
    fn options_are_those_of_the_directory() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let options = "innodb_data_home_dir = /fast\ninnodb_data_file_path = a:5M;b:5M:autoextend\n\
                       innodb-undo-directory = undo\ninnodb_directories = \"/one;/two\"\n";
        let here = format!("[mysqld]\ndatadir = {}/.\n{options}", root.display());
        let expected = DataFiles {
            system: SystemFiles {
                home: Some("/fast".into()),
                path: Some("a:5M;b:5M:autoextend".parse().unwrap()),
            },
            undo_directory: Some(root.join("undo")),
            directories: vec!["/one".into(), "/two".into()],
            ..DataFiles::default()
        };
        let none = DataFiles::default();
        assert_eq!(given(&here, root, &none).unwrap(), expected);
        let unnamed = format!("[server]\n{options}");
        assert_eq!(given(&unnamed, root, &none).unwrap(), expected);
        let of_another = format!("[mysqld]\ndatadir = /elsewhere\n{options}");
        assert_eq!(given(&of_another, root, &none).unwrap(), none);
        let of_a_client = format!("[client]\n{options}");
        assert_eq!(given(&of_a_client, root, &none).unwrap(), none);

        let typed = DataFiles { directories: vec!["/mine".into()], ..DataFiles::default() };
        let merged = DataFiles { directories: vec!["/mine".into()], ..expected };
        assert_eq!(given(&here, root, &typed).unwrap(), merged);
        let raw = "[mysqld]\ninnodb_data_file_path = /dev/sdb:5Graw";
        assert!(given(raw, root, &none).unwrap_err().to_string().contains("raw device"));
    }
}
