//! Rows by primary key: the wanted keys, and the pages that can hold them.
//!
//! A [`RowCondition`] holds values as the user typed them; with a table's definition it becomes
//! [`KeyRanges`], which hold key images ([`KeyOrder`]). They let the walk skip the children that hold no
//! wanted key, and the decode workers the rows at the edges. For a condition on columns, the ranges
//! contain at least the keys of all rows that satisfy it; the row filter tests the rest.

mod ranges;
#[cfg(test)]
mod tests;
mod typed;

use std::cmp::Ordering;

use innoscan_format::layout::Layout;
use innoscan_format::locate::Row;
use innoscan_format::page::IndexPage;
use innoscan_format::record::Record;
use innoscan_format::schema::TableDef;
use innoscan_format::{PageNo, key::KeyOrder, tree};

use crate::Result;
use crate::condition::{ConditionKind, RowCondition};

/// A place between keys: before or after all keys that begin with an image. An empty image:
/// before or after all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cut {
    image: Vec<u8>,
    is_after: bool,
}

impl Cut {
    fn before(image: Vec<u8>) -> Cut {
        Cut { image, is_after: false }
    }

    fn after(image: Vec<u8>) -> Cut {
        Cut { image, is_after: true }
    }

    /// Whether a whole key comes before the cut.
    fn is_above(&self, key: &[u8]) -> bool {
        match key.get(..self.image.len()).unwrap_or(key).cmp(&self.image) {
            Ordering::Less => true,
            Ordering::Equal => self.is_after,
            Ordering::Greater => false,
        }
    }
}

impl Ord for Cut {
    fn cmp(&self, other: &Cut) -> Ordering {
        if self.image == other.image {
            return self.is_after.cmp(&other.is_after);
        }
        let side = |is_after: bool| if is_after { Ordering::Greater } else { Ordering::Less };
        if other.image.starts_with(&self.image) {
            return side(self.is_after);
        }
        if self.image.starts_with(&other.image) {
            return side(other.is_after).reverse();
        }
        self.image.cmp(&other.image)
    }
}

impl PartialOrd for Cut {
    fn partial_cmp(&self, other: &Cut) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The keys between two cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyRange {
    from: Cut,
    to: Cut,
}

/// The wanted keys of a clustered index.
#[derive(Clone, Debug)]
pub struct KeyRanges {
    order: KeyOrder,
    /// The ranges in the order of the keys, without overlaps.
    ranges: Vec<KeyRange>,
}

impl KeyRanges {
    /// The keys of a table's clustered index that rows satisfying a condition can have; `None`
    /// where the condition does not restrict them.
    ///
    /// # Errors
    /// The condition has keys that this index cannot have, or their order is not known.
    pub fn new(
        condition: &RowCondition,
        def: &TableDef,
        layout: &Layout,
    ) -> Result<Option<KeyRanges>> {
        let order = KeyOrder::with_collations(def, layout);
        let mut ranges = match condition.kind() {
            ConditionKind::Keys(keys) => ranges::of_keys(keys, def, &order)?,
            ConditionKind::Range(from, to) => ranges::between(from, to, def, &order)?,
            ConditionKind::Within(ranges, _) => typed::within(ranges, def, &order)?,
            ConditionKind::All(comparisons) => {
                match ranges::of_comparisons(comparisons, def, &order)? {
                    Some(ranges) => ranges,
                    None => return Ok(None),
                }
            }
        };
        ranges.retain(|range| range.from < range.to);
        ranges.sort_by(|a, b| a.from.cmp(&b.from));
        ranges.dedup_by(|next, range| {
            let overlaps = next.from <= range.to;
            if overlaps && next.to > range.to {
                range.to = next.to.clone();
            }
            overlaps
        });
        Ok(Some(KeyRanges { order, ranges }))
    }

    /// Whether the ranges contain a row's key; `image` is a buffer.
    pub(crate) fn have(
        &self,
        record: &Record<'_>,
        row: &Row<'_, '_>,
        image: &mut Vec<u8>,
    ) -> innoscan_format::Result<bool> {
        image.clear();
        self.order.append_row(record, row, image)?;
        let at = self.ranges.partition_point(|range| !range.to.is_above(image));
        Ok(self.ranges.get(at).is_some_and(|range| !range.from.is_above(image)))
    }

    /// Appends the children of a branch page that can hold one of these keys, in key order.
    ///
    /// # Errors
    /// Those of [`tree::children`]; the children appended before the error are valid.
    pub(crate) fn children(
        &self,
        page: &IndexPage<'_>,
        layout: &Layout,
        out: &mut Vec<PageNo>,
    ) -> innoscan_format::Result<()> {
        let mut children = Vec::new();
        tree::children(page, layout, &mut children)?;
        let mut child: Option<(PageNo, Cut)> = None;
        for (record, page_no) in page.records().zip(children) {
            let record = record?;
            let mut image = Vec::new();
            if !record.is_min_rec() {
                self.order.append_pointer(&record, layout, &mut image)?;
            }
            // Keys that cannot be compared completely may continue past the next child's first key.
            let end = Cut { image: image.clone(), is_after: !self.order.is_whole() };
            if let Some((before, from)) = child.replace((page_no, Cut::before(image)))
                && self.meet(&from, &end)
            {
                out.push(before);
            }
        }
        if let Some((last, from)) = child
            && self.meet(&from, &Cut::after(Vec::new()))
        {
            out.push(last);
        }
        Ok(())
    }

    /// Whether a range has keys between two cuts.
    fn meet(&self, from: &Cut, to: &Cut) -> bool {
        let at = self.ranges.partition_point(|range| range.to <= *from);
        self.ranges.get(at).is_some_and(|range| range.from < *to)
    }
}
