//! A data directory as a catalog: its databases are schemas. A table is opened when a query names it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, SchemaProvider, TableFunctionArgs, TableFunctionImpl, TableProvider,
};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use innoscan::{DataFiles, Keys, OptionFiles, Prepared, ScanOptions, Table};
use innoscan_catalog::catalog::{Catalog, TableName, directory_of};
use innoscan_catalog::ledger::{Filter, ItemKind};
use innoscan_export::listing::Listing;

use crate::remedies;
use crate::shared_catalog::SharedCatalog;
use crate::table::{InnodbTable, external};

/// Where tables are, and the choice for prepared transactions.
#[derive(Clone)]
pub struct Places {
    pub datadir: Option<PathBuf>,
    pub keys: Keys,
    pub files: DataFiles,
    pub option_files: OptionFiles,
    pub prepared: Prepared,
    pub force: bool,
}

/// The tables of these places.
pub struct Tables {
    places: Places,
    options: ScanOptions,
    /// Those of the data directory.
    by_name: SharedCatalog,
    by_path: SharedCatalog,
    /// The names of those of the data directory, as `(database, table)`, when they were asked for.
    names: OnceLock<Vec<(String, String)>>,
    /// The notes that were printed.
    notes: Mutex<HashSet<String>>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("datadir", &self.places.datadir).finish_non_exhaustive()
    }
}

impl Places {
    fn catalog(&self, datadir: Option<PathBuf>) -> Catalog {
        let catalog = Catalog::new(datadir).with_force(self.force).with_keys(self.keys.clone());
        let catalog = catalog.with_prepared(self.prepared);
        catalog.with_files(self.files.clone(), self.option_files.clone())
    }
}

impl Tables {
    /// The tables of some places, which are read with these options.
    ///
    /// # Errors
    /// There can be no further thread.
    pub fn new(places: Places, options: ScanOptions) -> innoscan::Result<Tables> {
        let start = |datadir: Option<PathBuf>| {
            let places = places.clone();
            SharedCatalog::start(move || places.catalog(datadir))
        };
        Ok(Tables {
            by_name: start(places.datadir.clone())?,
            by_path: start(None)?,
            names: OnceLock::new(),
            notes: Mutex::default(),
            places,
            options,
        })
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
        let Some(datadir) = &self.places.datadir else { return Ok(()) };
        std::fs::read_dir(datadir)
            .map_err(|error| innoscan::Error::read("cannot open it", error).in_file(datadir))?;
        self.by_name.ask(Catalog::require_readable)
    }

    /// The tables of the data directory, as `(database, table)`.
    fn names(&self) -> &[(String, String)] {
        self.names.get_or_init(|| self.listed())
    }

    /// The names in a listing; what cannot be listed is noted.
    fn listed(&self) -> Vec<(String, String)> {
        let places = &self.places;
        let Some(datadir) = &places.datadir else { return Vec::new() };
        let listing = match Listing::of(datadir, &Filter::all(), |root| places.catalog(root)) {
            Ok(listing) => listing,
            Err(error) => {
                self.note(&format!("tables are not listed: {}", remedies::message(&error)));
                return Vec::new();
            }
        };
        for unlisted in &listing.unlisted {
            self.note(&format!("not listed: {}", remedies::reason(unlisted)));
        }
        let objects = listing.objects.into_iter().filter(|object| !object.is_system);
        let tables = objects.filter(|object| object.listed.item.kind == ItemKind::Table);
        tables.map(|table| (table.listed.item.database, table.listed.item.name)).collect()
    }
}

/// The databases of a data directory.
#[derive(Debug)]
pub struct Databases(pub Arc<Tables>);

impl CatalogProvider for Databases {
    fn schema_names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.0.names().iter().map(|(database, _)| database.clone()).collect();
        names.dedup();
        names
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        // An incremental backup may have other databases than its base.
        let places = &self.0.places;
        let newest = places.files.newest(places.datadir.as_deref()?);
        directory_of(newest, name).is_dir().then(|| {
            let database = Database { tables: Arc::clone(&self.0), name: name.to_owned() };
            Arc::new(database) as Arc<dyn SchemaProvider>
        })
    }
}

/// The tables of a database.
#[derive(Debug)]
struct Database {
    tables: Arc<Tables>,
    name: String,
}

#[async_trait]
impl SchemaProvider for Database {
    fn table_names(&self) -> Vec<String> {
        let of_database = self.tables.names().iter().filter(|(database, _)| *database == self.name);
        of_database.map(|(_, table)| table.clone()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = TableName { schema: self.name.clone(), table: name.to_owned() };
        let found = self.tables.by_name.ask(move |catalog| catalog.named(&table));
        self.tables.provider(found).map(Some)
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
pub struct InnodbFunction(pub Arc<Tables>);

impl TableFunctionImpl for InnodbFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(ScalarValue::Utf8(Some(path)), _)] = args.exprs() else {
            return plan_err!("innodb takes the path of an .ibd file, in quotes");
        };
        let path = path.clone();
        self.0.provider(self.0.by_path.ask(move |catalog| catalog.table(&path)))
    }
}
