//! A definition that the user gives (`--schema`), held against the table's files before anything
//! else is done with it: by another table's, rows would be read that never were.

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::{IndexPage, Page};
use innoscan_format::schema::TableDef;
use innoscan_format::types::Codec;
use innoscan_format::{PageNo, tree};
use innoscan_io::Direct;

use crate::space::{Space, SpaceReader};
use crate::{Error, Result, Table, TableFile};

/// Pages looked at on each level of a tree.
const PAGES_OF_A_LEVEL: usize = 8;
/// What a user whose definition does not fit can do.
const REMEDY: &str = "is the CREATE TABLE of --schema that of this table?";

/// Requires that the definition fits some pages of each of the table's files.
///
/// # Errors
/// A refusal that names the first contradiction. What is damaged is left to whoever reads it.
pub fn check(table: &Table) -> Result<()> {
    for file in &table.files {
        check_file(&table.def_of(file), file).map_err(|error| error.in_file(&file.path))?;
    }
    Ok(())
}

fn check_file(def: &TableDef, file: &TableFile) -> Result<()> {
    let space = Space::open(&file.path, Direct::Off)?;
    if space.header().require_readable().is_err() {
        return Ok(());
    }
    let root = file.clustered_root.unwrap_or(space.first_root());
    let mut reader = SpaceReader::new(space)?;
    let (_, layout) = reader.clustered(def, root)?;
    let mut values = Values::new(def, &layout);
    let mut level = vec![root];
    let mut levels_left = reader.with_page(root, |page| Ok(IndexPage::parse(page)?.level()))?;
    while !level.is_empty() {
        let mut below = Vec::new();
        for page_no in level {
            let bytes = reader.read_page(page_no)?;
            let parsed = Page::parse(&bytes, reader.space().format(), page_no);
            if let Ok(page) = parsed.and_then(IndexPage::parse) {
                look_into(&page, &layout, &mut values, &mut below)?;
            }
        }
        if levels_left == 0 {
            break;
        }
        levels_left -= 1;
        let apart = below.len().div_ceil(PAGES_OF_A_LEVEL).max(1);
        level = below.into_iter().step_by(apart).collect();
    }
    values.check_charsets()
}

fn look_into(
    page: &IndexPage<'_>,
    layout: &Layout,
    values: &mut Values,
    below: &mut Vec<PageNo>,
) -> Result<()> {
    layout
        .check_fit(page, &mut values.fields)
        .map_err(|error| Error::refused(error.to_string(), REMEDY))?;
    if page.is_leaf() {
        return values.check(page, layout);
    }
    // Those named before damage are as good as any.
    let _ = tree::children(page, layout, below);
    Ok(())
}

/// The values of the rows that were looked at.
struct Values {
    fields: Fields,
    columns: Vec<Column>,
    text: Vec<u8>,
}

struct Column {
    name: String,
    /// `None`: of a type that cannot be read, which is said elsewhere.
    codec: Option<Codec>,
    /// Texts beyond ASCII, by whether the charset has all their characters.
    well_formed: u64,
    ill_formed: u64,
}

impl Values {
    fn new(def: &TableDef, layout: &Layout) -> Values {
        let columns = layout.columns().filter_map(|place| def.columns.get(place));
        let columns = columns.map(|column| Column {
            name: column.name.clone(),
            codec: Codec::new(&column.ty, def.server).ok(),
            well_formed: 0,
            ill_formed: 0,
        });
        Values { fields: Fields::default(), columns: columns.collect(), text: Vec::new() }
    }

    /// Requires each value to be one of its column's type.
    fn check(&mut self, page: &IndexPage<'_>, layout: &Layout) -> Result<()> {
        for record in page.records() {
            let Ok(record) = record else { return Ok(()) };
            if !record.is_row() {
                continue;
            }
            let Ok(row) = layout.locate(&record, &mut self.fields) else { continue };
            for (place, column) in self.columns.iter_mut().enumerate() {
                let (Ok(Located::Inline(stored)), Some(codec)) = (row.get(place), &column.codec)
                else {
                    continue;
                };
                self.text.clear();
                match codec.write_utf8(stored, &mut self.text) {
                    Err(error) => {
                        let error = record.locate_error(error.at_column(&column.name));
                        return Err(misfit(&page.page().locate_error(error)));
                    }
                    Ok(_) if stored.is_ascii() => {}
                    Ok(0) => column.well_formed += 1,
                    Ok(_) => column.ill_formed += 1,
                }
            }
        }
        Ok(())
    }

    /// Requires that most texts beyond ASCII are well-formed in their column's charset. (Old
    /// servers let some through that are not.)
    fn check_charsets(&self) -> Result<()> {
        let is_other = |column: &&Column| column.ill_formed > column.well_formed;
        match self.columns.iter().find(is_other) {
            None => Ok(()),
            Some(column) => Err(misfit(&format!(
                "{} texts of the column `{}` have characters that its charset does not have",
                column.ill_formed, column.name
            ))),
        }
    }
}

fn misfit(why: &dyn std::fmt::Display) -> Error {
    Error::refused(format!("the definition does not fit the file: {why}"), REMEDY)
}
