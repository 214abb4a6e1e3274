//! The row contract: which columns of a stored row an output shows, and which rows it shows.
//!
//! A scan gives every row that the clustered index holds, with every column that is stored. That is
//! more than a server shows: a MariaDB system-versioned table keeps old versions of its rows with
//! the current ones, and hidden columns are stored among those that `SELECT *` lists. A [`RowShape`]
//! distinguishes them, and has a [`Codec`] for each column.

use innoscan_format as format;
use innoscan_format::schema::{ColumnDef, RowPeriod, TableDef};
use innoscan_format::types::{Codec, ColumnType};

use crate::{Error, Result};

/// A column that an output shows.
#[derive(Clone, Debug)]
pub struct RowColumn {
    position: usize,
    name: String,
    ty: ColumnType,
    codec: Codec,
}

impl RowColumn {
    /// The index of the column's value in the rows that a [`RowSink`](crate::RowSink) receives.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The column's name.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column's type.
    #[inline]
    pub fn ty(&self) -> &ColumnType {
        &self.ty
    }

    /// The codec that reads the column's stored values.
    #[inline]
    pub fn codec(&self) -> &Codec {
        &self.codec
    }
}

/// A column that an output omits, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The column's name.
    pub column: String,
    /// The reason why the output omits the column.
    pub reason: LeftOutReason,
}

/// The reason why an output omits a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// A virtual generated column: no file holds its values, only the server can compute them.
    Virtual,
    /// An invisible column: `SELECT *` leaves it out too.
    Invisible,
    /// A generated column: the server computes its values again when the rows are inserted.
    Generated,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LeftOut { column, reason } = self;
        match reason {
            LeftOutReason::Virtual => {
                write!(f, "`{column}` is generated and VIRTUAL: its values are in no file")
            }
            LeftOutReason::Invisible => {
                write!(f, "`{column}` is INVISIBLE: SELECT * leaves it out too")
            }
            LeftOutReason::Generated => {
                write!(f, "`{column}` is generated: the server computes it again")
            }
        }
    }
}

/// The purpose of an output, which decides on its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The rows of `SELECT *`.
    Select {
        /// Whether invisible columns are shown too.
        include_invisible: bool,
    },
    /// The rows for `INSERT`, without generated columns.
    Insert,
}

/// The row contract: which columns of a stored row an output shows, and which rows it shows.
///
/// A scan gives a [`RowSink`](crate::RowSink) every row that the clustered index holds, with every
/// column that is stored. That is more than a server shows: a MariaDB system-versioned table keeps old
/// versions of its rows with the current ones ([`RowShape::is_history`]), and invisible and hidden
/// columns are stored among those that `SELECT *` lists. Virtual generated columns are in no file.
///
/// ```
/// use innoscan::{RowShape, Table};
///
/// # fn main() -> innoscan::Result<()> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/orders/orders.ibd");
/// let table: Table = innoscan::open(path)?;
/// let shape = RowShape::select(&table.def)?;
/// let names: Vec<&str> = shape.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["id", "customer", "total", "placed", "state", "note"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RowShape {
    columns: Vec<RowColumn>,
    left_out: Vec<LeftOut>,
    /// The index of the column `ROW END` of a system-versioned table.
    row_end: Option<usize>,
}

impl RowShape {
    /// The shape of `SELECT *`: no invisible and no virtual columns, no old versions of rows.
    ///
    /// # Errors
    /// A column has a type that cannot be read.
    pub fn select(def: &TableDef) -> Result<RowShape> {
        let purpose = Purpose::Select { include_invisible: false };
        Ok(RowShape::new(def, &stored_columns(def), purpose)?)
    }

    /// The shape of `SELECT` with these columns in this order. Names are compared as the server
    /// compares them, regardless of case. `INVISIBLE` columns can be named, and the implicit
    /// `row_start` and `row_end` of a system-versioned table.
    ///
    /// # Errors
    /// The table has no such column, or no file holds its values (a virtual generated column).
    pub fn named<N: AsRef<str>>(
        def: &TableDef,
        names: impl IntoIterator<Item = N>,
    ) -> Result<RowShape> {
        let stored = stored_columns(def);
        let columns: Result<Vec<RowColumn>> =
            names.into_iter().map(|name| named_column(def, &stored, name.as_ref())).collect();
        let row_end = row_end(def, &stored);
        Ok(RowShape { columns: columns?, left_out: Vec::new(), row_end })
    }

    /// The same columns, but with the old versions of rows that a system-versioned table keeps.
    #[must_use]
    pub fn with_history(mut self) -> RowShape {
        self.row_end = None;
        self
    }

    /// A shape for a purpose. `stored`: the indexes in `def.columns` of the columns that rows hold, in
    /// their order (`Layout::columns()`).
    pub fn new(def: &TableDef, stored: &[usize], purpose: Purpose) -> format::Result<RowShape> {
        let row_end = row_end(def, stored);
        let mut shape = RowShape { columns: Vec::new(), left_out: Vec::new(), row_end };
        for (index, column) in def.columns.iter().enumerate() {
            if column.hidden {
                continue;
            }
            if let Some(reason) = left_out(column, purpose) {
                shape.left_out.push(LeftOut { column: column.name.clone(), reason });
                continue;
            }
            let position = stored.iter().position(|&stored| stored == index);
            let position = position.ok_or_else(|| {
                format::Error::schema(format!("no record holds the column `{}`", column.name))
            })?;
            shape.columns.push(row_column(def, column, position)?);
        }
        Ok(shape)
    }

    /// The shown columns, in their order.
    #[inline]
    pub fn columns(&self) -> &[RowColumn] {
        &self.columns
    }

    /// The table's columns that are not shown, with the reasons; hidden columns are not listed.
    #[inline]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Whether the value at an index of the scan's rows is needed, to be shown or to recognize old versions
    /// of rows: the answer of a sink to [`RowSink::reads_column`](crate::RowSink::reads_column).
    pub fn reads_column(&self, position: usize) -> bool {
        self.row_end == Some(position)
            || self.columns.iter().any(|column| column.position == position)
    }

    /// Whether a row is historical: an old version in a MariaDB system-versioned table, which
    /// neither `SELECT *` nor a dump shows. Always `false` after [`RowShape::with_history`].
    #[inline]
    pub fn is_history(&self, row: &[Option<&[u8]>]) -> bool {
        self.row_end.is_some_and(|position| {
            row.get(position).copied().flatten().is_some_and(|end| !is_forever(end))
        })
    }
}

/// The indexes in `def.columns` of the columns that rows hold, in the order of a scan's rows.
pub fn stored_columns(def: &TableDef) -> Vec<usize> {
    let stored = |&index: &usize| def.columns.get(index).is_some_and(ColumnDef::is_stored);
    (0..def.columns.len()).filter(stored).collect()
}

fn row_end(def: &TableDef, stored: &[usize]) -> Option<usize> {
    let is_end = |&index: &usize| {
        def.columns.get(index).is_some_and(|column| column.row_period == Some(RowPeriod::End))
    };
    stored.iter().position(is_end).filter(|_| def.versioned)
}

fn row_column(def: &TableDef, column: &ColumnDef, position: usize) -> format::Result<RowColumn> {
    let codec = Codec::new(&column.ty, def.server)?;
    Ok(RowColumn { position, name: column.name.clone(), ty: column.ty.clone(), codec })
}

fn named_column(def: &TableDef, stored: &[usize], name: &str) -> Result<RowColumn> {
    let lower = name.to_lowercase();
    let is_named =
        |column: &&ColumnDef| column.name.to_lowercase() == lower && !column.is_key_hash();
    let table = def.qualified_name();
    let Some(index) = def.columns.iter().position(|column| is_named(&column)) else {
        let names: Vec<&str> = def.columns.iter().map(|column| &*column.name).collect();
        let remedy = format!("its columns are {}", names.join(", "));
        return Err(Error::usage(format!("{table} has no column `{name}`"), remedy));
    };
    let Some(position) = stored.iter().position(|&stored| stored == index) else {
        let why = format!("column `{name}` of {table} is VIRTUAL: its values are in no file");
        return Err(Error::usage(why, "read the columns it is computed of"));
    };
    Ok(row_column(def, &def.columns[index], position)?)
}

/// Whether the `ROW END` marks a current row: the greatest `TIMESTAMP(6)` (2038-01-19 03:14:07.999999,
/// from MariaDB 11.5 on 64-bit systems 2106-02-07 06:28:15.999999), or the greatest transaction number
/// (`TIMESTAMP_MAX_VALUE`, `is_max` in sql/field.h).
fn is_forever(end: &[u8]) -> bool {
    const LAST_MICROSECOND: &[u8] = &[0x0f, 0x42, 0x3f];
    match end.split_at_checked(4) {
        Some((seconds, LAST_MICROSECOND)) => {
            seconds == [0x7f, 0xff, 0xff, 0xff] || seconds == [0xff; 4]
        }
        _ => end == [0xff; 8],
    }
}

fn left_out(column: &ColumnDef, purpose: Purpose) -> Option<LeftOutReason> {
    match purpose {
        _ if !column.is_stored() => Some(LeftOutReason::Virtual),
        Purpose::Insert if column.generated.is_some() || column.row_period.is_some() => {
            Some(LeftOutReason::Generated)
        }
        Purpose::Select { include_invisible: false } if column.invisible => {
            Some(LeftOutReason::Invisible)
        }
        _ => None,
    }
}
