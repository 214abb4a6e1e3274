//! The report of a check, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use innoscan_format::page::SpaceHeader;
use innoscan_format::{IndexId, Lsn, PageNo, PageSize, SpaceId};
use serde_json::{Value, json};

/// The area that a finding concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// The file as a whole: its header, its length.
    File,
    /// One page by itself: checksum, number, tablespace, LSN.
    Page,
    /// The records of a page: chain, directory, heap.
    Records,
    /// The order of keys.
    Order,
    /// Links between siblings.
    Links,
    /// Levels, parents and children.
    Tree,
    /// Extent descriptors and their lists.
    Extents,
    /// File segments.
    Segments,
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Area::File => "file",
            Area::Page => "page",
            Area::Records => "records",
            Area::Order => "order",
            Area::Links => "links",
            Area::Tree => "tree",
            Area::Extents => "extents",
            Area::Segments => "segments",
        })
    }
}

/// A finding: one contradiction or damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The area of the finding.
    pub area: Area,
    /// The page, if the finding concerns one page.
    pub page: Option<PageNo>,
    /// The description of the contradiction.
    pub what: String,
    /// Whether the finding lies on a free page, on which no row depends.
    pub harmless: bool,
}

/// A summary of one index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSummary {
    /// The number of the index.
    pub id: IndexId,
    /// The table, as `db.table`, where several share the tablespace.
    pub table: Option<String>,
    /// The name of the index, if the table's definition has it.
    pub name: Option<String>,
    /// The root page.
    pub root: Option<PageNo>,
    /// Pages of each level, leaves first.
    pub level_pages: Vec<u64>,
    /// Records on the leaves, including delete-marked ones.
    pub records: u64,
    /// Delete-marked records on the leaves.
    pub delete_marked: u64,
    /// Whether children were compared with their parents' records.
    pub parents_compared: bool,
    /// The number of the key's first columns whose order was compared, and the number of all.
    pub key_columns_compared: Option<(usize, usize)>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The tablespace.
    pub space: SpaceId,
    /// The size of a page.
    pub page_size: PageSize,
    /// The bytes of a page in the file: fewer with ROW_FORMAT=COMPRESSED.
    pub page_bytes: u32,
    /// Pages in the file.
    pub pages: u64,
    /// Pages by type.
    pub kinds: BTreeMap<String, u64>,
    /// Free pages, whether zeroed or not.
    pub free_pages: u64,
    /// Pages that could not be read or whose checksum or identity is wrong, in file order.
    pub damaged_pages: Vec<PageNo>,
    /// The newest LSN, and the page that has it.
    pub newest: Option<(Lsn, PageNo)>,
    /// The indexes, by number.
    pub indexes: Vec<IndexSummary>,
    /// The findings, up to [`Report::MOST_FINDINGS`].
    pub findings: Vec<Finding>,
    /// The number of all findings, including those not listed.
    pub findings_total: u64,
    /// The number of findings on free pages.
    pub harmless_total: u64,
    /// Bytes read.
    pub read_bytes: u64,
}

impl Report {
    /// The most findings kept; more are only counted.
    pub const MOST_FINDINGS: usize = 1000;

    pub(super) fn new(header: &SpaceHeader, pages: u64) -> Report {
        Report {
            space: header.space,
            page_size: header.flags.page_size,
            page_bytes: header.page_format().physical_bytes,
            pages,
            kinds: BTreeMap::new(),
            free_pages: 0,
            damaged_pages: Vec::new(),
            newest: None,
            indexes: Vec::new(),
            findings: Vec::new(),
            findings_total: 0,
            harmless_total: 0,
            read_bytes: 0,
        }
    }

    /// Whether there are no findings except harmless ones.
    pub fn is_sound(&self) -> bool {
        self.findings_total == self.harmless_total
    }

    /// Adds a finding, or only counts it when there are too many.
    pub(super) fn add(&mut self, area: Area, page: Option<PageNo>, what: impl Into<String>) {
        self.add_finding(Finding { area, page, what: what.into(), harmless: false });
    }

    pub(super) fn add_finding(&mut self, finding: Finding) {
        self.findings_total += 1;
        self.harmless_total += u64::from(finding.harmless);
        if self.findings.len() < Report::MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "area": finding.area.to_string(),
                    "page": finding.page.map(|page| page.0),
                    "what": finding.what,
                    "harmless": finding.harmless,
                })
            })
            .collect();
        let indexes: Vec<Value> = self.indexes.iter().map(IndexSummary::to_json).collect();
        json!({
            "space": self.space.0,
            "page_size": self.page_size.bytes(),
            "physical_page_size": self.page_bytes,
            "pages": self.pages,
            "kinds": self.kinds,
            "free_pages": self.free_pages,
            "damaged_pages": self.damaged_pages.iter().map(|page| page.0).collect::<Vec<u32>>(),
            "newest_lsn": self.newest.map(|(lsn, _)| lsn.0),
            "newest_page": self.newest.map(|(_, page)| page.0),
            "indexes": indexes,
            "sound": self.is_sound(),
            "findings": findings,
            "findings_total": self.findings_total,
            "harmless_total": self.harmless_total,
            "read_bytes": self.read_bytes,
        })
    }
}

impl IndexSummary {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id.0,
            "table": self.table,
            "name": self.name,
            "root": self.root.map(|page| page.0),
            "level_pages": self.level_pages,
            "records": self.records,
            "delete_marked": self.delete_marked,
            "parents_compared": self.parents_compared,
            "key_columns_compared": self.key_columns_compared.map(|(compared, _)| compared),
            "key_columns": self.key_columns_compared.map(|(_, all)| all),
        })
    }
}

impl fmt::Display for IndexSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "index {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " `{name}`")?;
        }
        if let Some(table) = &self.table {
            write!(f, " of {table}")?;
        }
        if let Some(root) = self.root {
            write!(f, ", root page {root}")?;
        }
        let levels: Vec<String> = self.level_pages.iter().rev().map(u64::to_string).collect();
        write!(f, ", pages by level {}", levels.join(" > "))?;
        write!(f, ", {} records", self.records)?;
        if self.delete_marked > 0 {
            write!(f, " ({} delete-marked)", self.delete_marked)?;
        }
        if !self.parents_compared && self.level_pages.len() > 1 {
            f.write_str("; children not compared with parents (no definition)")?;
        }
        match self.key_columns_compared {
            Some((compared, all)) if compared < all => {
                write!(f, "; order of keys compared in {compared} of {all} columns")
            }
            Some(_) => Ok(()),
            None => f.write_str("; order of keys not compared"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.area)?;
        if let Some(page) = self.page {
            write!(f, "page {page}: ")?;
        }
        f.write_str(&self.what)?;
        if self.harmless {
            f.write_str(" (a free page: nothing depends on it)")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> =
            self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        writeln!(
            f,
            "space {}, {} pages of {} bytes, {} free: {}",
            self.space,
            self.pages,
            self.page_bytes,
            self.free_pages,
            kinds.join(", ")
        )?;
        if let Some((lsn, page)) = self.newest {
            writeln!(f, "newest change: LSN {lsn}, page {page}")?;
        }
        for index in &self.indexes {
            writeln!(f, "{index}")?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let listed = self.findings.len() as u64;
        if listed < self.findings_total {
            writeln!(f, "... and {} more", self.findings_total - listed)?;
        }
        match (self.findings_total, self.findings_total - self.harmless_total) {
            (0, _) => writeln!(f, "sound"),
            (all, 0) => writeln!(f, "sound; {all} harmless findings on free pages"),
            (_, bad) => {
                writeln!(f, "DAMAGED: {bad} findings, {} damaged pages", self.damaged_pages.len())
            }
        }
    }
}
