//! A table's rows as an iterator.
//!
//! [`Table::rows`] says what to read, [`RowsBuilder::read`] starts to read it: a thread scans and sends
//! batches of rows over a bounded channel, [`Rows`] gives them out one by one. (The push model of the
//! same scan, with no copy of the rows, is [`scan`](crate::scan::scan) with a sink of one's own.)
//!
//! **Memory.** Beside [`RowsBuilder::memory_bytes`] for pages, at most some batches per thread of
//! about [1 MiB](batch::FULL_BYTES) each; one row is never cut, so a batch with a large off-page value
//! is as large as that value.

mod batch;
mod iter;
mod key;
mod row;

use std::sync::Arc;

pub use self::iter::Rows;
pub use self::key::{IntoKey, IntoKeyRange, Key, KeyRange, KeyValue};
pub use self::row::Row;
use crate::ahead::ReadAheadPolicy;
use crate::condition::RowCondition;
use crate::row_shape::{Purpose, RowShape, stored_columns};
use crate::scan::{OnCorrupt, RowOrder, ScanOptions};
use crate::{Result, Split, Table};

/// What to read of a table, and how; see [`Table::rows`].
#[derive(Clone)]
#[must_use = "nothing is read before `read`"]
pub struct RowsBuilder<'t> {
    table: &'t Table,
    columns: Option<Vec<String>>,
    with_invisible: bool,
    with_history: bool,
    keys: Vec<KeyRange>,
    condition: Option<String>,
    limit: Option<u64>,
    split: Option<Split>,
    options: ScanOptions,
}

impl Table {
    /// Rows of the table: all of them, with the columns of `SELECT *`, in the order of the clustered
    /// index, unless the builder is told otherwise.
    ///
    /// ```
    /// # fn main() -> innoscan::Result<()> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
    /// let table = innoscan::open(path)?;
    /// let orders = table.rows().key(10..).condition("state = 'paid' AND total > 5").limit(2).read()?;
    /// assert_eq!(orders.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rows(&self) -> RowsBuilder<'_> {
        RowsBuilder {
            table: self,
            columns: None,
            with_invisible: false,
            with_history: false,
            keys: Vec::new(),
            condition: None,
            limit: None,
            split: None,
            options: ScanOptions::default(),
        }
    }
}

impl RowsBuilder<'_> {
    /// Only these columns, in this order. Off-page values of other columns are not read from the file.
    /// `INVISIBLE` columns can be named, and the implicit `row_start` and `row_end` of a
    /// system-versioned table.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// `INVISIBLE` columns too, at their places among the others. No effect where columns are named.
    pub fn with_invisible(mut self, with_invisible: bool) -> Self {
        self.with_invisible = with_invisible;
        self
    }

    /// Old versions of rows too, which a MariaDB system-versioned table keeps, as
    /// `FOR SYSTEM_TIME ALL` shows them.
    pub fn with_history(mut self, with_history: bool) -> Self {
        self.with_history = with_history;
        self
    }

    /// Rows of one key or of a range of keys: `key(42)`, `key(1..100)`, `key(("de", 7))`. A key of
    /// fewer values than the primary key has columns stands for all keys that begin with it. Called
    /// several times, rows of any of the ranges. Only pages that can hold them are read.
    ///
    /// That a table has no primary key, or one whose order is not known, [`Rows`] reports with the
    /// first row; so it does with a value that is none of its column.
    pub fn key(mut self, range: impl IntoKeyRange) -> Self {
        self.keys.push(range.into_key_range());
        self
    }

    /// Rows that satisfy a condition in SQL: columns compared with values by `=`, `<>`, `<`, `<=`,
    /// `>`, `>=`, `<=>`, `BETWEEN`, `IN`, `IS NULL`, joined by `AND`. What it says of the primary key
    /// narrows which pages are read, unless [`key`](Self::key) does.
    pub fn condition(mut self, sql: impl Into<String>) -> Self {
        self.condition = Some(sql.into());
        self
    }

    /// At most so many rows.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// The rows of a split alone; see [`Table::splits`].
    pub fn split(mut self, split: &Split) -> Self {
        self.split = Some(split.clone());
        self
    }

    /// Memory for pages, in bytes; 768 MiB by default, of which a small table takes what it needs.
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.options.plan.memory_bytes = bytes;
        self
    }

    /// Threads that decode; 0, the default, stands for one a core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.plan.threads = threads;
        self
    }

    /// What is read before it is needed; [`ReadAheadPolicy::Logical`] by default.
    pub fn read_ahead(mut self, policy: ReadAheadPolicy) -> Self {
        self.options.plan.policy = policy;
        self
    }

    /// The order of the rows; [`RowOrder::Key`] by default.
    pub fn order(mut self, order: RowOrder) -> Self {
        self.options.rows.order = order;
        self
    }

    /// What damage does; it ends the rows with an error by default. After [`OnCorrupt::Skip`]
    /// [`Rows::outcome`] lists what was lost.
    pub fn on_corrupt(mut self, on_corrupt: OnCorrupt) -> Self {
        self.options.rows.on_corrupt = on_corrupt;
        self
    }

    /// All options of the scan, in place of those set so far. What they say of rows by key or
    /// condition is replaced by what this builder says.
    #[doc(hidden)]
    pub fn options(mut self, options: ScanOptions) -> Self {
        self.options = options;
        self
    }

    /// The columns and rows that [`read`](Self::read) would give.
    ///
    /// # Errors
    /// A column is named that the table does not have, or whose values are in no file.
    pub fn shape(&self) -> Result<RowShape> {
        let def = &self.table.def;
        let shape = match &self.columns {
            Some(names) => RowShape::named(def, names)?,
            None => {
                let purpose = Purpose::Select { include_invisible: self.with_invisible };
                RowShape::new(def, &stored_columns(def), purpose)?
            }
        };
        Ok(if self.with_history { shape.with_history() } else { shape })
    }

    /// Starts to read.
    ///
    /// # Errors
    /// As [`shape`](Self::shape); the condition cannot be understood; the split is of another table,
    /// or of a file that was written to since. Everything else is reported by
    /// the iterator.
    pub fn read(self) -> Result<Rows> {
        let shape = Arc::new(self.shape()?);
        let condition = self.condition.as_deref().map(RowCondition::of_where).transpose()?;
        let mut options = self.options;
        options.rows.condition = match self.keys.is_empty() {
            true => condition,
            false => {
                let ranges = self.keys.into_iter().map(KeyRange::into_literals).collect();
                Some(RowCondition::within(ranges, condition.as_ref()))
            }
        }
        .map(Arc::new);
        let table = match &self.split {
            None => self.table.clone(),
            Some(split) => self.table.of_split(split)?,
        };
        Rows::start(table, options, shape, self.limit)
    }
}

#[cfg(test)]
mod tests;
