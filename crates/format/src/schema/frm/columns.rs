//! Columns of a `.frm`: 17 bytes each, which give type and attributes.
//!
//! ```text
//!  3  length (2)             10  automatic value (`utype`)            13  type
//!  5  place in the row (3)   11  collation, high byte                 14  collation, low byte,
//!  8  flags and decimals (2) 12  list of members, from 1                  or kind of geometry
//!                                                                     15  comment's length (2)
//! ```

use super::cursor::{Cursor, text};
use super::defaults::Positions;
use super::expressions::{ColumnExpressions, Expressions};
use super::image::{COLUMN_BYTES, Image};
use super::names::{Members, parse_names};
use crate::charset::CollationId;
use crate::schema::{ColumnDef, ColumnDefault, Family, ServerVersion};
use crate::types::{ColumnType, GeometryKind, IntWidth, RealFormat, Temporal, TemporalFormat};
use crate::{Error, Result, bytes};

/// `FIELDFLAG_...` (sql/field.h).
const FLAG_SIGNED: u16 = 1;
const FLAG_ZEROFILL: u16 = 4;
const FLAG_NO_DEFAULT: u16 = 1 << 14;
const FLAG_MAYBE_NULL: u16 = 1 << 15;
const FLAG_BIT_AS_CHAR: u16 = 1 << 12;

/// `Field::utype` (sql/field.h): automatic values of a column.
const AUTO_INCREMENT: u8 = 15;
/// The first `TIMESTAMP` of a table from before MySQL 4.1 had both automatic values.
const TIMESTAMP_OLD: u8 = 18;
const NOW_ON_INSERT: u8 = 21;
const NOW_ON_UPDATE: u8 = 22;
const NOW_ON_BOTH: u8 = 23;
/// `TMYSQL_COMPRESSED`: MariaDB compresses each value.
const COMPRESSED: u8 = 24;
const GENERATED_57: u8 = 128;

/// The type number of generated columns in MariaDB to 10.1, and of `JSON` in MySQL 5.7.
const KIND_VIRTUAL_OR_JSON: u8 = 245;

/// Widths of `TIME` and `DATETIME` without a fraction.
const TIME_WIDTH: u16 = 10;
const DATETIME_WIDTH: u16 = 19;

/// A column as described in the file.
pub(super) struct RawColumn<'a> {
    pub(super) name: String,
    pub(super) length: u16,
    /// Offset in the default row, from 1.
    pub(super) row_at: u32,
    flags: u16,
    unireg: u8,
    /// Number of the list of members, from 1; for a generated column of an old MariaDB the length
    /// of its entry among the expressions.
    pub(super) interval: u8,
    kind: u8,
    collation: u16,
    comment: &'a [u8],
}

impl<'a> RawColumn<'a> {
    pub(super) fn parse_all(image: &Image<'a>) -> Result<Vec<RawColumn<'a>>> {
        let names = parse_names(image.names)?;
        let mut comments = Cursor::new(image.comments);
        let mut columns = Vec::with_capacity(names.len());
        if names.len() != image.columns.len() / COLUMN_BYTES {
            return Err(Error::corrupt("the numbers of names and columns in the .frm file differ"));
        }
        for (name, entry) in names.into_iter().zip(image.columns.chunks_exact(COLUMN_BYTES)) {
            let collation =
                u16::from_le_bytes([bytes::u8_at(entry, 14)?, bytes::u8_at(entry, 11)?]);
            columns.push(RawColumn {
                name,
                length: bytes::u16_le_at(entry, 3)?,
                row_at: bytes::u24_le_at(entry, 5)?,
                flags: bytes::u16_le_at(entry, 8)?,
                unireg: bytes::u8_at(entry, 10)?,
                interval: bytes::u8_at(entry, 12)?,
                kind: bytes::u8_at(entry, 13)?,
                collation,
                comment: comments.take(usize::from(bytes::u16_le_at(entry, 15)?))?,
            });
        }
        Ok(columns)
    }

    /// Returns whether the column is generated, as MySQL 5.7 marks it.
    pub(super) fn is_generated_57(&self, server: ServerVersion) -> bool {
        server.family == Family::MySql && self.unireg & GENERATED_57 != 0
    }

    /// Returns whether the column is generated, as MariaDB up to 10.1 marks it.
    pub(super) fn is_generated_in_old_mariadb(&self, server: ServerVersion) -> bool {
        let old = match server.family {
            Family::MariaDb => server.number < 100_200,
            Family::MySql => server.number < 50_600,
        };
        old && self.kind == KIND_VIRTUAL_OR_JSON
    }

    /// Returns the number of members in the column's list.
    pub(super) fn members_in(&self, lists: &[Members]) -> usize {
        let place = usize::from(self.interval).checked_sub(1);
        place.and_then(|place| lists.get(place)).map_or(0, Vec::len)
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.unireg == COMPRESSED
    }

    pub(super) fn nullable(&self) -> bool {
        self.flags & FLAG_MAYBE_NULL != 0
    }

    /// Returns the bits of a `BIT` column that are stored among the NULL bits (MyISAM; InnoDB
    /// stores whole bytes).
    pub(super) fn uneven_bits(&self) -> u8 {
        if self.kind == 16 && self.flags & FLAG_BIT_AS_CHAR == 0 {
            (self.length & 7) as u8
        } else {
            0
        }
    }

    fn has_default(&self) -> bool {
        self.flags & FLAG_NO_DEFAULT == 0 && self.unireg_type() != AUTO_INCREMENT
    }

    fn unireg_type(&self) -> u8 {
        self.unireg & !GENERATED_57
    }

    /// Returns the digits after the point. MariaDB 10.2 widened the field by a bit.
    fn decimals(&self, server: ServerVersion) -> u8 {
        let wide = server.family == Family::MariaDb && server.number >= 100_200;
        (self.flags >> 8) as u8 & if wide { 63 } else { 31 }
    }

    fn temporal(&self, width: u16, format: TemporalFormat) -> Temporal {
        let digits = self.length.saturating_sub(width + 1);
        let fsp = digits.min(6) as u8;
        let format = match format {
            TemporalFormat::Old if fsp > 0 => TemporalFormat::OldHires,
            format => format,
        };
        Temporal { fsp, format }
    }

    fn real(&self, server: ServerVersion) -> RealFormat {
        // 31 and, in MariaDB 10.2, 39 mean that no digits were specified.
        let decimals = self.decimals(server);
        let digits = (decimals < 31).then(|| (self.length.min(255) as u8, decimals));
        RealFormat {
            digits,
            unsigned: self.flags & FLAG_SIGNED == 0,
            zerofill: self.flags & FLAG_ZEROFILL != 0,
        }
    }

    fn int(&self, width: IntWidth) -> ColumnType {
        ColumnType::Int {
            width,
            unsigned: self.flags & FLAG_SIGNED == 0,
            zerofill: self.flags & FLAG_ZEROFILL != 0,
            display_width: Some(self.length.min(255) as u8),
        }
    }

    fn decimal(&self, server: ServerVersion) -> ColumnType {
        let unsigned = self.flags & FLAG_SIGNED == 0;
        let scale = self.decimals(server);
        let sign_and_point = u16::from(scale > 0) + u16::from(!unsigned && self.length > 0);
        ColumnType::Decimal {
            precision: self.length.saturating_sub(sign_and_point).min(255) as u8,
            scale,
            unsigned,
            zerofill: self.flags & FLAG_ZEROFILL != 0,
        }
    }

    fn string_collation(&self) -> CollationId {
        // A column without a charset has 0.
        if self.collation == 0 { CollationId::BINARY } else { CollationId(self.collation) }
    }

    fn string(&self, length: u16, varying: bool) -> Result<ColumnType> {
        let collation = self.string_collation();
        if collation == CollationId::BINARY {
            let bytes = u32::from(length);
            return Ok(match varying {
                true => ColumnType::VarBinary { bytes },
                false => ColumnType::Binary { bytes },
            });
        }
        let char_bytes = collation.charset()?.max_len();
        let chars = (usize::from(length) / char_bytes.max(1)) as u32;
        Ok(match varying {
            true => ColumnType::VarChar { chars, collation },
            false => ColumnType::Char { chars, collation },
        })
    }

    fn blob(&self) -> Result<ColumnType> {
        // Returns an integer type by its length.
        let length_bytes = match self.flags >> 3 & 15 {
            1 => 1,
            2 => 2,
            9 => 3,
            3 => 4,
            other => {
                return Err(Error::corrupt(format!("a BLOB cannot have length type {other}")));
            }
        };
        let collation = self.string_collation();
        Ok(if collation == CollationId::BINARY {
            ColumnType::Blob { length_bytes }
        } else {
            ColumnType::Text { length_bytes, collation }
        })
    }

    fn members(&self, list: u8, lists: &[Members]) -> Result<(Members, CollationId)> {
        let collation = self.string_collation();
        let place = usize::from(list).checked_sub(1);
        let members = place
            .and_then(|place| lists.get(place))
            .ok_or_else(|| Error::corrupt("an ENUM or SET has no list of members"))?;
        if collation.charset()?.min_len() == 1 {
            return Ok((members.clone(), collation));
        }
        let members: Option<Members> = members.iter().map(|hex| unhex(hex)).collect();
        let members = members
            .ok_or_else(|| Error::corrupt("a member of an ENUM or SET is not hexadecimal"))?;
        Ok((members, collation))
    }

    fn geometry(&self) -> Result<GeometryKind> {
        Ok(match self.collation & 0xff {
            0 => GeometryKind::Geometry,
            1 => GeometryKind::Point,
            2 => GeometryKind::LineString,
            3 => GeometryKind::Polygon,
            4 => GeometryKind::MultiPoint,
            5 => GeometryKind::MultiLineString,
            6 => GeometryKind::MultiPolygon,
            7 => GeometryKind::GeometryCollection,
            other => return Err(Error::corrupt(format!("kind {other} of geometry is unknown"))),
        })
    }

    /// Returns the type. The numbers are `enum_field_types` (include/mysql_com.h).
    fn ty(
        &self,
        kind: u8,
        list: u8,
        lists: &[Members],
        server: ServerVersion,
    ) -> Result<ColumnType> {
        Ok(match kind {
            1 => self.int(IntWidth::One),
            2 => self.int(IntWidth::Two),
            9 => self.int(IntWidth::Three),
            3 => self.int(IntWidth::Four),
            8 => self.int(IntWidth::Eight),
            4 => ColumnType::Float(self.real(server)),
            5 => ColumnType::Double(self.real(server)),
            246 => self.decimal(server),
            16 => ColumnType::Bit { bits: self.length.min(64) as u8 },
            13 => ColumnType::Year { digits: if self.length == 2 { 2 } else { 4 } },
            14 => ColumnType::Date,
            11 => ColumnType::Time(self.temporal(TIME_WIDTH, TemporalFormat::Old)),
            19 => ColumnType::Time(self.temporal(TIME_WIDTH, TemporalFormat::New)),
            12 => ColumnType::DateTime(self.temporal(DATETIME_WIDTH, TemporalFormat::Old)),
            18 => ColumnType::DateTime(self.temporal(DATETIME_WIDTH, TemporalFormat::New)),
            7 => ColumnType::Timestamp(self.temporal(DATETIME_WIDTH, TemporalFormat::Old)),
            17 => ColumnType::Timestamp(self.temporal(DATETIME_WIDTH, TemporalFormat::New)),
            // A compressed VARCHAR has an additional byte for the compression method.
            15 => self.string(self.length.saturating_sub(u16::from(self.is_compressed())), true)?,
            254 => self.string(self.length, false)?,
            249..=252 => self.blob()?,
            247 => {
                let (members, collation) = self.members(list, lists)?;
                ColumnType::Enum { members, collation }
            }
            248 => {
                let (members, collation) = self.members(list, lists)?;
                ColumnType::Set { members, collation }
            }
            KIND_VIRTUAL_OR_JSON => ColumnType::Json,
            255 => ColumnType::Geometry(self.geometry()?),
            0 | 10 | 253 => {
                return Err(Error::unsupported(
                    format!("the type of column `{}`, from before MySQL 5.0", self.name),
                    "rebuild the table on its server (ALTER TABLE ... FORCE)",
                ));
            }
            other => {
                return Err(Error::corrupt(format!("the type number {other} is unknown")));
            }
        })
    }

    /// Creates the column's definition from everything in the file.
    pub(super) fn define(
        &self,
        place: usize,
        image: &Image,
        lists: &[Members],
        expressions: &Expressions,
        positions: &Positions,
    ) -> Result<ColumnDef> {
        let server = image.server;
        let of = expressions.of_column(place);
        let kind = of.old_kind.unwrap_or(self.kind);
        let list = if of.generated.is_some() && of.old_kind.is_some() {
            of.old_list.unwrap_or(0)
        } else {
            self.interval
        };
        let ty = match image.extra2.data_type(place) {
            Some(name) => plugin_type(name, self, server)?,
            None => {
                self.ty(kind, list, lists, server).map_err(|error| error.at_column(&self.name))?
            }
        };
        let mut column = ColumnDef::new(self.name.clone(), ty);
        let flags = image.extra2.column_flags(place);
        column.nullable = self.nullable();
        column.invisible = flags & 3 == 1;
        column.hidden = flags & 3 > 1;
        column.without_versioning = flags & 8 != 0;
        column.compressed = self.is_compressed();
        column.comment = text(self.comment);
        column.auto_increment = self.unireg_type() == AUTO_INCREMENT;
        let unireg = if of.generated.is_some() { 0 } else { self.unireg_type() };
        if matches!(unireg, NOW_ON_UPDATE | NOW_ON_BOTH | TIMESTAMP_OLD) {
            column.on_update = Some(now(&column.ty, image.shown_by));
        }
        column.default = self.default(place, &column, &of, image, positions)?;
        column.generated = of.generated;
        column.check = of.check;
        Ok(column)
    }

    fn default(
        &self,
        place: usize,
        column: &ColumnDef,
        of: &ColumnExpressions,
        image: &Image,
        positions: &Positions,
    ) -> Result<ColumnDefault> {
        if of.generated.is_some() {
            return Ok(ColumnDefault::None);
        }
        if matches!(self.unireg_type(), NOW_ON_INSERT | NOW_ON_BOTH | TIMESTAMP_OLD) {
            return Ok(ColumnDefault::Verbatim(now(&column.ty, image.shown_by)));
        }
        if let Some(expression) = &of.default {
            return Ok(ColumnDefault::Verbatim(super::defaults::parenthesised(
                expression,
                image.shown_by,
            )));
        }
        let in_period = image
            .extra2
            .system_period
            .is_some_and(|(start, end)| [start, end].iter().any(|at| usize::from(*at) == place));
        let blob = matches!(column.ty, ColumnType::Blob { .. } | ColumnType::Text { .. });
        let blobs_have_none = !has_default_expressions(image.shown_by);
        if !self.has_default() || in_period || blob && blobs_have_none {
            return Ok(ColumnDefault::None);
        }
        positions
            .default_of(place, self, column, image)
            .map_err(|error| error.at_column(&self.name))
    }
}

/// Returns whether the server has expressions as defaults (since MariaDB 10.2.1), and prints
/// numbers without quotes.
pub(super) fn has_default_expressions(server: ServerVersion) -> bool {
    server.family == Family::MariaDb && server.number >= 100_201
}

/// Returns the printed form of the current time, as the default or the update of a column.
fn now(ty: &ColumnType, server: ServerVersion) -> String {
    let fsp = match ty {
        ColumnType::DateTime(temporal) | ColumnType::Timestamp(temporal) => temporal.fsp,
        _ => 0,
    };
    // MariaDB 10.2.3 prints it like any other function.
    let as_function = server.family == Family::MariaDb && server.number >= 100_203;
    match (as_function, fsp) {
        (true, 0) => "current_timestamp()".to_owned(),
        (true, fsp) => format!("current_timestamp({fsp})"),
        (false, 0) => "CURRENT_TIMESTAMP".to_owned(),
        (false, fsp) => format!("CURRENT_TIMESTAMP({fsp})"),
    }
}

/// Returns a type that is not built into the server, by its name.
fn plugin_type(name: &str, raw: &RawColumn, server: ServerVersion) -> Result<ColumnType> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "uuid" => ColumnType::uuid_of(server),
        "inet4" => ColumnType::Inet4,
        "inet6" => ColumnType::Inet6,
        "vector" => ColumnType::Vector { dimensions: u32::from(raw.length / 4) },
        "mysql_json" => ColumnType::Json,
        _ => {
            return Err(Error::unsupported(
                format!("the type {name} of column `{}`", raw.name),
                "convert the column on its server",
            ));
        }
    })
}

/// Decodes bytes from pairs of hexadecimal digits.
pub(super) fn unhex(hex: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    hex.chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
            _ => None,
        })
        .collect()
}
