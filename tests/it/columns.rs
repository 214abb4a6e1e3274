//! Parquet and Arrow: read back by the formats' own readers, every value of the fixtures is the one that
//! the outputs write as text, which `parity` compares with the servers'.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use chrono::{DateTime, NaiveDate, TimeDelta};
use innoscan::{Row, RowsBuilder, Table, Value};
use innoscan_columnar::{
    ArrowContainer, ArrowOptions, BatchReader, GroupOptions, ParquetOptions, TypeOptions,
};
use innoscan_export::dump::{Dump, DumpOptions, to_stream};
use innoscan_export::sink::Format;
use innoscan_export::sink::columnar::ColumnarOptions;
use innoscan_format::types::Class;
use innoscan_io::{Direct, EngineKind};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::corpus;

/// Small groups, so that most tables have several.
const GROUPS: GroupOptions = GroupOptions { group_bytes: 20_000, threads: 2 };

fn parquet_options(types: &str) -> ColumnarOptions<ParquetOptions> {
    let mut options = ColumnarOptions { groups: GROUPS, ..Default::default() };
    options.types.choose(types).unwrap();
    options
}

fn arrow_options(types: &str, container: ArrowContainer) -> ColumnarOptions<ArrowOptions> {
    let mut chosen = TypeOptions::default();
    chosen.choose(types).unwrap();
    let files = ArrowOptions { container, ..Default::default() };
    ColumnarOptions { types: chosen, files, groups: GROUPS, ..Default::default() }
}

/// A dump of a table, and what it says of values it does not hold.
fn dumped(table: &Table, format: Format) -> (Vec<u8>, innoscan_engine::Losses) {
    let mut bytes = Vec::new();
    let options = DumpOptions::new(format);
    let mut summary = to_stream(Dump::of([table]), &mut bytes, &options, |_| ()).unwrap();
    let outcome = summary.tables.pop().unwrap();
    assert!(outcome.error.is_none(), "{}: {:?}", table.qualified_name(), outcome.error);
    (bytes, outcome.losses)
}

fn read(bytes: Vec<u8>, format: &Format) -> (SchemaRef, Vec<RecordBatch>) {
    match format {
        Format::Parquet(_) => {
            let bytes = bytes::Bytes::from(bytes);
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
            let schema = builder.schema().clone();
            (schema, builder.build().unwrap().map(|batch| batch.unwrap()).collect())
        }
        Format::Arrow(options) if options.files.container == ArrowContainer::File => {
            let reader = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
            (reader.schema(), reader.map(|batch| batch.unwrap()).collect())
        }
        _ => {
            let reader = StreamReader::try_new(&bytes[..], None).unwrap();
            (reader.schema(), reader.map(|batch| batch.unwrap()).collect())
        }
    }
}

/// A value in words, after its Arrow type; `None` for NULL.
fn words(array: &dyn Array, row: usize) -> Option<Vec<u8>> {
    if array.is_null(row) {
        return None;
    }
    macro_rules! number {
        ($ty:ty) => {
            array.as_primitive::<$ty>().value(row).to_string()
        };
    }
    let text = match array.data_type() {
        DataType::Boolean => u8::from(array.as_boolean().value(row)).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            let date = NaiveDate::default() + TimeDelta::days(i64::from(days));
            date.format("%Y-%m-%d").to_string()
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let time = DateTime::from_timestamp_micros(micros).unwrap();
            time.format("%Y-%m-%d %H:%M:%S%.6f").to_string()
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            duration(array.as_primitive::<DurationMicrosecondType>().value(row))
        }
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let key = dictionary.normalized_keys()[row];
            dictionary.values().as_string::<i32>().value(key).to_owned()
        }
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value_as_string(row),
        DataType::Struct(_) => {
            let fields = array.as_struct();
            let srid = fields.column(0).as_primitive::<Int64Type>().value(row) as u32;
            let wkb = fields.column(1).as_binary::<i32>().value(row);
            return Some([&srid.to_le_bytes()[..], wkb].concat());
        }
        DataType::List(item) if *item.data_type() == DataType::Utf8 => {
            let list = array.as_list::<i32>().value(row);
            let members: Vec<&str> = list.as_string::<i32>().iter().flatten().collect();
            members.join(",")
        }
        DataType::Binary => return Some(array.as_binary::<i32>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => {
            return Some(array.as_fixed_size_binary().value(row).to_vec());
        }
        DataType::List(_) => return Some(float_bytes(&*array.as_list::<i32>().value(row))),
        DataType::FixedSizeList(_, _) => {
            return Some(float_bytes(&*array.as_fixed_size_list().value(row)));
        }
        ty => panic!("{ty}"),
    };
    Some(text.into_bytes())
}

fn duration(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let (seconds, fraction) =
        (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{sign}{hours:02}:{minutes:02}:{:02}.{fraction:06}", seconds % 60)
}

fn float_bytes(list: &dyn Array) -> Vec<u8> {
    let floats = list.as_primitive::<Float32Type>().values();
    floats.iter().flat_map(|float| float.to_le_bytes()).collect()
}

/// The words that a value must have: the text of the outputs, or where Arrow has another notion, that.
fn expected(row: &Row, place: usize, ty: &DataType) -> Option<Vec<u8>> {
    let column = &row.columns()[place];
    let value = row.get(place).unwrap()?;
    let text = row.text(place).unwrap()?;
    let utf8 = || row.utf8(place).unwrap().unwrap().into_owned();
    Some(match (value, ty) {
        (_, DataType::Date32 | DataType::Timestamp(..)) => return of_calendar(&utf8()),
        (Value::Float(real), DataType::Float32) => real.to_string().into_bytes(),
        (Value::Double(real), _) => real.to_string().into_bytes(),
        (Value::Int(_) | Value::UInt(_) | Value::Decimal(_), _) => without_zerofill(&utf8()),
        // A YEAR(2) prints two of its digits.
        (Value::Year(year), _) => year.to_string().into_bytes(),
        (Value::Time(time), DataType::Duration(_)) => {
            let mut text = Vec::new();
            innoscan_format::value::Time { fsp: 6, ..time }.write_text(&mut text);
            text
        }
        (Value::Uuid(bytes), DataType::FixedSizeBinary(_)) => bytes.to_vec(),
        (Value::Inet4(bytes), DataType::FixedSizeBinary(_)) => bytes.to_vec(),
        (Value::Inet6(bytes), DataType::FixedSizeBinary(_)) => bytes.to_vec(),
        (Value::Geometry(stored), DataType::Binary) => stored[4..].to_vec(),
        (Value::Geometry(stored), _) => stored.to_vec(),
        (Value::Set(_), DataType::List(_)) => utf8().into_bytes(),
        (_, DataType::Binary | DataType::FixedSizeBinary(_))
        | (_, DataType::List(_) | DataType::FixedSizeList(..)) => text,
        _ => {
            assert!(column.codec().class() != Class::Binary, "{}: {ty}", column.name());
            utf8().into_bytes()
        }
    })
}

/// The text of a date or time with six digits of a fraction; `None` if no calendar has it.
fn of_calendar(text: &str) -> Option<Vec<u8>> {
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap();
    NaiveDate::from_ymd_opt(number(0, 4) as i32, number(5, 7), number(8, 10))?;
    let Some((seconds, fraction)) = text.split_once('.') else {
        return Some(
            if text.len() > 10 { format!("{text}.000000") } else { text.to_owned() }.into(),
        );
    };
    Some(format!("{seconds}.{fraction:0<6}").into_bytes())
}

fn without_zerofill(text: &str) -> Vec<u8> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let zeros = digits.bytes().take_while(|byte| *byte == b'0').count();
    let digits = &digits[zeros..];
    let zero = if digits.is_empty() || digits.starts_with('.') { "0" } else { "" };
    format!("{sign}{zero}{digits}").into_bytes()
}

/// The differences of a table in a format.
fn compare(name: &str, table: &Table, format: Format, differences: &mut String) -> u64 {
    let (bytes, losses) = dumped(table, format.clone());
    let (schema, batches) = read(bytes, &format);
    let mut rows = table.rows().read().unwrap();
    let (mut compared, mut nulled) = (0, 0);
    let mut note = |what: &str| writeln!(differences, "{name}: {format:?}: {what}").unwrap();
    for batch in &batches {
        for at in 0..batch.num_rows() {
            let Some(row) = rows.next() else {
                note("has more rows");
                return compared;
            };
            let row = row.unwrap();
            for (place, array) in batch.columns().iter().enumerate() {
                let (found, wanted) =
                    (words(&**array, at), expected(&row, place, array.data_type()));
                nulled += u64::from(found.is_none() && row.get(place).unwrap().is_some());
                if found != wanted {
                    let column = schema.field(place).name();
                    let shown =
                        |words: Option<Vec<u8>>| words.map(|it| it.escape_ascii().to_string());
                    note(&format!("{column}: {:?} for {:?}", shown(found), shown(wanted)));
                    return compared;
                }
                compared += 1;
            }
        }
    }
    if rows.next().is_some() {
        note("has fewer rows");
    }
    if nulled != losses.dates_as_null {
        note(&format!("{nulled} values became NULL, {losses:?}"));
    }
    compared
}

/// Whether each table is compared in each way, not in one of them.
fn is_thorough() -> bool {
    std::env::var_os("INNOSCAN_EVERY_POLICY").is_some()
}

#[test]
fn every_value_of_the_fixtures() {
    let (mut differences, mut compared) = (String::new(), 0);
    // The variants (`mysql-8.0.33-page4k`) have other pages, but not other types.
    let is_wanted = |table: &corpus::CorpusTable| {
        !table.is_refused() && (is_thorough() || table.server().matches('-').count() == 1)
    };
    for (number, listed) in corpus::tables().into_iter().filter(is_wanted).enumerate() {
        let table = listed.open().unwrap_or_else(|error| panic!("{error}"));
        let formats = [
            Format::Parquet(parquet_options("portable")),
            Format::Arrow(arrow_options("native", ArrowContainer::File)),
            Format::Parquet(parquet_options("native")),
            Format::Arrow(arrow_options("native", ArrowContainer::Stream)),
        ];
        for (place, format) in formats.into_iter().enumerate() {
            if place == number % 4 || is_thorough() {
                compared += compare(&listed.name(), &table, format, &mut differences);
            }
        }
    }
    println!("{compared} values are equal");
    assert!(differences.is_empty(), "{differences}");
    assert!(compared > 500_000, "only {compared} values were compared");
}

/// The tables of the newest servers of both families that have columns of all types.
fn tables_of_all_types() -> Vec<(String, Table)> {
    let corpora = ["mariadb-10.11", "mariadb-11.8", "mysql-8.0.33", "mysql-9.7"];
    let tables = corpus::tables().into_iter();
    let databases = ["t_types/", "t_charset/", "t_geo/", "t_json/", "t_mariadb/", "t_mysql/"];
    let of_types =
        |it: &corpus::CorpusTable| databases.iter().any(|name| it.place().starts_with(name));
    let tables = tables.filter(|it| of_types(it) && corpora.contains(&&*it.server()));
    tables.map(|it| (it.name(), it.open().unwrap())).collect()
}

#[test]
fn types_that_were_chosen() {
    let choices = "tinyint1=int32,u64=decimal,wide-decimal=decimal256,bit=binary,time=text,enum=text,set=list,\
                   json=json,geometry=struct,uuid=text,inet=binary,zero-dates=text,invalid-text=binary";
    let (mut differences, mut compared, mut seen) = (String::new(), 0, BTreeSet::new());
    for (name, table) in tables_of_all_types() {
        let format = Format::Arrow(arrow_options(choices, ArrowContainer::Stream));
        compared += compare(&name, &table, format.clone(), &mut differences);
        let (schema, _) = read(dumped(&table, format.clone()).0, &format);
        seen.extend(schema.fields().iter().map(|field| field.data_type().to_string()));
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(compared > 10_000, "only {compared} values were compared");
    for ty in ["Decimal256(65, 30)", "List(non-null Utf8)", "FixedSizeBinary(16)"] {
        assert!(seen.contains(ty), "no {ty} among {seen:?}");
    }
    assert!(!seen.contains("Date32") && !seen.contains("UInt64"), "{seen:?}");
}

/// The errors of tables that cannot be dumped with these types.
fn refusals(types: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    for (_, table) in tables_of_all_types() {
        let format = Format::Parquet(parquet_options(types));
        let options = DumpOptions::new(format);
        let dumped = to_stream(Dump::of([&table]), &mut Vec::new(), &options, |_| ()).unwrap();
        refusals.extend(dumped.tables[0].error.as_ref().map(ToString::to_string));
    }
    refusals
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for (types, what) in [
        ("zero-dates=fail", "the value 0000-00-00 in a column of the type Date32"),
        ("invalid-text=fail", "not valid in its charset"),
        ("time=time64", "the value -838:59:59"),
        ("u64=int64", "the value 12345678901234567890 in a column of the type Int64"),
        ("tinyint1=bool", "in a column of the type Boolean"),
    ] {
        let refusals = refusals(types);
        let is_right = |text: &String| text.contains("column `") && text.contains(what);
        assert!(refusals.iter().any(is_right), "{types}: {refusals:?}");
    }
    assert!(refusals("portable").is_empty());
}

/// A table of some thousand rows with a key of integers, and its rows.
fn large_table() -> Table {
    let tables = corpus::tables().into_iter().filter(|it| it.server() == "mysql-8.0.33");
    let tables = tables.filter(|it| !it.is_refused() && !it.is("partitioned"));
    let opened = tables.map(|it| it.open().unwrap());
    let has_key = |table: &Table| {
        let key = table.def.indexes.iter().find(|index| index.name == "PRIMARY");
        key.is_some_and(|key| key.parts.len() == 1)
    };
    opened.filter(has_key).max_by_key(Table::size_bytes).unwrap()
}

fn rows_of(reader: BatchReader) -> Vec<RecordBatch> {
    reader.map(|batch| batch.unwrap()).collect()
}

#[test]
fn a_reader_reads_what_was_selected() {
    let table = large_table();
    let name = table.qualified_name();
    let reader = |rows: RowsBuilder<'_>| {
        let selection = rows.selection().unwrap();
        BatchReader::new(selection, &TypeOptions::default()).unwrap()
    };
    let all = rows_of(reader(table.rows()));
    let count = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(count(&all), table.rows().read().unwrap().count(), "{name}");
    // A limit, columns, and both at once.
    let last = table.columns().last().unwrap().name.clone();
    let some = rows_of(reader(table.rows().limit(10).columns([&last])));
    assert_eq!((count(&some), some[0].num_columns()), (10, 1), "{name}");
    assert_eq!(some[0].schema().field(0).name(), &last);
    assert_eq!(count(&rows_of(reader(table.rows().limit(0)))), 0);
    // Splits have every row once, in order.
    let splits = table.splits(5).unwrap();
    let of_splits: Vec<RecordBatch> =
        splits.iter().flat_map(|split| rows_of(reader(table.rows().split(split)))).collect();
    let joined = |batches: &[RecordBatch]| {
        arrow_select::concat::concat_batches(&batches[0].schema(), batches).unwrap()
    };
    assert_eq!(joined(&of_splits), joined(&all), "{name}");
}

/// The threads of this process that scan or decode for a reader of this test.
fn threads_and_files() -> (usize, usize) {
    let count = |dir: &str| std::fs::read_dir(dir).unwrap().count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}

fn readers_leak_nothing_alone() {
    let table = large_table();
    let read = |limit: usize| {
        let selection = table.rows().selection().unwrap();
        let mut reader = BatchReader::new(selection, &TypeOptions::default()).unwrap();
        reader.by_ref().take(limit).for_each(|batch| _ = batch.unwrap());
    };
    // Not begun, dropped after a batch, read to the end; from two threads at once.
    let before = threads_and_files();
    for round in 0..if is_thorough() { 10_000 } else { 200 } {
        std::thread::scope(|scope| {
            scope.spawn(|| read(round % 3));
            read(if round % 10 == 0 { usize::MAX } else { round % 2 });
        });
    }
    // A thread that was waited for may be listed until the kernel has removed it.
    let end = Instant::now() + Duration::from_secs(30);
    while threads_and_files() != before && Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(threads_and_files(), before);
}

#[test]
fn readers_leak_nothing() {
    alone("columns::readers_leak_nothing", readers_leak_nothing_alone);
}

/// The bytes that this process reads by `read` and `pread` meanwhile.
fn read_bytes(work: impl FnOnce()) -> u64 {
    let read = || {
        let io = std::fs::read_to_string("/proc/self/io").unwrap();
        let bytes = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        bytes.parse::<u64>().unwrap()
    };
    let before = read();
    work();
    read() - before
}

/// The rows of a reader with little memory, and the bytes that it reads.
fn rows_and_bytes(rows: RowsBuilder<'_>) -> (usize, u64) {
    // The smaller the memory, the smaller the tasks, and the first reads.
    let mut selection = rows.memory_bytes(1 << 20).threads(1).selection().unwrap();
    selection.options.io.engine = EngineKind::Pread;
    selection.options.io.direct = Direct::Off;
    let mut rows = 0;
    let bytes = read_bytes(|| {
        let reader = BatchReader::new(selection, &TypeOptions::default()).unwrap();
        rows = rows_of(reader).iter().map(RecordBatch::num_rows).sum();
    });
    (rows, bytes)
}

fn a_reader_reads_no_more_than_needed_alone() {
    let table = large_table();
    let name = table.qualified_name();
    let (rows, all) = rows_and_bytes(table.rows());
    assert!(all > table.size_bytes() / 2, "{name}: {all} of {}", table.size_bytes());
    let (few_rows, few) = rows_and_bytes(table.rows().limit(10));
    assert!(few_rows == 10 && few < all / 4, "{name}: {few} of {all} bytes");
    let (no_rows, none) = rows_and_bytes(table.rows().limit(0));
    assert!(no_rows == 0 && none < 4096, "{name}: {none} bytes");
    // A limit that is not met reads all.
    let (limited_rows, limited) = rows_and_bytes(table.rows().limit(u64::MAX));
    assert_eq!(limited_rows, rows, "{name}");
    assert!(limited.abs_diff(all) < all / 10, "{name}: {limited} bytes, without a limit {all}");
    // Rows without columns are counted.
    let (counted, _) = rows_and_bytes(table.rows().columns(std::iter::empty::<&str>()));
    assert_eq!(counted, rows, "{name}");
    // Most of this table is in off-page values, which its key is read without.
    let key = table.columns()[0].name.clone();
    let (key_rows, of_key) = rows_and_bytes(table.rows().columns([&key]));
    assert!(key_rows == rows && of_key < all / 4, "{name}: {of_key} of {all} bytes");
}

#[test]
fn a_reader_reads_no_more_than_needed() {
    let test = "columns::a_reader_reads_no_more_than_needed";
    alone(test, a_reader_reads_no_more_than_needed_alone);
}

/// Runs a test in a process of its own: other tests start threads, and read, too.
fn alone(test: &str, body: fn()) {
    const ALONE: &str = "INNOSCAN_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--test-threads", "1"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
