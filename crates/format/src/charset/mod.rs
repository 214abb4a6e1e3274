//! Character sets and collations as the servers number them.

/// A collation's number: what `.frm`, SDI and the server's own tables call a column's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `binary`: bytes without a charset.
    pub const BINARY: CollationId = CollationId(63);
}
