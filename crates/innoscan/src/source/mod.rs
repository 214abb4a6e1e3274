//! What a stopped server's directory holds beside the rows of InnoDB tables.
//!
//! Every object that is met in the files becomes a [`FoundObject`]: its statements, or why they
//! could not be read. None is passed over, so that a dump can account for each.

mod item;
pub mod mysql_dictionary;

pub use self::item::{Item, ItemKind};
use crate::dump::Object;
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

/// A class of objects whose list cannot be read.
#[derive(Debug)]
pub struct UnreadList {
    /// What the list has.
    pub kinds: Vec<ItemKind>,
    /// Why it, or a part of it, could not be read.
    pub error: Error,
}

/// The objects that the files hold beside tables.
#[derive(Debug)]
pub struct FoundObjects {
    /// Those that were met.
    pub objects: Vec<FoundObject>,
    /// The lists that may have had more.
    pub unread: Vec<UnreadList>,
}
