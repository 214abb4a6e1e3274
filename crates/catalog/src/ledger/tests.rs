//! Ledgers in which every object ends once.

use innoscan_engine::{Error, Reason};
use serde_json::{Value, json};

use super::*;
use crate::table_selection::{Exclusion, TableSelection};

fn planned(ledger: &mut Ledger, listed: Listed) {
    ledger.enter(listed, State::Planned(DumpMethod::Files));
}

fn table(name: &str) -> Listed {
    Listed::table("shop", name, Some("InnoDB".to_owned()))
}

#[test]
fn every_planned_entry_has_an_end() {
    let mut ledger = Ledger::default();
    for name in ["a", "b", "c", "d"] {
        planned(&mut ledger, table(name));
    }
    planned(&mut ledger, Listed::new("shop", ItemKind::View, "a"));
    assert!(ledger.is_complete());
    let failed = Error::refused("it is broken", "fix it");
    ledger.settle([
        ("shop", "a", State::Dumped { damaged: 0 }),
        ("shop", "b", State::NotDumped(failed.reason())),
        ("shop", "c", State::Dumped { damaged: 2 }),
    ]);
    let states: Vec<&State> = ledger.entries().map(|entry| &entry.state).collect();
    let expected = [
        &State::Dumped { damaged: 0 },
        &State::NotDumped(Reason::new("it is broken", "fix it")),
        &State::Dumped { damaged: 2 },
        &State::NotDumped("it was not reached".into()),
        &State::Dumped { damaged: 0 },
    ];
    assert_eq!(states, expected);
    assert!(!ledger.is_complete());
    let missing = "2 objects were not dumped; damaged pages of 1 table were skipped";
    assert_eq!(ledger.what_is_missing().as_deref(), Some(missing));
}

#[test]
fn what_is_left_out_by_choice_leaves_a_dump_complete_and_an_unread_list_does_not() {
    let mut ledger = Ledger::default();
    planned(&mut ledger, table("a"));
    let user = Listed::new("", ItemKind::User, "'u'@'%'");
    ledger.enter(user, State::LeftOut(FilterRule::NoUsers));
    ledger.settle([("shop", "a", State::Dumped { damaged: 0 })]);
    assert!(ledger.is_complete() && ledger.what_is_missing().is_none());
    let unlisted = Unlisted { kinds: vec![ItemKind::Event], reason: "it may not be read".into() };
    ledger.enter_unlisted(unlisted);
    assert!(!ledger.is_complete());
    let missing = ledger.what_is_missing().unwrap();
    assert_eq!(missing, "the lists of events could not be read");
}

#[test]
fn what_keeps_an_object_from_being_dumped_stands() {
    let mut ledger = Ledger::default();
    ledger.enter(table("a"), State::NotDumped("no file".into()));
    planned(&mut ledger, table("a"));
    assert_eq!(ledger.not_dumped().count(), 1);
    assert_eq!(ledger.entries().count(), 1);
}

#[test]
fn json_has_each_entry_once() {
    let mut ledger = Ledger::default();
    let partitions = vec!["p0".to_owned(), "p1".to_owned()];
    ledger.enter(Listed { partitions, ..table("a") }, State::Dumped { damaged: 0 });
    let trigger = Listed::new("shop", ItemKind::Trigger, "t");
    let trigger = Listed { table: Some("a".to_owned()), ..trigger };
    ledger.enter(trigger, State::LeftOut(FilterRule::NoTriggers));
    let event = Listed::new("shop", ItemKind::Event, "e");
    ledger.enter(event, State::NotDumped("why".into()));
    let expected = json!([
        { "kind": "table", "database": "shop", "name": "a", "engine": "InnoDB",
          "partitions": ["p0", "p1"], "state": "dumped" },
        { "kind": "trigger", "database": "shop", "name": "t", "table": "a", "state": "left_out",
          "by": "no_triggers" },
        { "kind": "event", "database": "shop", "name": "e", "state": "not_dumped",
          "reason": "why" },
    ]);
    assert_eq!(Value::from_iter(ledger.entries_json()), expected);
}

#[test]
fn a_trigger_goes_with_its_table_and_a_routine_with_its_database() {
    let filter = Filter {
        tables: TableSelection { tables: vec!["shop.a".to_owned()], ..TableSelection::default() },
        ..Filter::all()
    };
    let excluded_by = |listed: &Listed| filter.excluded_by(listed).unwrap();
    let trigger = |table: &str| {
        let trigger = Listed::new("shop", ItemKind::Trigger, "t");
        Listed { table: Some(table.to_owned()), ..trigger }
    };
    let by_table = Some(FilterRule::Selection(Exclusion::Tables));
    assert_eq!(excluded_by(&table("a")), None);
    assert_eq!(excluded_by(&table("b")), by_table);
    assert_eq!(excluded_by(&trigger("a")), None);
    assert_eq!(excluded_by(&trigger("b")), by_table);
    assert_eq!(excluded_by(&Listed::new("shop", ItemKind::Procedure, "a")), by_table);
    assert_eq!(excluded_by(&Listed::new("shop", ItemKind::Database, "shop")), None);
    assert_eq!(excluded_by(&Listed::new("crm", ItemKind::Database, "crm")), by_table);
    let system = Listed::new("mysql", ItemKind::Database, "mysql");
    assert_eq!(excluded_by(&system), Some(FilterRule::System));
    assert_eq!(excluded_by(&Listed::new("", ItemKind::User, "'u'@'%'")), Some(FilterRule::NoUsers));
}
