//! The integration tests.
#[test]
fn placeholder() {}
