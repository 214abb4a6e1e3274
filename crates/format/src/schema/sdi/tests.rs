use super::*;
use crate::schema::PartitionPhysical;

/// A table: its name, its documents as `ibd2sdi` prints them, and the server's output.
macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_bytes!(concat!("../../../../../tests/data/sdi/", $name, ".json")),
            include_str!(concat!("../../../../../tests/data/sdi/", $name, ".sql")),
        )),*]
    };
}

const FIXTURES: &[(&str, &[u8], &str)] = fixtures![
    "8.0.12-emoji",
    "8.0.12-instant",
    "8.0.12-numbers",
    "8.0.12-partitioned",
    "8.0.12-texts",
    "8.0.12-times",
    "8.0.33-instant",
    "8.0.33-newer",
    "8.0.33-numbers",
    "8.0.33-partitioned",
    "8.0.33-subpartitioned",
    "8.0.33-texts",
    "8.0.33-times",
    "9.7.4-newer",
    "9.7.4-partitioned",
    "9.7.4-texts",
    "9.7.4-times",
    "9.7.4-vectors",
];

fn fixture(name: &str) -> &'static [u8] {
    FIXTURES.iter().find(|fixture| fixture.0 == name).unwrap().1
}

#[test]
fn definitions_print_as_the_server_prints_them() {
    for (name, json, sql) in FIXTURES {
        let def = from_sdi(json).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(def.to_create_table(), sql.trim_end(), "{name}");
        assert!(!def.hidden, "{name}");
        assert_eq!(def.schema, "fixture");
    }
}

#[test]
fn instant_columns_of_8_0_12_are_counted() {
    let def = from_sdi(fixture("8.0.12-instant")).unwrap();
    assert_eq!(def.physical.instant_columns, Some(2));
    let defaults: Vec<_> = def.physical.stored.iter().map(|column| &column.default).collect();
    let xyz = Some(InstantDefault::Bytes(b"xyz".to_vec()));
    assert_eq!(defaults, [&None, &None, &xyz, &Some(InstantDefault::Null)]);
    assert_eq!(def.physical.row_version, 0);
}

#[test]
fn row_versions_keep_what_was_dropped() {
    let def = from_sdi(fixture("8.0.33-instant")).unwrap();
    assert_eq!(def.physical.row_version, 3);
    let stored = |source: &StoredSource| {
        let column = def.physical.stored.iter().find(|column| column.source == *source).unwrap();
        (column.physical_pos, column.version_added, column.version_dropped)
    };
    // `d` was added last, before `a`.
    assert_eq!(stored(&StoredSource::Column(0)), (Some(6), 3, None));
    assert_eq!(stored(&StoredSource::Column(1)), (Some(0), 0, None));
    assert_eq!(stored(&StoredSource::Column(2)), (Some(5), 1, None));
    // The dictionary does not keep the precision of a dropped column.
    let ty = ColumnType::Decimal { precision: 7, scale: 2, unsigned: false, zerofill: false };
    let b = StoredSource::Dropped { ty, nullable: true };
    assert_eq!(stored(&b), (Some(3), 0, Some(2)));
    let members = vec![b"p".to_vec(), b"q".to_vec()];
    let ty = ColumnType::Enum { members, collation: CollationId(255) };
    let e = StoredSource::Dropped { ty, nullable: true };
    assert_eq!(stored(&e), (Some(4), 0, Some(2)));
}

#[test]
fn hidden_document_numbers_are_stored() {
    let def = from_sdi(fixture("8.0.33-newer")).unwrap();
    let hidden = |column: &&StoredColumn| matches!(column.source, StoredSource::Hidden { .. });
    assert_eq!(def.physical.stored.iter().filter(hidden).count(), 1);
    // Virtual columns are not stored: neither explicit ones nor those behind a functional key.
    assert_eq!(def.physical.stored.len(), def.columns.len() + 1);
}

#[test]
fn each_subpartition_has_its_place() {
    let def = from_sdi(fixture("8.0.33-subpartitioned")).unwrap();
    let partitions = &def.partitioning.as_ref().unwrap().partitions;
    assert_eq!(partitions[0].name, "p0");
    assert_eq!(partitions[0].subpartitions, ["key", "b"]);
    let names: Vec<_> = def.physical.partitions.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["key", "b", "c", "d"]);
    let placed = |part: &PartitionPhysical| part.space.is_some() && part.clustered.is_some();
    assert!(def.physical.partitions.iter().all(placed));
}

#[test]
fn other_documents_are_refused() {
    let error = |json: &[u8]| from_sdi(json).unwrap_err().to_string();
    assert!(error(b"").contains("not JSON"));
    assert!(error(b"[\"ibd2sdi\"]").contains("no table"));
    assert!(error(b"{}").contains("no `dd_object_type`"));
    assert!(
        error(br#"{"dd_object_type":"Tablespace","dd_object":{"options":""}}"#)
            .contains("no table")
    );
    let json = fixture("9.7.4-vectors");
    let twice = from_sdi_documents(&[json, json]).unwrap_err();
    assert!(twice.to_string().contains("more than one table"));
}

/// Damaged bytes give a result or an error.
#[test]
fn damaged_documents_do_no_harm() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for (_, json, _) in FIXTURES {
        for _ in 0..300 {
            let mut damaged = json.to_vec();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                match random(4) {
                    0 => damaged[at] = random(256) as u8,
                    1 => damaged[at] = b"0123456789"[random(10)],
                    2 => drop(damaged.drain(at..(at + random(40)).min(damaged.len()))),
                    _ => {
                        let digits = damaged.iter().enumerate().skip(at);
                        let digit = digits.clone().find(|(_, byte)| byte.is_ascii_digit());
                        if let Some((place, _)) = digit {
                            damaged.splice(place..=place, *b"4294967295");
                        }
                    }
                }
                if damaged.is_empty() {
                    break;
                }
            }
            if let Ok(def) = from_sdi(&damaged) {
                def.to_create_table();
            }
        }
    }
}
