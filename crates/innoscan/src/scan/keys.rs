//! Keys as text, to say what was lost: the last before a damaged page and the first after it.

use innoscan_format::PageNo;
use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located, Row};
use innoscan_format::page::{self, IndexPage, Scratch};
use innoscan_format::schema::{IndexKind, IndexSource, TableDef};
use innoscan_format::types::Codec;

use super::decode::SpaceContext;

/// The columns of the primary key; none when the table has none.
pub(super) struct KeyColumns {
    /// Place among the layout's columns, and how the value reads.
    parts: Vec<(usize, Codec)>,
}

impl KeyColumns {
    /// Of a scan whose leaves do not come in key order, where the nearest key says nothing.
    pub fn none() -> KeyColumns {
        KeyColumns { parts: Vec::new() }
    }

    pub fn of(def: &TableDef, layout: &Layout) -> KeyColumns {
        let primary = def.indexes.iter().find(|index| index.kind == IndexKind::Primary);
        let parts = primary.map(|index| index.parts.as_slice()).unwrap_or_default();
        let part_of = |source: &IndexSource| {
            let IndexSource::Column(column) = source else { return None };
            let place = layout.columns().position(|stored| stored == *column)?;
            let codec = Codec::new(&def.columns.get(*column)?.ty, def.server).ok()?;
            Some((place, codec))
        };
        let parts: Option<Vec<_>> = parts.iter().map(|part| part_of(&part.source)).collect();
        KeyColumns { parts: parts.unwrap_or_default() }
    }

    /// A row's key, its parts separated by commas.
    fn text(&self, row: Row<'_, '_>) -> Option<String> {
        let mut text = Vec::new();
        for (place, codec) in &self.parts {
            if !text.is_empty() {
                text.extend_from_slice(b", ");
            }
            match row.get(*place).ok()? {
                Located::Inline(bytes) | Located::Default(bytes) => {
                    codec.write_utf8(bytes, &mut text).ok()?;
                }
                Located::Null | Located::External { .. } => return None,
            }
        }
        (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

/// Which end of a leaf.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// The key of a leaf's first or last row; `None` where it has none that can be read.
pub(super) fn edge(
    space: &SpaceContext,
    page_no: PageNo,
    bytes: &[u8],
    end: End,
) -> Option<String> {
    let mut scratch = Scratch::default();
    let page = page::open(bytes, &space.page_context, page_no, &mut scratch);
    let page = page.and_then(IndexPage::parse).ok()?;
    let mut fields = Fields::default();
    let mut found = None;
    for record in page.records().map_while(Result::ok).filter(|record| record.is_row()) {
        let Ok(row) = space.layout.locate(&record, &mut fields) else { continue };
        found = space.keys.text(row).or(found);
        if end == End::First && found.is_some() {
            break;
        }
    }
    found
}
