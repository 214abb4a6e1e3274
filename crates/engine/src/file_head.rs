//! The contents of the first pages of a table's file, which are read at once and kept parsed.

use std::path::Path;

use innoscan_format::page::{self, FspFlags, IndexPage, Scratch};
use innoscan_format::read::SdiObject;
use innoscan_format::schema::{TableDef, from_sdi_documents};
use innoscan_format::{IndexId, PageNo};
use innoscan_io::Direct;

use crate::keys::Keys;
use crate::space::Space;
use crate::{Error, Result};

/// The head of a readable tablespace file.
#[derive(Clone, Copy, Debug)]
pub struct FileHead {
    /// The size of the file in bytes.
    pub size_bytes: u64,
    /// The flags from the first page, which hold for all pages.
    pub flags: FspFlags,
    /// The root of the first index, if it is a sound page within the bytes read.
    pub root: Option<RootHead>,
}

/// The parsed root page of a clustered index.
#[derive(Clone, Copy, Debug)]
pub struct RootHead {
    /// The page number of the root.
    pub page_no: PageNo,
    /// The id of the index.
    pub index: IndexId,
    /// Whether the rows are in one of the formats since MySQL 5.0.
    pub is_compact: bool,
    /// The last value of the `AUTO_INCREMENT` column, from MariaDB 10.2.4 on.
    pub last_auto_increment: Option<u64>,
}

impl FileHead {
    /// Opens a file and reads its head, and the table's definition if the file has one.
    ///
    /// # Errors
    /// The file cannot be read, or has a form that this version does not read.
    pub fn read(path: &Path, keys: &Keys) -> Result<(FileHead, Option<TableDef>)> {
        let in_file = |error: innoscan_format::Error| Error::from(error).in_file(path);
        let space = Space::open(path, Direct::Off, keys)?;
        space.require_readable(None)?;
        let objects = space.read_sdi()?;
        let def = match objects.iter().any(SdiObject::is_table) {
            true => Some(from_sdi_documents(&objects).map_err(in_file)?),
            false => None,
        };
        Ok((FileHead::of(&space), def))
    }

    /// The head of an open tablespace that can be read.
    pub fn of(space: &Space) -> FileHead {
        let file = space.file();
        let page_no = space.first_root();
        let page_bytes = space.page_bytes();
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
    /// Parses the root from its page.
    pub fn parse(page: &[u8], space: &Space, page_no: PageNo) -> innoscan_format::Result<RootHead> {
        let mut scratch = Scratch::default();
        let page = page::open(page, space.page_context(), page_no, &mut scratch)?;
        let page = IndexPage::parse(page)?;
        Ok(RootHead {
            page_no,
            index: page.index_id(),
            is_compact: page.is_compact(),
            last_auto_increment: page.last_auto_increment(),
        })
    }
}
