//! `.frm` files and InnoDB's own dictionary against what their servers said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use innoscan_format::PageNo;
use innoscan_format::keys::Keys;
use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::{IndexPage, Page};
use innoscan_format::schema::dictionary::{
    Dictionary, DictionaryHeader, HEADER_PAGE, SYS_FOREIGN, SYS_FOREIGN_COLS, SystemTable,
};
use innoscan_format::schema::{Family, RowFormat, filename, from_frm};
use innoscan_format::tree::children;

use innoscan_testkit::page::open_stored;

use crate::check::Head;
use crate::corpus::{self, CorpusTable};

/// A system tablespace in memory.
struct System {
    bytes: Vec<u8>,
    head: Head,
}

impl System {
    fn open(path: &Path, keys: &Keys) -> System {
        let mut bytes = std::fs::read(path).unwrap();
        // The system tablespace may have more files.
        let following = (2..).map(|number| path.with_file_name(format!("ibdata{number}")));
        if path.ends_with("ibdata1") {
            for file in following.take_while(|file| file.exists()) {
                bytes.extend(std::fs::read(file).unwrap());
            }
        }
        let head = Head::parse(&bytes, keys).unwrap();
        System { bytes, head }
    }

    fn page(&self, page_no: PageNo) -> Page<'_> {
        let len = self.head.page_context().physical_bytes();
        let bytes = &self.bytes[page_no.0 as usize * len..][..len];
        open_stored(bytes, self.head.page_context(), page_no).unwrap()
    }

    /// Gives the rows of a table of the dictionary to `dictionary`.
    fn read(&self, table: SystemTable, root: PageNo, dictionary: &mut Dictionary) {
        let def = table.def();
        let layout = Layout::compile(&def, RowFormat::Redundant, None).unwrap();
        let mut fields = Fields::default();
        let mut pages = vec![root];
        while let Some(page_no) = pages.pop() {
            let page = IndexPage::parse(self.page(page_no)).unwrap();
            if !page.is_leaf() {
                children(&page, &layout, &mut pages).unwrap();
                continue;
            }
            for record in page.records() {
                let record = record.unwrap();
                if !record.is_row() {
                    continue;
                }
                let row = layout.locate(&record, &mut fields).unwrap();
                let cells: Vec<Option<&[u8]>> = (0..def.columns.len())
                    .map(|place| match row.get(place).unwrap() {
                        Located::Inline(bytes) | Located::Default(bytes) => Some(bytes),
                        Located::Null => None,
                        Located::External { .. } => panic!("the dictionary has no LOBs"),
                    })
                    .collect();
                let trx_id = layout.system_columns(&record).unwrap().trx_id;
                dictionary.add(table, &cells, trx_id).unwrap();
            }
        }
    }

    fn dictionary(&self) -> Dictionary {
        let header = DictionaryHeader::parse(&self.page(HEADER_PAGE)).unwrap();
        let mut dictionary = Dictionary::new();
        self.read(SystemTable::Tables, header.tables, &mut dictionary);
        self.read(SystemTable::Columns, header.columns, &mut dictionary);
        self.read(SystemTable::Indexes, header.indexes, &mut dictionary);
        for (name, table) in
            [(SYS_FOREIGN, SystemTable::Foreign), (SYS_FOREIGN_COLS, SystemTable::ForeignCols)]
        {
            let root = dictionary.table(name).unwrap().clustered().unwrap().root.unwrap();
            self.read(table, root, &mut dictionary);
        }
        dictionary
    }
}

/// The corpus' tables that have a `.frm`, by data directory.
fn tables_by_directory() -> BTreeMap<PathBuf, Vec<CorpusTable>> {
    let mut directories: BTreeMap<PathBuf, Vec<CorpusTable>> = BTreeMap::new();
    for table in corpus::tables() {
        if table.file().with_added("frm").exists() {
            let directory = table.file().parent().unwrap().parent().unwrap().to_owned();
            directories.entry(directory).or_default().push(table);
        }
    }
    directories
}

trait WithAdded {
    fn with_added(&self, extension: &str) -> PathBuf;
}

impl WithAdded for PathBuf {
    fn with_added(&self, extension: &str) -> PathBuf {
        PathBuf::from(format!("{}.{extension}", self.display()))
    }
}

/// The database and the table of a file.
fn names(file: &Path) -> (String, String) {
    let decoded = |part: &Path| filename::decode(part.file_name().unwrap().to_str().unwrap());
    (decoded(file.parent().unwrap()), decoded(file))
}

/// The text without the counter, which is not in the definition.
pub fn without_counter(text: &str) -> String {
    let Some((before, after)) = text.rsplit_once(" AUTO_INCREMENT=") else { return text.into() };
    format!("{before}{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// MariaDB from 10.2 to 10.11.18 and 11.8.8 does not double the backquotes in a foreign key's name,
/// so that what it prints is no SQL.
pub fn with_doubled_backquotes(text: &str) -> String {
    let line = |line: &str| match line
        .strip_prefix("  CONSTRAINT `")
        .and_then(|rest| rest.split_once("` FOREIGN KEY"))
    {
        Some((name, rest)) if !name.contains("``") => {
            format!("  CONSTRAINT `{}` FOREIGN KEY{rest}", name.replace('`', "``"))
        }
        _ => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<String>>().join("\n")
}

#[test]
fn definitions_print_as_their_servers_print_them() {
    let mut failures = Vec::new();
    for (directory, tables) in tables_by_directory() {
        let dictionary =
            System::open(&directory.join("ibdata1"), &tables[0].page_keys()).dictionary();
        let (mut all, mut equal) = (0, 0);
        // DATA DIRECTORY is not in the .frm.
        for table in tables.iter().filter(|table| !table.is("remote")) {
            let Some(expected) = table.create_sql() else { continue };
            let (schema, name) = names(&table.file());
            let bytes = std::fs::read(table.file().with_added("frm")).unwrap();
            let mut def = from_frm(&bytes, &schema, &name).unwrap();
            def.foreign_keys = dictionary.foreign_keys(&schema, &name).unwrap();
            all += 1;
            let expected = with_doubled_backquotes(&without_counter(&expected));
            match table.definition_difference(&expected, &def.to_create_table()) {
                None => equal += 1,
                Some(difference) => failures.push(difference),
            }
        }
        println!("{}: {equal} of {all}", directory.display());
    }
    assert!(failures.is_empty(), "{} tables\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn counters_are_on_the_roots() {
    for (directory, tables) in tables_by_directory() {
        for table in tables.iter().filter(|table| is_plain_mariadb(table)) {
            let Some(expected) = table.create_sql() else { continue };
            let Some((_, after)) = expected.rsplit_once(" AUTO_INCREMENT=") else { continue };
            let digits = after.split(|digit: char| !digit.is_ascii_digit()).next();
            let (schema, name) = names(&table.file());
            let place = directory.join(filename::encode(&schema)).join(filename::encode(&name));
            let space = System::open(&place.with_added("ibd"), &tables[0].page_keys());
            let root = IndexPage::parse(space.page(PageNo(3))).unwrap();
            let next = root.last_auto_increment().map(|last| (last + 1).to_string());
            assert_eq!(next.as_deref(), digits, "{}", table.file().display());
        }
    }
}

/// A table with one tablespace, readable, whose root has the counter.
fn is_plain_mariadb(table: &CorpusTable) -> bool {
    table.version().family == Family::MariaDb
        && table.version().number >= 100_204
        && !["partitioned", "compressed", "page_compressed", "system", "remote"]
            .iter()
            .any(|word| table.is(word))
}

#[test]
fn partitions_have_the_files_their_names_say() {
    for tables in tables_by_directory().values() {
        let is_here = |table: &&CorpusTable| {
            table.is("partitioned")
                && !["system", "general", "remote"].iter().any(|word| table.is(word))
        };
        for table in tables.iter().filter(is_here) {
            let (schema, name) = names(&table.file());
            let bytes = std::fs::read(table.file().with_added("frm")).unwrap();
            let def = from_frm(&bytes, &schema, &name).unwrap();
            let mut stems = Vec::new();
            for partition in &def.partitioning.unwrap().partitions {
                for subpartition in &partition.subpartitions {
                    stems.push(filename::partition_stem(
                        &name,
                        &partition.name,
                        Some(subpartition),
                    ));
                }
                if partition.subpartitions.is_empty() {
                    stems.push(filename::partition_stem(&name, &partition.name, None));
                }
            }
            for stem in stems {
                let file = table.file().with_file_name(&stem).with_added("ibd");
                assert!(file.exists(), "{}", file.display());
            }
        }
    }
}

/// Damage in seeded ways: an error or some definition, but no panic, and none that does not print.
#[test]
fn damaged_files_are_errors() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for tables in tables_by_directory().values() {
        for table in tables {
            let sound = std::fs::read(table.file().with_added("frm")).unwrap();
            for _ in 0..20 {
                let mut bytes = sound.clone();
                let kind = random(4);
                for _ in 0..=random(4) {
                    let end = if random(3) == 0 { 64 } else { bytes.len() };
                    let byte = &mut bytes[random(end)];
                    *byte = match kind {
                        0 => random(256) as u8,
                        1 => 0xff,
                        2 => 0,
                        _ => *byte ^ (1 << random(8)),
                    };
                }
                if random(8) == 0 {
                    bytes.truncate(random(sound.len()));
                }
                if let Ok(def) = from_frm(&bytes, "d", "t") {
                    def.to_create_table();
                }
            }
        }
    }
}
