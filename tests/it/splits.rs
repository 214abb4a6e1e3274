//! Random ways to divide a table into splits, read in any order, and again after a reader died.

use std::io::Read;
use std::process::{Command, Stdio};

use innoscan::{Split, Table};
use innoscan_columnar::{BatchReader, TypeOptions};
use innoscan_engine::checksum_sink::{Checksum, Sum};
use innoscan_engine::scan::scan;
use innoscan_io::engine::memory::splitmix64;

use crate::corpus;

/// A text for the process that reads a split and dies.
const SPLIT: &str = "INNOSCAN_SPLIT";

/// Tables of several leaves for which the server gives a checksum.
fn tables() -> Vec<(corpus::CorpusTable, Table)> {
    let is_large = |table: &corpus::CorpusTable| {
        std::fs::metadata(table.ibd()).is_ok_and(|file| file.len() > 200_000)
    };
    let tables =
        corpus::tables().into_iter().filter(|table| !table.is_refused() && is_large(table));
    let with_checksum = tables.filter(|table| table.number("checksum").is_ok());
    let opened = with_checksum.map(|listed| {
        let table = listed.open().unwrap();
        (listed, table)
    });
    let has_splits =
        |table: &Table| Checksum::new(&table.def).is_ok() && table.splits(3).unwrap().len() > 2;
    opened.filter(|(_, table)| has_splits(table)).collect()
}

/// The rows and checksum of a split.
fn sum_of(table: &Table, split: &Split) -> Sum {
    let rows = table.rows().split(split).threads(1).memory_bytes(16 << 20);
    let selection = rows.selection().unwrap();
    let mut total = Sum::default();
    scan(&selection.table, &selection.options, &Checksum::new(&table.def).unwrap(), |sum| {
        total.add(&sum);
        Ok(())
    })
    .unwrap();
    total
}

fn batches_of(table: &Table, split: &Split) -> BatchReader {
    let selection = table.rows().split(split).threads(1).memory_bytes(16 << 20).selection();
    BatchReader::new(selection.unwrap(), &TypeOptions::default()).unwrap()
}

#[test]
fn every_way_to_divide_a_table_gives_its_rows() {
    let is_thorough = std::env::var_os("INNOSCAN_EVERY_POLICY").is_some();
    let tables = tables();
    assert!(tables.len() > 20, "only {} tables have several leaves", tables.len());
    let mut seed = 20;
    for way in 0..if is_thorough { 1000 } else { 100 } {
        let mut below = |limit: usize| (splitmix64(&mut seed) % limit as u64) as usize;
        let (listed, table) = &tables[below(tables.len())];
        let mut splits = table.splits(1 + below(40)).unwrap();
        for place in (1..splits.len()).rev() {
            splits.swap(place, below(place + 1));
        }
        let (mut total, mut arrow_rows) = (Sum::default(), 0);
        for split in &splits {
            total.add(&sum_of(table, split));
            let batches = batches_of(table, split);
            arrow_rows += batches.map(|batch| batch.unwrap().num_rows() as u64).sum::<u64>();
        }
        let found = (total.rows, arrow_rows, u64::from(total.sum));
        let rows = listed.number("count").unwrap();
        let wanted = (rows, rows, listed.number("checksum").unwrap());
        assert_eq!(found, wanted, "way {way}: {} in {} splits", listed.name(), splits.len());
    }
}

/// The process that the next test starts: it reads a batch of a split, says so, and waits for its end.
#[test]
fn a_reader_that_dies() {
    let Ok(text) = std::env::var(SPLIT) else { return };
    let (name, split) = text.split_once('\t').unwrap();
    let listed = corpus::tables().into_iter().find(|table| table.name() == name);
    let table = listed.unwrap().open().unwrap();
    let mut batches = batches_of(&table, &split.parse().unwrap());
    batches.next().unwrap().unwrap();
    println!("reading");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_split_whose_reader_died_is_read_again() {
    let tables = tables();
    let largest = (0..tables.len()).max_by_key(|number| tables[*number].1.size_bytes()).unwrap();
    let (listed, table) = &tables[largest];
    let mut total = Sum::default();
    for split in table.splits(4).unwrap() {
        let mut reader = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "splits::a_reader_that_dies", "--nocapture"])
            .env(SPLIT, format!("{}\t{split}", listed.name()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        let stdout = reader.stdout.as_mut().unwrap();
        while !String::from_utf8_lossy(&said).contains("reading") {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            said.push(byte[0]);
        }
        reader.kill().unwrap();
        assert!(!reader.wait().unwrap().success());
        total.add(&sum_of(table, &split));
    }
    let wanted = (listed.number("count").unwrap(), listed.number("checksum").unwrap());
    assert_eq!((total.rows, u64::from(total.sum)), wanted, "{}", listed.name());
}
