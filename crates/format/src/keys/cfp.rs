//! The key of one tablespace in a .cfp file, which MySQL writes beside the tablespace for `FLUSH TABLES ... FOR EXPORT`
//! (`row_quiesce_write_transfer_key`, `row0quiesce.cc`, MySQL 8.0).

use super::KeyFileError;
use crate::bytes;
use crate::page::encryption::TablespaceKey;
use crate::secret::Secret;

/// Bytes of the file: a length, the transfer key, and by that key the tablespace key and its initialization vector.
const LEN: usize = 4 + 32 + 64;

/// Returns the key of the tablespace beside which the file is.
///
/// # Errors
/// The file is not a .cfp file.
pub fn transferred_key(file: &[u8]) -> Result<TablespaceKey, KeyFileError> {
    let parsed = || -> crate::Result<Option<TablespaceKey>> {
        let transfer_key = Secret::new(bytes::slice(file, 4, 32)?.to_vec());
        Ok(TablespaceKey::unsealed(&bytes::array(file, 36)?, &transfer_key))
    };
    let is_one = file.len() == LEN && file.starts_with(&32u32.to_be_bytes());
    let key = if is_one { parsed().ok().flatten() } else { None };
    key.ok_or_else(|| KeyFileError::new("it is not a .cfp file of FLUSH TABLES ... FOR EXPORT"))
}
