//! Opening a table whose files are locked for export, or copied.

use innoscan_catalog::catalog::{Catalog, TableName};
use innoscan_engine::{Error, Remedy, Result, Table};
use innoscan_format::Remedy as FormatRemedy;

use crate::lock::require_exported;
use crate::session::Session;

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
    table.require_keys()?;
    require_exported(&table)?;
    table.create_sql = Some(control.create_table(name)?);
    // The notes warn of what only a server can tell, and this server was asked.
    table.notes = Default::default();
    Ok(table)
}

/// Whether a table cannot be read for want of a key file of MariaDB. MySQL puts the key beside each table that it locks
/// for export.
pub(crate) fn lacks_key_file(error: &Error) -> bool {
    error.remedies().contains(&Remedy::Format(FormatRemedy::GiveKeyFile))
}
