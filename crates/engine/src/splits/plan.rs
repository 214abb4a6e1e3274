//! Choosing where a table is divided: by the upper levels of its trees, down to the first level that has
//! enough pages.

use innoscan_format::PageNo;
use innoscan_format::layout::Layout;
use innoscan_format::page::{self, IndexPage, Scratch};
use innoscan_format::schema::TableDef;
use innoscan_format::tree;
use innoscan_format::types::Codec;
use innoscan_io::Direct;

use super::{Part, Split, file_name};
use crate::space_reader::SpaceReader;
use crate::{Result, Table, TableFile};

/// Subtrees wanted for each split.
const SUBTREES_A_SPLIT: u64 = 16;
/// Subtrees of a file that are read to estimate the size of all.
const SAMPLES: usize = 4;

/// A subtree of a file's clustered index.
struct Subtree {
    file: usize,
    /// The path of pages to the subtree, from the root on; the last one is its top.
    path: Vec<PageNo>,
    /// The least key that the parent allows.
    key: Option<Vec<String>>,
    leaves: f64,
    rows: f64,
}

/// The subtrees of a file, and the file's stamp from before they were read.
struct Divided {
    stamp: String,
    page_bytes: u64,
    /// The range of the file's subtrees among those of all files.
    first: usize,
    end: usize,
}

pub(super) fn splits(table: &Table, count: usize) -> Result<Vec<Split>> {
    let count = count.max(1);
    let wanted = SUBTREES_A_SPLIT.saturating_mul(count as u64);
    let table_bytes = table.size_bytes().max(1);
    let (mut subtrees, mut files) = (Vec::new(), Vec::new());
    for (number, file) in table.files.iter().enumerate() {
        let stamp = file.stamp()?.to_string();
        let file_bytes = std::fs::metadata(&file.path).map_or(table_bytes, |found| found.len());
        let share = u128::from(wanted) * u128::from(file_bytes) / u128::from(table_bytes);
        let first = subtrees.len();
        let wanted = usize::try_from(share).unwrap_or(usize::MAX);
        let page_bytes = divide(table, number, wanted, &mut subtrees)
            .map_err(|error| error.in_file(&file.path))?;
        files.push(Divided { stamp, page_bytes, first, end: subtrees.len() });
    }
    let all: f64 = subtrees.iter().map(|subtree| subtree.leaves).sum();
    let mut splits = Vec::new();
    let (mut begin, mut before) = (0, 0.0);
    for (at, subtree) in subtrees.iter().enumerate() {
        before += subtree.leaves;
        let is_full = before >= all * (splits.len() + 1) as f64 / count as f64;
        if is_full && splits.len() + 1 < count || at + 1 == subtrees.len() {
            splits.push(split(table, &files, &subtrees, begin..at + 1));
            begin = at + 1;
        }
    }
    Ok(splits)
}

/// A split made of adjacent subtrees.
fn split(
    table: &Table,
    files: &[Divided],
    subtrees: &[Subtree],
    range: std::ops::Range<usize>,
) -> Split {
    let mut parts = Vec::new();
    let (mut rows, mut bytes) = (0.0, 0.0);
    for (number, file) in files.iter().enumerate() {
        let (first, end) = (range.start.max(file.first), range.end.min(file.end));
        let Some(inside) = subtrees.get(first..end).filter(|inside| !inside.is_empty()) else {
            continue;
        };
        rows += inside.iter().map(|subtree| subtree.rows).sum::<f64>();
        let leaves: f64 = inside.iter().map(|subtree| subtree.leaves).sum();
        bytes += leaves * file.page_bytes as f64;
        let path = |subtree: Option<&Subtree>, is_edge: bool| match subtree {
            Some(subtree) if !is_edge => subtree.path.clone(),
            _ => Vec::new(),
        };
        parts.push(Part {
            number,
            file: table.files.get(number).map(file_name).unwrap_or_default(),
            stamp: file.stamp.clone(),
            from: path(inside.first(), first == file.first),
            to: path(inside.last(), end == file.end),
        });
    }
    let lower = subtrees.get(range.start).and_then(|first| first.key.clone());
    let last = range.end.checked_sub(1).and_then(|last| subtrees.get(last));
    let next = subtrees.get(range.end);
    let upper = next.filter(|next| last.is_some_and(|last| last.file == next.file));
    Split {
        table: table.qualified_name(),
        parts,
        rows: rows.round() as u64,
        bytes: bytes.round() as u64,
        lower_key: lower,
        upper_key: upper.and_then(|next| next.key.clone()),
    }
}

/// Adds a file's subtrees, at least `wanted` if the file has that many; returns the bytes of its pages.
fn divide(table: &Table, number: usize, wanted: usize, out: &mut Vec<Subtree>) -> Result<u64> {
    let Some(file) = table.files.get(number) else { return Ok(0) };
    let mut tree = Tree::open(table, file)?;
    let root = Subtree { file: number, path: vec![tree.root], key: None, leaves: 1.0, rows: 0.0 };
    let mut level = tree.level(tree.root)?;
    let mut subtrees = vec![root];
    while level > 0 && subtrees.len() < wanted {
        let mut below = Vec::new();
        for subtree in &subtrees {
            tree.children(subtree, level, &mut below)?;
        }
        subtrees = below;
        level -= 1;
    }
    let apart = subtrees.len().div_ceil(SAMPLES).max(1);
    let (mut samples, mut leaves, mut rows) = (0.0, 0.0, 0.0);
    for subtree in subtrees.iter().step_by(apart) {
        let (some_leaves, some_rows) = tree.estimate(subtree, level)?;
        samples += 1.0;
        leaves += some_leaves;
        rows += some_rows;
    }
    for subtree in &mut subtrees {
        (subtree.leaves, subtree.rows) =
            (leaves / f64::max(samples, 1.0), rows / f64::max(samples, 1.0));
    }
    out.append(&mut subtrees);
    Ok(tree.reader.space().page_bytes() as u64)
}

/// A file's clustered index, read page by page.
struct Tree {
    reader: SpaceReader,
    root: PageNo,
    layout: Layout,
    /// The codecs of the key's columns; `None` where the key cannot be shown.
    key: Option<Vec<Codec>>,
}

impl Tree {
    fn open(table: &Table, file: &TableFile) -> Result<Tree> {
        let space = file.open(Direct::Off)?;
        space.require_readable(file.clustered_root)?;
        let root = file.clustered_root.unwrap_or(space.first_root());
        let mut reader = SpaceReader::new(space)?;
        let def = &*table.def_of(file);
        let layout = reader.clustered(def, root)?.layout;
        let key = key_codecs(def, &layout);
        Ok(Tree { reader, root, layout, key })
    }

    fn level(&mut self, page: PageNo) -> Result<u16> {
        self.reader.with_page(page, |page| Ok(IndexPage::parse(page)?.level()))
    }

    /// Adds the children of a subtree's top page.
    fn children(&mut self, parent: &Subtree, level: u16, out: &mut Vec<Subtree>) -> Result<()> {
        let Some(&top) = parent.path.last() else { return Ok(()) };
        let bytes = self.reader.read_page(top)?;
        let mut scratch = Scratch::default();
        let page = page::open(&bytes, self.reader.space().page_context(), top, &mut scratch)?;
        let page = IndexPage::parse(page)?;
        if page.level() != level {
            let what = format!("a page of level {} on level {level}", page.level());
            let error = innoscan_format::Error::corrupt(what);
            return Err(page.page().locate_error(error).into());
        }
        let mut children = Vec::new();
        tree::children(&page, &self.layout, &mut children)?;
        for (record, child) in page.records().zip(children) {
            let record = record?;
            let key = match record.is_min_rec() {
                // A first child begins where its parent does.
                true => parent.key.clone(),
                false => self.key_text(&tree::key_fields(&record, &self.layout)?),
            };
            let path = parent.path.iter().copied().chain([child]).collect();
            out.push(Subtree { path, key, file: parent.file, leaves: 1.0, rows: 0.0 });
        }
        Ok(())
    }

    /// The estimated leaves and rows of a subtree, by one path down its middle.
    fn estimate(&mut self, subtree: &Subtree, level: u16) -> Result<(f64, f64)> {
        let mut leaves = 1.0;
        let Some(&(mut page_no)) = subtree.path.last() else { return Ok((0.0, 0.0)) };
        for _ in 0..level {
            let layout = &self.layout;
            let (children, middle) = self.reader.with_page(page_no, |page| {
                let mut children = Vec::new();
                tree::children(&IndexPage::parse(page)?, layout, &mut children)?;
                let middle = children.get(children.len() / 2).copied().unwrap_or(PageNo::NULL);
                Ok((children.len(), middle))
            })?;
            leaves *= children as f64;
            page_no = middle;
        }
        let rows = self.reader.with_page(page_no, |page| Ok(IndexPage::parse(page)?.n_recs()))?;
        Ok((leaves, leaves * f64::from(rows)))
    }

    fn key_text(&self, fields: &[&[u8]]) -> Option<Vec<String>> {
        let mut texts = Vec::new();
        for (codec, stored) in self.key.as_ref()?.iter().zip(fields) {
            let mut text = Vec::new();
            codec.write_utf8(stored, &mut text).ok()?;
            texts.push(String::from_utf8_lossy(&text).into_owned());
        }
        Some(texts)
    }
}

fn key_codecs(def: &TableDef, layout: &Layout) -> Option<Vec<Codec>> {
    let columns: Vec<usize> = layout.columns().collect();
    let codec = |(place, _): (Option<usize>, Option<usize>)| {
        let column = def.columns.get(*columns.get(place?)?)?;
        Codec::new(&column.ty, def.server).ok()
    };
    layout.key_parts().map(codec).collect()
}
