//! The Arrow types that columns become.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};

/// The form of a column's values in Arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the Arrow type of its name")]
pub enum Form {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    Decimal128 {
        precision: u8,
        scale: i8,
    },
    Decimal256 {
        precision: u8,
        scale: i8,
    },
    Date,
    /// Microseconds in no time zone.
    Timestamp,
    /// Microseconds in UTC.
    TimestampUtc,
    /// Microseconds.
    Duration,
    /// Microseconds since midnight.
    Time64,
    /// Text in UTF-8, as the server shows the value.
    Text,
    /// Text with the extension type `arrow.json`.
    Json,
    Binary,
    FixedBinary(i32),
    /// Text as an index of one byte.
    Dictionary8,
    /// Text as an index of two bytes.
    Dictionary16,
    TextList,
    FloatList,
    FixedFloatList(i32),
    /// 16 bytes with the extension type `arrow.uuid`.
    Uuid,
    /// WKB without the SRID, with the extension type `geoarrow.wkb`.
    Wkb,
    /// WKB with the SRID in it, as PostGIS has it.
    Ewkb,
    /// The SRID and the WKB.
    GeometryStruct,
}

impl Form {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        let dictionary =
            |key: DataType| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
        match self {
            Form::Bool => DataType::Boolean,
            Form::Int8 => DataType::Int8,
            Form::Int16 => DataType::Int16,
            Form::Int32 => DataType::Int32,
            Form::Int64 => DataType::Int64,
            Form::UInt8 => DataType::UInt8,
            Form::UInt16 => DataType::UInt16,
            Form::UInt32 => DataType::UInt32,
            Form::UInt64 => DataType::UInt64,
            Form::Float32 => DataType::Float32,
            Form::Float64 => DataType::Float64,
            Form::Decimal128 { precision, scale } => DataType::Decimal128(precision, scale),
            Form::Decimal256 { precision, scale } => DataType::Decimal256(precision, scale),
            Form::Date => DataType::Date32,
            Form::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Form::TimestampUtc => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Form::Duration => DataType::Duration(TimeUnit::Microsecond),
            Form::Time64 => DataType::Time64(TimeUnit::Microsecond),
            Form::Text | Form::Json => DataType::Utf8,
            Form::Binary | Form::Wkb | Form::Ewkb => DataType::Binary,
            Form::FixedBinary(bytes) => DataType::FixedSizeBinary(bytes),
            Form::Uuid => DataType::FixedSizeBinary(16),
            Form::Dictionary8 => dictionary(DataType::UInt8),
            Form::Dictionary16 => dictionary(DataType::UInt16),
            Form::TextList => DataType::List(item(DataType::Utf8)),
            Form::FloatList => DataType::List(item(DataType::Float32)),
            Form::FixedFloatList(floats) => {
                DataType::FixedSizeList(item(DataType::Float32), floats)
            }
            Form::GeometryStruct => DataType::Struct(geometry_fields()),
        }
    }

    /// The form in words, as metadata and messages name it.
    pub fn name(self) -> String {
        match self {
            Form::Json => "json".to_owned(),
            Form::Uuid => "uuid".to_owned(),
            Form::Wkb => "WKB".to_owned(),
            Form::Ewkb => "EWKB".to_owned(),
            _ => self.data_type().to_string(),
        }
    }
}

/// The field of a list's items.
pub(crate) fn item(ty: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", ty, false))
}

/// The fields of [`Form::GeometryStruct`].
pub(crate) fn geometry_fields() -> Fields {
    let srid = Field::new("srid", DataType::Int64, false);
    Fields::from(vec![srid, Field::new("wkb", DataType::Binary, false)])
}
