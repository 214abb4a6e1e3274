//! Views: the `.frm` files that are text.

use std::path::Path;

use innoscan_format::schema::text_file::{CheckOption, ViewAlgorithm, ViewDefinition};
use innoscan_format::schema::{ServerVersion, filename, is_view};

use super::super::{FoundObject, Item, ItemKind};
use super::text::Quoting;
use super::{database_name, files_with, object, read};
use crate::dump::{Object, ObjectKind, ObjectSession};
use crate::{Error, Result};

/// The views of a database's directory, in the order of their names.
///
/// # Errors
/// When the directory cannot be listed.
pub(super) fn views(server: ServerVersion, dir: &Path) -> Result<Vec<FoundObject>> {
    let mut found = Vec::new();
    let database = database_name(dir);
    for (stem, path) in files_with(dir, "frm")? {
        let name = filename::decode(&stem);
        let statements = match read(&path) {
            Ok(bytes) if !is_view(&bytes) => continue,
            Ok(bytes) => view(server, &database, &name, &bytes),
            Err(error) => Err(error),
        };
        let statements = statements.map(|view| vec![view]).map_err(|error| error.in_file(&path));
        found.push(FoundObject { item: Item::new(&database, ItemKind::View, &name), statements });
    }
    found.sort_by(|a, b| a.item.cmp(&b.item));
    Ok(found)
}

fn view(server: ServerVersion, database: &str, name: &str, bytes: &[u8]) -> Result<Object> {
    let mut view = ViewDefinition::parse(bytes, server.family)?;
    let columns = view.columns.take().ok_or_else(|| {
        Error::refused(
            "the names of the view's columns cannot be told from its query",
            "dump it from a running server, or give each column an alias",
        )
    })?;
    let session = ObjectSession {
        character_set_client: view.character_set_client.clone(),
        collation_connection: view.collation_connection.clone(),
        ..ObjectSession::default()
    };
    let create = create_view(server, database, name, &view);
    let object = object(database, ObjectKind::View, name, vec![create]);
    Ok(Object { columns, session: Some(session), ..object })
}

/// `SHOW CREATE VIEW`, as a session in another database gives it: all names are in full, and mean
/// the same wherever the statement runs.
fn create_view(server: ServerVersion, database: &str, name: &str, view: &ViewDefinition) -> String {
    let quoting = Quoting::default();
    let algorithm = match view.algorithm {
        ViewAlgorithm::Undefined => "UNDEFINED",
        ViewAlgorithm::Merge => "MERGE",
        ViewAlgorithm::TempTable => "TEMPTABLE",
    };
    let definer = quoting.definer(&view.definer_user, &view.definer_host, server.family);
    let security = if view.is_of_definer { "DEFINER" } else { "INVOKER" };
    let check = match view.check_option {
        None => "",
        Some(CheckOption::Local) => " WITH LOCAL CHECK OPTION",
        Some(CheckOption::Cascaded) => " WITH CASCADED CHECK OPTION",
    };
    format!(
        "CREATE ALGORITHM={algorithm} {definer} SQL SECURITY {security} VIEW {}.{} AS {}{check}",
        quoting.name(database),
        quoting.name(name),
        view.query
    )
}
