//! A data directory as a catalog: its databases are schemas. A table is opened when a query names it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, SchemaProvider, TableFunctionArgs, TableFunctionImpl, TableProvider,
};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use innoscan::{DataFiles, Keys, OptionFiles, ScanOptions, Table};
use innoscan_catalog::catalog::{Catalog, TableName, directory_of};
use innoscan_catalog::ledger::{Filter, ItemKind};
use innoscan_export::listing::Listing;

use crate::table::{InnodbTable, external};

/// Where tables are, and how they are read.
pub struct Places {
    pub datadir: Option<PathBuf>,
    pub keys: Keys,
    pub files: DataFiles,
    pub option_files: OptionFiles,
    pub force: bool,
    pub options: ScanOptions,
    /// The notes that were printed.
    pub notes: Mutex<HashSet<String>>,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Places").field("datadir", &self.datadir).finish_non_exhaustive()
    }
}

impl Places {
    fn catalog(&self, datadir: Option<PathBuf>) -> Catalog {
        let catalog = Catalog::new(datadir).with_force(self.force).with_keys(self.keys.clone());
        catalog.with_files(self.files.clone(), self.option_files.clone())
    }

    /// Prints a note once: most are about the directory, and the same for all its tables.
    fn note(&self, note: &str) {
        if self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(note.to_owned()) {
            eprintln!("innoscan: note: {note}");
        }
    }

    fn provider(&self, table: innoscan::Result<Table>) -> Result<Arc<dyn TableProvider>> {
        let table = table.map_err(external)?;
        for note in &table.notes.rows {
            self.note(note);
        }
        Ok(Arc::new(InnodbTable::new(table, &self.options).map_err(external)?))
    }

    /// Requires that the data directory may be read: lists of its tables cannot report an error.
    ///
    /// # Errors
    /// It does not exist, its server runs, or it was not shut down cleanly.
    pub fn require_readable(&self) -> innoscan::Result<()> {
        let Some(datadir) = &self.datadir else { return Ok(()) };
        std::fs::read_dir(datadir)
            .map_err(|error| innoscan::Error::read("cannot open it", error).in_file(datadir))?;
        self.catalog(Some(datadir.clone())).require_readable()
    }

    /// The tables of the data directory, as `(database, table)`; those that cannot be listed are noted.
    fn tables(&self) -> Vec<(String, String)> {
        let Some(datadir) = &self.datadir else { return Vec::new() };
        let listing = match Listing::of(datadir, &Filter::all(), |root| self.catalog(root)) {
            Ok(listing) => listing,
            Err(error) => {
                self.note(&format!("tables are not listed: {error}"));
                return Vec::new();
            }
        };
        for unlisted in &listing.unlisted {
            self.note(&format!("not listed: {unlisted}"));
        }
        let objects = listing.objects.into_iter().filter(|object| !object.is_system);
        let tables = objects.filter(|object| object.listed.item.kind == ItemKind::Table);
        tables.map(|table| (table.listed.item.database, table.listed.item.name)).collect()
    }
}

/// The databases of a data directory.
#[derive(Debug)]
pub struct Databases(pub Arc<Places>);

impl CatalogProvider for Databases {
    fn schema_names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.0.tables().into_iter().map(|(database, _)| database).collect();
        names.dedup();
        names
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let datadir = self.0.datadir.as_ref()?;
        directory_of(datadir, name).is_dir().then(|| {
            let database = Database { places: Arc::clone(&self.0), name: name.to_owned() };
            Arc::new(database) as Arc<dyn SchemaProvider>
        })
    }
}

/// The tables of a database.
#[derive(Debug)]
struct Database {
    places: Arc<Places>,
    name: String,
}

#[async_trait]
impl SchemaProvider for Database {
    fn table_names(&self) -> Vec<String> {
        let tables = self.places.tables().into_iter();
        tables.filter(|(database, _)| *database == self.name).map(|(_, table)| table).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = TableName { schema: self.name.clone(), table: name.to_owned() };
        let found = self.places.catalog(self.places.datadir.clone()).named(&table);
        self.places.provider(found).map(Some)
    }

    async fn table_type(&self, _: &str) -> Result<Option<TableType>> {
        // No table is opened for a list of names.
        Ok(Some(TableType::Base))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.table_names().iter().any(|table| table == name)
    }
}

/// `innodb('path.ibd')`: the table of a file.
#[derive(Debug)]
pub struct InnodbFunction(pub Arc<Places>);

impl TableFunctionImpl for InnodbFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(ScalarValue::Utf8(Some(path)), _)] = args.exprs() else {
            return plan_err!("innodb takes the path of an .ibd file, in quotes");
        };
        self.0.provider(self.0.catalog(None).table(path))
    }
}
