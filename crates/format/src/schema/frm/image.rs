//! Division of a `.frm` file into its sections.

use super::cursor::{Cursor, text};
use super::extra2::Extra2;
use crate::schema::ServerVersion;
use crate::{Error, Remedy, Result, bytes};

/// The maximum size of a file. The servers' own limit is 1 MiB in MariaDB and, except with long
/// partition lists, less in MySQL.
const MAX_BYTES: usize = 16 << 20;
const HEADER_BYTES: usize = 64;
const FORM_BYTES: usize = 288;
/// Bytes of a column's description since MySQL 4.0.
pub(super) const COLUMN_BYTES: usize = 17;
/// `FRM_VER_EXPRESSSIONS`: MariaDB 10.2 stores expressions in a new form.
const VERSION_OF_EXPRESSIONS: u8 = 11;

/// `HA_OPTION_PACK_RECORD`: rows have no bit for "deleted".
const OPTION_PACK_RECORD: u16 = 1;
/// `HA_OPTION_TEXT_CREATE_OPTIONS_legacy`: MariaDB 5.2-5.5 stored engine options at the end of the
/// extra segment.
const OPTION_TEXT_OPTIONS: u16 = 1 << 14;

/// The sections of a file, with verified bounds; only the header is decoded.
pub(super) struct Image<'a> {
    /// The server that wrote the file.
    pub(super) server: ServerVersion,
    /// The server whose `SHOW CREATE TABLE` the definition is to print like.
    pub(super) shown_by: ServerVersion,
    /// Whether expressions are stored in the form of MariaDB 10.2.
    pub(super) new_expressions: bool,
    pub(super) legacy_engine: u8,
    pub(super) legacy_partition_engine: u8,
    /// Flags `HA_OPTION_...`.
    pub(super) create_options: u16,
    pub(super) max_rows: u32,
    pub(super) min_rows: u32,
    pub(super) avg_row_length: u32,
    pub(super) collation: u16,
    /// MariaDB: 2 bits each for TRANSACTIONAL, PAGE_CHECKSUM, SEQUENCE.
    pub(super) choices: u8,
    pub(super) row_type: u8,
    pub(super) stats_sample_pages: u16,
    pub(super) stats_auto_recalc: u8,
    pub(super) key_block_size: u16,
    pub(super) extra2: Extra2<'a>,
    pub(super) keys: &'a [u8],
    pub(super) default_row: &'a [u8],
    pub(super) extra: Extra<'a>,
    /// The comment; `None` for a long one, which is in the extra segment.
    pub(super) short_comment: Option<String>,
    pub(super) columns: &'a [u8],
    pub(super) names: &'a [u8],
    pub(super) intervals: &'a [u8],
    pub(super) n_intervals: u16,
    pub(super) comments: &'a [u8],
    pub(super) expressions: &'a [u8],
}

/// The segment between the default row and the form.
#[derive(Default)]
pub(super) struct Extra<'a> {
    pub(super) connection: String,
    pub(super) engine: String,
    /// The `PARTITION BY` text; empty when there is none.
    pub(super) partition: &'a [u8],
    /// The names of the parsers of full-text keys, the long comment and the following values, which
    /// can only be decoded with the keys.
    pub(super) rest: &'a [u8],
}

impl<'a> Image<'a> {
    pub(super) fn parse(file: &'a [u8], shown_by: Option<ServerVersion>) -> Result<Image<'a>> {
        if file.len() > MAX_BYTES {
            return Err(Error::schema(format!(
                "{} bytes are too much for a .frm file",
                file.len()
            )));
        }
        let header = bytes::slice(file, 0, HEADER_BYTES)?;
        let frm_version = check_version(header)?;
        let server = ServerVersion::from_number(bytes::u32_le_at(header, 51)?);
        let extra2_len = usize::from(bytes::u16_le_at(header, 4)?);
        let extra2_bytes = bytes::slice(file, HEADER_BYTES, extra2_len)?;
        let form_at = bytes::u32_le_at(file, HEADER_BYTES + extra2_len)? as usize;
        let form = bytes::slice(file, form_at, FORM_BYTES)?;

        let keys_at = usize::from(bytes::u16_le_at(header, 6)?);
        let keys_len = match bytes::u16_le_at(header, 14)? {
            u16::MAX => bytes::u32_le_at(header, 47)? as usize,
            len => usize::from(len),
        };
        let keys = bytes::slice(file, keys_at, keys_len)?;
        let row_len = usize::from(bytes::u16_le_at(header, 16)?);
        let row_at = keys_at + keys_len;
        let default_row = bytes::slice(file, row_at, row_len)?;
        let extra_len = bytes::u32_le_at(header, 55)? as usize;
        let extra_bytes = bytes::slice(file, row_at + row_len, extra_len)?;
        let collation = u16::from_le_bytes([bytes::u8_at(header, 38)?, bytes::u8_at(header, 41)?]);

        let mut image = Image {
            server,
            shown_by: shown_by.unwrap_or(server),
            new_expressions: frm_version >= VERSION_OF_EXPRESSIONS,
            legacy_engine: bytes::u8_at(header, 3)?,
            legacy_partition_engine: bytes::u8_at(header, 61)?,
            create_options: bytes::u16_le_at(header, 30)?,
            max_rows: bytes::u32_le_at(header, 18)?,
            min_rows: bytes::u32_le_at(header, 22)?,
            avg_row_length: bytes::u32_le_at(header, 34)?,
            collation,
            choices: bytes::u8_at(header, 39)?,
            row_type: bytes::u8_at(header, 40)?,
            stats_sample_pages: bytes::u16_le_at(header, 42)?,
            stats_auto_recalc: bytes::u8_at(header, 44)?,
            key_block_size: bytes::u16_le_at(header, 62)?,
            extra2: Extra2::parse(extra2_bytes)?,
            keys,
            default_row,
            extra: Extra::parse(extra_bytes, server)?,
            short_comment: short_comment(form)?,
            columns: &[],
            names: &[],
            intervals: &[],
            n_intervals: bytes::u16_le_at(form, 270)?,
            comments: &[],
            expressions: &[],
        };
        image.split_form(form, bytes::slice(file, form_at, file.len() - form_at)?)?;
        Ok(image)
    }

    /// Splits the sections after the form's counts.
    fn split_form(&mut self, form: &[u8], from_form: &'a [u8]) -> Result<()> {
        let length_at = |at| bytes::u16_le_at(form, at).map(usize::from);
        let mut cursor = Cursor::new(from_form);
        cursor.take(FORM_BYTES)?;
        // Screens: MySQL 5's layout of the table on a terminal.
        cursor.take(length_at(260)?)?;
        self.columns = cursor.take(length_at(258)? * COLUMN_BYTES)?;
        self.names = cursor.take(length_at(268)?)?;
        self.intervals = cursor.take(length_at(274)?)?;
        self.comments = cursor.take(length_at(284)?)?;
        self.expressions = cursor.take(length_at(286)?)?;
        Ok(())
    }

    /// Returns whether the first bit of a row marks it as not deleted.
    pub(super) fn has_deleted_bit(&self) -> bool {
        self.create_options & OPTION_PACK_RECORD == 0
    }

    /// Returns whether MariaDB 5.2-5.5's engine options are at the end of the extra segment.
    pub(super) fn has_old_engine_options(&self) -> bool {
        self.create_options & OPTION_TEXT_OPTIONS != 0
    }
}

fn check_version(header: &[u8]) -> Result<u8> {
    let version = bytes::u8_at(header, 2)?;
    if bytes::slice(header, 0, 2)? != [0xfe, 1] {
        return Err(Error::schema("not a .frm file: it does not begin with FE 01"));
    }
    if !(9..=VERSION_OF_EXPRESSIONS).contains(&version) || bytes::u8_at(header, 27)? < 2 {
        return Err(Error::unsupported(
            format!("version {version} of the .frm format, from before MySQL 4.1"),
            Remedy::PassDefinition,
        ));
    }
    if bytes::u8_at(header, 32)? != 0 {
        return Err(Error::unsupported(
            "a .frm file from before MySQL 3.23",
            Remedy::PassDefinition,
        ));
    }
    Ok(version)
}

/// The length of a comment in the form that means that the comment is in the extra segment.
const LONG_COMMENT: u8 = 255;

/// Returns the comment in the form; `None` when it is too long for that.
fn short_comment(form: &[u8]) -> Result<Option<String>> {
    match bytes::u8_at(form, 46)? {
        LONG_COMMENT => Ok(None),
        len => Ok(Some(text(bytes::slice(form, 47, usize::from(len))?))),
    }
}

impl<'a> Extra<'a> {
    fn parse(segment: &'a [u8], server: ServerVersion) -> Result<Extra<'a>> {
        let mut extra = Extra::default();
        if segment.is_empty() {
            return Ok(extra);
        }
        let mut cursor = Cursor::new(segment);
        extra.connection = text(cursor.counted()?);
        // The engine's name was added in MySQL 5.1, as were partitions.
        if cursor.rest().len() > 2 {
            extra.engine = text(cursor.counted()?);
        }
        if cursor.rest().len() > 5 {
            let len = cursor.u32()?;
            extra.partition = cursor.take(len as usize)?;
            cursor.take(1)?;
        }
        // Whether NDB partitioned the table automatically.
        if server.number >= 50_110 && !cursor.is_empty() {
            cursor.take(1)?;
        }
        extra.rest = cursor.rest();
        Ok(extra)
    }
}
