//! The integration tests: one binary.

mod check;
mod corpus;
mod damage;
mod ddl;
mod frm;
mod inspect;
mod pages;
mod parity;
mod sdi;
mod tidy;
