use super::*;
use crate::schema::Family;

fn key(collation: &str, text: &[u8]) -> Vec<u8> {
    let family = if collation.contains("0900") { Family::MySql } else { Family::MariaDb };
    let collation = CollationId::by_name(collation, family).unwrap();
    let mut key = Vec::new();
    Collator::of(collation).unwrap().append_sort_key(text, &mut key).unwrap();
    key
}

/// Results of `SELECT a = b COLLATE ...` on MySQL 8.0.33 and MariaDB 11.8.
#[test]
fn texts_compare_as_on_a_server() {
    for (collation, a, b) in [
        ("utf8mb4_general_ci", "Äß", "as"),
        ("utf8mb4_unicode_ci", "straße", "STRASSE"),
        ("utf8mb4_unicode_520_ci", "Ⅳ", "iv"),
        ("utf8mb4_0900_ai_ci", "각", "\u{1100}\u{1161}\u{11a8}"),
        ("utf8mb4_0900_ai_ci", "a\u{300}", "À"),
        ("utf8mb4_uca1400_ai_ci", "l·", "ŀ"),
        ("utf8mb4_uca1400_ai_ci", "a ", "A"),
        ("utf8mb4_general_ci", "a ", "a"),
        ("latin1_swedish_ci", "\u{e5}", "\u{e5} "),
    ] {
        assert_eq!(key(collation, a.as_bytes()), key(collation, b.as_bytes()), "{collation} {a}");
    }
    for (collation, a, b) in [
        ("utf8mb4_general_ci", "a\t", "a"),
        ("utf8mb4_general_nopad_ci", "a", "a "),
        ("utf8mb4_0900_ai_ci", "a", "a "),
        ("utf8mb4_0900_ai_ci", "丁", "七"),
        ("utf8mb4_unicode_ci", "a", "ab"),
        ("latin1_bin", "A", "a"),
    ] {
        assert!(key(collation, a.as_bytes()) < key(collation, b.as_bytes()), "{collation} {a}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let collation = CollationId::by_name("utf8mb4_general_ci", Family::MariaDb).unwrap();
    let collator = Collator::of(collation).unwrap();
    assert!(collator.append_sort_key(b"a\xff", &mut Vec::new()).is_err());
}

#[test]
fn collations_whose_order_is_not_known_have_no_collator() {
    for name in ["latin1_german2_ci", "utf8mb4_german2_ci", "utf8mb4_0900_as_cs", "gbk_bin"] {
        let family = if name.contains("0900") { Family::MySql } else { Family::MariaDb };
        assert_eq!(Collator::of(CollationId::by_name(name, family).unwrap()), None, "{name}");
    }
}
