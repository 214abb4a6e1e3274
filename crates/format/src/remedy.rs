//! What can be done about what this version does not read.

use std::borrow::Cow;
use std::fmt;

/// The way out of a refusal. It names no option of any program: a caller that has options puts the
/// remedy into their words.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// To have the server rewrite the table by such a statement, or to dump it there.
    ConvertOnServer(Cow<'static, str>),
    /// To dump it from its server.
    DumpFromServer,
    /// To give the table's `CREATE TABLE`.
    PassDefinition,
    /// To shut the server down cleanly, and to read its files without its redo log being looked at.
    ReadAfterShutdown,
    /// Another, as a sentence that begins with what to do.
    Other(Cow<'static, str>),
}

impl From<&'static str> for Remedy {
    fn from(sentence: &'static str) -> Remedy {
        Remedy::Other(sentence.into())
    }
}

impl From<String> for Remedy {
    fn from(sentence: String) -> Remedy {
        Remedy::Other(sentence.into())
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::ConvertOnServer(sql) => write!(f, "on the server, {sql}, or dump it there"),
            Remedy::DumpFromServer => f.write_str("dump it from its server"),
            Remedy::PassDefinition => f.write_str("pass the table's CREATE TABLE"),
            Remedy::ReadAfterShutdown => {
                f.write_str("shut the server down cleanly, and read its files anyway")
            }
            Remedy::Other(sentence) => f.write_str(sentence),
        }
    }
}
