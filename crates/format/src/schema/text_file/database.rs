//! A database's options: `db.opt` (`load_db_opt`, sql/sql_db.cc, MariaDB 10.11 and MySQL 5.7).

use crate::charset::{Charset, CollationId};
use crate::schema::ServerVersion;
use crate::{Error, Result};

/// What a database's file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Its collation; `None` where the file names neither a charset nor a collation.
    pub collation: Option<CollationId>,
    /// Its comment (MariaDB 10.5.0); empty without.
    pub comment: String,
}

impl DatabaseOptions {
    /// Reads the file of a database of `server`. Lines that it does not know are passed over, as the
    /// servers do: a comment of several lines is its first one.
    ///
    /// # Errors
    /// Damage.
    pub fn parse(bytes: &[u8], server: ServerVersion) -> Result<DatabaseOptions> {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| Error::corrupt("db.opt is no UTF-8"))?;
        let mut options = DatabaseOptions::default();
        // The file has no sign of its end: each line that was begun must be whole.
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(Error::corrupt("the file ends within a line: it was cut off"));
        }
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            match name {
                "default-character-set" => {
                    let charset = Charset::by_name(value.trim_end());
                    let unknown = || Error::corrupt(format!("there is no charset {value}"));
                    let charset = charset.ok_or_else(unknown)?;
                    options.collation = Some(charset.default_collation(server));
                }
                "default-collation" => {
                    let collation = CollationId::by_name(value.trim_end(), server.family);
                    let unknown = || Error::corrupt(format!("there is no collation {value}"));
                    options.collation = Some(collation.ok_or_else(unknown)?);
                }
                "comment" => options.comment = value.to_owned(),
                _ => {}
            }
        }
        Ok(options)
    }
}
