//! Arrow IPC files and streams (Arrow, "Serialization and Interprocess Communication").
//!
//! ```text
//! stream   schema | dictionaries | batches ... | end of stream
//! file     ARROW1 | stream | footer with the place of each batch | its length | ARROW1
//! ```

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteOptions, write_message,
};
use arrow_ipc::{Block, CompressionType, FooterBuilder, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use flatbuffers::FlatBufferBuilder;
use innoscan_engine::{Error, Losses, Result};
use innoscan_format::schema::TableDef;

use super::groups::NextGroup;
use super::{FileKind, FileWriter, GroupOptions, Write};
use crate::encoders::Encoders;
use crate::types::TypeTable;

/// Whether the batches can be found without reading those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowContainer {
    /// An Arrow file, which ends in the places of its batches.
    File,
    /// An Arrow stream, which can be read while it is written.
    Stream,
}

/// The options of Arrow files and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrowOptions {
    /// File or stream.
    pub container: ArrowContainer,
    /// Whether columns are compressed, by zstd at level 1.
    pub is_compressed: bool,
}

impl Default for ArrowOptions {
    fn default() -> ArrowOptions {
        ArrowOptions { container: ArrowContainer::Stream, is_compressed: true }
    }
}

impl FileKind for ArrowOptions {
    const NAME: &'static str = "arrow";
    const TYPES: TypeTable = TypeTable::Native;

    fn writer(
        &self,
        _: &TableDef,
        schema: &SchemaRef,
        _: TypeTable,
        groups: GroupOptions,
    ) -> Box<dyn FileWriter> {
        Box::new(ArrowFiles { schema: Arc::clone(schema), options: *self, groups, open: None })
    }
}

/// The beginning and the end of an Arrow file.
const MAGIC: &[u8] = b"ARROW1";
/// The alignment of messages.
const ALIGNMENT: usize = 64;
/// The end of a stream: a continuation marker, and a message of no bytes.
const END_OF_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// The rows at which a batch is full.
const BATCH_ROWS: usize = 64 << 10;

/// The messages of a batch.
struct Messages {
    bytes: Vec<u8>,
    /// The lengths of each message's metadata and body.
    lens: Vec<(usize, usize)>,
}

/// Writes Arrow files or streams.
struct ArrowFiles {
    schema: SchemaRef,
    options: ArrowOptions,
    groups: GroupOptions,
    open: Option<Open>,
}

struct Open {
    options: IpcWriteOptions,
    encoders: Encoders<Vec<RecordBatch>, Messages>,
    next: NextGroup,
    /// Whether the dictionaries are written: once, before the first batch.
    has_dictionaries: bool,
    places: Places,
}

/// Where the messages of a file are.
#[derive(Default)]
struct Places {
    written_bytes: usize,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl ArrowFiles {
    fn ipc_options(&self) -> Result<IpcWriteOptions> {
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5);
        let codec = self.options.is_compressed.then_some(CompressionType::ZSTD);
        let level = self.options.is_compressed.then_some(1);
        options
            .and_then(|options| options.try_with_compression(codec))
            .and_then(|options| options.try_with_compression_level(level))
            .map_err(failed)
    }

    /// The message of the schema.
    fn schema_message(&self, options: &IpcWriteOptions) -> Result<Messages> {
        let mut tracker = DictionaryTracker::new(true);
        let generator = IpcDataGenerator::default();
        let message =
            generator.schema_to_bytes_with_dictionary_tracker(&self.schema, &mut tracker, options);
        messages([message], options).map_err(failed)
    }

    fn footer(&self, places: &Places) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&places.dictionaries);
        let batches = builder.create_vector(&places.batches);
        let mut tracker = DictionaryTracker::new(true);
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut tracker)
            .schema_to_fb_offset(&mut builder, &self.schema);
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        let root = footer.finish();
        builder.finish(root, None);
        builder.finished_data().to_vec()
    }
}

impl FileWriter for ArrowFiles {
    fn begin(&mut self, out: &mut Write<'_>) -> Result<()> {
        let mut places = Places::default();
        if self.options.container == ArrowContainer::File {
            let mut magic = MAGIC.to_vec();
            magic.resize(ALIGNMENT, 0);
            places.written_bytes = magic.len();
            out(&magic)?;
        }
        let options = self.ipc_options()?;
        let schema = self.schema_message(&options)?;
        places.written_bytes += schema.bytes.len();
        out(&schema.bytes)?;
        let of_groups = options.clone();
        let encode = Arc::new(move |group: Vec<RecordBatch>| {
            encode_group(&group, &of_groups).map_err(failed)
        });
        let encoders = Encoders::new(self.groups.threads, encode);
        let next = NextGroup::default();
        self.open = Some(Open { options, encoders, next, has_dictionaries: false, places });
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Write<'_>) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Open { options, encoders, next, has_dictionaries, places } = open;
        if !std::mem::replace(has_dictionaries, true) {
            let dictionaries = dictionaries(&batch.slice(0, 0), options).map_err(failed)?;
            places.add_dictionaries(&dictionaries.lens);
            out(&dictionaries.bytes)?;
        }
        match next.add(batch, self.groups.group_bytes, BATCH_ROWS) {
            Some(group) => encoders.push(group, &mut |batch| places.write_batch(&batch, out)),
            None => Ok(()),
        }
    }

    fn finish(&mut self, _losses: Losses, out: &mut Write<'_>) -> Result<()> {
        let Some(Open { mut encoders, mut next, mut places, .. }) = self.open.take() else {
            return Ok(());
        };
        encoders.finish(next.rest(), &mut |batch| places.write_batch(&batch, out))?;
        out(END_OF_STREAM)?;
        if self.options.container == ArrowContainer::File {
            let mut footer = self.footer(&places);
            let footer_bytes = footer.len() as u32;
            footer.extend_from_slice(&footer_bytes.to_le_bytes());
            footer.extend_from_slice(MAGIC);
            out(&footer)?;
        }
        Ok(())
    }
}

impl Places {
    fn next(&mut self, (metadata_bytes, body_bytes): (usize, usize)) -> Block {
        let block = Block::new(self.written_bytes as i64, metadata_bytes as i32, body_bytes as i64);
        self.written_bytes += metadata_bytes + body_bytes;
        block
    }

    fn add_dictionaries(&mut self, lens: &[(usize, usize)]) {
        for &len in lens {
            let block = self.next(len);
            self.dictionaries.push(block);
        }
    }

    fn write_batch(&mut self, batch: &Messages, out: &mut Write<'_>) -> Result<()> {
        for &len in &batch.lens {
            let block = self.next(len);
            self.batches.push(block);
        }
        out(&batch.bytes)
    }
}

/// A group as one batch.
fn encode_group(
    group: &[RecordBatch],
    options: &IpcWriteOptions,
) -> std::result::Result<Messages, ArrowError> {
    let Some(first) = group.first() else { return messages([], options) };
    let batch = concat_batches(&first.schema(), group)?;
    let (_, batch) = encode(&batch, options)?;
    messages([batch], options)
}

/// The dictionaries of a batch.
fn dictionaries(
    batch: &RecordBatch,
    options: &IpcWriteOptions,
) -> std::result::Result<Messages, ArrowError> {
    let (dictionaries, _) = encode(batch, options)?;
    messages(dictionaries, options)
}

fn encode(
    batch: &RecordBatch,
    options: &IpcWriteOptions,
) -> std::result::Result<(Vec<EncodedData>, EncodedData), ArrowError> {
    let generator = IpcDataGenerator::default();
    let mut tracker = DictionaryTracker::new(true);
    // Gives the dictionaries the numbers that they have in the schema.
    generator.schema_to_bytes_with_dictionary_tracker(&batch.schema(), &mut tracker, options);
    generator.encode(batch, &mut tracker, options, &mut Default::default())
}

fn messages(
    encoded: impl IntoIterator<Item = EncodedData>,
    options: &IpcWriteOptions,
) -> std::result::Result<Messages, ArrowError> {
    let mut messages = Messages { bytes: Vec::new(), lens: Vec::new() };
    for data in encoded {
        messages.lens.push(write_message(&mut messages.bytes, data, options)?);
    }
    Ok(messages)
}

#[cold]
fn failed(error: ArrowError) -> Error {
    Error::write("encoding Arrow", std::io::Error::other(error))
}
