//! The layout `files`, for the command line client: definitions, rows, and one file of objects per database.
//!
//! ```text
//! shop-schema-create.sql        CREATE DATABASE
//! shop-sequences.sql            sequences, which tables may refer to
//! shop.orders-schema.sql        CREATE TABLE
//! shop.orders.00000.sql.zst     rows, in files numbered from 0
//! shop-objects.sql              views, triggers, routines, events: after the rows
//! users.sql                     users and their grants
//! innoscan.json                 the state of every object; written last, and says whether the dump
//!                               is complete
//! ```
//!
//! Names of databases and tables are encoded as in the server's own file names, so no name can leave the
//! directory or be confused with another.

use innoscan_format::schema::filename;

use super::{ChunkNames, Contents, Directory, DumpedFile, LayoutWriter, TableFacts};
use crate::Result;
use crate::dump::objects::{Object, ObjectKind};
use crate::dump::statements::{Ending, in_place_of_its_placeholder, placeholder_view};
use crate::dump::{DumpOptions, Summary};
use crate::sink::sql;

/// The maximum length of the part of a file name that database and table determine, in bytes.
const STEM_BYTES_MAX: usize = 200;

/// The beginning of the file names of a table, before the first `-` or number.
pub fn stem(database: &str, table: &str) -> String {
    let clean = |name: &str| filename::encode(name).replace(['/', '\0'], "_");
    let stem = match database {
        "" => clean(table),
        _ => format!("{}.{}", clean(database), clean(table)),
    };
    if stem.len() <= STEM_BYTES_MAX {
        return stem;
    }
    // File names have at most 255 bytes; the checksum distinguishes names with the same beginning.
    let cut = (0..=STEM_BYTES_MAX - 9).rev().find(|&at| stem.is_char_boundary(at)).unwrap_or(0);
    format!("{}~{:08x}", &stem[..cut], crc32fast::hash(stem.as_bytes()))
}

/// The writer of the layout `files`.
pub(super) struct Files<'a> {
    directory: &'a Directory,
    contents: &'a Contents<'a>,
    options: &'a DumpOptions,
}

impl<'a> Files<'a> {
    pub fn new(
        directory: &'a Directory,
        contents: &'a Contents<'a>,
        options: &'a DumpOptions,
    ) -> Files<'a> {
        Files { directory, contents, options }
    }

    /// Writes objects into a file, unless there are none.
    fn objects<'o>(
        &self,
        name: &str,
        head: &str,
        objects: impl Iterator<Item = &'o Object>,
    ) -> Result<()> {
        self.contents.write_objects(self.directory, name, head, objects, Ending::Delimiter)
    }

    /// Writes placeholders of views, since objects may refer to each other; triggers, routines, events;
    /// then the views.
    fn objects_after_rows(&self, database: &str) -> Result<()> {
        let is_view = |kind: &ObjectKind| *kind == ObjectKind::View;
        let is_trigger = |kind: &ObjectKind| matches!(kind, ObjectKind::Trigger { .. });
        let views = || self.contents.objects_of(database, is_view);
        let placeholders: String = views().map(placeholder_view).collect();
        let head = match placeholders.is_empty() {
            true => String::new(),
            false => format!("{}{placeholders}", sql::SET_UTF8),
        };
        let triggers = self.contents.objects_of(database, is_trigger);
        let before = triggers.chain(self.contents.routines_and_events(database)).cloned();
        let all: Vec<Object> = before.chain(views().map(in_place_of_its_placeholder)).collect();
        let name = format!("{}-objects.sql", stem("", database));
        self.objects(&name, &head, all.iter())
    }
}

impl LayoutWriter for Files<'_> {
    fn begin(&mut self) -> Result<()> {
        if !self.options.definitions {
            return Ok(());
        }
        for database in &self.contents.databases {
            let stem = stem("", database);
            let create = self.contents.create_database(database);
            let name = format!("{stem}-schema-create.sql");
            self.directory.write(&name, format!("{}{create}", sql::SET_UTF8).as_bytes())?;
            let sequences =
                self.contents.objects_of(database, |kind| *kind == ObjectKind::Sequence);
            self.objects(&format!("{stem}-sequences.sql"), "", sequences)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &TableFacts<'_>) -> Result<Vec<DumpedFile>> {
        if !self.options.definitions {
            return Ok(Vec::new());
        }
        let TableFacts { database, name, create, lenient, .. } = table;
        let drop = self.options.drop_table(name);
        let (session, utf8) = (sql::SCHEMA_SESSION, sql::SET_UTF8);
        let text = format!("{session}{utf8}{lenient}{drop}{create};\n");
        let file = format!("{}-schema.sql", stem(database, name));
        Ok(vec![self.directory.write(&file, text.as_bytes())?])
    }

    fn chunk_names(&self, database: &str, table: &str, ending: String) -> ChunkNames {
        let stem = stem(database, table);
        Box::new(move |number, _| format!("{stem}.{number:05}.{ending}"))
    }

    fn finish(&mut self, _summary: &Summary) -> Result<()> {
        if self.options.definitions {
            for database in &self.contents.databases {
                self.objects_after_rows(database)?;
            }
            self.objects("users.sql", "", self.contents.users())?;
        }
        Ok(())
    }

    fn marker(&self, _summary: &Summary) -> Option<(&'static str, String)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_stay_in_the_directory_and_apart() {
        assert_eq!(stem("shop", "orders"), "shop.orders");
        assert_eq!(stem("", "orders"), "orders");
        assert_eq!(stem("a.b", "../c"), "a@002eb.@002e@002e@002fc");
        let long = stem(&"a-".repeat(32), &"b-".repeat(32));
        assert!(long.len() <= STEM_BYTES_MAX, "{long}");
        assert_ne!(long, stem(&"a-".repeat(32), &"b-".repeat(31)));
    }
}
