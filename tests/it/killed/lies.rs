//! Logs that are damaged, cut short or of another directory, and files copied after the log: they are
//! refused, or give pages as the whole log does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use innoscan_catalog::Prepared;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Shutdown, Trust};
use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_format::page::{PageFormat, PageKind};
use innoscan_format::redo::RedoHead;
use innoscan_format::{Lsn, PageNo, PageSize};
use innoscan_io::Direct;
use innoscan_testkit::server::install;

use super::load::{Family, Random};
use super::pages::tablespaces;
use super::rows::checksum;
use super::{
    CHANGES_OF_ROWS, Extra, Load, copy, fixture, killed, killed_under, mysql_version, recover,
    version,
};

/// Damaged copies of the log.
const CASES: u64 = 90;

/// The pages of a directory: the bytes of each that is sound, by file and number.
pub(super) type Pages = HashMap<(PathBuf, u32), Vec<u8>>;

/// What innoscan makes of a directory: the end of its log and its pages, or the error.
fn read(data: &Path) -> Result<(Lsn, Pages), String> {
    read_with(data, &DataFiles::default())
}

/// The same of a backup with incremental backups on it.
pub(super) fn read_with(data: &Path, files: &DataFiles) -> Result<(Lsn, Pages), String> {
    read_by(data, files, &Keys::default())
}

fn read_by(data: &Path, files: &DataFiles, keys: &Keys) -> Result<(Lsn, Pages), String> {
    // Force: unfinished transactions do not matter here.
    let datadir =
        DataDir::open(data, files, Trust::Force, keys).map_err(|error| error.to_string())?;
    let end = match datadir.shutdown() {
        Shutdown::Crashed { end } => *end,
        Shutdown::Clean { end } => *end,
        Shutdown::Unknown(why) => return Err(why.clone()),
    };
    let mut pages = Pages::new();
    let data = datadir.root();
    for file in tablespaces(data, keys) {
        let Ok(space) = Space::open(&data.join(&file), Direct::Off, keys) else { continue };
        let count = space.file_pages();
        let redo = space.redo().cloned();
        let id = space.header().space;
        let is_freed = |number| {
            redo.as_ref().is_some_and(|redo| redo.recovery().is_freed(id, PageNo(number)).unwrap())
        };
        let mut reader = SpaceReader::new(space).unwrap();
        // Freed pages are void: what they hold is of any time.
        for number in (0..count).filter(|&number| !is_freed(number)) {
            let read = reader.with_page(PageNo(number), |page| {
                let is_written = page.kind() != PageKind::Zeroes;
                Ok(is_written.then(|| page.bytes().to_vec()))
            });
            if let Ok(Some(bytes)) = read {
                pages.insert((file.clone(), number), bytes);
            }
        }
    }
    Ok((end, pages))
}

fn lsn_of(page: &[u8]) -> Lsn {
    Lsn(u64::from_be_bytes(page[16..24].try_into().unwrap()))
}

/// How a lie was answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    refused: u32,
    read: u32,
    pages: u64,
}

impl Answers {
    /// Whether some lies were refused, and pages read in spite of others.
    pub(super) fn is_of_each_kind(&self) -> bool {
        self.refused > 0 && self.read > 0 && self.pages > 0
    }

    /// Requires that pages read in spite of a lie are those of the truth: a page whose newest change the
    /// log still has must have it. Pages may be older where the log is cut before that change.
    pub(super) fn judge(&mut self, truth: &Pages, read: Result<(Lsn, Pages), String>, what: &str) {
        let Ok((end, pages)) = read else {
            self.refused += 1;
            return;
        };
        self.read += 1;
        for (place, page) in pages {
            assert!(lsn_of(&page) <= end, "{what}: {place:?} is newer than the log's end {end}");
            let Some(true_page) = truth.get(&place) else { continue };
            if lsn_of(true_page) <= end {
                assert!(page[16..] == true_page[16..], "{what}: {place:?}, log to {end}");
                self.pages += 1;
            }
        }
    }
}

/// A log whose head has some bytes, damaged.
fn damaged(log: &[u8], head: usize, random: &mut Random, case: u64) -> (Vec<u8>, String) {
    let mut log = log.to_vec();
    let at = match case % 3 {
        // The head with its checkpoints, and the log itself.
        0 => random.below(head as u64) as usize,
        _ => head + random.below((log.len() - head) as u64) as usize,
    };
    match random.below(4) {
        0 => {
            log.truncate(at);
            (log, format!("cut at {at}"))
        }
        1 => {
            let end = (at + 4096).min(log.len());
            log[at..end].fill(0);
            (log, format!("zeroes at {at}"))
        }
        _ => {
            let bit = random.below(8);
            log[at] ^= 1 << bit;
            (log, format!("bit {bit} at {at}"))
        }
    }
}

/// Makes a record lie in one of the blocks before `end`, under a right checksum.
fn lie_in_block(log: &mut [u8], end: usize, random: &mut Random) {
    let start = 2048 + 512 * random.below((end as u64 - 2048) / 512) as usize;
    let at = start + 12 + random.below(496) as usize;
    log[at] = match random.below(3) {
        0 => random.below(256) as u8,
        _ => log[at] ^ 1 << random.below(8),
    };
    let sum = crc32c(&log[start..start + 508]);
    log[start + 508..start + 512].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn a_damaged_log_is_refused_or_gives_right_pages() {
    let (_dir, data) = fixture::unpacked();
    damage(&data, 12_288);
}

#[test]
fn a_damaged_log_of_blocks_is_refused_or_gives_right_pages() {
    let (_dir, data) = fixture::unpacked_of(fixture::OF_BLOCKS);
    damage(&data, 2048);
}

/// Damages the log of a directory, whose head has some bytes.
fn damage(data: &Path, head: usize) {
    let (_, truth) = read(data).unwrap();
    let log_path = data.join("ib_logfile0");
    let log = std::fs::read(&log_path).unwrap();
    let mut random = Random::new(4);
    let mut answers = Answers::default();
    for case in 0..CASES {
        let (lie, what) = damaged(&log, head, &mut random, case);
        std::fs::write(&log_path, lie).unwrap();
        answers.judge(&truth, read(data), &format!("case {case}: {what}"));
    }
    println!("damaged logs: {answers:?}");
    assert!(answers.refused > 0 && answers.read > 0 && answers.pages > 0, "{answers:?}");
}

#[test]
fn a_table_whose_file_the_log_renames_is_refused() {
    let (_dir, data) = fixture::unpacked_of(fixture::OF_BLOCKS);
    assert!(checksum(&data, "d.young").is_ok());
    let log_path = data.join("ib_logfile0");
    let mut log = std::fs::read(&log_path).unwrap();
    let place = |block: &[u8]| block.windows(11).position(|bytes| bytes == b"d/young.ibd");
    for block in log[2048..].chunks_exact_mut(512).filter(|block| place(block).is_some()) {
        while let Some(at) = place(block) {
            block[at + 2] = b'Y';
        }
        let sum = crc32c(&block[..508]);
        block[508..].copy_from_slice(&sum.to_be_bytes());
    }
    std::fs::write(&log_path, log).unwrap();
    let why = checksum(&data, "d.young").unwrap_err();
    assert!(why.contains("the redo log gives the file the name"), "{why}");
    assert!(why.contains("was killed while it created, dropped or altered"), "{why}");
    assert!(checksum(&data, "d.dyn").is_ok());
}

#[test]
fn lying_records_of_a_log_of_blocks_end_in_errors() {
    let (_dir, data) = fixture::unpacked_of(fixture::OF_BLOCKS);
    let log_path = data.join("ib_logfile0");
    let log = std::fs::read(&log_path).unwrap();
    let end = log.iter().rposition(|&byte| byte != 0).unwrap();
    let mut random = Random::new(6);
    let (mut refused, mut read_through) = (0, 0);
    for _ in 0..CASES {
        let mut lie = log.clone();
        for _ in 0..=random.below(20) {
            lie_in_block(&mut lie, end, &mut random);
        }
        std::fs::write(&log_path, &lie).unwrap();
        // No panic, and an end.
        match read(&data) {
            Ok(_) => read_through += 1,
            Err(_) => refused += 1,
        }
    }
    println!("lying records: {refused} logs refused, {read_through} read");
    assert!(refused > 0 && read_through > 0);
}

#[test]
fn files_that_were_copied_after_the_log_are_refused() {
    let (_dir, data) = fixture::unpacked();
    let log = std::fs::read(data.join("ib_logfile0")).unwrap();
    let RedoHead::Circular(log) = RedoHead::parse(&log, log.len() as u64).unwrap() else {
        panic!("a log of blocks");
    };
    let path = data.join("ibdata1");
    let mut file = std::fs::read(&path).unwrap();
    let format = innoscan_testkit::page::format(0);
    let format =
        PageFormat { page_size: PageSize::MIN, physical_bytes: 4096, full_crc32: true, ..format };
    let newer = (u64::MAX >> 1, "newer than the end of the redo log");
    let between = (log.checkpoint.0 + 1, "where the page was not changed");
    for (lsn, expected) in [newer, between] {
        // The page that lists the rollback segments.
        let page = &mut file[5 * 4096..6 * 4096];
        innoscan_format::page::seal(page, format, Lsn(lsn)).unwrap();
        std::fs::write(&path, &file).unwrap();
        let opened = DataDir::open(
            &data,
            &DataFiles::default(),
            Trust::Verify(Prepared::default()),
            &Keys::default(),
        );
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
#[ignore = "starts two servers: make test-all"]
fn a_foreign_log_is_refused() {
    let version = version();
    install(&version).unwrap();
    let dir = tempfile::Builder::new().prefix("innoscan-lies-").tempdir_in("/var/tmp").unwrap();
    let data = killed(&version, 11, dir.path());
    let log_path = data.join("ib_logfile0");
    // An older log of the same server, and another server's: the files are newer, or of other changes.
    let recovered = dir.path().join("recovered");
    copy(&dir.path().join("server"), &recovered);
    recover(&version, &recovered, "0");
    let other = killed(&version, 16, &dir.path().join("other"));
    for directory in [recovered.join("data"), other] {
        std::fs::copy(&log_path, directory.join("ib_logfile0")).unwrap();
        let keys = Keys::default();
        let error = DataDir::open(
            &directory,
            &DataFiles::default(),
            Trust::Verify(Prepared::default()),
            &keys,
        );
        println!("a foreign log: {}", error.as_ref().unwrap_err());
        assert!(error.is_err());
    }
}

/// The files of a MySQL server's log.
fn log_files(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("#innodb_redo")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.to_string_lossy().ends_with("_tmp"));
    files.sort();
    files
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn damaged_and_foreign_logs_of_mysql_are_refused_or_right() {
    lie_to_mysql(Extra::None);
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn damaged_and_foreign_logs_of_mysql_that_are_encrypted() {
    lie_to_mysql(Extra::Encrypted);
}

fn lie_to_mysql(extra: Extra) {
    let version = mysql_version();
    install(&version).unwrap();
    let dir = tempfile::Builder::new().prefix("innoscan-lies-").tempdir_in("/var/tmp").unwrap();
    let load = Load { extra, ..CHANGES_OF_ROWS };
    let data = killed_under(&version, 0, dir.path(), load);
    let keys = extra.keys(Family::MySql, dir.path());
    let read = |data: &Path| read_by(data, &DataFiles::default(), &keys);
    let (_, truth) = read(&data).unwrap();
    let files = log_files(&data);
    let mut random = Random::new(4);
    let mut answers = Answers::default();
    for case in 0..CASES {
        let file = &files[random.below(files.len() as u64) as usize];
        let other = &files[random.below(files.len() as u64) as usize];
        let (log, of_other) = (std::fs::read(file).unwrap(), std::fs::read(other).unwrap());
        let what = match case % 6 {
            4 => {
                std::fs::remove_file(file).unwrap();
                format!("without {}", file.display())
            }
            5 => {
                std::fs::write(file, &of_other).unwrap();
                std::fs::write(other, &log).unwrap();
                format!("{} and {} change places", file.display(), other.display())
            }
            _ => {
                let (lie, what) = damaged_file(&log, &mut random, case);
                std::fs::write(file, lie).unwrap();
                format!("{}: {what}", file.display())
            }
        };
        answers.judge(&truth, read(&data), &format!("case {case}: {what}"));
        std::fs::write(file, &log).unwrap();
        std::fs::write(other, &of_other).unwrap();
    }
    println!("damaged logs: {answers:?}");
    assert!(answers.refused > 0 && answers.read > 0, "{answers:?}");
    // A file of another server's log among them.
    let other = killed_under(&version, 5, &dir.path().join("other"), load);
    let foreign = data.join("#innodb_redo/#ib_redo999999");
    std::fs::copy(log_files(&other).last().unwrap(), &foreign).unwrap();
    let open = |data: &Path| {
        let files = DataFiles::default();
        DataDir::open(data, &files, Trust::Verify(Prepared::default()), &keys)
            .unwrap_err()
            .to_string()
    };
    let error = open(&data);
    println!("a foreign file: {error}");
    assert!(error.contains("another redo log") || error.contains("before this one"), "{error}");
    std::fs::remove_file(foreign).unwrap();
    // All of another server's log.
    std::fs::remove_dir_all(data.join("#innodb_redo")).unwrap();
    copy(&other.join("#innodb_redo"), &data);
    println!("a foreign log: {}", open(&data));
}

/// One file of a log, damaged: in its head, or in its blocks.
fn damaged_file(log: &[u8], random: &mut Random, case: u64) -> (Vec<u8>, String) {
    let mut log = log.to_vec();
    let at = match case % 3 {
        0 => random.below(2048) as usize,
        _ => 2048 + random.below(log.len() as u64 - 2048) as usize,
    };
    let what = match random.below(4) {
        0 => {
            log.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            let end = (at + 512).min(log.len());
            log[at..end].fill(0);
            format!("zeroes at {at}")
        }
        _ => {
            log[at] ^= 1 << random.below(8);
            format!("a bit at {at}")
        }
    };
    (log, what)
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !sum
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn lying_records_of_mysql_end_in_errors() {
    let version = mysql_version();
    install(&version).unwrap();
    let dir = tempfile::Builder::new().prefix("innoscan-lies-").tempdir_in("/var/tmp").unwrap();
    let data = killed(&version, 4, dir.path());
    let files = log_files(&data);
    let mut random = Random::new(5);
    let (mut refused, mut read_through) = (0, 0);
    for _ in 0..CASES {
        let file = &files[random.below(files.len() as u64) as usize];
        let log = std::fs::read(file).unwrap();
        let mut lie = log.clone();
        for _ in 0..=random.below(40) {
            lie_in_block(&mut lie, log.len(), &mut random);
        }
        std::fs::write(file, &lie).unwrap();
        // No panic, and an end.
        match read(&data) {
            Ok(_) => read_through += 1,
            Err(_) => refused += 1,
        }
        std::fs::write(file, &log).unwrap();
    }
    println!("lying records: {refused} logs refused, {read_through} read");
    assert!(refused > 0 && read_through > 0);
}
