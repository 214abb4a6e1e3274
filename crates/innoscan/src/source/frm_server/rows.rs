//! Rows of the server's own tables, small enough to be held.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_format::types::Codec;

use super::super::EngineTable;
use crate::{Error, Result};

/// Bytes of all rows of one of the server's own tables, at most: more is no list of objects.
const BYTES_MAX: u64 = 4 << 30;

/// The rows of a table as `SELECT` gives them: text in UTF-8, other bytes as they are.
#[derive(Debug, Default)]
pub(super) struct SystemRows {
    columns: Vec<String>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// A row by its columns' names.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemRow<'a> {
    columns: &'a [String],
    values: &'a [Option<Vec<u8>>],
}

impl SystemRows {
    /// Reads a table by its `.frm` file.
    ///
    /// # Errors
    /// What [`EngineTable`] refuses; damage.
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

    /// The rows by what they have in some columns, each group in the table's order.
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
    /// A column's value; `None` where it is NULL or there is no such column. The servers' own
    /// tables do not all write their columns' names in the same case.
    pub fn bytes(self, column: &str) -> Option<&'a [u8]> {
        let place = self.columns.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        self.values.get(place)?.as_deref()
    }

    /// A column's text; empty where it is NULL or there is no such column.
    pub fn text(self, column: &str) -> String {
        String::from_utf8_lossy(self.bytes(column).unwrap_or_default()).into_owned()
    }

    /// A column's number; 0 where it is none.
    pub fn number(self, column: &str) -> u64 {
        self.text(column).parse().unwrap_or(0)
    }

    /// Whether a column is `Y`.
    pub fn is_yes(self, column: &str) -> bool {
        self.bytes(column) == Some(b"Y")
    }

    /// The columns whose names end in `_priv`, in the table's order: whether each is `Y`.
    pub fn privileges(self) -> impl Iterator<Item = (&'a str, bool)> {
        let is_privilege = |name: &str| name.to_ascii_lowercase().ends_with("_priv");
        let columns = self.columns.iter().zip(self.values);
        columns
            .filter(move |(name, _)| is_privilege(name))
            .map(|(name, value)| (name.as_str(), value.as_deref() == Some(b"Y")))
    }
}
