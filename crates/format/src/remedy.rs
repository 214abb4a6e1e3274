//! Remedies for what this version does not read.

use std::borrow::Cow;
use std::fmt;

/// A remedy for a refusal. It names no option of any program: a caller that has options translates
/// the remedy into them.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Have the server rewrite the table by this statement, or dump it there.
    ConvertOnServer(Cow<'static, str>),
    /// Dump the table from its server.
    DumpFromServer,
    /// Calculate the checksum of the stored columns instead.
    SumStoredColumns,
    /// Pass the table's `CREATE TABLE` statement.
    PassDefinition,
    /// Give the keyring of the server, MySQL.
    GiveKeyring,
    /// Give the key file of the server, MariaDB.
    GiveKeyFile,
    /// Another remedy, as a sentence that begins with a verb.
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
            Remedy::SumStoredColumns => {
                f.write_str("calculate the checksum of the stored columns instead")
            }
            Remedy::PassDefinition => f.write_str("pass the table's CREATE TABLE"),
            Remedy::GiveKeyring => f.write_str("give the keyring of the server"),
            Remedy::GiveKeyFile => f.write_str("give the key file of the server"),
            Remedy::Other(sentence) => f.write_str(sentence),
        }
    }
}
