//! The nearest keys around a damaged page, which show what was lost.

use innoscan_format::PageNo;
use innoscan_format::locate::Fields;
use innoscan_format::page::{self, IndexPage, Scratch};

use super::task::SpaceContext;

/// An end of a leaf.
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
