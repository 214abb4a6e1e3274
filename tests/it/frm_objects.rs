//! Objects of servers with `.frm` files: what is read from the files of a stopped server is what the
//! server said of them while it ran, and makes them again in another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::ledger::{Filter, ObjectKinds};
use innoscan_catalog::object::{Object, ObjectKind};
use innoscan_catalog::source::{ItemKind, objects_of_frm_server};
use innoscan_export::dump::{Dump, DumpOptions, Format, to_stream};
use innoscan_export::sink::sql::SqlOptions;
use innoscan_io::engine::memory::splitmix64;
use innoscan_live::inventory::Inventory;
use innoscan_live::objects::objects;
use innoscan_live::{Account, Session, Tls};
use innoscan_testkit::server::{Server, install};

use crate::layouts::table_names;

/// Clients of another charset, as bytes that are no UTF-8.
const LATIN1: &[u8] = b"USE d; SET NAMES latin1;
    CREATE VIEW vlat AS SELECT '\xe9' AS `c\xe9`;
    CREATE VIEW vintro AS SELECT _utf8'\xc3\xa9' AS i, _binary'\xff\xfe' AS j, x'ff00' as h;
    CREATE TRIGGER tl AFTER INSERT ON t FOR EACH ROW SET @y = '\xe9';
    CREATE PROCEDURE plat (`\xe9` INT) COMMENT 'c' SELECT '\xe9', _binary'\xff';
    SET NAMES utf8mb4;\n";

/// A server with odd objects of every kind.
fn server_with_objects(version: &str) -> Server {
    install(version).unwrap();
    let server = Server::start(version, &["--skip-grant-tables=OFF"]).unwrap();
    server.sql(include_bytes!("frm_objects/objects.sql")).unwrap();
    server.sql(LATIN1).unwrap();
    server.sql(include_bytes!("frm_objects/accounts.sql")).unwrap();
    if version.starts_with("mariadb") {
        server.sql(include_bytes!("frm_objects/mariadb.sql")).unwrap();
        server.sql(include_bytes!("frm_objects/mariadb_accounts.sql")).unwrap();
    }
    server
}

/// What the server says of all its objects.
pub(crate) fn said_by(server: &Server) -> Vec<Object> {
    let account = Account {
        socket: Some(server.socket().to_owned()),
        user: Some("root".into()),
        tls: Tls::Disabled,
        ..Account::default()
    };
    let mut session = Session::connect(&account).unwrap();
    let kinds = ObjectKinds { users: true, ..ObjectKinds::without_users() };
    let all = Filter { kinds, ..Filter::all() };
    let mut inventory = Inventory::take(&mut session, &all).unwrap();
    let asked = objects(&mut session, &mut inventory, &all).unwrap();
    assert_eq!(inventory.ledger.what_is_missing(), None);
    asked
}

/// The objects of a directory, all of which must be readable.
fn read_from(data: &Path) -> Vec<Object> {
    let found = objects_of_frm_server(data, |_| true).unwrap();
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    let statements = found.objects.into_iter().map(|object| match object.statements {
        Ok(statements) => statements,
        Err(error) => panic!("{}: {error}", object.item),
    });
    statements.flatten().collect()
}

/// Statements without what servers write in different ways: quotes, which old ones leave out,
/// parentheses around joins, the order of columns.
fn plain(statements: &[String]) -> BTreeSet<String> {
    let plain = statements.iter().map(|statement| {
        let bare = statement.replace(['\'', '`', '"', '\\', '(', ')'], "");
        let mut parts: Vec<&str> = bare.split([',', ' ']).collect();
        parts.sort_unstable();
        parts.join(" ")
    });
    plain.collect()
}

/// Objects by what they are and their names; what an account is granted is one.
fn by_name(objects: Vec<Object>) -> BTreeMap<String, Object> {
    let mut by_name: BTreeMap<String, Object> = BTreeMap::new();
    for object in objects {
        let name = format!("{:?} {}.{}", object.kind, object.database, object.name);
        match by_name.get_mut(&name) {
            Some(other) => other.statements.extend(object.statements),
            None => _ = by_name.insert(name, object),
        }
    }
    by_name
}

/// What files say of an object against what the server says.
fn require_same(read: &Object, said: &Object, roles: &BTreeSet<String>) {
    let what = format!("{:?} {}.{}", read.kind, read.database, read.name);
    match read.kind {
        // A charset's own collation is not always said, a database without a file has none here.
        ObjectKind::Database => {
            let cut = |text: &str| text.split(" /*!40100").next().unwrap().to_owned();
            assert_eq!(cut(&read.statements[0]), cut(&said.statements[0]), "{what}");
            let charset = said.statements[0].split(" COLLATE").next().unwrap();
            let charset = charset.trim_end_matches(" */");
            let is_said = read.statements[0].starts_with(charset);
            assert!(is_said || read.name == "test", "{what}: {read:?} {said:?}");
        }
        ObjectKind::View => {
            assert_eq!(plain(&read.statements), plain(&said.statements), "{what}");
            assert_eq!((&read.columns, &read.session), (&said.columns, &said.session), "{what}");
        }
        ObjectKind::User => {
            assert_eq!(plain(&read.statements), plain(&said.statements), "{what}");
        }
        // Roles show what the roles have that they are granted.
        ObjectKind::Grants => {
            let (read, said) = (plain(&read.statements), plain(&said.statements));
            assert_eq!(read.difference(&said).next(), None, "{what}");
            assert_eq!(
                said.difference(&read).find(|grant| !roles.contains(*grant)),
                None,
                "{what}"
            );
        }
        _ => assert_eq!(read, said, "{what}"),
    }
}

/// What an account's server does by itself, or whoever loads a role has: the administrator's own.
fn without_administrators(objects: Vec<Object>) -> Vec<Object> {
    objects.into_iter().filter(|object| !object.name.starts_with("'root'@")).collect()
}

/// A script of everything: tables, objects, accounts.
fn script_of(data: &Path, objects: &[Object]) -> Vec<u8> {
    let catalog = Catalog::new(Some(data.to_owned()));
    let names = table_names(&catalog);
    let tables: Vec<_> = names.iter().map(|name| catalog.named(name).unwrap()).collect();
    let mut objects: Vec<&Object> = objects.iter().collect();
    // Grants name accounts and roles.
    objects.sort_by_key(|object| object.kind == ObjectKind::Grants);
    let dump = Dump { tables: tables.iter().collect(), objects, ..Dump::default() };
    let mut script = Vec::new();
    let options = DumpOptions::new(Format::Sql(SqlOptions::default()));
    to_stream(dump, &mut script, &options, |_| {}).unwrap();
    script
}

fn compare(version: &str) {
    let mut server = server_with_objects(version);
    let said = said_by(&server);
    server.stop().unwrap();
    let read = read_from(&server.data());
    let target = Server::start(version, &["--skip-grant-tables=OFF"]).unwrap();
    target.feed(&mut &*script_of(&server.data(), &read)).unwrap();
    let loaded = by_name(without_administrators(said_by(&target)));
    let was = by_name(without_administrators(said.clone()));
    for (name, was) in &was {
        match (loaded.get(name), &was.kind) {
            (Some(loaded), ObjectKind::Grants) => {
                assert_eq!(plain(&loaded.statements), plain(&was.statements), "{name}");
            }
            (loaded, _) => assert_eq!(loaded, Some(was), "{name} as it was loaded"),
        }
    }
    assert_eq!(loaded.len(), was.len());

    let (read, said) = (by_name(read), by_name(said));
    let of_roles =
        read.values().filter(|it| it.kind == ObjectKind::Grants && it.name.starts_with('`'));
    let of_roles = of_roles.flat_map(|object| plain(&object.statements)).collect();
    for (name, read) in &read {
        let said = said.get(name).unwrap_or_else(|| panic!("{name} is too many"));
        require_same(read, said, &of_roles);
    }
    assert_eq!(read.len(), said.len());
    damaged_files_are_told_of(&server.data());
}

/// Files that are cut off or overwritten in places never stop the others.
fn damaged_files_are_told_of(data: &Path) {
    let copy = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for database in ["mysql", "d"] {
        std::fs::create_dir(copy.path().join(database)).unwrap();
        for entry in std::fs::read_dir(data.join(database)).unwrap() {
            let from = entry.unwrap().path();
            let to = copy.path().join(database).join(from.file_name().unwrap());
            let is_text =
                from.extension().is_some_and(|it| it == "TRG" || it == "TRN" || it == "opt");
            let is_own =
                database == "d" || OWN.contains(&&*from.file_stem().unwrap().to_string_lossy());
            std::fs::copy(&from, &to).unwrap();
            if is_text || is_own {
                files.push(to);
            }
        }
    }
    files.sort();
    let whole = objects_of_frm_server(copy.path(), |_| true).unwrap().objects.len();
    for seed in 0..150_u64 {
        let mut state = seed;
        let mut random = |below: usize| splitmix64(&mut state) as usize % below.max(1);
        let file = &files[random(files.len())];
        let kept = std::fs::read(file).unwrap();
        let mut bytes = kept.clone();
        match random(2) {
            0 => bytes.truncate(random(bytes.len())),
            _ => {
                for _ in 0..=random(8) {
                    let at = random(bytes.len());
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random(256) as u8;
                    }
                }
            }
        }
        std::fs::write(file, bytes).unwrap();
        let found = objects_of_frm_server(copy.path(), |_| true).unwrap();
        let is_told = !found.unread.is_empty() || found.objects.len() + 8 > whole;
        assert!(is_told, "seed {seed}: {} of {whole}, {}", found.objects.len(), file.display());
        std::fs::write(file, kept).unwrap();
    }
    std::fs::remove_file(copy.path().join("mysql/proc.frm")).unwrap();
    let unread = objects_of_frm_server(copy.path(), |_| true).unwrap().unread;
    assert!(unread.iter().any(|list| list.kinds.contains(&ItemKind::Package)), "{unread:?}");
}

/// The server's own tables that are read.
const OWN: [&str; 9] = [
    "proc",
    "event",
    "global_priv",
    "user",
    "db",
    "tables_priv",
    "columns_priv",
    "procs_priv",
    "roles_mapping",
];

#[test]
fn objects_of_debians_mariadb_are_read_as_it_shows_them_and_load_again() {
    compare("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn objects_of_mysql_5_7_are_read_as_it_shows_them_and_load_again() {
    compare("mysql-5.7.22");
}
