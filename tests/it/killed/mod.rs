//! Directories of killed servers, read through their redo log.
//!
//! The judge is the server: a copy of the directory is recovered by it without rollback
//! (`innodb_force_recovery=3`) and shut down cleanly, and each of its pages is compared with what
//! innoscan makes of the other copy, which no server touched.
//!
//! `INNOSCAN_KILLED=first..end` names the seeds instead of the few that are always tested,
//! `INNOSCAN_LIVE` the server. A seed decides the page size, too. `INNOSCAN_KILLS` is the number of times that each server is
//! killed, one by default. The ignored tests are of MySQL.

mod definitions;
mod dumped;
mod encrypted;
pub(crate) mod fixture;
mod incremental;
mod lies;
mod load;
pub(crate) mod mysql_fixture;
mod pages;
mod rows;
mod snapshots;
mod torn;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::key_files::KeyFiles;
use innoscan_catalog::option_file::OptionFiles;
use innoscan_engine::keys::Keys;
use innoscan_testkit::server::{Server, install};

use self::load::{Family, Plan, Random};

/// The seeds that are always tested.
const SEEDS: Range<u64> = 0..1;

/// The versions of MariaDB whose log is read.
const READ: [&str; 5] =
    ["mariadb-10.5.23", "mariadb-10.11", "mariadb-10.11.5", "mariadb-11.4.5", "mariadb-11.8"];

const PAGE_KIB: [u64; 5] = [16, 4, 8, 32, 64];

fn seeds() -> Range<u64> {
    let Ok(named) = std::env::var("INNOSCAN_KILLED") else { return SEEDS };
    let (first, end) = named.split_once("..").unwrap();
    first.parse().unwrap()..end.parse().unwrap()
}

/// How many times each server is killed; it recovers in between.
fn kills() -> u64 {
    std::env::var("INNOSCAN_KILLS").map_or(1, |kills| kills.parse().unwrap())
}

/// The version of MySQL.
fn mysql_version() -> String {
    let named = std::env::var("INNOSCAN_LIVE").unwrap_or_default();
    let is_read = |version: &&str| matches!(*version, "mysql-8.0.33" | "mysql-9.7");
    named.split(',').find(is_read).unwrap_or("mysql-8.0.33").to_owned()
}

/// The version of MariaDB.
fn version() -> String {
    let named = std::env::var("INNOSCAN_LIVE").unwrap_or_default();
    let is_read = |version: &&str| READ.contains(version);
    named.split(',').find(is_read).unwrap_or("mariadb-10.11").to_owned()
}

fn options(plan: Plan) -> Vec<String> {
    let mut random = Random::new(plan.seed ^ 77);
    let log_mib = 10 + random.below(7);
    let undo_tablespaces = random.below(2) * 3;
    let own = match plan.family {
        Family::MariaDb => vec![
            format!("--innodb-log-file-size={log_mib}M"),
            format!("--innodb-undo-tablespaces={undo_tablespaces}"),
        ],
        Family::MySql => vec![format!("--innodb-redo-log-capacity={}M", 2 * log_mib)],
    };
    let common = vec![
        format!("--innodb-page-size={}k", plan.page_kib),
        "--innodb-max-dirty-pages-pct=99".to_owned(),
        "--innodb-max-dirty-pages-pct-lwm=98".to_owned(),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
        "--innodb-undo-log-truncate=ON".to_owned(),
        "--innodb-max-undo-log-size=10M".to_owned(),
        "--innodb-buffer-pool-size=64M".to_owned(),
    ];
    [common, own].concat()
}

/// Copies a directory with all below it.
fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success());
}

/// The checksums of all files of a directory.
fn checksums(directory: &Path) -> BTreeMap<PathBuf, u32> {
    let mut buffer = vec![0; 1 << 20];
    let mut sums = BTreeMap::new();
    add_checksums(directory, &mut buffer, &mut sums);
    sums
}

fn add_checksums(directory: &Path, buffer: &mut [u8], sums: &mut BTreeMap<PathBuf, u32>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => add_checksums(&path, buffer, sums),
            false => {
                let sum = checksum_of(&path, buffer);
                sums.insert(path, sum);
            }
        }
    }
}

/// The checksum of a file; 0 of one that cannot be read, such as a socket.
fn checksum_of(path: &Path, buffer: &mut [u8]) -> u32 {
    let Ok(mut file) = File::open(path) else { return 0 };
    let mut hasher = crc32fast::Hasher::new();
    loop {
        match file.read(buffer).unwrap() {
            0 => return hasher.finalize(),
            len => hasher.update(&buffer[..len]),
        }
    }
}

/// The load of a seed.
fn plan(version: &str, seed: u64) -> Plan {
    let page_kib = PAGE_KIB[(seed % PAGE_KIB.len() as u64) as usize];
    Plan { family: Family::of(version), seed, page_kib }
}

/// What clients do until their server is killed.
#[derive(Clone, Copy)]
struct Load<'o> {
    /// The statements of a client.
    script: fn(Plan, u64) -> String,
    /// The server is killed when at most so many bytes of its log were written.
    log_bytes: u64,
    /// More options of the server.
    options: &'o [&'o str],
    extra: Extra,
}

/// What else a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    None,
    /// It encrypts the pages of all tables, and compresses those of two; MySQL encrypts its logs, too.
    Encrypted,
}

impl Extra {
    /// The file of keys in the directory of a server of MariaDB.
    fn key_file(dir: &Path) -> PathBuf {
        dir.join("keys.txt")
    }

    /// The keyring in the directory of a server of MySQL.
    fn keyring(dir: &Path) -> PathBuf {
        dir.join("keyring")
    }

    fn options(self, family: Family, dir: &Path) -> Vec<String> {
        match (self, family) {
            (Extra::None, _) => Vec::new(),
            (Extra::Encrypted, Family::MariaDb) => vec![
                "--plugin-load-add=file_key_management".to_owned(),
                format!("--file-key-management-filename={}", Extra::key_file(dir).display()),
                "--innodb-encrypt-tables=ON".to_owned(),
            ],
            (Extra::Encrypted, Family::MySql) => vec![
                format!("--keyring-component={}", Extra::keyring(dir).display()),
                "--default-table-encryption=ON".to_owned(),
                "--innodb-redo-log-encrypt=ON".to_owned(),
                "--innodb-undo-log-encrypt=ON".to_owned(),
            ],
        }
    }

    fn statements(self, plan: Plan) -> &'static str {
        match (self, plan.family) {
            (Extra::None, _) => "",
            (Extra::Encrypted, Family::MariaDb) => {
                "ALTER TABLE d.dyn1 PAGE_COMPRESSED=1; ALTER TABLE d.com1 PAGE_COMPRESSED=1;"
            }
            // A compressed page must leave blocks of the file system free.
            (Extra::Encrypted, Family::MySql) if plan.page_kib == 4 => {
                "ALTER TABLESPACE mysql ENCRYPTION='Y'; ALTER TABLE d.dyn0 ENCRYPTION='N';"
            }
            (Extra::Encrypted, Family::MySql) => {
                "ALTER TABLESPACE mysql ENCRYPTION='Y'; ALTER TABLE d.dyn0 ENCRYPTION='N';
                 ALTER TABLE d.dyn1 COMPRESSION='zlib', FORCE; ALTER TABLE d.com1 COMPRESSION='lz4', FORCE;
                 ALTER TABLE d.com0 COMPRESSION='zlib', ENCRYPTION='N', FORCE;"
            }
        }
    }

    /// The keys of a server.
    fn keys(self, family: Family, dir: &Path) -> Keys {
        let key_files = match (self, family) {
            (Extra::None, _) => return Keys::default(),
            (Extra::Encrypted, Family::MariaDb) => {
                KeyFiles { key_file: Some(Extra::key_file(dir)), ..KeyFiles::default() }
            }
            (Extra::Encrypted, Family::MySql) => {
                KeyFiles { keyring: Some(Extra::keyring(dir)), ..KeyFiles::default() }
            }
        };
        key_files.keys(|| {}).unwrap()
    }

    /// The option of the command that names the keys of a server of MySQL.
    fn arguments(self, dir: &Path) -> Vec<String> {
        match self {
            Extra::None => Vec::new(),
            Extra::Encrypted => vec![format!("--keyring={}", Extra::keyring(dir).display())],
        }
    }
}

/// Clients that mostly change rows.
const CHANGES_OF_ROWS: Load<'_> =
    Load { script: load::script, log_bytes: 41 << 20, options: &[], extra: Extra::None };

/// Kills a server while clients change rows; returns its directory.
fn killed(version: &str, seed: u64, dir: &Path) -> PathBuf {
    killed_under(version, seed, dir, CHANGES_OF_ROWS)
}

/// Kills a server under a load; returns its directory.
fn killed_under(version: &str, seed: u64, dir: &Path, load: Load<'_>) -> PathBuf {
    let plan = plan(version, seed);
    let mut server = started(version, plan, dir, load);
    kill_under(&mut server, plan, dir, load);
    server.data()
}

/// Starts a server in the directory `server` of `dir`, with the tables that exist before a load.
fn started(version: &str, plan: Plan, dir: &Path, load: Load<'_>) -> Server {
    let options = [options(plan), load.extra.options(plan.family, dir)].concat();
    let options: Vec<&str> =
        options.iter().map(String::as_str).chain(load.options.iter().copied()).collect();
    std::fs::create_dir_all(dir).unwrap();
    let key: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(Extra::key_file(dir), format!("1;{key}\n")).unwrap();
    let server = Server::start_in(version, &dir.join("server"), &options).unwrap();
    server.sql(load::tables(plan) + load.extra.statements(plan)).unwrap();
    server
}

/// Kills a server under a load; the statements of its clients are kept in `dir`.
fn kill_under(server: &mut Server, plan: Plan, dir: &Path, load: Load<'_>) {
    let clients = load::start(server.socket(), dir, |client| (load.script)(plan, client));
    until_written(server, (1 << 20) + Random::new(plan.seed).below(load.log_bytes - (1 << 20)));
    server.kill().unwrap();
    for mut client in clients {
        client.wait().unwrap();
    }
}

/// Waits until so many bytes of redo were written, or too few in a minute.
fn until_written(server: &Server, redo_bytes: u64) {
    let written = lsn(server) + redo_bytes;
    let deadline = Instant::now() + Duration::from_secs(60);
    while lsn(server) < written && Instant::now() < deadline {}
}

/// Waits until a server of MariaDB has made a checkpoint behind an LSN, or a minute.
fn until_checkpoint(server: &Server, wanted: u64) {
    let status = "SHOW GLOBAL STATUS LIKE 'Innodb_lsn_last_checkpoint';";
    let deadline = Instant::now() + Duration::from_secs(60);
    let checkpoint = || {
        let status = String::from_utf8(server.sql(status).unwrap()).unwrap();
        status.trim_end().rsplit('\t').next().unwrap().parse::<u64>().unwrap()
    };
    while checkpoint() < wanted && Instant::now() < deadline {}
}

/// The end of the server's redo log.
fn lsn(server: &Server) -> u64 {
    let status = "SHOW GLOBAL STATUS WHERE variable_name IN
                  ('Innodb_lsn_current', 'Innodb_redo_log_current_lsn');";
    let status = server.sql(status).unwrap();
    let status = String::from_utf8(status).unwrap();
    status.trim_end().rsplit('\t').next().unwrap().parse().unwrap()
}

#[test]
fn each_page_is_what_the_server_recovers() {
    compare_pages(&version(), seeds());
}

#[test]
#[ignore = "needs mysql-8.0.33 or mysql-9.7"]
fn each_page_is_what_mysql_recovers() {
    compare_pages(&mysql_version(), seeds());
}

/// Of an encrypted redo log; the algorithm is not named.
#[test]
fn each_page_is_what_the_server_recovers_by_an_encrypted_log() {
    let version = version();
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let option_files = OptionFiles { none: true, ..OptionFiles::default() };
    let key_file = Some(keys.path().to_owned());
    let found = KeyFiles { key_file, option_files, ..KeyFiles::default() }.keys(|| ()).unwrap();
    let path = format!("--file-key-management-filename={}", keys.path().display());
    for seed in seeds() {
        let mode = ["aes_cbc", "aes_ctr"][(seed % 2) as usize];
        let algorithm = format!("--file-key-management-encryption-algorithm={mode}");
        let options =
            ["--plugin-load-add=file_key_management", "--innodb-encrypt-log=ON", &path, &algorithm];
        compare_pages_with(&version, seed..seed + 1, &options, &found);
    }
}

fn compare_pages(version: &str, seeds: Range<u64>) {
    compare_pages_under(version, seeds, CHANGES_OF_ROWS, |_| Keys::default());
}

fn compare_pages_with(version: &str, seeds: Range<u64>, more: &[&str], keys: &Keys) {
    let load = Load { options: more, ..CHANGES_OF_ROWS };
    compare_pages_under(version, seeds, load, |_| keys.clone());
}

/// Kills servers under a load, and compares their pages with those that they recover; `keys`: those of the server in a
/// directory.
fn compare_pages_under(
    version: &str,
    seeds: Range<u64>,
    load: Load<'_>,
    keys: impl Fn(&Path) -> Keys,
) {
    install(version).unwrap();
    for seed in seeds {
        let dir =
            tempfile::Builder::new().prefix("innoscan-killed-").tempdir_in("/var/tmp").unwrap();
        let plan = plan(version, seed);
        let mut server = started(version, plan, dir.path(), load);
        for nth in 0..kills() {
            if nth > 0 {
                server.restart().unwrap();
            }
            kill_under(&mut server, plan.nth(nth), dir.path(), load);
            let data = server.data();
            let before = checksums(&data);
            let recovered = dir.path().join(format!("recovered{nth}"));
            copy(&dir.path().join("server"), &recovered);
            recover(version, &recovered, "3");
            let (files, keys) = (DataFiles::default(), keys(dir.path()));
            let compared = pages::compare(&data, &files, &recovered.join("data"), &keys);
            println!("seed {seed}.{nth}: {compared}");
            if compared.is_different() {
                panic!("seed {seed}.{nth}: the directory is in {}", dir.keep().display());
            }
            assert_eq!(checksums(&data), before, "seed {seed}.{nth}: files were written to");
            std::fs::remove_dir_all(recovered).unwrap();
        }
    }
}

/// Lets a server recover its directory, and shuts it down.
fn recover(version: &str, dir: &Path, force_recovery: &str) {
    let options = std::fs::read_to_string(dir.join("options")).unwrap();
    let force = format!("--innodb-force-recovery={force_recovery}\n");
    std::fs::write(dir.join("options"), options + &force).unwrap();
    let mut server = Server::start_in(version, dir, &[]).unwrap();
    server.stop().unwrap();
}
