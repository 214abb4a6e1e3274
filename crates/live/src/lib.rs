//! A running server's tables, locked while their files are read.
//!
//! The only crate that speaks to a server. It finds out which tables there are and where their
//! files lie ([`inventory`], [`place`]), holds them still ([`lock`]), copies them where the file
//! system can do so in no time ([`clone`]), and asks for what files do not hold ([`objects`]).

mod account;
pub mod checksums;
pub mod clone;
mod held;
pub mod inventory;
pub mod lock;
pub mod lock_holders;
mod lock_statement;
mod moment;
pub mod objects;
mod one_by_one;
mod option_file;
pub mod place;
mod selected;
mod session;
pub mod small_tables;
pub mod snapshot;
pub mod spaces;
mod table;
mod users;
mod visibility;

pub use account::{Account, Password, Tls};
pub use option_file::{FileOptions, OptionFiles};
pub use session::{Session, TextRow};
