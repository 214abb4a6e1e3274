//! Splits: parts of a table that are read independently of each other, by threads, processes or
//! machines that see the same files.
//!
//! A split identifies places in the trees of the table's files by page numbers ([`LeafSpan`]), not by
//! keys: the order of keys is not known for every type and collation, whereas page numbers are exact as
//! long as nobody writes to the files, which each file's stamp proves. Together the splits of a table
//! have every row once.

mod json;
mod plan;

use std::sync::Arc;

use innoscan_format::PageNo;

use crate::leaf_span::LeafSpan;
use crate::{Error, Result, Table, TableFile};

/// An independent part of a table; see [`Table::splits`]. The text form is one line of JSON
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

/// The part of a split that lies in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// The file's index among the table's files.
    number: usize,
    /// The file's name without its directory.
    file: String,
    /// The file's stamp when the split was made.
    stamp: String,
    from: Vec<PageNo>,
    to: Vec<PageNo>,
}

impl Split {
    /// The table's name, `db.table`.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The estimated number of rows: the estimated number of leaves (by the fan-out of some branch pages)
    /// times the rows per leaf (by some leaves).
    pub fn estimated_rows(&self) -> u64 {
        self.rows
    }

    /// The estimated bytes of the leaves; off-page values are not counted.
    pub fn estimated_bytes(&self) -> u64 {
        self.bytes
    }

    /// The least key that the first leaf can have, each column as text; `None` where the split begins
    /// with a table or partition, and where the key cannot be shown. This key is informative: it has no
    /// effect on the rows that are read.
    pub fn lower_key(&self) -> Option<&[String]> {
        self.lower_key.as_deref()
    }

    /// The key before which the last leaf ends: the [`lower_key`](Split::lower_key) of the next leaf in
    /// the same table or partition; `None` where the split ends with the table or partition.
    pub fn upper_key(&self) -> Option<&[String]> {
        self.upper_key.as_deref()
    }
}

impl Table {
    /// Divides the table into at most `count` parts of about the same size, in the order of its rows.
    ///
    /// Only a few of the upper branch pages and some sample leaves of each file are read, so splitting is
    /// quick, however large the table. The partitions of a partitioned table are divided and combined as
    /// one table.
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

    /// The table limited to the rows of a split, for [`scan`](crate::scan()) with the caller's own sink.
    ///
    /// # Errors
    /// The split belongs to another table, or one of its files was written to since the split was made.
    pub fn of_split(&self, split: &Split) -> Result<Table> {
        let files: Result<Vec<TableFile>> =
            split.parts.iter().map(|part| self.file_of(split, part)).collect();
        Ok(Table { files: files?, ..self.clone() })
    }

    fn file_of(&self, split: &Split, part: &Part) -> Result<TableFile> {
        let file = self.files.get(part.number).filter(|file| file_name(file) == part.file);
        let Some(file) = file else {
            let why = format!("the split belongs to {} ({})", split.table, part.file);
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
