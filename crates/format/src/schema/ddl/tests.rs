use super::*;
use crate::charset::CollationId;
use crate::schema::{ColumnDefault, Family, ForeignKeyRule, IndexKind, IndexSource, RowFormat};
use crate::types::{ColumnType, IntWidth, TemporalFormat};

const MYSQL_56: ServerVersion = ServerVersion { family: Family::MySql, number: 50624 };
const MYSQL_80: ServerVersion = ServerVersion { family: Family::MySql, number: 80033 };
const MARIADB: ServerVersion = ServerVersion { family: Family::MariaDb, number: 101_106 };

fn read(sql: &str, server: ServerVersion) -> TableDef {
    from_create_table(sql, server).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

fn complaint(sql: &str) -> String {
    from_create_table(sql, MYSQL_80).unwrap_err().to_string()
}

fn int(width: IntWidth, unsigned: bool, display_width: Option<u8>) -> ColumnType {
    ColumnType::Int { width, unsigned, zerofill: false, display_width }
}

fn columns_of(table: &TableDef, index: usize) -> Vec<&str> {
    let name = |part: &crate::schema::IndexPart| match part.source {
        IndexSource::Column(number) => table.columns[number].name.as_str(),
        IndexSource::Expression(_) => "(expression)",
    };
    table.indexes[index].parts.iter().map(name).collect()
}

#[test]
fn a_dump_is_read_past_its_settings() {
    let table = read(
        "/*M!999999\\- enable the sandbox mode */ \n\
         -- MySQL dump 10.13  Distrib 8.0.33; CREATE TABLE `not this` (a int);\n\
         /*!40101 SET @saved_cs_client     = @@character_set_client */;\n\
         # nor; CREATE TABLE this (a int);\n\
         DELIMITER ;;\n\
         DROP TABLE IF EXISTS `t`;\n\
         /*!50503 SET character_set_client = utf8mb4 */;\n\
         CREATE TABLE `a``b`.`t.1` (\n  `id` int NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n\
         CREATE TABLE `u` (broken",
        MYSQL_80,
    );
    assert_eq!((table.schema.as_str(), table.name.as_str()), ("a`b", "t.1"));
    assert_eq!(table.columns[0].ty, int(IntWidth::Four, false, None));
    assert_eq!(table.indexes[0].kind, IndexKind::Primary);
}

#[test]
fn versioned_comments_count() {
    let table = read(
        "CREATE TABLE t (\n a int /*!80023 INVISIBLE */,\n g point /*!80003 SRID 4326 */,\n\
         b int /*!50606 STORAGE DISK */ /*!50606 COLUMN_FORMAT DYNAMIC */ DEFAULT NULL,\n\
         c varchar(9) /*M!100301 COMPRESSED*/,\n KEY k (a) /*!80000 INVISIBLE */,\n\
         FULLTEXT KEY f (c) /*!50100 WITH PARSER `ngram` */ \n)\n\
         /*!50100 TABLESPACE `ts` */ ENGINE=InnoDB\n\
         /*!50100 PARTITION BY HASH (a)\nPARTITIONS 3 */;",
        MYSQL_80,
    );
    assert!(table.columns[0].invisible);
    assert_eq!(table.columns[1].srid, Some(4326));
    let kept = ["/*!50606 STORAGE DISK */", "/*!50606 COLUMN_FORMAT DYNAMIC */"];
    assert_eq!(table.columns[2].attributes, kept);
    assert!(table.columns[3].compressed);
    assert!(table.indexes[0].invisible);
    assert_eq!(table.indexes[1].parser.as_deref(), Some("ngram"));
    assert_eq!(table.options.others, [("TABLESPACE".into(), "`ts`".into())]);
    let partitioning = table.partitioning.expect("partitions");
    assert_eq!(partitioning.clause, "/*!50100 PARTITION BY HASH (a)\nPARTITIONS 3 */");
    let names: Vec<&str> = partitioning.partitions.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["p0", "p1", "p2"]);
}

#[test]
fn charsets_come_down_from_the_table() {
    let table = read(
        "CREATE TABLE t (a char(3), b varchar(3) character set ucs2, c text collate latin1_bin,\n\
         d varchar(4) binary, e char(2) character set binary, f text byte, g nchar(5),\n\
         h enum('a','ä') , i longtext charset utf8mb4 collate utf8mb4_unicode_ci)\n\
         DEFAULT CHARSET=latin1",
        MYSQL_80,
    );
    let collations: Vec<Option<u16>> = table
        .columns
        .iter()
        .map(|column| match &column.ty {
            ColumnType::Char { collation, .. }
            | ColumnType::VarChar { collation, .. }
            | ColumnType::Enum { collation, .. }
            | ColumnType::Text { collation, .. } => Some(collation.0),
            _ => None,
        })
        .collect();
    let some = Some;
    assert_eq!(
        collations,
        [some(8), some(35), some(47), some(47), None, None, some(33), some(8), some(224)]
    );
    assert_eq!(table.columns[4].ty, ColumnType::Binary { bytes: 2 });
    assert_eq!(table.columns[5].ty, ColumnType::Blob { length_bytes: 2 });
    let ColumnType::Enum { members, .. } = &table.columns[7].ty else { panic!("an enum") };
    assert_eq!(members, &[b"a".to_vec(), b"\xe4".to_vec()]);
    assert!(table.columns[8].explicit_collation && !table.columns[2].explicit_collation);
    let usual = read("CREATE TABLE t (a char(3))", MYSQL_80).options;
    assert_eq!(usual.collation, CollationId(255));
    assert_eq!(read("CREATE TABLE t (a char(3))", MYSQL_56).options.collation, CollationId(8));
}

#[test]
fn types_by_any_name() {
    let ty = |text: &str, server| {
        read(&format!("CREATE TABLE t (c {text})"), server).columns.remove(0).ty
    };
    assert_eq!(ty("bool", MYSQL_80), int(IntWidth::One, false, Some(1)));
    assert_eq!(ty("INTEGER(5) unsigned", MYSQL_80), int(IntWidth::Four, true, None));
    assert_eq!(ty("INTEGER", MYSQL_56), int(IntWidth::Four, false, Some(11)));
    assert_eq!(ty("tinyint(1)", MYSQL_80), int(IntWidth::One, false, Some(1)));
    assert!(matches!(
        ty("int zerofill", MYSQL_80),
        ColumnType::Int { unsigned: true, zerofill: true, display_width: Some(10), .. }
    ));
    assert!(matches!(
        ty("numeric(7)", MYSQL_80),
        ColumnType::Decimal { precision: 7, scale: 0, .. }
    ));
    assert!(matches!(ty("float(24)", MYSQL_80), ColumnType::Float(f) if f.digits.is_none()));
    assert!(matches!(ty("float(25)", MYSQL_80), ColumnType::Double(f) if f.digits.is_none()));
    assert!(matches!(
        ty("double precision(9,2) unsigned", MYSQL_80),
        ColumnType::Double(f) if f.digits == Some((9, 2)) && f.unsigned
    ));
    assert!(matches!(ty("character varying(9)", MYSQL_80), ColumnType::VarChar { chars: 9, .. }));
    assert!(matches!(ty("national varchar(9)", MYSQL_80), ColumnType::VarChar { chars: 9, .. }));
    assert!(matches!(ty("long varchar", MYSQL_80), ColumnType::Text { length_bytes: 3, .. }));
    assert!(matches!(ty("text(300)", MYSQL_80), ColumnType::Text { length_bytes: 2, .. }));
    assert_eq!(ty("json", MYSQL_80), ColumnType::Json);
    assert!(matches!(ty("json", MARIADB), ColumnType::Text { length_bytes: 4, .. }));
    assert!(matches!(
        ty("datetime(3)", MYSQL_56),
        ColumnType::DateTime(t) if t.fsp == 3 && t.format == TemporalFormat::New
    ));
    assert!(matches!(
        ty("datetime(3) /* mariadb-5.3 */", MARIADB),
        ColumnType::DateTime(t) if t.format == TemporalFormat::OldHires
    ));
    assert!(matches!(
        ty("time /* 5.5 binary format */", MYSQL_56),
        ColumnType::Time(t) if t.format == TemporalFormat::Old
    ));
    assert_eq!(ty("vector(3)", MYSQL_80), ColumnType::Vector { dimensions: 3 });
}

#[test]
fn null_is_where_the_server_allows_it() {
    let text = "CREATE TABLE t (id int, n int, ts timestamp, ts2 timestamp, tn timestamp null,\n\
                nn int not null, s serial, PRIMARY KEY (id))";
    let nullable = |server| {
        let table = read(text, server);
        table.columns.iter().map(|column| column.nullable).collect::<Vec<bool>>()
    };
    assert_eq!(nullable(MYSQL_80), [false, true, true, true, true, false, false]);
    assert_eq!(nullable(MYSQL_56), [false, true, false, false, true, false, false]);
    let table = read(text, MYSQL_56);
    let now = ColumnDefault::Verbatim("CURRENT_TIMESTAMP".into());
    assert_eq!(table.columns[2].default, now);
    assert_eq!(table.columns[3].default, ColumnDefault::Quoted("0000-00-00 00:00:00".into()));
    assert!(table.columns[6].auto_increment);
    assert_eq!(columns_of(&table, 1), ["s"]);
}

#[test]
fn defaults_and_attributes() {
    let table = read(
        "CREATE TABLE t (a int default -5, b bit(3) default b'101', c varchar(9) default 'it''s\\n',\n\
         d timestamp(6) default now(6) on update localtimestamp(6), e binary(16) default (uuid()),\n\
         f int generated always as (`a` + (1 * 2)) virtual comment 'x)', g int as (a) stored not null,\n\
         h int default null check (h > ')'), i char(3) default _latin1'x')",
        MYSQL_80,
    );
    let defaults: Vec<&ColumnDefault> = table.columns.iter().map(|c| &c.default).collect();
    let verbatim = |text: &str| ColumnDefault::Verbatim(text.into());
    assert_eq!(*defaults[0], ColumnDefault::Quoted("-5".into()));
    assert_eq!(*defaults[1], verbatim("b'101'"));
    assert_eq!(*defaults[2], ColumnDefault::Quoted("it's\n".into()));
    assert_eq!(*defaults[3], verbatim("CURRENT_TIMESTAMP(6)"));
    assert_eq!(table.columns[3].on_update.as_deref(), Some("CURRENT_TIMESTAMP(6)"));
    assert_eq!(*defaults[4], verbatim("(uuid())"));
    assert_eq!(*defaults[7], ColumnDefault::Null);
    assert_eq!(*defaults[8], verbatim("_latin1'x'"));
    let generated = table.columns[5].generated.as_ref().expect("generated");
    assert_eq!((generated.expression.as_str(), generated.stored), ("`a` + (1 * 2)", false));
    assert_eq!(table.columns[5].comment, "x)");
    assert!(table.columns[6].is_stored() && !table.columns[6].nullable);
    assert_eq!(
        (table.checks[0].name.as_str(), table.checks[0].expression.as_str()),
        ("t_chk_1", "h > ')'")
    );
    let number = read("CREATE TABLE t (a int default 5 check (a > 1))", MARIADB);
    assert_eq!(number.columns[0].default, verbatim("5"));
    assert_eq!(number.columns[0].check.as_deref(), Some("a > 1"));
}

#[test]
fn keys_in_the_servers_order() {
    let table = read(
        "CREATE TABLE t (a int not null, b int, c text, d int unique key,\n\
         KEY (b), FULLTEXT KEY ft (c), UNIQUE ux (b), UNIQUE KEY nn (a), INDEX p (c(7) desc),\n\
         KEY (b, a), CONSTRAINT pk PRIMARY KEY USING BTREE (a), KEY fx ((a + 1)))",
        MYSQL_80,
    );
    let names: Vec<&str> = table.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["PRIMARY", "nn", "d", "ux", "b", "p", "b_2", "fx", "ft"]);
    assert_eq!(table.indexes[5].parts[0].prefix_chars, Some(7));
    assert!(table.indexes[5].parts[0].descending);
    let expression = IndexSource::Expression("a + 1".into());
    assert_eq!(table.indexes[7].parts[0].source, expression);
}

#[test]
fn foreign_keys_and_checks() {
    let table = read(
        "CREATE TABLE `t` (`a` int, `b` int,\n CONSTRAINT `fk` FOREIGN KEY (`a`, `b`) REFERENCES \
         `d`.`p` (`x`, `y`) ON DELETE SET NULL ON UPDATE NO ACTION,\n FOREIGN KEY (a) REFERENCES q \
         (z), CONSTRAINT `ck` CHECK ((`a` > 1)) /*!80016 NOT ENFORCED */)",
        MYSQL_80,
    );
    let [first, second] = table.foreign_keys.as_slice() else { panic!("two") };
    assert_eq!((first.parent_schema.as_str(), first.parent_table.as_str()), ("d", "p"));
    let rules = (first.on_delete, first.on_update);
    assert_eq!(rules, (ForeignKeyRule::SetNull, ForeignKeyRule::NoAction));
    assert_eq!(second.name, "t_ibfk_1");
    assert_eq!(table.checks[0].expression, "(`a` > 1)");
    assert!(!table.checks[0].enforced);
}

#[test]
fn partitions_are_named_as_their_files() {
    let partitions = |clause: &str| {
        let table = read(&format!("CREATE TABLE t (a int) {clause}"), MARIADB);
        let partitions = table.partitioning.expect("partitions").partitions;
        let one = |p: crate::schema::Partition| match p.subpartitions.is_empty() {
            true => p.name,
            false => format!("{}[{}]", p.name, p.subpartitions.join(" ")),
        };
        partitions.into_iter().map(one).collect::<Vec<String>>().join(" ")
    };
    assert_eq!(partitions("PARTITION BY KEY ALGORITHM = 1 (a)"), "p0");
    assert_eq!(partitions("PARTITION BY LINEAR HASH (abs(a)) PARTITIONS 2"), "p0 p1");
    let range = "PARTITION BY RANGE (a) SUBPARTITION BY HASH (a) SUBPARTITIONS 2 \
                 (PARTITION x VALUES LESS THAN (3) ENGINE = InnoDB, \
                 PARTITION `y z` VALUES LESS THAN MAXVALUE COMMENT = ')' (SUBPARTITION s1, \
                 SUBPARTITION s2 ENGINE = InnoDB))";
    assert_eq!(partitions(range), "x[xsp0 xsp1] y z[s1 s2]");
    let list = "PARTITION BY LIST COLUMNS(a) (PARTITION l VALUES IN (1,(2)), PARTITION d DEFAULT)";
    assert_eq!(partitions(list), "l d");
    assert_eq!(partitions("PARTITION BY SYSTEM_TIME INTERVAL 1 DAY AUTO PARTITIONS 3"), "p0 p1 pn");
    let history = "PARTITION BY SYSTEM_TIME (PARTITION h HISTORY, PARTITION c CURRENT)";
    assert_eq!(partitions(history), "h c");
}

#[test]
fn a_versioned_table_has_columns_it_does_not_name() {
    let table = read(
        "CREATE TABLE t (id int, PRIMARY KEY (id)) ENGINE=InnoDB WITH SYSTEM VERSIONING",
        MARIADB,
    );
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "row_start", "row_end"]);
    assert!(table.columns[1].hidden && !table.columns[1].nullable);
    assert_eq!(columns_of(&table, 0), ["id", "row_end"]);
    let named = read(
        "CREATE TABLE t (id int, a timestamp(6) GENERATED ALWAYS AS ROW START INVISIBLE,\n\
         b timestamp(6) GENERATED ALWAYS AS ROW END INVISIBLE, x int WITHOUT SYSTEM VERSIONING,\n\
         PRIMARY KEY (id, b), PERIOD FOR SYSTEM_TIME (a, b)) WITH SYSTEM VERSIONING",
        MARIADB,
    );
    assert_eq!(named.columns.len(), 4);
    assert!(!named.columns[1].nullable && named.columns[3].without_versioning);
    assert_eq!(columns_of(&named, 0), ["id", "b"]);
}

#[test]
fn options() {
    let table = read(
        "CREATE TABLE t (a int) ENGINE=InnoDB AUTO_INCREMENT=18446744073709551615 \
         DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin STATS_PERSISTENT=0 ROW_FORMAT=COMPACT \
         COMMENT='it''s' `PAGE_COMPRESSED`=1 `ENCRYPTED`='YES' DATA DIRECTORY='/x'",
        MARIADB,
    );
    let options = table.options;
    assert_eq!(options.auto_increment, Some(u64::MAX));
    assert!(options.explicit_collation);
    assert_eq!(table.physical.row_format, Some(RowFormat::Compact));
    assert_eq!(options.comment, "it's");
    assert_eq!(options.tail, " `PAGE_COMPRESSED`=1 `ENCRYPTED`='YES'");
    assert_eq!(
        options.others,
        [
            ("STATS_PERSISTENT".to_owned(), "0".to_owned()),
            ("DATA DIRECTORY".to_owned(), "'/x'".to_owned()),
        ]
    );
}

#[test]
fn complaints_say_where_and_what() {
    assert_eq!(
        complaint("CREATE TABLE t (\n  `ü` integre NOT NULL\n)"),
        "line 2, column 7: found `INTEGRE`, expected a type"
    );
    assert_eq!(
        complaint("DROP TABLE t; SELECT 1"),
        "line 1, column 23: found the end of the text, expected CREATE TABLE"
    );
    assert_eq!(complaint("CREATE TABLE t LIKE u"), "line 1, column 16: found `LIKE`, expected `(`");
    assert_eq!(
        complaint("CREATE TABLE t (a varchar)"),
        "line 1, column 26: found `)`, expected `(` and a length"
    );
    assert_eq!(
        complaint("CREATE TABLE t (a int, KEY k (b))"),
        "line 1, column 24: found a key over `b`, expected columns of the table"
    );
    assert_eq!(
        complaint("CREATE TABLE t (a int comment 'x"),
        "line 1, column 31: found a quote that is never closed, expected `'`"
    );
    assert_eq!(
        complaint("CREATE TABLE t (a text charset klingon)"),
        "line 1, column 17: found the charset `klingon`, expected one the servers know"
    );
}

#[test]
fn hostile_text_ends() {
    let deep = format!("CREATE TABLE t (a int default {}", "(".repeat(100_000));
    assert!(complaint(&deep).contains("never closed"));
    let text = "CREATE TABLE `t` (`a` enum('x','y''z') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin \
                DEFAULT 'x' COMMENT 'c', `b` int GENERATED ALWAYS AS (`a` + 1) VIRTUAL, KEY `k` \
                (`a`(3) DESC), CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`q`) ON DELETE SET \
                NULL) ENGINE=InnoDB /*!50100 PARTITION BY LIST (a) SUBPARTITION BY HASH (b) \
                (PARTITION p VALUES IN (1,2) (SUBPARTITION s)) */";
    for (end, _) in text.char_indices() {
        let _ = from_create_table(&text[..end], MYSQL_80);
        let _ = from_create_table(&text[end..], MARIADB);
        for junk in ["'", "`", "(", ")", ",", "/*!", "*/", "=", "\\", "\u{fffd}", "9", ";"] {
            let damaged = format!("{}{junk}{}", &text[..end], &text[end + 1..]);
            let _ = from_create_table(&damaged, MARIADB);
        }
    }
}

#[test]
fn a_text_tells_its_server() {
    let number = |text: &str| (server_of_text(text).family, server_of_text(text).number);
    let mysql = "-- MySQL dump 10.13  Distrib 8.0.33, for Linux\n-- Server version\t8.0.33\n";
    assert_eq!(number(mysql), (Family::MySql, 80033));
    let mariadb = "-- Server version\t5.5.5-10.11.6-MariaDB-log\n";
    assert_eq!(number(mariadb), (Family::MariaDb, 101_106));
    let quiet = "CREATE TABLE t (a timestamp NOT NULL DEFAULT current_timestamp())";
    assert_eq!(number(quiet).0, Family::MariaDb);
    assert_eq!(number("CREATE TABLE `t` (\n  `a` int(11)\n)"), (Family::MySql, 50700));
    assert_eq!(number("CREATE TABLE `t` (\n  `a` int\n)"), (Family::MySql, 80000));
}
