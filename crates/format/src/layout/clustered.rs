//! The fields of the clustered index and their order, as `dict_index_build_internal_clust` builds
//! them (`dict0dict.cc`, MySQL 9.7 and MariaDB 10.11).
//!
//! ```text
//! key parts | DB_ROW_ID, without a key | DB_TRX_ID DB_ROLL_PTR | columns the key does not hold whole
//! ```

use super::shape::{Shape, prefix_bytes, shape_of};
use crate::schema::{
    IndexDef, IndexKind, IndexSource, InstantDefault, RowPeriod, StoredColumn, StoredSource,
    TableDef,
};
use crate::types::{ColumnType, IntWidth};
use crate::{Error, Result};

/// A field of the clustered index, before it is compiled.
#[derive(Clone, Debug)]
pub(super) struct Logical {
    /// Index of the column in [`Columns::all`]; `None` for system columns.
    pub column: Option<usize>,
    /// Whether the key holds only a prefix of the column; the value is in another field.
    pub prefix: bool,
    pub shape: Shape,
    pub nullable: bool,
    pub version_added: u8,
    pub version_dropped: Option<u8>,
}

impl Logical {
    fn system(len: u16) -> Logical {
        Logical {
            column: None,
            prefix: false,
            shape: Shape::fixed(len),
            nullable: false,
            version_added: 0,
            version_dropped: None,
        }
    }
}

/// A column that InnoDB stores or has stored.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Index of the column in [`TableDef::columns`], if SQL knows it.
    pub source: Option<usize>,
    pub shape: Shape,
    pub nullable: bool,
    pub physical_pos: Option<u32>,
    pub version_added: u8,
    pub version_dropped: Option<u8>,
    pub default: Option<InstantDefault>,
}

/// The clustered index according to the definition.
#[derive(Clone, Debug)]
pub(super) struct Clustered {
    /// All stored columns, in InnoDB's order.
    pub columns: Vec<Column>,
    /// The fields, in the order of records.
    pub fields: Vec<Logical>,
    /// Number of fields that identify a record: those of a node pointer.
    pub key_fields: usize,
    /// Number of fields that are no column's value: system columns and prefixes.
    pub extra_fields: usize,
    /// Place of `DB_TRX_ID` among the fields.
    pub trx_id_at: usize,
}

impl Clustered {
    pub(super) fn from_def(def: &TableDef) -> Result<Clustered> {
        let columns = stored_columns(def)?;
        let mut fields = key_fields(def, &columns)?;
        let prefixes = fields.iter().filter(|field| field.prefix).count();
        let row_id = fields.is_empty();
        if row_id {
            fields.push(Logical::system(6));
        }
        let key_fields = fields.len();
        fields.push(Logical::system(6));
        fields.push(Logical::system(7));
        for (place, column) in columns.iter().enumerate() {
            let in_key = fields.iter().any(|field| field.column == Some(place) && !field.prefix);
            if !in_key {
                fields.push(column.field(place));
            }
        }
        if columns.iter().any(|column| column.physical_pos.is_some()) {
            fields = in_physical_order(fields, &columns)?;
        }
        let extra_fields = 2 + usize::from(row_id) + prefixes;
        let systems = fields.iter().enumerate().filter(|(_, field)| field.column.is_none());
        let trx_id_at = systems.map(|(place, _)| place).nth(usize::from(row_id));
        let trx_id_at = trx_id_at.unwrap_or(key_fields);
        Ok(Clustered { columns, fields, key_fields, extra_fields, trx_id_at })
    }
}

impl Column {
    fn field(&self, place: usize) -> Logical {
        Logical {
            column: Some(place),
            prefix: false,
            shape: self.shape,
            nullable: self.nullable,
            version_added: self.version_added,
            version_dropped: self.version_dropped,
        }
    }
}

fn stored_columns(def: &TableDef) -> Result<Vec<Column>> {
    if !def.physical.stored.is_empty() {
        return def.physical.stored.iter().map(|stored| stored_column(def, stored)).collect();
    }
    let mut columns = Vec::new();
    for place in 0..def.columns.len() {
        if def.columns.get(place).is_some_and(|column| column.is_stored()) {
            columns.push(plain_column(def, place)?);
        }
    }
    // A full-text index needs a document id; without a column of that name InnoDB adds one
    // (`fts_add_doc_id_column`).
    let full_text = def.indexes.iter().any(|index| index.kind == IndexKind::FullText);
    let has_doc_id = def.columns.iter().any(|column| column.name == "FTS_DOC_ID");
    if full_text && !has_doc_id {
        let ty = ColumnType::Int {
            width: IntWidth::Eight,
            unsigned: true,
            zerofill: false,
            display_width: None,
        };
        columns.push(hidden_column(def, &ty, false)?);
    }
    Ok(columns)
}

fn plain_column(def: &TableDef, place: usize) -> Result<Column> {
    let column = def
        .columns
        .get(place)
        .ok_or_else(|| Error::schema(format!("the table has no column number {place}")))?;
    let shape = shape_of(&column.ty, def.server.family)
        .map_err(|error| Error::schema(format!("column `{}`: {error}", column.name)))?;
    Ok(Column {
        source: Some(place),
        shape: if column.compressed { shape.compressed() } else { shape },
        nullable: column.nullable,
        physical_pos: None,
        version_added: 0,
        version_dropped: None,
        default: None,
    })
}

fn hidden_column(def: &TableDef, ty: &ColumnType, nullable: bool) -> Result<Column> {
    Ok(Column {
        source: None,
        shape: shape_of(ty, def.server.family)?,
        nullable,
        physical_pos: None,
        version_added: 0,
        version_dropped: None,
        default: None,
    })
}

fn stored_column(def: &TableDef, stored: &StoredColumn) -> Result<Column> {
    let column = match &stored.source {
        StoredSource::Column(place) => plain_column(def, *place)?,
        StoredSource::Hidden { ty, nullable } | StoredSource::Dropped { ty, nullable } => {
            hidden_column(def, ty, *nullable)?
        }
    };
    Ok(Column {
        physical_pos: stored.physical_pos,
        version_added: stored.version_added,
        version_dropped: stored.version_dropped,
        default: stored.default.clone(),
        ..column
    })
}

/// Returns the key parts of the clustered index; none when InnoDB generated a `DB_ROW_ID`.
fn key_fields(def: &TableDef, columns: &[Column]) -> Result<Vec<Logical>> {
    let primary = def.primary_key();
    let index = match primary {
        Some(index) => Some(index),
        None => def.indexes.iter().find(|index| promotes(def, index)),
    };
    let Some(index) = index else { return Ok(Vec::new()) };
    let mut fields = Vec::new();
    for (place, prefix_chars) in all_parts(def, index) {
        let stored = columns.iter().position(|column| column.source == Some(place));
        let column = stored.and_then(|stored| columns.get(stored));
        let (Some(stored), Some(column)) = (stored, column) else {
            return Err(Error::schema(format!(
                "the key `{}` is on a column that is not stored",
                index.name
            )));
        };
        let prefix = match (prefix_chars, def.columns.get(place)) {
            (Some(chars), Some(column_def)) => Some(prefix_bytes(&column_def.ty, chars)?),
            _ => None,
        };
        // A part as long as its column is no prefix, except in LOBs.
        let prefix = prefix.filter(|&bytes| column.shape.lob || bytes < column.shape.max_len);
        if column.shape.lob && prefix.is_none() {
            return Err(Error::schema(format!(
                "the key `{}` is on a whole LOB, which InnoDB cannot have",
                index.name
            )));
        }
        let mut field = column.field(stored);
        if let Some(bytes) = prefix {
            field.prefix = true;
            field.shape = column.shape.prefix(bytes);
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Returns the parts of an index as InnoDB sees them: MariaDB appends the row end of a versioned
/// table and the period of `WITHOUT OVERLAPS` (`append_system_key_parts`, `sql_table.cc`).
fn all_parts(def: &TableDef, index: &IndexDef) -> Vec<(usize, Option<u32>)> {
    let mut parts: Vec<(usize, Option<u32>)> = Vec::new();
    for part in &index.parts {
        if let IndexSource::Column(place) = part.source {
            parts.push((place, part.prefix_chars));
        }
    }
    if def.versioned {
        let has =
            |parts: &[(usize, Option<u32>)], place: usize| parts.iter().any(|part| part.0 == place);
        let period = |period: RowPeriod| {
            def.columns.iter().position(|column| column.row_period == Some(period))
        };
        let (start, end) = (period(RowPeriod::Start), period(RowPeriod::End));
        let named = [start, end].into_iter().flatten().any(|place| has(&parts, place));
        if !named {
            parts.extend(end.map(|place| (place, None)));
        }
    }
    if let (true, Some(period)) = (index.without_overlaps, &def.application_period) {
        for name in [&period.end, &period.start] {
            let place = def.columns.iter().position(|column| column.name == *name);
            parts.extend(place.map(|place| (place, None)));
        }
    }
    parts
}

/// Returns whether a unique index replaces a missing primary key: all parts NOT NULL, whole and not
/// virtual (`table.cc`, MySQL 9.7 and MariaDB 10.11). Definitions list indexes in the order in
/// which servers examine them.
fn promotes(def: &TableDef, index: &IndexDef) -> bool {
    index.kind == IndexKind::Unique
        && !index.parts.is_empty()
        && index.parts.iter().all(|part| {
            let IndexSource::Column(place) = part.source else { return false };
            let Some(column) = def.columns.get(place) else { return false };
            let Ok(shape) = shape_of(&column.ty, def.server.family) else {
                return false;
            };
            let prefix = part.prefix_chars.and_then(|chars| prefix_bytes(&column.ty, chars).ok());
            let whole = match prefix {
                None => !shape.lob,
                Some(bytes) => bytes >= shape.max_len,
            };
            whole && !column.nullable && column.is_stored()
        })
}

/// Sorts the fields by physical position, for MySQL 8.0.29 row versions. The dictionary has the
/// position of each column; the system columns, whose positions it keeps elsewhere, fill the rest.
fn in_physical_order(fields: Vec<Logical>, columns: &[Column]) -> Result<Vec<Logical>> {
    let total = fields.len();
    let mut places: Vec<Option<Logical>> = vec![None; total];
    let mut systems = Vec::new();
    for field in fields {
        let Some(column) = field.column.and_then(|place| columns.get(place)) else {
            systems.push(field);
            continue;
        };
        let raw = column
            .physical_pos
            .ok_or_else(|| Error::schema("only some columns have a physical position"))?;
        let pos = if field.prefix { raw >> 16 } else { raw & 0x7FFF };
        match places.get_mut(pos as usize) {
            Some(place @ None) => *place = Some(field),
            _ => return Err(Error::schema(format!("no column can be at physical position {pos}"))),
        }
    }
    let mut systems = systems.into_iter();
    let ordered: Option<Vec<Logical>> =
        places.into_iter().map(|place| place.or_else(|| systems.next())).collect();
    ordered.ok_or_else(|| Error::schema("the physical positions of the columns leave gaps"))
}
