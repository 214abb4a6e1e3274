//! Definitions given by the user instead of those in or beside the files.

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format::schema::{TableDef, filename, from_create_table, server_of_text};

use super::definition::read_frm;
use super::{Catalog, TableName, partition_files, schema_of, stem};

/// A definition given by the user.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// The text of a `CREATE TABLE`, with the path of its file.
    Text(PathBuf, String),
    /// The definition in a `.frm` file.
    Frm(Box<TableDef>),
}

impl Given {
    pub fn def(&self) -> Result<TableDef> {
        match self {
            Given::Text(path, sql) => from_create_table(sql, server_of_text(sql))
                .map_err(|error| Error::from(error).in_file(path)),
            Given::Frm(def) => Ok((**def).clone()),
        }
    }
}

impl Catalog {
    /// Whether a table has a tablespace of its own in the data directory, or one for a partition.
    ///
    /// # Errors
    /// There is no data directory, or the directory of the database cannot be listed.
    pub fn has_own_file(&self, name: &TableName) -> Result<bool> {
        let dir = self.datadir()?.join(filename::encode(&name.schema));
        self.read_backup()?;
        let plain = dir.join(format!("{}.ibd", filename::encode(&name.table)));
        Ok(self.keys.is_file(&plain) || !partition_files(&dir, &name.table, &self.keys)?.is_empty())
    }

    /// Defines every table by this text of a `CREATE TABLE`, whose `path` is named in errors.
    #[must_use]
    pub fn with_definition(mut self, path: PathBuf, sql: String) -> Catalog {
        self.definition = Some(Given::Text(path, sql));
        self
    }

    /// Defines every table by this `.frm` file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn with_frm(mut self, path: &Path) -> Result<Catalog> {
        let schema = path.parent().map(schema_of).unwrap_or_default();
        let def = read_frm(path, &schema, &filename::decode(&stem(path)))?;
        self.definition = Some(Given::Frm(Box::new(def)));
        Ok(self)
    }

    /// The same catalog for names in another directory.
    #[must_use]
    pub fn in_directory(&self, root: &Path) -> Catalog {
        let definition = self.definition.clone();
        Catalog { definition, ..self.without_definition(Some(root.to_owned())) }
    }

    /// The same catalog for another data directory, where tables have their own definitions.
    #[must_use]
    pub fn without_definition(&self, datadir: Option<PathBuf>) -> Catalog {
        Catalog {
            datadir,
            force: self.force,
            prepared: self.prepared,
            keys: self.keys.clone(),
            files: self.files.clone(),
            option_files: self.option_files.clone(),
            ..Catalog::default()
        }
    }
}
