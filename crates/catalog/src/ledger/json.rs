//! The ledger in `innoscan.json`.

use serde_json::{Map, Value, json};

use super::{Entry, Ledger, Listed, State, Unlisted};

impl Ledger {
    /// The entries as JSON objects: `kind`, `database`, `name`, where known `engine`, `table`
    /// and `partitions`; `state`: `dumped` (with `damaged`, the places of damage that were skipped, if
    /// there are any), `left_out` (with `by`), `not_dumped` (with `reason`), or in a dry run
    /// `planned`.
    pub fn entries_json(&self) -> impl Iterator<Item = Value> {
        self.entries().map(Entry::to_json)
    }

    /// The classes of objects that could not be listed, as JSON objects: `kinds`, `reason`.
    pub fn unlisted_json(&self) -> Value {
        let unlisted = |unlisted: &Unlisted| {
            let kinds: Vec<&str> = unlisted.kinds.iter().map(|kind| kind.name()).collect();
            json!({ "kinds": kinds, "reason": unlisted.reason.to_string() })
        };
        self.unlisted().iter().map(unlisted).collect()
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        let Listed { item, engine, table, partitions } = &self.listed;
        let mut json = Map::new();
        json.insert("kind".to_owned(), item.kind.name().into());
        if !item.database.is_empty() {
            json.insert("database".to_owned(), item.database.as_str().into());
        }
        json.insert("name".to_owned(), item.name.as_str().into());
        if let Some(engine) = engine {
            json.insert("engine".to_owned(), engine.as_str().into());
        }
        if let Some(table) = table {
            json.insert("table".to_owned(), table.as_str().into());
        }
        if !partitions.is_empty() {
            json.insert("partitions".to_owned(), partitions.as_slice().into());
        }
        let (state, more) = match &self.state {
            State::Planned(_) => ("planned", None),
            State::Dumped { damaged: 0 } => ("dumped", None),
            State::Dumped { damaged } => ("dumped", Some(("damaged", (*damaged).into()))),
            State::LeftOut(rule) => ("left_out", Some(("by", rule.name().into()))),
            State::NotDumped(reason) => ("not_dumped", Some(("reason", reason.to_string().into()))),
        };
        json.insert("state".to_owned(), state.into());
        json.extend(more.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
        json.into()
    }
}
