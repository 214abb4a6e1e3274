//! Printing of names and strings.

use super::keywords::is_keyword;
use crate::schema::ServerVersion;

/// The rule for quoting names with backquotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::schema) enum Quoting {
    /// Every name is quoted.
    Always,
    /// Quoted only if otherwise not read as a name, as for partitions' names (`append_identifier`
    /// without `OPTION_QUOTE_SHOW_CREATE`, sql_show.cc, MySQL 9.7).
    WhereNeeded(ServerVersion),
}

/// Appends a name.
pub(in crate::schema) fn push_identifier(out: &mut String, name: &str, quoting: Quoting) {
    if let Quoting::WhereNeeded(server) = quoting
        && !is_keyword(name, server)
        && !needs_quotes(name)
    {
        out.push_str(name);
        return;
    }
    out.push('`');
    for character in name.chars() {
        if character == '`' {
            out.push('`');
        }
        out.push(character);
    }
    out.push('`');
}

/// Returns whether a name needs quotes (`require_quotes`, sql_show.cc, MySQL 9.7): it has
/// characters other than letters, digits, `$` and `_`, or consists of digits, or begins with `$`.
/// The server means to accept letters beyond ASCII, but examines each byte as if a character began
/// there.
fn needs_quotes(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    name.starts_with('$')
        || !name.bytes().all(plain)
        || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Appends a string in quotes (`append_unescaped`, unireg.cc and sql_show.cc of all servers).
pub(in crate::schema) fn push_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            other => push_escaped(out, other),
        }
    }
    out.push('\'');
}

/// Appends a character of a string, escaped by a backslash if every kind of string escapes it.
pub(in crate::schema) fn push_escaped(out: &mut String, character: char) {
    match character {
        '\0' => out.push_str("\\0"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\\' => out.push_str("\\\\"),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let print = |name, quoting| {
            let mut out = String::new();
            push_identifier(&mut out, name, quoting);
            out
        };
        let needed = Quoting::WhereNeeded(ServerVersion::from_number(80_033));
        for name in ["p0", "_x", "a$b", "1a"] {
            assert_eq!(print(name, needed), name);
        }
        for name in ["key", "p 1", "12", "$a", "é", "a-b"] {
            assert_eq!(print(name, needed), format!("`{name}`"));
        }
        assert_eq!(print("a`b", needed), "`a``b`");
        assert_eq!(print("p0", Quoting::Always), "`p0`");
    }

    #[test]
    fn strings_escape_what_servers_escape() {
        let mut out = String::new();
        push_quoted(&mut out, "a'b\\c\0\r\n\t\u{1a}é");
        assert_eq!(out, "'a''b\\\\c\\0\\r\\n\t\u{1a}é'");
    }
}
