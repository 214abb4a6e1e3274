//! Columns of every type, random values for them, and what they are compared with.

use innoscan_io::engine::memory::splitmix64;

/// Random numbers.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, end: usize) -> usize {
        splitmix64(&mut self.0) as usize % end
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

type Make = fn(&mut Chance) -> String;

pub struct Column {
    pub name: &'static str,
    pub ty: &'static str,
    /// A value, as SQL has it.
    pub value: Make,
    /// What it is compared with; `None`: nothing.
    pub literal: Option<Make>,
    /// The same by `=`, `<>` and IN, where that is not all of it.
    pub equal: Option<Make>,
    pub is_only_equal: bool,
    pub is_nullable: bool,
    pub is_integer: bool,
    /// Which servers know the type.
    pub servers: &'static str,
}

impl Column {
    const fn of(name: &'static str, ty: &'static str, value: Make) -> Column {
        Column {
            name,
            ty,
            value,
            literal: Some(value),
            equal: None,
            is_only_equal: false,
            is_nullable: true,
            is_integer: false,
            servers: "m",
        }
    }

    const fn int(name: &'static str, ty: &'static str, value: Make) -> Column {
        Column { is_integer: true, equal: Some(value), ..Column::of(name, ty, value) }
    }

    const fn with(self, literal: Make) -> Column {
        Column { literal: Some(literal), ..self }
    }

    const fn only_equal(self) -> Column {
        Column { is_only_equal: true, ..self }
    }

    const fn not_null(self) -> Column {
        Column { is_nullable: false, ..self }
    }

    const fn only_in(self, servers: &'static str) -> Column {
        Column { servers, ..self }
    }

    /// Whether it can begin a primary key.
    pub fn is_key(&self) -> bool {
        self.literal.is_some() && !self.ty.starts_with("TEXT") && !self.ty.starts_with("BLOB")
    }
}

const OLD_MARIADB: &str = "mariadb-1";
const NEW_MARIADB: &str = "mariadb-10.11,mariadb-11";
const NEW_MYSQL: &str = "mysql-8.0.33,mysql-9";

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Characters that one collation or another takes for others, or for nothing.
const LETTERS: [char; 46] = [
    'a', 'A', 'b', 'B', 'z', 'Z', 'é', 'É', 'ß', 'ä', 'å', 'Å', 'ñ', ' ', ' ', '-', '\t', '!', '~',
    's', 'S', 'ł', 'Ł', 'ı', 'I', 'İ', '0', '9', '\u{300}', '\u{1100}', '\u{1161}', '\u{11a8}',
    '가', '각', '一', '二', '😀', '😁', 'ﬁ', 'Ⅳ', 'あ', 'ア', '\u{b7}', 'l', '\u{ad}', 'ς',
];

pub fn word(chance: &mut Chance) -> String {
    (0..chance.below(4)).map(|_| LETTERS[chance.below(LETTERS.len())]).collect()
}

fn any_word(chance: &mut Chance) -> String {
    quoted(&word(chance))
}

/// Some of them so long that they are in pages of their own.
fn long_word(chance: &mut Chance) -> String {
    let bytes = chance.one(&["0", "10", "20000"]);
    format!("CONCAT({}, REPEAT('x', {bytes}))", any_word(chance))
}

fn short_word(chance: &mut Chance) -> String {
    quoted(&word(chance).replace(|letter: char| u32::from(letter) > 0xffff, ""))
}

fn latin1_word(chance: &mut Chance) -> String {
    quoted(&word(chance).replace(|letter: char| u32::from(letter) > 0xff, ""))
}

fn ascii_word(chance: &mut Chance) -> String {
    quoted(&word(chance).replace(|letter: char| !letter.is_ascii(), ""))
}

/// Without spaces at the end: a `CHAR` has none.
fn trimmed_word(chance: &mut Chance) -> String {
    quoted(word(chance).trim_end_matches(' '))
}

fn cyrillic_word(chance: &mut Chance) -> String {
    let letters: Vec<char> = "aAбБяЯёЁ ".chars().collect();
    quoted(&(0..chance.below(4)).map(|_| letters[chance.below(9)]).collect::<String>())
}

fn small(chance: &mut Chance) -> String {
    (chance.below(41) as i32 - 20).to_string()
}

fn tiny(chance: &mut Chance) -> String {
    let any = small(chance);
    chance.one(&["-128", "127", "0", &any, &any, &any]).to_owned()
}

fn tiny_literal(chance: &mut Chance) -> String {
    let any = small(chance);
    let whole = format!("{any}.0");
    chance
        .one(&["-129", "128", "0", "99999999999999999999999", &any, &any, &any, &whole])
        .to_owned()
}

fn unsigned(chance: &mut Chance) -> String {
    chance.below(40).to_string()
}

fn big(chance: &mut Chance) -> String {
    let any = small(chance);
    let all = ["-9223372036854775808", "9223372036854775807", "9007199254740993", &any, &any];
    chance.one(&all).to_owned()
}

fn big_unsigned(chance: &mut Chance) -> String {
    let any = unsigned(chance);
    chance.one(&["18446744073709551615", "9223372036854775808", "0", &any, &any]).to_owned()
}

fn integer_in_quotes(chance: &mut Chance) -> String {
    quoted(&small(chance))
}

fn decimal(chance: &mut Chance) -> String {
    let sign = chance.one(&["", "-"]);
    let whole = chance.one(&["0", "5", "12", "999", "123456", "1000000"]);
    let fraction = chance.one(&["", ".5", ".25", ".123", ".001", ".500"]);
    format!("{sign}{whole}{fraction}")
}

fn decimal_in_quotes(chance: &mut Chance) -> String {
    quoted(&decimal(chance))
}

fn real(chance: &mut Chance) -> String {
    let all = ["0", "1.5", "-1.5", "0.1", "1e10", "-2.5e-3", "3", "1e30", "0.30000000000000004"];
    chance.one(&all).to_owned()
}

fn bits(chance: &mut Chance) -> String {
    chance.below(30).to_string()
}

fn year(chance: &mut Chance) -> String {
    let any = (1990 + chance.below(20)).to_string();
    chance.one(&["0", "1901", "2155", &any, &any, &any]).to_owned()
}

fn day(chance: &mut Chance) -> String {
    let (year, month) = (1970 + chance.below(10), 1 + chance.below(12));
    let any = format!("{year}-{month:02}-{:02}", 1 + chance.below(28));
    chance.one(&["1000-01-01", "2024-02-29", "1999-12-31", &any, &any]).to_owned()
}

fn date(chance: &mut Chance) -> String {
    let day = day(chance);
    quoted(chance.one(&["0000-00-00", &day, &day, &day, &day]))
}

fn clock(chance: &mut Chance) -> String {
    let (hour, minute) = (chance.one(&["00", "12", "23"]), chance.one(&["00", "30", "59"]));
    format!("{hour}:{minute}:{}", chance.one(&["00", "01", "59"]))
}

fn date_time(chance: &mut Chance) -> String {
    let (day, clock) = (day(chance), clock(chance));
    let both = format!("{day} {clock}");
    quoted(chance.one(&["0000-00-00 00:00:00", &day, &both, &both, &both]))
}

fn fraction(chance: &mut Chance) -> String {
    chance.one(&["", ".000", ".001", ".5", ".999"]).to_owned()
}

fn fine_date_time(chance: &mut Chance) -> String {
    quoted(&format!("{} {}{}", day(chance), clock(chance), fraction(chance)))
}

fn stamp(chance: &mut Chance) -> String {
    let (month, hour) = (1 + chance.below(12), chance.below(24));
    let year = 1971 + chance.below(5);
    let any = format!("{year}-{month:02}-01 {hour:02}:00:00{}", fraction(chance));
    let all = ["0000-00-00 00:00:00", "1970-01-01 00:00:01", "2038-01-19 03:14:07", &any, &any];
    quoted(chance.one(&all))
}

fn time(chance: &mut Chance) -> String {
    let hours = chance.one(&["00", "01", "12", "23", "100", "838"]);
    let sign = chance.one(&["", "-"]);
    let (minutes, seconds) = (chance.one(&["00", "30", "59"]), chance.one(&["00", "01", "59"]));
    quoted(&format!("{sign}{hours}:{minutes}:{seconds}{}", fraction(chance)))
}

const MEMBERS: [&str; 7] = ["'a'", "'B'", "'é'", "'z '", "''", "'10'", "'Ab'"];

fn member(chance: &mut Chance) -> String {
    chance.one(&MEMBERS).to_owned()
}

fn like_member(chance: &mut Chance) -> String {
    let member = member(chance);
    chance.one(&[&member, &member, "'A'", "'e'", "'zz'", "'A '", "'ab'"]).to_owned()
}

fn place(chance: &mut Chance) -> String {
    chance.below(9).to_string()
}

fn set(chance: &mut Chance) -> String {
    chance.one(&["''", "'a'", "'a,c'", "'B,d'", "'a,B,c,d'"]).to_owned()
}

fn like_set(chance: &mut Chance) -> String {
    chance.one(&["''", "'A'", "'a,c'", "'b,D'", "'a,D'"]).to_owned()
}

fn hex(chance: &mut Chance) -> String {
    let digits: String =
        (0..1 + chance.below(3)).map(|_| format!("{:02x}", chance.below(256))).collect();
    format!("x'{digits}'")
}

fn bytes(chance: &mut Chance) -> String {
    let hex = hex(chance);
    chance.one(&[&hex, &hex, "'ab'", "'abc'"]).to_owned()
}

fn uuid(chance: &mut Chance) -> String {
    let (a, version, b) = (chance.below(9), chance.below(8), chance.below(5));
    quoted(&format!("{a:08x}-1111-{version}234-8{b:03x}-1234567890ab"))
}

fn inet4(chance: &mut Chance) -> String {
    quoted(&format!("10.0.0.{}", chance.below(20)))
}

fn inet6(chance: &mut Chance) -> String {
    quoted(&format!("2001:db8::{:x}", chance.below(9)))
}

fn json(_: &mut Chance) -> String {
    quoted("{}")
}

const ENUM: &str = "ENUM('a','B','é','z ','','10','Ab') COLLATE utf8mb4_general_ci";
const SET: &str = "SET('a','B','c','d') COLLATE utf8mb4_general_ci";

#[rustfmt::skip]
pub const COLUMNS: [Column; 66] = [
    Column::int("tiny", "TINYINT", tiny).with(tiny_literal),
    Column::int("tiny_unsigned", "TINYINT UNSIGNED", unsigned).with(tiny_literal),
    Column::int("small", "SMALLINT", small).with(tiny_literal),
    Column::int("medium", "MEDIUMINT", small).with(tiny_literal),
    Column::int("whole", "INT", small).with(tiny_literal),
    Column::int("filled", "INT(7) ZEROFILL", unsigned).with(tiny_literal),
    Column::int("big", "BIGINT", big).with(big),
    Column::int("big_unsigned", "BIGINT UNSIGNED", big_unsigned),
    Column::of("whole_quoted", "INT", small).with(integer_in_quotes),
    Column::of("big_quoted", "BIGINT", big).with(integer_in_quotes),
    Column::of("dec_10", "DECIMAL(10,3)", decimal),
    Column::of("dec_30", "DECIMAL(30,10)", decimal),
    Column::of("dec_filled", "DECIMAL(12,3) ZEROFILL", decimal),
    Column::of("dec_quoted", "DECIMAL(10,3)", decimal).with(decimal_in_quotes),
    Column::of("single", "FLOAT", real),
    Column::of("twice", "DOUBLE", real),
    Column::of("bit_1", "BIT(1)", |chance| chance.below(2).to_string()).with(bits),
    Column::int("bit_20", "BIT(20)", bits),
    Column::of("bit_64", "BIT(64)", big_unsigned),
    Column::of("years", "YEAR", year),
    Column::of("dates", "DATE", date),
    Column::of("dates_not_null", "DATE", date).not_null(),
    Column::of("moments_not_null", "DATETIME", date_time).not_null(),
    Column::of("moments", "DATETIME", date_time),
    Column::of("moments_3", "DATETIME(3)", fine_date_time),
    Column::of("moments_6", "DATETIME(6)", fine_date_time),
    Column::of("stamps_3", "TIMESTAMP(3)", stamp),
    Column::of("stamps_6", "TIMESTAMP(6)", stamp),
    Column::of("times_3", "TIME(3)", time),
    Column::of("times_6", "TIME(6)", time),
    Column::of("enums", ENUM, member).with(like_member),
    Column::of("enums_by_place", ENUM, member).with(place),
    Column::of("sets", SET, set).with(like_set),
    Column::of("sets_by_mask", SET, set).with(|chance| chance.below(17).to_string()),
    Column::of("swedish", "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci", latin1_word),
    Column::of("latin1", "CHAR(20) CHARACTER SET latin1 COLLATE latin1_general_ci", latin1_word),
    Column::of("latin1_cs", "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_general_cs", latin1_word),
    Column::of("latin1_bin", "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin", latin1_word),
    Column::of("danish", "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_danish_ci", latin1_word),
    Column::of("ascii", "VARCHAR(20) CHARACTER SET ascii COLLATE ascii_general_ci", ascii_word),
    Column::of("cyrillic", "VARCHAR(20) CHARACTER SET cp1251 COLLATE cp1251_general_ci", cyrillic_word),
    Column::of("utf8mb3", "VARCHAR(20) CHARACTER SET utf8 COLLATE utf8_general_ci", short_word),
    Column::of("general", "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", any_word),
    Column::of("general_char", "CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", any_word),
    Column::of("general_text", "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", any_word),
    Column::of("long_text", "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", long_word).with(any_word),
    Column::of("utf8_bin", "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", any_word),
    Column::of("unicode", "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", any_word),
    Column::of("unicode_520", "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci", any_word),
    Column::of("utf16", "VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_unicode_ci", any_word),
    Column::of("ucs2", "VARCHAR(20) CHARACTER SET ucs2 COLLATE ucs2_general_ci", short_word),
    Column::of("uca0900", "VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", any_word).only_in(NEW_MYSQL),
    Column::of("uca0900_char", "CHAR(20) COLLATE utf8mb4_0900_ai_ci", trimmed_word).only_in(NEW_MYSQL),
    Column::of("uca0900_text", "TEXT COLLATE utf8mb4_0900_ai_ci", any_word).only_in(NEW_MYSQL),
    Column::of("nopad", "VARCHAR(20) COLLATE utf8mb4_general_nopad_ci", any_word).only_in(OLD_MARIADB),
    Column::of("nopad_char", "CHAR(20) COLLATE utf8mb4_general_nopad_ci", trimmed_word).only_equal().only_in(OLD_MARIADB),
    Column::of("uca1400", "VARCHAR(20) COLLATE utf8mb4_uca1400_ai_ci", any_word).only_in(NEW_MARIADB),
    Column::of("uca1400_text", "TEXT COLLATE utf8mb4_uca1400_nopad_ai_ci", any_word).only_in(NEW_MARIADB),
    Column::of("binary_3", "BINARY(3)", hex).with(bytes),
    Column::of("binary_5", "VARBINARY(5)", hex).with(bytes),
    Column::of("blobs", "BLOB", hex).with(bytes),
    Column::of("uuids", "UUID", uuid).only_in(NEW_MARIADB),
    Column::of("addresses_4", "INET4", inet4).only_in(NEW_MARIADB),
    Column::of("addresses_6", "INET6", inet6).only_in(NEW_MARIADB),
    Column { literal: None, ..Column::of("documents", "JSON", json) },
    Column::of("words", "VARCHAR(10)", short_word).with(|chance| quoted(&chance.below(9).to_string())),
];
