//! Objects of servers with `.frm` files: what is read from the files of a stopped server is what the
//! server said of them while it ran, and makes them again in another.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan::Wanted;
use innoscan::dump::{Object, ObjectKind};
use innoscan::source::{FoundObjects, Item, objects_of_frm_server};
use innoscan_live::inventory::Inventory;
use innoscan_live::objects::{Which, objects};
use innoscan_live::{Account, Session, Tls};
use innoscan_testkit::server::{Server, install};

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
fn said_by(server: &Server) -> Vec<Object> {
    let account = Account {
        socket: Some(server.socket().to_owned()),
        user: Some("root".into()),
        tls: Tls::Disabled,
        ..Account::default()
    };
    let mut session = Session::connect(&account).unwrap();
    let inventory = Inventory::take(&mut session, &Wanted::default()).unwrap();
    let all = Which { views: true, triggers: true, routines: true, events: true, users: true };
    objects(&mut session, &inventory, all).unwrap()
}

fn found_in(data: &Path) -> FoundObjects {
    objects_of_frm_server(data, |_| true).unwrap()
}

/// Objects by what they are and their names.
fn by_name<'o>(objects: impl Iterator<Item = &'o Object>) -> BTreeMap<String, &'o Object> {
    objects
        .map(|object| (format!("{:?} {}.{}", object.kind, object.database, object.name), object))
        .collect()
}

#[test]
fn objects_of_debians_mariadb_are_read_as_it_shows_them() {
    compare("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn objects_of_mysql_5_7_are_read_as_it_shows_them() {
    compare("mysql-5.7.22");
}

fn compare(version: &str) {
    let mut server = server_with_objects(version);
    let said = said_by(&server);
    server.stop().unwrap();
    let found = found_in(&server.data());
    let mut read = Vec::new();
    for object in &found.objects {
        match &object.statements {
            Ok(statements) => read.extend(statements),
            Err(error) => panic!("{version}: {}: {error}", object.item),
        }
    }
    let (said, read) = (by_name(said.iter()), by_name(read.into_iter()));
    let mut differences = Vec::new();
    for (name, said) in &said {
        match read.get(name) {
            None => differences.push(format!("{name} is missing")),
            Some(read) if read != said => {
                differences.push(format!("{name}:\n{said:#?}\n{read:#?}"))
            }
            Some(_) => {}
        }
    }
    for name in read.keys().filter(|name| !said.contains_key(*name)) {
        differences.push(format!("{name} is too many"));
    }
    assert!(differences.is_empty(), "{version}:\n{}", differences.join("\n"));
}
