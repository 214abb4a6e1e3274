//! Keys and ranges of keys from typed values.

use std::ops::{
    Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

use innoscan_format::types::{write_inet4, write_inet6, write_uuid};
use innoscan_format::value::Value;

use crate::condition::{Literal, LiteralRange};
use crate::{Error, Result};

/// The value of a key's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue(Literal);

/// The values of the first columns of a key, or of all its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Vec<Literal>);

/// A range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    from: Bound<Key>,
    to: Bound<Key>,
}

/// A type that can be a key: a value, or a tuple, array or vector of values for the key's first columns.
///
/// Numbers stand for integers, `DECIMAL`, `FLOAT`, `DOUBLE`, `BIT` and `YEAR`; text for text,
/// members of an `ENUM`, addresses, `UUID`, and dates and times as the server prints them, in UTC;
/// bytes for `BINARY` and `VARBINARY`.
pub trait IntoKey {
    /// Converts to a key.
    fn into_key(self) -> Key;
}

/// A type that can be a range of keys: a key, which stands for all keys that begin with it, or a Rust
/// range of keys.
pub trait IntoKeyRange {
    /// Converts to a range of keys.
    fn into_key_range(self) -> KeyRange;
}

impl KeyValue {
    /// A key's value from the value of a row's column.
    ///
    /// # Errors
    /// The value is an `ENUM` or `SET`, since a key takes only their text (`Row::utf8`); or a `JSON`,
    /// `GEOMETRY` or `VECTOR`, which cannot be key columns.
    pub fn from_value(value: Value<'_>) -> Result<KeyValue> {
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut text = Vec::new();
            write(&mut text);
            KeyValue(Literal::Text(String::from_utf8_lossy(&text).into_owned()))
        };
        Ok(match value {
            Value::Int(number) => number.into(),
            Value::UInt(number) | Value::Bit(number) => number.into(),
            Value::Year(number) => number.into(),
            Value::Float(number) => number.into(),
            Value::Double(number) => number.into(),
            Value::Decimal(decimal) => {
                let mut digits = Vec::new();
                decimal.write_text(&mut digits)?;
                KeyValue(Literal::Number(String::from_utf8_lossy(&digits).into_owned()))
            }
            Value::Date(date) => text(&|out| date.write_text(out)),
            Value::Time(time) => text(&|out| time.write_text(out)),
            Value::DateTime(datetime) => text(&|out| datetime.write_text(out)),
            Value::Timestamp(timestamp) => text(&|out| timestamp.write_text(out)),
            Value::Text(bytes, collation) => {
                let mut decoded = Vec::new();
                match collation.charset()?.decode(bytes, &mut decoded) {
                    0 => text(&|out| out.extend_from_slice(&decoded)),
                    _ => bytes.into(),
                }
            }
            Value::Bytes(bytes) => bytes.into(),
            Value::Inet4(address) => text(&|out| write_inet4(address, out)),
            Value::Inet6(address) => text(&|out| write_inet6(address, out)),
            Value::Uuid(uuid) => text(&|out| write_uuid(uuid, out)),
            _ => {
                let why = format!("{value:?} cannot be a key's value");
                return Err(Error::usage(why, "give the text of an ENUM or SET"));
            }
        })
    }
}

impl Key {
    /// A key from values of its first columns.
    pub fn new(values: impl IntoIterator<Item = KeyValue>) -> Key {
        Key(values.into_iter().map(|value| value.0).collect())
    }
}

impl KeyRange {
    /// The range of keys between two bounds. A bound with fewer values than the key has columns stands for
    /// all keys that begin with it; an included bound includes all of them.
    pub fn new(from: Bound<Key>, to: Bound<Key>) -> KeyRange {
        KeyRange { from, to }
    }

    fn of<K: IntoKey + Clone>(range: &impl RangeBounds<K>) -> KeyRange {
        let key = |key: &K| key.clone().into_key();
        KeyRange { from: range.start_bound().map(key), to: range.end_bound().map(key) }
    }

    pub(crate) fn into_literals(self) -> LiteralRange {
        (self.from.map(|key| key.0), self.to.map(|key| key.0))
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for KeyValue {
            fn from(number: $number) -> KeyValue {
                KeyValue(Literal::Number(number.to_string()))
            }
        }
    )*};
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize, f64);

impl From<f32> for KeyValue {
    fn from(number: f32) -> KeyValue {
        f64::from(number).into()
    }
}

impl From<&str> for KeyValue {
    fn from(text: &str) -> KeyValue {
        KeyValue(Literal::Text(text.to_owned()))
    }
}

impl From<String> for KeyValue {
    fn from(text: String) -> KeyValue {
        KeyValue(Literal::Text(text))
    }
}

impl From<&[u8]> for KeyValue {
    fn from(bytes: &[u8]) -> KeyValue {
        KeyValue(Literal::Bytes(bytes.to_vec()))
    }
}

impl From<Vec<u8>> for KeyValue {
    fn from(bytes: Vec<u8>) -> KeyValue {
        KeyValue(Literal::Bytes(bytes))
    }
}

macro_rules! keys_of_one_value {
    ($($value:ty),*) => {$(
        impl IntoKey for $value {
            fn into_key(self) -> Key {
                Key::new([self.into()])
            }
        }

        impl IntoKeyRange for $value {
            fn into_key_range(self) -> KeyRange {
                one(self)
            }
        }
    )*};
}

keys_of_one_value!(
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    i128,
    u128,
    isize,
    usize,
    f32,
    f64,
    &str,
    String,
    &[u8],
    Vec<u8>,
    KeyValue
);

macro_rules! keys_of_several_values {
    ($($value:ident),*) => {
        impl<$($value: Into<KeyValue>),*> IntoKey for ($($value,)*) {
            #[expect(non_snake_case, reason = "named as the types are")]
            fn into_key(self) -> Key {
                let ($($value,)*) = self;
                Key::new([$($value.into()),*])
            }
        }

        impl<$($value: Into<KeyValue>),*> IntoKeyRange for ($($value,)*) {
            fn into_key_range(self) -> KeyRange {
                one(self)
            }
        }
    };
}

keys_of_several_values!(A);
keys_of_several_values!(A, B);
keys_of_several_values!(A, B, C);
keys_of_several_values!(A, B, C, D);
keys_of_several_values!(A, B, C, D, E);

impl IntoKey for Key {
    fn into_key(self) -> Key {
        self
    }
}

impl IntoKey for Vec<KeyValue> {
    fn into_key(self) -> Key {
        Key::new(self)
    }
}

impl IntoKeyRange for Key {
    fn into_key_range(self) -> KeyRange {
        one(self)
    }
}

impl IntoKeyRange for Vec<KeyValue> {
    fn into_key_range(self) -> KeyRange {
        one(self)
    }
}

impl IntoKeyRange for KeyRange {
    fn into_key_range(self) -> KeyRange {
        self
    }
}

impl IntoKeyRange for RangeFull {
    fn into_key_range(self) -> KeyRange {
        KeyRange::new(Bound::Unbounded, Bound::Unbounded)
    }
}

macro_rules! ranges {
    ($($range:ident),*) => {$(
        impl<K: IntoKey + Clone> IntoKeyRange for $range<K> {
            fn into_key_range(self) -> KeyRange {
                KeyRange::of(&self)
            }
        }
    )*};
}

ranges!(Range, RangeInclusive, RangeFrom, RangeTo, RangeToInclusive);

/// The range of all keys that begin with a key.
fn one(key: impl IntoKey) -> KeyRange {
    let key = key.into_key();
    KeyRange::new(Bound::Included(key.clone()), Bound::Included(key))
}
