//! The output of every format, byte by byte.

use innoscan_engine::{LeftOutReason, RowSink};
use innoscan_format::charset::CollationId;
use innoscan_format::schema::{
    ColumnDef, Generated, RowPeriod, ServerVersion, TableDef, TableOptions, from_create_table,
};
use innoscan_format::types::{Class, ColumnType, IntWidth, RealFormat, Temporal, TemporalFormat};

use super::csv::{BinaryForm, CsvEncoder, CsvOptions, NullText, Separator, TimestampForm};
use super::ndjson::{NdjsonEncoder, NdjsonOptions};
use super::outfile::{OutfileEncoder, OutfileOptions};
use super::selected::SelectedColumn;
use super::shell_tsv::{ShellTsvEncoder, ShellTsvOptions};
use super::sql::{SqlEncoder, SqlOptions, Verb, create_table};
use super::*;

const LATIN1: CollationId = CollationId(8);
const SJIS: CollationId = CollationId(13);
const UCS2: CollationId = CollationId(35);
const UTF8MB4: CollationId = CollationId(45);

fn int() -> ColumnType {
    ColumnType::Int {
        width: IntWidth::Four,
        unsigned: false,
        zerofill: false,
        display_width: Some(11),
    }
}

fn varchar(collation: CollationId) -> ColumnType {
    ColumnType::VarChar { chars: 100, collation }
}

fn real() -> RealFormat {
    RealFormat { digits: None, unsigned: false, zerofill: false }
}

fn table_of(server: u32, columns: Vec<ColumnDef>) -> TableDef {
    let options = TableOptions::new("InnoDB", UTF8MB4);
    let mut def = TableDef::new("shop", "t`1", ServerVersion::from_number(server), options);
    def.columns = columns;
    def
}

fn table(types: &[ColumnType]) -> TableDef {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let columns =
        types.iter().zip(names).map(|(ty, name)| ColumnDef::new(name, ty.clone())).collect();
    table_of(101_119, columns)
}

fn stored(def: &TableDef) -> Vec<usize> {
    (0..def.columns.len()).filter(|&index| def.columns[index].is_stored()).collect()
}

fn rows(encoder: TableEncoder, rows: &[&[Option<&[u8]>]]) -> Vec<u8> {
    let sink = EncodingSink::new(encoder, Compression::None);
    let mut batch = sink.new_batch();
    for row in rows {
        sink.row(row, &mut batch).unwrap();
    }
    sink.finish(&mut batch).unwrap();
    batch.output().to_vec()
}

#[track_caller]
fn text(types: &[ColumnType], options: &OutfileOptions, row: &[Option<&[u8]>], expected: &[u8]) {
    let def = table(types);
    let text = OutfileEncoder::new(&def, &stored(&def), options).unwrap();
    let out = rows(TableEncoder::Outfile(text), &[row]);
    assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

fn i32_bytes(number: i32) -> [u8; 4] {
    (number ^ i32::MIN).to_be_bytes()
}

#[test]
fn text_escapes_what_the_default_clauses_say() {
    let options = OutfileOptions::default();
    text(
        &[int(), varchar(LATIN1), varchar(LATIN1)],
        &options,
        &[Some(&i32_bytes(-7)), None, Some(b"tab\tline\nback\\nul\0quote'cr\r")],
        b"-7\t\\N\ttab\\\tline\\\nback\\\\nul\\0quote'cr\r\n",
    );
}

#[test]
fn text_without_an_escape_character_escapes_nothing() {
    let options = OutfileOptions { escaped_by: None, ..OutfileOptions::default() };
    text(
        &[varchar(LATIN1), varchar(LATIN1)],
        &options,
        &[None, Some(b"a\tb\\\0")],
        b"NULL\ta\tb\\\0\n",
    );
}

#[test]
fn text_encloses_and_escapes_the_enclosing_character() {
    let enclosed = OutfileOptions {
        fields_terminated_by: b",".to_vec(),
        enclosed_by: Some(b'"'),
        ..OutfileOptions::default()
    };
    let types = [int(), varchar(LATIN1), int()];
    let row: &[Option<&[u8]>] = &[Some(&i32_bytes(1)), Some(b"say \"hi\", you"), None];
    text(&types, &enclosed, row, b"\"1\",\"say \\\"hi\\\", you\",\\N\n");
    let optionally = OutfileOptions { optionally_enclosed: true, ..enclosed };
    text(&types, &optionally, row, b"1,\"say \\\"hi\\\", you\",\\N\n");
}

#[test]
fn text_doubles_an_enclosing_character_that_means_more_escaped() {
    let options = OutfileOptions {
        fields_terminated_by: b",".to_vec(),
        enclosed_by: Some(b'n'),
        ..OutfileOptions::default()
    };
    text(&[varchar(LATIN1)], &options, &[Some(b"nan\\")], b"nnnann\\\\n\n");
}

#[test]
fn text_leaves_an_ambiguous_field_end_alone() {
    let options =
        OutfileOptions { fields_terminated_by: b"t".to_vec(), ..OutfileOptions::default() };
    text(&[varchar(LATIN1), int()], &options, &[Some(b"at\n"), None], b"at\\\nt\\N\n");
}

#[test]
fn text_escapes_numbers_only_where_a_separator_could_be_one() {
    let options =
        OutfileOptions { fields_terminated_by: b"-".to_vec(), ..OutfileOptions::default() };
    text(&[varchar(LATIN1), int()], &options, &[Some(b"a-b"), Some(&i32_bytes(-5))], b"a-b--5\n");
    let enclosed = OutfileOptions { enclosed_by: Some(b'1'), ..OutfileOptions::default() };
    text(&[int()], &enclosed, &[Some(&i32_bytes(21))], b"12\\11\n");
}

#[test]
fn text_breaks_up_no_character() {
    let options = OutfileOptions::default();
    text(&[varchar(SJIS)], &options, &[Some(b"\x95\x5c\\\x95\t")], b"\x95\x5c\\\\\x95\\\t\n");
    text(&[varchar(UCS2)], &options, &[Some(b"\0a\0\n\0\\")], b"\0a\0\n\0\\\n");
    text(&[varchar(UTF8MB4)], &options, &[Some("é\t".as_bytes())], "é\\\t\n".as_bytes());
}

#[test]
fn text_starts_lines_and_ends_them_with_many_bytes() {
    let options = OutfileOptions {
        lines_starting_by: b">>".to_vec(),
        lines_terminated_by: b"END".to_vec(),
        fields_terminated_by: b", ".to_vec(),
        ..OutfileOptions::default()
    };
    text(
        &[varchar(LATIN1), varchar(LATIN1)],
        &options,
        &[Some(b"END, E"), Some(b"\n")],
        b">>\\END\\, \\E, \nEND",
    );
}

#[test]
fn text_refuses_the_fixed_row_format() {
    let options = OutfileOptions { fields_terminated_by: Vec::new(), ..OutfileOptions::default() };
    let def = table(&[int()]);
    let error = OutfileEncoder::new(&def, &[0], &options).unwrap_err();
    assert!(error.to_string().contains("fixed-row format"), "{error}");
}

#[test]
fn bit_is_a_string_on_mysql_9_only() {
    let options = OutfileOptions {
        enclosed_by: Some(b'"'),
        optionally_enclosed: true,
        ..OutfileOptions::default()
    };
    for (server, expected) in [(90_700, &b"\"\t\"\n"[..]), (80_033, b"\t\n"), (101_119, b"\t\n")] {
        let def = table_of(server, vec![ColumnDef::new("a", ColumnType::Bit { bits: 4 })]);
        let text = OutfileEncoder::new(&def, &[0], &options).unwrap();
        assert_eq!(rows(TableEncoder::Outfile(text), &[&[Some(b"\t")]]), expected);
    }
}

#[test]
fn columns_that_are_not_there_are_named() {
    let mut virtual_column = ColumnDef::new("v", int());
    virtual_column.generated = Some(Generated { expression: "1".into(), stored: false });
    let mut generated = ColumnDef::new("s", int());
    generated.generated = Some(Generated { expression: "1".into(), stored: true });
    let mut invisible = ColumnDef::new("i", int());
    invisible.invisible = true;
    let columns = vec![virtual_column, generated, invisible, ColumnDef::new("x", int())];
    let def = table_of(80_033, columns);
    let row: [Option<&[u8]>; 3] = [Some(&i32_bytes(1)), Some(&i32_bytes(2)), Some(&i32_bytes(3))];

    let text = OutfileEncoder::new(&def, &stored(&def), &OutfileOptions::default()).unwrap();
    let reasons: Vec<_> = text.shape().left_out().iter().map(|left| left.reason).collect();
    assert_eq!(reasons, [LeftOutReason::Virtual, LeftOutReason::Invisible]);
    assert_eq!(rows(TableEncoder::Outfile(text), &[&row]), b"1\t3\n");

    let sql = SqlEncoder::new(&def, &stored(&def), &SqlOptions::default()).unwrap();
    let reasons: Vec<_> = sql.shape().left_out().iter().map(|left| left.reason).collect();
    assert_eq!(reasons, [LeftOutReason::Virtual, LeftOutReason::Generated]);
    assert_eq!(
        rows(TableEncoder::Sql(sql), &[&row]),
        b"INSERT INTO `t``1` (`i`,`x`) VALUES\n(2,3);\n"
    );
}

#[test]
fn rows_of_the_past_are_not_shown() {
    let temporal = Temporal { fsp: 6, format: TemporalFormat::New };
    let mut row_end = ColumnDef::new("row_end", ColumnType::Timestamp(temporal));
    row_end.row_period = Some(RowPeriod::End);
    row_end.hidden = true;
    let mut def = table_of(101_119, vec![ColumnDef::new("x", int()), row_end]);
    def.versioned = true;
    let text = OutfileEncoder::new(&def, &[0, 1], &OutfileOptions::default()).unwrap();
    let current: [Option<&[u8]>; 2] = [Some(&i32_bytes(1)), Some(b"\x7f\xff\xff\xff\x0f\x42\x3f")];
    let past: [Option<&[u8]>; 2] = [Some(&i32_bytes(2)), Some(b"\x65\x00\x00\x00\x00\x00\x01")];
    assert_eq!(rows(TableEncoder::Outfile(text), &[&past, &current, &past]), b"1\n");
}

#[test]
fn sql_values_have_the_form_of_their_type() {
    let types = [
        int(),
        varchar(LATIN1),
        ColumnType::Blob { length_bytes: 2 },
        ColumnType::Float(real()),
        ColumnType::Double(real()),
        ColumnType::Enum { members: vec![b"x".to_vec(), b"y".to_vec()], collation: LATIN1 },
        ColumnType::Bit { bits: 9 },
        ColumnType::Inet6,
    ];
    let def = table(&types);
    let row: [Option<&[u8]>; 8] = [
        Some(&i32_bytes(1)),
        Some(b"it's \"q\"\n\r\\\0\x1a\xe9"),
        Some(b"\x00\xff"),
        Some(&0.1f32.to_le_bytes()),
        Some(&(-0.0f64).to_le_bytes()),
        Some(b"\x02"),
        Some(b"\x01\x03"),
        Some(&[0x20; 16]),
    ];
    let sql = SqlEncoder::new(&def, &stored(&def), &SqlOptions::default()).unwrap();
    let expected = b"INSERT INTO `t``1` (`a`,`b`,`c`,`d`,`e`,`f`,`g`,`h`) VALUES\n\
        (1,'it\\'s \"q\"\\n\\r\\\\\\0\\Z\xe9',0x00FF,0.1,-0e0,2,0x0103,\
        0x20202020202020202020202020202020),\n\
        (NULL,NULL,'',NULL,NULL,0,NULL,NULL);\n";
    let empty: [Option<&[u8]>; 8] = [None, None, Some(b""), None, None, Some(b"\0"), None, None];
    let out = rows(TableEncoder::Sql(sql), &[&row, &empty]);
    assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn statements_end_before_they_are_too_long() {
    let def = table(&[int()]);
    let opening = b"INSERT IGNORE INTO `t``1` (`a`) VALUES\n".len();
    let options = SqlOptions {
        statement_size_bytes: opening + b"(1),\n(1);\n".len(),
        verb: Verb::InsertIgnore,
        ..SqlOptions::default()
    };
    let sql = SqlEncoder::new(&def, &[0], &options).unwrap();
    let one = i32_bytes(1);
    let row: &[Option<&[u8]>] = &[Some(&one)];
    let out = rows(TableEncoder::Sql(sql), &[row; 5]);
    let statements: Vec<&str> = str::from_utf8(&out).unwrap().split_inclusive(";\n").collect();
    let lengths: Vec<usize> = statements.iter().map(|s| s.len() - opening).collect();
    assert_eq!(lengths, [10, 10, 5]);
    assert!(statements.iter().all(|s| s.starts_with("INSERT IGNORE INTO ")));
}

#[test]
fn commas_may_come_first() {
    let def = table(&[int()]);
    let opening = b"INSERT INTO `t``1` (`a`) VALUES".len();
    let statement_size_bytes = opening + b"(1)\n,(1)\n;\n".len();
    let options = SqlOptions { statement_size_bytes, comma_first: true, ..SqlOptions::default() };
    let sql = SqlEncoder::new(&def, &[0], &options).unwrap();
    let one = i32_bytes(1);
    let row: &[Option<&[u8]>] = &[Some(&one)];
    let out = rows(TableEncoder::Sql(sql), &[row; 3]);
    let expected =
        "INSERT INTO `t``1` (`a`) VALUES(1)\n,(1)\n;\nINSERT INTO `t``1` (`a`) VALUES(1)\n;\n";
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn rows_to_load_are_text_in_utf8_or_base64() {
    let types = [
        int(),
        varchar(UTF8MB4),
        varchar(LATIN1),
        ColumnType::Blob { length_bytes: 2 },
        ColumnType::Float(real()),
    ];
    let def = table(&types);
    let tsv = ShellTsvEncoder::new(&def, &stored(&def), &ShellTsvOptions).unwrap();
    let expected = [("a", false), ("b", false), ("c", true), ("d", true), ("e", false)];
    let expected: Vec<(String, bool)> =
        expected.into_iter().map(|(name, is_base64)| (name.to_owned(), is_base64)).collect();
    assert_eq!(tsv.loaded_columns(), expected);
    let (one, tenth, nan) = (i32_bytes(1), 0.1f32.to_le_bytes(), f32::NAN.to_le_bytes());
    let text = Some("é\t\n\r\x08\\\0\x1a'".as_bytes());
    let row: [Option<&[u8]>; 5] = [Some(&one), text, Some(b"\xe9"), Some(b"\0\xff"), Some(&tenth)];
    let empty: [Option<&[u8]>; 5] = [None, Some(b""), None, Some(b""), Some(&nan)];
    let out = rows(TableEncoder::ShellTsv(tsv), &[&row, &empty]);
    let expected = "1\té\\t\\n\\r\\b\\\\\\0\\Z'\t6Q==\tAP8=\t0.1\n\\N\t\t\\N\t\t\\N\n";
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn rows_of_a_server_are_loaded_as_they_were() {
    let classes = [Class::Number, Class::Text, Class::Binary, Class::Uuid, Class::Number];
    let columns: Vec<SelectedColumn> = classes
        .into_iter()
        .zip(["a", "b", "c", "d", "e"])
        .map(|(class, name)| SelectedColumn {
            name: name.to_owned(),
            class,
            is_generated: name == "e",
        })
        .collect();
    let some = |text: &[u8]| Some(text.to_vec());
    let row = [some(b"1"), some(b"it's\n"), some(b"\xff"), some(b"0-1"), some(b"2")];
    let selected =
        |format: Format| SelectedRows::new(&format, "t", &columns, Compression::None, u64::MAX);
    let write = |format: Format| {
        let rows = selected(format).unwrap();
        let mut batch = Encoded::default();
        rows.row(&row, &mut batch).unwrap();
        rows.row(&row[1..], &mut batch).unwrap_err();
        rows.row(&[None, None, None, None, None], &mut batch).unwrap();
        rows.finish(&mut batch).unwrap();
        assert_eq!(batch.rows(), 2);
        String::from_utf8(batch.output().to_vec()).unwrap()
    };
    let sql = write(Format::Sql(SqlOptions::default()));
    let expected = "INSERT INTO `t` (`a`,`b`,`c`,`d`) VALUES\n\
        (1,'it\\'s\\n',0xFF,_utf8mb4'0-1'),\n(NULL,NULL,NULL,NULL);\n";
    assert_eq!(sql, expected);
    let tsv = write(Format::ShellTsv(ShellTsvOptions));
    assert_eq!(tsv, "1\taXQncwo=\t/w==\t0-1\n\\N\t\\N\t\\N\t\\N\n");
    for name in ["text", "csv", "ndjson"] {
        let error = selected(Format::named(name).unwrap()).unwrap_err();
        assert!(error.to_string().contains("not written in this format"), "{error}");
    }
}

#[test]
fn a_row_that_cannot_be_read_leaves_no_trace() {
    let def = table(&[int(), int()]);
    let sql = SqlEncoder::new(&def, &[0, 1], &SqlOptions::default()).unwrap();
    let encoder = EncodingSink::new(TableEncoder::Sql(sql), Compression::None);
    let mut batch = encoder.new_batch();
    let one = i32_bytes(1);
    encoder.row(&[Some(&one), Some(b"short")], &mut batch).unwrap_err();
    encoder.row(&[Some(&one), Some(&one)], &mut batch).unwrap();
    encoder.row(&[Some(&one), Some(b"short")], &mut batch).unwrap_err();
    encoder.finish(&mut batch).unwrap();
    assert_eq!(batch.output(), b"INSERT INTO `t``1` (`a`,`b`) VALUES\n(1,1);\n");
    assert_eq!(batch.rows(), 1);
}

#[test]
fn csv_tells_null_from_empty() {
    let types = [varchar(LATIN1), varchar(UTF8MB4), ColumnType::Blob { length_bytes: 2 }, int()];
    let def = table(&types);
    let given: [&[Option<&[u8]>]; 3] = [
        &[None, Some(b""), None, None],
        &[Some(b"caf\xe9"), Some("a,\"é\"\n".as_bytes()), Some(b"\xca\xfe"), None],
        &[Some(b" x"), Some(b"plain"), Some(b""), None],
    ];
    let csv = CsvEncoder::new(&def, &stored(&def), &CsvOptions::default()).unwrap();
    assert_eq!(csv.head(), b"a,b,c,d\r\n");
    let out = rows(TableEncoder::Csv(csv), &given);
    let expected = ",\"\",,\r\ncafé,\"a,\"\"é\"\"\n\",CAFE,\r\n\" x\",plain,\"\",\r\n";
    assert_eq!(str::from_utf8(&out).unwrap(), expected);

    let options =
        CsvOptions { binary: BinaryForm::Base64, line_end: "\n", ..CsvOptions::default() };
    let csv = CsvEncoder::new(&def, &stored(&def), &options).unwrap();
    let row: &[Option<&[u8]>] = &[None, None, Some(b"\xca\xfe"), None];
    assert_eq!(rows(TableEncoder::Csv(csv), &[row]), b",,yv4=,\n");
}

#[test]
fn csv_has_the_separator_and_null_that_are_wished() {
    let types = [varchar(UTF8MB4), ColumnType::Blob { length_bytes: 2 }, int()];
    let def = table(&types);
    let separator = Separator::new(b";").unwrap();
    let options = CsvOptions {
        separator,
        null: NullText::new("NULL", separator).unwrap(),
        header: false,
        line_end: "\n",
        binary: BinaryForm::Prefixed,
        ..CsvOptions::default()
    };
    let csv = CsvEncoder::new(&def, &stored(&def), &options).unwrap();
    assert_eq!(csv.head(), b"");
    let given: [&[Option<&[u8]>]; 4] = [
        &[None, None, None],
        &[Some(b"NULL"), Some(b"\xca\xfe"), None],
        &[Some(b"a,b"), Some(b""), None],
        &[Some(b"a;b"), None, None],
    ];
    let expected = "NULL;NULL;NULL\n\"NULL\";0xCAFE;NULL\na,b;\"\";NULL\n\"a;b\";NULL;NULL\n";
    assert_eq!(str::from_utf8(&rows(TableEncoder::Csv(csv), &given)).unwrap(), expected);

    for wrong in [&b""[..], b";;", b"-", b".", b":", b" ", b"7", b"e", b"\"", b"\n", b"\xe9"] {
        assert_eq!(Separator::new(wrong), None, "{wrong:?}");
    }
    for wrong in ["a;b", "\"", " N", "N\n"] {
        assert_eq!(NullText::new(wrong, separator), None, "{wrong:?}");
    }
}

#[test]
fn ndjson_is_exact() {
    let types = [
        ColumnType::Int {
            width: IntWidth::Eight,
            unsigned: true,
            zerofill: true,
            display_width: Some(20),
        },
        varchar(UTF8MB4),
        ColumnType::Blob { length_bytes: 2 },
        ColumnType::Double(real()),
        ColumnType::Bit { bits: 9 },
        ColumnType::Year { digits: 4 },
        ColumnType::Vector { dimensions: 2 },
        ColumnType::Decimal { precision: 3, scale: 1, unsigned: false, zerofill: false },
    ];
    let def = table(&types);
    let vector: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|f| f.to_le_bytes()).collect();
    let row: [Option<&[u8]>; 8] = [
        Some(&u64::MAX.to_be_bytes()),
        Some("q\"\\\u{1}\u{7f}\n\té".as_bytes()),
        Some(b"foob"),
        Some(&1e300f64.to_le_bytes()),
        Some(b"\x01\x03"),
        Some(b"\x00"),
        Some(&vector),
        None,
    ];
    let ndjson = NdjsonEncoder::new(&def, &stored(&def), &NdjsonOptions::default()).unwrap();
    let out = rows(TableEncoder::Ndjson(ndjson), &[&row]);
    let expected = "{\"a\":18446744073709551615,\"b\":\"q\\\"\\\\\\u0001\u{7f}\\n\\té\",\
        \"c\":\"Zm9vYg==\",\"d\":1e+300,\"e\":259,\"f\":0,\"g\":[1.5,-2],\"h\":null}\n";
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn text_says_what_it_is_where_mysql_5_7_reads_expressions_by_the_session() {
    let mut generated = ColumnDef::new("g", int());
    generated.generated = Some(Generated { expression: "1".into(), stored: true });
    let columns = vec![ColumnDef::new("v", varchar(LATIN1)), generated];
    for (server, introducer) in [(50_722, "_binary "), (80_033, ""), (101_119, "")] {
        let def = table_of(server, columns.clone());
        let sql = SqlEncoder::new(&def, &[0, 1], &SqlOptions::default()).unwrap();
        assert_eq!(
            str::from_utf8(sql.head()).unwrap().contains("COLLATION_CONNECTION"),
            !introducer.is_empty()
        );
        let out = rows(TableEncoder::Sql(sql), &[&[Some(b"x"), None]]);
        let expected = format!("INSERT INTO `t``1` (`v`) VALUES\n({introducer}'x');\n");
        assert_eq!(str::from_utf8(&out).unwrap(), expected);
    }
}

#[test]
fn definitions_can_be_read_again() {
    let create = "CREATE TABLE `t` (\n  `a` int(11) DEFAULT NULL CHECK (`a` > 0) COMMENT 'c',\n  \
        `b` int(11) DEFAULT NULL CHECK (`b` > 0)\n) ENGINE=InnoDB DEFAULT CHARSET=latin1";
    let old = from_create_table(create, ServerVersion::from_number(100_211)).unwrap();
    assert_eq!(old.to_create_table(), create);
    let script = create_table(&old, None, false);
    assert!(script.contains("DEFAULT NULL COMMENT 'c' CHECK (`a` > 0),\n"), "{script}");
    assert!(script.contains("`b` int(11) DEFAULT NULL CHECK (`b` > 0)\n"), "{script}");

    let create = "CREATE TABLE `t` (\n  `a` int DEFAULT NULL,\n  KEY `a` (`a`),\n  \
        CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`b`)\n) ENGINE=InnoDB \
        DEFAULT CHARSET=latin1";
    let mut child = from_create_table(create, ServerVersion::from_number(90_700)).unwrap();
    let setting = "/*!80400 SET RESTRICT_FK_ON_NON_STANDARD_KEY=0 */;\n";
    assert!(!create_table(&child, None, false).contains(setting));
    child.foreign_keys[0].parent_not_unique = true;
    assert!(create_table(&child, None, false).contains(setting));
}

/// The text in the journals of dumps that were begun by earlier versions.
#[test]
fn fingerprints_stay_as_they_were() {
    let separator = Separator::new(b";").unwrap();
    let csv = CsvOptions {
        separator,
        null: NullText::new("NULL", separator).unwrap(),
        binary: BinaryForm::Prefixed,
        timestamps: TimestampForm::Iso,
        ..CsvOptions::default()
    };
    for (format, expected) in [
        (
            Format::Sql(SqlOptions::default()),
            "Sql(SqlOptions { statement_size_bytes: 1000000, verb: Insert, hex_blob: true, \
             comma_first: false })",
        ),
        (
            Format::Outfile(OutfileOptions { enclosed_by: Some(b'"'), ..Default::default() }),
            "Text(TextOptions { fields_terminated_by: [9], enclosed_by: Some(34), \
             optionally_enclosed: false, escaped_by: Some(92), lines_starting_by: [], \
             lines_terminated_by: [10], include_invisible: false })",
        ),
        (
            Format::Csv(csv),
            "Csv(CsvOptions { separator: Separator(59), null: NullText(\"NULL\"), header: true, \
             line_end: \"\\r\\n\", binary: Prefixed, include_invisible: false, timestamps: Iso })",
        ),
        (
            Format::Ndjson(NdjsonOptions::default()),
            "Ndjson(NdjsonOptions { include_invisible: false, timestamps: Server })",
        ),
        (Format::ShellTsv(ShellTsvOptions), "Load"),
    ] {
        assert_eq!(format.fingerprint(), expected);
    }
}

#[test]
fn formats_have_names_and_layouts_of_their_own() {
    let fits = |format: &Format, layout| format.for_layout(layout).is_some();
    for format in Format::all() {
        if let Some(name) = format.name() {
            assert_eq!(Format::named(name), Some(format.clone()));
            assert!(fits(&format, Layout::Files));
        }
        assert_eq!(fits(&format, Layout::MyDumper), format.is_sql());
        assert_eq!(fits(&format, Layout::MySqlShell), format.name().is_none());
    }
}
