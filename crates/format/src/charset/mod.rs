//! Character sets and collations, by the servers' numbers.
//!
//! A file contains only a collation's number for a column's charset. [`CollationId`] has its name
//! and its [`Charset`]; the charset has the number of bytes per character, the padding of a `CHAR`,
//! and the conversion from and to UTF-8.
//!
//! # Bytes that are not text
//!
//! Servers keep bytes that have no meaning in a charset (old versions, `latin1` columns that hold
//! UTF-8, `LOAD DATA` with a wrong charset). The raw outputs (`SELECT ... INTO OUTFILE`, SQL dumps)
//! never decode, so they lose nothing. [`Charset::decode`] must produce valid UTF-8: it writes
//! U+FFFD for each byte or character without a meaning and returns their number, so that a caller
//! can report the loss.

mod collate;
mod collations;
mod decode;
mod encode;
mod length;
mod multi_byte;
mod runs;
mod single_byte;

use std::borrow::Cow;

pub use self::collate::Collator;
use self::collations::COLLATIONS;
use crate::server::{Family, ServerVersion};
use crate::{Error, Result};

/// A collation number, which `.frm`, SDI and the server's own tables store as a column's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

/// A character set: the meaning of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the servers' own names")]
pub enum Charset {
    Armscii8,
    Ascii,
    Big5,
    Binary,
    Cp1250,
    Cp1251,
    Cp1256,
    Cp1257,
    Cp850,
    Cp852,
    Cp866,
    Cp932,
    Dec8,
    EucJpMs,
    EucKr,
    Gb18030,
    Gb2312,
    Gbk,
    Geostd8,
    Greek,
    Hebrew,
    Hp8,
    Keybcs2,
    Koi8R,
    Koi8U,
    Latin1,
    Latin2,
    Latin5,
    Latin7,
    MacCe,
    MacRoman,
    Sjis,
    Swe7,
    Tis620,
    Ucs2,
    Ujis,
    Utf16,
    Utf16Le,
    Utf32,
    Utf8Mb3,
    Utf8Mb4,
}

use Charset::*;

/// Charsets as `(charset, name, minimum and maximum bytes of a character, number of the default
/// collation)`.
const CHARSETS: &[(Charset, &str, u8, u8, u16)] = &[
    (Armscii8, "armscii8", 1, 1, 32),
    (Ascii, "ascii", 1, 1, 11),
    (Big5, "big5", 1, 2, 1),
    (Binary, "binary", 1, 1, 63),
    (Cp1250, "cp1250", 1, 1, 26),
    (Cp1251, "cp1251", 1, 1, 51),
    (Cp1256, "cp1256", 1, 1, 57),
    (Cp1257, "cp1257", 1, 1, 59),
    (Cp850, "cp850", 1, 1, 4),
    (Cp852, "cp852", 1, 1, 40),
    (Cp866, "cp866", 1, 1, 36),
    (Cp932, "cp932", 1, 2, 95),
    (Dec8, "dec8", 1, 1, 3),
    (EucJpMs, "eucjpms", 1, 3, 97),
    (EucKr, "euckr", 1, 2, 19),
    (Gb18030, "gb18030", 1, 4, 248),
    (Gb2312, "gb2312", 1, 2, 24),
    (Gbk, "gbk", 1, 2, 28),
    (Geostd8, "geostd8", 1, 1, 92),
    (Greek, "greek", 1, 1, 25),
    (Hebrew, "hebrew", 1, 1, 16),
    (Hp8, "hp8", 1, 1, 6),
    (Keybcs2, "keybcs2", 1, 1, 37),
    (Koi8R, "koi8r", 1, 1, 7),
    (Koi8U, "koi8u", 1, 1, 22),
    (Latin1, "latin1", 1, 1, 8),
    (Latin2, "latin2", 1, 1, 9),
    (Latin5, "latin5", 1, 1, 30),
    (Latin7, "latin7", 1, 1, 41),
    (MacCe, "macce", 1, 1, 38),
    (MacRoman, "macroman", 1, 1, 39),
    (Sjis, "sjis", 1, 2, 13),
    (Swe7, "swe7", 1, 1, 10),
    (Tis620, "tis620", 1, 1, 18),
    (Ucs2, "ucs2", 2, 2, 35),
    (Ujis, "ujis", 1, 3, 12),
    (Utf16, "utf16", 2, 4, 54),
    (Utf16Le, "utf16le", 2, 4, 56),
    (Utf32, "utf32", 4, 4, 60),
    (Utf8Mb3, "utf8mb3", 1, 3, 33),
    (Utf8Mb4, "utf8mb4", 1, 4, 45),
];

impl Charset {
    fn entry(self) -> &'static (Charset, &'static str, u8, u8, u16) {
        const UNLISTED: &(Charset, &str, u8, u8, u16) = &(Binary, "binary", 1, 1, 63);
        // The table is in the order of the enum; a test checks that.
        CHARSETS.get(self as usize).unwrap_or(UNLISTED)
    }

    /// Returns the charset's newest name: `utf8mb3`, not `utf8`.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Returns the name that a server prints: before MySQL 8.0.28 and MariaDB 10.6 `utf8mb3` was
    /// `utf8`.
    pub fn name_in(self, server: ServerVersion) -> &'static str {
        let first_new = match server.family {
            Family::MySql => 80_028,
            Family::MariaDb => 100_600,
        };
        if self == Utf8Mb3 && server.number < first_new { "utf8" } else { self.name() }
    }

    /// Finds a charset by any of its names, in any case; `utf8` is `utf8mb3`.
    pub fn by_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Utf8Mb3);
        }
        CHARSETS.iter().find(|entry| entry.1.eq_ignore_ascii_case(name)).map(|entry| entry.0)
    }

    /// Returns the minimum bytes of a character.
    pub fn min_len(self) -> usize {
        usize::from(self.entry().2)
    }

    /// Returns the maximum bytes of a character.
    pub fn max_len(self) -> usize {
        usize::from(self.entry().3)
    }

    /// Returns the collation that a server uses for this charset by default. MySQL 8.0.1 changed
    /// that of utf8mb4, MariaDB 11.5 those of all Unicode charsets except utf16le
    /// (`character_set_collations`).
    pub fn default_collation(self, server: ServerVersion) -> CollationId {
        let changed = match (server.family, self) {
            (Family::MySql, Utf8Mb4) if server.number >= 80_001 => Some(255),
            (Family::MariaDb, _) if server.number >= 110_500 => match self {
                Utf8Mb3 => Some(2048),
                Utf8Mb4 => Some(2304),
                Ucs2 => Some(2560),
                Utf16 => Some(2816),
                Utf32 => Some(3072),
                _ => None,
            },
            _ => None,
        };
        CollationId(changed.unwrap_or(self.entry().4))
    }

    /// Returns the bytes of a space, which pads a `CHAR`.
    pub fn space(self) -> &'static [u8] {
        match self {
            Ucs2 | Utf16 => b"\0 ",
            Utf16Le => b" \0",
            Utf32 => b"\0\0\0 ",
            _ => b" ",
        }
    }

    /// Returns the bytes of a comma, which joins the members of a `SET`.
    pub fn comma(self) -> &'static [u8] {
        match self {
            Ucs2 | Utf16 => b"\0,",
            Utf16Le => b",\0",
            Utf32 => b"\0\0\0,",
            _ => b",",
        }
    }

    /// Returns the text without trailing spaces, as a `CHAR` prints. `binary` has no padding.
    #[inline]
    pub fn trim_end(self, text: &[u8]) -> &[u8] {
        let mut text = text;
        match self {
            Binary => {}
            Ucs2 | Utf16 | Utf16Le | Utf32 => {
                while let Some(shorter) = text.strip_suffix(self.space()) {
                    text = shorter;
                }
            }
            _ => {
                // Eight spaces at a time.
                while let Some(shorter) = text.strip_suffix(b"        ") {
                    text = shorter;
                }
                while let Some(shorter) = text.strip_suffix(b" ") {
                    text = shorter;
                }
            }
        }
        text
    }
}

impl CollationId {
    /// The collation `binary`: bytes without a charset.
    pub const BINARY: CollationId = CollationId(63);

    /// Returns the charset of the collation.
    ///
    /// # Errors
    /// When no known server has a collation of this number.
    pub fn charset(self) -> Result<Charset> {
        self.parts().map(|(charset, _)| charset).ok_or_else(|| {
            Error::schema(format!("collation number {} is not one of any known server", self.0))
        })
    }

    /// Returns the charset, and the rest of the collation's name after it.
    pub(crate) fn parts(self) -> Option<(Charset, Cow<'static, str>)> {
        if let Some((charset, suffix)) = self.uca1400() {
            return Some((charset, Cow::Owned(suffix)));
        }
        let place = COLLATIONS.binary_search_by_key(&self.0, |entry| entry.0).ok()?;
        let &(_, charset, suffix) = COLLATIONS.get(place)?;
        Some((charset, Cow::Borrowed(suffix)))
    }

    /// Decodes one of MariaDB's UCA 14.0.0 collations: `1ccctttttPST` in binary, where c is the
    /// charset, t the tailoring, P `NO PAD`, S and T the secondary and tertiary levels
    /// (ctype-uca1400.h, MariaDB 10.11).
    fn uca1400(self) -> Option<(Charset, String)> {
        const TAILORINGS: [&str; 25] = [
            "",
            "_icelandic",
            "_latvian",
            "_romanian",
            "_slovenian",
            "_polish",
            "_estonian",
            "_spanish",
            "_swedish",
            "_turkish",
            "_czech",
            "_danish",
            "_lithuanian",
            "_slovak",
            "_spanish2",
            "_roman",
            "_persian",
            "_esperanto",
            "_hungarian",
            "_sinhala",
            "_german2",
            "?",
            "?",
            "_vietnamese",
            "_croatian",
        ];
        if !(2048..4096).contains(&self.0) {
            return None;
        }
        let charset = *[Utf8Mb3, Utf8Mb4, Ucs2, Utf16, Utf32].get(usize::from(self.0 >> 8 & 7))?;
        let tailoring =
            TAILORINGS.get(usize::from(self.0 >> 3 & 31)).filter(|name| **name != "?")?;
        let pad = if self.0 & 4 == 0 { "" } else { "_nopad" };
        let accents = if self.0 & 2 == 0 { "_ai" } else { "_as" };
        let case = if self.0 & 1 == 0 { "_ci" } else { "_cs" };
        Some((charset, format!("_uca1400{tailoring}{pad}{accents}{case}")))
    }

    /// Returns the name that a server prints. In MySQL before 8.0.30 and MariaDB before 10.6, names
    /// of utf8mb3 begin with `utf8_`; MariaDB marks the five Croatian ones that come from MySQL.
    pub fn name(self, server: ServerVersion) -> Option<String> {
        let (charset, suffix) = self.parts()?;
        let first_new = match server.family {
            Family::MySql => 80_030,
            Family::MariaDb => 100_600,
        };
        let old = charset == Utf8Mb3 && server.number < first_new;
        let charset_name = if old { "utf8" } else { charset.name() };
        let from_mysql = matches!(self.0, 122 | 149 | 181 | 213 | 245);
        if server.family == Family::MariaDb && from_mysql {
            return Some(format!("{charset_name}_croatian_mysql561_ci"));
        }
        Some(format!("{charset_name}{suffix}"))
    }

    /// Finds a collation by any of its names in servers of `family`, in any case.
    pub fn by_name(name: &str, family: Family) -> Option<CollationId> {
        let name = name.to_ascii_lowercase();
        let name = match name.strip_prefix("utf8_") {
            Some(rest) => format!("utf8mb3_{rest}"),
            None => name,
        };
        let newest = ServerVersion { family, number: u32::MAX };
        let listed = COLLATIONS.iter().map(|entry| entry.0);
        let own_first = match family {
            // MariaDB's own `utf8mb3_croatian_ci` is not MySQL's.
            Family::MariaDb => 2048..4096,
            Family::MySql => 0..0,
        };
        listed
            .chain(own_first)
            .map(CollationId)
            .find(|id| id.name(newest).is_some_and(|known| known == name))
    }

    /// Returns whether the collation is its charset's default on a server.
    pub fn is_default(self, server: ServerVersion) -> bool {
        self.charset().is_ok_and(|charset| charset.default_collation(server) == self)
    }
}

#[cfg(test)]
mod tests;
