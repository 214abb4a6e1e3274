//! Where the files of a system tablespace are: the server's options `innodb_data_home_dir` and
//! `innodb_data_file_path`, which are in none of its files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_io::Direct;

use crate::option_file::OptionFiles;

/// The name of the first file, unless the server's options have another.
pub const FIRST: &str = "ibdata1";

/// The server's options for the files of its system tablespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFiles {
    /// `innodb_data_home_dir`: the directory of the files. Default: the data directory.
    pub home: Option<PathBuf>,
    /// `innodb_data_file_path`. Default: `ibdata1`, and where that is not all of the tablespace, the files of the
    /// following numbers.
    pub path: Option<DataFilePath>,
}

/// The names of `innodb_data_file_path`, in the order of their pages; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFilePath(Vec<PathBuf>);

impl FromStr for DataFilePath {
    type Err = String;

    /// Parses `NAME:SIZE;NAME:SIZE:autoextend:max:SIZE` (`SysTablespace::parse_params`, fsp0sysspace.cc, MySQL 8.0).
    fn from_str(typed: &str) -> Result<DataFilePath, String> {
        let name_of = |file: &str| {
            let (name, size) = file.trim().split_once(':').ok_or("a file has no size")?;
            let digits = size.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let unit = digits.trim_start_matches(['k', 'K', 'm', 'M', 'g', 'G']);
            match unit {
                _ if name.is_empty() || digits.len() == size.len() => {
                    Err("not NAME:SIZE".to_owned())
                }
                _ if unit.starts_with("newraw") || unit.starts_with("raw") => {
                    Err(format!("{name} is a raw device, which is not read"))
                }
                _ => Ok(PathBuf::from(name)),
            }
        };
        let files = typed.split(';').filter(|file| !file.trim().is_empty());
        let names = files.map(name_of).collect::<Result<Vec<_>, String>>()?;
        if names.is_empty() { Err("it names no file".to_owned()) } else { Ok(DataFilePath(names)) }
    }
}

impl SystemFiles {
    /// The first file of the system tablespace of a data directory, which may not exist.
    pub fn first(&self, root: &Path) -> PathBuf {
        let name = match &self.path {
            Some(DataFilePath(names)) => names.first().map_or(Path::new(FIRST), PathBuf::as_path),
            None => Path::new(FIRST),
        };
        self.home.as_deref().unwrap_or(root).join(name)
    }

    /// The system tablespace of a data directory or a backup, if its first file exists.
    pub fn find(&self, root: &Path, keys: &Keys) -> Option<SystemTablespace> {
        let home = self.home.as_deref().unwrap_or(root);
        let names = match &self.path {
            Some(DataFilePath(names)) => names.clone(),
            None => names_in_backup(root).unwrap_or_default(),
        };
        let mut paths = names.iter().map(|name| home.join(name));
        let first = paths.next().unwrap_or_else(|| home.join(FIRST));
        if !keys.is_file(&first) {
            return None;
        }
        let others = if names.is_empty() { numbered(&first) } else { paths.collect() };
        Some(SystemTablespace::new(first, others))
    }
}

/// The names in the option file that `mariadb-backup` and `xtrabackup` write into a backup. They copy all files into
/// the backup itself, so directories of the server are left out.
fn names_in_backup(root: &Path) -> Option<Vec<PathBuf>> {
    let file = root.join("backup-my.cnf");
    let files = OptionFiles { only: Some(file.clone()), ..OptionFiles::default() };
    let options = file.is_file().then(|| files.read(|group| group == "mysqld").ok()).flatten()?;
    let DataFilePath(names) = options.get("innodb-data-file-path")?.parse().ok()?;
    names.iter().map(|name| name.file_name().map(PathBuf::from)).collect()
}

/// The files `ibdata2`, `ibdata3`, ... beside `ibdata1`, as far as the pages that its header counts are not in those
/// before. The header counts those of all files.
fn numbered(first: &Path) -> Vec<PathBuf> {
    let sized = |number: u32| {
        let path = first.with_file_name(format!("ibdata{number}"));
        std::fs::metadata(&path).ok().map(|metadata| (path, metadata.len()))
    };
    let mut following = (2..).map_while(sized).peekable();
    // Most servers have one file, whose header then need not be read.
    if following.peek().is_none() {
        return Vec::new();
    }
    let Ok(space) = Space::open(first, Direct::Off, &Keys::default()) else { return Vec::new() };
    let all_bytes = u64::from(space.header().size_pages) * space.page_bytes() as u64;
    let mut found_bytes = space.file().size_bytes();
    let mut others = Vec::new();
    for (path, file_bytes) in following {
        if found_bytes >= all_bytes {
            break;
        }
        found_bytes += file_bytes;
        others.push(path);
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_before_the_sizes() {
        let names = |typed: &str| typed.parse::<DataFilePath>().map(|DataFilePath(names)| names);
        let expected = ["ibdata1", "/fast/ib 2"].map(PathBuf::from).to_vec();
        assert_eq!(names("ibdata1:12M;/fast/ib 2:5M:autoextend:max:1G"), Ok(expected));
        assert_eq!(names("a:131072"), Ok(vec![PathBuf::from("a")]));
        for wrong in ["", ";", "ibdata1", ":12M", "ibdata1:", "ibdata1:M", "/dev/sdb:5Graw"] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
