//! A database's options: `db.opt` (`load_db_opt`, sql/sql_db.cc, MariaDB 10.11 and MySQL 5.7).

use crate::charset::{Charset, CollationId};
use crate::schema::ServerVersion;
use crate::{Error, Result};

/// The options in a database's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Collation of the database; `None` where the file has neither a charset nor a collation.
    pub collation: Option<CollationId>,
    /// Comment of the database (MariaDB 10.5.0); empty without.
    pub comment: String,
}

impl DatabaseOptions {
    /// Parses the file of a database of `server`. Unknown lines are skipped, as in the servers; of
    /// a comment of several lines only the first is read.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn parse(bytes: &[u8], server: ServerVersion) -> Result<DatabaseOptions> {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| Error::corrupt("db.opt is not UTF-8"))?;
        let mut options = DatabaseOptions::default();
        // The file has no end mark: each line must be complete.
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
