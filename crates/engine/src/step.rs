//! A step of a walk over leaves, with the neighbours of the leaf.

use innoscan_format::{Error as FormatError, PageNo};

use crate::Error;

/// The known sibling of a page on its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sibling {
    /// Not known because of damage.
    Unknown,
    /// This page, or none.
    Is(Option<PageNo>),
}

impl Sibling {
    /// Compares a page's link with the sibling that the level above implies.
    pub fn require(self, link: Option<PageNo>, side: &'static str) -> innoscan_format::Result<()> {
        let name = |page: Option<PageNo>| page.map_or("none".to_owned(), |page| page.to_string());
        match self {
            Sibling::Is(expected) if expected != link => Err(FormatError::corrupt(format!(
                "the page's {side} sibling is {}, in key order it is {}",
                name(link),
                name(expected)
            ))),
            _ => Ok(()),
        }
    }
}

/// The next step of a walk.
#[derive(Debug)]
pub enum Step {
    /// A leaf.
    Leaf {
        /// The leaf's page number.
        page: PageNo,
        /// The leaf before it.
        prev: Sibling,
        /// The leaf after it.
        next: Sibling,
    },
    /// A page that cannot be used. If it is a branch page, all leaves below it are lost.
    Damaged {
        /// The damaged page.
        page: PageNo,
        /// The error that makes the page unusable.
        error: Error,
    },
}
