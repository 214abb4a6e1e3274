//! `dump --metrics`: the text form of Prometheus, with the metrics that docs/cron.md has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

use innoscan_testkit::server::Server;

use crate::parity::command;

/// The samples of a file, by name and labels; each metric has its help and type before them.
fn samples(path: &Path) -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut known = String::new();
    let mut samples = BTreeMap::new();
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            known = kind.split(' ').next().unwrap().to_owned();
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with(&known) && !known.is_empty(), "{line}");
            let name = name.strip_prefix("innoscan_dump_").unwrap().to_owned();
            assert_eq!(samples.insert(name, value.parse().unwrap()), None, "{line}");
        }
    }
    samples
}

/// The names in the documentation.
fn documented() -> BTreeSet<String> {
    let text = std::fs::read_to_string(crate::tests_dir("../docs/cron.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let names = rows.flat_map(|(names, _)| names.split("`, `"));
    names.map(|name| name.trim_end_matches('`').split('{').next().unwrap().to_owned()).collect()
}

/// The name of a sample without its labels and what a histogram adds.
fn metric(sample: &str) -> String {
    let name = sample.split('{').next().unwrap();
    let ending = ["_bucket", "_sum", "_count"].into_iter().find(|ending| name.ends_with(ending));
    name.strip_suffix(ending.unwrap_or_default()).unwrap().to_owned()
}

fn dumped(source: &[&str], out: &Path) -> (Output, BTreeMap<String, f64>) {
    let metrics = out.with_extension("prom");
    let mut command = command();
    command.arg("dump").args(source).arg("-o").arg(out).arg("--metrics").arg(&metrics);
    let output = command.output().unwrap();
    (output, samples(&metrics))
}

#[test]
fn the_metrics_of_a_dump_are_those_documented() {
    let server = Server::start("mariadb-10.11", &[]).unwrap();
    server
        .sql(
            "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(300)) ENGINE=InnoDB;
             INSERT INTO t SELECT seq, REPEAT(seq, 20) FROM seq_1_to_60000;",
        )
        .unwrap();
    let out = tempfile::tempdir().unwrap();
    let socket = server.socket().to_str().unwrap().to_owned();
    let (output, samples) =
        dumped(&["-S", &socket, "-u", "root", "-B", "d"], &out.path().join("live"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(samples.keys().map(|name| metric(name)).collect::<BTreeSet<_>>(), documented());
    assert_eq!((samples["rows"], samples["exit_code"], samples["complete"]), (60000.0, 0.0, 1.0));
    for kind in ["sync", "async"] {
        let of_kind = format!("{{kind=\"{kind}\"");
        let buckets = samples
            .iter()
            .filter(|(name, _)| name.starts_with("read_seconds_bucket") && name.contains(&of_kind));
        let mut counts: Vec<f64> = buckets.map(|(_, count)| *count).collect();
        counts.sort_by(f64::total_cmp);
        assert_eq!(counts.len(), 13);
        assert_eq!(counts[12], samples[&format!("read_seconds_count{of_kind}}}")]);
        assert_eq!(counts[12], samples[&format!("read_seconds_bucket{of_kind},le=\"+Inf\"}}")]);
    }
    assert!(samples["read_bytes{kind=\"async\"}"] > 1e6, "{samples:?}");
}

#[test]
fn a_dump_that_fails_says_so_in_its_metrics() {
    let out = tempfile::tempdir().unwrap();
    let (output, samples) = dumped(&["/nowhere"], &out.path().join("nowhere"));
    assert_eq!(samples["exit_code"], f64::from(output.status.code().unwrap()));
    assert_eq!((samples["complete"], samples.len()), (0.0, 3));
}
