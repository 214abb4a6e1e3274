//! The choice of a column's form.

use innoscan_engine::RowColumn;
use innoscan_format as format;
use innoscan_format::schema::{Family, ServerVersion, TableDef};
use innoscan_format::types::{Class, ColumnType, IntWidth};

use super::form::Form;
use super::{InvalidText, Kind, TypeName, TypeOptions, TypeTable, ZeroDates};

/// The most digits of a decimal of 128 bits.
const DIGITS_128: u8 = 38;
/// The digits of the largest unsigned integer of 64 bits.
const DIGITS_U64: u8 = 20;

/// The form of a column's values.
///
/// # Errors
/// The type that was chosen for the column is none that it can have.
pub(crate) fn form_of(
    column: &RowColumn,
    def: &TableDef,
    options: &TypeOptions,
) -> format::Result<Form> {
    let ty = column.ty();
    let class = column.codec().class();
    let of_column = options.columns.iter().rev();
    if let Some((_, chosen)) =
        of_column.into_iter().find(|(name, _)| is_named(def, column.name(), name))
    {
        return named_form(ty, class, *chosen).ok_or_else(|| {
            format::Error::unsupported(
                format!(
                    "the column `{}` of the type {} as {}",
                    column.name(),
                    def.type_text(ty),
                    chosen.name()
                ),
                "choose another type for the column",
            )
        });
    }
    let kind = kind_of(ty, class);
    let of_kind = options.kinds.iter().rev().find(|(chosen, _)| kind == Some(*chosen));
    // A choice for a kind is without effect on columns that cannot have the type: BIT(1) is a BIT too.
    if let Some(form) = of_kind.and_then(|(_, chosen)| named_form(ty, class, *chosen)) {
        return Ok(form);
    }
    if class == Class::Text && options.invalid_text == InvalidText::Binary {
        return Ok(Form::Binary);
    }
    let is_date =
        matches!(ty, ColumnType::Date | ColumnType::DateTime(_) | ColumnType::Timestamp(_));
    if is_date && options.zero_dates == ZeroDates::Text {
        return Ok(Form::Text);
    }
    Ok(match options.table {
        TypeTable::Native => native(ty, class, def.server),
        TypeTable::Portable => match ty {
            ColumnType::Bit { bits: 2..64 } => Form::Int64,
            _ => portable(native(ty, class, def.server)),
        },
    })
}

/// Whether a name is that of the column: alone, or after its table's.
pub(super) fn is_named(def: &TableDef, column: &str, name: &str) -> bool {
    let of_table = format!("{}.{column}", def.name);
    let of_database = format!("{}.{of_table}", def.schema);
    let names = [column, &of_table, &of_database];
    names.iter().any(|known| known.to_lowercase() == name.to_lowercase())
}

/// The kind of a column, where it is one whose type can be chosen.
fn kind_of(ty: &ColumnType, class: Class) -> Option<Kind> {
    Some(match (ty, class) {
        (ColumnType::Int { width: IntWidth::One, display_width: Some(1), .. }, _) => Kind::TinyInt1,
        (ColumnType::Int { width: IntWidth::Eight, .. }, _) if is_unsigned(ty) => Kind::U64,
        (ColumnType::Decimal { precision, .. }, _) if *precision > DIGITS_128 => Kind::WideDecimal,
        (ColumnType::Time(_), _) => Kind::Time,
        (_, Class::Bit) => Kind::Bit,
        (_, Class::Enum) => Kind::Enum,
        (_, Class::Set) => Kind::Set,
        (_, Class::Json) => Kind::Json,
        (_, Class::Geometry) => Kind::Geometry,
        (_, Class::Uuid) => Kind::Uuid,
        (_, Class::Inet) => Kind::Inet,
        _ => return None,
    })
}

fn is_unsigned(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Int { unsigned, zerofill, .. } if *unsigned || *zerofill)
}

/// The form closest to a column's own type.
fn native(ty: &ColumnType, class: Class, server: ServerVersion) -> Form {
    match ty {
        ColumnType::Int { width, .. } => match (width, is_unsigned(ty)) {
            (IntWidth::One, false) => Form::Int8,
            (IntWidth::Two, false) => Form::Int16,
            (IntWidth::Three | IntWidth::Four, false) => Form::Int32,
            (IntWidth::Eight, false) => Form::Int64,
            (IntWidth::One, true) => Form::UInt8,
            (IntWidth::Two, true) => Form::UInt16,
            (IntWidth::Three | IntWidth::Four, true) => Form::UInt32,
            (IntWidth::Eight, true) => Form::UInt64,
        },
        &ColumnType::Decimal { precision, scale, .. } if precision <= DIGITS_128 => {
            Form::Decimal128 { precision, scale: scale as i8 }
        }
        // A decimal of 256 bits becomes a DOUBLE in DuckDB without a word, and an error in others.
        ColumnType::Decimal { .. } => Form::Text,
        ColumnType::Float(_) => Form::Float32,
        ColumnType::Double(_) => Form::Float64,
        ColumnType::Bit { bits: 1 } => Form::Bool,
        ColumnType::Bit { .. } => Form::UInt64,
        ColumnType::Year { .. } => Form::Int16,
        ColumnType::Date => Form::Date,
        ColumnType::DateTime(_) => Form::Timestamp,
        ColumnType::Timestamp(_) => Form::TimestampUtc,
        ColumnType::Time(_) => Form::Duration,
        &ColumnType::Binary { bytes } | &ColumnType::Char { chars: bytes, .. }
            if class == Class::Binary && bytes > 0 =>
        {
            Form::FixedBinary(bytes as i32)
        }
        ColumnType::Enum { members, .. } => match members.len() {
            0..=255 => Form::Dictionary8,
            _ => Form::Dictionary16,
        },
        ColumnType::Geometry(_) => Form::Wkb,
        ColumnType::Uuid | ColumnType::UuidReversed => Form::Uuid,
        // MySQL's number of dimensions is the most that a value can have.
        &ColumnType::Vector { dimensions } if server.family == Family::MariaDb => {
            Form::FixedFloatList(dimensions as i32)
        }
        ColumnType::Vector { .. } => Form::FloatList,
        _ if class == Class::Binary => Form::Binary,
        _ => Form::Text,
    }
}

/// The form that all readers take, for a native one.
fn portable(native: Form) -> Form {
    match native {
        Form::Int8 | Form::Int16 | Form::UInt8 | Form::UInt16 => Form::Int32,
        Form::UInt32 => Form::Int64,
        Form::UInt64 => Form::Decimal128 { precision: DIGITS_U64, scale: 0 },
        Form::FixedBinary(_) => Form::Binary,
        Form::Dictionary8 | Form::Dictionary16 | Form::Uuid | Form::Duration => Form::Text,
        Form::FixedFloatList(_) => Form::FloatList,
        form => form,
    }
}

/// The form of a type that was chosen; `None` if the column cannot have it.
fn named_form(ty: &ColumnType, class: Class, chosen: TypeName) -> Option<Form> {
    if chosen == TypeName::Text && !class.is_binary() {
        return Some(Form::Text);
    }
    match class {
        Class::Number | Class::Bit | Class::Temporal => named_number(ty, chosen),
        Class::Enum => named_enum(ty, chosen),
        _ => named_bytes(ty, class, chosen),
    }
}

fn named_integer(chosen: TypeName) -> Option<Form> {
    Some(match chosen {
        TypeName::Bool => Form::Bool,
        TypeName::Int8 => Form::Int8,
        TypeName::Int16 => Form::Int16,
        TypeName::Int32 => Form::Int32,
        TypeName::Int64 => Form::Int64,
        TypeName::UInt8 => Form::UInt8,
        TypeName::UInt16 => Form::UInt16,
        TypeName::UInt32 => Form::UInt32,
        TypeName::UInt64 => Form::UInt64,
        TypeName::Decimal => Form::Decimal128 { precision: DIGITS_U64, scale: 0 },
        _ => return None,
    })
}

fn named_number(ty: &ColumnType, chosen: TypeName) -> Option<Form> {
    match (ty, chosen) {
        (ColumnType::Bit { .. }, TypeName::Binary) => Some(Form::Binary),
        (&ColumnType::Decimal { precision, scale, .. }, TypeName::Decimal) => {
            let scale = scale as i8;
            (precision <= DIGITS_128).then_some(Form::Decimal128 { precision, scale })
        }
        (&ColumnType::Decimal { precision, scale, .. }, TypeName::Decimal256) => {
            Some(Form::Decimal256 { precision, scale: scale as i8 })
        }
        (ColumnType::Float(_), TypeName::Float32) => Some(Form::Float32),
        (ColumnType::Float(_) | ColumnType::Double(_), TypeName::Float64) => Some(Form::Float64),
        (ColumnType::Date, TypeName::Date) => Some(Form::Date),
        (ColumnType::DateTime(_), TypeName::Timestamp) => Some(Form::Timestamp),
        (ColumnType::Timestamp(_), TypeName::Timestamp) => Some(Form::TimestampUtc),
        (ColumnType::Time(_), TypeName::Duration) => Some(Form::Duration),
        (ColumnType::Time(_), TypeName::Time64) => Some(Form::Time64),
        (ColumnType::Time(_), TypeName::Int64) => Some(Form::Int64),
        (ColumnType::Int { .. } | ColumnType::Bit { .. }, _) => named_integer(chosen),
        // Years reach 2155.
        (ColumnType::Year { .. }, TypeName::Int16 | TypeName::Int32 | TypeName::Int64) => {
            named_integer(chosen)
        }
        _ => None,
    }
}

fn named_enum(ty: &ColumnType, chosen: TypeName) -> Option<Form> {
    let ColumnType::Enum { members, .. } = ty else { return None };
    match chosen {
        TypeName::Dictionary if members.len() < 256 => Some(Form::Dictionary8),
        TypeName::Dictionary => Some(Form::Dictionary16),
        TypeName::Index => Some(Form::Int32),
        _ => None,
    }
}

fn named_bytes(ty: &ColumnType, class: Class, chosen: TypeName) -> Option<Form> {
    Some(match (class, chosen) {
        (Class::Text | Class::Json, TypeName::Json) => Form::Json,
        (Class::Text | Class::Binary, TypeName::Binary) => Form::Binary,
        (Class::Binary, TypeName::Fixed) => Form::FixedBinary(fixed_bytes(ty)?),
        (Class::Binary, TypeName::Uuid) if fixed_bytes(ty) == Some(16) => Form::Uuid,
        (Class::Set, TypeName::List) => Form::TextList,
        (Class::Vector, TypeName::List) => Form::FloatList,
        (Class::Uuid, TypeName::Uuid) => Form::Uuid,
        (Class::Uuid, TypeName::Binary) => Form::FixedBinary(16),
        (Class::Inet, TypeName::Binary) if *ty == ColumnType::Inet4 => Form::FixedBinary(4),
        (Class::Inet, TypeName::Binary) => Form::FixedBinary(16),
        (Class::Geometry, TypeName::Wkb) => Form::Wkb,
        (Class::Geometry, TypeName::Ewkb) => Form::Ewkb,
        (Class::Geometry, TypeName::Raw) => Form::Binary,
        (Class::Geometry, TypeName::Struct) => Form::GeometryStruct,
        _ => return None,
    })
}

/// The length of a `BINARY(n)`.
fn fixed_bytes(ty: &ColumnType) -> Option<i32> {
    match *ty {
        ColumnType::Binary { bytes } | ColumnType::Char { chars: bytes, .. } if bytes > 0 => {
            Some(bytes as i32)
        }
        _ => None,
    }
}
