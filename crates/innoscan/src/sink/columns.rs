//! Which of a table's columns, and which of its rows, an output shows.

use innoscan_format as format;
use innoscan_format::schema::{ColumnDef, RowPeriod, TableDef};
use innoscan_format::types::{Codec, ColumnType};

/// A column of the output.
#[derive(Clone, Debug)]
pub(super) struct OutputColumn {
    /// Its place in the rows a sink is given.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// Reads its values.
    pub codec: Codec,
}

/// A column that an output does not have, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub column: String,
    /// Why it is not there.
    pub reason: LeftOutReason,
}

/// Why a column is not in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// A virtual generated column: no file holds its values, only the server can compute them.
    Virtual,
    /// An invisible column: `SELECT *` leaves it out too.
    Invisible,
    /// A generated column: the server computes it again when the rows are inserted.
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

/// What an output is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Rows as `SELECT *` shows them.
    Select { include_invisible: bool },
    /// Rows as `INSERT` takes them.
    Insert,
}

/// The columns and rows of an output.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub columns: Vec<OutputColumn>,
    pub left_out: Vec<LeftOut>,
    /// Where a system-versioned table keeps the end of a row's life.
    row_end: Option<usize>,
}

impl Selection {
    /// `stored` are the places in `def.columns` of the columns that rows hold, in their order
    /// (`Layout::columns()`).
    pub fn new(def: &TableDef, stored: &[usize], purpose: Purpose) -> format::Result<Selection> {
        let mut selection = Selection { columns: Vec::new(), left_out: Vec::new(), row_end: None };
        for (index, column) in def.columns.iter().enumerate() {
            let position = stored.iter().position(|&stored| stored == index);
            if def.versioned && column.row_period == Some(RowPeriod::End) {
                selection.row_end = position;
            }
            if column.hidden {
                continue;
            }
            if let Some(reason) = left_out(column, purpose) {
                selection.left_out.push(LeftOut { column: column.name.clone(), reason });
                continue;
            }
            let position = position.ok_or_else(|| {
                format::Error::schema(format!("no record holds the column `{}`", column.name))
            })?;
            let codec = Codec::new(&column.ty, def.server)?;
            let (name, ty) = (column.name.clone(), column.ty.clone());
            selection.columns.push(OutputColumn { position, name, ty, codec });
        }
        Ok(selection)
    }

    /// Whether a row is of the past: an old version in a MariaDB system-versioned table, which
    /// neither `SELECT *` nor a dump shows.
    #[inline]
    pub fn is_history(&self, row: &[Option<&[u8]>]) -> bool {
        self.row_end.is_some_and(|position| {
            row.get(position).copied().flatten().is_some_and(|end| !is_forever(end))
        })
    }
}

/// Whether a `ROW END` is that of a row that is still there: the greatest `TIMESTAMP(6)`
/// (2038-01-19 03:14:07.999999, from MariaDB 11.5 on 64-bit systems 2106-02-07 06:28:15.999999), or
/// the greatest transaction number (`TIMESTAMP_MAX_VALUE`, `is_max` in sql/field.h).
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

/// A name in backticks.
pub fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
