//! Columns of numbers: integers, decimals, reals, dates and times.

use std::sync::Arc;

use arrow_array::types as arrow;
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBufferBuilder, ScalarBuffer, i256};
use arrow_schema::{ArrowError, DataType};
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::nulls::Nulls;
use super::taken;
use super::{ColumnBuilder, does_not_fit, not_of_form};
use crate::types::form::Form;

/// The number of a stored value; `None` for NULL.
pub(super) trait Read<T>:
    FnMut(&[u8], &mut Losses) -> format::Result<Option<T>> + Send
{
}

impl<T, F: FnMut(&[u8], &mut Losses) -> format::Result<Option<T>> + Send> Read<T> for F {}

/// The builder of a column of numbers of one width.
pub(super) struct Numbers<T: ArrowPrimitiveType, R> {
    values: Vec<T::Native>,
    nulls: Nulls,
    read: R,
    ty: DataType,
}

impl<T: ArrowPrimitiveType, R: Read<T::Native>> Numbers<T, R> {
    pub fn new(read: R) -> Numbers<T, R> {
        Numbers { values: Vec::new(), nulls: Nulls::default(), read, ty: T::DATA_TYPE }
    }

    /// The same numbers as an array of another type: with a time zone, or of other digits.
    pub fn with_type(self, ty: DataType) -> Numbers<T, R> {
        Numbers { ty, ..self }
    }
}

impl<T: ArrowPrimitiveType, R: Read<T::Native>> ColumnBuilder for Numbers<T, R> {
    #[inline]
    fn append(&mut self, stored: &[u8], losses: &mut Losses) -> format::Result<()> {
        match (self.read)(stored, losses)? {
            Some(value) => {
                self.values.push(value);
                self.nulls.value();
            }
            None => self.append_null(),
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.values.len());
        self.values.push(T::Native::default());
    }

    fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let values = taken(&mut self.values);
        let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(values), self.nulls.finish())?;
        Ok(Arc::new(array.with_data_type(self.ty.clone())))
    }
}

/// The builder of a column of integers of a type that may be too small for the values.
pub(super) fn integers<T: ArrowPrimitiveType>(codec: Codec, form: Form) -> Box<dyn ColumnBuilder>
where
    T::Native: TryFrom<i64> + TryFrom<u64>,
{
    match codec.integer() {
        Some(integer) if integer.is_signed() => {
            Box::new(Numbers::<T, _>::new(move |stored: &[u8], _: &mut Losses| {
                match T::Native::try_from(integer.signed(stored)?) {
                    Ok(number) => Ok(Some(number)),
                    Err(_) => Err(refused(&codec, stored, form)),
                }
            }))
        }
        Some(integer) => Box::new(Numbers::<T, _>::new(move |stored: &[u8], _: &mut Losses| {
            match T::Native::try_from(integer.unsigned(stored)?) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(refused(&codec, stored, form)),
            }
        })),
        None => Box::new(Numbers::<T, _>::new(fitting(codec, form))),
    }
}

/// Reads a `YEAR`, the bits of a `BIT`, the index of an `ENUM` or the microseconds of a `TIME` as a number of a
/// type that may be too small.
fn fitting<T: TryFrom<i64> + TryFrom<u64>>(codec: Codec, form: Form) -> impl Read<T> {
    move |stored: &[u8], _: &mut Losses| {
        let value = codec.value(stored)?;
        let number = match value {
            Value::Bit(number) => T::try_from(number).ok(),
            Value::Year(number) | Value::Enum(number) => T::try_from(u64::from(number)).ok(),
            Value::Time(time) => T::try_from(time.total_micros()).ok(),
            _ => return Err(not_of_form(&value)),
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(refused(&codec, stored, form)),
        }
    }
}

/// The error of a value that does not fit, with its text.
#[cold]
pub(super) fn refused(codec: &Codec, stored: &[u8], form: Form) -> format::Error {
    let mut text = Vec::new();
    match codec.write_utf8(stored, &mut text) {
        Ok(_) => does_not_fit(String::from_utf8_lossy(&text), &form.name()),
        Err(error) => error,
    }
}

/// A date or time; one that no calendar has is counted, and becomes NULL.
#[inline]
pub(super) fn of_calendar<T>(number: Option<T>, losses: &mut Losses) -> Option<T> {
    losses.dates_as_null += u64::from(number.is_none());
    number
}

/// The builder of a column of decimals of up to 38 digits, also of integers as such.
pub(super) fn decimals(codec: Codec, precision: u8, scale: i8) -> Box<dyn ColumnBuilder> {
    let read = move |stored: &[u8], _: &mut Losses| {
        if let Some(decimal) = codec.unchecked_decimal(stored) {
            return decimal.unscaled();
        }
        Ok(Some(match codec.value(stored)? {
            Value::Int(number) => i128::from(number),
            Value::UInt(number) | Value::Bit(number) => i128::from(number),
            value => return Err(not_of_form(&value)),
        }))
    };
    let numbers = Numbers::<arrow::Decimal128Type, _>::new(read);
    Box::new(numbers.with_type(DataType::Decimal128(precision, scale)))
}

/// The builder of a column of decimals of up to 76 digits.
pub(super) fn wide_decimals(codec: Codec, precision: u8, scale: i8) -> Box<dyn ColumnBuilder> {
    let mut text = Vec::new();
    let read = move |stored: &[u8], _: &mut Losses| {
        text.clear();
        codec.write_text(stored, &mut text)?;
        text.retain(|&byte| byte != b'.');
        let digits = str::from_utf8(&text).ok().and_then(i256::from_string);
        digits
            .map(Some)
            .ok_or_else(|| format::Error::corrupt("the digits of a decimal are no number"))
    };
    let numbers = Numbers::<arrow::Decimal256Type, _>::new(read);
    Box::new(numbers.with_type(DataType::Decimal256(precision, scale)))
}

/// The builder of a column of `TIME` as a duration, or as a time of day.
pub(super) fn times(codec: Codec, form: Form) -> Box<dyn ColumnBuilder> {
    const DAY_MICROS: i64 = 86_400_000_000;
    let read = move |stored: &[u8], _: &mut Losses| match codec.value(stored)? {
        Value::Time(time) => match time.total_micros() {
            micros if form == Form::Time64 && !(0..DAY_MICROS).contains(&micros) => {
                Err(refused(&codec, stored, form))
            }
            micros => Ok(Some(micros)),
        },
        value => Err(not_of_form(&value)),
    };
    match form {
        Form::Time64 => Box::new(Numbers::<arrow::Time64MicrosecondType, _>::new(read)),
        _ => Box::new(Numbers::<arrow::DurationMicrosecondType, _>::new(read)),
    }
}

/// The builder of a column of booleans: of numbers that are 0 or 1.
pub(super) struct Booleans {
    codec: Codec,
    values: BooleanBufferBuilder,
    nulls: Nulls,
}

impl Booleans {
    pub fn new(codec: Codec) -> Booleans {
        Booleans { codec, values: BooleanBufferBuilder::new(1024), nulls: Nulls::default() }
    }
}

impl ColumnBuilder for Booleans {
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let value = match self.codec.value(stored)? {
            Value::Int(0) | Value::UInt(0) | Value::Bit(0) => false,
            Value::Int(1) | Value::UInt(1) | Value::Bit(1) => true,
            Value::Int(_) | Value::UInt(_) | Value::Bit(_) => {
                return Err(refused(&self.codec, stored, Form::Bool));
            }
            value => return Err(not_of_form(&value)),
        };
        self.values.append(value);
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.values.len());
        self.values.append(false);
    }

    fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(BooleanArray::new(self.values.finish(), self.nulls.finish())))
    }
}
