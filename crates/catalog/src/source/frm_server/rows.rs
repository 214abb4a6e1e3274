//! Rows of the server's own tables, which are small enough to be kept in memory.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_engine::{Error, Result};
use innoscan_format::types::Codec;

use super::super::EngineTable;

/// The most bytes of all rows of one of the server's own tables: a list of objects is smaller.
const BYTES_MAX: u64 = 4 << 30;

/// The rows of a table in the form of `SELECT`: text in UTF-8, other bytes unchanged.
#[derive(Debug, Default)]
pub(super) struct SystemRows {
    columns: Vec<String>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// A row with access to its columns by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemRow<'a> {
    columns: &'a [String],
    values: &'a [Option<Vec<u8>>],
}

impl SystemRows {
    /// Reads a table by its `.frm` file.
    ///
    /// # Errors
    /// The table is refused by [`EngineTable`], or damaged.
    pub fn read(frm: &Path) -> Result<SystemRows> {
        let table = EngineTable::open(frm)?;
        if table.size_bytes() > BYTES_MAX {
            let why = format!("it has {} bytes, which no list of objects has", table.size_bytes());
            return Err(Error::refused(why, "see what table it is").in_file(frm));
        }
        let stored = table.def.columns.iter().filter(|column| column.is_stored());
        let codecs = stored.clone().map(|column| Codec::new(&column.ty, table.def.server));
        let codecs = codecs.collect::<innoscan_format::Result<Vec<Codec>>>()?;
        let mut rows = Vec::new();
        table.for_each_row(|row| {
            let values = row.iter().zip(&codecs).map(|(value, codec)| {
                let Some(stored) = value else { return Ok(None) };
                let mut text = Vec::new();
                match codec.class().is_binary() {
                    true => codec.write_text(stored, &mut text)?,
                    false => _ = codec.write_utf8(stored, &mut text)?,
                }
                Ok(Some(text))
            });
            rows.push(values.collect::<Result<Vec<_>>>()?);
            Ok(())
        })?;
        Ok(SystemRows { columns: stored.map(|column| column.name.clone()).collect(), rows })
    }

    /// The rows grouped by the values of some columns, each group in the table's order.
    pub fn grouped<const N: usize>(
        &self,
        columns: [&str; N],
    ) -> BTreeMap<[String; N], Vec<SystemRow<'_>>> {
        let mut groups: BTreeMap<_, Vec<SystemRow<'_>>> = BTreeMap::new();
        for row in self.iter() {
            groups.entry(columns.map(|column| row.text(column))).or_default().push(row);
        }
        groups
    }

    /// The rows, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = SystemRow<'_>> {
        let columns = &*self.columns;
        self.rows.iter().map(move |values| SystemRow { columns, values })
    }
}

impl<'a> SystemRow<'a> {
    /// The value of a column; `None` where it is NULL or the column does not exist. The servers' own
    /// tables differ in the case of their columns' names.
    pub fn bytes(self, column: &str) -> Option<&'a [u8]> {
        let place = self.columns.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        self.values.get(place)?.as_deref()
    }

    /// The text of a column; empty where it is NULL or the column does not exist.
    pub fn text(self, column: &str) -> String {
        String::from_utf8_lossy(self.bytes(column).unwrap_or_default()).into_owned()
    }

    /// The number in a column; 0 where there is none.
    pub fn number(self, column: &str) -> u64 {
        self.text(column).parse().unwrap_or(0)
    }

    /// Whether a column is `Y`.
    pub fn is_yes(self, column: &str) -> bool {
        self.bytes(column) == Some(b"Y")
    }

    /// The columns whose names end in `_priv`, in the table's order, each with whether it is `Y`.
    pub fn privileges(self) -> impl Iterator<Item = (&'a str, bool)> {
        let is_privilege = |name: &str| name.to_ascii_lowercase().ends_with("_priv");
        let columns = self.columns.iter().zip(self.values);
        columns
            .filter(move |(name, _)| is_privilege(name))
            .map(|(name, value)| (name.as_str(), value.as_deref() == Some(b"Y")))
    }
}
