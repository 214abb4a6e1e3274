//! A checksum of the stored columns of a table, which a server calculates by a query:
//!
//! ```sql
//! SET time_zone = '+00:00';
//! SELECT COALESCE(SUM(CRC32(CONCAT_WS(',', IFNULL(CRC32(`a`), '-'), IFNULL(CRC32(`b`), '-')))), 0)
//!        % 4294967296 FROM t;
//! ```
//!
//! `CRC32` is zlib's, of the bytes that `SELECT` returns of the value without transcoding, on every
//! server and for every type. So the checksum does not depend on the server, unlike that of `CHECKSUM
//! TABLE`, and leaves out values that are in no file.

use super::Codec;
use super::checksum::require_columns;
use crate::schema::{ColumnDef, TableDef};
use crate::{Error, Result};

/// Calculates the checksum of the stored columns of rows of one table.
#[derive(Clone, Debug)]
pub struct StoredChecksum {
    columns: Vec<(String, Codec)>,
}

impl StoredChecksum {
    /// Creates the checksum of a table, with its invisible columns.
    ///
    /// # Errors
    /// When the table is system-versioned: a query counts only the rows of now, and its file has all.
    pub fn new(table: &TableDef) -> Result<StoredChecksum> {
        if table.versioned {
            return Err(Error::unsupported(
                "the checksum of the stored columns of a system-versioned table",
                "compare the rows' text",
            ));
        }
        let column =
            |column: &ColumnDef| Ok((column.name.clone(), Codec::new(&column.ty, table.server)?));
        let stored =
            table.columns.iter().filter(|column| column.is_stored() && !column.is_key_hash());
        Ok(StoredChecksum { columns: stored.map(column).collect::<Result<_>>()? })
    }

    /// Returns a row's part of the sum. `row` has the stored columns in SQL order, as records hold
    /// them; `scratch` is overwritten.
    pub fn row(&self, row: &[Option<&[u8]>], scratch: &mut Vec<u8>) -> Result<u32> {
        require_columns(row, self.columns.len())?;
        let mut crc = crc32fast::Hasher::new();
        for (nth, ((name, codec), value)) in self.columns.iter().zip(row).enumerate() {
            if nth > 0 {
                crc.update(b",");
            }
            let Some(stored) = value else {
                crc.update(b"-");
                continue;
            };
            scratch.clear();
            codec
                .write_text(stored, scratch)
                .map_err(|error| error.with_prefix(format_args!("column `{name}`")))?;
            crc.update(itoa::Buffer::new().format(crc32fast::hash(scratch)).as_bytes());
        }
        Ok(crc.finalize())
    }
}

/// Returns the query for the checksum of the columns with these names, of a table; the names are
/// quoted.
pub fn query(columns: &[String], table: &str) -> String {
    let terms: Vec<String> =
        columns.iter().map(|column| format!("IFNULL(CRC32({column}), '-')")).collect();
    let row = format!("CRC32(CONCAT_WS(',', {}))", terms.join(", "));
    format!("SELECT COALESCE(SUM({row}), 0) % 4294967296 FROM {table}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Family;
    use crate::server::ServerVersion;

    #[test]
    fn it_is_what_the_query_gives() {
        // MySQL 8.0.33: SELECT CRC32(CONCAT_WS(',', IFNULL(CRC32(7), '-'), IFNULL(CRC32(NULL), '-')))
        let server = ServerVersion { family: Family::MySql, number: 80_033 };
        let sql = "CREATE TABLE t (a INT NOT NULL, b VARCHAR(5), v INT AS (a + 1) VIRTUAL)";
        let def = crate::schema::from_create_table(sql, server).unwrap();
        let sum = StoredChecksum::new(&def).unwrap();
        let seven = (7_u32 | 1 << 31).to_be_bytes();
        let row = sum.row(&[Some(&seven), None], &mut Vec::new()).unwrap();
        assert_eq!(row, crc32fast::hash(format!("{},-", crc32fast::hash(b"7")).as_bytes()));
        assert!(sum.row(&[None], &mut Vec::new()).is_err());
        let names = ["`a`", "`b`"].map(str::to_owned);
        assert_eq!(
            query(&names, "`d`.`t`"),
            "SELECT COALESCE(SUM(CRC32(CONCAT_WS(',', IFNULL(CRC32(`a`), '-'), \
             IFNULL(CRC32(`b`), '-')))), 0) % 4294967296 FROM `d`.`t`"
        );
    }
}
