//! What the first pages of a table's file say: read at once, and kept in place of the pages.

use std::path::Path;

use innoscan_format::PageNo;
use innoscan_format::page::{self, FspFlags, IndexPage, Scratch};
use innoscan_format::read::SdiObject;
use innoscan_format::schema::{TableDef, from_sdi_documents};
use innoscan_io::Direct;

use crate::space::Space;
use crate::{Error, Result};

/// What is known of a tablespace that can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileHead {
    /// Bytes of the file.
    pub size_bytes: u64,
    /// What its first page says of all of them.
    pub flags: FspFlags,
    /// The root of the index that was made first, where it is a sound page among the first bytes.
    pub root: Option<RootHead>,
}

/// What is known of the root of a clustered index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootHead {
    /// Where it is.
    pub page_no: PageNo,
    /// Whether its rows are of one of the formats since MySQL 5.0.
    pub is_compact: bool,
    /// The last value of its `AUTO_INCREMENT` column, of MariaDB 10.2.4 and later.
    pub last_auto_increment: Option<u64>,
}

impl FileHead {
    /// Opens a file and reads its head, and the definition of its table where it holds one.
    ///
    /// # Errors
    /// When it cannot be read, or is not of those that this version reads.
    pub fn read(path: &Path) -> Result<(FileHead, Option<TableDef>)> {
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(path);
        let space = Space::open(path, Direct::Off)?;
        space.header().require_readable().map_err(in_file)?;
        let objects = space.read_sdi()?;
        let def = match objects.iter().any(SdiObject::is_table) {
            true => Some(from_sdi_documents(&objects).map_err(in_file)?),
            false => None,
        };
        Ok((FileHead::of(&space), def))
    }

    /// Of a tablespace that is open and can be read.
    pub fn of(space: &Space) -> FileHead {
        let file = space.file();
        let page_no = space.first_root();
        let page_bytes = space.page_context().physical_bytes();
        let start = page_no.0 as usize * page_bytes;
        let root = file.head().get(start..start + page_bytes);
        let parse = |page| RootHead::parse(page, space, page_no).ok();
        FileHead {
            size_bytes: file.size_bytes(),
            flags: space.header().flags,
            root: root.and_then(parse),
        }
    }
}

impl RootHead {
    /// Of the page itself.
    pub fn parse(page: &[u8], space: &Space, page_no: PageNo) -> innoscan_format::Result<RootHead> {
        let mut scratch = Scratch::default();
        let page = page::open(page, space.page_context(), page_no, &mut scratch)?;
        let page = IndexPage::parse(page)?;
        Ok(RootHead {
            page_no,
            is_compact: page.is_compact(),
            last_auto_increment: page.last_auto_increment(),
        })
    }
}
