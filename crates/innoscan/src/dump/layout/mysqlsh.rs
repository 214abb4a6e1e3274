//! The layout `mysqlsh`, which the MySQL Shell's `util.loadDump` reads (format 2.0.1).
//!
//! ```text
//! @.json                         the properties of the dump; written first
//! @.sql, @.post.sql              run before and after everything; no statements
//! @.users.sql                    users
//! shop@orders.json, .sql         a table: the options for loading its rows; CREATE TABLE
//! shop@orders.triggers.sql       its triggers
//! shop@orders@0.tsv.zst          rows, in files numbered from 0 without a gap;
//! shop@orders@@1.tsv.zst         the last one has two @
//! shop@v.pre.sql, shop@v.sql     a view's placeholder; the view
//! shop.json, shop.sql            a database: its objects; CREATE DATABASE, routines, events
//! innoscan.json                  the state of every object
//! @.done.json                    numbers of rows and bytes; renamed last, when the dump is complete:
//!                                otherwise it is @.done.json.incomplete
//! ```
//!
//! Tables that could not be dumped are not listed, so the others can be loaded.

use std::collections::HashMap;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::{ChunkNames, Contents, Directory, DumpedFile, LayoutWriter, TableFacts};
use crate::Result;
use crate::dump::clock::utc;
use crate::dump::objects::{Object, ObjectKind, Origin};
use crate::dump::statements::{Ending, in_place_of_its_placeholder, of_object, placeholder_view};
use crate::dump::{DUMPER, DumpOptions, Summary};
use crate::sink::{Compression, quoted_name, sql};

/// The maximum length of the beginning of file names, in bytes; the longest ending has about 30 more.
const BASENAME_BYTES_MAX: usize = 200;

/// The beginnings of file names: letters, digits and `_.~-` are unchanged, other ASCII is encoded as `%`
/// and two digits.
#[derive(Default)]
struct Basenames {
    schemas: HashMap<String, String>,
    tables: HashMap<(String, String), String>,
    cut: usize,
}

impl Basenames {
    fn of(contents: &Contents<'_>) -> Basenames {
        let mut names = Basenames::default();
        for schema in &contents.databases {
            let name = names.short_enough(encode(schema));
            names.schemas.insert(schema.clone(), name);
        }
        let views = contents.objects.iter().filter(|object| object.kind == ObjectKind::View);
        let views = views.map(|view| (view.database.clone(), view.name.clone()));
        for (schema, table) in contents.tables.iter().cloned().chain(views) {
            let name = format!("{}@{}", encode(&schema), encode(&table));
            let name = names.short_enough(name);
            names.tables.insert((schema, table), name);
        }
        names
    }

    fn short_enough(&mut self, name: String) -> String {
        if name.len() <= BASENAME_BYTES_MAX {
            return name;
        }
        let end = (0..=BASENAME_BYTES_MAX).rev().find(|&at| name.is_char_boundary(at));
        self.cut += 1;
        format!("{}{}", &name[..end.unwrap_or(0)], self.cut)
    }

    fn schema(&self, schema: &str) -> String {
        self.schemas.get(schema).cloned().unwrap_or_else(|| encode(schema))
    }

    fn table(&self, schema: &str, table: &str) -> String {
        let key = (schema.to_owned(), table.to_owned());
        let own = || format!("{}@{}", encode(schema), encode(table));
        self.tables.get(&key).cloned().unwrap_or_else(own)
    }
}

fn encode(name: &str) -> String {
    let mut encoded = String::new();
    for c in name.chars() {
        match c {
            c if !c.is_ascii() || c.is_ascii_alphanumeric() => encoded.push(c),
            '_' | '.' | '~' | '-' => encoded.push(c),
            c => encoded += &format!("%{:02X}", u32::from(c)),
        }
    }
    encoded
}

/// The writer of the layout `mysqlsh`.
pub(super) struct MySqlShell<'a> {
    directory: &'a Directory,
    contents: &'a Contents<'a>,
    options: &'a DumpOptions,
    names: Basenames,
}

impl<'a> MySqlShell<'a> {
    pub fn new(
        directory: &'a Directory,
        contents: &'a Contents<'a>,
        options: &'a DumpOptions,
    ) -> MySqlShell<'a> {
        MySqlShell { directory, contents, options, names: Basenames::of(contents) }
    }

    fn json(&self, name: &str, value: &Value) -> Result<DumpedFile> {
        self.directory.write(name, json_text(value).as_bytes())
    }

    /// An object's statements, between the comment lines by which loaders find it.
    fn marked(&self, object: &Object) -> Vec<u8> {
        let create = self.contents.create_database(&object.database);
        let statements = of_object(object, &create, Ending::Delimiter);
        let kind = match &object.kind {
            ObjectKind::Trigger { .. } => "trigger",
            ObjectKind::Function => "function",
            ObjectKind::Procedure => "procedure",
            ObjectKind::Event => "event",
            ObjectKind::User => "user",
            ObjectKind::Grants => "grants",
            ObjectKind::DefaultRole => "default role",
            _ => return statements,
        };
        let name = match &object.kind {
            kind if kind.is_of_accounts() => object.name.clone(),
            _ => format!("{}.{}", quoted_name(&object.database), quoted_name(&object.name)),
        };
        let line = |what: &str| sql::comment(&format!("{what} {kind} {name}")).into_bytes();
        [line("begin"), statements, line("end")].concat()
    }

    fn all<'o>(&self, objects: impl Iterator<Item = &'o Object>) -> Vec<u8> {
        objects.flat_map(|object| self.marked(object)).collect()
    }

    fn manifest(&self) -> Value {
        let own = Origin { is_consistent: true, ..Origin::default() };
        let origin = self.options.origin.as_ref().unwrap_or(&own);
        let server = origin.server.or(self.contents.server);
        let version = match &*origin.version_text {
            "" => server.map_or(String::new(), |server| server.to_string()),
            text => text.to_owned(),
        };
        let users = self.users().filter(|object| object.kind == ObjectKind::User);
        let users: Vec<&str> = users.map(|user| &*user.name).collect();
        let basenames: Map<String, Value> = self
            .contents
            .databases
            .iter()
            .map(|schema| (schema.clone(), self.names.schema(schema).into()))
            .collect();
        let (file, position) = origin.binlog.clone().unwrap_or_default();
        let mut json = json!({
            "dumper": DUMPER,
            "version": "2.0.1",
            "origin": if users.is_empty() { "dumpSchemas" } else { "dumpInstance" },
            "options": {},
            "schemas": self.contents.databases,
            "basenames": basenames,
            "defaultCharacterSet": "utf8mb4",
            "tzUtc": true,
            "bytesPerChunk": self.options.chunk_bytes.unwrap_or(0),
            "user": origin.user,
            "hostname": origin.hostname,
            "server": origin.hostname,
            "serverVersion": version,
            "binlogFile": file,
            "binlogPosition": position,
            "gtidExecuted": origin.gtid,
            "gtidExecutedInconsistent": !origin.is_consistent,
            "consistent": origin.is_consistent,
            "partialRevokes": false,
            "compatibilityOptions": [],
            "capabilities": [],
            "begin": utc(SystemTime::now()),
        });
        if !users.is_empty() {
            json["users"] = users.into();
        }
        json
    }

    fn users(&self) -> impl Iterator<Item = &'a Object> + '_ {
        self.contents.users().filter(|_| self.options.definitions)
    }

    fn view(&self, view: &Object) -> Result<()> {
        let base = self.names.table(&view.database, &view.name);
        let placeholder = format!("{}{}", sql::SET_UTF8, placeholder_view(view));
        self.directory.write(&format!("{base}.pre.sql"), placeholder.as_bytes())?;
        let text = self.marked(&in_place_of_its_placeholder(view));
        self.directory.write(&format!("{base}.sql"), &text)?;
        Ok(())
    }

    fn schema(&self, schema: &str, summary: &Summary) -> Result<()> {
        let definitions = self.options.definitions;
        let names = |wanted: fn(&ObjectKind) -> bool| -> Vec<&str> {
            let objects = self.contents.objects_of(schema, wanted).filter(|_| definitions);
            objects.map(|object| &*object.name).collect()
        };
        let done = summary.tables.iter().filter(|table| table.error.is_none());
        let tables: Vec<&str> =
            done.filter(|table| table.database == schema).map(|table| &*table.table).collect();
        let views = names(|kind| *kind == ObjectKind::View);
        let basenames: Map<String, Value> = tables
            .iter()
            .chain(&views)
            .map(|&name| (name.to_owned(), self.names.table(schema, name).into()))
            .collect();
        let json = json!({
            "schema": schema,
            "includesDdl": definitions,
            "includesViewsDdl": definitions,
            "includesData": self.options.rows,
            "tables": tables,
            "views": views,
            "events": names(|kind| *kind == ObjectKind::Event),
            "functions": names(|kind| *kind == ObjectKind::Function),
            "procedures": names(|kind| *kind == ObjectKind::Procedure),
            "basenames": basenames,
        });
        let base = self.names.schema(schema);
        if definitions {
            for view in self.contents.objects_of(schema, |kind| *kind == ObjectKind::View) {
                self.view(view)?;
            }
            let (utf8, create) = (sql::SET_UTF8, self.contents.create_database(schema));
            let mut text = format!("{utf8}{create}USE {};\n", quoted_name(schema)).into_bytes();
            let is_sequence = |kind: &ObjectKind| *kind == ObjectKind::Sequence;
            text.extend(self.all(self.contents.objects_of(schema, is_sequence)));
            text.extend(self.all(self.contents.routines_and_events(schema)));
            self.directory.write(&format!("{base}.sql"), &text)?;
        }
        self.json(&format!("{base}.json"), &json)?;
        Ok(())
    }
}

fn json_text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// `@.done.json`.
fn totals(summary: &Summary) -> Value {
    let mut total = 0;
    let mut bytes = Map::new();
    let mut rows = Map::new();
    let mut chunks = Map::new();
    let add = |map: &mut Map<String, Value>, schema: &str, table: &str, number: u64| {
        let of_schema = map.entry(schema).or_insert_with(|| json!({}));
        of_schema[table] = number.into();
    };
    for table in summary.tables.iter().filter(|table| table.error.is_none()) {
        add(&mut bytes, &table.database, &table.table, table.plain_bytes);
        add(&mut rows, &table.database, &table.table, table.rows);
        total += table.plain_bytes;
        for file in table.files.iter().filter(|file| file.name.contains(".tsv")) {
            chunks.insert(file.name.clone(), file.plain_bytes.into());
        }
    }
    json!({
        "end": utc(SystemTime::now()),
        "dataBytes": total,
        "tableDataBytes": bytes,
        "tableRows": rows,
        "chunkFileBytes": chunks,
    })
}

impl LayoutWriter for MySqlShell<'_> {
    fn begin(&mut self) -> Result<()> {
        self.json("@.json", &self.manifest())?;
        for name in ["@.sql", "@.post.sql"] {
            self.directory.write(name, sql::comment(DUMPER).as_bytes())?;
        }
        let users = self.all(self.users());
        if !users.is_empty() {
            self.directory.write("@.users.sql", &users)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &TableFacts<'_>) -> Result<Vec<DumpedFile>> {
        let base = self.names.table(table.database, table.name);
        let mut files = Vec::new();
        let is_trigger = |kind: &ObjectKind| match kind {
            ObjectKind::Trigger { table: of } => of == table.name,
            _ => false,
        };
        let definitions = self.options.definitions;
        let triggers =
            || self.contents.objects_of(table.database, is_trigger).filter(|_| definitions);
        if definitions {
            let create = match table.create.strip_prefix("CREATE TABLE `") {
                Some(rest) => format!("CREATE TABLE IF NOT EXISTS `{rest}"),
                None => table.create.clone(),
            };
            let (session, utf8, lenient) = (sql::SCHEMA_SESSION, sql::SET_UTF8, table.lenient);
            let drop = self.options.drop_table(table.name);
            let text = format!("{session}{utf8}{lenient}{drop}{create};\n");
            files.push(self.directory.write(&format!("{base}.sql"), text.as_bytes())?);
            let text = self.all(triggers());
            if !text.is_empty() {
                files.push(self.directory.write(&format!("{base}.triggers.sql"), &text)?);
            }
        }
        let columns: Vec<&str> = table.columns.iter().map(|(name, _)| &**name).collect();
        let coded = table.columns.iter().filter(|(_, coded)| *coded);
        let decode: Map<String, Value> =
            coded.map(|(name, _)| (name.clone(), "FROM_BASE64".into())).collect();
        let names: Vec<&str> = triggers().map(|trigger| &*trigger.name).collect();
        let compression = self.options.compression;
        let json = json!({
            "options": {
                "schema": table.database,
                "table": table.name,
                "columns": columns,
                "decodeColumns": decode,
                "defaultCharacterSet": "utf8mb4",
                "fieldsTerminatedBy": "\t",
                "fieldsEnclosedBy": "",
                "fieldsOptionallyEnclosed": false,
                "fieldsEscapedBy": "\\",
                "linesTerminatedBy": "\n",
            },
            "triggers": names,
            "histograms": [],
            "includesData": self.options.rows,
            "includesDdl": definitions,
            "extension": format!("tsv{}", compression.suffix()),
            "chunking": true,
            "compression": match compression {
                Compression::None => "none",
                Compression::Zstd { .. } => "zstd",
                Compression::Gzip { .. } => "gzip",
            },
            "primaryIndex": table.primary_key,
            "partitions": [],
            "basenames": {},
        });
        files.push(self.json(&format!("{base}.json"), &json)?);
        Ok(files)
    }

    fn chunk_names(&self, database: &str, table: &str, ending: String) -> ChunkNames {
        let base = self.names.table(database, table);
        Box::new(move |number, is_last| {
            let at = if is_last { "@@" } else { "@" };
            format!("{base}{at}{number}.{ending}")
        })
    }

    fn finish(&mut self, summary: &Summary) -> Result<()> {
        for schema in &self.contents.databases {
            self.schema(schema, summary)?;
        }
        Ok(())
    }

    fn marker(&self, summary: &Summary) -> Option<(&'static str, String)> {
        Some(("@.done.json", json_text(&totals(summary))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_what_the_shell_keeps() {
        assert_eq!(encode("world_1.~-"), "world_1.~-");
        assert_eq!(encode("a b@c/é%"), "a%20b%40c%2Fé%25");
        let mut names = Basenames::default();
        let long = names.short_enough("é".repeat(300));
        assert_eq!(long, format!("{}1", "é".repeat(100)));
        assert_eq!(names.short_enough("é".repeat(300)), format!("{}2", "é".repeat(100)));
    }
}
