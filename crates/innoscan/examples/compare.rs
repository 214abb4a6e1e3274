//! Compares the rows of two files of a table, as of yesterday's and today's backup:
//! `cargo run --example compare -- monday/orders.ibd tuesday/orders.ibd`

use std::collections::HashMap;

use innoscan::{IndexKind, IndexSource, Result, Row, Table};

/// The values of a row's key, as they are stored.
type StoredKey = Vec<Option<Vec<u8>>>;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(old), Some(new)) = (args.next(), args.next()) else {
        return Err("usage: compare OLD NEW".into());
    };
    let (old, new) = (innoscan::open(old)?, innoscan::open(new)?);
    let key = primary_key(&old).ok_or("the table has no primary key")?;
    // The key's columns first, then all others.
    let mut names = key.clone();
    for column in old.rows().shape()?.columns() {
        if !key.iter().any(|name| name == column.name()) {
            names.push(column.name().to_owned());
        }
    }
    let mut removed = HashMap::new();
    for row in old.rows().columns(names.clone()).read()? {
        let row = row?;
        removed.insert(stored_key(&row, key.len()), text(&row)?);
    }
    for row in new.rows().columns(names).read()? {
        let row = row?;
        let (is, was) = (text(&row)?, removed.remove(&stored_key(&row, key.len())));
        match was {
            None => println!("+ {is}"),
            Some(was) if was != is => println!("- {was}\n+ {is}"),
            Some(_) => {}
        }
    }
    for was in removed.values() {
        println!("- {was}");
    }
    Ok(())
}

fn stored_key(row: &Row, columns: usize) -> StoredKey {
    (0..columns).map(|column| row.stored(column).map(<[u8]>::to_vec)).collect()
}

fn text(row: &Row) -> Result<String> {
    let cells = (0..row.len()).map(|column| Ok(row.utf8(column)?.unwrap_or("NULL".into())));
    Ok(cells.collect::<Result<Vec<_>>>()?.join("\t"))
}

fn primary_key(table: &Table) -> Option<Vec<String>> {
    let primary = table.def.indexes.iter().find(|index| index.kind == IndexKind::Primary)?;
    let name = |source: &IndexSource| match source {
        IndexSource::Column(place) => table.columns().get(*place).map(|column| column.name.clone()),
        IndexSource::Expression(_) => None,
    };
    primary.parts.iter().map(|part| name(&part.source)).collect()
}
