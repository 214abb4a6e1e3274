//! The counter for `AUTO_INCREMENT=` in `SHOW CREATE TABLE`, which table definitions do not keep up to
//! date.
//!
//! | server | where the last value given is |
//! |---|---|
//! | MySQL 8 and later | `mysql.innodb_dynamic_metadata`, by the table's id and version; since the checkpoint, the redo log of a killed server |
//! | MariaDB 10.2.4 and later | the root page of the clustered index |
//! | before | nowhere: the server looks for the greatest value when it opens the table |

use std::collections::HashMap;
use std::path::Path;

use innoscan_engine::clustered_index::ClusteredIndex;
use innoscan_engine::keys::Keys;
use innoscan_engine::small_tree::{Edge, circle, edge_leaf, for_each_row};
use innoscan_engine::space::Space;
use innoscan_engine::space_reader::SpaceReader;
use innoscan_engine::{Error, Result, Table};
use innoscan_format::Error as FormatError;
use innoscan_format::layout::Layout;
use innoscan_format::locate::{Fields, Located};
use innoscan_format::page::IndexPage;
use innoscan_format::schema::{ColumnDef, Family, IndexSource, ServerVersion, TableDef, counters};
use innoscan_format::types::{Codec, ColumnType, IntWidth};
use innoscan_format::value::Value;
use innoscan_io::Direct;

/// The last assigned values, by table id and version.
pub type Counters = HashMap<(u64, u64), u64>;

/// Reads the counters of all tables from `mysql.ibd`.
pub fn read_counters(mysql_ibd: &Path, keys: &Keys) -> Result<Counters> {
    let mut reader = SpaceReader::new(Space::open(mysql_ibd, Direct::Off, keys)?)?;
    let ClusteredIndex { id: index, layout, .. } =
        reader.clustered(&counters::def(), counters::ROOT)?;
    if index != counters::INDEX {
        let error = FormatError::corrupt(format!("index {index} is where that of counters was"));
        return Err(Error::from(error).in_file(mysql_ibd));
    }
    let mut found = Counters::new();
    // The server writes counters without undo: they are never rolled back.
    for_each_row(&mut reader, &layout, counters::ROOT, None, |row| {
        let [Some(id), Some(version), Some(metadata)] = row else {
            return Err(FormatError::corrupt("a row of innodb_dynamic_metadata has a NULL"));
        };
        let number = |bytes: &[u8]| innoscan_format::bytes::u64_at(bytes, 0);
        if let Some(last) = counters::last_auto_increment(metadata)? {
            found.insert((number(id)?, number(version)?), last);
        }
        Ok(())
    })?;
    if let Some((recovery, _)) = keys.recovery_of(mysql_ibd) {
        // The log has them in the order in which they grew.
        found.extend(recovery.counters());
    }
    Ok(found)
}

/// The value for the next row, if the table has such a column and a value was ever assigned.
pub fn next(table: &Table, known: Option<&Counters>) -> Result<Option<u64>> {
    let def = &table.def;
    let Some((column, place)) =
        def.columns.iter().zip(0..).find(|(column, _)| column.auto_increment)
    else {
        return Ok(None);
    };
    let last = match def.server.family {
        Family::MySql if def.server.number >= 80_000 => last_by_dictionary(def, known),
        _ if is_on_root(def.server) => last_on_roots(table)?,
        _ => greatest(table, column, place)?,
    };
    let most = greatest_of_type(&column.ty);
    Ok(last.filter(|last| *last > 0).map(|last| last.saturating_add(1).min(most)))
}

/// Whether the root page has `PAGE_ROOT_AUTO_INC`, new in MariaDB 10.2.4.
fn is_on_root(server: ServerVersion) -> bool {
    server.family == Family::MariaDb && server.number >= 100_204
}

/// The counter of the last DDL, or a later one of the table or any of its partitions.
fn last_by_dictionary(def: &TableDef, known: Option<&Counters>) -> Option<u64> {
    let physical = &def.physical;
    let whole = physical.table_id.map(|id| (id, physical.table_version));
    let partitions =
        physical.partitions.iter().filter_map(|part| Some((part.table_id?, part.table_version)));
    let later = known.and_then(|known| {
        whole.into_iter().chain(partitions).filter_map(|key| known.get(&key).copied()).max()
    });
    def.options.auto_increment.map(|next| next.saturating_sub(1)).max(later)
}

fn last_on_roots(table: &Table) -> Result<Option<u64>> {
    let mut last = None;
    for file in &table.files {
        let on_root = file.root_head()?.last_auto_increment;
        last = last.max(on_root);
    }
    Ok(last)
}

/// The most bytes of a table that is searched completely for its greatest value.
const SEARCHED_BYTES_MAX: u64 = 1 << 30;

/// The greatest value in the table: on the last leaf with rows where the key begins with the
/// column, else on any leaf; servers search the column's index, whose layout is not known here.
/// `None` for a large table of the second kind.
fn greatest(table: &Table, column: &ColumnDef, place: usize) -> Result<Option<u64>> {
    let def = &table.def;
    let primary = def.primary_key();
    let leads = primary
        .and_then(|index| index.parts.first())
        .is_some_and(|part| part.source == IndexSource::Column(place));
    let codec = Codec::new(&column.ty, def.server)?;
    let mut greatest = None;
    for file in &table.files {
        let mut reader = SpaceReader::new(file.open(Direct::Off)?)?;
        if !leads && reader.space().file().size_bytes() > SEARCHED_BYTES_MAX {
            return Ok(None);
        }
        let root = file.clustered_root.unwrap_or(reader.space().first_root());
        let layout = reader.clustered(&table.def_of(file), root)?.layout;
        let Some(slot) = layout.columns().position(|stored| stored == place) else { continue };
        let mut leaf = Some(edge_leaf(&mut reader, &layout, root, Edge::Last)?);
        let mut leaves_left = reader.space().file_pages();
        while let Some(page_no) = leaf {
            leaves_left = leaves_left.checked_sub(1).ok_or_else(|| circle(&reader))?;
            let (found, before) = reader.with_page(page_no, |page| {
                let page = IndexPage::parse(page)?;
                Ok((greatest_on_leaf(&page, &layout, slot, &codec)?, page.prev()))
            })?;
            greatest = greatest.max(found);
            leaf = before.filter(|_| !leads || found.is_none());
        }
    }
    Ok(greatest)
}

fn greatest_on_leaf(
    page: &IndexPage<'_>,
    layout: &Layout,
    slot: usize,
    codec: &Codec,
) -> innoscan_format::Result<Option<u64>> {
    let mut fields = Fields::default();
    let mut greatest = None;
    for record in page.records() {
        let record = record?;
        if !record.is_row() || record.is_delete_marked() {
            continue;
        }
        let bytes = match layout.locate(&record, &mut fields)?.get(slot)? {
            Located::Inline(bytes) | Located::Default(bytes) => bytes,
            Located::Null | Located::External { .. } => continue,
        };
        greatest = greatest.max(match codec.value(bytes)? {
            Value::Int(value) => u64::try_from(value).ok(),
            Value::UInt(value) => Some(value),
            _ => None,
        });
    }
    Ok(greatest)
}

/// The greatest value of a type: `innobase_get_int_col_max_value` (`ha_innodb.cc`).
fn greatest_of_type(ty: &ColumnType) -> u64 {
    match ty {
        ColumnType::Int { width, unsigned, .. } => {
            let bits = match width {
                IntWidth::One => 8,
                IntWidth::Two => 16,
                IntWidth::Three => 24,
                IntWidth::Four => 32,
                IntWidth::Eight => 64,
            };
            u64::MAX >> (64 - bits + u32::from(!unsigned))
        }
        ColumnType::Float(_) => 1 << 24,
        ColumnType::Double(_) => 1 << 53,
        _ => u64::MAX,
    }
}
