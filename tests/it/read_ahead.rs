//! The command line of read-ahead: policies, device models, statistics, what is told before a scan.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use innoscan_engine::checksum_sink::Checksum;
use innoscan_engine::scan::{ReadAheadPolicy, ScanOptions, scan};
use innoscan_testkit::fixture::Fixture;
use serde_json::Value;

use crate::corpus;
use crate::parity::command;

fn fixture(name: &str) -> Fixture {
    Fixture::unpack(&format!("read_ahead/{name}"))
}

/// Exit code, stdout and stderr of the binary.
fn innoscan(verb: &str, file: &Path, more: &[&str]) -> (i32, String, String) {
    let output = command().arg(verb).arg(file).args(more).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_policy_sums_as_the_server_and_does_what_was_told() {
    for name in ["ascending", "grown"] {
        let fixture = fixture(name);
        for (policy, order) in [
            ("none", "key"),
            ("linear", "key"),
            ("random", "key"),
            ("physical", "key"),
            ("logical", "key"),
            ("segment", "key"),
            ("segment", "any"),
        ] {
            let more = [
                "--checksum",
                "--json",
                "--quiet",
                "--stats=json",
                "--read-ahead",
                policy,
                "--order",
                order,
            ];
            let (code, out, err) = innoscan("scan", &fixture.file, &more);
            assert_eq!(code, 0, "{policy}: {err}");
            assert_eq!(json(&out)["checksum"], fixture.checksum.unwrap(), "{name} {policy}");
            let stats = json(err.lines().last().unwrap());
            assert_eq!(stats["read_ahead"], policy);
            let made: u64 = ["sync", "async"]
                .map(|kind| stats[kind]["requests"].as_u64().unwrap())
                .iter()
                .sum();
            let told = stats["estimate"]["requests"].as_u64().unwrap();
            // Reads that overtake each other change a request or two.
            assert!(made.abs_diff(told) <= 2 + told / 10, "{name} {policy}: {told}, then {made}");
            let used = stats["ahead_used"].as_u64().unwrap();
            assert_eq!(used == 0, policy == "none" || (policy, name) == ("linear", "grown"));
        }
    }
}

#[test]
fn a_slow_start_reads_every_row_in_the_end() {
    let mut tables = 0;
    // One in seven: of every server and every kind.
    for listed in corpus::tables().into_iter().filter(|it| !it.is_refused()).step_by(7) {
        let table = listed.open().unwrap();
        let rows = |slow_start: bool| {
            let mut options = ScanOptions::default();
            options.plan.policy = Some(ReadAheadPolicy::Logical);
            options.plan.slow_start = slow_start;
            options.plan.threads = 1;
            options.plan.memory_bytes = 4 << 20;
            scan(&table, &options, &Checksum::count_only(), |_| Ok(())).unwrap().rows
        };
        assert_eq!(rows(true), rows(false), "{}", listed.name());
        tables += 1;
    }
    assert!(tables > 200, "{tables}");
}

#[test]
fn explain_tells_of_each_policy_on_each_device() {
    let fixture = fixture("grown");
    let (code, out, err) = innoscan("explain", &fixture.file, &["--json"]);
    assert_eq!(code, 0, "{err}");
    let told = json(&out);
    let (_, scanned, _) = innoscan("scan", &fixture.file, &["--json", "--quiet"]);
    assert_eq!(told["leaf_pages"], json(&scanned)["leaf_pages"]);
    let devices = told["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 3);
    for device in devices {
        let seconds = |policy: &str| {
            let costs = device["costs"].as_array().unwrap();
            // Segment's is the one with rows in any order.
            let cost = costs.iter().find(|cost| cost["policy"] == policy).unwrap();
            cost["device_seconds"].as_f64().unwrap()
        };
        assert!(seconds("segment") <= seconds("logical"));
        assert!(seconds("logical") < seconds("none"));
        assert!(seconds("segment") < seconds("physical"), "half of the file is other indexes");
        assert_eq!(device["best"]["order"], "key");
        assert_eq!(device["best"]["spilled_bytes"], 0);
    }
    // What the segments count is what a walk of every tree finds.
    let (_, checked, _) = innoscan("check", &fixture.file, &["--json"]);
    let checked = json(&checked);
    let pages = |index: &Value| -> u64 {
        index["level_pages"].as_array().unwrap().iter().map(|pages| pages.as_u64().unwrap()).sum()
    };
    let others = checked["files"][0]["indexes"].as_array().unwrap().iter().filter(|index| {
        index["name"] != "PRIMARY" && index["id"] != u64::MAX // SDI's
    });
    let others: u64 = others.map(pages).sum();
    assert!(others > 0 && told["other_index_pages"] == others, "{others}");
    assert_eq!(told["lob_pages"], 0);

    let cut = fixture.file.with_file_name("cut.ibd");
    let bytes = std::fs::read(&fixture.file).unwrap();
    std::fs::write(&cut, &bytes[..400_000]).unwrap();
    let (code, _, err) = innoscan("explain", &cut, &[]);
    assert!(code == 2 && err.contains("it has 98 pages, its header says 2560"), "{code}: {err}");

    let (_, text, _) = innoscan("explain", &fixture.file, &["--device", "iops=100,bw=1M"]);
    assert!(
        text.contains("100 requests/s, 1 MiB/s")
            && text.contains("--read-ahead auto, with --memory"),
        "{text}"
    );
    // The verdict comes before the numbers it is made of.
    let verdict = text.lines().nth(1).unwrap();
    assert!(verdict.starts_with("here ") && verdict.contains("; page by page, "), "{text}");
}

#[test]
fn files_of_sorted_leaves_are_those_of_leaves_read_in_key_order() {
    for name in ["ascending", "grown"] {
        let fixture = fixture(name);
        let text = ["--format", "text", "--quiet", "--no-schemas"];
        let (code, expected, err) = innoscan("dump", &fixture.file, &text);
        assert_eq!(code, 0, "{err}");
        for more in [
            &["--read-ahead", "segment", "--memory", "64K", "--threads", "1"][..],
            &["--read-ahead", "segment", "--memory", "1M"],
            &["--read-ahead", "segment"],
            &["--read-ahead", "auto", "--device", "hdd", "--memory", "1M"],
        ] {
            let dir = tempfile::tempdir().unwrap();
            let out = dir.path().join("out");
            let into = ["-o", out.to_str().unwrap(), "-F", "64K"];
            let more = [&text[..], &into, more].concat();
            let (code, _, err) = innoscan("dump", &fixture.file, &more);
            assert_eq!(code, 0, "{err}");
            let mut files: Vec<PathBuf> =
                std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
            assert!(files.len() > 1, "{files:?}");
            let text: String =
                files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
            assert!(text == expected, "{name} {more:?}");
        }
    }
}

#[test]
fn auto_picks_what_explain_says() {
    let fixture = fixture("grown");
    for (device, order) in [("hdd", "key"), ("hdd", "any"), ("nvme", "key"), ("nvme", "any")] {
        let flags = ["--device", device, "--order", order];
        let (_, told, err) =
            innoscan("explain", &fixture.file, &[&flags[..], &["--json"]].concat());
        let best = &json(&told)["devices"][0]["best"];
        let more = ["--read-ahead", "auto", "--json", "--quiet", "--stats=json"];
        let (code, _, stats) = innoscan("scan", &fixture.file, &[&flags[..], &more].concat());
        assert_eq!(code, 0, "{err} {stats}");
        assert_eq!(json(stats.lines().last().unwrap())["read_ahead"], best["policy"], "{flags:?}");
    }
}

#[test]
fn a_device_can_be_emulated_and_a_rate_kept() {
    let fixture = fixture("grown");
    // 200 leaves of 4 KiB.
    for (limit, least_seconds) in [
        (&["--read-ahead", "none", "--max-iops", "1000"][..], 0.2),
        (&["--max-rate", "2M"], 0.4),
        (&["--read-ahead", "none", "--device", "latency=2ms", "--emulate"], 0.4),
    ] {
        let more = [&["--json", "--quiet"][..], limit].concat();
        let (code, out, err) = innoscan("scan", &fixture.file, &more);
        assert_eq!(code, 0, "{err}");
        let seconds = json(&out)["seconds"].as_f64().unwrap();
        assert!(seconds >= least_seconds, "{limit:?}: {seconds}");
    }
}

#[test]
fn a_measured_device_is_remembered() {
    let fixture = fixture("grown");
    let cache = tempfile::tempdir().unwrap();
    let explain = || {
        let output = command()
            .args(["explain", "--json", "--device", "auto", "--direct", "required"])
            .arg(&fixture.file)
            .env("XDG_CACHE_HOME", cache.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (code, first, err) = explain();
    if err.contains("refuses O_DIRECT") {
        println!("the file system of {} has no O_DIRECT: nothing compared", fixture.file.display());
        return;
    }
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("remembered in"), "{err}");
    assert!(cache.path().join("innoscan/devices.json").exists());
    let (_, second, _) = explain();
    let device = |text: &str| json(text)["devices"][0]["iops"].as_f64().unwrap();
    assert_eq!(device(&first), device(&second));
}

#[test]
fn a_file_is_read_into_the_page_cache() {
    let fixture = fixture("grown");
    let mib = std::fs::metadata(&fixture.file).unwrap().len() >> 20;
    let (code, out, err) = innoscan("warm", &fixture.file, &[]);
    assert!(code == 0 && out.contains(&format!("{mib}.0 MiB in {mib} requests")), "{out}{err}");
    let (code, out, err) = innoscan("warm", &fixture.file, &["--read-ahead", "logical"]);
    assert!(code == 0 && out.contains("read        1.0 MiB"), "{out}{err}");
    let (code, _, err) = innoscan("warm", &fixture.file, &["--read-ahead", "none"]);
    assert!(code == 1 && err.contains("--read-ahead physical"), "{err}");
}

/// What `innoscan bench` prints; nothing where the file system has no O_DIRECT, which it wants.
fn bench(fixture: &Fixture, more: &[&str]) -> Option<String> {
    let (code, out, err) = innoscan("bench", &fixture.file, more);
    if err.contains("refuses O_DIRECT") {
        println!("the file system of {} has no O_DIRECT: nothing compared", fixture.file.display());
        return None;
    }
    assert_eq!(code, 0, "{err}");
    Some(out)
}

#[test]
fn policies_are_set_side_by_side() {
    let fixture = fixture("grown");
    let Some(out) = bench(&fixture, &["--device", "iops=20000,bw=1G"]) else { return };
    assert!(out.contains("one by one"), "{out}");
    let requests = |policy: &str| -> u64 {
        let line = out.lines().find(|line| line.starts_with(policy)).expect(policy);
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    assert_eq!(requests("none"), requests("linear"), "nothing is in order in this table");
    assert!(requests("random") < requests("none"));
    assert!(requests("segment") <= requests("logical") && requests("logical") < 50);
    assert!(requests("(file)") > 0 && requests("physical") > 0);
}

#[test]
fn lookups_beside_a_scan_are_measured() {
    let fixture = fixture("grown");
    // A disk on which 200 leaves take long enough for some lookups.
    let more = ["--foreground=3", "--policies", "none,segment", "--json", "--device"];
    let device = ["iops=150", "--emulate"];
    let Some(out) = bench(&fixture, &[&more[..], &device].concat()) else { return };
    let told = json(&out);
    let rows = told["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["(no scan)", "none", "segment", "sorted"]);
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!(number("lookups") > 0.0 && number("foreground_requests") > 0.0, "{row}");
        assert!(number("p50_ms") <= number("p99_ms") && number("p99_ms") <= number("max_ms"));
    }
    assert!(rows[0]["demand_requests"] == 0 && rows[1]["demand_requests"].as_u64() > Some(20));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let fixture = fixture("grown");
    // What a dump is then, tests/it/usage.rs says.
    for more in [&["explain"][..], &["scan"], &["schema"], &["check"], &["inspect", "4"]] {
        let mut innoscan = command()
            .arg(more[0])
            .arg(&fixture.file)
            .args(&more[1..])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(innoscan.stdout.take());
        let output = innoscan.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{more:?}: {err}");
        assert!(!err.contains("rror") && !err.contains("panic"), "{more:?}: {err}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let fixture = fixture("grown");
    for (more, why) in [
        (&["--device", "floppy"][..], "hdd, gp3, ssd, nvme"),
        (&["--device", "iops=0"], "must be more than 0"),
        (&["--emulate"], "--device"),
        // Its old name.
        (&["--impose"], "--device"),
        (&["--max-iops", "0"], "max-iops"),
        (&["--read-ahead-threshold", "65"], "0..=64"),
        (&["--depth", "0"], "1..=4096"),
    ] {
        let (code, _, err) = innoscan("scan", &fixture.file, more);
        assert_eq!(code, 1, "{more:?}: {err}");
        assert!(err.contains(why), "{more:?}: {err}");
    }
}
