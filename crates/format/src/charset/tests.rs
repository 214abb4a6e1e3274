use super::*;

const MYSQL_57: ServerVersion = ServerVersion { family: Family::MySql, number: 50_722 };
const MYSQL_80: ServerVersion = ServerVersion { family: Family::MySql, number: 80_033 };
const MARIADB_118: ServerVersion = ServerVersion { family: Family::MariaDb, number: 110_809 };

#[test]
fn charsets_are_listed_in_the_order_of_the_enum() {
    for (place, entry) in CHARSETS.iter().enumerate() {
        assert_eq!(entry.0 as usize, place, "{}", entry.1);
    }
}

#[test]
fn collations_are_sorted_and_unique() {
    assert!(COLLATIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn names_are_those_of_the_server() {
    assert_eq!(CollationId(33).name(MYSQL_57).as_deref(), Some("utf8_general_ci"));
    assert_eq!(CollationId(33).name(MYSQL_80).as_deref(), Some("utf8mb3_general_ci"));
    assert_eq!(CollationId(213).name(MYSQL_80).as_deref(), Some("utf8mb3_croatian_ci"));
    assert_eq!(CollationId(213).name(MARIADB_118).as_deref(), Some("utf8mb3_croatian_mysql561_ci"));
    assert_eq!(CollationId(2304).name(MARIADB_118).as_deref(), Some("utf8mb4_uca1400_ai_ci"));
    assert_eq!(
        CollationId(3271).name(MARIADB_118).as_deref(),
        Some("utf32_uca1400_croatian_nopad_as_cs")
    );
    assert_eq!(CollationId(2048 + (21 << 3)).name(MARIADB_118), None);
    assert_eq!(CollationId::by_name("UTF8_croatian_ci", Family::MySql), Some(CollationId(213)));
    assert_eq!(CollationId::by_name("utf8_croatian_ci", Family::MariaDb), Some(CollationId(576)));
}

#[test]
fn every_collation_is_found_by_its_name() {
    for server in [MYSQL_57, MYSQL_80, MARIADB_118] {
        for id in (0..4096).map(CollationId) {
            if let Some(name) = id.name(server) {
                let own = server.family == Family::MariaDb
                    || (id.0 < 2048 && !(576..=800).contains(&id.0));
                if own {
                    assert_eq!(CollationId::by_name(&name, server.family), Some(id), "{name}");
                }
            }
        }
    }
}

#[test]
fn default_collations_follow_the_version() {
    assert!(CollationId(45).is_default(MYSQL_57));
    assert!(CollationId(255).is_default(MYSQL_80));
    assert!(CollationId(2304).is_default(MARIADB_118));
    assert!(CollationId(8).is_default(MARIADB_118));
}

#[test]
fn padding_is_trimmed_by_whole_spaces() {
    assert_eq!(Latin1.trim_end(b"a          "), b"a");
    assert_eq!(Ucs2.trim_end(b"\0a\0 \0 "), b"\0a");
    assert_eq!(Utf16Le.trim_end(b"a\0 \0"), b"a\0");
    assert_eq!(Utf32.trim_end(b"\0\0\0a\0\0\0 "), b"\0\0\0a");
    assert_eq!(Binary.trim_end(b"a  "), b"a  ");
}

#[test]
fn multibyte_characters_end_where_the_server_ends_them() {
    assert_eq!(Big5.multibyte_len(b"\xa4\x5c"), 2);
    assert_eq!(Sjis.multibyte_len(b"\xb1\x5c"), 0);
    assert_eq!(Gb18030.multibyte_len(b"\x81\x30\x81\x30"), 4);
    assert_eq!(Utf8Mb3.multibyte_len("😀".as_bytes()), 0);
    assert_eq!(Utf8Mb4.multibyte_len("😀".as_bytes()), 4);
    assert_eq!(Ujis.multibyte_len(b"\x8f\xa2\xaf"), 3);
    assert_eq!(Utf16.multibyte_len(b"\xd8\x3d\xde\x00"), 4);
}

#[test]
fn encoding_is_the_way_back() {
    let cases = [
        (Latin1, "é€", &b"\xe9\x80"[..]),
        (Utf16, "é😀", b"\0\xe9\xd8\x3d\xde\x00"),
        (Utf16Le, "é", b"\xe9\0"),
        (Utf32, "é", b"\0\0\0\xe9"),
        (Swe7, "aÄ", b"a["),
        (Sjis, "日本", b"\x93\xfa\x96\x7b"),
        (Sjis, "〜", b"\x81\x60"),
        (Ujis, "−", b"\xa1\xdd"),
        (Gbk, "中", b"\xd6\xd0"),
        (Utf8Mb4, "😀", "😀".as_bytes()),
    ];
    for (charset, text, bytes) in cases {
        let mut encoded = Vec::new();
        assert_eq!(charset.encode(text, &mut encoded), 0, "{charset:?}");
        assert_eq!(encoded, bytes, "{charset:?}");
    }
    let mut lost = Vec::new();
    assert_eq!(Ascii.encode("aé", &mut lost), 1);
    assert_eq!(Swe7.encode("[", &mut lost), 1);
    assert_eq!(Utf8Mb3.encode("😀", &mut lost), 1);
    assert_eq!(lost, b"a???");
}
