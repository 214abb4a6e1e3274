use innoscan_engine::checksum_sink::{Checksum, Sum};
use innoscan_engine::{
    ErrorKind, OnCorrupt, ReadAheadPolicy, Result, Row, ScanOptions, Split, Table, scan,
};
use innoscan_io::{Direct, EngineKind};

use super::data;

fn tree(server: &str) -> Table {
    let table = crate::open(data(&format!("{server}/tree-4k/tree.ibd")));
    table.unwrap_or_else(|_| {
        // MariaDB's has no definition in the file.
        let sql = std::fs::read_to_string(data(&format!("{server}/tree-4k/tree.create.sql")));
        let version = innoscan_format::schema::ServerVersion::from_number(101_100);
        let def = innoscan_format::schema::from_create_table(&sql.unwrap(), version).unwrap();
        Table::of_file(data(&format!("{server}/tree-4k/tree.ibd")), def).unwrap()
    })
}

/// Three levels, of MySQL and of MariaDB; two levels.
fn tables() -> Vec<Table> {
    let orders = crate::open(data("orders/orders.ibd")).unwrap();
    vec![tree("mysql-8.0.33"), tree("mariadb-10.11"), orders]
}

fn line(row: Result<Row>) -> String {
    let row = row.unwrap();
    let cells =
        (0..row.len()).map(|column| row.utf8(column).unwrap().map(|text| text.into_owned()));
    format!("{:?}", cells.collect::<Vec<_>>())
}

fn lines(table: &Table, split: Option<&Split>, options: &ScanOptions) -> Vec<String> {
    let rows = table.rows().options(options.clone());
    let rows = match split {
        None => rows.read(),
        Some(split) => rows.split(split).read(),
    };
    rows.unwrap().map(line).collect()
}

#[test]
fn splits_have_every_row_once_in_order() {
    for table in tables() {
        let options = ScanOptions::default().with(|scan| {
            scan.plan.threads = 1;
        });
        let whole = lines(&table, None, &options);
        let mut most = 0;
        for count in [0, 1, 2, 3, 5, 8, 40, 1000] {
            let splits = table.splits(count).unwrap();
            assert!(splits.len() <= count.max(1));
            most = most.max(splits.len());
            let parts: Vec<Vec<String>> =
                splits.iter().map(|split| lines(&table, Some(split), &options)).collect();
            assert_eq!(parts.concat(), whole, "{count}");
            assert!(parts.iter().all(|part| !part.is_empty()), "a split without rows");
            let estimated: u64 = splits.iter().map(Split::estimated_rows).sum();
            let rows = whole.len() as u64;
            assert!((rows / 3..rows * 3).contains(&estimated), "{estimated} of {rows}");
            for pair in splits.windows(2) {
                assert_eq!(pair[0].upper_key(), pair[1].lower_key());
            }
        }
        assert!(most > 5, "{most} splits");
    }
}

#[test]
fn splits_are_of_about_the_same_size() {
    let table = tree("mysql-8.0.33");
    let options = ScanOptions::default();
    let splits = table.splits(4).unwrap();
    assert_eq!(splits.len(), 4);
    for split in &splits {
        let rows = lines(&table, Some(split), &options).len();
        assert!((490 / 8..490 / 2).contains(&rows), "{rows} rows");
        assert!(split.estimated_bytes() > 0);
    }
}

#[test]
fn a_split_is_scanned_by_every_policy_from_pages_of_its_own() {
    let table = tree("mysql-8.0.33");
    let sink = Checksum::new(&table.def).unwrap();
    let total = |table: &Table, options: &ScanOptions| {
        let mut total = Sum::default();
        let add = |sum: Sum| {
            total.add(&sum);
            Ok(())
        };
        let outcome = scan(table, options, &sink, add).unwrap();
        ((total.rows, total.sum), outcome)
    };
    let with_policy = |policy: ReadAheadPolicy| {
        ScanOptions::default().with(|scan| {
            scan.plan.memory_bytes = 100 * 4096;
            scan.plan.threads = 1;
            scan.plan.policy = Some(policy);
            scan.io.direct = Direct::Off;
            scan.io.engine = EngineKind::Pread;
        })
    };
    let (whole, all) = total(&table, &with_policy(ReadAheadPolicy::Logical));
    for read_ahead in [
        ReadAheadPolicy::None,
        ReadAheadPolicy::Linear { threshold: 56 },
        ReadAheadPolicy::Random,
        ReadAheadPolicy::Physical,
        ReadAheadPolicy::Logical,
        ReadAheadPolicy::Segment,
    ] {
        let options = with_policy(read_ahead);
        let (mut sum, mut least_branches) = ((0, 0u32), u64::MAX);
        for split in table.splits(6).unwrap().into_iter().rev() {
            let ((rows, part), outcome) = total(&table.of_split(&split).unwrap(), &options);
            sum = (sum.0 + rows, sum.1.wrapping_add(part));
            assert!(outcome.leaf_pages < all.leaf_pages / 2, "{read_ahead:?}");
            least_branches = least_branches.min(outcome.branch_pages);
        }
        assert!(least_branches < all.branch_pages, "{read_ahead:?}");
        assert_eq!(sum, whole, "{read_ahead:?}");
    }
}

#[test]
fn keys_and_splits_narrow_each_other() {
    let table = crate::open(data("orders/orders.ibd")).unwrap();
    let mut ids = Vec::new();
    for split in table.splits(5).unwrap() {
        let rows = table.rows().columns(["id"]).split(&split).key(90..310).read().unwrap();
        ids.extend(rows.map(|row| row.unwrap().utf8(0).unwrap().unwrap().into_owned()));
    }
    let expected: Vec<String> = (90..310).map(|id: u32| id.to_string()).collect();
    assert_eq!(ids, expected);
    let split = &table.splits(5).unwrap()[2];
    let lower: u64 = split.lower_key().unwrap()[0].parse().unwrap();
    let first = table.rows().columns(["id"]).split(split).limit(1).read().unwrap().next();
    assert_eq!(first.unwrap().unwrap().utf8(0).unwrap().unwrap(), lower.to_string());
}

#[test]
fn partitions_are_divided_and_put_together() {
    let mut table = tree("mysql-8.0.33");
    table.files = vec![table.files[0].clone(); 3];
    let options = ScanOptions::default();
    let whole = lines(&table, None, &options);
    assert_eq!(whole.len(), 3 * 490);
    for count in [1, 2, 4, 9] {
        let splits = table.splits(count).unwrap();
        assert_eq!(splits.len(), count);
        let parts: Vec<_> =
            splits.iter().flat_map(|split| lines(&table, Some(split), &options)).collect();
        assert_eq!(parts, whole, "{count}");
    }
}

#[test]
fn splits_are_text_and_back() {
    let table = tree("mysql-8.0.33");
    for split in table.splits(7).unwrap() {
        let text = split.to_string();
        assert!(text.starts_with("{\"innoscan_split\":1,") && !text.contains('\n'), "{text}");
        assert_eq!(text.parse::<Split>().unwrap(), split);
    }
    let text = table.splits(2).unwrap()[0].to_string();
    for wrong in ["", "{}", "[]", &text[..text.len() - 1], &text.replace("stamp", "stump")] {
        assert!(wrong.parse::<Split>().unwrap_err().kind() == ErrorKind::Usage, "{wrong}");
    }
    let newer = text.replace("\"innoscan_split\":1", "\"innoscan_split\":2");
    let error = newer.parse::<Split>().unwrap_err().to_string();
    assert!(error.contains("format 2"), "{error}");
}

#[test]
fn a_split_is_refused_for_a_changed_file_and_another_table() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("orders.ibd");
    std::fs::copy(data("orders/orders.ibd"), &path).unwrap();
    let table = crate::open(&path).unwrap();
    let split = table.splits(3).unwrap().remove(1);
    assert!(table.rows().split(&split).read().is_ok());
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let byte = &std::fs::read(&path).unwrap()[..1];
    std::os::unix::fs::FileExt::write_all_at(&file, byte, 0).unwrap();
    let error = table.rows().split(&split).read().unwrap_err();
    assert!(
        error.kind() == ErrorKind::Refused && error.to_string().contains("was written to"),
        "{error}"
    );
    let error = tree("mysql-8.0.33").rows().split(&split).read().unwrap_err().to_string();
    assert!(error.contains("the split belongs to shop.orders (orders.ibd)"), "{error}");
}

/// A split whose pages were changed gives an error, never other rows.
#[test]
fn a_path_that_leads_nowhere_is_an_error() {
    let table = tree("mysql-8.0.33");
    let sound = table.splits(4).unwrap().remove(1);
    let whole = lines(&table, None, &ScanOptions::default());
    for place in 0..3 {
        for page in [0, 1, 3, 5, 20, u32::MAX] {
            let mut changed: serde_json::Value = sound.to_string().parse().unwrap();
            let path = &mut changed["parts"][0]["from"];
            let Some(step) = path.get_mut(place) else { continue };
            let is_same = *step == page;
            *step = page.into();
            let split: Split = changed.to_string().parse().unwrap();
            let rows = table.rows().split(&split).on_corrupt(OnCorrupt::Fail).read().unwrap();
            let rows: Vec<Result<Row>> = rows.collect();
            let is_error = rows.last().is_some_and(Result::is_err);
            assert!(is_same || is_error || rows.len() < whole.len(), "{place} {page}");
        }
    }
}
