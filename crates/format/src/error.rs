//! What can be wrong with bytes, and where.

use std::borrow::Cow;
use std::fmt;

use crate::{PageNo, Remedy, SpaceId};

/// The result of reading bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a tablespace something was found; the parts not known are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The tablespace.
    pub space: Option<SpaceId>,
    /// The page.
    pub page: Option<PageNo>,
    /// Byte offset in the page.
    pub offset: Option<u32>,
    /// The record's `heap_no`.
    pub heap_no: Option<u16>,
    /// The column's name.
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

/// Why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes contradict the format: torn, damaged, or not what they were said to be.
    Corrupt {
        /// What contradicts what, with the figures.
        what: Cow<'static, str>,
        /// Where.
        place: Box<Place>,
    },
    /// Sound, but of a kind this version does not read; refused rather than guessed.
    Unsupported {
        /// The feature, by the name its users know.
        what: Cow<'static, str>,
        /// What can be done instead.
        remedy: Remedy,
    },
    /// A table definition that cannot be understood or does not fit the file.
    Schema(Cow<'static, str>),
}

impl Error {
    /// Damage, with no place yet; add what is known with [`Error::at_page`] and its kin.
    #[cold]
    pub fn corrupt(what: impl Into<Cow<'static, str>>) -> Error {
        Error::Corrupt { what: what.into(), place: Box::default() }
    }

    /// A refusal: the feature's name and the way out.
    #[cold]
    pub fn unsupported(what: impl Into<Cow<'static, str>>, remedy: impl Into<Remedy>) -> Error {
        Error::Unsupported { what: what.into(), remedy: remedy.into() }
    }

    /// A table definition that cannot be used.
    #[cold]
    pub fn schema(what: impl Into<Cow<'static, str>>) -> Error {
        Error::Schema(what.into())
    }

    /// Damage is the one kind a scan may skip (`--on-corrupt skip`).
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Error::Corrupt { .. })
    }

    /// Adds the page, unless a nearer place already named one.
    #[must_use]
    pub fn at_page(self, space: SpaceId, page: PageNo) -> Error {
        self.at(|place| {
            place.space.get_or_insert(space);
            place.page.get_or_insert(page);
        })
    }

    /// Adds the byte offset in the page, unless one is there.
    #[must_use]
    pub fn at_offset(self, offset: u32) -> Error {
        self.at(|place| {
            place.offset.get_or_insert(offset);
        })
    }

    /// Adds the record, unless one is there.
    #[must_use]
    pub fn at_record(self, heap_no: u16) -> Error {
        self.at(|place| {
            place.heap_no.get_or_insert(heap_no);
        })
    }

    /// Adds the column, unless one is there.
    #[must_use]
    pub fn at_column(self, column: &str) -> Error {
        self.at(|place| {
            place.column.get_or_insert_with(|| column.to_owned());
        })
    }

    fn at(mut self, fill: impl FnOnce(&mut Place)) -> Error {
        if let Error::Corrupt { place, .. } = &mut self {
            fill(place);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Corrupt { what, place } if **place == Place::default() => f.write_str(what),
            Error::Corrupt { what, place } => write!(f, "{what} ({place})"),
            Error::Unsupported { what, remedy } => write!(f, "{what} is not supported; {remedy}"),
            Error::Schema(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
