//! Support for tests only: hand-written pages and records, their damage, and real servers.

pub mod damage;
pub mod fixture;
pub mod fuzz;
pub mod page;
pub mod server;
pub mod tablespace;
