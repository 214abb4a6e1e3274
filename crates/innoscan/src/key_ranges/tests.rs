use std::sync::Arc;

use super::*;
use crate::scan::traces::{POLICIES, fixture, small};
use crate::scan::{ScanOptions, ScanOutcome, scan};
use crate::sink::checksum::Checksum;

fn cut(image: &[u8], is_after: bool) -> Cut {
    Cut { image: image.to_vec(), is_after }
}

#[test]
fn cuts_lie_between_the_keys_they_are_said_to() {
    let cuts = [
        cut(b"", false),
        cut(b"a", false),
        cut(b"aa", false),
        cut(b"aa", true),
        cut(b"ab", false),
        cut(b"a", true),
        cut(b"b", false),
        cut(b"", true),
    ];
    assert!(cuts.is_sorted());
    let above = |key: &[u8]| cuts.iter().map(|cut| cut.is_above(key)).collect::<Vec<_>>();
    assert_eq!(above(b"aa"), [false, false, false, true, true, true, true, true]);
    assert_eq!(above(b"ac"), [false, false, false, false, false, true, true, true]);
    assert_eq!(above(b"b"), [false, false, false, false, false, false, false, true]);
}

/// The rows of `grown` with such keys.
fn rows(typed: &str, options: &ScanOptions) -> Result<ScanOutcome> {
    let fixture = fixture("grown");
    let keys = Some(Arc::new(KeyCondition::of_where(typed)?));
    let options = ScanOptions { keys, ..options.clone() };
    scan(&fixture.table, &options, &Checksum::count_only(), |_| Ok(()))
}

#[test]
fn every_policy_gives_the_same_rows_and_reads_their_leaves_alone() {
    let all = rows("id > -1000000", &small(2000, 1)).unwrap();
    assert_eq!(all.rows, 4503);
    for read_ahead in POLICIES {
        for frames in [7, 40, 2000] {
            let options = ScanOptions { read_ahead, ..small(frames, 2) };
            let some = rows("id between 1000 and 2000", &options).unwrap();
            let others =
                ["id < 1000", "id > 2000"].map(|typed| rows(typed, &options).unwrap().rows);
            assert!(some.rows > 100, "{read_ahead:?}");
            assert_eq!(some.rows + others[0] + others[1], all.rows, "{read_ahead:?} {frames}");
            assert!(some.leaf_pages < all.leaf_pages / 2, "{read_ahead:?}: {}", some.leaf_pages);
        }
    }
}

#[test]
fn one_row_costs_a_page_a_level() {
    let options = ScanOptions { read_ahead: crate::scan::ReadAheadPolicy::None, ..small(50, 1) };
    let mut found = 0;
    for id in (1..9000).step_by(311) {
        let one = rows(&format!("id = {id}"), &options).unwrap();
        assert!(one.rows <= 1 && one.leaf_pages == 1 && one.requests <= 3, "{id}: {one:?}");
        found += one.rows;
    }
    assert!(found > 3);
    let none = rows("id IN ()", &options);
    assert!(none.is_err());
}

#[test]
fn what_is_no_condition_on_the_key_is_refused_by_name() {
    for (typed, why) in [
        ("", "breaks off"),
        ("id", "breaks off"),
        ("id =", "breaks off"),
        ("id = 5 OR id = 6", "from `OR id = 6` on"),
        ("id = 'a", "from `'a` on"),
        ("id = 5 and", "breaks off"),
        ("id = 5 6", "from `6` on"),
        ("id LIKE 'a'", "from `LIKE 'a'` on"),
        ("id IN (1, 2", "breaks off"),
        ("id between 1 or 2", "from `or 2` on"),
        ("a = 5", "`a` of .grown is not the column"),
        ("id = 5 and a = 6", "`a` of .grown is not the column"),
        ("id = 'x'", "`x` is no value of column `id`"),
        ("id = 99999999999", "`99999999999` is no value"),
        ("id = 1.5", "`1.5` is no value"),
        ("id = x'00'", "0x00 is no value"),
        ("id = 0xzz", "`0xzz` is no value"),
        ("id in (1,2) and id > 1", "compared twice"),
    ] {
        let error = rows(typed, &small(50, 1)).unwrap_err().to_string();
        assert!(error.contains(why), "{typed}: {error}");
    }
    for typed in ["", "..", "5", "1,..2"] {
        assert!(KeyCondition::of_range(typed).is_err(), "{typed}");
    }
    for typed in ["", ",", "1,", "'a"] {
        assert!(KeyCondition::of_keys([typed]).is_err(), "{typed}");
    }
}
