//! Pages whose write was not finished: pages of a killed server's directory are cut in two on purpose, of which one part
//! is of another version of the page, zeroes, or anything. Those that the doublewrite buffer or the log has must be
//! as the server recovers them from the whole directory; the others must be reported.
//!
//! `INNOSCAN_TORN=count` names the number of pages for each seed.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Shutdown, Trust};
use innoscan_engine::keys::Keys;
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_format::page::system::Doublewrite;
use innoscan_format::page::{self, IndexPage, PageKind, Scratch};
use innoscan_format::{Lsn, PageNo, SpaceId};
use innoscan_io::Direct;
use innoscan_testkit::server::install;

use super::load::{Family, Random};
use super::pages::tablespaces;
use super::rows::checksum;
use super::{
    CHANGES_OF_ROWS, Extra, Load, copy, fixture, killed_under, mysql_version, recover, seeds,
    version,
};

/// Pages that are always tested.
const TORN: usize = 60;
/// Pages that are torn at the same time.
const BATCH: usize = 32;
/// Where pages are cut.
const CUTS: [usize; 3] = [512, 4096, 8192];

/// Who has a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// The doublewrite buffer.
    Doublewrite,
    /// The log, which initialises it.
    Log,
    /// The file alone.
    File,
}

/// A page that can be torn.
struct Victim {
    file: PathBuf,
    page: PageNo,
    space: SpaceId,
    source: Source,
    is_of_mysql: bool,
    /// The bytes in the file.
    stored: Vec<u8>,
    /// The bytes in the file that the server recovered.
    theirs: Vec<u8>,
    /// The bytes in the doublewrite buffer.
    copy: Option<Vec<u8>>,
    /// The page in memory, as the server recovered it.
    truth: Vec<u8>,
}

impl Victim {
    /// Whether nothing is read without the page: of the system tablespace the first pages, of undo tablespaces page 0.
    fn is_vital(&self) -> bool {
        let is_undo = self.file.to_string_lossy().starts_with("undo");
        self.space == SpaceId::SYSTEM && self.page.0 < 8 || is_undo && self.page.0 == 0
    }
}

/// How torn pages were read.
#[derive(Debug, Default)]
struct Answers(BTreeMap<(Source, &'static str), u32>);

impl Answers {
    fn add(&mut self, source: Source, answer: &'static str) {
        *self.0.entry((source, answer)).or_default() += 1;
    }

    fn add_all(&mut self, others: Answers) {
        for (key, count) in others.0 {
            *self.0.entry(key).or_default() += count;
        }
    }

    fn of(&self, source: Source, answer: &'static str) -> u32 {
        self.0.get(&(source, answer)).copied().unwrap_or_default()
    }
}

fn count() -> usize {
    std::env::var("INNOSCAN_TORN").map_or(TORN, |count| count.parse().unwrap())
}

#[test]
fn torn_pages_are_read_as_the_server_recovers_them_or_reported() {
    tear(&version(), Extra::None);
}

#[test]
#[ignore = "starts a server with keys: make test-all"]
fn torn_pages_that_are_encrypted_and_compressed() {
    tear(&version(), Extra::Encrypted);
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn torn_pages_of_mysql() {
    tear(&mysql_version(), Extra::None);
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn torn_pages_of_mysql_that_are_encrypted_and_compressed() {
    tear(&mysql_version(), Extra::Encrypted);
}

#[test]
fn rows_of_a_torn_page_are_those_of_its_copy_or_none() {
    let (_dir, data) = fixture::unpacked();
    let whole = checksum(&data, "d.dyn").unwrap();
    let path = data.join("d/dyn.ibd");
    let keys = Keys::default();
    open(&data, &keys).unwrap();
    let space = Space::open(&path, Direct::Off, &keys).unwrap();
    let (redo, page_bytes) = (space.redo().unwrap().clone(), space.page_bytes());
    let mut reader = SpaceReader::new(space).unwrap();
    let file = std::fs::read(&path).unwrap();
    // A leaf of the clustered index that the log changes, and does not initialise.
    let id = reader.space().header().space;
    let is_leaf = |page: &[u8]| page[24..26] == [0x45, 0xbf] && page[64..66] == [0, 0];
    let (number, settled) = (4..(file.len() / page_bytes) as u32)
        .map(PageNo)
        .filter(|&page| {
            redo.has_page(page).unwrap() && !redo.recovery().initialises(id, page).unwrap()
        })
        .map(|page| (page, reader.read_page(page).unwrap().to_vec()))
        .find(|(_, page)| is_leaf(page))
        .unwrap();
    let at = number.0 as usize * page_bytes;
    let mut torn = file.clone();
    torn[at + 512..at + page_bytes].fill(0xee);
    std::fs::write(&path, torn).unwrap();
    let why = checksum(&data, "d.dyn").unwrap_err();
    let place = format!("(space {id}, page {number})");
    for part in ["dyn.ibd", &place, "another copy of the directory", "innoscan check"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    // Its copy, in the first place of the doublewrite buffer.
    let system = data.join("ibdata1");
    let mut bytes = std::fs::read(&system).unwrap();
    let page_5 = &bytes[5 * page_bytes..6 * page_bytes];
    let first = Doublewrite::blocks_of(page_5).unwrap().unwrap()[0].0 as usize * page_bytes;
    bytes[first..first + page_bytes].copy_from_slice(&settled);
    std::fs::write(&system, &bytes).unwrap();
    assert_eq!(checksum(&data, "d.dyn"), Ok(whole));
    // A copy from before the checkpoint: the log does not have what changed the page until then.
    let copy = &mut bytes[first..first + page_bytes];
    let before = Lsn(redo.recovery().checkpoint().0 - 1);
    page::seal(copy, reader.space().format(), before).unwrap();
    std::fs::write(&system, &bytes).unwrap();
    assert_eq!(checksum(&data, "d.dyn"), Err(why));
}

#[test]
fn a_torn_page_0_is_taken_from_its_copy_of_the_system_tablespace_too() {
    let (_dir, data) = fixture::unpacked();
    let whole = checksum(&data, "d.dyn").unwrap();
    for name in ["ibdata1", "d/dyn.ibd"] {
        let keys = Keys::default();
        open(&data, &keys).unwrap();
        let space = Space::open(&data.join(name), Direct::Off, &keys).unwrap();
        let checkpoint = space.redo().unwrap().recovery().checkpoint();
        let (format, page_bytes) = (space.format(), space.page_bytes());
        let mut reader = SpaceReader::new(space).unwrap();
        let mut copy = reader.read_page(PageNo(0)).unwrap().to_vec();
        let lsn = lsn_of(&copy);
        // As if it had been written at the checkpoint.
        page::seal(&mut copy, format, lsn.max(checkpoint)).unwrap();
        let before = std::fs::read(data.join(name)).unwrap();
        let put = |name: &str, at: usize, bytes: &[u8]| {
            let file = OpenOptions::new().write(true).open(data.join(name)).unwrap();
            file.write_all_at(bytes, at as u64).unwrap();
        };
        put(name, 0, &[0xee; 512]);
        let why = checksum(&data, "d.dyn").unwrap_err();
        let file = Path::new(name).file_name().unwrap().to_string_lossy();
        for part in [&*file, "page 0", "another copy of the directory"] {
            assert!(why.contains(part), "{part}: {why}");
        }
        let system = std::fs::read(data.join("ibdata1")).unwrap();
        let page_5 = &system[5 * page_bytes..6 * page_bytes];
        let first = Doublewrite::blocks_of(page_5).unwrap().unwrap()[1].0 as usize * page_bytes;
        put("ibdata1", first, &copy);
        assert_eq!(checksum(&data, "d.dyn"), Ok(whole.clone()), "{name}");
        put(name, 0, &before[..512]);
    }
}

fn tear(version: &str, extra: Extra) {
    install(version).unwrap();
    let mut all = Answers::default();
    for seed in seeds() {
        let dir = tempfile::Builder::new().prefix("innoscan-torn-").tempdir_in("/var/tmp").unwrap();
        let data = killed_under(version, seed, dir.path(), Load { extra, ..CHANGES_OF_ROWS });
        let recovered = dir.path().join("recovered");
        copy(&dir.path().join("server"), &recovered);
        recover(version, &recovered, "3");
        let keys = extra.keys(Family::of(version), dir.path());
        let mut victims = victims(&data, &recovered.join("data"), &keys);
        let answers = tear_all(&data, &mut victims, &keys, seed);
        println!("seed {seed}: {answers:?}");
        match answers {
            Ok(answers) => all.add_all(answers),
            Err(why) => panic!("seed {seed}: {why}: {}", dir.keep().display()),
        }
    }
    println!("{version}: {all:?}");
    // A server that is killed right after a checkpoint has no copies that count; those of the fixture do.
    assert!(all.of(Source::Log, "right") > 0, "{all:?}");
    assert!(all.of(Source::File, "reported") > 0, "{all:?}");
}

/// Opens the directory of a killed server.
fn open(data: &Path, keys: &Keys) -> Result<DataDir, String> {
    let datadir = DataDir::open(data, &DataFiles::default(), Trust::Force, keys)
        .map_err(|error| error.to_string())?;
    match datadir.shutdown() {
        Shutdown::Crashed { .. } => Ok(datadir),
        Shutdown::Unknown(why) => Err(why.clone()),
        Shutdown::Clean { .. } => Err("the directory is clean".to_owned()),
    }
}

/// The page of a reader in memory; `None` if it has only zeroes.
fn in_memory(reader: &mut SpaceReader, page: PageNo) -> Result<Option<Vec<u8>>, String> {
    let read = reader.with_page(page, |page| match page.kind() {
        PageKind::Zeroes => {
            assert!(IndexPage::parse(page).is_err(), "a page of zeroes has records");
            Ok(None)
        }
        _ => Ok(Some(page.bytes().to_vec())),
    });
    read.map_err(|error| error.to_string())
}

/// Whether two pages in memory are the same but for their checksums and for bytes 26 to 33, where page 0 of the system
/// tablespace has the LSN of a shutdown and an encrypted page the version of its key.
fn are_equal(ours: &[u8], theirs: &[u8]) -> bool {
    let end = ours.len() - 8;
    ours.len() == theirs.len() && ours[4..26] == theirs[4..26] && ours[34..end] == theirs[34..end]
}

/// The pages of a directory that innoscan reads as the server recovers them.
fn victims(data: &Path, recovered: &Path, keys: &Keys) -> Vec<Victim> {
    let datadir = open(data, keys).unwrap();
    let end = datadir.newest_lsn().unwrap();
    let copies = copies(data, keys, end);
    let mut victims = Vec::new();
    for file in tablespaces(data, keys) {
        let Ok(space) = Space::open(&data.join(&file), Direct::Off, keys) else { continue };
        let Ok(theirs) = Space::open(&recovered.join(&file), Direct::Off, keys) else { continue };
        let id = space.header().space;
        if theirs.header().space != id {
            continue;
        }
        let redo = space.redo().unwrap().clone();
        let page_bytes = space.page_bytes();
        let in_file = std::fs::read(data.join(&file)).unwrap();
        let of_theirs = std::fs::read(recovered.join(&file)).unwrap();
        let context = &space.page_context().clone();
        let mut scratch = Scratch::default();
        let mut reader = SpaceReader::new(space).unwrap();
        let mut their_reader = SpaceReader::new(theirs).unwrap();
        let stored = in_file.chunks_exact(page_bytes).zip(of_theirs.chunks_exact(page_bytes));
        for (number, (stored, theirs)) in (0..).map(PageNo).zip(stored) {
            let recovery = redo.recovery();
            if stored.iter().all(|&byte| byte == 0) || recovery.is_freed(id, number).unwrap() {
                continue;
            }
            let truth = (in_memory(&mut reader, number), in_memory(&mut their_reader, number));
            let (Ok(Some(ours)), Ok(Some(truth))) = truth else { continue };
            if !are_equal(&ours, &truth) {
                continue;
            }
            let copy = copies.get(&(id, number)).map(|copy| &copy[..page_bytes]);
            // The server was also killed while it wrote copies.
            let is_sound = |copy: &&[u8]| page::open(copy, context, number, &mut scratch).is_ok();
            let copy = copy.filter(is_sound);
            let is_in_range = |copy: &&[u8]| lsn_of(copy) >= recovery.checkpoint();
            let source = match copy.filter(is_in_range) {
                _ if recovery.initialises(id, number).unwrap() => Source::Log,
                Some(_) => Source::Doublewrite,
                None => Source::File,
            };
            victims.push(Victim {
                file: file.clone(),
                page: number,
                space: id,
                source,
                is_of_mysql: data.join("mysql.ibd").exists(),
                stored: stored.to_vec(),
                theirs: theirs.to_vec(),
                copy: copy.map(<[u8]>::to_vec),
                truth,
            });
        }
    }
    victims
}

/// The newest copy of each page in the doublewrite buffer, up to the end of the log.
fn copies(data: &Path, keys: &Keys, end: Lsn) -> HashMap<(SpaceId, PageNo), Vec<u8>> {
    let system = Space::open(&data.join("ibdata1"), Direct::Off, keys).unwrap();
    let size = system.page_size();
    let mut reader = SpaceReader::new(system).unwrap();
    let buffer = reader.with_page(PageNo(5), |page| Doublewrite::read(&page)).unwrap();
    let mut runs = Vec::new();
    if let Some(buffer) = buffer {
        let file = std::fs::read(data.join("ibdata1")).unwrap();
        for first in buffer.blocks {
            let start = first.0 as usize * size.len();
            runs.push(file[start..start + size.extent_pages() as usize * size.len()].to_vec());
        }
    }
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "dblwr") {
            runs.push(std::fs::read(path).unwrap());
        }
    }
    let mut copies = HashMap::<_, Vec<u8>>::new();
    for copy in runs.iter().flat_map(|run| run.chunks_exact(size.len())) {
        let number = |at: usize| u32::from_be_bytes(copy[at..at + 4].try_into().unwrap());
        let key = (SpaceId(number(34)), PageNo(number(4)));
        let is_newest = copies.get(&key).is_none_or(|other| lsn_of(other) < lsn_of(copy));
        if lsn_of(copy).0 > 0 && lsn_of(copy) <= end && is_newest {
            copies.insert(key, copy.to_vec());
        }
    }
    copies
}

fn lsn_of(page: &[u8]) -> Lsn {
    Lsn(u64::from_be_bytes(page[16..24].try_into().unwrap()))
}

/// Tears pages of all kinds, some at a time, and reads them.
fn tear_all(
    data: &Path,
    victims: &mut Vec<Victim>,
    keys: &Keys,
    seed: u64,
) -> Result<Answers, String> {
    let mut random = Random::new(seed ^ 91);
    let mut answers = Answers::default();
    for source in [Source::Doublewrite, Source::Log, Source::File] {
        let of_source: Vec<Victim> =
            victims.extract_if(.., |victim| victim.source == source).collect();
        for vital in of_source.iter().filter(|victim| victim.is_vital()) {
            read_torn(data, &[vital], keys, &mut random, &mut answers)?;
        }
        let (mut left, mut batch) = (count().div_ceil(3), Vec::new());
        while left > 0 && !of_source.is_empty() {
            // Page 0, on which all of its file depends, is torn alone; so are the pages of the system tablespace.
            let at = random.below(of_source.len() as u64) as usize;
            let is_alone = of_source[at].page.0 == 0 || of_source[at].space == SpaceId::SYSTEM;
            left -= 1;
            match is_alone {
                true => read_torn(data, &[&of_source[at]], keys, &mut random, &mut answers)?,
                false => batch.push(at),
            }
            batch.sort_unstable();
            batch.dedup();
            if batch.len() == BATCH || left == 0 {
                let torn: Vec<&Victim> = batch.drain(..).map(|at| &of_source[at]).collect();
                read_torn(data, &torn, keys, &mut random, &mut answers)?;
            }
        }
    }
    Ok(answers)
}

/// The bytes of a torn page, and what they are.
fn torn(victim: &Victim, random: &mut Random) -> (Vec<u8>, String) {
    let len = victim.stored.len();
    let (other, what) = match random.below(4) {
        0 => (vec![0; len], "zeroes"),
        1 => ((0..len).map(|_| random.below(256) as u8).collect(), "garbage"),
        2 => (victim.theirs.clone(), "the recovered page"),
        _ => (victim.copy.clone().unwrap_or_else(|| vec![0xff; len]), "its copy"),
    };
    let cuts: Vec<usize> = CUTS.into_iter().filter(|&cut| cut < len).collect();
    let cut = cuts[random.below(cuts.len() as u64) as usize];
    let (mut first, mut rest) = (victim.stored.clone(), other);
    let is_other_first = random.below(2) == 0;
    if is_other_first {
        std::mem::swap(&mut first, &mut rest);
    }
    first.truncate(cut);
    first.extend_from_slice(&rest[cut..]);
    let part = if is_other_first { "first" } else { "last" };
    (first, format!("cut at {cut}, the {part} part is {what}"))
}

/// Tears pages in their files, reads them, and gives the files their bytes again.
fn read_torn(
    data: &Path,
    victims: &[&Victim],
    keys: &Keys,
    random: &mut Random,
    answers: &mut Answers,
) -> Result<(), String> {
    let put = |victim: &Victim, bytes: &[u8]| {
        let file: File = OpenOptions::new().write(true).open(data.join(&victim.file)).unwrap();
        let offset = u64::from(victim.page.0) * bytes.len() as u64;
        file.write_all_at(bytes, offset).unwrap();
    };
    let mut tears = Vec::new();
    for victim in victims {
        let (bytes, what) = torn(victim, random);
        put(victim, &bytes);
        tears.push(what);
    }
    let opened = open(data, keys);
    let mut first_error = None;
    for (victim, tear) in victims.iter().zip(&tears) {
        let read = match &opened {
            Ok(_) => read_one(data, victim, keys),
            Err(why) => Err(why.clone()),
        };
        match judge(victim, read) {
            Ok(answer) => answers.add(victim.source, answer),
            Err(why) => {
                let Victim { file, page, source, .. } = victim;
                let place = format!("{}: page {page} ({source:?}), {tear}", file.display());
                first_error.get_or_insert(format!("{place}: {why}"));
            }
        }
    }
    for victim in victims {
        put(victim, &victim.stored);
    }
    first_error.map_or(Ok(()), Err)
}

fn read_one(data: &Path, victim: &Victim, keys: &Keys) -> Result<Option<Vec<u8>>, String> {
    let space = Space::open(&data.join(&victim.file), Direct::Off, keys)
        .map_err(|error| error.to_string())?;
    in_memory(&mut SpaceReader::new(space).unwrap(), victim.page)
}

/// Judges what was read of a torn page.
fn judge(victim: &Victim, read: Result<Option<Vec<u8>>, String>) -> Result<&'static str, String> {
    match (victim.source, read) {
        (_, Ok(Some(page))) if are_equal(&page, &victim.truth) => Ok("right"),
        (_, Ok(Some(page))) => {
            let at = (4..page.len()).find(|&at| page[at] != victim.truth[at]);
            Err(format!("it is read, and different, from {at:?} on: {:?}", &page[..100]))
        }
        // Nobody takes such a page for one with records.
        (Source::File, Ok(None)) => Ok("zeroes"),
        (_, Ok(None)) => Err("it is read as zeroes".to_owned()),
        (source, Err(why)) if source == Source::File || may_be_refused(victim, &why) => {
            let name = victim.file.file_name().unwrap().to_string_lossy();
            // Without page 0 the tablespace of a file that the log does not name is not known.
            let place = match victim.page {
                PageNo(0) => "page 0".to_owned(),
                page => format!("space {}, page {page}", victim.space),
            };
            let parts = [&*name, &place, "another copy of the directory"];
            match parts.iter().find(|part| !why.contains(*part)) {
                None => Ok("reported"),
                Some(part) => Err(format!("the message has no {part:?}: {why}")),
            }
        }
        (_, Err(why)) => Err(why),
    }
}

/// Whether a page that is not the file's alone may be reported, of MySQL: a page 0 that begins with anything, since the
/// log does not name its file; and one whose copy is older, where the log does not have what changed since.
fn may_be_refused(victim: &Victim, why: &str) -> bool {
    victim.is_of_mysql && (victim.page.0 == 0 || why.contains("may be older than the damaged page"))
}
