//! Columns of ENUM: indexes into the list of members, which is the same for all batches.

use std::sync::Arc;

use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, StringArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::ArrowError;
use innoscan_engine::Losses;
use innoscan_format as format;
use innoscan_format::types::Codec;
use innoscan_format::value::Value;

use super::nulls::Nulls;
use super::{ColumnBuilder, not_of_form, taken};

/// The texts of an ENUM's or SET's members in UTF-8; an ENUM's begin with the empty text of index 0.
pub(crate) type Members = Arc<StringArray>;

/// The builder of a column of indexes.
pub(super) struct Dictionary<K: ArrowDictionaryKeyType> {
    codec: Codec,
    members: Members,
    keys: Vec<K::Native>,
    nulls: Nulls,
}

impl<K: ArrowDictionaryKeyType> Dictionary<K> {
    pub fn new(codec: Codec, members: Members) -> Dictionary<K> {
        Dictionary { codec, members, keys: Vec::new(), nulls: Nulls::default() }
    }
}

impl<K: ArrowDictionaryKeyType> ColumnBuilder for Dictionary<K>
where
    K::Native: TryFrom<u16>,
{
    fn append(&mut self, stored: &[u8], _: &mut Losses) -> format::Result<()> {
        let value = self.codec.value(stored)?;
        let Value::Enum(index) = value else { return Err(not_of_form(&value)) };
        let key = K::Native::try_from(index).map_err(|_| not_of_form(&value))?;
        self.keys.push(key);
        self.nulls.value();
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.null(self.keys.len());
        self.keys.push(K::Native::default());
    }

    fn truncate(&mut self, rows: usize) {
        self.keys.truncate(rows);
        self.nulls.truncate(rows);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let keys = ScalarBuffer::from(taken(&mut self.keys));
        let keys = PrimitiveArray::<K>::try_new(keys, self.nulls.finish())?;
        let members = Arc::clone(&self.members) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<K>::try_new(keys, members)?))
    }
}
