//! The `innoscan` command.
fn main() {}
