use std::sync::Arc;

use innoscan_testkit::fixture::Fixture;

use super::*;
use crate::checksum_sink::Checksum;
use crate::scan::{ScanOptions, ScanOutcome, scan};
use crate::testing::{MYSQL, POLICIES, small, table};

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

/// The rows of the fixture `grown` that satisfy a condition.
fn rows(typed: &str, options: &ScanOptions) -> Result<ScanOutcome> {
    let fixture = Fixture::unpack("read_ahead/grown");
    let table = table(&fixture.create_sql, MYSQL, &fixture.file);
    let condition = Some(Arc::new(RowCondition::parse_where(typed)?));
    let options = options.clone().with(|scan| {
        scan.rows.condition = condition;
    });
    scan(&table, &options, &Checksum::count_only(), |_| Ok(()))
}

#[test]
fn every_policy_gives_the_same_rows_and_reads_their_leaves_alone() {
    let all = rows("id > -1000000", &small(2000, 1)).unwrap();
    assert_eq!(all.rows, 4503);
    for read_ahead in POLICIES {
        for frames in [7, 40, 2000] {
            let options = small(frames, 2).with(|scan| {
                scan.plan.policy = Some(read_ahead);
            });
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
    let options = small(50, 1).with(|scan| {
        scan.plan.policy = Some(crate::scan::ReadAheadPolicy::None);
    });
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
fn what_cannot_be_compared_is_refused_by_name() {
    for (typed, why) in [
        ("nothing = 5", "has no column `nothing`"),
        ("id = 'x'", "`x` cannot be compared with `id` (an integer)"),
        ("id = x'00'", "0x00 cannot be compared with `id`"),
        ("id in (1, '2')", "of several types"),
        ("id = 1.5", "no value of `id` is `1.5`"),
        ("id = 99999999999", "no value of `id` is `99999999999`"),
        ("id in (1, null)", "NULL is among the values"),
        ("id = 1e3", "not a number without an exponent"),
    ] {
        let error = rows(typed, &small(50, 1)).unwrap_err().to_string();
        assert!(error.contains(why), "{typed}: {error}");
    }
}

#[test]
fn values_that_no_key_can_be_read_no_leaf() {
    for typed in ["id > 99999999999", "id between 5.5 and 5.75", "id = null", "id < -99999999999"] {
        let none = rows(typed, &small(50, 1)).unwrap();
        assert_eq!((none.rows, none.leaf_pages), (0, 0), "{typed}");
    }
    let all = rows("id < 99999999999.5", &small(50, 1)).unwrap();
    assert_eq!(all.rows, 4503);
    assert_eq!(
        rows("id > 1000.5 and id < 2000.5", &small(50, 1)).unwrap().rows,
        rows("id between 1001 and 2000", &small(50, 1)).unwrap().rows
    );
}
