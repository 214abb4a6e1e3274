//! The integration tests: one binary.

mod check;
mod corpus;
mod tidy;
