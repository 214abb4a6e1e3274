//! The definitions MySQL 8 and later keep in their files print as the servers print them, but for
//! the counter, which is elsewhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use innoscan_format::read::{Need, SdiObject, SdiReader};
use innoscan_format::schema::{Family, from_sdi_documents};
use innoscan_testkit::page::open_stored;

use crate::check::{self, Head};
use crate::corpus::{self, CorpusTable};
use crate::frm::without_counter;

/// The definitions in a file; none when it has none or may not be read.
fn objects(bytes: &[u8], header: &Head) -> Vec<SdiObject> {
    let Some(root) = header.sdi_root else {
        return Vec::new();
    };
    let mut reader = SdiReader::new(header.page_format(), root).unwrap();
    while let Need::Pages(&[first, ..]) = reader.need() {
        let page = check::page(bytes, header, first);
        reader.feed(open_stored(&page, header.page_context(), first).unwrap()).unwrap();
    }
    reader.finish()
}

/// The files of a table: its own, or those of its partitions.
fn files_of(table: &CorpusTable) -> Vec<PathBuf> {
    let ibd = table.ibd();
    if ibd.exists() {
        return vec![ibd];
    }
    let stem = table.file().file_name().unwrap().to_str().unwrap().to_owned() + "#p#";
    let Ok(folder) = std::fs::read_dir(table.file().parent().unwrap()) else { return Vec::new() };
    let of_table = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.get(..stem.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(&stem))
    };
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).filter(of_table).collect();
    files.sort();
    files
}

#[test]
fn definitions_print_as_their_servers_print_them() {
    let mut failures = Vec::new();
    let mut by_server: BTreeMap<PathBuf, Vec<CorpusTable>> = BTreeMap::new();
    let with_sdi = |table: &CorpusTable| {
        let refused = table.is_refused();
        table.version().family == Family::MySql && table.version().number >= 80_000 && !refused
    };
    for table in corpus::tables().into_iter().filter(with_sdi) {
        let data = table.file().parent().unwrap().parent().unwrap().to_owned();
        by_server.entry(data).or_default().push(table);
    }
    for (data, tables) in by_server {
        let (mut all, mut equal) = (0, 0);
        for table in &tables {
            let Some(expected) = table.create_sql() else { continue };
            let documents = files_of(table).into_iter().find_map(|file| {
                let bytes = std::fs::read(file).unwrap();
                let header = Head::parse(&bytes, &table.page_keys()).unwrap();
                let objects = objects(&bytes, &header);
                let has_table = objects.iter().any(SdiObject::is_table);
                has_table.then(|| objects.into_iter().map(|object| object.json).collect::<Vec<_>>())
            });
            let Some(documents) = documents else { continue };
            let mut def = from_sdi_documents(&documents).unwrap();
            def.options.auto_increment = None;
            let expected = without_counter(&expected);
            all += 1;
            match table.definition_difference(&expected, &def.to_create_table()) {
                None => equal += 1,
                Some(difference) => failures.push(difference),
            }
        }
        println!("{}: {equal} of {all}", data.display());
    }
    assert!(failures.is_empty(), "{} tables\n{}", failures.len(), failures.join("\n"));
}
