//! Reads the tables of a running server from its files, under its locks.
//!
//! This is the only crate that connects to a server. It lists the objects of the server
//! ([`inventory`]), proves where its files are ([`place`]), locks the tables ([`lock`]), copies their
//! files by reflink if the file system can ([`clone`]), and fetches the objects that are not in the
//! files ([`objects`]).

mod account;
pub mod checksums;
pub mod clone;
mod consistent_snapshot;
pub mod inventory;
pub mod lock;
pub mod lock_holders;
mod lock_queue;
mod lock_statement;
pub mod objects;
mod others_lock;
pub mod place;
mod selected;
mod session;
pub mod small_tables;
pub mod snapshot;
pub mod spaces;
mod table;
mod users;
mod visibility;

pub use account::{Account, Password, SOCKETS, Tls};
pub use session::{Session, TextRow};
