//! The library as others use it: rows, values and splits of the servers' files are what the servers
//! say, and what the outputs write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use innoscan::scan::ScanOptions;
use innoscan::{ColumnType, Row, RowColumn, RowSink, Split, Table, Value};
use innoscan_engine::checksum_sink::{Checksum, Sum};
use innoscan_export::dump::Format;
use innoscan_export::sink::{Compression, Encoded, EncodingSink};
use innoscan_format::types::RealFormat;

use crate::corpus::{self, CorpusTable};
use crate::parity::{difference, fields_that_say, without_fields};

/// The tables that can be read, opened.
fn tables(are_wanted: impl Fn(&CorpusTable) -> bool) -> Vec<(CorpusTable, Table)> {
    let is_wanted = |table: &CorpusTable| !table.is_refused() && are_wanted(table);
    let tables = corpus::tables().into_iter().filter(is_wanted);
    let opened = tables.map(|table| {
        let opened = table.open();
        (table, opened.unwrap_or_else(|error| panic!("{error}")))
    });
    let opened: Vec<_> = opened.collect();
    assert!(!opened.is_empty(), "no tables");
    opened
}

fn expected(table: &CorpusTable, ending: &str) -> Vec<u8> {
    let path = table.expected(ending);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn number(table: &CorpusTable, ending: &str) -> u64 {
    String::from_utf8(expected(table, ending)).unwrap().trim().parse().unwrap()
}

/// Writes rows as the dump does.
struct TextWriter {
    sink: EncodingSink,
    batch: Encoded,
    stored: usize,
}

impl TextWriter {
    fn new(table: &Table) -> TextWriter {
        let encoder = Format::named("text").unwrap().encoder(&table.def).unwrap();
        let stored = table.columns().iter().filter(|column| column.is_stored()).count();
        let sink = EncodingSink::new(encoder, Compression::None);
        TextWriter { batch: sink.new_batch(), sink, stored }
    }

    fn write(&mut self, row: &Row) {
        let mut cells = vec![None; self.stored];
        for (nth, column) in row.columns().iter().enumerate() {
            cells[column.position()] = row.stored(nth);
        }
        self.sink.row(&cells, &mut self.batch).unwrap();
    }
}

/// What a value is as text, by its parts; `None` where one text is not enough.
fn value_text(column: &RowColumn, value: &Value<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let members = |collation: &innoscan_format::charset::CollationId| collation.charset().unwrap();
    match (value, column.ty()) {
        (Value::Int(number), _) => out.extend(number.to_string().bytes()),
        (Value::UInt(number), _) => out.extend(number.to_string().bytes()),
        (Value::Decimal(decimal), _) => decimal.write_text(&mut out).unwrap(),
        (Value::Json(json), _) => json.write_text(&mut out).unwrap(),
        (Value::Bit(bits), &ColumnType::Bit { bits: len }) => {
            let bytes = bits.to_be_bytes();
            out.extend_from_slice(&bytes[8 - usize::from(len).div_ceil(8)..]);
        }
        (Value::Date(date), _) => date.write_text(&mut out),
        (Value::Time(time), _) => time.write_text(&mut out),
        (Value::DateTime(datetime), _) => datetime.write_text(&mut out),
        (Value::Timestamp(timestamp), _) => timestamp.write_text(&mut out),
        (Value::Text(bytes, _) | Value::Bytes(bytes), _)
        | (Value::Geometry(bytes) | Value::Vector(bytes), _) => out.extend_from_slice(bytes),
        (&Value::Enum(index), ColumnType::Enum { members, .. }) => {
            let member = usize::from(index).checked_sub(1).map(|place| &members[place]);
            out.extend(member.into_iter().flatten());
        }
        (Value::Set(mask), ColumnType::Set { members: texts, collation }) => {
            let set = texts.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
            for (nth, (_, text)) in set.enumerate() {
                out.extend_from_slice(if nth > 0 { members(collation).comma() } else { b"" });
                out.extend_from_slice(text);
            }
        }
        (Value::Inet4(bytes), _) => {
            out.extend(std::net::Ipv4Addr::from(*bytes).to_string().bytes());
        }
        (Value::Uuid(bytes), _) => {
            let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            });
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            out.extend(parts.join("-").bytes());
        }
        _ => return None,
    }
    Some(out)
}

/// Whether a value and the text that the outputs write of it are the same.
fn is_same(column: &RowColumn, value: &Value<'_>, text: &[u8]) -> bool {
    if let Some(mine) = value_text(column, value) {
        let zeros = |text: &[u8]| {
            let digits = text.iter().position(|byte| *byte != b'0').unwrap_or(text.len());
            text[digits..].to_vec()
        };
        let is_number = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_));
        // ZEROFILL is of the text alone.
        return mine == text || is_number && zeros(&mine) == zeros(text);
    }
    let words = str::from_utf8(text).unwrap();
    match *value {
        Value::Float(real) => is_near(f64::from(real), words, column.ty()),
        Value::Double(real) => is_near(real, words, column.ty()),
        Value::Year(year) => {
            let shown: u16 = words.parse().unwrap();
            shown == if words.len() == 2 { year % 100 } else { year }
        }
        Value::Inet6(bytes) => words.parse() == Ok(std::net::Ipv6Addr::from(bytes)),
        _ => false,
    }
}

/// `FLOAT` prints six digits, `FLOAT(M, D)` D after the point.
fn is_near(real: f64, words: &str, ty: &ColumnType) -> bool {
    let shown: f64 = words.parse().unwrap();
    let digits = match ty {
        ColumnType::Float(RealFormat { digits, .. })
        | ColumnType::Double(RealFormat { digits, .. }) => {
            digits.map_or(20, |(_, after)| i32::from(after))
        }
        _ => 20,
    };
    shown == real || (shown - real).abs() <= (real.abs() * 1e-5).max(10f64.powi(-digits))
}

#[test]
fn rows_and_values_are_what_the_servers_say() {
    let (mut failed, mut rows_seen, mut kinds) = (Vec::new(), 0, BTreeMap::new());
    for (table, opened) in tables(|_| true) {
        let mut writer = TextWriter::new(&opened);
        for row in opened.rows().threads(1).read().unwrap() {
            let row = row.unwrap_or_else(|error| panic!("{error}"));
            writer.write(&row);
            rows_seen += 1;
            for (nth, column) in row.columns().iter().enumerate() {
                let (value, shown) = (row.get(nth).unwrap(), row.text(nth).unwrap());
                let utf8 = row.utf8(nth).unwrap();
                assert_eq!(value.is_some(), shown.is_some() && utf8.is_some());
                let (Some(value), Some(shown)) = (value, shown) else { continue };
                let kind = format!("{value:?}");
                let kind = kind.split(['(', ' ']).next().unwrap().to_owned();
                *kinds.entry(kind).or_insert(0u64) += 1;
                if shown.is_ascii() && matches!(value, Value::Date(_) | Value::Int(_)) {
                    assert_eq!(utf8.unwrap().as_bytes(), shown);
                }
                if !is_same(column, &value, &shown) {
                    let shown = shown.escape_ascii().to_string();
                    failed.push(format!(
                        "{} {}: {value:?} is {shown}",
                        table.file().display(),
                        column.name()
                    ));
                }
            }
        }
        let create = String::from_utf8_lossy(&expected(&table, "create.sql")).into_owned();
        let drop = if table.is("virtual") { fields_that_say(&create, ") VIRTUAL") } else { vec![] };
        let said = without_fields(&expected(&table, "txt"), &drop);
        if let Some(difference) = difference(&said, writer.batch.output()) {
            failed.push(format!("{}: {difference}", table.file().display()));
        }
    }
    println!("{rows_seen} rows, values {kinds:?}");
    failed.truncate(40);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(kinds.len() >= 20, "{kinds:?}");
}

#[test]
fn old_versions_and_hidden_columns_are_shown_when_asked_for() {
    let mut seen = 0;
    for (table, opened) in tables(|table| table.is("versioned")) {
        let current = opened.rows().read().unwrap().count() as u64;
        assert_eq!(current, number(&table, "count"), "{}", table.file().display());
        let mut all = opened.rows().with_history(true).read().unwrap();
        let with_history = all.by_ref().map(Result::unwrap).count() as u64;
        assert_eq!(with_history, all.outcome().unwrap().rows);
        assert!(with_history >= current);
        seen += u64::from(with_history > current);
        let end = opened
            .columns()
            .iter()
            .find(|column| column.row_period == Some(innoscan_format::schema::RowPeriod::End));
        let end = end.unwrap().name.clone();
        let ends = opened.rows().columns([end]).read().unwrap().map(Result::unwrap);
        assert!(ends.take(3).all(|row| row.get(0).unwrap().is_some()));
    }
    assert!(seen > 0, "no table has old versions");
}

/// Names a list of splits to be read by a process of its own; see the next test.
const LIST: &str = "INNOSCAN_TEST_SPLITS";

/// Not a test, but a process that the next one starts: reads splits, and says what they have.
#[test]
fn splits_that_another_process_made_are_read() {
    let Some(list) = std::env::var_os(LIST) else { return };
    let list = std::fs::read_to_string(list).unwrap();
    let mut said = String::new();
    let mut opened = BTreeMap::new();
    for line in list.lines() {
        let cells: Vec<&str> = line.splitn(3, '\t').collect();
        let table = opened.entry(cells[0]).or_insert_with(|| {
            let corpus = Path::new(cells[1]).ancestors().nth(3).unwrap();
            corpus::options_of(corpus).open(cells[1]).unwrap()
        });
        let split: Split = cells[2].parse().unwrap();
        let rows = table.rows().split(&split).threads(1).read().unwrap();
        let rows = rows.map(Result::unwrap).count();
        let sum = sum(&table.of_split(&split).unwrap());
        writeln!(said, "{} {rows} {} {}", cells[0], sum.rows, sum.sum).unwrap();
    }
    std::fs::write(Path::new(&std::env::var_os(LIST).unwrap()).with_extension("said"), said)
        .unwrap();
}

/// The rows and their sum, or 0 where the table has none.
fn sum(table: &Table) -> Sum {
    let sink = Checksum::new(&table.def).unwrap_or_else(|_| Checksum::count_only());
    let mut total = Sum::default();
    let options = ScanOptions::default().with(|scan| {
        scan.plan.threads = 1;
        scan.plan.memory_bytes = 64 << 20;
    });
    innoscan::scan(table, &options, &sink, |sum| {
        total.add(&sum);
        Ok(())
    })
    .unwrap();
    total
}

#[test]
fn splits_read_by_other_processes_are_the_table() {
    const PROCESSES: usize = 3;
    let dir = tempfile::tempdir().unwrap();
    let mut lists = vec![String::new(); PROCESSES];
    let tables = tables(|_| true);
    let (mut dealt, mut divided) = (0, 0);
    for (number, (table, opened)) in tables.iter().enumerate() {
        let splits = opened.splits(1 + number % 7).unwrap();
        divided += usize::from(splits.len() > 1);
        // Backwards, to one process after the other.
        for split in splits.iter().rev() {
            let path = table.file();
            let path = path.display();
            writeln!(lists[dealt % PROCESSES], "{number}\t{path}\t{split}").unwrap();
            dealt += 1;
        }
    }
    let start = |(number, list): (usize, &String)| {
        let path = dir.path().join(format!("{number}.list"));
        std::fs::write(&path, list).unwrap();
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "facade::splits_that_another_process_made_are_read"])
            .env(LIST, path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = lists.iter().enumerate().map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut totals = vec![(0u64, 0u64, 0u32); tables.len()];
    for number in 0..PROCESSES {
        let said = std::fs::read_to_string(dir.path().join(format!("{number}.said"))).unwrap();
        for line in said.lines() {
            let cells: Vec<u64> = line.split(' ').map(|cell| cell.parse().unwrap()).collect();
            let total = &mut totals[cells[0] as usize];
            *total =
                (total.0 + cells[1], total.1 + cells[2], total.2.wrapping_add(cells[3] as u32));
        }
    }
    for ((table, opened), (rows, scanned, sum)) in tables.iter().zip(totals) {
        let name = table.file();
        let name = name.display();
        assert_eq!(rows, number(table, "count"), "{name}");
        assert!(scanned == rows || table.is("versioned") && scanned > rows, "{name}: {scanned}");
        if Checksum::new(&opened.def).is_ok() {
            assert_eq!(u64::from(sum), number(table, "checksum"), "{name}");
        }
    }
    println!("{} tables, {divided} of them divided, {dealt} splits", tables.len());
    assert!(divided > tables.len() / 20 && dealt > tables.len());
}
