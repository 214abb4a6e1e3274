//! Tables of MyISAM and Aria, read from their files and compared with what their server said.

use std::path::{Path, PathBuf};

use innoscan::sink::RowSink;
use innoscan::sink::checksum::Checksum;
use innoscan::sink::text::{Text, TextOptions};
use innoscan::sink::{Compression, Encoder, Form};
use innoscan::source::EngineTable;
use innoscan_testkit::server::{Server, quote};

/// What a server said of a table.
struct Expected {
    frm: PathBuf,
    name: String,
    text: Vec<u8>,
    sum: Option<u64>,
}

/// The tables of a database, as their server gives them.
fn expected(server: &Server, db: &str, out: &Path) -> Vec<Expected> {
    let tables = server
        .sql(format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{db}'
             AND engine IN ('MyISAM', 'Aria') ORDER BY 1"
        ))
        .unwrap();
    let tables = String::from_utf8(tables).unwrap();
    let of = |name: &str| {
        let columns = server
            .sql(format!(
                "SET SESSION group_concat_max_len = 1000000;
                 SELECT GROUP_CONCAT('`', column_name, '`' ORDER BY ordinal_position)
                 FROM information_schema.columns WHERE table_schema = '{db}' AND table_name = '{name}'
                 AND extra NOT LIKE '%VIRTUAL%' AND extra NOT LIKE '%INVISIBLE%'"
            ))
            .unwrap();
        let columns = String::from_utf8(columns).unwrap();
        let file = out.join(format!("{db}.{name}.txt"));
        let table = format!("{}.{}", quote(db), quote(name));
        let select = format!("SELECT {columns} FROM {table} INTO OUTFILE '{}'", file.display());
        server.sql(select).unwrap();
        let sum = server.sql(format!("CHECKSUM TABLE {table} EXTENDED")).unwrap();
        let sum = String::from_utf8(sum).unwrap();
        Expected {
            frm: server.data().join(db).join(format!("{name}.frm")),
            name: format!("{db}.{name}"),
            text: std::fs::read(file).unwrap(),
            sum: sum.trim_end().rsplit('\t').next().and_then(|sum| sum.parse().ok()),
        }
    };
    tables.lines().map(of).collect()
}

/// The rows of a table as `INTO OUTFILE` text, and their sum where it can be had.
fn read(frm: &Path) -> innoscan::Result<(Vec<u8>, Option<u64>)> {
    let table = EngineTable::open(frm)?;
    let columns = table.def.columns.iter().enumerate();
    let stored: Vec<usize> = columns.filter(|(_, of)| of.is_stored()).map(|(at, _)| at).collect();
    let text = Text::new(&table.def, &stored, &TextOptions::default()).unwrap();
    let text = Encoder::new(Form::Text(text), Compression::default());
    let sum = Checksum::new(&table.def).ok();
    let mut texts = text.new_batch();
    let mut sums = Checksum::count_only().new_batch();
    let rows = table.for_each_row(|row| {
        if let Some(sum) = &sum {
            sum.row(row, &mut sums)?;
        }
        Ok(text.row(row, &mut texts)?)
    })?;
    assert_eq!(rows, table.rows());
    Ok((texts.output().to_vec(), sum.map(|_| u64::from(sums.sum))))
}

/// How two texts differ.
fn difference(was: &[u8], is: &[u8]) -> String {
    let at = was.iter().zip(is).take_while(|(was, is)| was == is).count();
    let around = |text: &[u8]| {
        let part = &text[at.saturating_sub(60).min(text.len())..(at + 60).min(text.len())];
        String::from_utf8_lossy(part).into_owned()
    };
    format!(
        "{} and {} bytes, at {at}:\n  {:?}\n  {:?}",
        was.len(),
        is.len(),
        around(was),
        around(is)
    )
}

fn compare(tables: &[Expected]) {
    let mut wrong = Vec::new();
    for table in tables {
        match read(&table.frm) {
            Err(error) => wrong.push(format!("{}: {error}", table.name)),
            Ok((text, sum)) => {
                if text != table.text {
                    wrong.push(format!("{}: {}", table.name, difference(&table.text, &text)));
                } else if sum.is_some() && sum != table.sum {
                    wrong.push(format!("{}: sum {sum:?}, not {:?}", table.name, table.sum));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tables.len(), wrong.join("\n"));
}

/// The statements for one engine and row format, in a database of its own.
fn load(server: &Server, db: &str, format: &str, stored: &str) {
    let sql = include_str!("other_engines.sql");
    let sql = sql
        .replace("DATABASE d ", &format!("DATABASE {db} "))
        .replace("USE d;", &format!("USE {db};"));
    let sql = sql.replace("@FORMAT", format).replace("@STORED", stored);
    server.sql(sql).unwrap();
}

fn round_trip(version: &str, formats: &[(&str, &str)], stored: &str) {
    let out = tempfile::tempdir().unwrap();
    let mut server = Server::start(version, &["--secure-file-priv="]).unwrap();
    let mut tables = Vec::new();
    for (db, format) in formats {
        load(&server, db, format, stored);
        tables.extend(expected(&server, db, out.path()));
    }
    tables.extend(expected(&server, "mysql", out.path()));
    server.stop().unwrap();
    assert!(tables.len() > 20);
    compare(&tables);
}

#[test]
fn mariadb_reads_as_its_server_does() {
    round_trip(
        "mariadb-10.11",
        &[
            ("myisam", "ENGINE=MyISAM"),
            ("myisam_dynamic", "ENGINE=MyISAM ROW_FORMAT=DYNAMIC"),
            ("aria", "ENGINE=Aria"),
            ("aria_plain", "ENGINE=Aria TRANSACTIONAL=0"),
            ("aria_no_sum", "ENGINE=Aria PAGE_CHECKSUM=0"),
            ("aria_fixed", "ENGINE=Aria ROW_FORMAT=FIXED TRANSACTIONAL=0"),
            ("aria_dynamic", "ENGINE=Aria ROW_FORMAT=DYNAMIC TRANSACTIONAL=0"),
        ],
        "STORED",
    );
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn mysql_5_7_reads_as_its_server_does() {
    round_trip(
        "mysql-5.7.22",
        &[("myisam", "ENGINE=MyISAM"), ("myisam_dynamic", "ENGINE=MyISAM ROW_FORMAT=DYNAMIC")],
        "STORED",
    );
}
