//! Comparison of estimates with the scans that follow.

use super::*;
use crate::scan::traces::{POLICIES, POOL_PAGES, fixture, requests, small};

#[test]
fn explain_foretells_the_requests() {
    for name in ["ascending", "grown"] {
        let fixture = fixture(name);
        for read_ahead in POLICIES {
            let options = small(POOL_PAGES, 1).with(|scan| {
                scan.plan.policy = read_ahead;
                scan.io.depth = 64;
            });
            let explanation = explain(&fixture.table, &options).unwrap();
            let cost = explanation.cost(ReadPlan::of(&options), &Device::default()).unwrap();
            let made = requests(&fixture, &options);
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
