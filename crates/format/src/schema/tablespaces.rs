//! `mysql.tablespaces`, the list of tablespaces that MySQL 8 and later store in `mysql.ibd`.
//!
//! Its definition is among those in the file's own SDI. The columns read are `name`, `engine` and
//! `se_private_data`: a list of properties, of which `id` is the tablespace's number and `state`
//! its state (`dict0dd.cc, dd_space_id_key, dd_space_state_key, MySQL 9.7`).

use std::ops::RangeInclusive;

use super::TableDef;
use super::sdi::{Properties, SdiNames, from_sdi};
use crate::{Error, PageNo, Result, SpaceId};

/// Ids of undo tablespaces: 127 times 400,000 below those of the redo log (`dict_sys_t,
/// s_min_undo_space_id, dict0dict.h, MySQL 9.7`); servers before 8.0.14 used the uppermost of them.
const UNDO: RangeInclusive<u32> = 0xFFFF_FFF0 - 127 * 400_000..=0xFFFF_FFEF;
/// The name of the table in its definition.
const NAME: &[u8] = br#""tablespaces""#;
/// The id of the temporary tablespace (`s_temp_space_id`).
const TEMPORARY: u32 = 0xFFFF_FFFD;
/// The id of the system tablespace.
const SYSTEM: u32 = 0;

/// The table `mysql.tablespaces`, with the positions of its columns.
#[derive(Clone, Debug)]
pub struct TablespacesTable {
    /// Definition of the table.
    pub def: TableDef,
    /// Root page of the clustered index.
    pub root: PageNo,
    name: usize,
    engine: usize,
    engine_data: usize,
}

/// A listed tablespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedSpace {
    /// Tablespace id.
    pub space: SpaceId,
    /// Name of the tablespace: that of [`super::filename::TableFile::tablespace`], or a general tablespace's own name
    /// or that of one of its tables.
    pub name: String,
    /// Whether `ALTER TABLE ... DISCARD TABLESPACE` removed the file.
    pub is_discarded: bool,
}

impl TablespacesTable {
    /// Finds the table among the definitions in `mysql.ibd`.
    ///
    /// # Errors
    /// When the table is missing, or differs from that of the known servers.
    pub fn of<T: AsRef<[u8]>>(documents: &[T]) -> Result<TablespacesTable> {
        // Most of the documents need not be parsed.
        let has_name = |document: &[u8]| document.windows(NAME.len()).any(|part| part == NAME);
        let is_it = |document: &&T| {
            has_name(document.as_ref())
                && SdiNames::of(&[document])
                    .is_ok_and(|names| names.has_table("mysql", "tablespaces"))
        };
        let document = documents.iter().find(is_it);
        let document = document
            .ok_or_else(|| Error::schema("mysql.ibd has no definition of mysql.tablespaces"))?;
        let def = from_sdi(document.as_ref())?;
        let place = |name: &str| {
            let found = def.columns.iter().position(|column| column.name == name);
            found.ok_or_else(|| Error::schema(format!("mysql.tablespaces has no column `{name}`")))
        };
        let root = def.physical.clustered.map(|(_, root)| root);
        Ok(TablespacesTable {
            root: root.ok_or_else(|| Error::schema("mysql.tablespaces has no root"))?,
            name: place("name")?,
            engine: place("engine")?,
            engine_data: place("se_private_data")?,
            def,
        })
    }

    /// Decodes a row; `None` for tablespaces that hold no tables' rows. The row's columns are in
    /// the order of [`Self::def`], as stored.
    ///
    /// # Errors
    /// When a column has an unexpected form.
    pub fn space(&self, row: &[Option<&[u8]>]) -> Result<Option<ListedSpace>> {
        let holds_rows = |listed: &ListedSpace| {
            let SpaceId(space) = listed.space;
            !matches!(space, SYSTEM | TEMPORARY) && !UNDO.contains(&space)
        };
        Ok(self.listed(row)?.filter(holds_rows))
    }

    /// Decodes a row; `None` for other than undo tablespaces.
    ///
    /// # Errors
    /// As of [`Self::space`].
    pub fn undo_space(&self, row: &[Option<&[u8]>]) -> Result<Option<ListedSpace>> {
        Ok(self.listed(row)?.filter(|listed| UNDO.contains(&listed.space.0)))
    }

    /// Decodes a row of an InnoDB tablespace.
    fn listed(&self, row: &[Option<&[u8]>]) -> Result<Option<ListedSpace>> {
        let text = |place: usize| {
            let bytes = row.get(place).copied().flatten().unwrap_or_default();
            std::str::from_utf8(bytes)
                .map_err(|_| Error::corrupt("a row of mysql.tablespaces is not UTF-8"))
        };
        if !text(self.engine)?.eq_ignore_ascii_case("InnoDB") {
            return Ok(None);
        }
        let name = text(self.name)?;
        let wrong = || Error::corrupt(format!("mysql.tablespaces has no number for `{name}`"));
        let properties = Properties::parse(text(self.engine_data)?).ok_or_else(wrong)?;
        let space: u32 = properties.number("id")?.ok_or_else(wrong)?;
        // Servers before 8.0.14 have no state.
        let is_discarded = match properties.text("state") {
            Some(state) => state == "discarded",
            None => properties.flag("discard")?.unwrap_or(false),
        };
        Ok(Some(ListedSpace { space: SpaceId(space), name: name.to_owned(), is_discarded }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::CollationId;
    use crate::schema::{ServerVersion, TableOptions};

    fn told(engine: &str, name: &str, data: &str) -> Result<Option<ListedSpace>> {
        let options = TableOptions::new("InnoDB", CollationId::BINARY);
        let server = ServerVersion::from_number(80_033);
        let table = TablespacesTable {
            def: TableDef::new("mysql", "tablespaces", server, options),
            root: PageNo(4),
            name: 0,
            engine: 2,
            engine_data: 1,
        };
        table.space(&[name, data, engine].map(|text| Some(text.as_bytes())))
    }

    #[test]
    fn rows_of_tables_tablespaces_are_told() {
        let space = |space: u32, name: &str, is_discarded: bool| {
            Some(ListedSpace { space: SpaceId(space), name: name.to_owned(), is_discarded })
        };
        for (name, data, expected) in [
            ("d/t", "flags=16417;id=2;state=normal;", space(2, "d/t", false)),
            ("d/t", "flags=16417;id=2;state=discarded;", space(2, "d/t", true)),
            ("d/old", "discard=1;id=3;", space(3, "d/old", true)),
            ("mysql", "flags=18432;id=4294967294;", space(0xFFFF_FFFE, "mysql", false)),
            ("innodb_system", "flags=18432;id=0;", None),
            ("innodb_temporary", "flags=4096;id=4294967293;", None),
            ("innodb_undo_001", "flags=0;id=4294967279;state=active;", None),
            ("own undo", "id=4244167280;state=active;", None),
        ] {
            assert_eq!(told("InnoDB", name, data).unwrap(), expected, "{name} {data}");
        }
        assert_eq!(told("NDB", "n", "").unwrap(), None);
        for data in ["flags=16417;", "id=much;", "id"] {
            told("InnoDB", "d/t", data).unwrap_err();
        }
    }
}
