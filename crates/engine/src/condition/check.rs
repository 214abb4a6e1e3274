//! Tests of values, on the scale of their column.

use innoscan_format::schema::{ColumnDef, Family, ServerVersion};
use innoscan_format::types::{Codec, ColumnType};

use super::literal::Literal;
use super::target::{RowValue, Scale, Target, integers, target};
use super::{Operator, Test};
use crate::{Error, Result};

/// A test of a value that is not NULL.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Compare(Operator, Target),
    /// One of these values, in order.
    OneOf {
        targets: Vec<Target>,
        is_not: bool,
    },
    Between {
        low: Target,
        high: Target,
        is_not: bool,
    },
    /// A comparison with NULL, which no value satisfies.
    Never,
}

impl Check {
    /// The check of a test, and its scale; `None` where all its values are NULL.
    pub fn new(
        (column, server): (&ColumnDef, ServerVersion),
        codec: &Codec,
        test: &Test,
    ) -> Result<(Option<Scale>, Check)> {
        let is_equality = is_equality(test);
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
                return Err(Error::usage(why, "type all of them as numbers, or all in quotes"));
            }
            if is_equality && !is_among(&target, &column.ty) {
                let why = format!("no value of `{}` is {literal}", column.name);
                return Err(Error::usage(why, "leave out the comparison"));
            }
            if matches!(test, Test::Between { .. }) && is_below_unsigned(&target, &column.ty) {
                // MySQL 5.7 takes the value for a great number.
                let why = format!("{literal} is BETWEEN of `{}`, which has no sign", column.name);
                return Err(Error::usage(why, "compare it by >= and <="));
            }
            if !is_equality && is_ordered_twice(column) {
                let why = format!(
                    "a server orders `{}` (CHAR of a NO PAD collation) one way by a key and \
                     another without",
                    column.name
                );
                return Err(Error::usage(why, "compare it by =, <> or IN"));
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
                    // MySQL 8.0.33 finds no TIME in a list with NULL.
                    let why = format!("NULL is among the values of `{}` IN", column.name);
                    return Err(Error::usage(why, "leave it out: nothing is equal to it"));
                }
                let targets: Result<Vec<_>> = values.iter().map(target).collect();
                let mut targets: Vec<Target> = targets?.into_iter().flatten().collect();
                targets.sort_by(Target::order);
                Check::OneOf { targets, is_not: *is_not }
            }
            Test::Between { low, high, is_not } => match (target(low)?, target(high)?) {
                (Some(low), Some(high)) => Check::Between { low, high, is_not: *is_not },
                // Values beyond the known bound are outside, whatever the NULL bound would be.
                (Some(low), None) if *is_not => Check::Compare(Operator::Less, low),
                (None, Some(high)) if *is_not => Check::Compare(Operator::Greater, high),
                _ => Check::Never,
            },
        };
        Ok((scale, check))
    }

    /// Whether a value on the scale satisfies the check.
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

/// Whether a test asks for equality: with a key, some servers then find the nearest possible value.
fn is_equality(test: &Test) -> bool {
    match test {
        Test::Compare(operator, _) => {
            matches!(operator, Operator::Equal | Operator::NullSafeEqual | Operator::NotEqual)
        }
        Test::OneOf { .. } => true,
        Test::Null { .. } | Test::Between { .. } => false,
    }
}

/// Whether a column can hold a target that is an integer; `true` for other targets.
fn is_among(target: &Target, ty: &ColumnType) -> bool {
    match (target, integers(ty)) {
        (Target::Integer { floor, is_above }, range) => {
            !is_above && range.is_none_or(|range| range.contains(floor))
        }
        _ => true,
    }
}

/// Whether a number is negative and the column unsigned.
fn is_below_unsigned(target: &Target, ty: &ColumnType) -> bool {
    let is_unsigned = match ty {
        ColumnType::Bit { .. } | ColumnType::Enum { .. } | ColumnType::Set { .. } => true,
        _ => integers(ty).is_some_and(|range| *range.start() == 0),
    };
    is_unsigned && matches!(target, Target::Integer { floor, .. } if *floor < 0)
}

/// Whether a column is a `CHAR` of one of MariaDB's `_nopad_` collations.
fn is_ordered_twice(column: &ColumnDef) -> bool {
    let ColumnType::Char { collation, .. } = column.ty else { return false };
    let newest = ServerVersion { family: Family::MariaDb, number: u32::MAX };
    collation.name(newest).is_some_and(|name| name.contains("_nopad_"))
}
