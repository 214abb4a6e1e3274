//! The columns of the primary key, and the key of a row as text.

use innoscan_format::layout::Layout;
use innoscan_format::locate::{Located, Row};
use innoscan_format::schema::{IndexSource, TableDef};
use innoscan_format::types::Codec;

/// The columns of a table's primary key; none when the table has none.
pub(super) struct KeyColumns {
    /// The index of each column among the layout's columns, and its codec.
    parts: Vec<(usize, Codec)>,
}

impl KeyColumns {
    /// No key columns, for a scan whose leaves are not in key order, where a nearest key is meaningless.
    pub fn none() -> KeyColumns {
        KeyColumns { parts: Vec::new() }
    }

    /// The columns of `def`'s primary key, in records of `layout`.
    pub fn of(def: &TableDef, layout: &Layout) -> KeyColumns {
        let primary = def.primary_key();
        let parts = primary.map(|index| index.parts.as_slice()).unwrap_or_default();
        let part_of = |source: &IndexSource| {
            let IndexSource::Column(column) = source else { return None };
            let place = layout.columns().position(|stored| stored == *column)?;
            let codec = Codec::new(&def.columns.get(*column)?.ty, def.server).ok()?;
            Some((place, codec))
        };
        let parts: Option<Vec<_>> = parts.iter().map(|part| part_of(&part.source)).collect();
        KeyColumns { parts: parts.unwrap_or_default() }
    }

    /// A row's key, its parts separated by commas.
    pub fn text(&self, row: Row<'_, '_>) -> Option<String> {
        let mut text = Vec::new();
        for (place, codec) in &self.parts {
            if !text.is_empty() {
                text.extend_from_slice(b", ");
            }
            match row.get(*place).ok()? {
                Located::Inline(bytes) | Located::Default(bytes) => {
                    codec.write_utf8(bytes, &mut text).ok()?;
                }
                Located::Null | Located::External { .. } => return None,
            }
        }
        (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}
