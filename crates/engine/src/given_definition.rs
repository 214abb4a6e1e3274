//! The check of a definition given by the user (`--schema`) against the table's files before anything
//! else is read: with another table's definition, wrong rows would be read.

use std::path::Path;

use innoscan_format::fit::MISFIT;
use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::{self, IndexPage, Scratch};
use innoscan_format::schema::TableDef;
use innoscan_format::types::Codec;
use innoscan_format::{Cause, Error as FormatError, PageNo, tree};
use innoscan_io::Direct;

use crate::space_reader::SpaceReader;
use crate::{Error, Remedy, Result, Table, TableFile};

/// The most pages read on each level of a tree.
const PAGES_OF_A_LEVEL: usize = 8;

/// Requires that a definition given by the user fits some pages of each of the table's files.
///
/// # Errors
/// The definition contradicts a page. Damaged pages are ignored here; the later scan reports them.
pub fn check(table: &Table) -> Result<()> {
    for file in table.files.iter().filter(|_| table.is_definition_given) {
        check_file(&table.def_of(file), file).map_err(|error| error.in_file(&file.path))?;
    }
    Ok(())
}

impl Table {
    /// The table in an `.ibd` file, with a definition that the caller provides. The file's directory is not
    /// checked: the caller must know that no server writes to the file.
    ///
    /// # Errors
    /// The file cannot be read, or the definition does not fit its pages.
    pub fn of_file(path: impl AsRef<Path>, def: TableDef) -> Result<Table> {
        let files = vec![TableFile::whole(path.as_ref().to_owned())];
        let table = Table { is_definition_given: true, ..Table::new(def, files) };
        check(&table)?;
        Ok(table)
    }
}

fn check_file(def: &TableDef, file: &TableFile) -> Result<()> {
    let space = file.open(Direct::Off)?;
    if space.require_readable(file.clustered_root).is_err() {
        return Ok(());
    }
    let file_has_own = space.header().sdi_root.is_some();
    let remedy = || Remedy::CheckDefinition { file_has_own };
    let root = file.clustered_root.unwrap_or(space.first_root());
    check_tree(def, root, &mut SpaceReader::new(space)?).map_err(|error| {
        match error.as_format().map(FormatError::cause) {
            Some(Cause::Schema(_)) => Error::refused(misfit(&error), remedy()),
            Some(Cause::Corrupt { what, .. }) if what.starts_with(MISFIT) => {
                Error::refused(error.to_string(), remedy())
            }
            _ => error,
        }
    })
}

fn check_tree(def: &TableDef, root: PageNo, reader: &mut SpaceReader) -> Result<()> {
    let index = reader.clustered(def, root)?;
    let layout = &index.layout;
    let mut values = Values::new(def, layout);
    let mut scratch = Scratch::default();
    let mut level = vec![root];
    let mut levels_left = index.root_page()?.level();
    while !level.is_empty() {
        let mut below = Vec::new();
        for page_no in level {
            let bytes = reader.read_page(page_no)?;
            let parsed = page::open(&bytes, reader.space().page_context(), page_no, &mut scratch);
            if let Ok(page) = parsed.and_then(IndexPage::parse) {
                check_page(&page, layout, &mut values, &mut below)?;
            }
        }
        if levels_left == 0 {
            break;
        }
        levels_left -= 1;
        let apart = below.len().div_ceil(PAGES_OF_A_LEVEL).max(1);
        level = below.into_iter().step_by(apart).collect();
    }
    Ok(values.check_charsets()?)
}

fn check_page(
    page: &IndexPage<'_>,
    layout: &Layout,
    values: &mut Values,
    below: &mut Vec<PageNo>,
) -> Result<()> {
    layout.check_fit(page, &mut values.fields)?;
    if page.is_leaf() {
        return Ok(values.check(page, layout)?);
    }
    // Children named before damage are still valid.
    let _ = tree::children(page, layout, below);
    Ok(())
}

/// The values of the rows that were checked.
struct Values {
    fields: Fields,
    columns: Vec<Column>,
    text: Vec<u8>,
}

struct Column {
    name: String,
    /// The column's codec; `None` for a type that cannot be read, which is reported elsewhere, and for
    /// compressed values.
    codec: Option<Codec>,
    /// The number of texts beyond ASCII, by whether the charset has all their characters.
    well_formed: u64,
    ill_formed: u64,
}

impl Column {
    fn check(&mut self, value: Located<'_>, text: &mut Vec<u8>) -> innoscan_format::Result<()> {
        let (Located::Inline(stored), Some(codec)) = (value, &self.codec) else { return Ok(()) };
        let ill_formed = codec.write_utf8(stored, text)?;
        // Single-byte charsets have bytes without a character, and texts contain them.
        if !stored.is_ascii() && codec.charset().max_len() > 1 {
            self.well_formed += u64::from(ill_formed == 0);
            self.ill_formed += u64::from(ill_formed > 0);
        }
        Ok(())
    }
}

impl Values {
    fn new(def: &TableDef, layout: &Layout) -> Values {
        let columns = layout.columns().filter_map(|place| def.columns.get(place));
        let columns = columns.map(|column| Column {
            name: column.name.clone(),
            codec: Codec::new(&column.ty, def.server).ok().filter(|_| !column.compressed),
            well_formed: 0,
            ill_formed: 0,
        });
        Values { fields: Fields::default(), columns: columns.collect(), text: Vec::new() }
    }

    /// Requires each value to be valid for its column's type.
    fn check(&mut self, page: &IndexPage<'_>, layout: &Layout) -> innoscan_format::Result<()> {
        for record in page.records() {
            let Ok(record) = record else { return Ok(()) };
            if !record.is_row() {
                continue;
            }
            let Ok(row) = layout.locate(&record, &mut self.fields) else { continue };
            for (place, column) in self.columns.iter_mut().enumerate() {
                self.text.clear();
                let checked = row.get(place).and_then(|value| column.check(value, &mut self.text));
                checked.map_err(|error| {
                    let error = record.locate_error(error.at_column(&column.name));
                    FormatError::corrupt(misfit(&page.page().locate_error(error)))
                })?;
            }
        }
        Ok(())
    }

    /// Requires that most texts beyond ASCII are well-formed in their column's charset. (Old
    /// servers accepted some that are not.)
    fn check_charsets(&self) -> innoscan_format::Result<()> {
        let is_other = |column: &&Column| column.ill_formed > column.well_formed;
        match self.columns.iter().find(is_other) {
            None => Ok(()),
            Some(column) => {
                let texts = format!("{} of the texts looked at", column.ill_formed);
                let why = format!("{texts} are none in the column's charset");
                Err(FormatError::corrupt(misfit(&why)).at_column(&column.name))
            }
        }
    }
}

fn misfit(why: &dyn std::fmt::Display) -> String {
    format!("{MISFIT}: {why}")
}
