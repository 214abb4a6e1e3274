//! Identifiers as file names: encoding and decoding of the names of databases, tables and
//! partitions.
//!
//! Servers write names of databases, tables and partitions in a special character set, `filename`
//! (`my_wc_mb_filename` in strings/ctype-utf8.c, MariaDB 10.11): letters, digits and `_` are
//! unchanged; the letters of some alphabets are `@` and two characters; anything else is `@` and
//! four hexadecimal digits.
//!
//! ```text
//! orders     orders          été        @0pt@0p
//! a$b        a@0024b         con        con@@@        (the name of a device on Windows)
//! t, p0      t#P#p0          t, p0, s1  t#P#p0#SP#s1  (MySQL 8: t#p#p0#sp#s1)
//! ```

use std::fmt::Write as _;

/// The one of the two characters after `@` that varies along a row of [`LETTERS`].
#[derive(Clone, Copy)]
enum Varies {
    First,
    Second,
}

/// Letters with a two-character code. A row has the code of its first letter; the code of each
/// further letter is one more in the character that varies. `.` marks a code without a letter.
const LETTERS: [(Varies, [u8; 2], &str); 92] = [
    (Varies::Second, *b"0G", "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓ"),
    (Varies::Second, *b"1G", "ÔÕÖ.ØÙÚÛÜÝÞŸĀĂĄĆĈĊČĎ"),
    (Varies::Second, *b"1g", "ôõößøùúûüýþÿāăąćĉċčď"),
    (Varies::Second, *b"0g", "àáâãäåæçèéêëìíîïðñòó"),
    (Varies::Second, *b"2G", "ĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮ.ĲĴĶ"),
    (Varies::Second, *b"2g", "đēĕėęěĝğġģĥħĩīĭįıĳĵķ"),
    (Varies::Second, *b"3g", "ĸĺļľŀłńņňŉŋōŏőœŕŗřśŝ"),
    (Varies::Second, *b"3H", "ĹĻĽĿŁŃŅŇ.ŊŌŎŐŒŔŖŘŚŜ"),
    (Varies::Second, *b"4G", "ŞŠŢŤŦŨŪŬŮŰŲŴŶŹŻŽ"),
    (Varies::Second, *b"4g", "şšţťŧũūŭůűųŵŷźżžſ"),
    (Varies::First, *b"ga", "ƀƃƅƈƌƍƒƕƙƚƛƞơƣƥƨƪƫƭư"),
    (Varies::First, *b"Qf", "ƁƆ.ƉƊ.Ə.Ɛ"),
    (Varies::First, *b"Ha", "ƂƄƇƋ.ƑǶƘȽ.ȠƠƢƤƧ..ƬƯ"),
    (Varies::First, *b"Gb", "ƳƵƸ....ƼǄǇǊǍǏǑǓǕǗǙǛƎ"),
    (Varies::First, *b"Jg", "Ɠ..Ɣ....ƗƖ.....Ɯ"),
    (Varies::First, *b"Hh", "Ɲ..Ɵ..........Ʀ..Ʃ"),
    (Varies::First, *b"Ji", "Ʈ.ƱƲ......Ʒ.Ɂ"),
    (Varies::First, *b"gb", "ƴƶƹƺƻ.ƾƽǆǉǌǎǐǒǔǖǘǚǜǝ"),
    (Varies::First, *b"Gc", "ǞǠǢǤǦǨǪǬǮ.ǱǴǸǺǼǾȀȂȄȆ"),
    (Varies::First, *b"gc", "ǟǡǣǥǧǩǫǭǯǰǳǵǹǻǽǿȁȃȅȇ"),
    (Varies::First, *b"Gd", "ȈȊȌȎȐȒȔȖȘȚȜȞ.ȢȤȦȨȪȬȮ"),
    (Varies::First, *b"gd", "ȉȋȍȏȑȓȕȗșțȝȟȡȣȥȧȩȫȭȯ"),
    (Varies::First, *b"Ge", "ȰȲ......ȺȻȾ"),
    (Varies::First, *b"ge", "ȱȳȴȵȶȷȸȹ.ȼ.ȿɀ"),
    (Varies::First, *b"nf", "ɐɑɒɓɔɕɖɗɘəɚɛɜ"),
    (Varies::First, *b"gg", "ɝɞɟɠɡɢɣɤɥɦɧɨɩɪɫɬɭɮɯɰ"),
    (Varies::First, *b"gh", "ɱɲɳɴɵɶɷɸɹɺɻɼɽɾɿʀʁʂʃʄ"),
    (Varies::First, *b"gi", "ʅʆʇʈʉʊʋʌʍʎʏʐʑʒʓʔʕʖʗʘ"),
    (Varies::First, *b"gj", "ʙʚʛʜʝʞʟʠʡʢʣʤʥʦʧʨʩʪʫʬ"),
    (Varies::First, *b"gk", "ʭʮʯ"),
    (Varies::Second, *b"6G", "ΆΈΉΊ.Α.ΓΔΕΖΗ.Ι.ΛΜΝΞΟ"),
    (Varies::Second, *b"7H", "Ρ..ΤΥ.ΧΨΩΪΫΌΎΏ.ΒΘϒϓ"),
    (Varies::Second, *b"5y", "ΐ"),
    (Varies::Second, *b"8G", "ϔΦΠ..ϚϜϞϠϢϤϦϨϪϬϮΚ.Σ"),
    (Varies::Second, *b"6g", "άέήίΰαβγδεζηθικλμνξο"),
    (Varies::Second, *b"7g", "πρςστυφχψωϊϋόύώ.ϐϑ"),
    (Varies::Second, *b"8h", "ϕϖϗϙϛϝϟϡϣϥϧϩϫϭϯϰϱϲϳ"),
    (Varies::Second, *b"9g", "ϵ϶ϸϻϼ"),
    (Varies::Second, *b"9L", "ϽϾϿ"),
    (Varies::First, *b"G1", "ФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇ"),
    (Varies::First, *b"G2", "ЈЉЊЋЌЍЎЏѠѢѤѦѨѪѬѮѰѲѴѶ"),
    (Varies::First, *b"G0", "АБВГДЕЖЗИЙКЛМНОПРСТУ"),
    (Varies::First, *b"g0", "абвгдежзийклмнопрсту"),
    (Varies::First, *b"g1", "фхцчшщъыьэюяѐёђѓєѕії"),
    (Varies::First, *b"g2", "јљњћќѝўџѡѣѥѧѩѫѭѯѱѳѵѷ"),
    (Varies::First, *b"G3", "ѸѺѼѾҀ.ҊҌҎҐҒҔҖҘҚҜҞҠҢҤ"),
    (Varies::First, *b"g3", "ѹѻѽѿҁ.ҋҍҏґғҕҗҙқҝҟҡңҥ"),
    (Varies::First, *b"G4", "ҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋ"),
    (Varies::First, *b"g4", "ҧҩҫҭүұҳҵҷҹһҽҿ.ӂӄӆӈӊӌ"),
    (Varies::First, *b"G5", "Ӎ.ӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲ"),
    (Varies::First, *b"g5", "ӎ.ӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳ"),
    (Varies::First, *b"G6", "ӴӶӸ......ԀԂԄԆԈԊԌԎ"),
    (Varies::First, *b"g6", "ӵӷӹ......ԁԃԅԇԉԋԍԏ"),
    (Varies::First, *b"H7", "ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃ"),
    (Varies::First, *b"G8", "ՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕ"),
    (Varies::First, *b"h7", "աբգդեզէըթժիլխծկհձղճ"),
    (Varies::First, *b"g8", "մյնշոչպջռսվտրցւփքօ"),
    (Varies::First, *b"Gl", "ḀḂḄḆḈḊḌḎḐḒḔḖḘḚḜḞḠḢḤḦ"),
    (Varies::First, *b"gl", "ḁḃḅḇḉḋḍḏḑḓḕḗḙḛḝḟḡḣḥḧ"),
    (Varies::First, *b"Gm", "ḨḪḬḮḰḲḴḶḸḺḼḾṀṂṄṆṈṊṌṎ"),
    (Varies::First, *b"gm", "ḩḫḭḯḱḳḵḷḹḻḽḿṁṃṅṇṉṋṍṏ"),
    (Varies::First, *b"Gn", "ṐṒṔṖṘṚṜṞ.ṢṤṦṨṪṬṮṰṲṴṶ"),
    (Varies::First, *b"gn", "ṑṓṕṗṙṛṝṟṡṣṥṧṩṫṭṯṱṳṵṷ"),
    (Varies::First, *b"Gp", "Ṡ....ẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼ"),
    (Varies::First, *b"Go", "ṸṺṼṾẀẂẄẆẈẊẌẎẐẒẔ"),
    (Varies::First, *b"go", "ṹṻṽṿẁẃẅẇẉẋẍẏẑẓẕẖẗẘẙẚ"),
    (Varies::First, *b"gp", "ẛ....ạảấầẩẫậắằẳẵặẹẻẽ"),
    (Varies::First, *b"Gq", "ẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤ"),
    (Varies::First, *b"gq", "ếềểễệỉịọỏốồổỗộớờởỡợụ"),
    (Varies::First, *b"Gr", "ỦỨỪỬỮỰỲỴỶỸ"),
    (Varies::First, *b"gr", "ủứừửữựỳỵỷỹ"),
    (Varies::First, *b"gs", "ἀἁἂἃἄἅἆἇἐἑἒἓἔἕ....ἠἡ"),
    (Varies::First, *b"Gs", "ἈἉἊἋἌἍἎἏἘἙἚἛἜἝ....ἨἩ"),
    (Varies::First, *b"gt", "ἢἣἤἥἦἧἰἱἲἳἴἵἶἷὀὁὂὃὄὅ"),
    (Varies::First, *b"Gt", "ἪἫἬἭἮἯἸἹἺἻἼἽἾἿὈὉὊὋὌὍ"),
    (Varies::First, *b"ku", "ὐὑὒὓὔὕὖὗ....ὠὡὢὣ"),
    (Varies::First, *b"Lu", "Ὑ.Ὓ.Ὕ.Ὗ....ὨὩὪὫ"),
    (Varies::First, *b"gv", "ὤὥὦὧὰάὲέὴήὶίὸόὺύὼώ"),
    (Varies::First, *b"Gv", "ὬὭὮὯᾺΆῈΈῊΉῚΊῸΌῪΎῺΏ"),
    (Varies::First, *b"gw", "ᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣ"),
    (Varies::First, *b"Gw", "ᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫ"),
    (Varies::First, *b"gx", "ᾤᾥᾦᾧᾰᾱᾲᾳᾴ.ᾶᾷῂῃῄ.ῆῇῐῑ"),
    (Varies::First, *b"Gx", "ᾬᾭᾮᾯᾸᾹ.ᾼ.....ῌ....ῘῙ"),
    (Varies::First, *b"gy", "ῒΐ..ῖῗ.ῠῡῢΰῤῥῦῧ..ῲῳ"),
    (Varies::First, *b"Ny", "ῨῩ...Ῥ.....ῼ"),
    (Varies::First, *b"hz", "ῶῷ"),
    (Varies::First, *b"G9", "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅬⅭⅮⅯ"),
    (Varies::First, *b"g9", "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻⅼⅽⅾⅿ"),
    (Varies::Second, *b"@A", "ⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿⓀⓁⓂⓃⓄⓅⓆⓇⓈⓉⓊⓋⓌⓍⓎⓏ"),
    (Varies::Second, *b"@a", "ⓐⓑⓒⓓⓔⓕⓖⓗⓘⓙⓚⓛⓜⓝⓞⓟⓠⓡⓢⓣⓤⓥⓦⓧⓨⓩ"),
    (Varies::First, *b"A@", "ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ"),
    (Varies::First, *b"a@", "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ"),
];

/// The prefix with which the server shows the name of a file that is not an encoded name.
const RAW_PREFIX: &str = "#mysql50#";

/// Returns the file name of a database, table or partition.
pub fn encode(name: &str) -> String {
    if let Some(raw) = name.strip_prefix(RAW_PREFIX) {
        return raw.to_owned();
    }
    let mut file = String::with_capacity(name.len());
    for letter in name.chars() {
        encode_letter(letter, &mut file);
    }
    if is_device(&file) {
        file.push_str("@@@");
    }
    file
}

fn encode_letter(letter: char, file: &mut String) {
    if letter.is_ascii_alphanumeric() || letter == '_' {
        file.push(letter);
    } else if let Some([first, second]) = code_of(letter) {
        file.extend(['@', char::from(first), char::from(second)]);
    } else {
        // Identifiers have characters of the BMP only; the server refuses others.
        let _ = write!(file, "@{:04x}", u32::from(letter));
    }
}

fn code_of(letter: char) -> Option<[u8; 2]> {
    if u32::from(letter) < 0xc0 {
        return None;
    }
    LETTERS.iter().find_map(|&(varies, [first, second], letters)| {
        let place = letters.chars().position(|candidate| candidate == letter)?;
        let step = u8::try_from(place).ok()?;
        Some(match varies {
            Varies::First => [first.checked_add(step)?, second],
            Varies::Second => [first, second.checked_add(step)?],
        })
    })
}

/// Returns whether the name is reserved by Windows for a device; every server escapes those, so
/// that a data directory can be moved (`check_if_legal_tablename`, mysys/my_access.c).
fn is_device(file: &str) -> bool {
    let lower = file.to_ascii_lowercase();
    match lower.as_bytes() {
        b"con" | b"prn" | b"aux" | b"nul" | b"clock$" => true,
        [b'c', b'o', b'm', digit] | [b'l', b'p', b't', digit] => matches!(digit, b'1'..=b'9'),
        _ => false,
    }
}

/// Decodes the file name of a database, table or partition. A name that is not an encoded one is
/// returned as the server shows it: after `#mysql50#`.
pub fn decode(file: &str) -> String {
    let letters = file.strip_suffix("@@@").filter(|letters| is_device(letters)).unwrap_or(file);
    decode_letters(letters).unwrap_or_else(|| format!("{RAW_PREFIX}{file}"))
}

fn decode_letters(file: &str) -> Option<String> {
    let mut name = String::with_capacity(file.len());
    let mut rest = file;
    while let Some(letter) = rest.chars().next() {
        if letter != '@' {
            if !letter.is_ascii_alphanumeric() && letter != '_' {
                return None;
            }
            name.push(letter);
            rest = rest.get(1..)?;
            continue;
        }
        let code = rest.get(1..3)?;
        if let Some(letter) = letter_of(code) {
            name.push(letter);
            rest = rest.get(3..)?;
        } else {
            let digits = rest.get(1..5).filter(|digits| {
                digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
            })?;
            name.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
            rest = rest.get(5..)?;
        }
    }
    Some(name)
}

fn letter_of(code: &str) -> Option<char> {
    let &[first, second] = code.as_bytes() else { return None };
    LETTERS.iter().find_map(|&(varies, start, letters)| {
        let (step, fixed) = match varies {
            Varies::First => (first.checked_sub(start[0])?, second == start[1]),
            Varies::Second => (second.checked_sub(start[1])?, first == start[0]),
        };
        letters.chars().nth(usize::from(step)).filter(|&letter| fixed && letter != '.')
    })
}

/// A table's file, identified by its name without the extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// Name of the table.
    pub table: String,
    /// Name of the partition in this file.
    pub partition: Option<String>,
    /// Name of the subpartition in this file.
    pub subpartition: Option<String>,
}

impl TableFile {
    /// The name that MySQL 8 and later give the tablespace in this file: `db/t#p#p0#sp#s1`, not encoded
    /// (`dict_name::convert_to_space, dict0dd.cc`, MySQL 8.0).
    pub fn tablespace(&self, schema: &str) -> String {
        let parts = [&self.partition, &self.subpartition]
            .map(|part| part.as_deref().map(str::to_lowercase));
        with_parts(format!("{schema}/{}", self.table), LOWER_MARKS, parts)
    }
}

/// Splits a file's name: `t#P#p0#SP#s1` into table, partition and subpartition.
pub fn decode_table(stem: &str) -> TableFile {
    let (table, parts) = split_once_either(stem, "#P#", "#p#");
    let (partition, subpartition) = match parts {
        Some(parts) => {
            let (partition, subpartition) = split_once_either(parts, "#SP#", "#sp#");
            (Some(decode(partition)), subpartition.map(decode))
        }
        None => (None, None),
    };
    TableFile { table: decode(table), partition, subpartition }
}

fn split_once_either<'a>(text: &'a str, upper: &str, lower: &str) -> (&'a str, Option<&'a str>) {
    match text.split_once(upper).or_else(|| text.split_once(lower)) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Returns the file name, without the extension, of a partition or subpartition in MySQL 5.x and
/// MariaDB. MySQL 8 writes the same name with `#p#`, `#sp#` and the partitions' names in lower
/// case: [`partition_stem_8`].
pub fn partition_stem(table: &str, partition: &str, subpartition: Option<&str>) -> String {
    let parts = [Some(partition), subpartition].map(|part| part.map(encode));
    with_parts(encode(table), ["#P#", "#SP#"], parts)
}

/// Returns the file name, without the extension, of a partition or subpartition in MySQL 8 and
/// later.
pub fn partition_stem_8(table: &str, partition: &str, subpartition: Option<&str>) -> String {
    let parts = [Some(partition), subpartition];
    let parts = parts.map(|part| part.map(|part| encode(&part.to_lowercase())));
    with_parts(encode(table), LOWER_MARKS, parts)
}

/// The marks before a partition and a subpartition in the names of MySQL 8 and later.
const LOWER_MARKS: [&str; 2] = ["#p#", "#sp#"];

/// The name of a table with those of its partition and subpartition, if it has them.
fn with_parts(mut name: String, marks: [&str; 2], parts: [Option<String>; 2]) -> String {
    for (mark, part) in marks.into_iter().zip(parts) {
        if let Some(part) = part {
            name.push_str(mark);
            name.push_str(&part);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and their files as MariaDB 10.11 wrote them.
    const SEEN: [(&str, &str); 9] = [
        ("orders", "orders"),
        ("a$b", "a@0024b"),
        ("con", "con@@@"),
        ("coN", "coN@@@"),
        ("com0", "com0"),
        ("@@@", "@0040@0040@0040"),
        ("a#P#b", "a@0023P@0023b"),
        ("con.x", "con@002ex"),
        ("P \u{c9}", "P@0020@0P"),
    ];

    #[test]
    fn names_seen_on_a_server() {
        for (name, file) in SEEN {
            assert_eq!(encode(name), file);
            assert_eq!(decode(file), name);
        }
    }

    /// As MySQL 8.0.33 and 9.7 list them.
    #[test]
    fn names_of_tablespaces() {
        for (file, name) in [
            ("a@002db", "d-é/a-b"),
            ("com1@@@", "d-é/com1"),
            ("@1On@0v#p#p@002da", "d-é/Ünï#p#p-a"),
            ("x@0023p@0023y", "d-é/x#p#y"),
            ("q@002fr@002es#p#q1#sp#q1sp0", "d-é/q/r.s#p#q1#sp#q1sp0"),
        ] {
            assert_eq!(decode_table(file).tablespace("d-é"), name);
        }
    }

    /// FNV-1a over the encodings of U+0001..=U+FFFF that MariaDB 10.11's `CONVERT(... USING
    /// filename)` returned.
    #[test]
    fn every_letter_as_the_server_encodes_it() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for letter in (1..=0xffff).filter_map(char::from_u32) {
            let file = encode(&letter.to_string());
            for byte in file.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
            assert_eq!(decode(&file), letter.to_string());
        }
        assert_eq!(hash, 0xacd1_5772_f493_6e65);
    }

    #[test]
    fn files_of_partitions() {
        let file = decode_table("sp#P#p1#SP#p1sp0");
        assert_eq!(file.table, "sp");
        assert_eq!(file.partition.as_deref(), Some("p1"));
        assert_eq!(file.subpartition.as_deref(), Some("p1sp0"));
        assert_eq!(partition_stem("sp", "p1", Some("p1sp0")), "sp#P#p1#SP#p1sp0");
        assert_eq!(partition_stem("pt", "con", None), "pt#P#con@@@");
        assert_eq!(partition_stem_8("t", "P0", Some("S 1")), "t#p#p0#sp#s@00201");
        assert_eq!(decode_table("t@0023P@0023b").table, "t#P#b");
    }

    #[test]
    fn what_is_no_name_stays_itself() {
        for file in ["a-b", "a@", "a@0", "a@00G", "a@00g0", "\u{e9}t\u{e9}", "@\u{e9}\u{e9}"] {
            assert_eq!(decode(file), format!("#mysql50#{file}"));
            assert_eq!(encode(&decode(file)), file);
        }
    }
}
