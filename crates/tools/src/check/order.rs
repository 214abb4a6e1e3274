//! The order of keys, on pages and from page to page.
//!
//! Keys are compared up to the first column that has no known order ([`KeyOrder`]): text sorts by
//! collation, and only the `_bin` collations are known here.
//!
//! Within a page whole keys are compared. From page to page only the first [`IMAGE_BYTES`] of each
//! leaf's first and last key are compared, since both leaves are seldom in memory at once: 36 bytes
//! are kept per leaf. Equal images prove nothing.

use std::collections::BTreeMap;

use innoscan_format::key::KeyOrder;
use innoscan_format::layout::Layout;
use innoscan_format::locate::Fields;
use innoscan_format::page::IndexPage;
use innoscan_format::schema::TableDef;
use innoscan_format::tree::node_pointer;
use innoscan_format::{IndexId, PageNo};

use super::report::{Area, Report};
use super::trees::Trees;

/// Bytes of a key that are kept for comparison from page to page.
const IMAGE_BYTES: usize = 16;

/// A clustered index whose records can be parsed.
#[derive(Clone, Copy, Debug)]
pub struct Known<'t> {
    /// The table, as `db.table`, where several share the tablespace.
    pub table: Option<&'t str>,
    /// The table's definition.
    pub def: &'t TableDef,
    /// The fields of its clustered index.
    pub layout: &'t Layout,
    /// The clustered index.
    pub index: IndexId,
}

/// The start of a key, in a form that sorts like keys.
type Image = [u8; IMAGE_BYTES];

/// The first and last key of a leaf.
struct Ends {
    page: PageNo,
    first: Image,
    last: Image,
}

/// The keys of the known indexes, as far as they are comparable.
pub(super) struct Orders<'t> {
    indexes: BTreeMap<IndexId, Order<'t>>,
    fields: Fields,
}

/// The keys of one index.
struct Order<'t> {
    known: Known<'t>,
    order: KeyOrder,
    ends: Vec<Ends>,
    separators: Vec<(PageNo, Image)>,
}

impl<'t> Orders<'t> {
    pub fn new(known: &[Known<'t>]) -> Orders<'t> {
        let indexes = known.iter().map(|&known| (known.index, Order::new(known)));
        Orders { indexes: indexes.collect(), fields: Fields::default() }
    }

    /// Adds a sound page of a B-tree.
    pub fn add(&mut self, page: &IndexPage<'_>, trees: &mut Trees, report: &mut Report) {
        let Some(index) = self.indexes.get_mut(&page.index_id()) else { return };
        let added = match page.is_leaf() {
            true => index.add_leaf(page, &mut self.fields, report),
            false => index.add_branch(page, trees, report),
        };
        if let Err(error) = added {
            report.add(Area::Records, Some(page.page_no()), error.to_string());
        }
    }

    /// Compares leaf with leaf and leaf with parent, after all were added.
    pub fn finish(&self, trees: &mut Trees, report: &mut Report) {
        self.indexes.values().for_each(|index| index.finish(trees, report));
    }
}

impl<'t> Order<'t> {
    fn new(known: Known<'t>) -> Order<'t> {
        let order = KeyOrder::of(known.def, known.layout);
        Order { known, order, ends: Vec::new(), separators: Vec::new() }
    }

    fn add_leaf(
        &mut self,
        page: &IndexPage<'_>,
        fields: &mut Fields,
        report: &mut Report,
    ) -> innoscan_format::Result<()> {
        let Order { known, order, .. } = &*self;
        let (mut key, mut before) = (Vec::new(), Vec::new());
        let mut first: Option<Image> = None;
        for record in page.records() {
            let record = record?;
            if record.is_metadata() {
                continue;
            }
            let row = known.layout.locate(&record, fields)?;
            key.clear();
            order.append_row(&record, &row, &mut key)?;
            match first {
                None => first = Some(image(&key)),
                Some(_) => {
                    compare(order, (&before, &key), (page.page_no(), record.heap_no()), report)
                }
            }
            std::mem::swap(&mut key, &mut before);
        }
        if let Some(first) = first {
            self.ends.push(Ends { page: page.page_no(), first, last: image(&before) });
        }
        Ok(())
    }

    fn add_branch(
        &mut self,
        page: &IndexPage<'_>,
        trees: &mut Trees,
        report: &mut Report,
    ) -> innoscan_format::Result<()> {
        let Order { known, order, separators, .. } = self;
        let mut children = Vec::with_capacity(usize::from(page.n_recs()));
        let (mut key, mut before) = (Vec::new(), Vec::new());
        let mut has_before = false;
        for (place, record) in page.records().enumerate() {
            let record = record?;
            let pointer = node_pointer(page, known.layout, &record, place)
                .map_err(|error| record.locate_error(error))?;
            children.push(pointer.child);
            if record.is_min_rec() {
                continue;
            }
            key.clear();
            order.append_pointer(&record, known.layout, &mut key)?;
            if has_before {
                compare(order, (&before, &key), (page.page_no(), record.heap_no()), report);
            }
            if page.level() == 1 {
                separators.push((pointer.child, image(&key)));
            }
            has_before = true;
            std::mem::swap(&mut key, &mut before);
        }
        trees.add_children(page, &children, report);
        Ok(())
    }

    fn finish(&self, trees: &mut Trees, report: &mut Report) {
        let Order { known, order, .. } = self;
        if let Some(summary) = trees.summary_mut(known.index) {
            summary.table = known.table.map(str::to_owned);
            summary.name = Some(order.index_name().to_owned());
            summary.key_columns_compared = Some((order.parts().len(), order.key_columns()));
        }
        // Images of whole keys within IMAGE_BYTES: equal images mean equal keys.
        let is_exact =
            order.is_whole() && order.image_bytes().is_some_and(|len| len <= IMAGE_BYTES);
        let ends_of = |page: PageNo| {
            let place = self.ends.binary_search_by_key(&page, |ends| ends.page).ok()?;
            self.ends.get(place)
        };
        for ends in &self.ends {
            let Some(next) = trees.next(ends.page).and_then(ends_of) else { continue };
            if ends.last > next.first || (is_exact && ends.last == next.first) {
                let what = format!("its last key is not less than the first of page {}", next.page);
                report.add(Area::Order, Some(ends.page), what);
            }
        }
        for (child, separator) in &self.separators {
            let Some(ends) = ends_of(*child) else { continue };
            if *separator > ends.first {
                let what = "its first key is less than its parent says";
                report.add(Area::Order, Some(*child), what);
            }
        }
    }
}

fn compare(
    order: &KeyOrder,
    (before, key): (&[u8], &[u8]),
    (page, heap_no): (PageNo, u16),
    report: &mut Report,
) {
    if before > key {
        let what = format!("the key of record heap_no {heap_no} is less than the one before");
        report.add(Area::Order, Some(page), what);
    } else if before == key && order.is_whole() {
        let what = format!("record heap_no {heap_no} has the same key as the one before");
        report.add(Area::Order, Some(page), what);
    }
}

/// The first bytes of a key; a shorter one is padded with zeroes.
fn image(key: &[u8]) -> Image {
    let mut image = [0; IMAGE_BYTES];
    for (to, from) in image.iter_mut().zip(key) {
        *to = *from;
    }
    image
}
