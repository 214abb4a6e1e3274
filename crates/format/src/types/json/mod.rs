//! MySQL's binary JSON.

use crate::{Error, Result};

/// Appends the document as the server prints it.
pub(crate) fn write_text(_stored: &[u8], _out: &mut Vec<u8>) -> Result<()> {
    Err(Error::unsupported("JSON", "leave its column out"))
}
