//! The integration tests: one binary.

mod check;
mod corpus;
mod ddl;
mod inspect;
mod pages;
mod tidy;
