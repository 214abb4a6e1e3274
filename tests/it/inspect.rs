//! `inspect` has something to say of every page, damaged or not.

use innoscan_format::PageNo;
use innoscan_tools::check::Known;
use innoscan_tools::inspect::{self, InspectOptions};

use crate::check::{Head, def_of, index_of, layout_of};
use crate::corpus;

#[test]
fn every_page_is_described() {
    for table in corpus::tables() {
        let Ok(bytes) = std::fs::read(table.ibd()) else { continue };
        if bytes.len() > 1 << 20 {
            continue;
        }
        let header = Head::parse(&bytes, &table.page_keys()).unwrap();
        let def = def_of(&bytes, &header, &table);
        let layout = def.as_ref().and_then(|def| layout_of(&bytes, &header, def).ok());
        let known = match (&def, &layout) {
            (Some(def), Some(layout)) => {
                Some(Known { table: None, def, layout, index: index_of(&bytes, &header) })
            }
            _ => None,
        };
        for (page_no, page) in
            bytes.chunks_exact(header.page_context().physical_bytes()).enumerate()
        {
            let page_no = PageNo(page_no as u32);
            let options = InspectOptions::default();
            let text = inspect::page(
                page,
                &header,
                header.page_context(),
                page_no,
                known.as_slice(),
                options,
            );
            let damaged = text.lines().any(|line| line.trim_start().starts_with('!'));
            assert!(!damaged, "{} page {page_no}\n{text}", table.file().display());
        }
    }
}
