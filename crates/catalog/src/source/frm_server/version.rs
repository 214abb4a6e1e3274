//! The version of the server that wrote a directory.

use std::path::Path;

use innoscan_format::schema::{Family, ServerVersion, from_frm};

use super::{files_with, read};

/// The files in which servers record the version that last upgraded a directory.
const UPGRADE_INFO: [&str; 2] = ["mariadb_upgrade_info", "mysql_upgrade_info"];

/// The newest version named by a directory's own tables and upgrade files. Where there are none,
/// the version is MariaDB 10.11 if the directory has Aria's log, or else MySQL 5.7.
pub(super) fn version_of(root: &Path) -> ServerVersion {
    let is_mariadb = root.join("aria_log_control").exists();
    let family = if is_mariadb { Family::MariaDb } else { Family::MySql };
    let notes = UPGRADE_INFO.iter().filter_map(|name| read(&root.join(name)).ok());
    let mut numbers: Vec<u32> = notes.filter_map(|note| number_of_text(&note)).collect();
    for (_, path) in files_with(&root.join("mysql"), "frm").unwrap_or_default() {
        let definition = read(&path).ok().and_then(|bytes| from_frm(&bytes, "", "").ok());
        numbers.extend(definition.map(|definition| definition.server.number));
    }
    let versions = numbers.into_iter().map(ServerVersion::from_number);
    let newest = versions.filter(|version| version.family == family).max();
    newest.unwrap_or(match family {
        Family::MariaDb => ServerVersion { family, number: 101_100 },
        Family::MySql => ServerVersion { family, number: 50_700 },
    })
}

/// The number of a version such as `10.11.19-MariaDB`.
fn number_of_text(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || parts.next()?.ok().filter(|&part| part < 100);
    let (major, minor, patch) = (next()?, next()?, next()?);
    Some(major * 10_000 + minor * 100 + patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_notes_of_upgrades() {
        assert_eq!(number_of_text(b"10.11.19-MariaDB"), Some(101_119));
        assert_eq!(number_of_text(b"5.7.22"), Some(50_722));
        assert_eq!(number_of_text(b""), None);
        assert_eq!(number_of_text(b"10.4294967295.1"), None);
    }
}
