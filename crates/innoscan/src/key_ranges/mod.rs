//! Rows by primary key: which keys are wanted, and which pages can hold them.
//!
//! A [`RowCondition`] is what somebody typed, in values; with a table's definition it becomes
//! [`KeyRanges`], in images ([`KeyOrder`]). By these the walk leaves out the children that hold no
//! wanted key, and the decode workers the rows at the edges. Of a condition on columns they hold at
//! least the keys of all rows that satisfy it; which of those rows do, the rest of it says.

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
use crate::condition::{RowCondition, Wanted};

/// A place between keys: before all keys that begin with an image, or after them. Without an image:
/// before or after all keys there are.
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

    /// Whether a whole key comes before it.
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

/// The keys from one cut to another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyRange {
    from: Cut,
    to: Cut,
}

/// The keys of a clustered index that are wanted.
#[derive(Clone, Debug)]
pub struct KeyRanges {
    order: KeyOrder,
    /// In the keys' order; none overlaps another.
    ranges: Vec<KeyRange>,
}

impl KeyRanges {
    /// The keys of a table's clustered index that rows can have that satisfy a condition; `None`
    /// where it says nothing of them.
    ///
    /// # Errors
    /// When keys were typed that are none of this index, or their order is not known.
    pub fn new(
        condition: &RowCondition,
        def: &TableDef,
        layout: &Layout,
    ) -> Result<Option<KeyRanges>> {
        let order = KeyOrder::with_collations(def, layout);
        let mut ranges = match condition.wanted() {
            Wanted::Keys(keys) => ranges::of_keys(keys, def, &order)?,
            Wanted::Range(from, to) => ranges::between(from, to, def, &order)?,
            Wanted::Within(ranges, _) => typed::within(ranges, def, &order)?,
            Wanted::All(comparisons) => match ranges::of_comparisons(comparisons, def, &order)? {
                Some(ranges) => ranges,
                None => return Ok(None),
            },
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

    /// Whether a row's key is among them; `image` is room to work in.
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

    /// Appends those children of a branch page that can hold one of these keys, in key order.
    ///
    /// # Errors
    /// As [`tree::children`] has them; what was appended before is good.
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
            // Keys that cannot be compared to their end may go on behind the next child's first.
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

    /// Whether one of them has keys between two cuts.
    fn meet(&self, from: &Cut, to: &Cut) -> bool {
        let at = self.ranges.partition_point(|range| range.to <= *from);
        self.ranges.get(at).is_some_and(|range| range.from < *to)
    }
}
