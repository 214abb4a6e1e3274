#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    missing_docs
)]
use innoscan_format::page::*;
use innoscan_format::*;
use std::collections::BTreeMap;
fn walk(dir: &std::path::Path, out: &mut Vec<std::path::PathBuf>) {
    let Ok(rd) = std::fs::read_dir(dir) else { return };
    for e in rd {
        let p = e.unwrap().path();
        if p.is_dir() {
            walk(&p, out)
        } else if p.extension().is_some_and(|x| x == "ibd") {
            out.push(p)
        }
    }
}
fn main() {
    for dir in std::env::args().skip(1) {
        let mut files = vec![];
        walk(dir.as_ref(), &mut files);
        files.sort();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut algs: BTreeMap<String, usize> = BTreeMap::new();
        let mut sdi = 0;
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        let mut errors = 0;
        for f in &files {
            let data = std::fs::read(f).unwrap();
            let n = data.len().min(SpaceHeader::MOST_BYTES);
            let h = match SpaceHeader::parse(&data[..n]) {
                Ok(h) => h,
                Err(e) => {
                    println!("{} HEADER {e}", f.display());
                    errors += 1;
                    continue;
                }
            };
            if let Err(e) = h.require_readable() {
                *refused.entry(e.to_string().chars().take(40).collect()).or_default() += 1;
                continue;
            }
            let format = h.page_format();
            let ps = format.page_size.len();
            if data.len() / ps < h.size_pages as usize {
                println!("{} size {} fsp {}", f.display(), data.len() / ps, h.size_pages);
            }
            let page = |no: PageNo| &data[no.0 as usize * ps..][..ps];
            for no in 0..(data.len() / ps) as u32 {
                let p = match Page::parse(page(PageNo(no)), format, PageNo(no)) {
                    Ok(p) => p,
                    Err(e) => {
                        errors += 1;
                        if errors < 20 {
                            println!("{} {e}", f.display());
                        }
                        continue;
                    }
                };
                *kinds.entry(p.kind().to_string()).or_default() += 1;
                if p.kind() != PageKind::Zeroes {
                    *algs
                        .entry(
                            checksum_algorithm(page(PageNo(no)), format.full_crc32)
                                .unwrap()
                                .to_string(),
                        )
                        .or_default() += 1;
                }
                if p.kind().is_index() {
                    let r = IndexPage::parse(p).and_then(|ip| {
                        ip.check_directory()?;
                        Ok(())
                    });
                    if let Err(e) = r {
                        if !e.to_string().contains("x") {
                            println!("{} {e}", f.display());
                        } else {
                            println!("{} idx {e}", f.display());
                        }
                        errors += 1;
                    }
                }
                if p.kind() == PageKind::Inode {
                    let s = InodePage::parse(p).unwrap().segments().unwrap();
                    assert!(!s.is_empty());
                }
                if matches!(p.kind(), PageKind::FspHeader | PageKind::Xdes) {
                    for e in ExtentsPage::parse(p).unwrap().extents() {
                        e.unwrap();
                    }
                }
            }
            if let Some(root) = h.sdi_root {
                let mut r = sdi::SdiReader::new(format, root).unwrap();
                loop {
                    let no = match r.need() {
                        Need::Pages(p) => p[0],
                        Need::Done => break,
                    };
                    if let Err(e) = r.feed(no, page(no)) {
                        println!("{} SDI {e}", f.display());
                        errors += 1;
                        break;
                    }
                }
                let o = r.finish();
                sdi += o.iter().filter(|o| o.is_table()).count();
                for o in o {
                    serde_json::from_slice::<serde_json::Value>(&o.json).unwrap();
                }
            } else if h.flags.sdi {
                println!("{} no sdi root", f.display());
            }
        }
        println!(
            "{dir}: files {} sdi {sdi} errors {errors}\n {kinds:?}\n {algs:?}\n {refused:?}",
            files.len()
        );
    }
}
