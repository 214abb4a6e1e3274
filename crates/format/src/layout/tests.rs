//! Fields of real definitions, in the order in which real servers store them.

use super::*;
use crate::schema::{
    Family, ServerVersion, StoredColumn, StoredSource, TableDef, from_create_table,
};

fn def_of(sql: &str, family: Family) -> TableDef {
    let number = if family == Family::MySql { 80_033 } else { 101_100 };
    from_create_table(sql, ServerVersion { family, number }).unwrap()
}

/// Formats the fields: column or `-`, length (`v`ariable, `V` with two-byte lengths), `?` for
/// nullable ones; a bar after the key.
fn fields(layout: &Layout) -> String {
    let mut words = Vec::new();
    for (place, field) in layout.fields.iter().enumerate() {
        let name = match field.slot {
            Field::NO_SLOT => "-",
            slot => layout.column_name(slot as usize),
        };
        let len = match (field.variable, field.big) {
            (true, true) => "V".to_owned(),
            (true, false) => "v".to_owned(),
            _ => field.fixed_len.to_string(),
        };
        let null = if field.nullable { "?" } else { "" };
        let bar = if place + 1 == layout.key_fields { " |" } else { "" };
        words.push(format!("{name}:{len}{null}{bar}"));
    }
    words.join(" ")
}

fn compiled(sql: &str) -> String {
    fields(&Layout::compile(&def_of(sql, Family::MySql), RowFormat::Dynamic, None).unwrap())
}

#[test]
fn the_key_comes_first_and_prefixes_come_twice() {
    assert_eq!(
        compiled(
            "CREATE TABLE t (a int, b char(9) CHARACTER SET latin1 NOT NULL, c int NOT NULL, \
                  PRIMARY KEY (c, b(3)))"
        ),
        "c:4 -:3 | -:6 -:7 a:4? b:9"
    );
    // A prefix as long as the column is no prefix.
    assert_eq!(
        compiled(
            "CREATE TABLE t (a int, b char(9) CHARACTER SET latin1 NOT NULL, \
                  PRIMARY KEY (b(9)))"
        ),
        "b:9 | -:6 -:7 a:4?"
    );
    assert_eq!(
        compiled("CREATE TABLE t (b text NOT NULL, PRIMARY KEY (b(9)))"),
        "-:V | -:6 -:7 b:V"
    );
}

#[test]
fn without_a_key_the_row_id_is_one() {
    assert_eq!(compiled("CREATE TABLE t (a int)"), "-:6 | -:6 -:7 a:4?");
    // Nullable, by prefix: neither can be the clustered key.
    assert_eq!(
        compiled("CREATE TABLE t (a int, b varchar(9) NOT NULL, UNIQUE (a), UNIQUE (b(2)))"),
        "-:6 | -:6 -:7 a:4? b:v"
    );
    assert_eq!(
        compiled("CREATE TABLE t (a int, b varchar(9) NOT NULL, UNIQUE (a), UNIQUE (b))"),
        "b:v | -:6 -:7 a:4?"
    );
}

#[test]
fn types_take_what_innodb_gives_them() {
    assert_eq!(
        compiled(
            "CREATE TABLE t (a decimal(10,2), b decimal(65,30), c bit(9), d year, e time(3), \
             f datetime(6), g timestamp NULL, h float, i double, j enum('x'), k set('a','b'), \
             l mediumint, m date, n bigint, o json, p point, PRIMARY KEY (m))"
        ),
        "m:3 | -:6 -:7 a:5? b:30? c:2? d:1? e:5? f:8? g:4? h:4? i:8? j:1? k:1? l:3? n:8? o:V? p:V?"
    );
    assert_eq!(
        compiled(
            "CREATE TABLE t (a char(10) CHARACTER SET utf8mb4, b char(63) CHARACTER SET utf8mb4, \
             c char(64) CHARACTER SET utf8mb4, d char(10) CHARACTER SET ucs2, \
             e char(255) CHARACTER SET utf32, f char(0), g binary(0), \
             h varchar(255) CHARACTER SET latin1, i varchar(256) CHARACTER SET latin1, \
             j varbinary(0), k tinyblob)"
        ),
        "-:6 | -:6 -:7 a:v? b:v? c:V? d:20? e:V? f:v? g:v? h:v? i:V? j:v? k:V?"
    );
}

#[test]
fn virtual_columns_are_not_stored_and_document_ids_are() {
    let sql = "CREATE TABLE t (a int NOT NULL PRIMARY KEY, b int GENERATED ALWAYS AS (a) VIRTUAL, \
               c int GENERATED ALWAYS AS (a) STORED, d text, FULLTEXT (d))";
    let layout = Layout::compile(&def_of(sql, Family::MySql), RowFormat::Dynamic, None).unwrap();
    assert_eq!(fields(&layout), "a:4 | -:6 -:7 c:4? d:V? -:8");
    assert_eq!(layout.columns().collect::<Vec<_>>(), [0, 2, 3]);
}

#[test]
fn versioned_tables_keep_the_row_end_in_the_key() {
    let sql = "CREATE TABLE t (a int NOT NULL, b int, PRIMARY KEY (a)) WITH SYSTEM VERSIONING";
    let layout = Layout::compile(&def_of(sql, Family::MariaDb), RowFormat::Dynamic, None).unwrap();
    assert_eq!(fields(&layout), "a:4 row_end:7 | -:6 -:7 b:4? row_start:7");
}

#[test]
fn vectors_are_lobs_in_mysql_and_bytes_in_mariadb() {
    let sql = "CREATE TABLE t (v vector(3) NOT NULL)";
    let of =
        |family| fields(&Layout::compile(&def_of(sql, family), RowFormat::Dynamic, None).unwrap());
    assert_eq!(of(Family::MySql), "-:6 | -:6 -:7 v:V");
    assert_eq!(of(Family::MariaDb), "-:6 | -:6 -:7 v:v");
}

#[test]
fn row_versions_go_by_physical_position() {
    let sql = "CREATE TABLE t (n int, a char(9) CHARACTER SET latin1 NOT NULL, c int, \
               PRIMARY KEY (a(2)))";
    let mut def = def_of(sql, Family::MySql);
    let stored = |source, physical_pos, version_added| StoredColumn {
        source,
        physical_pos: Some(physical_pos),
        version_added,
        version_dropped: None,
        default: None,
    };
    // `n` was added FIRST, stored behind the rest; the key holds a prefix of `a` at 0; between `a`
    // and `c` a column was dropped.
    let dropped = StoredSource::Dropped { ty: crate::types::ColumnType::Date, nullable: true };
    def.physical.stored = vec![
        stored(StoredSource::Column(0), 6, 1),
        stored(StoredSource::Column(1), 0x8000 | 3, 0),
        stored(StoredSource::Column(2), 5, 0),
        StoredColumn { version_dropped: Some(2), ..stored(dropped, 4, 0) },
    ];
    let layout = Layout::compile(&def, RowFormat::Dynamic, None).unwrap();
    assert_eq!(fields(&layout), "-:2 | -:6 -:7 a:9 -:3? c:4? n:4?");
    let Flavour::MySql { nullable_in_version, .. } = &layout.flavour else { panic!() };
    assert_eq!(**nullable_in_version, [2, 3, 2]);
    def.physical.stored[2].physical_pos = Some(9);
    assert!(Layout::compile(&def, RowFormat::Dynamic, None).is_err());
    def.physical.stored[2].physical_pos = Some(4);
    assert!(Layout::compile(&def, RowFormat::Dynamic, None).is_err());
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let def = def_of("CREATE TABLE t (a int)", Family::MySql);
    let metadata = InstantMetadata::with_core_fields(99);
    assert!(Layout::compile(&def, RowFormat::Dynamic, Some(&metadata)).is_err());
}
