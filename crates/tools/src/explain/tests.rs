//! Comparison of estimates with the scans that follow.

use innoscan_engine::testing::{MYSQL, POLICIES, POOL_PAGES, requests, small, table};
use innoscan_testkit::fixture::Fixture;

use super::*;

#[test]
fn explain_foretells_the_requests() {
    for name in ["ascending", "grown"] {
        let fixture = Fixture::unpack(&format!("read_ahead/{name}"));
        let table = table(&fixture.create_sql, MYSQL, &fixture.file);
        for read_ahead in POLICIES {
            let options = small(POOL_PAGES, 1).with(|scan| {
                scan.plan.policy = Some(read_ahead);
                scan.io.depth = 64;
            });
            let explanation = explain(&table, &options).unwrap();
            let cost = explanation.cost(ReadPlan::of(&options), &Device::default()).unwrap();
            let (made, checksum) = requests(&table, &options);
            assert_eq!(Some(checksum), fixture.checksum);
            let pages: u64 = made.iter().map(|(_, pages)| pages).sum();
            let told = (cost.requests() as f64, cost.pages() as f64);
            let made = (made.len() as f64, pages as f64);
            println!("{name} {read_ahead:?}: told {told:?}, made {made:?}");
            // A branch page in the middle of an extent makes two requests of one.
            assert!((told.0 - made.0).abs() <= 2.0 + made.0 * 0.05, "{name} {read_ahead:?}");
            assert!((told.1 - made.1).abs() <= 2.0 + made.1 * 0.05, "{name} {read_ahead:?}");
        }
    }
}
