//! What a stopped server's directory holds beside the rows of InnoDB tables.
//!
//! Every object that is met in the files becomes a [`FoundObject`]: its statements, or why they
//! could not be read. None is passed over, so that a dump can account for each.

mod frm_server;
pub mod mysql_dictionary;
mod offline;
mod other_engines;
mod table_files;

pub use self::frm_server::objects_of_frm_server;
pub use self::offline::Offline;
pub(crate) use self::offline::look_at;
pub use self::other_engines::EngineTable;
pub use self::table_files::data_bytes;
use crate::dump::Object;
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

/// Kinds of objects whose list could not be read, so that it is not known which there are.
#[derive(Debug)]
pub struct UnreadList {
    /// The kinds.
    pub kinds: Vec<ItemKind>,
    /// Why, and the file.
    pub error: Error,
}

/// What the files hold.
#[derive(Debug, Default)]
pub struct FoundObjects {
    /// Every object that is met.
    pub objects: Vec<FoundObject>,
    /// What could not be listed.
    pub unread: Vec<UnreadList>,
}
