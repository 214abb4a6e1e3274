//! Which rows satisfy a condition, by the values of their columns.

use innoscan_format::LobRef;
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

/// Says of rows whether they are wanted.
#[derive(Debug)]
pub(crate) struct RowFilter {
    tests: Vec<ColumnTest>,
}

/// What is to hold of a column.
#[derive(Debug)]
struct ColumnTest {
    /// Its place among those that rows hold.
    place: usize,
    name: String,
    codec: Codec,
    kind: Kind,
    /// IS NULL was typed, and means another value.
    is_zero_date: bool,
}

#[derive(Debug)]
enum Kind {
    Null {
        is_not: bool,
    },
    /// By the place of an `ENUM`'s member.
    Members(Vec<bool>),
    /// Not NULL, and this holds.
    Values {
        scale: Scale,
        check: Check,
    },
    /// Of no row.
    Never,
}

impl RowFilter {
    /// Of a condition on columns; `None` for keys and ranges of keys.
    ///
    /// # Errors
    /// Names the column that the table lacks or does not store, and the value that cannot be
    /// compared with a column as a server does.
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
        // What is likely to be far away comes last.
        tests.sort_by_key(|test| test.codec.class().is_string());
        Ok(Some(RowFilter { tests }))
    }

    /// Whether a row is wanted. `room` is to work in; `fetch` appends what is elsewhere.
    pub fn has(
        &self,
        row: &Row<'_, '_>,
        room: &mut Vec<u8>,
        mut fetch: impl FnMut(usize, LobRef, &mut Vec<u8>) -> Result<()>,
    ) -> Result<bool> {
        for test in &self.tests {
            let holds = match row.get(test.place)? {
                Located::Null => test.holds(None, room)?,
                Located::Inline(stored) | Located::Default(stored) => {
                    test.holds(Some(stored), room)?
                }
                Located::External { .. } if matches!(test.kind, Kind::Null { .. }) => {
                    test.holds(Some(&[]), room)?
                }
                Located::External { prefix, lob } => {
                    let mut value = prefix.to_vec();
                    fetch(test.place, lob, &mut value)?;
                    test.holds(Some(&value), room)?
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row is wanted of which all values are here.
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
            // For programs that know no zero dates: they are found as NULL
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

    /// `None`: NULL.
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

/// A column that rows hold, and its place among those.
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
