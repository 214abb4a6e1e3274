//! Columns of an SDI document: type, default and attributes.

use super::json::{Object, Properties};
use crate::charset::{Charset, CollationId};
use crate::schema::create_table::{Quoting, push_identifier};
use crate::schema::{ColumnDef, ColumnDefault, Generated, ServerVersion};
use crate::types::{ColumnType, GeometryKind, IntWidth, RealFormat, Temporal, TemporalFormat};
use crate::{Cause, Error, Result};

/// The visibility of a column (`dd::Column::enum_hidden_type`, column.h, MySQL 9.7).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// Visible to everyone.
    Visible,
    /// Visible to InnoDB only: `DB_TRX_ID` and the like, instantly dropped columns.
    Engine,
    /// Visible to the server only: the column behind a functional key part.
    Server,
    /// Visible only to statements that name the column.
    Invisible,
}

/// A column with the dictionary's additions to its SQL definition.
pub(super) struct DdColumn {
    /// The column's SQL definition.
    pub(super) def: ColumnDef,
    /// The column's visibility.
    pub(super) visibility: Visibility,
    /// Maximum length of a value in bytes (`char_length`).
    pub(super) length_bytes: u32,
    /// Properties stored by InnoDB.
    pub(super) engine_data: Properties,
}

impl DdColumn {
    /// Parses an element of `columns`.
    pub(super) fn read(column: Object<'_>, server: ServerVersion) -> Result<DdColumn> {
        let name = column.text("name")?;
        DdColumn::read_named(column, name, server).map_err(|error| match error.cause() {
            Cause::Schema(what) => Error::schema(format!("column `{name}`: {what}")),
            _ => error.at_column(name),
        })
    }

    fn read_named(column: Object<'_>, name: &str, server: ServerVersion) -> Result<DdColumn> {
        let visibility = match column.number::<u8>("hidden")? {
            // Before 8.0.23 there were only these three (true and false in 8.0.2-).
            1 => Visibility::Visible,
            2 => Visibility::Engine,
            3 => Visibility::Server,
            4 => Visibility::Invisible,
            other => return Err(Error::schema(format!("visibility {other} is not known"))),
        };
        let options = column.properties("options")?;
        let ty = column_type(column, &options)?;
        let mut def = ColumnDef::new(name, ty);
        def.nullable = column.flag("is_nullable")?;
        def.auto_increment = column.flag("is_auto_increment")?;
        def.invisible = visibility == Visibility::Invisible;
        def.explicit_collation = column.flag("is_explicit_collation")?;
        def.comment = column.text("comment")?.to_owned();
        let expression = column.text("generation_expression")?;
        if !expression.is_empty() {
            let stored = !column.flag("is_virtual")?;
            def.generated = Some(Generated { expression: expression.to_owned(), stored });
        }
        def.default = default(column, &def, server)?;
        let on_update = column.text("update_option")?;
        def.on_update = (!on_update.is_empty()).then(|| on_update.to_owned());
        // 8.0.3 added the reference systems.
        if !column.flag("srs_id_null")? {
            def.srid = Some(column.number("srs_id")?);
        }
        attributes(column, &options, &mut def)?;
        Ok(DdColumn {
            def,
            visibility,
            length_bytes: column.number("char_length")?,
            engine_data: column.properties("se_private_data")?,
        })
    }
}

/// Sets the attributes that print after the type.
fn attributes(column: Object<'_>, options: &Properties, def: &mut ColumnDef) -> Result<()> {
    if let Some(policy) = options.text("masking_policy") {
        let mut attribute = String::from("MASKING POLICY ");
        push_identifier(&mut attribute, policy, Quoting::Always);
        def.attributes.push(attribute);
    }
    if options.flag("not_secondary")? == Some(true) {
        def.attributes.push("NOT SECONDARY".to_owned());
    }
    match options.number::<u8>("storage")? {
        Some(1) => def.attributes.push("/*!50606 STORAGE DISK */".to_owned()),
        Some(2) => def.attributes.push("/*!50606 STORAGE MEMORY */".to_owned()),
        _ => {}
    }
    match options.number::<u8>("column_format")? {
        Some(1) => def.attributes.push("/*!50606 COLUMN_FORMAT FIXED */".to_owned()),
        Some(2) => def.attributes.push("/*!50606 COLUMN_FORMAT DYNAMIC */".to_owned()),
        _ => {}
    }
    def.attributes.extend(super::options::engine_attributes(column, ' ')?);
    Ok(())
}

/// Returns the type (`dd::enum_column_types`, column.h, MySQL 9.7).
fn column_type(column: Object<'_>, options: &Properties) -> Result<ColumnType> {
    let collation = CollationId(column.number("collation_id")?);
    let length = column.number::<u32>("char_length")?;
    let ty = match column.number::<u8>("type")? {
        2 => integer(column, IntWidth::One)?,
        3 => integer(column, IntWidth::Two)?,
        4 => integer(column, IntWidth::Four)?,
        9 => integer(column, IntWidth::Eight)?,
        10 => integer(column, IntWidth::Three)?,
        5 => ColumnType::Float(real_format(column)?),
        6 => ColumnType::Double(real_format(column)?),
        21 => decimal(column)?,
        11 | 15 => ColumnType::Date,
        8 => ColumnType::Timestamp(old_temporal()),
        12 => ColumnType::Time(old_temporal()),
        13 => ColumnType::DateTime(old_temporal()),
        18 => ColumnType::Timestamp(temporal(length, 19)?),
        19 => ColumnType::DateTime(temporal(length, 19)?),
        20 => ColumnType::Time(temporal(length, 10)?),
        14 => ColumnType::Year { digits: if length == 2 { 2 } else { 4 } },
        17 => ColumnType::Bit { bits: column.number("char_length")? },
        16 | 28 if collation == CollationId::BINARY => ColumnType::VarBinary { bytes: length },
        16 | 28 => ColumnType::VarChar { chars: chars(length, collation)?, collation },
        29 if collation == CollationId::BINARY => ColumnType::Binary { bytes: length },
        29 => ColumnType::Char { chars: chars(length, collation)?, collation },
        22 => ColumnType::Enum { members: members(column)?, collation },
        23 => ColumnType::Set { members: members(column)?, collation },
        24 => text_or_blob(1, collation),
        27 => text_or_blob(2, collation),
        25 => text_or_blob(3, collation),
        26 => text_or_blob(4, collation),
        30 => ColumnType::Geometry(geometry_kind(options)?),
        31 => ColumnType::Json,
        32 => ColumnType::Vector { dimensions: length / 4 },
        other => return Err(Error::schema(format!("type number {other} is not known"))),
    };
    Ok(ty)
}

fn integer(column: Object<'_>, width: IntWidth) -> Result<ColumnType> {
    let length = column.number::<u32>("char_length")?;
    Ok(ColumnType::Int {
        width,
        unsigned: column.flag("is_unsigned")?,
        zerofill: column.flag("is_zerofill")?,
        display_width: u8::try_from(length).ok(),
    })
}

fn real_format(column: Object<'_>) -> Result<RealFormat> {
    let digits = if column.flag("numeric_scale_null")? {
        None
    } else {
        Some((column.number("char_length")?, column.number("numeric_scale")?))
    };
    Ok(RealFormat {
        digits,
        unsigned: column.flag("is_unsigned")?,
        zerofill: column.flag("is_zerofill")?,
    })
}

/// Returns a `DECIMAL`. An instantly dropped column keeps its length but not its precision, which
/// is the length without sign and point (`my_decimal_length_to_precision`, my_decimal.h, MySQL
/// 9.7).
fn decimal(column: Object<'_>) -> Result<ColumnType> {
    let scale = column.number::<u8>("numeric_scale")?;
    let unsigned = column.flag("is_unsigned")?;
    let precision = match column.number::<u8>("numeric_precision")? {
        0 => {
            let length = column.number::<u8>("char_length")?;
            length.saturating_sub(u8::from(scale > 0)).saturating_sub(u8::from(!unsigned))
        }
        precision => precision,
    };
    if !(1..=65).contains(&precision) || scale > precision {
        return Err(Error::schema(format!("DECIMAL({precision},{scale}) does not exist")));
    }
    Ok(ColumnType::Decimal { precision, scale, unsigned, zerofill: column.flag("is_zerofill")? })
}

/// Derives the fraction's digits from the length in characters: beyond `whole` are a point and the
/// fraction. (`datetime_precision` is not kept for an instantly dropped column.)
fn temporal(length: u32, whole: u32) -> Result<Temporal> {
    let fsp = match length.checked_sub(whole) {
        Some(0) => 0,
        Some(more @ 2..=7) => (more - 1) as u8,
        _ => return Err(Error::schema(format!("a temporal column of {length} characters"))),
    };
    Ok(Temporal { fsp, format: TemporalFormat::New })
}

fn old_temporal() -> Temporal {
    Temporal { fsp: 0, format: TemporalFormat::Old }
}

fn chars(length_bytes: u32, collation: CollationId) -> Result<u32> {
    Ok(length_bytes / (collation.charset()?.max_len() as u32).max(1))
}

fn text_or_blob(length_bytes: u8, collation: CollationId) -> ColumnType {
    if collation == CollationId::BINARY {
        ColumnType::Blob { length_bytes }
    } else {
        ColumnType::Text { length_bytes, collation }
    }
}

fn members(column: Object<'_>) -> Result<Vec<Vec<u8>>> {
    column.objects("elements")?.map(|element| element?.binary("name")).collect()
}

/// Returns the geometry type, `Field::geometry_type` (field.h, MySQL 9.7); not kept for an
/// instantly dropped column.
fn geometry_kind(options: &Properties) -> Result<GeometryKind> {
    Ok(match options.number::<u8>("geom_type")?.unwrap_or(0) {
        0 => GeometryKind::Geometry,
        1 => GeometryKind::Point,
        2 => GeometryKind::LineString,
        3 => GeometryKind::Polygon,
        4 => GeometryKind::MultiPoint,
        5 => GeometryKind::MultiLineString,
        6 => GeometryKind::MultiPolygon,
        7 => GeometryKind::GeometryCollection,
        other => return Err(Error::schema(format!("geometry type {other} is not known"))),
    })
}

/// Returns the default as `SHOW CREATE TABLE` finds it (`print_default_clause`, sql_show.cc, and
/// `fill_column_from_dd`, dd_table_share.cc, MySQL 9.7): a literal of a text type is taken from the
/// record image, since the text beside it lacks characters outside three-byte UTF-8.
fn default(column: Object<'_>, def: &ColumnDef, server: ServerVersion) -> Result<ColumnDefault> {
    if def.generated.is_some() || def.auto_increment || column.flag("has_no_default")? {
        return Ok(ColumnDefault::None);
    }
    let option = column.text("default_option")?;
    if option.starts_with("CURRENT_TIMESTAMP") {
        return Ok(ColumnDefault::Verbatim(option.to_owned()));
    }
    if !option.is_empty() {
        return Ok(ColumnDefault::Verbatim(format!("({option})")));
    }
    if matches!(def.ty, ColumnType::Text { .. } | ColumnType::Blob { .. }) {
        return Ok(ColumnDefault::None);
    }
    if column.flag("default_value_null")? {
        return Ok(if def.nullable { ColumnDefault::Null } else { ColumnDefault::None });
    }
    let text = column.text("default_value_utf8")?;
    if matches!(def.ty, ColumnType::Bit { .. }) {
        return Ok(ColumnDefault::Verbatim(text.to_owned()));
    }
    let image = column.binary("default_value")?;
    Ok(match text_of_image(&def.ty, &image) {
        Some((charset, bytes)) => literal(charset, &bytes, server),
        None => ColumnDefault::Quoted(text.to_owned()),
    })
}

/// Returns the text in a record image (`Field::ptr`, numbers little-endian), for types of text.
fn text_of_image(ty: &ColumnType, image: &[u8]) -> Option<(Charset, Vec<u8>)> {
    let number = || image.iter().take(8).rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    match ty {
        ColumnType::Binary { .. } => Some((Charset::Binary, image.to_vec())),
        ColumnType::VarBinary { bytes } => {
            Some((Charset::Binary, var_image(*bytes, image)?.to_vec()))
        }
        ColumnType::Char { collation, .. } => {
            let charset = collation.charset().ok()?;
            Some((charset, charset.trim_end(image).to_vec()))
        }
        ColumnType::VarChar { chars, collation } => {
            let charset = collation.charset().ok()?;
            let most_bytes = chars.saturating_mul(charset.max_len() as u32);
            Some((charset, var_image(most_bytes, image)?.to_vec()))
        }
        ColumnType::Enum { members, collation } => {
            let place = usize::try_from(number()).ok()?.checked_sub(1);
            let member = place.and_then(|place| members.get(place)).map_or(&[][..], Vec::as_slice);
            Some((collation.charset().ok()?, member.to_vec()))
        }
        ColumnType::Set { members, collation } => {
            let bits = number();
            let charset = collation.charset().ok()?;
            let chosen = members.iter().take(64).enumerate();
            let chosen = chosen.filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, member)| member);
            // A charset of several bytes per character has no single-byte comma.
            let comma: &[u8] = if charset.min_len() > 1 { return None } else { b"," };
            Some((charset, chosen.map(Vec::as_slice).collect::<Vec<_>>().join(comma)))
        }
        _ => None,
    }
}

fn var_image(most_bytes: u32, image: &[u8]) -> Option<&[u8]> {
    match image {
        [length, rest @ ..] if most_bytes < 256 => rest.get(..usize::from(*length)),
        [low, high, rest @ ..] => rest.get(..usize::from(u16::from_le_bytes([*low, *high]))),
        _ => None,
    }
}

/// Returns a literal: in quotes when it is representable in the server's own UTF-8, of at most
/// three bytes per character; in hexadecimal otherwise. The first servers print question marks
/// instead.
fn literal(charset: Charset, bytes: &[u8], server: ServerVersion) -> ColumnDefault {
    let mut utf8 = Vec::new();
    let lost = match charset {
        // The server examines the bytes as if they were its UTF-8.
        Charset::Binary => Charset::Utf8Mb4.decode(bytes, &mut utf8),
        _ => charset.decode(bytes, &mut utf8),
    };
    let text = String::from_utf8_lossy(&utf8);
    let is_long = |character: char| character > '\u{ffff}';
    if lost == 0 && !text.contains(is_long) {
        return ColumnDefault::Quoted(text.into_owned());
    }
    if server.number < FIRST_WITH_HEX_DEFAULTS {
        let unsayable = |character| is_long(character) || character == char::REPLACEMENT_CHARACTER;
        return ColumnDefault::Quoted(text.replace(unsayable, "?"));
    }
    let digits = bytes.iter().map(|byte| format!("{byte:02X}"));
    ColumnDefault::Verbatim(format!("0x{}", digits.collect::<String>()))
}

/// The first version with hexadecimal digits: 8.0.12 prints question marks, 8.0.33 digits.
const FIRST_WITH_HEX_DEFAULTS: u32 = 80_013;
