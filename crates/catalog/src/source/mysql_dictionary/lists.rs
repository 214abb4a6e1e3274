//! Objects other than tables: each list of the dictionary becomes found objects, and errors of a list
//! itself are reported for the list.

use std::collections::{HashMap, HashSet};

use innoscan_engine::{Error, Result};
use innoscan_format as format;

use super::{MysqlDictionary, accounts, events, routines, schemata, triggers, views};
use crate::mysql_ibd::{ReadRows, Row};
use crate::object::{Object, ObjectKind};
use crate::source::{FoundObject, FoundObjects, Item, ItemKind, UnreadList};

impl MysqlDictionary {
    /// The objects other than tables: each selected database itself, its views, triggers, routines
    /// and events; then the accounts and roles, except those that each server creates for itself.
    pub fn objects(&self, is_wanted_database: impl Fn(&str) -> bool) -> FoundObjects {
        let mut unread = Vec::new();
        let mut objects = Vec::new();
        for row in &self.schema_rows {
            let name = row.text("name").unwrap_or_default();
            if is_wanted_database(name) {
                let item = Item::new(name, ItemKind::Database, name);
                objects.push(self.found(item, schemata::statement(row, self.server())));
            }
        }
        let is_wanted = |database: &str| is_wanted_database(database);
        for found in [
            self.views(&is_wanted, &mut unread),
            self.triggers(&is_wanted, &mut unread),
            self.routines(&is_wanted, &mut unread),
            self.events(&is_wanted, &mut unread),
        ] {
            objects.extend(found);
        }
        // Objects of a database are adjacent; their order within it is that of the lists.
        objects.sort_by(|one, other| one.item.database.cmp(&other.item.database));
        objects.extend(accounts::found(&self.file, &mut unread));
        FoundObjects { objects, unread }
    }

    fn found(&self, item: Item, statement: format::Result<Object>) -> FoundObject {
        let statements = statement.map(|object| vec![object]);
        let in_file = |error| Error::from(error).in_file(self.file.path());
        FoundObject { item, statements: statements.map_err(in_file) }
    }

    /// The rows of a list with the database of each; errors are added to `unread`.
    fn rows_of(
        &self,
        read: ReadRows,
        kinds: &[ItemKind],
        is_wanted: &dyn Fn(&str) -> bool,
        unread: &mut Vec<UnreadList>,
    ) -> Vec<(String, Row)> {
        let mut fault = |error: Error| {
            let error = error.in_file(self.file.path());
            unread.push(UnreadList { kinds: kinds.to_vec(), error });
        };
        if let Some(error) = read.error {
            fault(error);
        }
        let mut rows = Vec::new();
        for row in read.rows {
            match self.schema_of(&row).and_then(|schema| row.text("name").map(|_| schema)) {
                Ok(schema) if is_wanted(schema) => rows.push((schema.to_owned(), row)),
                Ok(_) => {}
                Err(error) => fault(error.into()),
            }
        }
        rows.sort_by(|one, other| one.1.bytes("name").cmp(&other.1.bytes("name")));
        rows
    }

    fn views(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        unread: &mut Vec<UnreadList>,
    ) -> Vec<FoundObject> {
        let is_view = |row: &Row| {
            row.bytes("type") == Some(b"VIEW") && row.bytes("hidden") == Some(b"Visible")
        };
        let read = self.file.rows("tables", &views::COLUMNS, is_view);
        let rows = self.rows_of(read, &[ItemKind::View], is_wanted, unread);
        let mut columns = match self.columns_of(&rows) {
            Ok(columns) => columns,
            Err(error) => {
                unread.push(UnreadList { kinds: vec![ItemKind::View], error });
                HashMap::new()
            }
        };
        let mut found = Vec::new();
        for (database, row) in &rows {
            let item = Item::new(database, ItemKind::View, row.text("name").unwrap_or_default());
            let columns = row.number("id").ok().and_then(|id: u64| columns.remove(&id));
            let statement = columns
                .ok_or_else(|| format::Error::corrupt("no column of the view is listed"))
                .and_then(|columns| views::statement(row, database, columns, self.server()));
            found.push(self.found(item, statement));
        }
        found
    }

    /// The names of the views' columns in their order, by the views' ids.
    fn columns_of(&self, views: &[(String, Row)]) -> Result<HashMap<u64, Vec<String>>> {
        let ids = views.iter().filter_map(|(_, row)| row.number("id").ok());
        let ids: HashSet<u64> = ids.collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let names = ["table_id", "name", "ordinal_position", "hidden"];
        let is_of_view = |row: &Row| {
            row.bytes("hidden") == Some(b"Visible")
                && row.number("table_id").is_ok_and(|id: u64| ids.contains(&id))
        };
        let rows = self.file.rows("columns", &names, is_of_view).all()?;
        let in_file = |error: format::Error| Error::from(error).in_file(self.file.path());
        let mut columns: HashMap<u64, Vec<(u32, String)>> = HashMap::new();
        for row in &rows {
            let id = row.number("table_id").map_err(in_file)?;
            let nth = row.number("ordinal_position").map_err(in_file)?;
            let name = row.text("name").map_err(in_file)?.to_owned();
            columns.entry(id).or_default().push((nth, name));
        }
        let ordered = |mut columns: Vec<(u32, String)>| {
            columns.sort_unstable();
            columns.into_iter().map(|(_, name)| name).collect()
        };
        Ok(columns.into_iter().map(|(id, columns)| (id, ordered(columns))).collect())
    }

    fn triggers(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        unread: &mut Vec<UnreadList>,
    ) -> Vec<FoundObject> {
        let read = self.file.rows("triggers", &triggers::COLUMNS, |_| true);
        let rows = self.rows_of(read, &[ItemKind::Trigger], is_wanted, unread);
        let table_of = |row: &Row| {
            let id: Option<u64> = row.number("table_id").ok();
            id.and_then(|id| self.table_names.get(&id)).map(String::as_str)
        };
        let mut ordered: Vec<_> = rows
            .iter()
            .map(|(database, row)| {
                (triggers::order(row, table_of(row).unwrap_or("")), database, row)
            })
            .collect();
        ordered.sort_by(|one, other| one.0.cmp(&other.0));
        let mut found = Vec::new();
        for (_, database, row) in ordered {
            let item = Item::new(database, ItemKind::Trigger, row.text("name").unwrap_or_default());
            let statement = table_of(row)
                .ok_or_else(|| format::Error::corrupt("the trigger's table is not listed"))
                .and_then(|table| triggers::statement(row, database, table, self.server()));
            found.push(self.found(item, statement));
        }
        found
    }

    fn routines(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        unread: &mut Vec<UnreadList>,
    ) -> Vec<FoundObject> {
        let kinds = [ItemKind::Function, ItemKind::Procedure];
        let read = self.file.rows("routines", &routines::COLUMNS, |_| true);
        let mut rows = self.rows_of(read, &kinds, is_wanted, unread);
        // Sorting preserves the order of names.
        rows.sort_by(|one, other| one.1.bytes("type").cmp(&other.1.bytes("type")));
        let mut found = Vec::new();
        for (database, row) in &rows {
            let name = row.text("name").unwrap_or_default();
            let (kind, object) = match row.text("type") {
                Ok("FUNCTION") => (ItemKind::Function, ObjectKind::Function),
                Ok("PROCEDURE") => (ItemKind::Procedure, ObjectKind::Procedure),
                other => {
                    let kind = other.unwrap_or("routine").to_lowercase();
                    let error = Error::refused(
                        format!("the {kind} `{database}`.`{name}` is not written"),
                        "dump it from the running server",
                    );
                    let error = error.in_file(self.file.path());
                    unread.push(UnreadList { kinds: kinds.to_vec(), error });
                    continue;
                }
            };
            let item = Item::new(database, kind, name);
            found.push(self.found(item, routines::statement(row, database, object, self.server())));
        }
        found
    }

    fn events(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        unread: &mut Vec<UnreadList>,
    ) -> Vec<FoundObject> {
        let read = self.file.rows("events", &events::COLUMNS, |_| true);
        let rows = self.rows_of(read, &[ItemKind::Event], is_wanted, unread);
        let found = rows.iter().map(|(database, row)| {
            let item = Item::new(database, ItemKind::Event, row.text("name").unwrap_or_default());
            self.found(item, events::statement(row, database, self.server()))
        });
        found.collect()
    }
}
