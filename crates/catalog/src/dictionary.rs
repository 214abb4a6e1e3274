//! InnoDB's own dictionary in the system tablespace: the only record of foreign keys and index roots
//! of MySQL 5.x and MariaDB.
//!
//! The rows are interpreted by [`innoscan_format::schema::dictionary`].

use std::sync::Arc;

use innoscan_engine::keys::Keys;
use innoscan_engine::small_tree::for_each_row_or_deleted;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::system_tablespace::SystemTablespace;
use innoscan_engine::undo_logs::UndoLogs;
use innoscan_engine::{Error, Result};
use innoscan_format::PageNo;
use innoscan_format::layout::Layout;
use innoscan_format::schema::RowFormat;
use innoscan_format::schema::dictionary::{
    self as format, Dictionary, DictionaryHeader, SystemTable,
};
use innoscan_io::Direct;

/// Reads the dictionary from the system tablespace. `undo_logs`: those of the directory's unfinished transactions.
/// `has_columns`: whether it matters when columns were changed.
pub fn read(
    system: &SystemTablespace,
    undo_logs: Option<&Arc<UndoLogs>>,
    has_columns: bool,
    keys: &Keys,
) -> Result<Dictionary> {
    let mut reader = SpaceReader::new(system.open(Direct::Off, keys)?)?;
    let mut dictionary = Dictionary::new();
    let header = reader.with_page(format::HEADER_PAGE, |page| DictionaryHeader::parse(&page))?;
    let fixed = [(SystemTable::Tables, header.tables), (SystemTable::Indexes, header.indexes)];
    let columns = has_columns.then_some((SystemTable::Columns, header.columns));
    for (table, root) in fixed.into_iter().chain(columns) {
        add_rows(&mut reader, (table, root), undo_logs, &mut dictionary)?;
    }
    let late = [
        (SystemTable::Foreign, format::SYS_FOREIGN),
        (SystemTable::ForeignCols, format::SYS_FOREIGN_COLS),
    ];
    for (table, name) in late {
        // A server without foreign keys may never have created these tables.
        let known = dictionary.table(name);
        let root = known.and_then(|table| table.clustered().and_then(|index| index.root));
        if let Some(root) = root {
            add_rows(&mut reader, (table, root), undo_logs, &mut dictionary)?;
        }
    }
    Ok(dictionary)
}

fn add_rows(
    reader: &mut SpaceReader,
    (table, root): (SystemTable, PageNo),
    undo_logs: Option<&Arc<UndoLogs>>,
    dictionary: &mut Dictionary,
) -> Result<()> {
    let layout = Layout::compile(&table.def(), RowFormat::Redundant, None)
        .map_err(|error| Error::from(error).in_file(reader.space().file().path()))?;
    for_each_row_or_deleted(reader, &layout, root, undo_logs, |row| match row.is_deleted {
        true => dictionary.add_deleted(table, row.columns, row.trx_id),
        false => dictionary.add(table, row.columns, row.trx_id),
    })
}
