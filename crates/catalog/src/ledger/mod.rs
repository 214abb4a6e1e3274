//! The ledger of a dump: the state of every object of its source.
//!
//! The code that lists a source, a running server or a stopped server's directory, enters each object
//! once ([`Ledger::enter`]): with the plan for it, the rule of the filter that leaves it out, or the
//! reason why it cannot be dumped. A dry run prints the plan; a dump settles it ([`Ledger::settle`]) and
//! writes the result. A dump is complete when every object is dumped or left out by choice.

mod filter;
mod item;
mod json;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use innoscan_engine::{Reason, counted};
use innoscan_format::schema::{Partitioning, TableDef};

pub use self::filter::{Filter, FilterRule, ObjectKinds};
pub use self::item::{Item, ItemKind};
use crate::object::{Object, ObjectKind};

/// An object listed by a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The kind and names of the object.
    pub item: Item,
    /// The engine of a table, by the server's name.
    pub engine: Option<String>,
    /// The table of a trigger.
    pub table: Option<String>,
    /// The names of a table's partitions, or of its subpartitions.
    pub partitions: Vec<String>,
}

impl Listed {
    /// An object with only its names.
    pub fn new(database: &str, kind: ItemKind, name: &str) -> Listed {
        Listed::from(Item::new(database, kind, name))
    }

    /// A table with its engine.
    pub fn table(database: &str, name: &str, engine: Option<String>) -> Listed {
        Listed { engine, ..Listed::new(database, ItemKind::Table, name) }
    }

    /// A table from its definition.
    pub fn of_table(def: &TableDef) -> Listed {
        let partitions = def.partitioning.as_ref().map(Partitioning::names).unwrap_or_default();
        let engine = Some(def.options.engine.clone());
        Listed { partitions, ..Listed::table(&def.schema, &def.name, engine) }
    }

    /// The item that an object's statements create; `None` for grants and default roles, which belong to
    /// the item of their account.
    pub fn of_object(object: &Object) -> Option<Listed> {
        let table = match &object.kind {
            ObjectKind::Trigger { table } => Some(table.clone()),
            _ => None,
        };
        Item::of_object(object).map(|item| Listed { table, ..Listed::from(item) })
    }
}

impl From<Item> for Listed {
    fn from(item: Item) -> Listed {
        Listed { item, engine: None, table: None, partitions: Vec::new() }
    }
}

/// An object and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object.
    pub listed: Listed,
    /// The state of the object.
    pub state: State,
}

/// The state of an object: planned, or final. A settled ledger has no planned entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The object will be dumped.
    Planned(DumpMethod),
    /// The object was dumped.
    Dumped {
        /// Places of damage that were skipped on request: rows are missing there.
        damaged: u64,
    },
    /// An option, or the lack of one, leaves the object out.
    LeftOut(FilterRule),
    /// The object cannot or could not be dumped, for this reason.
    NotDumped(Reason),
}

/// The method by which an object is dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpMethod {
    /// Rows are read from the files.
    Files,
    /// Rows are selected from the server.
    Select,
    /// The definition is dumped; the object has no rows of its own.
    Definition,
}

impl fmt::Display for DumpMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DumpMethod::Files => "to be read from its files",
            DumpMethod::Select => "to be read by SELECT",
            DumpMethod::Definition => "to be dumped",
        })
    }
}

/// A class of objects whose list cannot be read, so that the missing ones are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// The kinds of objects without a list.
    pub kinds: Vec<ItemKind>,
    /// The reason why the list cannot be read.
    pub reason: Reason,
}

impl Unlisted {
    /// The kinds and the reason as one message.
    pub fn to_reason(&self) -> Reason {
        let kinds: Vec<String> = self.kinds.iter().map(|kind| kind.plural()).collect();
        let Reason { what, remedies } = &self.reason;
        Reason::new(format!("{}: {what}", kinds.join(", ")), remedies.clone())
    }
}

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_reason().fmt(f)
    }
}

/// A ledger of all objects of a source with their states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<Item, Entry>,
    unlisted: Vec<Unlisted>,
    notes: Vec<String>,
}

impl Ledger {
    /// Enters an object. If it was entered before, a state that prevents dumping prevails.
    pub fn enter(&mut self, listed: Listed, state: State) {
        let known = self.entries.get(&listed.item);
        if known.is_some_and(|known| matches!(known.state, State::NotDumped(_))) {
            return;
        }
        self.entries.insert(listed.item.clone(), Entry { listed, state });
    }

    /// Enters a class of objects whose list cannot be read.
    pub fn enter_unlisted(&mut self, unlisted: Unlisted) {
        self.unlisted.push(unlisted);
    }

    /// Adds a note on the source as a whole, such as on objects that a whole server would have and the source lacks.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The notes on the source as a whole.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Sets the state of an object that was entered.
    pub fn set(&mut self, item: &Item, state: State) {
        if let Some(entry) = self.entries.get_mut(item) {
            entry.state = state;
        }
    }

    /// All entries, by database, kind and name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The classes of objects whose lists cannot be read.
    pub fn unlisted(&self) -> &[Unlisted] {
        &self.unlisted
    }

    /// Whether nothing was entered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.unlisted.is_empty()
    }

    /// The entries that are not dumped, with the reasons.
    pub fn not_dumped(&self) -> impl Iterator<Item = (&Listed, &Reason)> {
        self.entries().filter_map(|entry| match &entry.state {
            State::NotDumped(reason) => Some((&entry.listed, reason)),
            _ => None,
        })
    }

    /// Whether every object is dumped, planned to be dumped, or left out by the user's choice.
    pub fn is_complete(&self) -> bool {
        let is_whole = |entry: &Entry| match entry.state {
            State::Planned(_) | State::LeftOut(_) => true,
            State::Dumped { damaged } => damaged == 0,
            State::NotDumped(_) => false,
        };
        self.unlisted.is_empty() && self.entries().all(is_whole)
    }

    /// A summary of what an incomplete dump lacks: `3 objects were not dumped`.
    pub fn what_is_missing(&self) -> Option<String> {
        let mut parts = Vec::new();
        match self.not_dumped().count() {
            0 => {}
            1 => parts.push("1 object was not dumped".to_owned()),
            count => parts.push(format!("{count} objects were not dumped")),
        }
        for unlisted in &self.unlisted {
            let kinds: Vec<String> = unlisted.kinds.iter().map(|kind| kind.plural()).collect();
            parts.push(format!("the lists of {} could not be read", kinds.join(", ")));
        }
        let damaged =
            |entry: &&Entry| matches!(entry.state, State::Dumped { damaged } if damaged > 0);
        let damaged = self.entries().filter(damaged).count() as u64;
        if damaged > 0 {
            parts.push(format!("damaged pages of {} were skipped", counted(damaged, "table")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Settles all planned entries: tables by their states, given by database and name; all others
    /// are dumped.
    pub fn settle<'a>(&mut self, tables: impl IntoIterator<Item = (&'a str, &'a str, State)>) {
        let states: HashMap<(&str, &str), State> =
            tables.into_iter().map(|(database, table, state)| ((database, table), state)).collect();
        for entry in self.entries.values_mut() {
            let State::Planned(_) = entry.state else { continue };
            let item = &entry.listed.item;
            let of_table = states.get(&(&*item.database, &*item.name)).cloned();
            entry.state = match (item.kind, of_table) {
                (ItemKind::Table, None) => State::NotDumped("it was not reached".into()),
                (ItemKind::Table, Some(state)) => state,
                _ => State::Dumped { damaged: 0 },
            };
        }
    }

    /// The number of entries of each kind in some state, in the order of the kinds.
    pub fn counts(&self, wanted: impl Fn(&State) -> bool) -> BTreeMap<ItemKind, usize> {
        let mut counts = BTreeMap::new();
        for entry in self.entries().filter(|entry| wanted(&entry.state)) {
            *counts.entry(entry.listed.item.kind).or_default() += 1;
        }
        counts
    }

    /// The number of entries that are left out, by rule and kind.
    pub fn left_out(&self) -> BTreeMap<FilterRule, BTreeMap<ItemKind, usize>> {
        let mut counts: BTreeMap<FilterRule, BTreeMap<ItemKind, usize>> = BTreeMap::new();
        for entry in self.entries() {
            if let State::LeftOut(rule) = &entry.state {
                let of_rule = counts.entry(*rule).or_default();
                *of_rule.entry(entry.listed.item.kind).or_default() += 1;
            }
        }
        counts
    }
}

/// `3 tables, 1 view`.
pub fn counted_kinds(counts: &BTreeMap<ItemKind, usize>) -> String {
    let counted: Vec<String> = counts
        .iter()
        .map(|(kind, count)| match count {
            1 => format!("1 {kind}"),
            count => format!("{count} {}", kind.plural()),
        })
        .collect();
    counted.join(", ")
}
