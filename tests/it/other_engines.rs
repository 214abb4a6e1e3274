//! Tables of MyISAM and Aria, read from their files and compared with what their server said.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use innoscan::sink::RowSink;
use innoscan::sink::checksum::Checksum;
use innoscan::sink::{Compression, EncodingSink, Format};
use innoscan::source::EngineTable;
use innoscan_format::schema::filename::encode;
use innoscan_testkit::damage::Random;
use innoscan_testkit::server::{Server, quote};

use crate::damage::watch;

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
            frm: server.data().join(db).join(format!("{}.frm", encode(name))),
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
    let text = Format::named("text").unwrap().encoder(&table.def).unwrap();
    let text = EncodingSink::new(text, Compression::default());
    let sum = Checksum::new(&table.def).ok();
    let mut texts = text.new_batch();
    let mut sums = Checksum::count_only().new_batch();
    let rows = table.for_each_row(|row| {
        if let Some(sum) = &sum {
            sum.row(row, &mut sums)?;
        }
        text.row(row, &mut texts)
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

/// `CHECKSUM TABLE` counts the NULL bit of the hash behind a long unique key, which a definition does
/// not have.
fn has_hash(name: &str) -> bool {
    name.ends_with(".hashed_")
}

fn compare(tables: &[Expected]) {
    let mut wrong = Vec::new();
    for table in tables {
        match read(&table.frm) {
            Err(error) => wrong.push(format!("{}: {error}", table.name)),
            Ok((text, sum)) => {
                if text != table.text {
                    wrong.push(format!("{}: {}", table.name, difference(&table.text, &text)));
                } else if sum.is_some() && sum != table.sum && !has_hash(&table.name) {
                    wrong.push(format!("{}: sum {sum:?}, not {:?}", table.name, table.sum));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tables.len(), wrong.join("\n"));
}

/// A table of so many columns that no row has all of its parts in one page.
fn many_columns() -> String {
    let types =
        ["INT", "VARCHAR(30)", "BIT(13)", "CHAR(9)", "BLOB", "DECIMAL(9,3)", "SMALLINT NOT NULL"];
    let columns =
        |part: &dyn Fn(usize) -> String| (0..1000).map(part).collect::<Vec<_>>().join(", ");
    let create = columns(&|at| format!("c{at} {}", types[at % 7]));
    let numbers = columns(&|at| (at % 1000).to_string());
    let long =
        columns(&|at| if at % 7 == 4 { "REPEAT('b', 999)".into() } else { (at % 10).to_string() });
    let nulls = columns(&|at| if at % 7 == 6 { at.to_string() } else { "NULL".into() });
    format!(
        "SET sql_mode = ''; CREATE TABLE wide_ ({create}) @FORMAT;
         INSERT INTO wide_ VALUES ({numbers}), ({long}), ({nulls}), ({long});"
    )
}

/// The statements for one engine and row format, in a database of its own.
fn load(server: &Server, db: &str, format: &str, stored: &str) {
    let sql = include_str!("other_engines.sql").to_owned() + &many_columns();
    let more = match server.version() {
        "mariadb-10.11" | "mariadb-11.8" => include_str!("other_engines_mariadb.sql"),
        "mysql-5.7.22" => include_str!("other_engines_mysql.sql"),
        _ => "",
    };
    let sql = (sql + more)
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

/// A bitmap covers 179 MB of pages.
#[test]
#[ignore = "writes 400 MB: make test-all"]
fn an_aria_table_of_two_bitmaps() {
    let mut server = Server::start("mariadb-10.11", &[]).unwrap();
    let numbers = "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 900) ";
    server
        .sql(format!(
            "CREATE DATABASE d; CREATE TABLE d.t (id INT, b LONGBLOB) ENGINE=Aria;
             INSERT INTO d.t {numbers} SELECT i, REPEAT('blob', 2000000 + i) FROM n LIMIT 25;
             INSERT INTO d.t {numbers} SELECT i, REPEAT(i, i) FROM n;
             DELETE FROM d.t WHERE id % 10 = 1;"
        ))
        .unwrap();
    let expected = server.checksum("d", "t").unwrap();
    server.stop().unwrap();
    let table = EngineTable::open(&server.data().join("d/t.frm")).unwrap();
    assert!(table.size_bytes() > 179 << 20);
    let sink = Checksum::new(&table.def).unwrap();
    let mut sum = sink.new_batch();
    let rows = table.for_each_row(|row| sink.row(row, &mut sum)).unwrap();
    assert_eq!((rows, Some(u64::from(sum.sum))), (22 + 810, expected));
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

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn newer_and_older_mariadb_read_as_their_servers_do() {
    for (version, stored) in [
        ("mariadb-11.8", "STORED"),
        ("mariadb-10.5.23", "STORED"),
        ("mariadb-10.1.13", "PERSISTENT"),
    ] {
        let formats = [("myisam", "ENGINE=MyISAM"), ("aria", "ENGINE=Aria")];
        round_trip(version, &formats, stored);
    }
}

/// Copies a database's files to a folder that is no server's.
fn copy(db: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(db).unwrap().flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// What opening a table says that it refuses.
fn refusal(frm: &Path) -> String {
    match EngineTable::open(frm) {
        Ok(_) => panic!("{} was not refused", frm.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn tables_that_were_not_closed_are_refused() {
    let copies = tempfile::tempdir().unwrap();
    let mut server = Server::start("mariadb-10.11", &[]).unwrap();
    let tables = [
        ("m", "ENGINE=MyISAM"),
        ("f", "ENGINE=MyISAM ROW_FORMAT=FIXED"),
        ("a", "ENGINE=Aria"),
        ("p", "ENGINE=Aria TRANSACTIONAL=0"),
        ("d", "ENGINE=Aria ROW_FORMAT=DYNAMIC TRANSACTIONAL=0"),
    ];
    server.sql("CREATE DATABASE d").unwrap();
    for (name, options) in tables {
        server.sql(format!("CREATE TABLE d.{name} (id INT, v VARCHAR(20)) {options}")).unwrap();
        server.sql(format!("INSERT INTO d.{name} VALUES (1, 'one'), (2, 'two')")).unwrap();
    }
    let db = server.data().join("d");
    copy(&db, &copies.path().join("open"));
    server.sql("FLUSH TABLES").unwrap();
    copy(&db, &copies.path().join("flushed"));
    server.sql("INSERT INTO d.a VALUES (3, 'three')").unwrap();
    server.sql("INSERT INTO d.m VALUES (3, 'three')").unwrap();
    server.kill().unwrap();
    for (name, _) in tables {
        let said = refusal(&copies.path().join(format!("open/{name}.frm")));
        assert!(said.contains("was changed and not closed; start its server"), "{name}: {said}");
        let (text, _) = read(&copies.path().join(format!("flushed/{name}.frm"))).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "1\tone\n2\ttwo\n", "{name}");
    }
    for name in ["a", "m"] {
        assert!(refusal(&db.join(format!("{name}.frm"))).contains("not closed"), "{name}");
    }
    // as if the server had written none of the log's changes to the table's files
    for extension in ["MAI", "MAD"] {
        let file = format!("a.{extension}");
        std::fs::copy(copies.path().join("flushed").join(&file), db.join(&file)).unwrap();
    }
    let said = refusal(&db.join("a.frm"));
    assert!(said.contains("Aria's log continues after its last checkpoint"), "{said}");
    server.restart().unwrap();
    server
        .sql("CHECK TABLE d.a, d.m, d.f, d.p, d.d; SELECT * FROM d.a; SELECT * FROM d.m")
        .unwrap();
    server.stop().unwrap();
    for (name, _) in tables {
        read(&db.join(format!("{name}.frm"))).unwrap();
    }
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    let mut server = Server::start("mariadb-10.11", &[]).unwrap();
    let data = server.data();
    server
        .sql(
            "CREATE DATABASE d; USE d; CREATE TABLE c (a INT NOT NULL) ENGINE=CSV;
             CREATE TABLE h (a INT) ENGINE=MEMORY; CREATE TABLE i (a INT) ENGINE=InnoDB;
             CREATE TABLE m (a INT) ENGINE=MyISAM; CREATE TABLE g (a INT) ENGINE=MERGE UNION=(m);
             CREATE VIEW v AS SELECT 1; CREATE TABLE z (a TEXT COMPRESSED) ENGINE=MyISAM;
             CREATE TABLE packed (a INT, b VARCHAR(99)) ENGINE=MyISAM;
             CREATE TABLE aria_packed (a INT, b VARCHAR(99)) ENGINE=Aria;
             CREATE TABLE other (a INT, b CHAR(9)) ENGINE=MyISAM;
             INSERT INTO packed SELECT 1, REPEAT('b', 50); INSERT INTO packed SELECT * FROM packed;
             INSERT INTO aria_packed SELECT 1, REPEAT('b', 50);",
        )
        .unwrap();
    server.stop().unwrap();
    let frm = |name: &str| data.join("d").join(format!("{name}.frm"));
    for (name, engine) in [("c", "CSV"), ("h", "MEMORY"), ("i", "InnoDB"), ("g", "MRG_MyISAM")] {
        let said = refusal(&frm(name));
        assert!(said.contains(&format!("is a table of {engine}")), "{name}: {said}");
    }
    assert!(refusal(&frm("v")).contains("view"));
    assert!(refusal(&frm("z")).contains("the compressed column `a`"));
    std::fs::copy(frm("other"), frm("m")).unwrap();
    assert!(refusal(&frm("m")).contains("not of one table"), "{}", refusal(&frm("m")));
    for (program, name, index) in
        [("myisampack", "packed", "packed.MYI"), ("aria_pack", "aria_packed", "aria_packed.MAI")]
    {
        let mut pack = std::process::Command::new(program);
        let pack = pack.arg("-f").arg(data.join("d").join(index)).current_dir(&data).output();
        // Debian has them in the server's package, others may not
        if pack.is_ok_and(|output| output.status.success()) {
            let said = refusal(&frm(name));
            assert!(said.contains(&format!("{program} compressed")), "{said}");
        }
    }
}

/// Cases for each table, unless told otherwise.
const CASES: u64 = 200;

/// A file with some damage.
fn damaged(sound: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..=random.below(3) {
        // Near the head, where what matters is, as often as anywhere.
        let reach = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(1200) };
        let at = random.below(reach);
        match random.below(5) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff][random.below(6)],
            3 => bytes.truncate(at),
            _ => {
                let len = (1 + random.below(16)).min(bytes.len() - at);
                let from = random.below(bytes.len() - len);
                bytes.copy_within(from..from + len, at);
            }
        }
    }
    bytes
}

/// Hashes of the rows that came, and the error that ended them.
fn rows(frm: &Path) -> (Vec<u64>, Option<String>) {
    let mut rows = Vec::new();
    let read = EngineTable::open(frm).and_then(|table| {
        table.for_each_row(|row| {
            let mut hasher = DefaultHasher::new();
            row.hash(&mut hasher);
            rows.push(hasher.finish());
            Ok(())
        })
    });
    (rows, read.err().map(|error| error.to_string()))
}

#[test]
fn damage_is_an_error() {
    let mut server = Server::start("mariadb-10.11", &[]).unwrap();
    let create =
        "(id INT PRIMARY KEY, a VARCHAR(300), b BLOB, c CHAR(40), d BIT(9), e TEXT NOT NULL)";
    let formats = [
        ("myisam", "ENGINE=MyISAM CHECKSUM=1", ["MYI", "MYD"]),
        ("myisam_no_sum", "ENGINE=MyISAM", ["MYI", "MYD"]),
        ("page", "ENGINE=Aria", ["MAI", "MAD"]),
        ("page_sums", "ENGINE=Aria PAGE_CHECKSUM=0 CHECKSUM=1", ["MAI", "MAD"]),
        ("page_no_sum", "ENGINE=Aria PAGE_CHECKSUM=0", ["MAI", "MAD"]),
        ("dynamic", "ENGINE=Aria ROW_FORMAT=DYNAMIC TRANSACTIONAL=0", ["MAI", "MAD"]),
    ];
    server.sql("CREATE DATABASE d").unwrap();
    for (name, options, _) in formats {
        let fill = "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i,
            REPEAT('a', i * 5), REPEAT('b', i * i * 7 % 20000), i, i, REPEAT('e', i % 9 * 1500) FROM n";
        server
            .sql(format!(
                "USE d; CREATE TABLE {name} {create} {options}; INSERT INTO {name} {fill};
                 DELETE FROM {name} WHERE id % 7 = 1;
                 UPDATE {name} SET b = REPEAT('grown', 3000), a = NULL WHERE id % 5 = 2;"
            ))
            .unwrap();
    }
    server
        .sql("CREATE TABLE d.fixed (id INT NOT NULL, c CHAR(9), d BIT(3)) ENGINE=MyISAM")
        .unwrap();
    server.sql("INSERT INTO d.fixed SELECT id, id, id % 8 FROM d.page").unwrap();
    server.stop().unwrap();
    let cases = std::env::var("INNOSCAN_DAMAGE_CASES").ok().and_then(|cases| cases.parse().ok());
    let formats = formats.into_iter().map(|(name, _, files)| (name, files));
    for (name, files) in formats.chain([("fixed", ["MYI", "MYD"])]) {
        let running = Arc::new(AtomicU64::new(0));
        watch(&running, name);
        let frm = server.data().join(format!("d/{name}.frm"));
        let (originals, error) = rows(&frm);
        assert_eq!((originals.len(), error), (51, None), "{name}");
        let paths = files.map(|extension| frm.with_extension(extension));
        let sound = paths.each_ref().map(|path| std::fs::read(path).unwrap());
        let mut errors = 0;
        for seed in 0..cases.unwrap_or(CASES) {
            running.store(seed, Ordering::Relaxed);
            let mut random = Random::new(seed);
            let which = usize::from(random.below(3) > 0);
            let bytes = damaged(&sound[which], &mut random);
            std::fs::write(&paths[which], &bytes).unwrap();
            let (found, error) = rows(&frm);
            let what = format!("{name}, case {seed}: {error:?}");
            errors += u64::from(error.is_some());
            // a page's checksum is compared before its rows are read, the rows' after
            let detects = ["page", "page_sums", "myisam"].contains(&name) && which == 1;
            assert!(
                name != "page" || !detects || originals.starts_with(&found),
                "{what}: wrong rows"
            );
            assert!(error.is_some() || !detects || originals == found, "{what}: not reported");
            std::fs::write(&paths[which], &sound[which]).unwrap();
        }
        running.store(u64::MAX, Ordering::Relaxed);
        println!("{name}: {errors} cases were reported");
    }
}
