//! The rows of a MyISAM table, in the order of its `.MYD` file.

use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::myisam::{
    BLOCK_HEADER_BYTES, Block, BlockKind, Header, RowFormat, row_sum, unpack,
};
use innoscan_format::schema::TableDef;
use innoscan_format::server_record::RecordLayout;

use super::data_file::DataFile;
use super::{
    Converter, RowReceiver, located, read_header, require_all, require_closed, require_len,
    with_extension,
};

/// A table or partition of MyISAM: a `.MYI` and a `.MYD` file.
#[derive(Debug)]
pub(super) struct Part {
    header: Header,
    layout: RecordLayout,
    data: PathBuf,
}

impl Part {
    pub(super) fn open(def: &TableDef, stem: &Path) -> Result<Part> {
        let index = with_extension(stem, "MYI");
        let in_index = |error: format::Error| Error::from(error).in_file(&index);
        let header = Header::parse(&read_header(&index, Header::size_bytes)?).map_err(in_index)?;
        require_closed(&index, header.crashed, header.open_count)?;
        let layout = RecordLayout::new(def, &header.engine_fields()).map_err(in_index)?;
        let data = with_extension(stem, "MYD");
        require_len(&data, header.data_bytes)?;
        Ok(Part { header, layout, data })
    }

    pub(super) fn data_bytes(&self) -> u64 {
        self.header.data_bytes
    }

    pub(super) fn rows(&self) -> u64 {
        self.header.rows
    }

    pub(super) fn for_each_row<'a>(&'a self, row: &mut RowReceiver<'a>) -> Result<u64> {
        read_records(&self.header, &self.data, &self.layout, row)
    }
}

/// Reads the rows of a file of records, of MyISAM or Aria.
pub(super) fn read_records<'a>(
    header: &'a Header,
    data: &Path,
    layout: &'a RecordLayout,
    row: &mut RowReceiver<'a>,
) -> Result<u64> {
    let mut rows = Rows {
        header,
        file: DataFile::open(data)?,
        out: Converter::new(layout, row),
        record: Vec::new(),
        sum: 0,
    };
    match header.row_format {
        RowFormat::Fixed => rows.read_fixed()?,
        RowFormat::Dynamic => rows.read_dynamic()?,
    }
    require_all(data, rows.out.rows, header.rows, Some(rows.sum), header.sum)?;
    Ok(header.rows)
}

/// The state of reading a table's rows.
struct Rows<'a, 'r> {
    header: &'a Header,
    file: DataFile,
    out: Converter<'a, 'r>,
    record: Vec<u8>,
    sum: u32,
}

impl Rows<'_, '_> {
    fn read_fixed(&mut self) -> Result<()> {
        let step = self.header.stored_record_bytes as u64;
        if !self.header.data_bytes.is_multiple_of(step) {
            let what = format!("records of {step} bytes do not fill {}", self.header.data_bytes);
            return Err(Error::from(format::Error::corrupt(what)).in_file(self.file.path()));
        }
        for at in (0..self.header.data_bytes / step).map(|number| number * step) {
            self.record.clear();
            self.file.append(at, step, &mut self.record)?;
            self.record.truncate(self.header.record_bytes);
            if self.record.first() != Some(&0) {
                self.give(&[]).map_err(|error| self.at_byte(error, at))?;
            }
        }
        Ok(())
    }

    fn read_dynamic(&mut self) -> Result<()> {
        let mut at = 0;
        let mut packed = Vec::new();
        while at < self.header.data_bytes {
            let block = self.block(at)?;
            if let BlockKind::First { record_bytes } = block.kind {
                packed.clear();
                self.collect(block, record_bytes, &mut packed)
                    .and_then(|()| self.unpack(&packed))
                    .map_err(|error| self.at_byte(error, at))?;
            }
            at = block.end;
        }
        Ok(())
    }

    fn block(&mut self, at: u64) -> Result<Block> {
        let header = self.file.read(at, BLOCK_HEADER_BYTES)?;
        Block::parse(header, at).map_err(|error| Error::from(error).in_file(self.file.path()))
    }

    /// Collects the packed record that begins in a block.
    fn collect(&mut self, first: Block, record_bytes: u64, packed: &mut Vec<u8>) -> Result<()> {
        let corrupt = |what: &'static str| Err(format::Error::corrupt(what).into());
        if record_bytes > self.header.max_packed_bytes || record_bytes > self.header.data_bytes {
            return corrupt("it is longer than rows can be");
        }
        let mut block = first;
        let mut left = record_bytes;
        loop {
            // Each block holds at least one byte of data, so a chain of blocks ends.
            if block.data_bytes > left || block.data_bytes == 0 {
                return corrupt("its blocks are not as long as it is");
            }
            self.file.append(block.data_at, block.data_bytes, packed)?;
            left -= block.data_bytes;
            let next = match (left, block.next) {
                (0, _) => return Ok(()),
                (_, Some(next)) if next < self.header.data_bytes => next,
                _ => return corrupt("it ends before it is whole"),
            };
            block = self.block(next)?;
            if block.kind != BlockKind::Continued {
                return corrupt("it continues in a block of another row");
            }
        }
    }

    fn unpack(&mut self, packed: &[u8]) -> Result<()> {
        let said = unpack(packed, self.header, &mut self.record)?;
        let sum = self.give(packed)?;
        match said {
            Some(said) if said != sum as u8 => {
                Err(format::Error::corrupt("it has another checksum than it says").into())
            }
            _ => Ok(()),
        }
    }

    /// Passes on the record; returns its checksum.
    fn give(&mut self, blobs: &[u8]) -> Result<u32> {
        let mut sum = 0;
        if self.header.sum.is_some() {
            let Header { sum_of, fields, null_bytes, .. } = self.header;
            sum = row_sum(*sum_of, fields.iter(), *null_bytes, &self.record, blobs)?;
            self.sum = self.sum.wrapping_add(sum);
        }
        self.out.row(&self.record, blobs)?;
        Ok(sum)
    }

    fn at_byte(&self, error: Error, at: u64) -> Error {
        located(error, self.file.path(), format_args!("the row at byte {at}"))
    }
}
