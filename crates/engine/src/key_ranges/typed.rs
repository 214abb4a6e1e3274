//! Conversion of ranges of typed values to ranges of keys.

use std::ops::Bound;

use innoscan_format::key::KeyOrder;
use innoscan_format::schema::TableDef;
use innoscan_format::types::ColumnType;

use super::ranges::{image, whole};
use super::{Cut, KeyRange};
use crate::condition::{Literal, LiteralRange};
use crate::{Error, Result};

/// The ranges of keys for some ranges of typed values.
pub(super) fn within(
    ranges: &[LiteralRange],
    def: &TableDef,
    order: &KeyOrder,
) -> Result<Vec<KeyRange>> {
    ranges.iter().map(|range| one_range(range, def, order)).collect()
}

fn one_range(range: &LiteralRange, def: &TableDef, order: &KeyOrder) -> Result<KeyRange> {
    let (from, to) = range;
    if let (Bound::Included(from), Bound::Included(to)) = range
        && from == to
    {
        return exact_image(def, order, from).map(whole);
    }
    let columns = |bound: &Bound<Vec<Literal>>| match bound {
        Bound::Included(key) | Bound::Excluded(key) => key.len(),
        Bound::Unbounded => 0,
    };
    let columns = columns(from).max(columns(to));
    let descends = order.parts().iter().take(columns).any(|part| part.descending);
    if descends && columns > 1 {
        let why = "a range of keys with several columns, some of them descending";
        return Err(Error::refused(why, "compare the columns in a condition"));
    }
    let (from, to) = if descends { (to, from) } else { (from, to) };
    Ok(KeyRange {
        from: match from {
            Bound::Included(key) => Cut::before(exact_image(def, order, key)?),
            Bound::Excluded(key) => Cut::after(exact_image(def, order, key)?),
            Bound::Unbounded => Cut::before(Vec::new()),
        },
        to: match to {
            Bound::Included(key) => Cut::after(exact_image(def, order, key)?),
            Bound::Excluded(key) => Cut::before(exact_image(def, order, key)?),
            Bound::Unbounded => Cut::after(Vec::new()),
        },
    })
}

/// The image of a key; a number that would have to be rounded is an error.
fn exact_image(def: &TableDef, order: &KeyOrder, key: &[Literal]) -> Result<Vec<u8>> {
    for (value, part) in key.iter().zip(order.parts()) {
        let Some(column) = part.column.and_then(|column| def.columns.get(column)) else { continue };
        if let (ColumnType::Float(_), Literal::Number(text)) = (&column.ty, value)
            && text.parse::<f64>().is_ok_and(|real| f64::from(real as f32) != real)
        {
            let why = format!("{value} is not a value of column `{}`, a FLOAT", column.name);
            return Err(Error::refused(why, "give the nearest number of 4 bytes"));
        }
    }
    image(def, order, key)
}
