//! Views, whose `.frm` files are text.
//!
//! A view is written like a session in its database shows it: without the database's name, where
//! no other database is read. The tables read by stored functions are not looked up, so views that call
//! one keep all names qualified; both forms mean the same.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format::schema::text_file::{CheckOption, ViewAlgorithm, ViewDefinition};
use innoscan_format::schema::{Family, ServerVersion, filename, is_view};

use super::super::{FoundObject, Item, ItemKind};
use super::text::Quoting;
use super::{DefinitionFile, database_name};
use crate::object::{Object, ObjectKind, ObjectSession};

/// The views of a database's directory, in the order of their names, but each after those that it
/// uses: a view with a check option cannot be created over the placeholder of another.
pub(super) fn views(
    server: ServerVersion,
    dir: &Path,
    definitions: Vec<DefinitionFile>,
) -> Vec<FoundObject> {
    let database = database_name(dir);
    let mut files = BTreeMap::new();
    for DefinitionFile { stem, path, bytes } in definitions {
        let definition = match bytes {
            Ok(bytes) if !is_view(&bytes) => continue,
            Ok(bytes) => ViewDefinition::parse(&bytes, server.family).map_err(Error::from),
            Err(error) => Err(error),
        };
        files.insert(filename::decode(&stem), (path, definition));
    }
    let order = behind_used(&database, &files);
    // Whether each view reads only its own database; the views that a view uses come before it.
    let mut is_of_one: HashMap<String, bool> = HashMap::new();
    let mut found = Vec::new();
    for name in order {
        let Some((path, definition)) = files.remove(&name) else { continue };
        let of_one = definition.as_ref().is_ok_and(|view| {
            let names = &view.names;
            let takes_derived_for_others = server.family == Family::MySql;
            let reads_unknown =
                names.calls_functions() || takes_derived_for_others && names.has_derived_tables();
            !reads_unknown
                && names.tables().all(|(of, table)| {
                    of == database && is_of_one.get(table).copied().unwrap_or(true)
                })
        });
        is_of_one.insert(name.clone(), of_one);
        let view = definition.and_then(|mut view| {
            if of_one {
                view.query = view.names.without_database(&view.query, &database);
            }
            self::view(server, &database, &name, view)
        });
        let statements = view.map(|view| vec![view]).map_err(|error| error.in_file(&path));
        found.push(FoundObject { item: Item::new(&database, ItemKind::View, &name), statements });
    }
    found
}

/// The names of views, in an order in which they can be created.
fn behind_used(
    database: &str,
    files: &BTreeMap<String, (PathBuf, Result<ViewDefinition>)>,
) -> Vec<String> {
    let used_by = |name: &String| -> Vec<String> {
        let Some((_, Ok(view))) = files.get(name) else { return Vec::new() };
        let own = view.names.tables().filter(|(of, _)| *of == database);
        own.map(|(_, table)| table.to_owned()).filter(|table| files.contains_key(table)).collect()
    };
    let mut ordered = Vec::new();
    let mut begun = HashSet::new();
    // Views that wait for those above them on the stack.
    let mut waiting: Vec<(String, Vec<String>)> = Vec::new();
    for first in files.keys() {
        let mut next = Some(first.clone());
        loop {
            if let Some(name) = next.filter(|name| begun.insert(name.clone())) {
                let used = used_by(&name);
                waiting.push((name, used));
            }
            next = match waiting.last_mut() {
                None => break,
                Some((_, used)) => used.pop(),
            };
            if next.is_none() {
                ordered.extend(waiting.pop().map(|(name, _)| name));
            }
        }
    }
    ordered
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
    let create = create_view(server, name, &view);
    let object = Object::new(database, ObjectKind::View, name, vec![create]);
    Ok(Object { columns, ..object.made_in(session) })
}

/// `SHOW CREATE VIEW` in a session in the view's database.
fn create_view(server: ServerVersion, name: &str, view: &ViewDefinition) -> String {
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
        "CREATE ALGORITHM={algorithm} {definer} SQL SECURITY {security} VIEW {} AS {}{check}",
        quoting.name(name),
        view.query
    )
}
