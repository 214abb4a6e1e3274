//! Objects of a stopped server's directory other than the rows of InnoDB tables.
//!
//! Every object found in the files becomes a [`FoundObject`]: its statements, or the error that
//! prevented reading them. None is skipped, so that a dump can account for each.

mod frm_server;
pub mod mysql_dictionary;
mod offline;
mod other_engines;
mod table_files;

use innoscan_engine::{Error, Result};

pub use self::frm_server::objects_of_frm_server;
pub use self::offline::Offline;
pub use self::offline::read_heads;
pub use self::other_engines::EngineTable;
pub use self::table_files::data_bytes;
pub use crate::ledger::{Item, ItemKind};
use crate::object::Object;

/// An object found in the files.
#[derive(Debug)]
pub struct FoundObject {
    /// The kind and name of the object.
    pub item: Item,
    /// The statements that create the object, as in the server's `SHOW CREATE`: one
    /// [`Object`], or for an account also its grants and default roles. The error is the reason why they
    /// cannot be read from the files.
    pub statements: Result<Vec<Object>>,
}

/// Kinds of objects whose list could not be read, so that the existing ones are unknown.
#[derive(Debug)]
pub struct UnreadList {
    /// The kinds.
    pub kinds: Vec<ItemKind>,
    /// The error, with its file.
    pub error: Error,
}

/// The objects found in the files.
#[derive(Debug, Default)]
pub struct FoundObjects {
    /// Every object found.
    pub objects: Vec<FoundObject>,
    /// The kinds that could not be listed.
    pub unread: Vec<UnreadList>,
}
