//! The layout `mydumper`, which myloader reads.
//!
//! ```text
//! shop-schema-create.sql           CREATE DATABASE
//! shop.ids-schema-sequence.sql     a sequence (MariaDB)
//! shop.orders-schema.sql           CREATE TABLE; for a view a table as its placeholder
//! shop.orders.00000.sql.zst        rows
//! shop.v-schema-view.sql           the view
//! shop.orders-schema-triggers.sql  triggers
//! shop-schema-post.sql             routines and events
//! innoscan.users                   users, which myloader does not load
//! innoscan.json                    the state of every object
//! metadata                         sections of tables, and the ledger as comments; renamed last, when
//!                                  the dump is complete: otherwise it is metadata.incomplete
//! ```
//!
//! myloader splits file names at dots and at `-schema`. A name that would not survive this is replaced by
//! `mydumper_N` in file names; the statements have the original name, and so has `metadata` for tables.
//! For myloader a statement ends where a line ends in `;`, so bodies of routines have a blank after such a
//! `;`.
//!
//! Of the statements in a definition's file, myloader executes those that begin with `/*!40`, and of all
//! others only the last (`parse_create_table_from_file`, myloader_process.c, mydumper 1.0). So session
//! settings begin with that, and statements that myloader should ignore come first.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::SystemTime;

use innoscan_catalog::ledger::{Entry, Ledger, State, counted_kinds};
use innoscan_catalog::object::{Object, ObjectKind};
use innoscan_engine::Result;
use innoscan_engine::checksum_sink::ChecksumKind;
use innoscan_format::schema::quoted_name;

use super::{ChunkNames, Contents, Directory, DumpedFile, LayoutWriter, TableFacts};
use crate::dump::clock::utc;
use crate::dump::objects::Origin;
use crate::dump::statements::{Ending, placeholder_table};
use crate::dump::{DumpOptions, Summary};
use crate::sink::sql;

/// The maximum length of a database's or a table's name in file names, in bytes; a file name has 255.
const NAME_BYTES_MAX: usize = 100;

/// The start of the file names of databases and tables whose own names a file name cannot hold.
pub const REPLACED_NAME_PREFIX: &str = "mydumper_";

/// The names of databases and tables in file names.
#[derive(Default)]
struct Names {
    databases: HashMap<String, String>,
    tables: HashMap<(String, String), String>,
    replaced: usize,
}

impl Names {
    fn of(contents: &Contents<'_>) -> Names {
        let mut names = Names::default();
        for database in &contents.databases {
            let file = names.choose(database);
            names.databases.insert(database.clone(), file);
        }
        let like_tables =
            |object: &&&Object| matches!(object.kind, ObjectKind::View | ObjectKind::Sequence);
        let objects = contents.objects.iter().filter(like_tables);
        let objects = objects.map(|object| (object.database.clone(), object.name.clone()));
        for key in contents.tables.iter().cloned().chain(objects) {
            let file = names.choose(&key.1);
            names.tables.insert(key, file);
        }
        names
    }

    fn choose(&mut self, name: &str) -> String {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
        let survives = !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && name.chars().all(plain)
            && !name.contains("-schema")
            && !name.starts_with(REPLACED_NAME_PREFIX);
        if survives {
            return name.to_owned();
        }
        let file = format!("{REPLACED_NAME_PREFIX}{}", self.replaced);
        self.replaced += 1;
        file
    }

    fn database<'n>(&'n self, database: &'n str) -> &'n str {
        self.databases.get(database).map_or(database, |file| file)
    }

    /// `DB.TABLE`.
    fn table(&self, database: &str, table: &str) -> String {
        let key = (database.to_owned(), table.to_owned());
        format!("{}.{}", self.database(database), self.tables.get(&key).map_or(table, |file| file))
    }

    /// `` `DB`.`TABLE` ``, the name of a section.
    fn section(&self, database: &str, table: &str) -> String {
        let stem = self.table(database, table);
        let (database, table) = stem.split_once('.').unwrap_or((&stem, ""));
        format!("`{database}`.`{table}`")
    }
}

/// The writer of the layout `mydumper`.
pub(super) struct MyDumper<'a> {
    directory: &'a Directory,
    contents: &'a Contents<'a>,
    options: &'a DumpOptions,
    names: Names,
    started: SystemTime,
}

impl<'a> MyDumper<'a> {
    pub fn new(
        directory: &'a Directory,
        contents: &'a Contents<'a>,
        options: &'a DumpOptions,
    ) -> MyDumper<'a> {
        let names = Names::of(contents);
        MyDumper { directory, contents, options, names, started: SystemTime::now() }
    }

    fn objects<'o>(
        &self,
        name: &str,
        head: &str,
        objects: impl Iterator<Item = &'o Object>,
    ) -> Result<()> {
        self.contents.write_objects(self.directory, name, head, objects, Ending::LineEnd)
    }

    fn views_and_triggers(&self, database: &str) -> Result<()> {
        for view in self.contents.objects_of(database, |kind| *kind == ObjectKind::View) {
            let stem = self.names.table(database, &view.name);
            let placeholder = format!("{}{}", session(), placeholder_table(view));
            self.directory.write(&format!("{stem}-schema.sql"), placeholder.as_bytes())?;
            let name = quoted_name(&view.name);
            let head = format!(
                "/*!40101 SET NAMES utf8mb4*/;\n{}DROP VIEW IF EXISTS {name};\n",
                sql::drop_table(&view.name)
            );
            self.objects(&format!("{stem}-schema-view.sql"), &head, std::iter::once(view))?;
        }
        let mut tables: Vec<&str> = Vec::new();
        let is_trigger = |kind: &ObjectKind| matches!(kind, ObjectKind::Trigger { .. });
        for trigger in self.contents.objects_of(database, is_trigger) {
            if let ObjectKind::Trigger { table } = &trigger.kind
                && !tables.contains(&&**table)
            {
                tables.push(table);
            }
        }
        for wanted in tables {
            let of_table = |kind: &ObjectKind| match kind {
                ObjectKind::Trigger { table } => table == wanted,
                _ => false,
            };
            let triggers = self.contents.objects_of(database, of_table);
            let stem = self.names.table(database, wanted);
            self.objects(&format!("{stem}-schema-triggers.sql"), "", triggers)?;
        }
        Ok(())
    }

    fn metadata(&self, summary: &Summary) -> String {
        let mut text = format!("# Started dump at: {}\n", utc(self.started));
        text += "[config]\nquote-character = BACKTICK\n\n";
        if let Some(origin) = &self.options.origin {
            text += &source(origin);
        }
        for table in summary.tables.iter().filter(|table| table.error.is_none()) {
            text += &self.section(&table.database, &table.table, table.rows);
            if let Some(checksum) = table.checksum_of(ChecksumKind::Table) {
                let _ = writeln!(text, "data_checksum = {checksum}");
            }
            text += "\n";
        }
        for object in self.contents.objects.iter().filter(|_| self.options.definitions) {
            let is = match object.kind {
                ObjectKind::View => "is_view",
                ObjectKind::Sequence => "is_sequence",
                _ => continue,
            };
            text += &self.section(&object.database, &object.name, 0);
            let _ = writeln!(text, "{is} = 1\n");
        }
        text += &ledger_as_comments(&summary.ledger);
        text + &format!("# Finished dump at: {}\n", utc(SystemTime::now()))
    }

    fn section(&self, database: &str, table: &str, rows: u64) -> String {
        let mut text = format!("[{}]\n", self.names.section(database, table));
        // A value is one line. Other names are only in the statements.
        if !table.contains(|c: char| c.is_control()) {
            let _ = writeln!(text, "real_table_name={table}");
        }
        text + &format!("rows = {rows}\n")
    }
}

/// The ledger as comments, which loaders ignore: counts by kind, and each object that was left out or not
/// dumped.
fn ledger_as_comments(ledger: &Ledger) -> String {
    let mut lines = vec!["The ledger of the dump, which innoscan.json has in full:".to_owned()];
    for (kind, count) in ledger.counts(|state| matches!(state, State::Dumped { .. })) {
        lines.push(format!("dumped: {}", counted_kinds(&BTreeMap::from([(kind, count)]))));
    }
    for (choice, counts) in ledger.left_out() {
        for (kind, count) in counts {
            let counted = counted_kinds(&BTreeMap::from([(kind, count)]));
            lines.push(format!("left out: {counted} ({choice})"));
        }
    }
    for Entry { listed, state } in ledger.entries() {
        match state {
            State::LeftOut(choice) => lines.push(format!("left out: {} ({choice})", listed.item)),
            State::NotDumped(reason) => {
                lines.push(format!("not dumped: {}: {reason}", listed.item));
            }
            State::Planned(_) | State::Dumped { .. } => {}
        }
    }
    lines.extend(ledger.unlisted().iter().map(|unlisted| format!("not dumped: {unlisted}")));
    // A name may contain a line end.
    let line = |line: String| format!("# {}\n", line.replace(char::is_control, " "));
    lines.into_iter().map(line).collect()
}

/// The session settings of a definition.
fn session() -> String {
    format!("/*!40101 SET NAMES utf8mb4*/;\n{}", sql::SCHEMA_SESSION)
}

/// The section with the dump's position in the binary log, if it is known.
fn source(origin: &Origin) -> String {
    let Some((file, position)) = &origin.binlog else { return String::new() };
    let quoted = |text: &str| text.replace(['"', '\n', '\r'], "");
    format!(
        "[source]\n# Channel_Name = '' # It can be use to setup replication FOR CHANNEL\n\
         executed_gtid_set = \"{}\"\nSOURCE_LOG_FILE = \"{}\"\nSOURCE_LOG_POS = {position}\n\
         #SOURCE_AUTO_POSITION = {{0|1}}\nmyloader_exec_reset_replica = 0\n\
         myloader_exec_change_source = 0\nmyloader_exec_start_replica = 0\n\n",
        quoted(&origin.gtid),
        quoted(file)
    )
}

impl LayoutWriter for MyDumper<'_> {
    fn begin(&mut self) -> Result<()> {
        if !self.options.definitions {
            return Ok(());
        }
        for database in &self.contents.databases {
            let create = self.contents.create_database(database);
            let name = format!("{}-schema-create.sql", self.names.database(database));
            let text = format!("/*!40101 SET NAMES utf8mb4*/;\n{create}");
            self.directory.write(&name, text.as_bytes())?;
            let is_sequence = |kind: &ObjectKind| *kind == ObjectKind::Sequence;
            for sequence in self.contents.objects_of(database, is_sequence) {
                let stem = self.names.table(database, &sequence.name);
                let name = format!("{stem}-schema-sequence.sql");
                self.objects(&name, "", std::iter::once(sequence))?;
            }
        }
        Ok(())
    }

    fn table(&mut self, table: &TableFacts<'_>) -> Result<Vec<DumpedFile>> {
        if !self.options.definitions {
            return Ok(Vec::new());
        }
        let TableFacts { database, name, create, .. } = table;
        let lenient = table.lenient.replace("/*M!100100 ", "/*!40101 ");
        let drop = self.options.drop_table(name);
        let session = session();
        let text = match lenient.starts_with("/*!40") {
            true => format!("{drop}{session}{lenient}{create};\n"),
            false => format!("{drop}{lenient}{session}{create};\n"),
        };
        let file = format!("{}-schema.sql", self.names.table(database, name));
        Ok(vec![self.directory.write(&file, text.as_bytes())?])
    }

    fn chunk_names(&self, database: &str, table: &str, ending: String) -> ChunkNames {
        let stem = self.names.table(database, table);
        Box::new(move |number, _| format!("{stem}.{number:05}.{ending}"))
    }

    fn finish(&mut self, _summary: &Summary) -> Result<()> {
        if self.options.definitions {
            for database in &self.contents.databases {
                self.views_and_triggers(database)?;
                let post = self.contents.routines_and_events(database);
                let name = format!("{}-schema-post.sql", self.names.database(database));
                self.objects(&name, "", post)?;
            }
            self.objects("innoscan.users", "", self.contents.users())?;
        }
        Ok(())
    }

    fn marker(&self, summary: &Summary) -> Option<(&'static str, String)> {
        Some(("metadata", self.metadata(summary)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_not_survive_are_replaced() {
        let mut names = Names::default();
        for plain in ["orders", "größe", "with space", "a-b", "_x", "日本語"] {
            assert_eq!(names.choose(plain), plain);
        }
        let odd = ["a.b", "../x", "it's", "mydumper_7", "a-schema", "a\nb", &"é".repeat(64)];
        for (number, odd) in odd.iter().enumerate() {
            assert_eq!(names.choose(odd), format!("mydumper_{number}"));
        }
    }

    #[test]
    fn the_source_is_a_place_in_the_binary_log() {
        let binlog = Some(("binlog.000001".to_owned(), 3806));
        let origin = Origin { binlog, gtid: "0-7-16".into(), ..Origin::default() };
        let text = source(&origin);
        assert!(text.contains("SOURCE_LOG_FILE = \"binlog.000001\"\nSOURCE_LOG_POS = 3806\n"));
        assert!(text.contains("executed_gtid_set = \"0-7-16\"\n"), "{text}");
        assert_eq!(source(&Origin::default()), "");
    }
}
