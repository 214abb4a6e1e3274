//! For tests only: pages and records made by hand, and their damage.

pub mod damage;
pub mod page;
pub mod tablespace;
