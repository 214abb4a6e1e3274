//! Parts of statements as the servers write them: quoted names and texts, definers.

use innoscan_engine::{Error, Result};
use innoscan_format::charset::Charset;
use innoscan_format::schema::Family;

/// The quoting in a session's statements (`sql_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quoting {
    /// `ANSI_QUOTES`: names are in double quotes.
    pub has_ansi_quotes: bool,
    /// `NO_BACKSLASH_ESCAPES`: in texts a backslash is an ordinary character.
    pub has_no_escapes: bool,
    /// `ORACLE`: statements have PL/SQL's form.
    pub is_oracle: bool,
}

impl Quoting {
    pub fn of_mode(sql_mode: &str, family: Family) -> Quoting {
        let has = |mode: &str| sql_mode.split(',').any(|member| member == mode);
        Quoting {
            has_ansi_quotes: has("ANSI_QUOTES"),
            has_no_escapes: has("NO_BACKSLASH_ESCAPES"),
            is_oracle: has("ORACLE") && family == Family::MariaDb,
        }
    }

    /// A quoted name.
    pub fn name(self, name: &str) -> String {
        let quote = if self.has_ansi_quotes { "\"" } else { "`" };
        format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
    }

    /// A quoted text, escaped like `append_unescaped` (sql/unireg.cc, MySQL 5.7;
    /// sql/sql_show.cc, MariaDB 10.11), except that a backslash that is an ordinary character is
    /// unchanged.
    pub fn text(self, text: &str) -> String {
        let mut quoted = String::from("'");
        for c in text.chars() {
            match c {
                '\'' => quoted.push_str("''"),
                '\\' if !self.has_no_escapes => quoted.push_str("\\\\"),
                '\n' if !self.has_no_escapes => quoted.push_str("\\n"),
                '\r' if !self.has_no_escapes => quoted.push_str("\\r"),
                '\0' if !self.has_no_escapes => quoted.push_str("\\0"),
                c => quoted.push(c),
            }
        }
        quoted.push('\'');
        quoted
    }

    /// The clause `DEFINER=...` of an account. A definer without a host is a role of MariaDB; one
    /// without a name belongs to objects that were created under `--skip-grant-tables`.
    pub fn definer(self, user: &str, host: &str, family: Family) -> String {
        match (host, family) {
            ("", Family::MariaDb) => format!("DEFINER={}", self.name(user)),
            _ => format!("DEFINER={}@{}", self.name(user), self.name(host)),
        }
    }
}

/// Splits an account of the form `user@host`, whose host has no `@`.
pub(super) fn split_account(account: &str) -> (&str, &str) {
    account.rsplit_once('@').unwrap_or((account, ""))
}

/// A value in a charset as text; an error where some bytes are invalid in the charset.
pub(super) fn decoded(bytes: Option<&[u8]>, charset: Charset, what: &str) -> Result<String> {
    let mut text = Vec::new();
    let lost = charset.decode(bytes.unwrap_or_default(), &mut text);
    match String::from_utf8(text) {
        Ok(text) if lost == 0 => Ok(text),
        _ => Err(Error::refused(
            format!("its {what} has bytes that are no text in {}", charset.name()),
            "make it again with such bytes written as x'...'",
        )),
    }
}
