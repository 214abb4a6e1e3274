//! Comparisons of Arrow values as conditions of a scan.
//!
//! A query engine passes its comparisons on so that a scan skips pages, and filters the rows again. A condition may
//! therefore let more rows through than the comparison, but never fewer. That is why text is only compared by
//! equality: equal text is equal in every collation, but its order differs. Floats are left out because Arrow's total
//! order has -0 below 0, and `TIME` because engines disagree about its type.

use std::collections::HashMap;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DecimalType, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampNanosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use innoscan_engine::condition::{RowCondition, RowFilter};
use innoscan_format::charset::{Charset, CollationId};
use innoscan_format::schema::{ColumnDef, TableDef};
use innoscan_format::types::ColumnType;

/// How a column's values compare with others, in Arrow and in the server's SQL alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparable {
    /// As integers.
    Integer,
    /// As decimals with so many digits after the point.
    Decimal {
        /// The digits after the point.
        scale: i8,
    },
    /// As days.
    Date,
    /// As times without a time zone.
    DateTime,
    /// As times in UTC.
    Timestamp,
    /// As text, by equality alone.
    Text,
    /// As bytes.
    Bytes,
}

impl Comparable {
    /// How the values of a column compare that has this field in Arrow; `None` where that differs from the server.
    fn of(column: &ColumnDef, field: &Field) -> Option<Comparable> {
        let ty = field.data_type();
        Some(match (&column.ty, ty) {
            (ColumnType::Int { .. } | ColumnType::Year { .. }, _) if ty.is_integer() => {
                Comparable::Integer
            }
            (
                ColumnType::Decimal { .. },
                &(DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)),
            ) => Comparable::Decimal { scale },
            (ColumnType::Date, DataType::Date32) => Comparable::Date,
            (ColumnType::DateTime(_), DataType::Timestamp(_, None)) => Comparable::DateTime,
            (ColumnType::Timestamp(_), DataType::Timestamp(_, Some(_))) => Comparable::Timestamp,
            (
                &(ColumnType::Char { collation, .. }
                | ColumnType::VarChar { collation, .. }
                | ColumnType::Text { collation, .. }),
                DataType::Utf8,
            ) if decodes_one_to_one(collation) => Comparable::Text,
            (
                ColumnType::Binary { .. } | ColumnType::VarBinary { .. } | ColumnType::Blob { .. },
                DataType::Binary | DataType::FixedSizeBinary(_),
            ) => Comparable::Bytes,
            _ => return None,
        })
    }

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Comparable::Integer => "integer",
            Comparable::Decimal { .. } => "decimal",
            Comparable::Date => "date",
            Comparable::DateTime => "datetime",
            Comparable::Timestamp => "timestamp",
            Comparable::Text => "text",
            Comparable::Bytes => "bytes",
        }
    }

    /// Whether the order of the values is the server's, and not only their equality.
    pub fn is_ordered(self) -> bool {
        self != Comparable::Text
    }

    /// Whether values that are cast to a type compare as before.
    pub fn is_kept_by_cast(self, to: &DataType) -> bool {
        use DataType::*;
        match self {
            Comparable::Integer => to.is_integer(),
            Comparable::Decimal { scale } => {
                matches!(to, Decimal128(_, of) | Decimal256(_, of) if *of >= scale)
            }
            Comparable::Date => false,
            Comparable::DateTime => {
                matches!(to, Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, None))
            }
            Comparable::Timestamp => {
                matches!(to, Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, Some(_)))
            }
            Comparable::Text => matches!(to, Utf8 | LargeUtf8 | Utf8View),
            Comparable::Bytes => matches!(to, Binary | LargeBinary | BinaryView),
        }
    }

    /// A value as a condition has it; `None` for NULL, and where values of that type do not compare so.
    pub fn literal(self, values: &dyn Array, row: usize) -> Option<String> {
        if values.is_null(row) {
            return None;
        }
        match self {
            Comparable::Integer => integer(values, row),
            Comparable::Decimal { .. } => integer(values, row).or_else(|| decimal(values, row)),
            Comparable::Date => {
                let days = values.as_primitive_opt::<Date32Type>()?.value(row);
                Some(format!("'{}'", Date32Type::to_naive_date_opt(days)?))
            }
            Comparable::DateTime | Comparable::Timestamp => {
                let DataType::Timestamp(_, zone) = values.data_type() else { return None };
                let has_zone = self == Comparable::Timestamp;
                micros(values, row).filter(|_| zone.is_some() == has_zone).and_then(time)
            }
            Comparable::Text => quoted(text(values, row)?),
            Comparable::Bytes => {
                let digits = bytes(values, row)?.iter().map(|byte| format!("{byte:02x}"));
                Some(format!("0x{}", digits.collect::<String>()))
            }
        }
    }
}

/// Whether different bytes are different text.
fn decodes_one_to_one(collation: CollationId) -> bool {
    use Charset::*;
    let charset = collation.charset();
    charset.is_ok_and(|charset| {
        matches!(charset, Ascii | Latin1 | Ucs2 | Utf16 | Utf16Le | Utf32 | Utf8Mb3 | Utf8Mb4)
    })
}

fn integer(values: &dyn Array, row: usize) -> Option<String> {
    macro_rules! number {
        ($ty:ty) => {
            values.as_primitive_opt::<$ty>()?.value(row).to_string()
        };
    }
    Some(match values.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        _ => return None,
    })
}

fn decimal(values: &dyn Array, row: usize) -> Option<String> {
    let digits = match *values.data_type() {
        DataType::Decimal128(precision, scale) => {
            let value = values.as_primitive_opt::<Decimal128Type>()?.value(row);
            Decimal128Type::format_decimal(value, precision, scale)
        }
        DataType::Decimal256(precision, scale) => {
            let value = values.as_primitive_opt::<Decimal256Type>()?.value(row);
            Decimal256Type::format_decimal(value, precision, scale)
        }
        _ => return None,
    };
    Some(without_trailing_zeros(&digits).to_owned())
}

/// A number without zeros at the end of its fraction: servers round fractions that are longer than the column's.
fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// A time in microseconds; `None` where it is finer.
fn micros(values: &dyn Array, row: usize) -> Option<i64> {
    if let Some(nanos) = values.as_primitive_opt::<TimestampNanosecondType>() {
        let nanos = nanos.value(row);
        return (nanos % 1000 == 0).then_some(nanos / 1000);
    }
    Some(values.as_primitive_opt::<TimestampMicrosecondType>()?.value(row))
}

fn time(micros: i64) -> Option<String> {
    let time = timestamp_us_to_datetime(micros)?.format("%Y-%m-%d %H:%M:%S%.6f").to_string();
    Some(format!("'{}'", without_trailing_zeros(&time)))
}

fn text(values: &dyn Array, row: usize) -> Option<&str> {
    match values.data_type() {
        DataType::Utf8 => Some(values.as_string_opt::<i32>()?.value(row)),
        DataType::LargeUtf8 => Some(values.as_string_opt::<i64>()?.value(row)),
        DataType::Utf8View => Some(values.as_string_view_opt()?.value(row)),
        _ => None,
    }
}

/// Text in quotes; `None` where it has U+FFFD, which stands for bytes that are no text.
fn quoted(text: &str) -> Option<String> {
    let is_exact = !text.contains(char::REPLACEMENT_CHARACTER);
    is_exact.then(|| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")))
}

fn bytes(values: &dyn Array, row: usize) -> Option<&[u8]> {
    match values.data_type() {
        DataType::Binary => Some(values.as_binary_opt::<i32>()?.value(row)),
        DataType::LargeBinary => Some(values.as_binary_opt::<i64>()?.value(row)),
        DataType::BinaryView => Some(values.as_binary_view_opt()?.value(row)),
        DataType::FixedSizeBinary(_) => Some(values.as_fixed_size_binary_opt()?.value(row)),
        _ => None,
    }
}

/// The columns of a table whose comparisons a scan can take over.
#[derive(Clone, Debug)]
pub struct PushDown {
    def: TableDef,
    columns: HashMap<String, Comparable>,
}

impl PushDown {
    /// The columns of a table that has this schema.
    pub fn new(def: &TableDef, schema: &Schema) -> PushDown {
        let columns = def.columns.iter().filter_map(|column| {
            let (_, field) = schema.column_with_name(&column.name)?;
            Some((column.name.clone(), Comparable::of(column, field)?))
        });
        PushDown { def: def.clone(), columns: columns.collect() }
    }

    /// How a column's values compare; `None` where a scan cannot compare them.
    pub fn column(&self, name: &str) -> Option<Comparable> {
        self.columns.get(name).copied()
    }

    /// The columns, and how their values compare.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Comparable)> {
        self.columns.iter().map(|(name, comparable)| (name.as_str(), *comparable))
    }

    /// Whether a scan takes a condition. It refuses those for which servers disagree, or that no row can satisfy.
    pub fn accepts(&self, condition: &str) -> bool {
        let condition = RowCondition::parse_where(condition);
        condition.and_then(|condition| RowFilter::new(&condition, &self.def)).is_ok()
    }
}
