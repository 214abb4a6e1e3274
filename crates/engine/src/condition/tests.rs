use super::*;

#[test]
fn conditions_come_out_as_a_server_is_to_read_them() {
    for (typed, sql) in [
        ("a=1", "`a` = 1"),
        ("a != 1 and `b``c` IS not NULL", "`a` <> 1 AND `b``c` IS NOT NULL"),
        ("a<=>null", "`a` <=> NULL"),
        ("a in ('it''s', \"x\")", "`a` IN (_utf8mb4 X'69742773', _utf8mb4 X'78')"),
        ("a not in (-1.5e3,.5)", "`a` NOT IN (-1.5e3, .5)"),
        (
            "a BETWEEN 1 AND 2 AND b NOT BETWEEN 'a' AND 'b'",
            "`a` BETWEEN 1 AND 2 AND `b` NOT BETWEEN _utf8mb4 X'61' AND _utf8mb4 X'62'",
        ),
        ("a>=+5 AND a<>0x00ff and b > x'7e'", "`a` >= 5 AND `a` <> X'00ff' AND `b` > X'7e'"),
        ("a = '\\'\\\\\\%\\n'", "`a` = _utf8mb4 X'275c5c250a'"),
    ] {
        let condition = RowCondition::parse_where(typed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(condition.to_sql().as_deref(), Some(sql), "{typed}");
    }
}

#[test]
fn what_is_no_condition_is_refused_by_name() {
    for (typed, why) in [
        ("", "breaks off"),
        ("id", "breaks off"),
        ("id =", "breaks off"),
        ("id = 5 OR id = 6", "from `OR id = 6` on: OR is not supported"),
        ("id = 5 || id = 6", "OR is not supported"),
        ("(id = 5)", "parentheses and functions are not supported"),
        ("lower(id) = 5", "from `(id) = 5` on: parentheses and functions"),
        ("id = lower('a')", "from `lower('a')` on"),
        ("id = ann", "from `ann` on"),
        ("id = 2024-01-31", "from `2024-01-31` on"),
        ("id = 'a", "from `'a` on"),
        ("id = 5 and", "breaks off"),
        ("id = 5 6", "from `6` on"),
        ("id LIKE 'a'", "LIKE is not supported"),
        ("id NOT LIKE 'a'", "from `NOT LIKE 'a'` on"),
        ("not id = 5", "from `not id = 5` on"),
        ("id IN (1, 2", "breaks off"),
        ("id IN ()", "from `)` on"),
        ("id between 1 or 2", "from `or 2` on: OR"),
        ("id = 'a' collate utf8mb4_bin", "COLLATE is not supported"),
        ("id is 5", "from `5` on"),
        ("id = 0xzz", "from `0xzz` on"),
        ("5 < id", "from `id` on"),
        ("id = 1; drop table t", "from `; drop table t` on"),
    ] {
        let error = RowCondition::parse_where(typed).unwrap_err().to_string();
        assert!(error.contains(why), "{typed}: {error}");
    }
    for typed in ["", "..", "5", "1,..2"] {
        assert!(RowCondition::parse_range(typed).is_err(), "{typed}");
    }
    for typed in ["", ",", "1,", "'a"] {
        assert!(RowCondition::parse_keys([typed]).is_err(), "{typed}");
    }
}
