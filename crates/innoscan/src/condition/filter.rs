//! Which rows satisfy a condition, by the values of their columns.

use innoscan_format::lob::LobRef;
use innoscan_format::locate::{Located, Row};
use innoscan_format::schema::{ColumnDef, Family, ServerVersion, TableDef};
use innoscan_format::types::{Codec, ColumnType};
use innoscan_format::value::Value;

use super::literal::Literal;
use super::members::wanted_members;
use super::target::{RowValue, Scale, Target, ZERO_DATE, integers, target};
use super::{Comparison, Operator, RowCondition, Test};
use crate::{Error, Result};

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

/// What is to hold of a value that is not NULL.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Compare(Operator, Target),
    /// In order.
    OneOf {
        targets: Vec<Target>,
        is_not: bool,
    },
    Between {
        low: Target,
        high: Target,
        is_not: bool,
    },
    /// Compared with NULL.
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
                return Err(Error::refused(why, "compare the column with '0000-00-00' alone"));
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

impl Check {
    /// A test of values, and their scale; none where all of them are NULL.
    pub fn new(
        (column, server): (&ColumnDef, ServerVersion),
        codec: &Codec,
        test: &Test,
    ) -> Result<(Option<Scale>, Check)> {
        // By a key some servers find the nearest value there can be.
        let is_equality = match test {
            Test::Compare(operator, _) => {
                matches!(operator, Operator::Equal | Operator::NullSafeEqual | Operator::NotEqual)
            }
            Test::OneOf { .. } => true,
            Test::Null { .. } | Test::Between { .. } => false,
        };
        let mut scale = None;
        let mut is_number = None;
        let mut target = |literal: &Literal| -> Result<Option<Target>> {
            if *literal == Literal::Null {
                return Ok(None);
            }
            let (own, target) = target(column, codec, literal, server)?;
            let is_own_number = matches!(literal, Literal::Number(_));
            if *scale.get_or_insert(own) != own
                || *is_number.get_or_insert(is_own_number) != is_own_number
            {
                let why =
                    format!("the values `{}` is compared with are of several types", column.name);
                return Err(Error::refused(why, "type all of them as numbers, or all in quotes"));
            }
            if is_equality && !is_among(&target, &column.ty) {
                let why = format!("no value of `{}` is {literal}", column.name);
                return Err(Error::refused(why, "leave out the comparison"));
            }
            if matches!(test, Test::Between { .. }) && is_below_unsigned(&target, &column.ty) {
                // MySQL 5.7 takes it for a great number.
                let why = format!("{literal} is BETWEEN of `{}`, which has no sign", column.name);
                return Err(Error::refused(why, "compare it by >= and <="));
            }
            if !is_equality && is_ordered_twice(column) {
                let why = format!(
                    "a server orders `{}` (CHAR of a NO PAD collation) one way by a key and \
                     another without",
                    column.name
                );
                return Err(Error::refused(why, "compare it by =, <> or IN"));
            }
            Ok(Some(target))
        };
        let check = match test {
            Test::Null { .. } => Check::Never,
            Test::Compare(operator, value) => match target(value)? {
                Some(target) => Check::Compare(*operator, target),
                None => Check::Never,
            },
            Test::OneOf { values, is_not } => {
                if values.contains(&Literal::Null) {
                    // MySQL 8.0.33 finds no TIME in such a list.
                    let why = format!("NULL is among the values of `{}` IN", column.name);
                    return Err(Error::refused(why, "leave it out: nothing is equal to it"));
                }
                let targets: Result<Vec<_>> = values.iter().map(target).collect();
                let mut targets: Vec<Target> = targets?.into_iter().flatten().collect();
                targets.sort_by(Target::order);
                Check::OneOf { targets, is_not: *is_not }
            }
            Test::Between { low, high, is_not } => match (target(low)?, target(high)?) {
                (Some(low), Some(high)) => Check::Between { low, high, is_not: *is_not },
                // Below or above the one that is known is outside, whatever the other is.
                (Some(low), None) if *is_not => Check::Compare(Operator::Less, low),
                (None, Some(high)) if *is_not => Check::Compare(Operator::Greater, high),
                _ => Check::Never,
            },
        };
        Ok((scale, check))
    }

    /// Whether it holds of a value on its scale.
    pub fn holds(&self, value: RowValue<'_>) -> bool {
        match self {
            Check::Compare(operator, target) => {
                let order = value.order(target);
                match operator {
                    Operator::Equal | Operator::NullSafeEqual => order.is_eq(),
                    Operator::NotEqual => order.is_ne(),
                    Operator::Less => order.is_lt(),
                    Operator::LessOrEqual => order.is_le(),
                    Operator::Greater => order.is_gt(),
                    Operator::GreaterOrEqual => order.is_ge(),
                }
            }
            Check::OneOf { targets, is_not } => {
                let found = targets.binary_search_by(|target| value.order(target).reverse());
                found.is_ok() != *is_not
            }
            Check::Between { low, high, is_not } => {
                let is_between = value.order(low).is_ge() && value.order(high).is_le();
                is_between != *is_not
            }
            Check::Never => false,
        }
    }
}

/// Whether a column can hold an integer; others are not looked at.
fn is_among(target: &Target, ty: &ColumnType) -> bool {
    match (target, integers(ty)) {
        (Target::Integer { floor, is_above }, range) => {
            !is_above && range.is_none_or(|range| range.contains(floor))
        }
        _ => true,
    }
}

/// Whether a number is negative, and the column's are not.
fn is_below_unsigned(target: &Target, ty: &ColumnType) -> bool {
    let is_unsigned = match ty {
        ColumnType::Bit { .. } | ColumnType::Enum { .. } | ColumnType::Set { .. } => true,
        _ => integers(ty).is_some_and(|range| *range.start() == 0),
    };
    is_unsigned && matches!(target, Target::Integer { floor, .. } if *floor < 0)
}

/// Whether it is a `CHAR` of one of MariaDB's `_nopad_` collations.
fn is_ordered_twice(column: &ColumnDef) -> bool {
    let ColumnType::Char { collation, .. } = column.ty else { return false };
    let newest = ServerVersion { family: Family::MariaDb, number: u32::MAX };
    collation.name(newest).is_some_and(|name| name.contains("_nopad_"))
}

/// A column that rows hold, and its place among those.
fn stored_column<'d>(name: &str, def: &'d TableDef) -> Result<(usize, &'d ColumnDef)> {
    let named = |column: &&ColumnDef| column.name.to_lowercase() == name.to_lowercase();
    let table = def.qualified_name();
    let Some(column) = def.columns.iter().find(named) else {
        let why = format!("{table} has no column `{name}`");
        return Err(Error::refused(why, "see `innoscan schema` for its columns"));
    };
    let mut stored = def.columns.iter().filter(|column| column.is_stored()).enumerate();
    stored.find(|(_, column)| named(column)).ok_or_else(|| {
        let why = format!("column `{}` of {table} is computed when it is read", column.name);
        Error::refused(why, "compare the columns it is computed of")
    })
}
