//! Backups by `mariadb-backup` with incremental backups on them, made under load and not prepared: the judge is
//! `mariadb-backup --prepare`, and a server on what that leaves.

use std::path::{Path, PathBuf};
use std::process::Command;

use innoscan_catalog::Prepared;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::datadir::{DataDir, Trust};
use innoscan_engine::keys::Keys;
use innoscan_testkit::server::{Server, install};

use super::lies::{Answers, read_with};
use super::load::{self, Random};
use super::rows::{REFUSED, checksum_with};
use super::{
    checksums, copy, lsn, options, pages, plan, seeds, until_checkpoint, until_written, version,
};
use crate::parity::command;

/// Backups of a chain.
const BACKUPS: usize = 3;

/// Lies that are tried on a chain.
const CASES: u64 = 12;

/// Runs `mariadb-backup`; the error is what it said.
fn run(args: &[String]) -> Result<(), String> {
    let mut program = Command::new("mariadb-backup");
    let output = program.arg("--no-defaults").args(args).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Makes a backup in `target`. The program ends with an error if a table is dropped between its look at the list of files
/// and that at the file (10.11.19): then it is run again.
fn back_up(args: &[String], target: &Path) {
    let is_dropped = |why: &str| {
        why.contains("was not found") && why.contains("Failed to validate first page of the file")
    };
    for _ in 0..10 {
        match run(args) {
            Ok(()) => return,
            Err(why) if is_dropped(&why) => {
                if target.exists() {
                    std::fs::remove_dir_all(target).unwrap();
                }
            }
            Err(why) => panic!("{why}"),
        }
    }
    panic!("a table was dropped during each of ten backups");
}

/// A backup and the incremental backups on it, oldest first.
struct Chain {
    links: Vec<PathBuf>,
}

impl Chain {
    /// Backs up a server under the load of a seed.
    fn make(version: &str, seed: u64, dir: &Path) -> Chain {
        Chain::make_after(version, seed, dir, |server, random| {
            // Else no checkpoint is made, and all tables are new ones.
            let (dirty_pct, lwm) = if random.below(3) == 0 { (99, 98) } else { (0, 0) };
            let dirty = format!(
                "SET GLOBAL innodb_max_dirty_pages_pct_lwm = {lwm}; SET GLOBAL innodb_max_dirty_pages_pct = {dirty_pct};"
            );
            server.sql(dirty).unwrap();
            until_written(server, random.below(2 << 20));
        })
    }

    /// The same, where `before` is called before each backup.
    fn make_after(
        version: &str,
        seed: u64,
        dir: &Path,
        before: impl Fn(&Server, &mut Random),
    ) -> Chain {
        let plan = plan(version, seed);
        let mut options = options(plan);
        // The log is copied more slowly than it is written at times.
        options.push("--innodb-log-file-size=128M".to_owned());
        // The backup asks for its account's rights.
        options.push("--skip-grant-tables=OFF".to_owned());
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        std::fs::create_dir_all(dir).unwrap();
        let mut server = Server::start_in(version, &dir.join("server"), &options).unwrap();
        server.sql(load::tables(plan)).unwrap();
        let clients = load::start(server.socket(), dir, |client| load::script(plan, client));
        let mut random = Random::new(seed ^ 5);
        let mut links: Vec<PathBuf> = Vec::new();
        for nth in 0..BACKUPS {
            until_written(&server, random.below(8 << 20));
            before(&server, &mut random);
            let target = dir.join(format!("backup{nth}"));
            let mut args = vec![
                "--backup".to_owned(),
                format!("--target-dir={}", target.display()),
                format!("--socket={}", server.socket().display()),
                format!("--datadir={}", server.data().display()),
                "--user=root".to_owned(),
            ];
            args.extend(links.last().map(|on| format!("--incremental-basedir={}", on.display())));
            back_up(&args, &target);
            links.push(target);
        }
        server.kill().unwrap();
        for mut client in clients {
            client.wait().unwrap();
        }
        Chain { links }
    }

    fn base(&self) -> &Path {
        &self.links[0]
    }

    /// The files of the chain up to a backup.
    fn files(&self, newest: usize) -> DataFiles {
        let incrementals = self.links[1..=newest].to_vec();
        DataFiles { incrementals, ..DataFiles::default() }
    }

    /// Prepares a copy of the chain up to each backup in turn; `then` receives the number of the backup.
    ///
    /// # Errors
    /// The program itself fails, as it does on some tables that were altered (10.11.19).
    fn prepare(
        &self,
        page_kib: u64,
        dir: &Path,
        mut then: impl FnMut(usize, &Path),
    ) -> Result<(), String> {
        let page_size = format!("--innodb-page-size={}", page_kib << 10);
        let target = dir.join("prepared");
        copy(self.base(), &target);
        for (nth, link) in self.links.iter().enumerate() {
            let mut args = vec![
                "--prepare".to_owned(),
                page_size.clone(),
                format!("--target-dir={}", target.display()),
            ];
            if nth > 0 {
                let incremental = dir.join(format!("incremental{nth}"));
                copy(link, &incremental);
                args.push(format!("--incremental-dir={}", incremental.display()));
            }
            run(&args)?;
            then(nth, &target);
        }
        Ok(())
    }
}

fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("innoscan-chain-").tempdir_in("/var/tmp").unwrap()
}

#[test]
fn pages_and_rows_are_what_the_preparation_makes() {
    let version = version();
    install(&version).unwrap();
    install("mariadb-backup").unwrap();
    let (mut compared, mut refused) = (0, 0);
    for seed in seeds() {
        let dir = directory();
        let chain = Chain::make(&version, seed, dir.path());
        let before: Vec<_> = chain.links.iter().map(|link| checksums(link)).collect();
        let mut is_different = false;
        let page_kib = plan(&version, seed).page_kib;
        let prepared = chain.prepare(page_kib, dir.path(), |nth, prepared| {
            let pages = pages::compare(chain.base(), &chain.files(nth), prepared, &Keys::default());
            println!("seed {seed}: {nth} incremental backups: {pages}");
            is_different |= pages.is_different();
        });
        assert!(!is_different, "seed {seed}: the directory is in {}", dir.keep().display());
        if let Err(said) = prepared {
            let why = said.lines().find(|line| line.contains("[ERROR]"));
            println!("seed {seed}: mariadb-backup cannot prepare it: {}", why.unwrap_or(&said));
            continue;
        }
        // It loses pages of tables that were being altered when a backup ended.
        let judge = command().arg("check").arg(dir.path().join("prepared")).output().unwrap();
        let judge = String::from_utf8(judge.stdout).unwrap();
        let is_damaged = |table: &str| {
            let of_table = format!("/d/{table}");
            judge.lines().any(|line| line.contains(&of_table) && line.contains("DAMAGED"))
        };
        let restored = dir.path().join("restored");
        std::fs::create_dir(&restored).unwrap();
        std::fs::rename(dir.path().join("prepared"), restored.join("data")).unwrap();
        std::fs::copy(dir.path().join("server/options"), restored.join("options")).unwrap();
        let theirs = Server::start_in(&version, &restored, &[]).unwrap();
        let list = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd';";
        let tables = String::from_utf8(theirs.sql(list).unwrap()).unwrap();
        assert!(tables.lines().count() > 8, "{tables}");
        let incrementals = chain.links[1..].iter();
        let options: Vec<&str> =
            incrementals.flat_map(|link| ["--incremental", link.to_str().unwrap()]).collect();
        for table in tables.lines() {
            let sum = theirs.checksum("d", table).unwrap().map(|sum| sum.to_string());
            match checksum_with(chain.base(), &format!("d.{table}"), &options) {
                Err(why) if REFUSED.iter().any(|what| why.contains(what)) => refused += 1,
                ours if ours.as_ref().ok() == sum.as_ref() => compared += 1,
                _ if is_damaged(table) => println!("seed {seed}: prepared with damage: {table}"),
                ours => {
                    let kept = dir.keep();
                    panic!("seed {seed}: {table}: {ours:?}, not {sum:?}: {}", kept.display());
                }
            }
        }
        let after: Vec<_> = chain.links.iter().map(|link| checksums(link)).collect();
        assert_eq!(after, before, "seed {seed}: files were written to");
        println!("seed {seed}: {compared} tables equal, {refused} refused so far");
    }
}

/// The files of a backup that only backups have, and its log.
fn own_files(link: &Path) -> Vec<PathBuf> {
    let endings = [".delta", ".meta", ".new", ".ren", ".del", "_checkpoints", "ib_logfile0"];
    let is_own = |path: &PathBuf| {
        let name = path.to_string_lossy();
        endings.iter().any(|ending| name.ends_with(ending))
    };
    checksums(link).into_keys().filter(is_own).collect()
}

/// Changes a file; returns what was done, or `None` if it cannot be done.
fn lie(bytes: &mut Vec<u8>, random: &mut Random) -> Option<String> {
    if bytes.is_empty() {
        return None;
    }
    // Often where numbers are.
    let most = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(600) };
    let at = random.below(most as u64) as usize;
    Some(match random.below(4) {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            let end = (at + 4).min(bytes.len());
            bytes[at..end].fill(0);
            format!("zeroes at {at}")
        }
        _ => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} at {at}")
        }
    })
}

#[test]
fn damaged_chains_are_refused_or_give_right_pages() {
    let version = version();
    install(&version).unwrap();
    install("mariadb-backup").unwrap();
    let dir = directory();
    // Each delta has pages from before the next backup.
    let chain = Chain::make_after(&version, 1, dir.path(), |server, _| {
        let dirty = "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_max_dirty_pages_pct = 0;";
        server.sql(dirty).unwrap();
        until_checkpoint(server, lsn(server));
    });
    let (base, files) = (chain.base(), chain.files(BACKUPS - 1));
    let truth = read_with(base, &files).unwrap();
    let truth = truth.1;
    let mut random = Random::new(8);
    let mut answers = Answers::default();
    // By chance, none of the first lies may be refused.
    for case in 0..20 * CASES {
        if case >= CASES && answers.is_of_each_kind() {
            break;
        }
        let own = own_files(&chain.links[case as usize % BACKUPS]);
        let path = &own[random.below(own.len() as u64) as usize];
        let sound = std::fs::read(path).unwrap();
        let mut bytes = sound.clone();
        let Some(what) = lie(&mut bytes, &mut random) else { continue };
        std::fs::write(path, bytes).unwrap();
        let what = format!("case {case}: {}: {what}", path.display());
        answers.judge(&truth, read_with(base, &files), &what);
        std::fs::write(path, sound).unwrap();
    }
    // The changed pages of one backup in the place of another's: some are too old, or too new.
    for [one, other] in
        [[1, 2], [2, 1]].map(|pair| pair.map(|nth| chain.links[nth].join("ibdata1.delta")))
    {
        let sound = std::fs::read(&one).unwrap();
        std::fs::copy(&other, &one).unwrap();
        let trust = Trust::Verify(Prepared::default());
        let error = DataDir::open(base, &files, trust, &Keys::default()).unwrap_err().to_string();
        assert!(error.contains("are not those of one backup"), "{error}");
        std::fs::write(one, sound).unwrap();
    }
    println!("damaged chains: {answers:?}");
    assert!(answers.is_of_each_kind(), "{answers:?}");
    assert_eq!(read_with(base, &files).unwrap().1, truth);
}
