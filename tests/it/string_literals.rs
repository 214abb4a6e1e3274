//! The string literals of Rust source text, and options of a command line in them.

/// Options of other programs that a message may name.
const OF_OTHERS: [&str; 4] = [
    "aria_chk --unpack",
    "mariadb-backup --prepare --export",
    "myisamchk --unpack",
    "xtrabackup --prepare",
];

/// The first option that a text names: `--word`, or `-w` by itself.
pub fn option_in(text: &str) -> Option<String> {
    let text = OF_OTHERS.iter().fold(text.to_owned(), |text, other| text.replace(other, ""));
    let is_between = |c: char| c.is_whitespace() || "`'\"()[]{},;:=".contains(c);
    text.split(is_between).map(|word| word.trim_end_matches('.')).find_map(|word| {
        let is_option = match word.strip_prefix("--") {
            Some(long) => long.starts_with(|c: char| c.is_ascii_lowercase()),
            None => {
                word.len() == 2 && word.starts_with('-') && word.as_bytes()[1].is_ascii_alphabetic()
            }
        };
        is_option.then(|| word.to_owned())
    })
}

/// The contents of the string literals of Rust source text, in their order; escapes stay as they are
/// written, but for the end of a line.
pub fn of(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let from = hashes + 2;
            let length = rest[from..].find(&end).expect("a raw string ends");
            literals.push(rest[from..from + length].to_owned());
            from + length + end.len()
        } else if first == '"' {
            let length = plain_string(&rest[1..]);
            literals.push(joined(&rest[1..=length]));
            length + 2
        } else if let Some(length) = char_literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            // A word whole, so that the r of `for` begins no raw string; `b` and `c` may.
            let is_prefix = matches!(first, 'b' | 'c') && rest[1..].starts_with(['"', 'r', '\'']);
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            if is_prefix { 1 } else { rest.find(word).unwrap_or(rest.len()) }
        } else {
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    literals
}

/// How many hashes a raw string has that begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// Bytes to the end of a string, whose opening quote was read.
fn plain_string(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.expect("a string ends")
}

/// Bytes of a literal of a character; `None` of a lifetime.
fn char_literal(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let length = match inner.strip_prefix('\\') {
        // The escaped character may be a quote itself.
        Some(escaped) => escaped[1..].find('\'')? + 2,
        None => inner.chars().next()?.len_utf8(),
    };
    inner[length..].starts_with('\'').then_some(length + 2)
}

/// A literal of which each line but the last ends in a backslash is of one line.
fn joined(literal: &str) -> String {
    literal.split("\\\n").enumerate().fold(String::new(), |text, (nth, line)| {
        text + if nth == 0 { line } else { line.trim_start() }
    })
}

#[test]
fn literals_are_found_and_options_in_them() {
    let source = r##"
        // "a comment's --option"
        fn f<'a>(c: char) -> &'a str { if c == '"' || c == '\'' { "one \" two" } else { b"three" } }
        const RAW: &str = r#"four "five""#;
        let more = "use \
                    --force, for"; let end = "";
    "##;
    let literals = of(source);
    assert_eq!(literals, ["one \\\" two", "three", "four \"five\"", "use --force, for", ""]);
    let options: Vec<Option<String>> = literals.iter().map(|literal| option_in(literal)).collect();
    assert_eq!(options, [None, None, None, Some("--force".to_owned()), None]);
    for (text, option) in [
        ("see `--tmpdir`.", Some("--tmpdir")),
        ("(dump -o DIR)", Some("-o")),
        ("-- Dump completed", None),
        ("run `xtrabackup --prepare` first", None),
        ("1 - 2, well-known, -5", None),
    ] {
        assert_eq!(option_in(text).as_deref(), option, "{text}");
    }
}
