//! MariaDB's extra2 segment: type, length, value ... (`read_extra2`, sql/table.cc).

use std::collections::{BTreeMap, BTreeSet};

use super::cursor::{Cursor, text};
use crate::{Error, Remedy, Result};

/// The values of the segment, by type.
#[derive(Default)]
pub(super) struct Extra2<'a> {
    /// Engine of the partitions.
    pub(super) partition_engine: Option<String>,
    /// Options of the geometry columns, concatenated.
    pub(super) geometry: &'a [u8],
    /// Indexes of the columns of `PERIOD FOR SYSTEM_TIME`.
    pub(super) system_period: Option<(u16, u16)>,
    pub(super) period: Option<Period>,
    /// Indexes of the keys that are `WITHOUT OVERLAPS`.
    pub(super) without_overlaps: BTreeSet<u16>,
    /// One byte of flags per index; empty when no index has any.
    pub(super) index_flags: &'a [u8],
    /// One byte of flags per column; empty when no column has any.
    pub(super) column_flags: &'a [u8],
    /// Engine-defined options of table, columns and indexes.
    pub(super) engine_options: &'a [u8],
    /// Names of the columns' types that are not built into the server, by the index of the column.
    data_types: BTreeMap<usize, String>,
}

/// An application-time period.
pub(super) struct Period {
    pub(super) name: String,
    /// Name of the check that start is before end.
    pub(super) constraint: String,
    pub(super) start: u16,
    pub(super) end: u16,
}

impl<'a> Extra2<'a> {
    pub(super) fn parse(segment: &'a [u8]) -> Result<Extra2<'a>> {
        let mut extra2 = Extra2::default();
        // MySQL has a list of names here, which begins with a separator.
        if segment.first().is_none_or(|first| *first == b'/') {
            return Ok(extra2);
        }
        let mut cursor = Cursor::new(segment);
        while !cursor.is_empty() {
            let kind = cursor.u8()?;
            let value = counted(&mut cursor)?;
            extra2.set(kind, value)?;
        }
        Ok(extra2)
    }

    /// Sets the value of a type; the numbers are `extra2_frm_value_type` (sql/unireg.h,
    /// MariaDB 10.11).
    fn set(&mut self, kind: u8, value: &'a [u8]) -> Result<()> {
        match kind {
            1 => self.partition_engine = Some(text(value)),
            2 => self.geometry = value,
            3 => self.period = Some(parse_period(value)?),
            4 => {
                let mut cursor = Cursor::new(value);
                self.system_period = Some((cursor.u16()?, cursor.u16()?));
            }
            5 => self.index_flags = value,
            128 => self.engine_options = value,
            129 => self.column_flags = value,
            130 => self.data_types = parse_data_types(value)?,
            131 => {
                let mut cursor = Cursor::new(value);
                let n_keys = cursor.u16()?;
                for _ in 0..n_keys {
                    self.without_overlaps.insert(cursor.u16()?);
                }
            }
            // The table's version (0), and additions of later versions that older ones may ignore.
            0..=127 => {}
            _ => {
                return Err(Error::unsupported(
                    format!("data of a newer MariaDB in the .frm file (extra2 type {kind})"),
                    Remedy::PassDefinition,
                ));
            }
        }
        Ok(())
    }

    /// Returns the flags of the column at a place.
    pub(super) fn column_flags(&self, place: usize) -> u8 {
        self.column_flags.get(place).copied().unwrap_or(0)
    }

    /// Returns the name of the column's type, unless it is built into the server.
    pub(super) fn data_type(&self, place: usize) -> Option<&str> {
        self.data_types.get(&place).map(String::as_str)
    }
}

/// Reads bytes preceded by their length: one byte, or 0 and two bytes.
fn counted<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = match cursor.u8()? {
        0 => usize::from(cursor.u16()?),
        len => usize::from(len),
    };
    cursor.take(len)
}

fn parse_period(value: &[u8]) -> Result<Period> {
    let mut cursor = Cursor::new(value);
    Ok(Period {
        name: text(counted(&mut cursor)?),
        constraint: text(counted(&mut cursor)?),
        start: cursor.u16()?,
        end: cursor.u16()?,
    })
}

fn parse_data_types(value: &[u8]) -> Result<BTreeMap<usize, String>> {
    let mut cursor = Cursor::new(value);
    let mut types = BTreeMap::new();
    while !cursor.is_empty() {
        let column = protocol_length(&mut cursor)?;
        let len = protocol_length(&mut cursor)?;
        types.insert(column, text(cursor.take(len)?));
    }
    Ok(types)
}

/// Reads a length in the form of the client protocol (`net_field_length`).
fn protocol_length(cursor: &mut Cursor) -> Result<usize> {
    match cursor.u8()? {
        len @ 0..=250 => Ok(usize::from(len)),
        252 => Ok(usize::from(cursor.u16()?)),
        _ => Err(Error::corrupt("the .frm file's column types have a length beyond 64 KiB")),
    }
}
