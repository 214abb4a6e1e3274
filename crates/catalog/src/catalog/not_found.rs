//! Why a table of the data directory is not found, and what to do.

use std::path::Path;

use innoscan_engine::{Error, Remedy};
use innoscan_format::Remedy as FormatRemedy;
use innoscan_format::schema::{filename, from_frm};

use super::{Catalog, TableName};
use crate::datadir::{DataDir, Shutdown};

impl Catalog {
    /// The error for a table without a file in the directory of its database.
    pub(super) fn no_such_table(&self, name: &TableName, dir: &Path) -> Error {
        let link = dir.join(format!("{}.isl", filename::encode(&name.table)));
        let frm = dir.join(format!("{}.frm", filename::encode(&name.table)));
        if let Ok(target) = std::fs::read_to_string(&link) {
            let target = target.trim();
            let remedy = match frm.is_file() {
                true => Remedy::NameFileWithDefinition { file: target.into(), definition: frm },
                false => "name that .ibd file".into(),
            };
            let why = format!("`{name}` lies outside the data directory, at {target}");
            return Error::refused(why, [Remedy::NameDirectories, remedy]);
        }
        let definition = std::fs::read(frm).ok();
        let engine = definition
            .and_then(|bytes| from_frm(&bytes, &name.schema, &name.table).ok())
            .map(|def| def.options.engine);
        match engine.as_deref() {
            Some("InnoDB") => self.no_tablespace(name, dir),
            Some(engine) => Error::refused(
                format!("`{name}` is a table of the engine {engine}, not of InnoDB"),
                FormatRemedy::DumpFromServer,
            ),
            None => Error::not_found(
                format!("there is no table `{name}` in {}", dir.display()),
                ["list the directory to see which exist".into(), Remedy::NameDirectories],
            ),
        }
    }

    /// The error for a table of InnoDB without a file in the directory of its database.
    fn no_tablespace(&self, name: &TableName, dir: &Path) -> Error {
        let what =
            format!("`{name}` has no tablespace of its own, and none of the directory has it");
        let Some(root) = dir.parent().filter(|root| DataDir::is_one(root)) else {
            return Error::refused(what, Remedy::NameDirectories);
        };
        let directory = match self.judged(root) {
            Err(error) => return error,
            Ok(directory) => directory,
        };
        match directory.datadir.shutdown() {
            Shutdown::Unknown(why) if directory.datadir.system_tablespace().is_none() => {
                let what = format!("`{name}` has no tablespace of its own, and {why}");
                Error::refused(what, [Remedy::NameSystemFiles, Remedy::NameDirectories])
            }
            // Before MariaDB 10.6 the server cannot open such a table either.
            Shutdown::Crashed { .. } => Error::refused(
                format!(
                    "{what}; the server was perhaps killed while it created or dropped the table"
                ),
                [Remedy::NameDirectories, Remedy::LeaveOutTable],
            ),
            Shutdown::Clean { .. } | Shutdown::Unknown(_) => {
                Error::refused(what, Remedy::NameDirectories)
            }
        }
    }
}
