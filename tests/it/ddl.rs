//! What `SHOW CREATE TABLE` said is read and printed back as it was.

use std::collections::BTreeMap;

use innoscan_format::schema::{ServerVersion, from_create_table};

use crate::corpus;
use crate::frm::with_doubled_backquotes;

#[test]
fn definitions_survive_the_way_through_text() {
    let mut counts: BTreeMap<ServerVersion, (u32, u32)> = BTreeMap::new();
    let mut failures = Vec::new();
    for table in corpus::tables() {
        let Some(text) = table.create_sql() else { continue };
        let sound = with_doubled_backquotes(&text);
        let (all, equal) = counts.entry(table.version()).or_default();
        *all += 1;
        match from_create_table(&text, table.version()) {
            Ok(def) => match table.definition_difference(&sound, &def.to_create_table()) {
                None => *equal += 1,
                Some(difference) => failures.push(difference),
            },
            Err(error) => failures.push(format!("{}: {error}", table.file().display())),
        }
    }
    for (server, (all, equal)) in counts {
        println!("{server:?}: {equal} of {all}");
    }
    assert!(failures.is_empty(), "{} tables\n{}", failures.len(), failures.join("\n"));
}
