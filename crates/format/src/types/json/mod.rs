//! MySQL's binary JSON, printed like the server.
//!
//! ```text
//! document   type, value                             (an empty document is `null`)
//! object     count, size, keys[count] (offset, length of 2), values[count] (type, offset or
//!            the value itself), key bytes, value bytes
//! array      count, size, values[count], value bytes
//! ```
//!
//! Counts, sizes and offsets take 2 bytes in a small container and 4 in a large one, and count from
//! the container's own start; all numbers are little-endian. Literals, and integers that fit, are
//! stored in place of the offset. Lengths of strings take 7 bits per byte. (json_binary.h and
//! json_binary.cc, MySQL 9.7; the text's form: `wrapper_to_string`, json_dom.cc.)
//!
//! Damaged bytes can make a container contain itself, or make many places share one value. Depth is
//! bounded by the server's own limit, and no document may print more values, or more characters of
//! strings, than it has bytes.

mod opaque;

use super::float;
use crate::server::ServerVersion;
use crate::value::Json;
use crate::{Error, Result, bytes};

/// `JSON_DOCUMENT_MAX_DEPTH`.
const MAX_DEPTH: u32 = 100;

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
const STRING: u8 = 12;
const OPAQUE: u8 = 15;

/// The differences between servers. Observed on 5.7.22, 8.0.12, 8.0.33 and 9.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// MySQL 8: a double without a fraction prints `.0`.
    doubles_show_a_point: bool,
    /// MySQL after 8.0.12, at the latest from 8.0.33: line breaks in base64 are escaped, as in any
    /// string.
    escapes_base64: bool,
    /// MySQL 9: a byte string of SQL type `VARCHAR` is a JSON string.
    varchar_is_string: bool,
}

impl Dialect {
    /// The dialect of the newest server.
    #[cfg(test)]
    pub(crate) const NEWEST: Dialect =
        Dialect { doubles_show_a_point: true, escapes_base64: true, varchar_is_string: true };

    pub(crate) fn for_server(server: ServerVersion) -> Dialect {
        Dialect {
            doubles_show_a_point: server.number >= 80_000,
            escapes_base64: server.number >= 80_013,
            varchar_is_string: server.number >= 90_000,
        }
    }
}

impl Json<'_> {
    /// Appends the document in utf8mb4, printed like the server for which the column's codec was
    /// created.
    pub fn write_text(&self, out: &mut Vec<u8>) -> Result<()> {
        write_text(self.stored, Dialect::for_server(self.server), out)
    }
}

/// Appends the document's text.
pub(crate) fn write_text(stored: &[u8], dialect: Dialect, out: &mut Vec<u8>) -> Result<()> {
    let Some((&kind, value)) = stored.split_first() else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    let allowance = Allowance { values: stored.len(), string_bytes: stored.len() };
    Writer { out, allowance, dialect }.write_value(kind, value, 0)
}

/// The remaining output that a document of its size may print.
struct Allowance {
    values: usize,
    string_bytes: usize,
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    allowance: Allowance,
    dialect: Dialect,
}

impl Writer<'_> {
    /// Prints the value at the beginning of `data`; the bytes after it belong to others.
    fn write_value(&mut self, kind: u8, data: &[u8], depth: u32) -> Result<()> {
        self.allowance.values =
            self.allowance.values.checked_sub(1).ok_or_else(overlapping_values)?;
        match kind {
            SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => {
                if depth >= MAX_DEPTH {
                    return Err(Error::corrupt(format!(
                        "a JSON document is more than {MAX_DEPTH} levels deep"
                    )));
                }
                let container = Container::parse(kind, data)?;
                if container.is_object {
                    self.write_object(&container, depth + 1)
                } else {
                    self.write_array(&container, depth + 1)
                }
            }
            LITERAL => {
                let text: &[u8] = match bytes::u8_at(data, 0)? {
                    0 => b"null",
                    1 => b"true",
                    2 => b"false",
                    other => {
                        return Err(Error::corrupt(format!("JSON literal {other} is unknown")));
                    }
                };
                self.out.extend_from_slice(text);
                Ok(())
            }
            INT16 => self.write_int(i16::from_le_bytes(bytes::array(data, 0)?)),
            INT32 => self.write_int(i32::from_le_bytes(bytes::array(data, 0)?)),
            INT64 => self.write_int(i64::from_le_bytes(bytes::array(data, 0)?)),
            UINT16 => self.write_int(u16::from_le_bytes(bytes::array(data, 0)?)),
            UINT32 => self.write_int(u32::from_le_bytes(bytes::array(data, 0)?)),
            UINT64 => self.write_int(u64::from_le_bytes(bytes::array(data, 0)?)),
            DOUBLE => {
                self.write_double(f64::from_le_bytes(bytes::array(data, 0)?));
                Ok(())
            }
            STRING => {
                let text = counted(data)?;
                self.write_string(text)
            }
            OPAQUE => {
                let field_type = bytes::u8_at(data, 0)?;
                let value = counted(data.get(1..).unwrap_or_default())?;
                self.spend(value.len())?;
                opaque::write(field_type, value, self.dialect, self.out)
            }
            _ => Err(Error::corrupt(format!("JSON value type {kind} is unknown"))),
        }
    }

    fn write_object(&mut self, object: &Container<'_>, depth: u32) -> Result<()> {
        self.out.push(b'{');
        for place in 0..object.count {
            if place > 0 {
                self.out.extend_from_slice(b", ");
            }
            self.write_string(object.key(place)?)?;
            self.out.extend_from_slice(b": ");
            let (kind, data) = object.value(place)?;
            self.write_value(kind, data, depth)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn write_array(&mut self, array: &Container<'_>, depth: u32) -> Result<()> {
        self.out.push(b'[');
        for place in 0..array.count {
            if place > 0 {
                self.out.extend_from_slice(b", ");
            }
            let (kind, data) = array.value(place)?;
            self.write_value(kind, data, depth)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn write_int(&mut self, number: impl itoa::Integer) -> Result<()> {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        Ok(())
    }

    /// Prints a number like a `DOUBLE` column, but in MySQL 8 distinct from an integer.
    fn write_double(&mut self, number: f64) {
        let start = self.out.len();
        if !number.is_finite() {
            self.out.push(b'0');
        } else {
            float::write_shortest(number, None, float::UNLIMITED_WIDTH, self.out);
        }
        let text = self.out.get(start..).unwrap_or_default();
        let whole = !text.iter().any(|byte| matches!(byte, b'.' | b'e'));
        if whole && self.dialect.doubles_show_a_point {
            self.out.extend_from_slice(b".0");
        }
    }

    fn write_string(&mut self, text: &[u8]) -> Result<()> {
        self.spend(text.len())?;
        write_quoted(text, self.out);
        Ok(())
    }

    fn spend(&mut self, string_bytes: usize) -> Result<()> {
        self.allowance.string_bytes =
            self.allowance.string_bytes.checked_sub(string_bytes).ok_or_else(overlapping_values)?;
        Ok(())
    }
}

#[cold]
fn overlapping_values() -> Error {
    Error::corrupt("the values of a JSON document lie over each other")
}

/// Appends a string in double quotes, with the minimum of JSON escapes (`double_quote`,
/// json_dom.cc).
fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(plain_len) =
        rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        let (plain, from_special) = rest.split_at(plain_len);
        out.extend_from_slice(plain);
        let Some((&special, after)) = from_special.split_first() else { break };
        match special {
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', special]),
            control => {
                let low = control & 15;
                let digit = if low < 10 { b'0' + low } else { b'a' - 10 + low };
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + (control >> 4), digit]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// An array or object.
struct Container<'a> {
    /// Bytes of the container, from its count to its end.
    data: &'a [u8],
    is_object: bool,
    /// Bytes of a count, size or offset: 2 or 4.
    word: usize,
    count: usize,
}

impl<'a> Container<'a> {
    fn parse(kind: u8, data: &'a [u8]) -> Result<Container<'a>> {
        let is_object = matches!(kind, SMALL_OBJECT | LARGE_OBJECT);
        let word = if matches!(kind, LARGE_OBJECT | LARGE_ARRAY) { 4 } else { 2 };
        let count = word_at(data, 0, word)?;
        let size = word_at(data, word, word)?;
        let container = Container { data: bytes::slice(data, 0, size)?, is_object, word, count };
        if container.header_size().is_none_or(|header| header > size) {
            return Err(Error::corrupt(format!(
                "{count} elements do not fit a JSON container of {size} bytes"
            )));
        }
        Ok(container)
    }

    fn key_entry_size(&self) -> usize {
        if self.is_object { self.word + 2 } else { 0 }
    }

    fn value_entry_size(&self) -> usize {
        self.word + 1
    }

    /// Returns the bytes of count, size, key entries and value entries.
    fn header_size(&self) -> Option<usize> {
        let entries = self.count.checked_mul(self.key_entry_size() + self.value_entry_size())?;
        entries.checked_add(2 * self.word)
    }

    fn key(&self, place: usize) -> Result<&'a [u8]> {
        let entry = 2 * self.word + place * self.key_entry_size();
        let offset = word_at(self.data, entry, self.word)?;
        let len = word_at(self.data, entry + self.word, 2)?;
        if self.header_size().is_some_and(|header| offset < header) {
            return Err(Error::corrupt("a JSON object's key lies in its header"));
        }
        bytes::slice(self.data, offset, len)
    }

    /// Returns the type of an element, and the bytes from its value on.
    fn value(&self, place: usize) -> Result<(u8, &'a [u8])> {
        let entries = 2 * self.word + self.count * self.key_entry_size();
        let entry = entries + place * self.value_entry_size();
        let kind = bytes::u8_at(self.data, entry)?;
        let inlined = match kind {
            LITERAL | INT16 | UINT16 => true,
            INT32 | UINT32 => self.word == 4,
            _ => false,
        };
        if inlined {
            return Ok((kind, bytes::slice(self.data, entry + 1, self.word)?));
        }
        let offset = word_at(self.data, entry + 1, self.word)?;
        if offset < entry + self.value_entry_size() {
            return Err(Error::corrupt("a JSON value lies before its own entry"));
        }
        let data = self.data.get(offset..).ok_or_else(|| {
            Error::corrupt(format!("a JSON value lies at {offset} of {} bytes", self.data.len()))
        })?;
        Ok((kind, data))
    }
}

/// Reads a little-endian number of 2 or 4 bytes.
fn word_at(data: &[u8], at: usize, word: usize) -> Result<usize> {
    Ok(if word == 2 {
        usize::from(u16::from_le_bytes(bytes::array(data, at)?))
    } else {
        u32::from_le_bytes(bytes::array(data, at)?) as usize
    })
}

/// Reads bytes preceded by their count, which takes seven bits per byte, low ones first, in at most
/// five bytes.
fn counted(data: &[u8]) -> Result<&[u8]> {
    let mut len = 0_u64;
    for (place, &byte) in data.iter().take(5).enumerate() {
        len |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            return bytes::slice(data, place + 1, len);
        }
    }
    Err(Error::corrupt("a JSON string's length has no end"))
}

#[cfg(test)]
mod tests;
