//! Dumps of small real files.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use innoscan_engine::{ErrorKind, TableFile};
use innoscan_format::schema::{ServerVersion, from_create_table};
use serde_json::Value;

use super::*;
use crate::sink::sql::{self, SqlOptions};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/mariadb-10.11/tree-4k").join(name)
}

pub(super) fn table(schema: &str, name: &str) -> Table {
    let create = fs::read_to_string(fixture("tree.create.sql")).unwrap();
    let server = ServerVersion::from_number(101_119);
    let mut def = from_create_table(&create, server).unwrap();
    (def.schema, def.name) = (schema.to_owned(), name.to_owned());
    Table::new(def, vec![TableFile::whole(fixture("tree.ibd"))])
}

fn missing(schema: &str, name: &str) -> Table {
    let mut table = table(schema, name);
    table.files[0].path = fixture("no such file.ibd");
    table
}

pub(super) fn text() -> DumpOptions {
    DumpOptions::new(Format::named("text").unwrap())
}

pub(super) fn expected() -> Vec<u8> {
    fs::read(fixture("tree.txt")).unwrap()
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_stream_of_text_is_what_the_server_wrote() {
    let mut out = Vec::new();
    let summary = to_stream(Dump::of([&table("", "tree")]), &mut out, &text(), |_| {}).unwrap();
    assert!(out == expected());
    assert_eq!(summary.tables[0].plain_bytes, out.len() as u64);
    assert_eq!(summary.rows(), out.split(|&byte| byte == b'\n').count() as u64 - 1);
}

#[test]
fn a_directory_holds_chunks_that_follow_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let compression = Compression::Zstd { level: 1 };
    let options = DumpOptions { compression, chunk_bytes: Some(1), ..text() };
    let summary = to_directory(Dump::of([&table("shop", "a.b")]), &out, &options, |_| {}).unwrap();

    let chunks: Vec<&DumpedFile> =
        summary.tables[0].files.iter().filter(|file| file.name.ends_with(".txt.zst")).collect();
    assert!(chunks.len() > 1);
    let mut rows = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.name, format!("shop.a@002eb.{number:05}.txt.zst"));
        let file = fs::read(out.join(&chunk.name)).unwrap();
        assert_eq!(file.len() as u64, chunk.file_bytes);
        rows.extend(zstd::decode_all(&file[..]).unwrap());
    }
    assert!(rows == expected());
    let names = names(&out);
    assert!(names.contains(&"shop-schema-create.sql".to_owned()));
    assert!(names.contains(&"shop.a@002eb-schema.sql".to_owned()));
    assert_eq!(names.len(), chunks.len() + 3);
    let manifest: Value =
        serde_json::from_slice(&fs::read(out.join("innoscan.json")).unwrap()).unwrap();
    assert_eq!(manifest["complete"], true);
    assert_eq!(manifest["tables"][0]["rows"], summary.rows());
}

#[test]
fn a_table_that_cannot_be_read_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let tables = [missing("shop", "first"), table("shop", "second")];
    let mut told = Vec::new();
    let summary = to_directory(Dump::of(&tables), dir.path(), &text(), |outcome| {
        told.push((outcome.table.clone(), outcome.error.is_some()));
    })
    .unwrap();
    assert_eq!(told, [("first".to_owned(), true), ("second".to_owned(), false)]);
    assert_eq!(summary.failed().count(), 1);
    assert_eq!(serde_json::to_value(&summary).unwrap()["complete"], false);
    assert!(!names(dir.path()).iter().any(|name| name.starts_with("shop.first.")));
    assert!(fs::read(dir.path().join("shop.second.00000.txt")).unwrap() == expected());
}

#[test]
fn a_script_says_which_table_is_not_complete() {
    let options = DumpOptions::new(Format::default());
    let tables = [missing("one", "t"), table("two", "t")];
    let mut out = Vec::new();
    to_stream(Dump::of(&tables), &mut out, &options, |_| {}).unwrap();
    let script = String::from_utf8_lossy(&out);
    for line in
        ["-- NOT COMPLETE: ", "USE `one`;", "USE `two`;", "CREATE TABLE `t` (", "INSERT INTO"]
    {
        assert!(script.contains(line), "{line}");
    }
    let end = format!("{}-- Dump NOT complete: 1 object was not dumped\n", sql::SCRIPT_TAIL);
    assert!(script.ends_with(&end));
}

#[test]
fn a_script_ends_with_a_line_that_says_it_is_complete() {
    let options = DumpOptions::new(Format::default());
    let mut out = Vec::new();
    to_stream(Dump::of(&[table("one", "t")]), &mut out, &options, |_| {}).unwrap();
    let script = String::from_utf8_lossy(&out);
    let (_, end) = script.split_once(sql::SCRIPT_TAIL).unwrap();
    let time = end.strip_prefix("-- Dump completed on ").unwrap();
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00 00:00:00\n");
}

#[test]
fn rows_of_many_tables_need_a_directory() {
    let tables = [table("", "a"), table("", "b")];
    let error = to_stream(Dump::of(&tables), &mut Vec::new(), &text(), |_| {}).unwrap_err();
    assert!(error.to_string().contains("cannot be told apart"), "{error}");
}

/// Takes some bytes and then fails.
struct Full(usize, io::ErrorKind);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(self.1)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_ends_the_dump() {
    for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::StorageFull] {
        let tables = [table("", "t")];
        let error =
            to_stream(Dump::of(&tables), &mut Full(10_000, kind), &text(), |_| {}).unwrap_err();
        let is_pipe = kind == io::ErrorKind::BrokenPipe;
        let expected = if is_pipe { ErrorKind::BrokenPipe } else { ErrorKind::Write };
        assert_eq!(error.kind(), expected);
    }
}

#[test]
fn a_directory_that_cannot_be_written_keeps_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    // A directory where the second chunk's file should be.
    let options = DumpOptions {
        chunk_bytes: Some(1),
        overwrite: true,
        definitions: false,
        compression: Compression::Gzip { level: 1 },
        ..text()
    };
    let blocker = dir.path().join("t.00001.txt.gz.partial");
    fs::create_dir(&blocker).unwrap();
    let error =
        to_directory(Dump::of([&table("", "t")]), dir.path(), &options, |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert_eq!(error.file(), Some(&*blocker));
    let kept = ["innoscan.journal", "t.00000.txt.gz.partial", "t.00001.txt.gz.partial"];
    assert_eq!(names(dir.path()), kept);
}

#[test]
fn every_format_has_every_row() {
    let tables = [table("", "t")];
    let sql = SqlOptions { statement_size_bytes: 1000, ..SqlOptions::default() };
    let is_row = |line: &&str| line.starts_with('(');
    let is_json = |line: &&str| serde_json::from_str::<Value>(line).is_ok();
    type Count<'c> = &'c dyn Fn(&str) -> usize;
    let formats: [(Format, Count<'_>); 3] = [
        (Format::named("csv").unwrap(), &|text| text.matches("\r\n").count() - 1),
        (Format::named("ndjson").unwrap(), &|text| text.lines().filter(is_json).count()),
        (Format::Sql(sql), &|text| text.lines().filter(is_row).count()),
    ];
    for (format, count) in formats {
        for compression in [Compression::None, Compression::Gzip { level: 1 }] {
            let options = DumpOptions { compression, ..DumpOptions::new(format.clone()) };
            let mut out = Vec::new();
            let summary = to_stream(Dump::of(&tables), &mut out, &options, |_| {}).unwrap();
            if compression != Compression::None {
                let mut plain = Vec::new();
                let mut reader = flate2::read::MultiGzDecoder::new(&out[..]);
                io::copy(&mut reader, &mut plain).unwrap();
                out = plain;
            }
            let text = String::from_utf8_lossy(&out);
            assert_eq!(count(&text) as u64, summary.rows());
        }
    }
}
