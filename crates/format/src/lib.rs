//! Parsing of InnoDB's bytes: pages, records, values and schemas.
//!
//! The crate is a pure function of bytes: no files, no threads, no clock. It never panics and never
//! loops without a bound, whatever the bytes are; bytes that cannot be read give an [`Error`] with
//! its [`Place`].

pub mod aria;
pub mod base64;
pub mod bytes;
pub mod charset;
pub mod checksum;
pub mod ddl_log;
mod error;
pub mod fit;
mod ids;
mod inflate;
pub mod key;
pub mod keys;
pub mod layout;
mod lob_ref;
pub mod locate;
pub mod myisam;
pub mod page;
mod page_size;
pub mod read;
pub mod record;
pub mod redo;
mod remedy;
pub mod schema;
pub mod secret;
mod server;
pub mod server_record;
pub mod tree;
pub mod types;
pub mod undo;
pub mod value;

pub use error::{Cause, Error, Place, Result};
pub use ids::{IndexId, Lsn, PageNo, SpaceId};
pub use lob_ref::LobRef;
pub use page_size::PageSize;
pub use remedy::Remedy;
