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
        let (all, equal) = counts.entry(table.server).or_default();
        *all += 1;
        match from_create_table(&text, table.server) {
            Ok(def) if def.to_create_table() == sound => *equal += 1,
            Ok(def) => {
                let printed = def.to_create_table();
                let lines = sound.lines().zip(printed.lines()).find(|(was, is)| was != is);
                let (was, is) = lines.unwrap_or(("lines", "fewer or more lines"));
                failures.push(format!("{}\n  was {was}\n  is  {is}", table.file.display()));
            }
            Err(error) => failures.push(format!("{}: {error}", table.file.display())),
        }
    }
    for (server, (all, equal)) in counts {
        println!("{server:?}: {equal} of {all}");
    }
    assert!(failures.is_empty(), "{} tables\n{}", failures.len(), failures.join("\n"));
}
