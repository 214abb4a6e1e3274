//! A list of keys of MySQL, for keyrings that are not files.

use super::{KeyFileError, lines};
use crate::SpaceId;
use crate::page::encryption::TablespaceKey;
use crate::secret::Secret;

/// What a line begins with that has the key of one tablespace.
const TABLESPACE: &[u8] = b"tablespace:";

/// Adds the keys of a list: `NAME=HEX` for a master key, `tablespace:ID=HEX` for the key of a tablespace and its
/// initialization vector.
pub(super) fn parse(
    text: &[u8],
    masters: &mut Vec<(String, Secret)>,
    tablespaces: &mut Vec<(SpaceId, TablespaceKey)>,
) -> Result<(), KeyFileError> {
    for (number, line) in lines(text) {
        let refused = |what: &str| Err(KeyFileError::new(format!("line {number} {what}")));
        let Some(equal) = line.iter().position(|&byte| byte == b'=') else {
            return refused("is not NAME=HEX: the file is no keyring");
        };
        let (name, digits) = line.split_at(equal);
        let digits = digits.get(1..).unwrap_or_default().trim_ascii();
        let (Ok(name), Some(key)) = (str::from_utf8(name.trim_ascii()), Secret::from_hex(digits))
        else {
            return refused("has no key in hexadecimal digits");
        };
        let Some(id) = name.as_bytes().strip_prefix(TABLESPACE) else {
            if key.bytes().len() != 32 {
                return refused("has a master key of another length than 64 digits");
            }
            masters.push((name.to_owned(), key));
            continue;
        };
        let id = str::from_utf8(id).ok().and_then(|id| id.trim().parse().ok());
        match (id, TablespaceKey::new(key)) {
            (Some(id), Some(key)) => tablespaces.push((SpaceId(id), key)),
            (None, _) => return refused("has no number of a tablespace"),
            (_, None) => return refused("has other than 64 digits of key and 64 of its vector"),
        }
    }
    Ok(())
}
