//! Errors of the parser: which kind, and the place in the file.

use std::borrow::Cow;
use std::fmt;

use crate::{PageNo, Remedy, SpaceId};

/// The result of reading bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in a tablespace; parts that are not known are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Tablespace id.
    pub space: Option<SpaceId>,
    /// Page number.
    pub page: Option<PageNo>,
    /// Byte offset in the page.
    pub offset: Option<u32>,
    /// `heap_no` of the record.
    pub heap_no: Option<u16>,
    /// Name of the column.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.space.map(|space| format!("space {space}")),
            self.page.map(|page| format!("page {page}")),
            self.heap_no.map(|heap_no| format!("record heap_no {heap_no}")),
            self.offset.map(|offset| format!("offset {offset}")),
            self.column.as_ref().map(|column| format!("column `{column}`")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// The error of reading bytes: one pointer, because the loops over records and columns return results for
/// each, and errors of several words would push those results out of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Cause>);

/// The reason why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Bytes that contradict the format: torn, damaged, or not of the kind that the caller named.
    Corrupt {
        /// The contradiction, with its figures.
        what: Cow<'static, str>,
        /// The place of the damage.
        place: Place,
    },
    /// Sound bytes of a kind that this version does not read; refused rather than guessed.
    Unsupported {
        /// The feature, by the name that its users know.
        what: Cow<'static, str>,
        /// An alternative for the user.
        remedy: Remedy,
    },
    /// An encrypted file or page whose key is not known.
    NoKey {
        /// The key, by its name.
        what: Cow<'static, str>,
        /// How to give the key.
        remedy: Remedy,
    },
    /// A key that does not decrypt what it should.
    WrongKey {
        /// The key, by its name, and what shows that it is wrong.
        what: Cow<'static, str>,
        /// The place of what was decrypted.
        place: Place,
        /// How to give the right key.
        remedy: Remedy,
    },
    /// A table definition that cannot be understood or does not fit the file.
    Schema(Cow<'static, str>),
}

impl Error {
    /// Creates an error for damage, with no place yet; [`Error::at_page`] and the other `at_`
    /// methods add what is known.
    #[cold]
    pub fn corrupt(what: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Cause::Corrupt { what: what.into(), place: Place::default() })
    }

    /// Creates a refusal from the feature's name and the remedy.
    #[cold]
    pub fn unsupported(what: impl Into<Cow<'static, str>>, remedy: impl Into<Remedy>) -> Error {
        Error::new(Cause::Unsupported { what: what.into(), remedy: remedy.into() })
    }

    /// Creates an error for a key that is not known.
    #[cold]
    pub fn no_key(what: impl Into<Cow<'static, str>>, remedy: Remedy) -> Error {
        Error::new(Cause::NoKey { what: what.into(), remedy })
    }

    /// Creates an error for a key that is wrong.
    #[cold]
    pub fn wrong_key(what: impl Into<Cow<'static, str>>, remedy: Remedy) -> Error {
        Error::new(Cause::WrongKey { what: what.into(), place: Place::default(), remedy })
    }

    /// Creates an error for a table definition that cannot be used.
    #[cold]
    pub fn schema(what: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Cause::Schema(what.into()))
    }

    /// Creates an error from its reason.
    #[cold]
    pub fn new(cause: Cause) -> Error {
        Error(Box::new(cause))
    }

    /// Returns the reason.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// Puts a text before the message of damage; other errors stay as they are.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl fmt::Display) -> Error {
        if let Cause::Corrupt { what, .. } = &mut *self.0 {
            *what = format!("{prefix}: {what}").into();
        }
        self
    }

    /// Returns the remedy, for errors that have one.
    pub fn remedy(&self) -> Option<&Remedy> {
        match self.cause() {
            Cause::Unsupported { remedy, .. }
            | Cause::NoKey { remedy, .. }
            | Cause::WrongKey { remedy, .. } => Some(remedy),
            Cause::Corrupt { .. } | Cause::Schema(_) => None,
        }
    }

    /// Returns the message with its place, without the remedy.
    pub fn what(&self) -> impl fmt::Display + '_ {
        WithoutRemedy(self)
    }

    /// Returns whether the error is damage, the one kind that a scan may skip (`--on-corrupt
    /// skip`).
    pub fn is_corrupt(&self) -> bool {
        matches!(self.cause(), Cause::Corrupt { .. })
    }

    /// Adds the page, unless the error has one already (the inner place is nearer).
    #[must_use]
    pub fn at_page(self, space: SpaceId, page: PageNo) -> Error {
        self.at(|place| {
            place.space.get_or_insert(space);
            place.page.get_or_insert(page);
        })
    }

    /// Adds the byte offset in the page, unless the error has one.
    #[must_use]
    pub fn at_offset(self, offset: u32) -> Error {
        self.at(|place| {
            place.offset.get_or_insert(offset);
        })
    }

    /// Adds the record, unless the error has one.
    #[must_use]
    pub fn at_record(self, heap_no: u16) -> Error {
        self.at(|place| {
            place.heap_no.get_or_insert(heap_no);
        })
    }

    /// Adds the column, unless the error has one.
    #[must_use]
    pub fn at_column(self, column: &str) -> Error {
        self.at(|place| {
            place.column.get_or_insert_with(|| column.to_owned());
        })
    }

    fn at(mut self, fill: impl FnOnce(&mut Place)) -> Error {
        if let Cause::Corrupt { place, .. } | Cause::WrongKey { place, .. } = &mut *self.0 {
            fill(place);
        }
        self
    }
}

/// An error's message without its remedy.
struct WithoutRemedy<'e>(&'e Error);

impl fmt::Display for WithoutRemedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.cause() {
            Cause::Corrupt { what, place } | Cause::WrongKey { what, place, .. } => {
                f.write_str(what)?;
                if *place == Place::default() { Ok(()) } else { write!(f, " ({place})") }
            }
            Cause::Unsupported { what, .. } => write!(f, "{what} is not supported"),
            Cause::NoKey { what, .. } | Cause::Schema(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WithoutRemedy(self).fmt(f)?;
        match self.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
