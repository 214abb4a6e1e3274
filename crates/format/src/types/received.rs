//! Conversion of values received from a server to the bytes that a record stores.
//!
//! A server sends each value as text (the text protocol). A session whose results are in charset
//! `binary` and whose time zone is +00:00 receives every byte of it, if the column is selected by
//! [`ColumnType::received_as`].

use super::{Codec, ColumnType};
use crate::types::codec::Kind;
use crate::types::encode::write_int;
use crate::{Error, Result};

/// The expression to select for a column, so that no part of its values is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedAs {
    /// The column itself.
    Itself,
    /// The column cast to an unsigned integer: a member's index, or the bits of a set.
    Number,
    /// The column `* 1e0`: the shortest text of the same `DOUBLE`. A `FLOAT` itself is sent with
    /// six digits, a `FLOAT(M,D)` with `D` decimals.
    Double,
}

impl ReceivedAs {
    /// Returns the SQL expression, for a column's quoted name.
    pub fn expression(self, quoted: &str) -> String {
        match self {
            ReceivedAs::Itself => quoted.to_owned(),
            // `+ 0` would be signed, or a DOUBLE: too few bits for a SET of 64 members.
            ReceivedAs::Number => format!("CAST({quoted} AS UNSIGNED)"),
            ReceivedAs::Double => format!("{quoted} * 1e0"),
        }
    }
}

impl ColumnType {
    /// Returns the expression to select for a column of this type; `None` when the server cannot
    /// send the stored value (MySQL's JSON is sent as text).
    pub fn received_as(&self) -> Option<ReceivedAs> {
        match self {
            ColumnType::Json => None,
            ColumnType::Enum { .. } | ColumnType::Set { .. } => Some(ReceivedAs::Number),
            ColumnType::Float(_) | ColumnType::Double(_) => Some(ReceivedAs::Double),
            _ => Some(ReceivedAs::Itself),
        }
    }
}

impl Codec {
    /// Appends the stored form of a value that a server sent for [`ColumnType::received_as`]. A
    /// `CHAR` arrives without its padding spaces, and none are added.
    pub fn encode_received(&self, sent: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match &self.kind {
            Kind::Char { .. }
            | Kind::Text { .. }
            | Kind::Binary { .. }
            | Kind::Bytes
            | Kind::Bit { .. }
            | Kind::Geometry
            | Kind::Vector => {
                out.extend_from_slice(sent);
                Ok(())
            }
            Kind::Enum(members) | Kind::Set(members) => {
                let text = std::str::from_utf8(sent).unwrap_or_default();
                let number: Option<i128> = text.parse().ok();
                let written =
                    number.and_then(|number| write_int(number, members.size_bytes(), false, out));
                written.ok_or_else(|| not_a_value(text))
            }
            _ => match std::str::from_utf8(sent) {
                Ok(text) => self.encode(text, out),
                Err(_) => Err(not_a_value(&String::from_utf8_lossy(sent))),
            },
        }
    }
}

#[cold]
fn not_a_value(text: &str) -> Error {
    Error::schema(format!("the server sent `{text}`, which is not a value of this column's type"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::CollationId;
    use crate::schema::{Family, ServerVersion};
    use crate::types::RealFormat;

    #[test]
    fn numbers_stand_for_members_and_doubles_for_floats() {
        let server = ServerVersion { family: Family::MariaDb, number: 101_100 };
        let stored = |ty: &ColumnType, sent: &str| {
            let mut stored = Vec::new();
            let codec = Codec::new(ty, server).unwrap();
            codec.encode_received(sent.as_bytes(), &mut stored).map(|()| stored)
        };
        let members = vec![b"a".to_vec(), b"1".to_vec()];
        let collation = CollationId(8);
        let one_of = ColumnType::Enum { members: members.clone(), collation };
        assert_eq!(stored(&one_of, "1").unwrap(), [1]);
        assert!(stored(&one_of, "256").is_err());
        let set = ColumnType::Set { members, collation };
        assert_eq!(stored(&set, "3").unwrap(), [3]);
        let real = RealFormat { digits: None, unsigned: false, zerofill: false };
        let float = stored(&ColumnType::Float(real), "0.10000000149011612").unwrap();
        assert_eq!(float, 0.1_f32.to_le_bytes());
        assert_eq!(stored(&ColumnType::Double(real), "-0").unwrap(), (-0.0_f64).to_le_bytes());
        let char = ColumnType::Char { chars: 5, collation };
        assert_eq!(stored(&char, "a").unwrap(), b"a");
        assert_eq!(ColumnType::Json.received_as(), None);
    }
}
