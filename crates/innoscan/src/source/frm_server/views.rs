//! Views: the `.frm` files that are text.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_format::schema::text_file::{CheckOption, ViewAlgorithm, ViewDefinition};
use innoscan_format::schema::{ServerVersion, filename, is_view};

use super::super::{FoundObject, Item, ItemKind};
use super::text::Quoting;
use super::{DefinitionFile, database_name};
use crate::dump::{Object, ObjectKind, ObjectSession};
use crate::{Error, Result};

/// The views of a database's directory: in the order of their names, but each behind those that it
/// uses. A view with a check option cannot be made over the placeholder of another.
pub(super) fn views(
    server: ServerVersion,
    dir: &Path,
    definitions: Vec<DefinitionFile>,
) -> Vec<FoundObject> {
    let mut found = BTreeMap::new();
    let database = database_name(dir);
    for DefinitionFile { stem, path, bytes } in definitions {
        let name = filename::decode(&stem);
        let definition = match bytes {
            Ok(bytes) if !is_view(&bytes) => continue,
            Ok(bytes) => ViewDefinition::parse(&bytes, server.family).map_err(Error::from),
            Err(error) => Err(error),
        };
        let used = definition.as_ref().map_or(Vec::new(), |view| view.qualified_names.clone());
        let used = used.into_iter().filter(|used| used.0 == database).map(|used| used.1);
        let used: Vec<String> = used.collect();
        let view = definition.and_then(|view| self::view(server, &database, &name, view));
        let statements = view.map(|view| vec![view]).map_err(|error| error.in_file(&path));
        let item = Item::new(&database, ItemKind::View, &name);
        found.insert(name, (used, FoundObject { item, statements }));
    }
    behind_used(found)
}

/// Views by their names, with the names that each uses, in an order in which they can be made.
fn behind_used(mut views: BTreeMap<String, (Vec<String>, FoundObject)>) -> Vec<FoundObject> {
    let mut ordered = Vec::new();
    // Views that wait for those above them on the stack.
    let mut waiting: Vec<(Vec<String>, FoundObject)> = Vec::new();
    loop {
        let next = match waiting.last_mut() {
            Some((used, _)) => used.pop(),
            None => views.keys().next().cloned(),
        };
        match (next, waiting.is_empty()) {
            (Some(name), _) => waiting.extend(views.remove(&name)),
            (None, true) => return ordered,
            (None, false) => ordered.extend(waiting.pop().map(|(_, view)| view)),
        }
    }
}

fn view(
    server: ServerVersion,
    database: &str,
    name: &str,
    mut view: ViewDefinition,
) -> Result<Object> {
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
    let object = Object::new(database, ObjectKind::View, name, vec![create]);
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
