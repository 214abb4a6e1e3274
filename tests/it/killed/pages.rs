//! The comparison of a killed server's pages, read through the redo log, with those that the server
//! itself recovered.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Shutdown, Trust};
use innoscan_engine::ErrorKind;
use innoscan_engine::keys::Keys;
use innoscan_engine::recovery::IndexMemory;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_format::page::system::Doublewrite;
use innoscan_format::page::undo::TRX_SYS_PAGE;
use innoscan_format::page::{self, ExtentsPage, Scratch, StoredAs};
use innoscan_format::{Lsn, PageNo, SpaceId};
use innoscan_io::Direct;

/// How the pages of two directories compare.
#[derive(Debug, Default)]
pub struct Compared {
    /// Pages with equal bytes.
    pub equal: u64,
    /// Pages with equal bytes that have records in the log.
    pub changed: u64,
    /// Pages that differ, or cannot be read.
    pub different: Vec<String>,
    /// Pages that the server wrote again after its recovery.
    pub newer: u64,
    /// Pages of the doublewrite buffer.
    pub doublewrite: u64,
    /// Pages that the log frees, and those that the server freed after its recovery, which it does not write.
    pub freed: u64,
    /// Pages of tables that are refused by name, for each reason.
    pub refused: BTreeMap<String, u64>,
    /// Pages that `mariadb-backup --prepare` leaves as zeroes though the logs have them: of tables that were being altered
    /// when a backup ended.
    pub lost: u64,
    /// Files of dropped tablespaces, and those that the server removed.
    pub dropped_files: u64,
    /// Files that only the recovered directory has.
    pub made_files: u64,
    /// The end of the log.
    pub end: u64,
}

impl Compared {
    pub fn is_different(&self) -> bool {
        !self.different.is_empty() || self.equal == 0
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} pages equal, {} of them changed by the log, {} different, {} newer, {} doublewrite, {} freed, {} lost, {} files \
             dropped, {} made, refused {:?}, end {}",
            self.equal,
            self.changed,
            self.different.len(),
            self.newer,
            self.doublewrite,
            self.freed,
            self.lost,
            self.dropped_files,
            self.made_files,
            self.refused,
            self.end
        )?;
        for line in self.different.iter().take(20) {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// The tablespaces of a data directory or a backup, relative to it.
pub fn tablespaces(root: &Path, keys: &Keys) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for path in keys.entries(&directory).unwrap() {
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_undo = name.starts_with("undo") && matches!(name.len(), 7 | 8);
            if name.ends_with(".ibd") || name == "ibdata1" || is_undo {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Compares all pages of the directory of a killed server, or of a backup that was not prepared, with those of the
/// recovered one.
pub fn compare(killed: &Path, files: &DataFiles, recovered: &Path, keys: &Keys) -> Compared {
    // So little that the index of the log is spilled; in memory it is where rows are compared.
    let memory = IndexMemory { bytes: 64 << 10, ..IndexMemory::default() };
    let keys = &keys.clone().with_index_memory(memory);
    let datadir = DataDir::open(killed, files, Trust::Force, keys).unwrap();
    let killed = datadir.root();
    let mut compared = Compared::default();
    let Shutdown::Crashed { end } = *datadir.shutdown() else {
        compared.different.push(format!("the directory is {:?}", datadir.shutdown()));
        return compared;
    };
    compared.end = end.0;
    let mut theirs = spaces(recovered);
    for file in tablespaces(killed, keys) {
        let space = match Space::open(&killed.join(&file), Direct::Off, keys) {
            Ok(space) => space,
            Err(error) if error.to_string().contains("was dropped") => {
                compared.dropped_files += 1;
                continue;
            }
            // The server does not know it either, or has removed it.
            Err(_)
                if Space::open(&recovered.join(&file), Direct::Off, &Keys::default()).is_err() =>
            {
                compared.dropped_files += 1;
                continue;
            }
            Err(error) => {
                compared.different.push(error.to_string());
                continue;
            }
        };
        // The server may have given it another name: it finishes what it was doing.
        match theirs.remove(&space.header().space) {
            Some(theirs) => compare_file(&space, (&theirs, keys), end, &mut compared),
            None => compared.dropped_files += 1,
        }
    }
    compared.made_files = theirs.len() as u64;
    compared
}

/// The files of a directory by their tablespaces.
fn spaces(root: &Path) -> HashMap<SpaceId, PathBuf> {
    let mut found = HashMap::new();
    for file in tablespaces(root, &Keys::default()) {
        let path = root.join(file);
        // What the server was making when it was killed has no first page.
        if let Ok(space) = Space::open(&path, Direct::Off, &Keys::default()) {
            found.insert(space.header().space, path);
        }
    }
    found
}

/// Whether a page is free in the server's file.
fn is_free(path: &Path, keys: &Keys, page: PageNo) -> bool {
    let space = Space::open(path, Direct::Off, keys).unwrap();
    let described = space.format().physical_bytes;
    let mut reader = SpaceReader::new(space).unwrap();
    let free = reader.with_page(PageNo(page.0 / described * described), |extents| {
        for extent in ExtentsPage::parse(extents)?.extents() {
            let extent = extent?;
            if (extent.first.0..extent.first.0 + extent.pages).contains(&page.0) {
                return Ok(extent.is_free(page.0 - extent.first.0));
            }
        }
        Ok(false)
    });
    free.unwrap()
}

/// A page of the recovered file as it is in memory, and how it is stored, unless it is stored as ours is once it is
/// settled.
fn converted(reader: &mut SpaceReader, page: PageNo) -> Option<(StoredAs, Vec<u8>)> {
    let is_plain_zip =
        reader.space().format().is_zip && reader.space().header().encryption.is_none();
    let opened = reader.with_page(page, |page| Ok((page.stored_as(), page.bytes().to_vec())));
    // A damaged one is compared as it is.
    opened.ok().filter(|(stored_as, _)| !is_plain_zip && *stored_as != StoredAs::Plain)
}

fn compare_file(space: &Space, (path, keys): (&Path, &Keys), end: Lsn, compared: &mut Compared) {
    let theirs = std::fs::read(path).unwrap();
    let mut their_reader = SpaceReader::new(Space::open(path, Direct::Off, keys).unwrap()).unwrap();
    let file = space.file().path();
    let redo = space.redo().unwrap().clone();
    let format = space.format();
    let mut reader = SpaceReader::new(space.clone()).unwrap();
    let doublewrite = doublewrite(&mut reader);
    for (number, theirs) in theirs.chunks_exact(space.page_bytes()).enumerate() {
        let page = PageNo(number as u32);
        let lsn = Lsn(u64::from_be_bytes(theirs[16..24].try_into().unwrap()));
        if lsn > end {
            compared.newer += 1;
            continue;
        }
        if doublewrite.iter().any(|block| block.contains(&page.0)) {
            compared.doublewrite += 1;
            continue;
        }
        if redo.recovery().is_freed(format.space, page).unwrap() {
            compared.freed += 1;
            continue;
        }
        if theirs.iter().all(|&byte| byte == 0) && !redo.has_page(page).unwrap() {
            continue;
        }
        let ours = match reader.read_page(page) {
            Ok(ours) => ours,
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let why = error
                    .as_format()
                    .map_or_else(|| error.to_string(), |error| error.what().to_string());
                *compared.refused.entry(why).or_default() += 1;
                continue;
            }
            Err(error) => {
                compared.different.push(format!("{}: page {page}: {error}", file.display()));
                continue;
            }
        };
        let stored = &ours;
        let converted = converted(&mut their_reader, page);
        let mut scratch = Scratch::default();
        let (ours, theirs) = match &converted {
            None => (&ours[..], theirs),
            Some((_, theirs)) => {
                match page::open(&ours, space.page_context(), page, &mut scratch) {
                    Ok(ours) => (ours.bytes(), &theirs[..]),
                    Err(error) => {
                        compared.different.push(format!("{}: {error}", file.display()));
                        continue;
                    }
                }
            }
        };
        // What a file has in these places is lost, or is left in the page.
        let lost = match &converted {
            _ if matches!(theirs[26..28], [2, 1 | 2]) => 26..34,
            Some((StoredAs::Compressed, _)) => 26..34,
            Some(_) => 28..30,
            None => 0..0,
        };
        let same_bytes = |at: usize| {
            // The shutdown writes its LSN there.
            let is_flush_lsn =
                format.space == SpaceId::SYSTEM && number == 0 && (26..34).contains(&at);
            ours[at] == theirs[at] || is_flush_lsn || lost.contains(&at)
        };
        let trailer = if format.is_zip && converted.is_none() { 0 } else { 8 };
        let wrong = (4..theirs.len() - trailer).find(|&at| !same_bytes(at));
        match wrong {
            Some(_) if redo.has_deltas() && theirs.iter().all(|&byte| byte == 0) => {
                compared.lost += 1;
            }
            None => {
                compared.equal += 1;
                compared.changed += u64::from(redo.has_page(page).unwrap());
            }
            Some(_) if is_free(path, keys, page) => compared.freed += 1,
            Some(at) => compared.different.push(format!(
                "{}: page {page} (type {}, LSN {lsn}, ours {}): byte {at}: {:02x?}, the server has {:02x?}; \
                 {} bytes differ",
                file.display(),
                u16::from_be_bytes(theirs[24..26].try_into().unwrap()),
                u64::from_be_bytes(ours[16..24].try_into().unwrap()),
                &ours[at..(at + 8).min(ours.len())],
                &theirs[at..(at + 8).min(theirs.len())],
                (4..theirs.len() - trailer).filter(|&at| !same_bytes(at)).count(),
            )),
        }
        // A page by itself, without a pool, is the same page.
        if number % 16 == 0 {
            match space.read_page(page) {
                Ok(alone) if alone[..] == stored[..] => {}
                _ => compared.different.push(format!("{}: page {page} alone", file.display())),
            }
        }
    }
}

/// The pages of the doublewrite buffer, which has copies of other pages.
fn doublewrite(reader: &mut SpaceReader) -> Vec<Range<u32>> {
    if reader.space().header().space != SpaceId::SYSTEM {
        return Vec::new();
    }
    let pages = reader.space().page_size().extent_pages();
    let buffer = reader.with_page(TRX_SYS_PAGE, |page| Doublewrite::read(&page)).unwrap();
    let blocks = buffer.map_or_else(Vec::new, |buffer| buffer.blocks.to_vec());
    blocks.into_iter().map(|first| first.0..first.0 + pages).collect()
}
