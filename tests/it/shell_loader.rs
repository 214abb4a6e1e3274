//! A loader of the MySQL Shell's dump format, by the rules of its own reader: what that refuses is
//! refused here, files are found as it finds them, and the server loads them by the statement it
//! would be given.

use std::io::{Error, Result, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use innoscan_testkit::server::{Server, quote};
use serde_json::Value;

/// The Shell's connections speak this whatever the locale is; the client's take it from the locale.
const SPEAKS: &str = "SET NAMES utf8mb4;\n";

/// A table to load.
struct Table {
    base: String,
    json: Value,
    chunks: Vec<PathBuf>,
}

/// A database to load.
struct Schema {
    name: String,
    base: String,
    tables: Vec<Table>,
    views: Vec<String>,
}

/// A dump that is whole.
struct Dump {
    dir: PathBuf,
    schemas: Vec<Schema>,
}

fn refused(why: impl Into<String>) -> Error {
    Error::other(why.into())
}

fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read(path).map_err(|error| refused(format!("{path:?}: {error}")))?;
    Ok(serde_json::from_slice(&text)?)
}

fn list<'v>(value: &'v Value, key: &str) -> Result<Vec<&'v str>> {
    let list = value[key].as_array().ok_or_else(|| refused(format!("no list `{key}`")))?;
    list.iter().map(|it| it.as_str().ok_or_else(|| refused(format!("`{key}`: {it}")))).collect()
}

fn member<'v>(value: &'v Value, map: &str, key: &str) -> Result<&'v str> {
    value[map][key].as_str().ok_or_else(|| refused(format!("`{map}` has no `{key}`")))
}

fn there(path: PathBuf) -> Result<PathBuf> {
    if path.exists() { Ok(path) } else { Err(refused(format!("{path:?} is missing"))) }
}

/// A file of rows, not compressed.
fn plain(path: &Path) -> Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    match path.extension().is_some_and(|extension| extension == "zst") {
        true => zstd::decode_all(&bytes[..]),
        false => Ok(bytes),
    }
}

impl Table {
    /// Chunks are looked for from 0 on; where one is missing there must be the last, which has two
    /// @ in its name.
    fn read(dir: &Path, base: &str, done: &Value) -> Result<Table> {
        let json = json(&dir.join(format!("{base}.json")))?;
        for key in ["schema", "table"] {
            member(&json, "options", key)?;
        }
        list(&json["options"], "columns")?;
        if json["includesDdl"].as_bool().unwrap_or(true) {
            there(dir.join(format!("{base}.sql")))?;
        }
        if !list(&json, "triggers")?.is_empty() {
            there(dir.join(format!("{base}.triggers.sql")))?;
        }
        let extension = json["extension"].as_str().ok_or_else(|| refused("no extension"))?;
        let mut chunks = Vec::new();
        if json["includesData"].as_bool().unwrap_or(true) {
            assert_eq!(json["chunking"], true);
            loop {
                let number = chunks.len();
                let chunk = dir.join(format!("{base}@{number}.{extension}"));
                if chunk.exists() {
                    chunks.push(chunk);
                    continue;
                }
                chunks.push(there(dir.join(format!("{base}@@{number}.{extension}")))?);
                break;
            }
        }
        for chunk in &chunks {
            let name = chunk.file_name().unwrap().to_str().unwrap();
            let bytes = done["chunkFileBytes"][name].as_u64();
            if bytes != Some(plain(chunk)?.len() as u64) {
                return Err(refused(format!("{name}: not of {bytes:?} bytes")));
            }
        }
        Ok(Table { base: base.to_owned(), json, chunks })
    }

    /// The statement that loads a chunk.
    fn load_data(&self, path: &Path) -> Result<String> {
        let options = &self.json["options"];
        let mut columns = Vec::new();
        let mut sets = Vec::new();
        for (number, column) in list(options, "columns")?.into_iter().enumerate() {
            match options["decodeColumns"][column].as_str() {
                None => columns.push(quote(column)),
                Some(decode @ ("FROM_BASE64" | "UNHEX")) => {
                    columns.push(format!("@v{number}"));
                    sets.push(format!("{} = {decode}(@v{number})", quote(column)));
                }
                Some(other) => return Err(refused(format!("`{column}`: {other}"))),
            }
        }
        let text = |key: &str| -> Result<String> {
            let text = member(&self.json, "options", key)?;
            Ok(text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"))
        };
        let schema = member(&self.json, "options", "schema")?;
        let table = member(&self.json, "options", "table")?;
        let set = if sets.is_empty() { String::new() } else { format!(" SET {}", sets.join(",")) };
        Ok(format!(
            "LOAD DATA LOCAL INFILE '{}' INTO TABLE {}.{} CHARACTER SET '{}' \
             FIELDS TERMINATED BY '{}' ENCLOSED BY '{}' ESCAPED BY '{}' \
             LINES STARTING BY '' TERMINATED BY '{}' ({}){set};\n",
            path.display(),
            quote(schema),
            quote(table),
            text("defaultCharacterSet")?,
            text("fieldsTerminatedBy")?,
            text("fieldsEnclosedBy")?,
            text("fieldsEscapedBy")?,
            text("linesTerminatedBy")?,
            columns.join(",")
        ))
    }
}

impl Dump {
    /// Reads the manifests; what is missing is an error.
    fn read(dir: &Path) -> Result<Dump> {
        let global = json(&dir.join("@.json"))?;
        let version = global["version"].as_str().unwrap_or("1.0.0");
        let mut numbers = version.split('.').map(|number| number.parse::<u32>());
        match (numbers.next(), numbers.next()) {
            (Some(Ok(0..=1)), Some(Ok(_))) | (Some(Ok(2)), Some(Ok(0))) => {}
            _ => return Err(refused(format!("version {version}"))),
        }
        let done = json(&dir.join("@.done.json"))?;
        for file in ["@.sql", "@.post.sql"] {
            there(dir.join(file))?;
        }
        let mut schemas = Vec::new();
        for name in list(&global, "schemas")? {
            let base = member(&global, "basenames", name)?;
            let schema = json(&dir.join(format!("{base}.json")))?;
            if schema["includesDdl"].as_bool().unwrap_or(true) {
                there(dir.join(format!("{base}.sql")))?;
            }
            let tables = list(&schema, "tables")?.into_iter();
            let tables =
                tables.map(|table| Table::read(dir, member(&schema, "basenames", table)?, &done));
            let mut views = Vec::new();
            for view in list(&schema, "views")? {
                let base = member(&schema, "basenames", view)?;
                there(dir.join(format!("{base}.pre.sql")))?;
                there(dir.join(format!("{base}.sql")))?;
                views.push(base.to_owned());
            }
            let tables = tables.collect::<Result<_>>()?;
            schemas.push(Schema { name: name.to_owned(), base: base.to_owned(), tables, views });
        }
        Ok(Dump { dir: dir.to_owned(), schemas })
    }

    /// Runs a file's statements in a database.
    fn run(&self, server: &Server, schema: Option<&str>, file: &str) -> Result<()> {
        let mut script = String::from(SPEAKS);
        script += "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO';\n";
        script += "SET foreign_key_checks = 0;\n";
        script += &schema.map_or(String::new(), |name| format!("USE {};\n", quote(name)));
        let text = std::fs::read(self.dir.join(file))?;
        let result = server.sql([script.as_bytes(), &text].concat());
        result.map(drop).map_err(|error| refused(format!("{file}: {error}")))
    }
}

/// Feeds statements to a client that may send files.
fn load_files(server: &Server, statements: &str) -> Result<()> {
    let mut client = Command::new("mariadb")
        .args(["--no-defaults", "--skip-ssl", "-uroot", "--local-infile=1", "-S"])
        .arg(server.socket())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // a client that stops early says why itself
    let _ = client.stdin.take().unwrap().write_all(statements.as_bytes());
    let output = client.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(refused(String::from_utf8_lossy(&output.stderr)))
}

/// Loads a dump that is whole.
pub(crate) fn load(dir: &Path, server: &Server) -> Result<()> {
    let dump = Dump::read(dir)?;
    dump.run(server, None, "@.sql")?;
    for schema in &dump.schemas {
        dump.run(server, None, &format!("{}.sql", schema.base))?;
    }
    for schema in &dump.schemas {
        let name = Some(&*schema.name);
        for table in &schema.tables {
            dump.run(server, name, &format!("{}.sql", table.base))?;
        }
        for view in &schema.views {
            dump.run(server, name, &format!("{view}.pre.sql"))?;
        }
    }
    let mut statements = String::from(SPEAKS);
    statements += "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00', \
                   foreign_key_checks = 0, unique_checks = 0;\n";
    let plain_files = tempfile::tempdir()?;
    for (number, table) in dump.schemas.iter().flat_map(|schema| &schema.tables).enumerate() {
        for (chunk, path) in table.chunks.iter().enumerate() {
            let file = plain_files.path().join(format!("{number}-{chunk}.tsv"));
            std::fs::write(&file, plain(path)?)?;
            statements += &table.load_data(&file)?;
        }
    }
    load_files(server, &statements)?;
    for schema in &dump.schemas {
        let name = Some(&*schema.name);
        for table in &schema.tables {
            if !list(&table.json, "triggers")?.is_empty() {
                dump.run(server, name, &format!("{}.triggers.sql", table.base))?;
            }
        }
        for view in &schema.views {
            dump.run(server, name, &format!("{view}.sql"))?;
        }
    }
    dump.run(server, None, "@.post.sql")
}

/// What the Shell's reader refuses is refused, once it is done to a dump that is whole.
pub(crate) fn refuses_what_is_not_whole(dir: &Path) {
    Dump::read(dir).unwrap();
    for file in ["@.done.json", "@.post.sql", "plain@many@1.tsv.zst", "plain.json", "plain.sql"] {
        let (path, aside) = (dir.join(file), dir.join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        assert!(Dump::read(dir).is_err(), "{file}");
        std::fs::rename(&aside, &path).unwrap();
    }
    for (file, key, value) in [
        ("@.json", "version", Value::from("2.1.0")),
        ("@.json", "schemas", Value::Null),
        ("@.json", "basenames", Value::Null),
        ("plain@many.json", "options", Value::Null),
        ("@.done.json", "chunkFileBytes", Value::Null),
    ] {
        let before = std::fs::read(dir.join(file)).unwrap();
        let mut changed = json(&dir.join(file)).unwrap();
        changed[key] = value;
        std::fs::write(dir.join(file), changed.to_string()).unwrap();
        assert!(Dump::read(dir).is_err(), "{file}: {key}");
        std::fs::write(dir.join(file), before).unwrap();
    }
    Dump::read(dir).unwrap();
}
