//! Filters of rows by the values of their columns.

use std::borrow::Cow;

use innoscan_format::locate::{Located, Row};
use innoscan_format::schema::{ColumnDef, TableDef};
use innoscan_format::types::{Codec, ColumnType};
use innoscan_format::value::Value;

use super::check::Check;
use super::literal::Literal;
use super::members::wanted_members;
use super::target::{Scale, ZERO_DATE};
use super::{Comparison, Operator, RowCondition, Test};
use crate::{Error, Remedy, Result};

/// A filter that tests rows.
#[derive(Debug)]
pub struct RowFilter {
    tests: Vec<ColumnTest>,
}

/// A test of a column.
#[derive(Debug)]
struct ColumnTest {
    /// The column's index among those that rows hold.
    place: usize,
    name: String,
    codec: Codec,
    kind: Kind,
    /// Whether IS NULL was typed for a column where it means the zero date.
    is_zero_date: bool,
}

#[derive(Debug)]
enum Kind {
    Null {
        is_not: bool,
    },
    /// Whether each member of an `ENUM` is wanted, by its number.
    Members(Vec<bool>),
    /// A comparison, which NULL does not satisfy.
    Values {
        scale: Scale,
        check: Check,
    },
    /// A test that no row satisfies.
    Never,
}

impl RowFilter {
    /// The filter of a condition on columns; `None` for keys and ranges of keys.
    ///
    /// # Errors
    /// The table lacks or does not store a column of the condition, or a value cannot be compared with a
    /// column as a server compares it.
    pub fn new(condition: &RowCondition, def: &TableDef) -> Result<Option<RowFilter>> {
        let comparisons = condition.comparisons();
        if comparisons.is_empty() {
            return Ok(None);
        }
        let tests: Result<Vec<_>> =
            comparisons.iter().map(|comparison| ColumnTest::new(comparison, def)).collect();
        let mut tests = tests?;
        if let Some(test) = tests.iter().find(|test| test.is_zero_date) {
            let is_own =
                |comparison: &&Comparison| comparison.column.eq_ignore_ascii_case(&test.name);
            if comparisons.iter().filter(is_own).count() > 1 {
                let why = format!("`{}` IS NULL means the zero date there", test.name);
                return Err(Error::usage(why, "compare the column with '0000-00-00' alone"));
            }
        }
        // Values that are likely to be off-page are tested last.
        tests.sort_by_key(|test| test.codec.class().is_string());
        Ok(Some(RowFilter { tests }))
    }

    /// Whether a row satisfies the filter. `room` is a buffer; `value` returns the value of a column, which may be
    /// off-page or compressed.
    pub fn has<'d>(
        &self,
        row: &Row<'_, 'd>,
        room: &mut Vec<u8>,
        mut value: impl FnMut(usize, Located<'d>) -> Result<Option<Cow<'d, [u8]>>>,
    ) -> Result<bool> {
        for test in &self.tests {
            let tested = match (row.get(test.place)?, &test.kind) {
                (Located::Null, _) => None,
                (_, Kind::Null { .. }) => Some(Cow::Borrowed(&[][..])),
                (located, _) => value(test.place, located)?,
            };
            if !test.holds(tested.as_deref(), room)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row without off-page values satisfies the filter.
    pub fn has_values(&self, row: &[Option<&[u8]>], room: &mut Vec<u8>) -> Result<bool> {
        for test in &self.tests {
            if !test.holds(row.get(test.place).copied().flatten(), room)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl ColumnTest {
    fn new(comparison: &Comparison, def: &TableDef) -> Result<ColumnTest> {
        let (place, column) = stored_column(&comparison.column, def)?;
        let codec = Codec::new(&column.ty, def.server)?;
        let kind = match (
            &comparison.test,
            wanted_members((column, def.server), &codec, &comparison.test),
        ) {
            // For client programs that know no zero dates, the server finds them as NULL
            // (`remove_eq_conds`, sql_select.cc).
            (Test::Null { is_not: false }, _)
                if !column.nullable
                    && matches!(column.ty, ColumnType::Date | ColumnType::DateTime(_)) =>
            {
                let check = Check::Compare(Operator::Equal, ZERO_DATE);
                Kind::Values { scale: Scale::Integer, check }
            }
            (&Test::Null { is_not }, _) => Kind::Null { is_not },
            (Test::Compare(Operator::NullSafeEqual, Literal::Null), _) => {
                Kind::Null { is_not: false }
            }
            (_, Some(wanted)) => Kind::Members(wanted?),
            (test, None) => match Check::new((column, def.server), &codec, test)? {
                (Some(scale), check) => Kind::Values { scale, check },
                (None, _) => Kind::Never,
            },
        };
        let is_zero_date =
            matches!(comparison.test, Test::Null { .. }) && !matches!(kind, Kind::Null { .. });
        Ok(ColumnTest { place, name: column.name.clone(), codec, kind, is_zero_date })
    }

    /// Whether a stored value satisfies the test; `None`: NULL.
    fn holds(&self, stored: Option<&[u8]>, room: &mut Vec<u8>) -> innoscan_format::Result<bool> {
        let Some(stored) = stored else {
            return Ok(matches!(self.kind, Kind::Null { is_not: false }));
        };
        let at_column = |error: innoscan_format::Error| error.at_column(&self.name);
        match &self.kind {
            Kind::Null { is_not } => Ok(*is_not),
            Kind::Never => Ok(false),
            Kind::Members(wanted) => match self.codec.value(stored).map_err(at_column)? {
                Value::Enum(at) => Ok(wanted.get(usize::from(at)).copied().unwrap_or(false)),
                _ => Ok(false),
            },
            Kind::Values { scale, check } => {
                let value = scale.value(&self.codec, stored, room).map_err(at_column)?;
                Ok(check.holds(value))
            }
        }
    }
}

/// A column that rows hold, and its index among those.
fn stored_column<'d>(name: &str, def: &'d TableDef) -> Result<(usize, &'d ColumnDef)> {
    let named = |column: &&ColumnDef| column.name.to_lowercase() == name.to_lowercase();
    let table = def.qualified_name();
    let Some(column) = def.columns.iter().find(named) else {
        let why = format!("{table} has no column `{name}`");
        return Err(Error::usage(why, Remedy::SeeDefinition));
    };
    let mut stored = def.columns.iter().filter(|column| column.is_stored()).enumerate();
    stored.find(|(_, column)| named(column)).ok_or_else(|| {
        let why = format!("column `{}` of {table} is computed when it is read", column.name);
        Error::usage(why, "compare the columns it is computed of")
    })
}
