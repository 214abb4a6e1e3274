//! Splits: parts of a table that are read independently of each other, by threads, processes or
//! machines that see the same files.
//!
//! A split names places in the trees of the table's files by page numbers ([`LeafSpan`]), not by
//! keys: the order of keys is not known for every type and collation, and page numbers are exact as
//! long as nobody writes to the files, which each file's stamp proves. Together the splits of a table
//! have every row once.

mod json;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use innoscan_format::PageNo;

use crate::leaf_span::LeafSpan;
use crate::{Error, Result, Table, TableFile};

/// A part of a table; see [`Table::splits`]. As text it is JSON of one line
/// ([`to_string`](ToString::to_string), [`parse`](str::parse)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    table: String,
    parts: Vec<Part>,
    rows: u64,
    bytes: u64,
    lower_key: Option<Vec<String>>,
    upper_key: Option<Vec<String>>,
}

/// What a split has of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// The file's number among the table's.
    number: usize,
    /// Its name, without its directory.
    file: String,
    /// What it was when the split was made.
    stamp: String,
    from: Vec<PageNo>,
    to: Vec<PageNo>,
}

impl Split {
    /// The table's name, `db.table`.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The estimated number of rows: that of leaves, by the fan-out of some branch pages, times the
    /// rows of some leaves.
    pub fn estimated_rows(&self) -> u64 {
        self.rows
    }

    /// The estimated bytes of its leaves; off-page values are not counted.
    pub fn estimated_bytes(&self) -> u64 {
        self.bytes
    }

    /// The least key that its first leaf can have, each column as text; `None` where the split begins
    /// with a table or partition, and where the key cannot be shown. For people and plans: what is
    /// read does not depend on it.
    pub fn lower_key(&self) -> Option<&[String]> {
        self.lower_key.as_deref()
    }

    /// The key before which its last leaf ends: the [`lower_key`](Split::lower_key) of what follows in
    /// the same table or partition; `None` where the split ends with it.
    pub fn upper_key(&self) -> Option<&[String]> {
        self.upper_key.as_deref()
    }
}

impl Table {
    /// Divides the table into at most `count` parts of about the same size, in the order of its rows.
    ///
    /// Reads a few of the upper branch pages and some sample leaves of each file, so it takes no time
    /// to speak of, however large the table is. The partitions of a partitioned table are divided and
    /// put together as one table.
    ///
    /// ```
    /// # fn main() -> innoscan::Result<()> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
    /// let table = innoscan::open(path)?;
    /// let mut rows = 0;
    /// for split in table.splits(4)? {
    ///     let text = split.to_string();                        // to another process, say
    ///     let split: innoscan::Split = text.parse()?;
    ///     rows += innoscan::open(path)?.rows().split(&split).read()?.count();
    /// }
    /// assert_eq!(rows, 400);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A file cannot be read, or its upper branch pages are damaged.
    pub fn splits(&self, count: usize) -> Result<Vec<Split>> {
        plan::splits(self, count)
    }

    /// The table with the rows of a split alone, for [`scan`](crate::scan()) with a sink of one's own.
    ///
    /// # Errors
    /// The split is of another table, or one of its files was written to since the split was made.
    pub fn of_split(&self, split: &Split) -> Result<Table> {
        let files: Result<Vec<TableFile>> =
            split.parts.iter().map(|part| self.file_of(split, part)).collect();
        Ok(Table { files: files?, ..self.clone() })
    }

    fn file_of(&self, split: &Split, part: &Part) -> Result<TableFile> {
        let file = self.files.get(part.number).filter(|file| file_name(file) == part.file);
        let Some(file) = file else {
            let why = format!("the split is of {} ({})", split.table, part.file);
            let remedy = format!("this table is {}: make its own splits", self.qualified_name());
            return Err(Error::refused(why, remedy));
        };
        if file.stamp()?.to_string() != part.stamp {
            let why = "the file was written to since the split was made, or is another one";
            return Err(Error::refused(why, "make the splits again").in_file(&file.path));
        }
        let span = LeafSpan { from: part.from.clone(), to: part.to.clone() };
        Ok(TableFile { span: Some(Arc::new(span)), ..file.clone() })
    }
}

fn file_name(file: &TableFile) -> String {
    file.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
