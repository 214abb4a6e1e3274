//! The files of tablespaces in backups: `X.ibd`, in an incremental backup `X.ibd.delta` with `X.ibd.meta`, and what
//! `mariadb-backup` notes for its preparation of DDL while it copied.
//!
//! ```text
//! X.del    X.ibd was dropped
//! X.ren    X.ibd was renamed to the table that the file names
//! X.new    X.ibd, created or written without redo: copied when nothing could change it any more
//! ```
//!
//! They are followed in this order (`backup_fix_ddl` and `xtrabackup_prepare_func`, xtrabackup.cc, MariaDB 10.11). An
//! incremental backup has a delta or a new file of each tablespace; one that it has not was dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan_engine::recovery::{BackupFiles, DeltaFile, Parts, Recovery};
use innoscan_engine::{Error, Result};
use innoscan_format::{Error as FormatError, Lsn, SpaceId, bytes};

use super::Backup;
use crate::file_bytes::read_at;

/// `FIL_PAGE_SPACE_ID` on page 0.
const SPACE_AT: u64 = 34;

/// One of the backups of a chain.
#[derive(Debug)]
pub(super) struct Link {
    pub root: PathBuf,
    pub backup: Backup,
}

/// The files of tablespaces in one backup, by their places in its directory.
#[derive(Debug, Default)]
pub(super) struct Found {
    tablespaces: BTreeMap<PathBuf, Stored>,
    has_remains: bool,
}

/// How a backup has a tablespace.
#[derive(Clone, Debug)]
enum Stored {
    /// As a whole, in this file.
    Whole(PathBuf),
    /// By its changed pages, in this file.
    Changed(PathBuf),
}

impl Found {
    /// The files in a directory.
    ///
    /// # Errors
    /// It cannot be listed; what it notes of DDL makes no sense.
    pub fn of(root: &Path) -> Result<Found> {
        let mut found = Found::default();
        let (mut dropped, mut renamed, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for place in places(root)? {
            let path = root.join(&place);
            let ending = place.extension().unwrap_or_default().to_string_lossy().into_owned();
            match &*ending {
                "del" => dropped.push(place.with_extension("ibd")),
                "ren" => renamed.push((place.with_extension("ibd"), new_name(&path)?)),
                "new" => new.push((place.with_extension("ibd"), path)),
                "delta" => {
                    let of = place.with_extension("");
                    if of.extension().is_some_and(|ending| ending == "new") {
                        let what = "the changed pages of a new tablespace";
                        let remedy = "prepare the backup";
                        return Err(
                            Error::from(FormatError::unsupported(what, remedy)).in_file(&path)
                        );
                    }
                    found.tablespaces.insert(of, Stored::Changed(path));
                }
                _ if ending == "ibd" || is_of_server(&place) => {
                    found.tablespaces.insert(place, Stored::Whole(path));
                }
                _ => {}
            }
        }
        found.has_remains = !(dropped.is_empty() && renamed.is_empty() && new.is_empty());
        for place in dropped {
            found.tablespaces.remove(&place);
        }
        found.rename(root, renamed)?;
        found.tablespaces.extend(new.into_iter().map(|(place, path)| (place, Stored::Whole(path))));
        Ok(found)
    }

    /// Whether something was created, renamed or dropped while the backup was made.
    pub fn has_remains(&self) -> bool {
        self.has_remains
    }

    /// Renames tablespaces, which may take the names of each other.
    fn rename(&mut self, root: &Path, renamed: Vec<(PathBuf, PathBuf)>) -> Result<()> {
        let taken: Vec<(PathBuf, Option<Stored>)> =
            renamed.into_iter().map(|(from, to)| (to, self.tablespaces.remove(&from))).collect();
        for (to, stored) in taken {
            let Some(stored) = stored else { continue };
            if self.tablespaces.insert(to.clone(), stored).is_some() {
                return Err(Error::refused_directory(
                    format!(
                        "two tables were renamed to {} while the backup was made",
                        to.display()
                    ),
                    "prepare the backup",
                )
                .in_file(root));
            }
        }
        Ok(())
    }
}

/// The files of each tablespace that the newest of the backups has, by its path there.
///
/// # Errors
/// A `.meta` file cannot be read; a tablespace has changed pages in the base.
pub(super) fn backup_files(
    links: &[Link],
    found: Vec<Found>,
    recovery: &Recovery,
) -> Result<BackupFiles> {
    let mut known: BTreeMap<PathBuf, Parts> = BTreeMap::new();
    for (nth, (link, found)) in links.iter().zip(found).enumerate() {
        let root = canonical(&link.root)?;
        let mut older = std::mem::take(&mut known);
        let by_space: BTreeMap<SpaceId, PathBuf> =
            older.iter().filter_map(|(place, parts)| Some((parts.space?, place.clone()))).collect();
        for (place, stored) in found.tablespaces {
            let named = root.join(&place);
            let created = Parts { first: nth, named, whole: None, deltas: Vec::new(), space: None };
            let parts = match stored {
                Stored::Whole(path) => {
                    let written = space_of(&path)?;
                    let space = written.or_else(|| recovery.space_at(nth, &created.named));
                    Parts { whole: Some(path), space, ..created }
                }
                Stored::Changed(_) if nth == 0 => return Err(link.backup.not_prepared()),
                Stored::Changed(path) => {
                    let (page_bytes, space) = meta_of(&path)?;
                    let before = match is_of_server(&place) {
                        true => Some(&place),
                        false => by_space.get(&space),
                    };
                    let before = before.and_then(|before| older.remove(before));
                    // One that an ALTER TABLE was making is in no older backup, but in their logs.
                    let mut parts = before.unwrap_or(Parts { first: 0, ..created });
                    parts.space = Some(space);
                    let end = recovery.range_of(nth).map_or(Lsn(0), |(_, end)| end);
                    let lsns = (link.backup.since(), end);
                    parts.deltas.push(DeltaFile { backup: nth, path, page_bytes, lsns });
                    parts
                }
            };
            known.insert(place, parts);
        }
    }
    let root = match links.last() {
        Some(newest) => canonical(&newest.root)?,
        None => PathBuf::new(),
    };
    let mut files = BackupFiles::default();
    for (place, parts) in known {
        files.add(root.join(place), parts);
    }
    Ok(files)
}

/// The places of all files in a directory and in those in it.
fn places(root: &Path) -> Result<Vec<PathBuf>> {
    let names = |directory: &Path| {
        std::fs::read_dir(directory)
            .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
            .map(|entries| entries.into_iter().map(|entry| PathBuf::from(entry.file_name())))
            .map_err(|error| Error::read("cannot list it", error).in_file(directory))
    };
    let mut places = Vec::new();
    for name in names(root)? {
        let path = root.join(&name);
        match path.is_dir() {
            true => places.extend(names(&path)?.map(|below| name.join(below))),
            false => places.push(name),
        }
    }
    Ok(places)
}

/// Whether a file is of the system tablespace or an undo tablespace, which keep their names.
fn is_of_server(place: &Path) -> bool {
    let name = place.to_string_lossy();
    let is_numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_numbered("ibdata") || is_numbered("undo")
}

/// The place of the tablespace that a `.ren` file names: `db/table`.
fn new_name(path: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::read("reading it", error).in_file(path))?;
    let name = text.trim_end().trim_start_matches("./");
    let name = name.strip_suffix(".ibd").unwrap_or(name);
    let is_plain = |part: &str| !part.is_empty() && part != "..";
    match name.split_once('/') {
        Some((database, table))
            if is_plain(database) && is_plain(table) && !table.contains('/') =>
        {
            Ok(PathBuf::from(format!("{database}/{table}.ibd")))
        }
        _ => {
            let what = format!("it names no table, but {name:?}");
            Err(Error::from(FormatError::corrupt(what)).in_file(path))
        }
    }
}

/// The tablespace on page 0 of a file, if that page was ever written.
fn space_of(path: &Path) -> Result<Option<SpaceId>> {
    let bytes = read_at(path, SPACE_AT, 4)?;
    let space = bytes::u32_at(&bytes, 0).ok();
    Ok(space.filter(|space| *space != 0).map(SpaceId))
}

/// The bytes of a page and the tablespace, in the `.meta` beside a file of changed pages.
fn meta_of(delta: &Path) -> Result<(usize, SpaceId)> {
    let path = delta.with_extension("meta");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::read("reading it", error).in_file(&path))?;
    let value = |name: &str| {
        let fields = text.lines().filter_map(|line| line.split_once('='));
        let mut named = fields.filter(|(key, _)| key.trim() == name);
        named.next().and_then(|(_, value)| value.trim().parse::<u32>().ok())
    };
    match (value("page_size"), value("space_id")) {
        (Some(page_bytes @ 1024..=65536), Some(space)) if page_bytes.is_power_of_two() => {
            Ok((page_bytes as usize, SpaceId(space)))
        }
        _ => {
            let what = "it has no page_size of a server, or no space_id";
            Err(Error::from(FormatError::corrupt(what)).in_file(&path))
        }
    }
}

fn canonical(root: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(root)
        .map_err(|error| Error::read("cannot open the backup", error).in_file(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ddl_while_a_backup_was_made_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir(root.join("d")).unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(root.join("d").join(name), text).unwrap();
        for name in ["a.ibd", "b.ibd", "gone.ibd", "stays.ibd", "stays.frm", "made.new", "gone.del"]
        {
            write(name, "");
        }
        let found = || Found::of(root).unwrap();
        // The names of two tables are exchanged.
        write("a.ren", "d/b");
        write("b.ren", "./d/a.ibd\n");
        let names = |found: &Found| -> Vec<(String, String)> {
            let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            let stored = |stored: &Stored| match stored {
                Stored::Whole(path) | Stored::Changed(path) => name(path),
            };
            found.tablespaces.iter().map(|(place, of)| (name(place), stored(of))).collect()
        };
        let expected = [
            ("a.ibd", "b.ibd"),
            ("b.ibd", "a.ibd"),
            ("made.ibd", "made.new"),
            ("stays.ibd", "stays.ibd"),
        ];
        assert_eq!(names(&found()), expected.map(|(of, in_file)| (of.into(), in_file.into())));
        assert!(found().has_remains());
        write("b.ren", "d/stays");
        assert!(Found::of(root).unwrap_err().to_string().contains("two tables were renamed"));
        for name in ["d", "../t", "d/e/f", ""] {
            write("b.ren", name);
            assert!(Found::of(root).unwrap_err().to_string().contains("names no table"), "{name}");
        }
    }

    #[test]
    fn a_meta_file_has_to_make_sense() {
        let dir = tempfile::tempdir().unwrap();
        let delta = dir.path().join("t.ibd.delta");
        let meta = |text: &str| {
            std::fs::write(dir.path().join("t.ibd.meta"), text).unwrap();
            meta_of(&delta)
        };
        let sound = "page_size = 16384\nzip_size = 0 \nspace_id = 7\n";
        assert_eq!(meta(sound).unwrap(), (16384, SpaceId(7)));
        for (from, to) in
            [("16384", "16385"), ("16384", "1"), ("16384", "x"), ("space_id", "space")]
        {
            assert!(meta(&sound.replace(from, to)).is_err(), "{from} {to}");
        }
    }
}
