//! `innoscan ls`.

use innoscan_catalog::TableSelection;
use innoscan_catalog::catalog::Catalog;
use innoscan_catalog::ledger::{Filter, Item, ItemKind, ObjectKinds};
use innoscan_engine::counted;
use innoscan_export::listing::{ListedObject, Listing};
use serde_json::{Value, json};

use crate::args::LsArgs;
use crate::messages::Exit;
use crate::remedies;

/// The version of the JSON object.
const FORMAT: u32 = 1;

pub fn run(args: &LsArgs) -> anyhow::Result<Exit> {
    let all = Filter::all();
    let filter = Filter {
        tables: TableSelection {
            databases: args.databases.clone(),
            tables: args.tables_list.clone(),
            ..TableSelection::default()
        },
        kinds: ObjectKinds { users: true, ..all.kinds },
        ..all
    };
    let keys = super::keys(&args.key_files)?;
    let catalog = |datadir| {
        let catalog = Catalog::new(datadir).with_force(args.force).with_keys(keys.clone());
        let catalog = catalog.with_prepared(args.data_files.prepared);
        catalog.with_files(args.data_files.files(), args.key_files.option_files.files())
    };
    let mut sources = Vec::new();
    let mut is_whole = true;
    for source in &args.sources {
        let listing = Listing::of(source, &filter, catalog)?;
        is_whole &= listing.unlisted.is_empty();
        if args.json {
            let mut object = listing.to_json();
            object["source"] = source.display().to_string().into();
            sources.push(object);
            continue;
        }
        if args.sources.len() > 1 {
            out!("{}:", source.display());
        }
        print(&listing);
    }
    if args.json {
        out!("{:#}", json!({ "format": FORMAT, "sources": Value::Array(sources) }));
    }
    Ok(if is_whole { Exit::Done } else { Exit::Refused })
}

fn print(listing: &Listing) {
    let rows: Vec<[String; 5]> = listing.objects.iter().map(columns).collect();
    let width = |nth: usize| {
        let widths = rows.iter().map(|row| row[nth].chars().count());
        // One long name must not make all lines long.
        widths.max().unwrap_or_default().min(48)
    };
    let widths = [width(0), width(1), width(2), width(3), width(4)];
    for (row, object) in rows.iter().zip(&listing.objects) {
        let [kind, name, engine, format, size] = row;
        let [of_kind, of_name, of_engine, of_format, of_size] = widths;
        let line = format!(
            "{kind:<of_kind$}  {name:<of_name$}  {engine:<of_engine$}  {format:<of_format$}  \
             {size:>of_size$}  {}",
            remarks(object)
        );
        out!("{}", line.trim_end());
    }
    for unlisted in &listing.unlisted {
        note!("innoscan: NOT LISTED: {}", remedies::reason(unlisted));
    }
}

/// Kind, name, engine, row format and size.
fn columns(object: &ListedObject) -> [String; 5] {
    let listed = &object.listed;
    [
        listed.item.kind.to_string(),
        name(&listed.item),
        listed.engine.clone().unwrap_or_default(),
        object.row_format.clone().unwrap_or_default(),
        object.size_bytes.map(size).unwrap_or_default(),
    ]
}

fn name(item: &Item) -> String {
    let name = match (item.kind, &*item.database) {
        (ItemKind::Database, _) | (_, "") => item.name.clone(),
        (_, database) => format!("{database}.{}", item.name),
    };
    // One line per object.
    match name.contains(char::is_control) {
        true => name.escape_debug().to_string(),
        false => name,
    }
}

fn remarks(object: &ListedObject) -> String {
    let mut remarks = Vec::new();
    if !object.listed.partitions.is_empty() {
        remarks.push(counted(object.listed.partitions.len() as u64, "partition"));
    }
    remarks.extend(object.rows.map(|rows| counted(rows, "row")));
    remarks.extend(object.listed.table.as_ref().map(|table| format!("of table {table}")));
    if object.is_system {
        remarks.push("system database, its tables are not listed".to_owned());
    }
    remarks.extend(
        object.error.as_ref().map(|error| format!("cannot be read: {}", remedies::reason(error))),
    );
    remarks.join(", ")
}

/// `1.4 GiB`.
fn size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >= 1 << shift) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_their_units() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(114_688), "112.0 KiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
    }
}
