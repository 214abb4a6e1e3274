//! A definition that the user gives (`--schema`): the right one reads the rows, one that the pages
//! contradict is refused before anything is written.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use innoscan_testkit::server::fixtures;

use crate::parity::command;

/// Tables of the fixtures whose pages differ in the forms of their records.
const TABLES: [(&str, &str); 6] = [
    ("mysql-8.0.33", "t_rows/lengths"),
    ("mysql-8.0.33", "t_types/decimals"),
    ("mysql-8.0.33", "t_rows/pk_order"),
    ("mariadb-10.5.23", "t_instant/add_last"),
    ("mariadb-10.5.23", "t_rows/no_pk"),
    ("mysql-5.7.22", "t_rows/nullables"),
];

fn dump(ibd: &Path, schema: Option<&Path>) -> Output {
    let mut command = command();
    command.args(["dump", "-q", "--force", "--format", "csv"]).arg(ibd);
    if let Some(schema) = schema {
        command.arg("--schema").arg(schema);
    }
    command.stdin(Stdio::null()).output().unwrap()
}

/// The definition with one more column behind its first.
fn with_a_column(create: &str, column: &str) -> String {
    let (head, rest) = create.split_once(",\n").unwrap();
    format!("{head},\n  {column},\n{rest}")
}

#[test]
fn definitions_that_do_not_fit_are_refused_before_a_row() {
    let root = fixtures().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let given = dir.path().join("given.sql");
    let tables: Vec<(PathBuf, PathBuf)> = TABLES
        .iter()
        .map(|(server, table)| {
            let corpus = root.join(server);
            let create = corpus.join("expected").join(format!("{table}.create.sql"));
            (corpus.join("data").join(format!("{table}.ibd")), create)
        })
        .filter(|(ibd, _)| ibd.is_file())
        .collect();
    assert!(tables.len() >= 4, "{tables:?}");
    for (ibd, create) in &tables {
        let right = dump(ibd, Some(create));
        assert_eq!(right.status.code(), Some(0), "{ibd:?}: {right:?}");
        assert_eq!(right.stdout, dump(ibd, None).stdout, "{ibd:?}");
        let sql = std::fs::read_to_string(create).unwrap();
        let mut wrong: Vec<String> = tables
            .iter()
            .filter(|(other, _)| other != ibd)
            .map(|(_, other)| std::fs::read_to_string(other).unwrap())
            .collect();
        wrong.push(with_a_column(&sql, "`more` int NOT NULL"));
        wrong.push(with_a_column(&sql, "`more` varchar(9) DEFAULT NULL"));
        for sql in wrong {
            std::fs::write(&given, &sql).unwrap();
            let refused = dump(ibd, Some(&given));
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{ibd:?}: {sql}\n{said}");
            assert!(refused.stdout.is_empty(), "{ibd:?}: {sql}\n{refused:?}");
        }
    }
}
