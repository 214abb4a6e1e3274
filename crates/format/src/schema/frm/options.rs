//! Table options, and the options defined by MariaDB's engines.

use super::cursor::{Cursor, text};
use super::extra2::Extra2;
use super::image::Image;
use crate::Result;
use crate::charset::CollationId;
use crate::schema::create_table::{Quoting, push_identifier, push_quoted};
use crate::schema::{Family, IndexKind, ServerVersion, TableOptions};

/// `HA_OPTION_...` (include/my_base.h).
const PACK_KEYS: u16 = 2;
const CHECKSUM: u16 = 32;
const DELAY_KEY_WRITE: u16 = 64;
const NO_PACK_KEYS: u16 = 128;
const STATS_PERSISTENT: u16 = 4096;
const NO_STATS_PERSISTENT: u16 = 8192;

/// `ha_row_type` (sql/handler.cc).
const ROW_FORMATS: [&str; 7] =
    ["", "FIXED", "DYNAMIC", "COMPRESSED", "REDUNDANT", "COMPACT", "PAGE"];

/// The extra segment after the names of parsers.
#[derive(Default)]
pub(super) struct Tail<'a> {
    /// The parsers of the full-text indexes that have one.
    pub(super) parsers: Vec<String>,
    /// MySQL: a byte of storage and format for each column.
    pub(super) column_formats: &'a [u8],
    comment: String,
    /// MySQL: the general tablespace and the storage.
    tablespace: String,
    storage: u32,
    /// MySQL 5.7: the compression.
    compression: String,
    encryption: String,
    /// MariaDB 5.2-5.5: engine options.
    engine_options: &'a [u8],
}

impl<'a> Tail<'a> {
    pub(super) fn parse(image: &Image<'a>, n_parsers: usize) -> Result<Tail<'a>> {
        let mut tail = Tail::default();
        let mut cursor = Cursor::new(image.extra.rest);
        for _ in 0..n_parsers {
            tail.parsers.push(text(cursor.zero_terminated()?));
        }
        tail.comment = match &image.short_comment {
            Some(comment) => comment.clone(),
            None => text(cursor.counted()?),
        };
        if image.has_old_engine_options() {
            let len = cursor.u32()?;
            tail.engine_options = cursor.take(len as usize)?;
        }
        if image.server.family == Family::MySql {
            tail.parse_mysql(cursor)?;
        }
        Ok(tail)
    }

    /// Parses the values as in `open_binary_frm`, sql/table.cc, MySQL 5.7.
    fn parse_mysql(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        const HEADER_BYTES: usize = 8;
        if cursor.rest().len() > HEADER_BYTES {
            let mut ahead = cursor;
            let len = usize::from(ahead.u16()?);
            self.storage = ahead.u32()? & 7;
            ahead.take(2)?;
            self.tablespace = text(ahead.zero_terminated()?);
            self.column_formats = ahead.rest();
            cursor.take(len)?;
        }
        if cursor.rest().len() >= 2 {
            self.compression = text(cursor.counted()?);
        }
        if cursor.rest().len() >= 2 {
            self.encryption = text(cursor.counted()?);
        }
        Ok(())
    }
}

/// Creates all options of the table.
pub(super) fn define(image: &Image, tail: &Tail) -> Result<TableOptions> {
    let mut options = TableOptions::new(engine(image), CollationId(image.collation));
    options.comment = tail.comment.clone();
    options.row_format = match ROW_FORMATS.get(usize::from(image.row_type)) {
        Some(&"") | None => None,
        Some(name) => Some((*name).to_owned()),
    };
    options.others = others(image, tail);
    if !image.extra.connection.is_empty() {
        options.tail = format!(" CONNECTION={}", quoted(&image.extra.connection));
    }
    let engine_options = match tail.engine_options {
        [] => image.extra2.engine_options,
        old => old,
    };
    let of_table = parse_engine_options(&mut Cursor::new(engine_options))?;
    options.tail.push_str(&print_engine_options(&of_table, image.shown_by, |option| {
        options.engine.eq_ignore_ascii_case("InnoDB")
            && INNODB_OPTIONS.iter().any(|known| known.eq_ignore_ascii_case(option))
    }));
    Ok(options)
}

/// Returns the options for the number of rows and for statistics.
fn sizes_and_statistics(image: &Image) -> Vec<(String, String)> {
    let mut options = Vec::new();
    let mut say = |name: &str, value: String| options.push((name.to_owned(), value));
    let flag = |bit: u16| image.create_options & bit != 0;
    for (name, number) in [
        ("MIN_ROWS", image.min_rows),
        ("MAX_ROWS", image.max_rows),
        ("AVG_ROW_LENGTH", image.avg_row_length),
    ] {
        if number != 0 {
            say(name, number.to_string());
        }
    }
    for (name, on, off) in [
        ("PACK_KEYS", PACK_KEYS, NO_PACK_KEYS),
        ("STATS_PERSISTENT", STATS_PERSISTENT, NO_STATS_PERSISTENT),
    ] {
        if flag(on) {
            say(name, "1".to_owned());
        }
        if flag(off) {
            say(name, "0".to_owned());
        }
    }
    match image.stats_auto_recalc {
        1 => say("STATS_AUTO_RECALC", "1".to_owned()),
        2 => say("STATS_AUTO_RECALC", "0".to_owned()),
        _ => {}
    }
    if image.stats_sample_pages != 0 {
        say("STATS_SAMPLE_PAGES", image.stats_sample_pages.to_string());
    }
    options
}

fn others(image: &Image, tail: &Tail) -> Vec<(String, String)> {
    let mut others = sizes_and_statistics(image);
    let mut say = |name: &str, value: String| others.push((name.to_owned(), value));
    let flag = |bit: u16| image.create_options & bit != 0;
    if flag(CHECKSUM) {
        say("CHECKSUM", "1".to_owned());
    }
    // 1 means no, 2 yes, 0 not specified.
    let choice = |shift: u8| match (image.server.family, image.choices >> shift & 3) {
        (Family::MariaDb, 1) => Some("0"),
        (Family::MariaDb, 2) => Some("1"),
        _ => None,
    };
    if let Some(value) = choice(2) {
        say("PAGE_CHECKSUM", value.to_owned());
    }
    if flag(DELAY_KEY_WRITE) {
        say("DELAY_KEY_WRITE", "1".to_owned());
    }
    if let Some(value) = choice(0) {
        say("TRANSACTIONAL", value.to_owned());
    }
    if choice(4) == Some("1") {
        say("SEQUENCE", "1".to_owned());
    }
    if image.key_block_size != 0 {
        say("KEY_BLOCK_SIZE", image.key_block_size.to_string());
    }
    for (name, value) in [("COMPRESSION", &tail.compression), ("ENCRYPTION", &tail.encryption)] {
        if !value.is_empty() {
            say(name, quoted(value));
        }
    }
    if !tail.tablespace.is_empty() {
        say("TABLESPACE", identifier(&tail.tablespace));
    }
    match tail.storage {
        1 => say("STORAGE", "DISK".to_owned()),
        2 => say("STORAGE", "MEMORY".to_owned()),
        _ => {}
    }
    others
}

/// Returns the engine that holds the rows.
fn engine(image: &Image) -> String {
    let is_partitioned = !image.extra.partition.is_empty();
    if let Some(engine) = &image.extra2.partition_engine {
        return engine.clone();
    }
    let of_partitions = legacy_engine(image.legacy_partition_engine)
        .filter(|_| is_partitioned || image.extra.engine.eq_ignore_ascii_case("partition"));
    if let Some(engine) = of_partitions {
        return engine.to_owned();
    }
    if !image.extra.engine.is_empty() {
        return image.extra.engine.clone();
    }
    legacy_engine(image.legacy_engine).unwrap_or_default().to_owned()
}

/// Returns the engine of a number of `enum legacy_db_type` (sql/handler.h).
fn legacy_engine(number: u8) -> Option<&'static str> {
    Some(match number {
        6 => "MEMORY",
        9 => "MyISAM",
        10 => "MRG_MYISAM",
        11 => "BERKELEYDB",
        12 => "InnoDB",
        14 => "ndbcluster",
        15 => "EXAMPLE",
        16 => "ARCHIVE",
        17 => "CSV",
        18 => "FEDERATED",
        19 => "BLACKHOLE",
        28 => "PERFORMANCE_SCHEMA",
        42 => "Aria",
        _ => return None,
    })
}

/// InnoDB's own options in MariaDB (`innodb_table_option_list`, ha_innodb.cc, MariaDB 10.11).
const INNODB_OPTIONS: [&str; 4] =
    ["PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "ENCRYPTED", "ENCRYPTION_KEY_ID"];

/// The options of a vector index (sql/vector_mhnsw.cc, MariaDB 11.8).
const VECTOR_OPTIONS: [&str; 2] = ["M", "DISTANCE"];

/// An option defined by an engine.
pub(super) struct EngineOption {
    name: String,
    value: String,
    quoted: bool,
}

const VALUE_IS_QUOTED: u16 = 0x8000;

/// Parses options up to a zero byte (`engine_table_options_frm_read`, sql/create_options.cc).
fn parse_engine_options(cursor: &mut Cursor) -> Result<Vec<EngineOption>> {
    let mut options: Vec<EngineOption> = Vec::new();
    while !cursor.is_empty() {
        let name_len = usize::from(cursor.u8()?);
        if name_len == 0 {
            break;
        }
        let name = text(cursor.take(name_len)?);
        let len = cursor.u16()?;
        let value = text(cursor.take(usize::from(len & !VALUE_IS_QUOTED))?);
        options.push(EngineOption { name, value, quoted: len & VALUE_IS_QUOTED != 0 });
    }
    Ok(options)
}

impl Extra2<'_> {
    /// Returns the options of each column; empty when no option is set.
    pub(super) fn options_of_columns(&self, n_columns: usize) -> Result<Vec<Vec<EngineOption>>> {
        let mut cursor = Cursor::new(self.engine_options);
        parse_engine_options(&mut cursor)?;
        parse_lists(&mut cursor, n_columns)
    }

    /// Returns the options of each index.
    pub(super) fn options_of_keys(
        &self,
        n_columns: usize,
        n_keys: usize,
    ) -> Result<Vec<Vec<EngineOption>>> {
        let mut cursor = Cursor::new(self.engine_options);
        parse_engine_options(&mut cursor)?;
        parse_lists(&mut cursor, n_columns)?;
        parse_lists(&mut cursor, n_keys)
    }
}

fn parse_lists(cursor: &mut Cursor, n_lists: usize) -> Result<Vec<Vec<EngineOption>>> {
    let mut lists = Vec::new();
    for _ in 0..n_lists {
        if cursor.is_empty() {
            break;
        }
        lists.push(parse_engine_options(cursor)?);
    }
    Ok(lists)
}

/// Prints options like `append_create_options` (sql/sql_show.cc), with those unknown to the engine
/// in a comment. A blank comes first.
fn print_engine_options(
    options: &[EngineOption],
    server: ServerVersion,
    is_known: impl Fn(&str) -> bool,
) -> String {
    // Newer versions put all values in quotes; observed in 10.11.19 and 11.8.9.
    let first_to_quote_all = match server.number {
        0..110_000 => 101_119,
        110_000..110_500 => 110_413,
        110_500..120_000 => 110_809,
        _ => 120_303,
    };
    let quotes_all = server.number >= first_to_quote_all;
    let mut printed = String::new();
    let mut in_comment = false;
    for option in options {
        match (is_known(&option.name), in_comment) {
            (true, true) => printed.push_str(" */"),
            (false, false) => printed.push_str(" /*"),
            _ => {}
        }
        in_comment = !is_known(&option.name);
        printed.push(' ');
        printed.push_str(&identifier(&option.name));
        printed.push('=');
        match option.quoted || quotes_all {
            true => printed.push_str(&quoted(&option.value)),
            false => printed.push_str(&option.value),
        }
    }
    if in_comment {
        printed.push_str(" */");
    }
    printed
}

/// Returns MySQL's storage and format of a column.
pub(super) fn column_format(flags: Option<&u8>) -> Vec<String> {
    let flags = flags.copied().unwrap_or(0);
    let storage = match flags & 7 {
        1 => Some("/*!50606 STORAGE DISK */"),
        2 => Some("/*!50606 STORAGE MEMORY */"),
        _ => None,
    };
    let format = match flags >> 3 & 7 {
        1 => Some("/*!50606 COLUMN_FORMAT FIXED */"),
        2 => Some("/*!50606 COLUMN_FORMAT DYNAMIC */"),
        _ => None,
    };
    [storage, format].into_iter().flatten().map(str::to_owned).collect()
}

/// Returns a column's options, all unknown to InnoDB.
pub(super) fn for_column(options: &[EngineOption], server: ServerVersion) -> Vec<String> {
    let printed = print_engine_options(options, server, |_| false);
    printed.strip_prefix(' ').map(str::to_owned).into_iter().collect()
}

/// Returns an index's options: InnoDB knows none, a vector index its own.
pub(super) fn for_index(
    kind: IndexKind,
    options: &[EngineOption],
    server: ServerVersion,
) -> Vec<String> {
    let printed = print_engine_options(options, server, |name| {
        kind == IndexKind::Vector
            && VECTOR_OPTIONS.iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    printed.strip_prefix(' ').map(str::to_owned).into_iter().collect()
}

fn identifier(name: &str) -> String {
    let mut printed = String::new();
    push_identifier(&mut printed, name, Quoting::Always);
    printed
}

/// Returns a string in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut printed = String::new();
    push_quoted(&mut printed, text);
    printed
}
