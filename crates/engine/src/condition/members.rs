//! Conditions on an `ENUM` by its members' texts.

use innoscan_format::schema::{ColumnDef, ServerVersion};
use innoscan_format::types::{Codec, ColumnType};

use super::Test;
use super::check::Check;
use super::literal::Literal;
use super::target::{RowValue, Scale};
use crate::Result;

/// Whether each member of an `ENUM` satisfies a test by text, starting with the empty string of number
/// 0, which is no member; `None` for other columns and tests.
pub(crate) fn wanted_members(
    (column, server): (&ColumnDef, ServerVersion),
    codec: &Codec,
    test: &Test,
) -> Option<Result<Vec<bool>>> {
    let ColumnType::Enum { members, .. } = &column.ty else { return None };
    let is_text = |value: &Literal| matches!(value, Literal::Text(_) | Literal::Bytes(_));
    let is_by_text = match test {
        Test::Null { .. } => false,
        Test::Compare(_, value) => is_text(value),
        Test::OneOf { values, .. } => values.iter().all(is_text),
        Test::Between { low, high, .. } => is_text(low) && is_text(high),
    };
    is_by_text.then(|| wanted((column, server), codec, members, test))
}

fn wanted(
    (column, server): (&ColumnDef, ServerVersion),
    codec: &Codec,
    members: &[Vec<u8>],
    test: &Test,
) -> Result<Vec<bool>> {
    let (scale, check) = Check::new((column, server), codec, test)?;
    let none: &[u8] = b"";
    let texts = std::iter::once(none).chain(members.iter().map(Vec::as_slice));
    let holds = texts.map(|text| {
        let mut key = Vec::new();
        match scale {
            Some(Scale::Text(collator)) => collator.append_sort_key(text, &mut key)?,
            _ => key.extend_from_slice(text),
        }
        Ok(check.holds(RowValue::Bytes(&key)))
    });
    holds.collect()
}
