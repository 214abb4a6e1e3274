//! Builders of Arrow arrays from stored values: one per column and batch.

mod bytes;
mod dictionary;
mod ends;
mod fixed;
mod geometry;
mod lists;
mod nulls;
mod numbers;

use arrow_array::ArrayRef;
use arrow_array::types as arrow;
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use self::bytes::{binaries, texts};
use self::dictionary::{Dictionary, Members};
use self::fixed::{FixedBinaries, FixedFloatLists};
use self::geometry::{Geometries, ewkb, wkb};
use self::lists::{FloatLists, TextLists};
use self::numbers::{Booleans, Numbers, integers, refused};
use crate::types::form::Form;

/// The builder of one column's array.
pub(crate) trait ColumnBuilder: Send {
    /// Appends a value. After an error the array has no more rows than before, or an unfinished one, which
    /// [`ColumnBuilder::truncate`] removes.
    ///
    /// # Errors
    /// The value is damaged, or does not fit the column's form.
    fn append(&mut self, stored: &[u8], losses: &mut Losses) -> format::Result<()>;

    /// Appends NULL.
    fn append_null(&mut self);

    /// Removes all but the first rows.
    fn truncate(&mut self, rows: usize);

    /// The array of all rows; the builder is empty then.
    ///
    /// # Errors
    /// The values are no array of this type.
    fn finish(&mut self) -> Result<ArrayRef, arrow_schema::ArrowError>;
}

/// What a builder is made from; shared by all batches of a column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnRule {
    pub codec: Codec,
    pub form: Form,
    /// The SRID that all geometries should have.
    pub srid: u32,
    /// Whether dates that no calendar has are errors.
    pub refuses_zero_dates: bool,
    /// Whether invalid text is an error.
    pub refuses_invalid_text: bool,
    /// The texts of an ENUM's or SET's members.
    pub members: Members,
}

impl ColumnRule {
    /// An empty builder.
    pub fn builder(&self) -> Box<dyn ColumnBuilder> {
        let codec = self.codec.clone();
        match self.form {
            Form::Bool => Box::new(Booleans::new(codec)),
            Form::Int8 => integers::<arrow::Int8Type>(codec, self.form),
            Form::Int16 => integers::<arrow::Int16Type>(codec, self.form),
            Form::Int32 => integers::<arrow::Int32Type>(codec, self.form),
            Form::Int64 => integers::<arrow::Int64Type>(codec, self.form),
            Form::UInt8 => integers::<arrow::UInt8Type>(codec, self.form),
            Form::UInt16 => integers::<arrow::UInt16Type>(codec, self.form),
            Form::UInt32 => integers::<arrow::UInt32Type>(codec, self.form),
            Form::UInt64 => integers::<arrow::UInt64Type>(codec, self.form),
            Form::Float32 | Form::Float64 => self.reals(),
            Form::Decimal128 { precision, scale } => numbers::decimals(codec, precision, scale),
            Form::Decimal256 { precision, scale } => {
                numbers::wide_decimals(codec, precision, scale)
            }
            Form::Date | Form::Timestamp | Form::TimestampUtc => self.dates(),
            Form::Duration | Form::Time64 => numbers::times(codec, self.form),
            Form::Text | Form::Json => texts(codec, self.refuses_invalid_text),
            // Text stays in its own charset.
            Form::Binary => binaries(move |stored: &[u8], out: &mut Vec<u8>, _: &mut Losses| {
                codec.write_text(stored, out)
            }),
            Form::FixedBinary(bytes) => Box::new(FixedBinaries::new(codec, bytes)),
            Form::Uuid => Box::new(FixedBinaries::new(codec, 16)),
            Form::Wkb => binaries(wkb(self.srid)),
            Form::Ewkb => binaries(ewkb()),
            Form::GeometryStruct => Box::new(Geometries::default()),
            Form::Dictionary8 => {
                Box::new(Dictionary::<arrow::UInt8Type>::new(codec, self.members.clone()))
            }
            Form::Dictionary16 => {
                Box::new(Dictionary::<arrow::UInt16Type>::new(codec, self.members.clone()))
            }
            Form::TextList => Box::new(TextLists::new(codec, self.members.clone())),
            Form::FloatList => Box::new(FloatLists::default()),
            Form::FixedFloatList(floats) => Box::new(FixedFloatLists::new(floats)),
        }
    }

    fn reals(&self) -> Box<dyn ColumnBuilder> {
        let codec = self.codec.clone();
        match self.form {
            Form::Float32 => Box::new(Numbers::<arrow::Float32Type, _>::new(
                move |stored: &[u8], _: &mut Losses| match codec.value(stored)? {
                    Value::Float(real) => Ok(Some(real)),
                    value => Err(not_of_form(&value)),
                },
            )),
            _ => Box::new(Numbers::<arrow::Float64Type, _>::new(
                move |stored: &[u8], _: &mut Losses| match codec.value(stored)? {
                    Value::Double(real) => Ok(Some(real)),
                    Value::Float(real) => Ok(Some(f64::from(real))),
                    value => Err(not_of_form(&value)),
                },
            )),
        }
    }

    fn dates(&self) -> Box<dyn ColumnBuilder> {
        let (refuses, form) = (self.refuses_zero_dates, self.form);
        let codec = self.codec.clone();
        if form == Form::Date {
            return Box::new(Numbers::<arrow::Date32Type, _>::new(
                move |stored: &[u8], losses: &mut Losses| match codec.value(stored)? {
                    Value::Date(date) => match date.days() {
                        None if refuses => Err(refused(&codec, stored, form)),
                        days => Ok(numbers::of_calendar(days, losses)),
                    },
                    value => Err(not_of_form(&value)),
                },
            ));
        }
        let micros =
            move |stored: &[u8], losses: &mut Losses| match codec.micros_since_1970(stored)? {
                None if refuses => Err(refused(&codec, stored, form)),
                micros => Ok(numbers::of_calendar(micros, losses)),
            };
        let numbers = Numbers::<arrow::TimestampMicrosecondType, _>::new(micros);
        Box::new(numbers.with_type(form.data_type()))
    }
}

/// Takes the values of a batch. The next batch gets room for as many, if they are not very many.
fn taken<T>(values: &mut Vec<T>) -> Vec<T> {
    const ROOM_BYTES_MAX: usize = 4 << 20;
    let room = values.len() + values.len() / 16;
    let is_small = room * size_of::<T>() <= ROOM_BYTES_MAX;
    std::mem::replace(values, Vec::with_capacity(if is_small { room } else { 0 }))
}

/// The error of a value whose type the column's form is not for.
#[cold]
pub(crate) fn not_of_form(value: &Value<'_>) -> format::Error {
    format::Error::schema(format!("a value {value:?} is not of the column's type"))
}

/// The error of a value that does not fit the column's form.
#[cold]
pub(crate) fn does_not_fit(value: impl std::fmt::Display, form: &str) -> format::Error {
    format::Error::unsupported(
        format!("the value {value} in a column of the type {form}"),
        "choose another type for the column",
    )
}
