//! Columns of texts and bytes.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{BinaryType, ByteArrayType, Utf8Type};
use arrow_schema::ArrowError;
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;

use super::ends::Strings;
use super::{ColumnBuilder, does_not_fit};

/// Appends the bytes of a stored value.
pub(super) trait AppendBytes:
    FnMut(&[u8], &mut Vec<u8>, &mut Losses) -> format::Result<()> + Send
{
}

impl<F: FnMut(&[u8], &mut Vec<u8>, &mut Losses) -> format::Result<()> + Send> AppendBytes for F {}

/// The builder of a column of texts or bytes.
struct Bytes<T, A> {
    strings: Strings,
    append: A,
    array: std::marker::PhantomData<fn() -> T>,
}

impl<T: ByteArrayType<Offset = i32>, A: AppendBytes> ColumnBuilder for Bytes<T, A> {
    #[inline]
    fn append(&mut self, stored: &[u8], losses: &mut Losses) -> format::Result<()> {
        (self.append)(stored, &mut self.strings.bytes, losses)?;
        self.strings.end()
    }

    fn append_null(&mut self) {
        self.strings.append_null();
    }

    fn truncate(&mut self, rows: usize) {
        self.strings.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(self.strings.take::<T>()?))
    }
}

fn bytes<T: ByteArrayType<Offset = i32> + 'static>(
    append: impl AppendBytes + 'static,
) -> Box<dyn ColumnBuilder> {
    let (strings, array) = (Strings::default(), std::marker::PhantomData);
    Box::new(Bytes::<T, _> { strings, append, array })
}

/// The builder of a column of bytes.
pub(super) fn binaries(append: impl AppendBytes + 'static) -> Box<dyn ColumnBuilder> {
    bytes::<BinaryType>(append)
}

/// The builder of a column of texts in UTF-8.
pub(super) fn texts(codec: Codec, refuses_invalid: bool) -> Box<dyn ColumnBuilder> {
    let mut scratch = Vec::new();
    bytes::<Utf8Type>(move |stored: &[u8], out: &mut Vec<u8>, losses: &mut Losses| {
        let (text, replaced) = codec.utf8(stored, &mut scratch)?;
        if replaced > 0 {
            if refuses_invalid {
                let text = String::from_utf8_lossy(text).into_owned();
                return Err(does_not_fit(format!("'{text}', not valid in its charset,"), "Utf8"));
            }
            losses.replaced_characters += replaced;
        }
        out.extend_from_slice(text);
        Ok(())
    })
}
