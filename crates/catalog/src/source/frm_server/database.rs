//! Databases and their options.

use std::io::ErrorKind;
use std::path::Path;

use innoscan_engine::{Error, Result};
use innoscan_format::schema::ServerVersion;
use innoscan_format::schema::text_file::DatabaseOptions;

use super::super::{FoundObject, Item, ItemKind};
use super::database_name;
use super::text::Quoting;
use crate::object::{Object, ObjectKind};

/// The database of a directory.
pub(super) fn database(server: ServerVersion, dir: &Path) -> FoundObject {
    let name = database_name(dir);
    let statements = create_database(server, dir, &name)
        .map(|create| vec![Object::new(&name, ObjectKind::Database, &name, vec![create])]);
    FoundObject { item: Item::new(&name, ItemKind::Database, &name), statements }
}

/// `SHOW CREATE DATABASE`, but always with the collation, which servers before MariaDB 10.3.37 omit
/// where it is the charset's default: the dump's other statements look for it.
///
/// A database without a `db.opt` has the charset with which its server is started, which no file has.
/// The statement then has none either, and the server that runs it uses its own.
fn create_database(server: ServerVersion, dir: &Path, name: &str) -> Result<String> {
    let path = dir.join("db.opt");
    let options = match std::fs::read(&path) {
        Ok(bytes) => DatabaseOptions::parse(&bytes, server)
            .map_err(|error| Error::from(error).in_file(&path))?,
        Err(error) if error.kind() == ErrorKind::NotFound => DatabaseOptions::default(),
        Err(error) => {
            return Err(Error::read("reading a database's options", error).in_file(&path));
        }
    };
    let quoting = Quoting::default();
    let mut create = format!("CREATE DATABASE {}", quoting.name(name));
    if let Some(collation) = options.collation {
        let charset = collation.charset()?.name_in(server);
        let collation = collation.name(server).unwrap_or_default();
        create += &format!(" /*!40100 DEFAULT CHARACTER SET {charset} COLLATE {collation} */");
    }
    if !options.comment.is_empty() {
        create += &format!(" COMMENT {}", quoting.text(&options.comment));
    }
    Ok(create)
}
