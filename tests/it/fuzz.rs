//! The fuzz targets of `fuzz/`, over real files with seeded damage.

use std::path::PathBuf;

use innoscan_testkit::damage::Random;
use innoscan_testkit::fixture::Fixture;
use innoscan_testkit::fuzz::{REDO_PAGE_BYTES, TARGETS};

use crate::corpus;
use crate::killed::{fixture as killed, mysql_fixture as mysql};

/// Damaged copies of each seed.
const COPIES: u64 = 40;
/// Files of each kind that serve as seeds.
const SEEDS: usize = 40;
/// Bytes of a seed.
const SEED_BYTES: usize = 64 << 10;

/// The pages of a compressed table, behind the byte that chooses the form.
fn pages(fixture: &str, page_bytes: usize, form: u8) -> Vec<Vec<u8>> {
    let fixture = Fixture::unpack(&format!("damage/{fixture}"));
    let bytes = std::fs::read(&fixture.file).unwrap();
    let pages = bytes.chunks(page_bytes).step_by(7);
    pages.map(|page| [&[form], page].concat()).collect()
}

/// The files with keys of all corpora.
fn key_files() -> Vec<Vec<u8>> {
    let mut directories: Vec<PathBuf> =
        corpus::tables().into_iter().map(|table| table.corpus.join("keys")).collect();
    directories.dedup();
    let files = directories.into_iter().filter_map(|directory| std::fs::read_dir(directory).ok());
    files.flatten().map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

/// What a target starts from.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "zip_page" => return pages("zip-mysql-8.0.33", 2 << 10, 1),
        "encrypted_page" => {
            let of_forms = [("encrypted-mysql-8.0.33", 1), ("encrypted-mariadb-10.11", 2)];
            let plain =
                of_forms.into_iter().flat_map(|(fixture, form)| pages(fixture, 4 << 10, form));
            let zip = (4..6).flat_map(|form| pages("zip-mysql-8.0.33", 2 << 10, form));
            return plain.chain(zip).step_by(5).collect();
        }
        "keyring" | "key_file" => {
            let seeds = ["data/damage/mysql.keyring", "data/damage/mariadb.keys"];
            let own = seeds.map(|path| std::fs::read(crate::tests_dir(path)).unwrap());
            return own.into_iter().chain(key_files()).collect();
        }
        "undo_record" => {
            let files = ["mariadb-10.11", "mysql-8.0.33"].map(|server| {
                std::fs::read(crate::tests_dir(&format!("data/undo/{server}.pages"))).unwrap()
            });
            return files.concat().chunks(4096).map(<[u8]>::to_vec).collect();
        }
        // The first page of a value in each form, and what follows it.
        "compressed_lob" => {
            return (0..3)
                .flat_map(|form| pages("zip-mysql-8.0.33", 60 << 10, form << 4 | 1))
                .collect();
        }
        "compressed_page" => {
            let of_forms = [("", 0b1_0001), ("-crc32", 0)];
            let of_forms = of_forms.map(|(ending, form)| {
                pages(&format!("pages-mariadb-10.11{ending}"), 16 << 10, form)
            });
            return [of_forms.concat(), pages("pages-mysql-8.0.33", 16 << 10, 0b10)].concat();
        }
        "redo_log" => return vec![killed::log()],
        "redo_page" => return killed::changes(REDO_PAGE_BYTES),
        "mysql_log" => return vec![mysql::log()],
        "mysql_page" => return mysql::changes(REDO_PAGE_BYTES),
        "ddl_log" => return vec![killed::ddl_log()],
        _ => {}
    }
    let tables = corpus::tables();
    let step = (tables.len() / SEEDS).max(1);
    let tables = tables.iter().step_by(step);
    let of_table = |table: &corpus::CorpusTable| -> Option<Vec<u8>> {
        match target {
            "create_table" => table.create_sql().map(String::into_bytes),
            "frm" => std::fs::read(table.file().with_extension("frm")).ok(),
            "page" => {
                let bytes = std::fs::read(table.ibd()).ok()?;
                let root = bytes.chunks(4096).find(|page| page[24..26] == 17855_u16.to_be_bytes());
                Some(root?.to_vec())
            }
            _ => std::fs::read(table.ibd()).ok(),
        }
    };
    tables.filter_map(of_table).collect()
}

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed[..seed.len().min(SEED_BYTES)].to_vec();
    for _ in 0..=random.below(8) {
        if data.is_empty() {
            break;
        }
        let at = random.below(data.len());
        match random.below(5) {
            0 => data[at] ^= 1 << random.below(8),
            1 => data[at] = random.below(256) as u8,
            2 => data.truncate(at),
            3 => {
                let end = (at + random.below(32)).min(data.len());
                data.drain(at..end);
            }
            _ => {
                let end = (at + random.below(32)).min(data.len());
                data.extend_from_within(at..end);
            }
        }
    }
    data
}

/// Keeps a seed in the folder `INNOSCAN_FUZZ_CORPUS`, for a fuzzer.
fn keep(name: &str, number: usize, seed: &[u8]) {
    let Some(corpus) = std::env::var_os("INNOSCAN_FUZZ_CORPUS") else { return };
    let folder = PathBuf::from(corpus).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
}

#[test]
fn the_fuzz_targets_survive_damaged_files() {
    for (name, target) in TARGETS {
        for (number, seed) in seeds(name).iter().enumerate() {
            keep(name, number, seed);
            target(&seed[..seed.len().min(SEED_BYTES)]);
            for copy in 0..COPIES {
                target(&mutate(seed, &mut Random::new(number as u64 * COPIES + copy)));
            }
        }
    }
}
