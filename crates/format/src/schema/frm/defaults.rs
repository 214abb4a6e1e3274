//! Defaults: a row of the server in which every column has its default.
//!
//! The row begins with NULL bits, one for each nullable column in order, after a bit that marks the
//! row as not deleted (not in packed rows). A `BIT` column of MyISAM adds its odd bits after its
//! NULL bit. MySQL 5.7 counts virtual columns after all others.
//!
//! Values have the form of the server's records; [`stored_form`] converts them to InnoDB's, and the
//! column's [`Codec`] prints them.

use super::columns::{RawColumn, has_default_expressions};
use super::expressions::Expressions;
use super::image::Image;
use crate::charset::Charset;
use crate::schema::{ColumnDef, ColumnDefault, Family, ServerVersion};
use crate::server_record;
use crate::types::{Class, Codec, ColumnType};
use crate::{Error, Result, bytes};

/// The position of each column's first bit, counted from the row's first.
pub(super) struct Positions {
    first_bits: Vec<usize>,
}

/// Calculates the positions of the columns' bits.
pub(super) fn positions(image: &Image, raw: &[RawColumn], of: &Expressions) -> Positions {
    let mut first_bits = vec![0; raw.len()];
    let mut bit = usize::from(image.has_deleted_bit());
    let virtual_last = image.server.family == Family::MySql;
    let passes: &[bool] = if virtual_last { &[false, true] } else { &[false] };
    for &wants_virtual in passes {
        for (place, (column, first_bit)) in raw.iter().zip(&mut first_bits).enumerate() {
            if virtual_last && of.is_virtual(place) != wants_virtual {
                continue;
            }
            *first_bit = bit;
            bit += usize::from(column.nullable()) + usize::from(column.uneven_bits());
        }
    }
    Positions { first_bits }
}

impl Positions {
    /// Returns a column's default from the row.
    pub(super) fn default_of(
        &self,
        place: usize,
        raw: &RawColumn,
        column: &ColumnDef,
        image: &Image,
    ) -> Result<ColumnDefault> {
        let row = image.default_row;
        let first_bit = self.first_bits.get(place).copied().unwrap_or(0);
        if raw.nullable() && bits(row, first_bit, 1)? == 1 {
            return Ok(ColumnDefault::Null);
        }
        let at = (raw.row_at as usize)
            .checked_sub(1)
            .ok_or_else(|| Error::corrupt("a column's place in the default row is 0"))?;
        if let &ColumnType::Bit { bits: width } = &column.ty {
            let odd = raw.uneven_bits();
            let odd_at = first_bit + usize::from(raw.nullable());
            let whole = usize::from(width - odd).div_ceil(8);
            let mut value = bits(row, odd_at, odd)?;
            for byte in bytes::slice(row, at, whole)? {
                value = value << 8 | u64::from(*byte);
            }
            return Ok(ColumnDefault::Verbatim(format!("b'{value:b}'")));
        }
        let Some(len) = row_len(&column.ty, raw.length) else {
            return Ok(ColumnDefault::None);
        };
        let value = bytes::slice(row, at, len)?;
        let mut stored = stored_form(&column.ty, raw.length, value)?;
        // A header byte marks the default as not compressed.
        if raw.is_compressed() && !stored.is_empty() {
            stored.remove(0);
        }
        print(&column.ty, &stored, image.shown_by)
    }
}

/// Returns `n` bits, at most 8, from position `first` on; the first is the lowest.
fn bits(row: &[u8], first: usize, n: u8) -> Result<u64> {
    let mut value = 0;
    for step in (0..usize::from(n)).rev() {
        let bit = first + step;
        value = value << 1 | u64::from(bytes::u8_at(row, bit / 8)? >> (bit % 8) & 1);
    }
    Ok(value)
}

/// Returns the bytes of the column in the server's row; `None` for types stored elsewhere.
pub(super) fn row_len(ty: &ColumnType, length: u16) -> Option<usize> {
    Some(match ty {
        ColumnType::Bit { bits } => usize::from(*bits).div_ceil(8),
        ColumnType::Char { .. } | ColumnType::Binary { .. } => usize::from(length),
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } | ColumnType::Vector { .. } => {
            usize::from(length) + length_bytes(length)
        }
        ColumnType::Text { .. }
        | ColumnType::Blob { .. }
        | ColumnType::Json
        | ColumnType::Geometry(_) => return None,
        _ => return server_record::field_len(ty),
    })
}

/// Returns the bytes of a `VARCHAR`'s length.
fn length_bytes(length: u16) -> usize {
    if length < 256 { 1 } else { 2 }
}

/// Returns the value in the form of an InnoDB record.
fn stored_form(ty: &ColumnType, length: u16, row: &[u8]) -> Result<Vec<u8>> {
    if let Some(signed) = server_record::is_reversed(ty) {
        return Ok(server_record::reversed(row, signed));
    }
    Ok(match ty {
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } | ColumnType::Vector { .. } => {
            let len = server_record::length(row, length_bytes(length))?;
            bytes::slice(row, length_bytes(length), len)?.to_vec()
        }
        _ => row.to_vec(),
    })
}

/// Returns the text that `SHOW CREATE TABLE` prints after `DEFAULT`.
fn print(ty: &ColumnType, stored: &[u8], server: ServerVersion) -> Result<ColumnDefault> {
    let codec = Codec::new(ty, server)?;
    let mut value = Vec::new();
    codec.write_text(stored, &mut value)?;
    let class = codec.class();
    if class == Class::Number && has_default_expressions(server) {
        return Ok(ColumnDefault::Verbatim(String::from_utf8_lossy(&value).into_owned()));
    }
    if codec.charset() == Charset::Binary {
        // Servers print the bytes unchanged; where they are no valid text, the statement is no
        // valid SQL either.
        return Ok(match String::from_utf8(value) {
            Ok(value) => ColumnDefault::Quoted(value),
            Err(error) => ColumnDefault::Verbatim(hex_literal(error.as_bytes())),
        });
    }
    let mut decoded = Vec::new();
    codec.charset().decode(&value, &mut decoded);
    // The server has it in utf8mb3, which lacks characters above the BMP.
    let value = String::from_utf8_lossy(&decoded)
        .chars()
        .map(|letter| if u32::from(letter) > 0xffff { '?' } else { letter })
        .collect();
    Ok(ColumnDefault::Quoted(value))
}

fn hex_literal(value: &[u8]) -> String {
    let mut literal = String::from("x'");
    for byte in value {
        literal.push_str(&format!("{byte:02x}"));
    }
    literal.push('\'');
    literal
}

/// Functions that MariaDB treats as conditions and therefore prints in parentheses (the
/// `Item_bool_func`s of sql/item_jsonfunc.h, MariaDB 10.11).
const CONDITIONS: [&str; 6] = [
    "json_contains",
    "json_contains_path",
    "json_equals",
    "json_exists",
    "json_overlaps",
    "json_valid",
];

/// Returns an expression as printed after `DEFAULT`: in parentheses unless it is a literal, a
/// column or a function call (`need_parentheses_in_default`, sql/item*.h, MariaDB 10.11).
pub(super) fn parenthesised(expression: &str, server: ServerVersion) -> String {
    if is_primary(expression, server.number >= 100_300) {
        expression.to_owned()
    } else {
        format!("({expression})")
    }
}

fn is_primary(expression: &str, minds_conditions: bool) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let text = expression.as_bytes();
    let word = text.iter().take_while(|byte| is_word(byte)).count();
    let (name, rest) = expression.split_at(word);
    match rest.as_bytes().first() {
        None => true,
        Some(b'(') => {
            let name = name.to_ascii_lowercase();
            closes_at_end(rest)
                && !name.is_empty()
                && name != "cast"
                && !(minds_conditions && CONDITIONS.contains(&name.as_str()))
        }
        // A column, a string, perhaps after its charset; a number below zero.
        Some(b'\'' | b'`') => {
            (name.is_empty() || name.starts_with('_') || name.len() == 1) && closes_at_end(rest)
        }
        Some(b'-') if name.is_empty() => {
            text.iter().skip(1).all(is_word) && text.get(1).is_some_and(u8::is_ascii_digit)
        }
        Some(b' ') => {
            matches!(name, "DATE" | "TIME" | "TIMESTAMP") || is_charset_literal(name, rest)
        }
        _ => false,
    }
}

/// Returns whether the text is a string with an introducer: `_utf8mb4 'text'`.
fn is_charset_literal(name: &str, rest: &str) -> bool {
    name.starts_with('_') && rest.trim_start().starts_with('\'') && closes_at_end(rest.trim_start())
}

/// Returns whether the parenthesis or quote at the first byte is closed at the last.
fn closes_at_end(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_last = at + letter.len_utf8() == text.len();
        match (quote, letter) {
            (Some(_), '\\') => {
                letters.next();
                continue;
            }
            (Some(open), _) if open == letter => {
                if letters.peek().is_some_and(|(_, next)| *next == open) {
                    letters.next();
                    continue;
                }
                quote = None;
            }
            (Some(_), _) => continue,
            (None, '\'' | '`' | '"') => {
                quote = Some(letter);
                continue;
            }
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth == 0 && quote.is_none() {
            return is_last;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed on MariaDB 10.11.
    #[test]
    fn which_defaults_are_in_parentheses() {
        let server = ServerVersion::from_number(101_119);
        for bare in [
            "'abc'",
            "-5",
            "1.5",
            "1e100",
            "NULL",
            "`a`",
            "uuid()",
            "current_timestamp(3)",
            "concat('a','b')",
            "nextval(`d`.`s`)",
            "octet_length('x(''y)')",
            "if(1,2,3)",
            "_latin1'a'",
        ] {
            assert_eq!(parenthesised(bare, server), bare);
        }
        for other in [
            "1 + 1",
            "`a` + 1",
            "cast(5 as char charset utf8mb4)",
            "case when 1 then 2 else 3 end",
            "json_valid(`a`)",
            "`a` is null",
            "abs(1) + abs(2)",
            "1 in (1,2)",
            "_latin1'a' collate latin1_bin",
            "'a' like 'b'",
            "~1",
        ] {
            assert_eq!(parenthesised(other, server), format!("({other})"));
        }
    }

    #[test]
    fn bits_of_a_row() {
        let row = [0b1010_0000, 0b0000_0011];
        assert_eq!(bits(&row, 5, 1), Ok(1));
        assert_eq!(bits(&row, 6, 1), Ok(0));
        assert_eq!(bits(&row, 7, 4), Ok(0b0111));
        assert!(bits(&row, 15, 2).is_err());
    }
}
