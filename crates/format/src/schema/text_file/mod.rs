//! Definitions that servers store as text: views (`.frm`), triggers (`.TRG`, `.TRN`) and the
//! options of databases (`db.opt`).
//!
//! ```text
//! TYPE=VIEW                                  TYPE=TRIGGERS
//! query=select 1 AS `it\'s`                  triggers='CREATE ... SET @a = \'x\'' 'CREATE ...'
//! suid=2                                     sql_modes=1411383296 0
//! ```
//!
//! A line holds a name and a value: a number, a text, or lists of them separated by spaces. In
//! texts a backslash precedes `\`, `'`, and `n`, `0` and `z` for a line's end, a NUL and a Ctrl-Z
//! (`parse_escaped_string`, `write_escaped_string` in sql/parse_file.cc, MariaDB 10.11 and MySQL
//! 5.7). Unknown names are skipped, as in the servers.

mod database;
mod lex;
mod select_list;
mod triggers;
mod view;
mod view_names;

pub use self::database::DatabaseOptions;
pub use self::triggers::{TriggerDefinition, TriggersFile, trigger_table};
pub use self::view::{CheckOption, ViewAlgorithm, ViewDefinition};
pub use self::view_names::ViewNames;
use crate::charset::Charset;
use crate::{Error, Result};

/// The names and values of a definition.
#[derive(Clone, Debug)]
struct TextFile<'a> {
    values: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> TextFile<'a> {
    /// Splits the lines of a file whose first line is `TYPE=` and `kind`.
    fn parse(bytes: &'a [u8], kind: &str) -> Result<TextFile<'a>> {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        if first.strip_prefix(b"TYPE=") != Some(kind.as_bytes()) {
            return Err(Error::corrupt(format!("the file does not begin with TYPE={kind}")));
        }
        if !bytes.ends_with(b"\n") {
            return Err(Error::corrupt("the file ends within a line: it was cut off"));
        }
        let mut values = Vec::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let at = line.iter().position(|&byte| byte == b'=');
            let at = at.ok_or_else(|| Error::corrupt("a line of the file has no ="))?;
            let (name, value) = line.split_at(at);
            values.push((name, value.get(1..).unwrap_or_default()));
        }
        Ok(TextFile { values })
    }

    /// Returns the raw value of a name.
    fn find(&self, name: &str) -> Option<&'a [u8]> {
        self.values.iter().find(|value| value.0 == name.as_bytes()).map(|value| value.1)
    }

    fn get(&self, name: &str) -> Result<&'a [u8]> {
        self.find(name).ok_or_else(|| Error::corrupt(format!("the file has no line {name}=")))
    }

    /// Returns the value of a name as a number.
    fn number(&self, name: &str) -> Result<u64> {
        number(self.get(name)?, name)
    }

    /// Returns the value of a name as an unquoted text.
    fn text(&self, name: &str) -> Result<Vec<u8>> {
        unescaped(self.get(name)?)
    }

    /// Returns the value of a name as a list of quoted texts; `None` where the file has no such
    /// line.
    fn texts(&self, name: &str) -> Result<Option<Vec<Vec<u8>>>> {
        self.find(name).map(|value| texts(value, name)).transpose()
    }

    /// Returns the value of a name as a list of numbers; `None` where the file has no such line.
    fn numbers(&self, name: &str) -> Result<Option<Vec<u64>>> {
        let Some(value) = self.find(name) else { return Ok(None) };
        let parts = value.split(|&byte| byte == b' ').filter(|part| !part.is_empty());
        parts.map(|part| number(part, name)).collect::<Result<_>>().map(Some)
    }
}

fn number(value: &[u8], name: &str) -> Result<u64> {
    let text = std::str::from_utf8(value).ok();
    text.and_then(|text| text.trim_end().parse().ok())
        .ok_or_else(|| Error::corrupt(format!("{name}= is not a number")))
}

/// Removes the backslashes before special characters.
fn unescaped(value: &[u8]) -> Result<Vec<u8>> {
    let mut text = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(&byte) = bytes.next() {
        let meant = match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'0') => 0,
                Some(b'z') => 26,
                Some(&quoted @ (b'\\' | b'\'')) => quoted,
                _ => return Err(Error::corrupt("a backslash precedes an unknown character")),
            },
            byte => byte,
        };
        text.push(meant);
    }
    Ok(text)
}

/// Splits a list of quoted texts, separated by spaces.
fn texts(value: &[u8], name: &str) -> Result<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    let mut rest = value;
    while let Some((&first, after)) = rest.split_first() {
        if first == b' ' {
            rest = after;
            continue;
        }
        let end = (first == b'\'').then(|| end_of_quoted(after)).flatten();
        let end = end.ok_or_else(|| Error::corrupt(format!("{name}= is not a list of texts")))?;
        let (text, behind) = after.split_at_checked(end).unwrap_or_default();
        texts.push(unescaped(text)?);
        rest = behind.get(1..).unwrap_or_default();
    }
    Ok(texts)
}

/// Returns the position of the quote that ends a text.
fn end_of_quoted(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    text.iter().position(|&byte| {
        let ends = byte == b'\'' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// Decodes bytes of a charset. Bytes without a meaning there are an error, as the output would
/// differ from the file.
fn decoded(bytes: &[u8], charset: Charset, what: &str) -> Result<String> {
    let mut text = Vec::with_capacity(bytes.len());
    let lost = charset.decode(bytes, &mut text);
    match String::from_utf8(text) {
        Ok(text) if lost == 0 => Ok(text),
        _ => Err(Error::unsupported(
            format!("{what} with bytes that are not valid in its character set {}", charset.name()),
            "make it again with such bytes written as x'...'",
        )),
    }
}

/// Finds the charset of a name in a file.
fn charset_named(name: &str) -> Result<Charset> {
    Charset::by_name(name).ok_or_else(|| Error::corrupt(format!("there is no charset {name}")))
}

fn utf8(bytes: Vec<u8>, what: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::corrupt(format!("{what} is not UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_escapes() {
        let bytes = b"TYPE=X\na='b\\'c' '\\\\' ''\nn=1 22 \nt=x\\n\\0\\z\\\\'\n";
        let file = TextFile::parse(bytes, "X").unwrap();
        assert_eq!(
            file.texts("a").unwrap().unwrap(),
            [b"b'c".to_vec(), b"\\".to_vec(), Vec::new()]
        );
        assert_eq!(file.numbers("n").unwrap().unwrap(), [1, 22]);
        assert_eq!(file.text("t").unwrap(), b"x\n\0\x1a\\'");
        assert!(file.number("t").is_err() && file.texts("n").is_err() && file.get("z").is_err());
    }

    #[test]
    fn what_is_cut_off_is_damage() {
        for bytes in [&b""[..], b"TYPE=Y\n", b"TYPE=X", b"TYPE=X\na=1", b"TYPE=X\nnone\n"] {
            assert!(TextFile::parse(bytes, "X").is_err(), "{}", bytes.escape_ascii());
        }
        for value in [&b"\\"[..], b"a\\q"] {
            assert!(unescaped(value).is_err());
        }
        for value in [&b"'a"[..], b"a'", b"'a\\'"] {
            assert!(texts(value, "a").is_err());
        }
    }

    /// A view as MariaDB 10.11 wrote it.
    const VIEW: &[u8] = b"TYPE=VIEW\nquery=select \\'x;y\\' AS `it\\'s` from `d`.`t`\nmd5=0\n\
        updatable=0\nalgorithm=1\ndefiner_user=o\\'d\ndefiner_host=10.%\nsuid=0\n\
        with_check_option=2\ntimestamp=0001795333106039394\ncreate-version=2\n\
        source=SELECT 1\nclient_cs_name=utf8mb4\nconnection_cl_name=utf8mb4_general_ci\n\
        view_body_utf8=select 1\nmariadb-version=101119\n";

    #[test]
    fn views_whole_and_cut_off() {
        use crate::schema::Family;
        let view = ViewDefinition::parse(VIEW, Family::MariaDb).unwrap();
        assert_eq!(view.query, "select 'x;y' AS `it's` from `d`.`t`");
        assert_eq!(view.columns.as_deref(), Some(&["it's".to_owned()][..]));
        assert_eq!((view.algorithm, view.definer_user.as_str()), (ViewAlgorithm::Merge, "o'd"));
        assert_eq!(view.check_option, Some(CheckOption::Cascaded));
        let behind = |line: &[u8]| {
            let at = VIEW.windows(line.len()).position(|bytes| bytes == line).unwrap();
            at + line.len()
        };
        // MySQL 5.0 wrote only the lines up to this one.
        let of_5_0 = behind(b"source=SELECT 1\n");
        for end in (0..behind(b"view_body_utf8=select 1\n")).filter(|&end| end != of_5_0) {
            assert!(ViewDefinition::parse(&VIEW[..end], Family::MariaDb).is_err(), "{end}");
        }
        for end in 0..VIEW.len() {
            let _ = TriggersFile::parse(&[b"TYPE=TRIGGERS\ntriggers=", &VIEW[end..]].concat());
            let _ = trigger_table(&[b"TYPE=TRIGGERNAME\ntrigger_table=", &VIEW[end..]].concat());
        }
    }
}
