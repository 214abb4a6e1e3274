//! A table whose files are held still, opened.

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_engine::{Error, Result, Table};
use innoscan_format::schema::quoted_name;

use crate::lock::require_exported;
use crate::session::{Session, cell};

/// Opens a table of its own file, with the definition that the server shows.
pub(crate) fn open_table(
    catalog: &Catalog,
    name: &TableName,
    control: &mut Session,
) -> Result<Table> {
    if !catalog.has_own_file(name)? {
        return Err(Error::refused(
            "it has no tablespace of its own",
            "its rows are in the system tablespace, in a general one, or outside the data directory",
        ));
    }
    let mut table = catalog.named(name)?;
    require_exported(&table)?;
    let sql =
        format!("SHOW CREATE TABLE {}.{}", quoted_name(&name.schema), quoted_name(&name.table));
    table.create_sql = control.rows(&sql)?.first().map(|row| cell(row, 1));
    // They are of directories whose servers nobody asked.
    table.notes = Default::default();
    Ok(table)
}
