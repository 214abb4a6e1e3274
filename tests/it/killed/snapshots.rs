//! A newer snapshot of a running server in the place of an older one: the file of a table may be the same, and the redo
//! log have other changes of it.

use std::path::Path;

use innoscan::{FileStamp, OpenOptions, Split, Table};
use innoscan_testkit::server::{Server, install};

fn opened(data: &Path) -> Table {
    OpenOptions::default().open(data.join("d/t")).unwrap()
}

/// The sum of a split's ids.
fn sum_of(table: &Table, split: &Split) -> innoscan::Result<u64> {
    let mut sum = 0;
    for row in table.rows().columns(["id"]).split(split).read()? {
        sum += row?.utf8(0)?.unwrap_or_default().parse::<u64>().unwrap();
    }
    Ok(sum)
}

#[test]
fn a_split_is_of_one_snapshot() {
    install("mariadb-10.11").unwrap();
    // No page is written before it must be.
    let options = [
        "--innodb-max-dirty-pages-pct=99",
        "--innodb-max-dirty-pages-pct-lwm=98",
        "--innodb-stats-auto-recalc=OFF",
    ];
    let mut server = Server::start("mariadb-10.11", &options).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
             INSERT INTO d.t SELECT seq, REPEAT('a', 100) FROM seq_1_to_5000;",
        )
        .unwrap();
    server.stop().unwrap();
    server.restart().unwrap();
    let (log, file) = (server.data().join("ib_logfile0"), server.data().join("d/t.ibd"));
    server.sql("UPDATE d.t SET id = id + 100000 WHERE id % 7 = 0;").unwrap();
    let sum = "SELECT SUM(id) FROM d.t;";
    let of_first = server.sql(sum).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let first_log = dir.path().join("first");
    super::copy(&log, &first_log);
    let stamp = FileStamp::of(&file).unwrap();
    server.sql("DELETE FROM d.t WHERE id % 3 > 0;").unwrap();
    server.kill().unwrap();
    assert_eq!(FileStamp::of(&file).unwrap(), stamp, "the server wrote pages");
    let copy = server.copy().unwrap();
    server.restart().unwrap();
    let of_second = server.sql(sum).unwrap();
    assert_ne!(of_first, of_second);
    // The two snapshots, at one place.
    let (data, log) = (copy.data(), copy.data().join("ib_logfile0"));
    let second_log = dir.path().join("second");
    super::copy(&log, &second_log);
    super::copy(&first_log, &log);
    let first = opened(&data);
    let splits = first.splits(3).unwrap();
    let sums = splits.iter().map(|split| sum_of(&first, split).unwrap());
    assert_eq!(format!("{}\n", sums.sum::<u64>()).into_bytes(), of_first);
    super::copy(&second_log, &log);
    let second = opened(&data);
    for split in &splits {
        let split: Split = split.to_string().parse().unwrap();
        let refused = sum_of(&second, &split).unwrap_err().to_string();
        assert!(refused.contains("make the splits again"), "{refused}");
    }
    let splits = second.splits(3).unwrap();
    let sums = splits.iter().map(|split| sum_of(&second, split).unwrap());
    assert_eq!(format!("{}\n", sums.sum::<u64>()).into_bytes(), of_second);
}
