//! One step of a walk over leaves, and what it knows of their neighbours.

use innoscan_format::{Error as FormatError, PageNo};

use crate::Error;

/// What is known of a page's neighbour on its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sibling {
    /// Nothing, for damage.
    Unknown,
    /// It must be this one, or none.
    Is(Option<PageNo>),
}

impl Sibling {
    /// Holds a page's link against what its level says.
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

/// What comes next in key order.
#[derive(Debug)]
pub enum Step {
    /// A leaf.
    Leaf {
        /// Where it is.
        page: PageNo,
        /// The leaf before it.
        prev: Sibling,
        /// The leaf after it.
        next: Sibling,
    },
    /// A page that cannot be used. If it is a branch page, all leaves below it are lost.
    Damaged {
        /// The page.
        page: PageNo,
        /// What is wrong with it.
        error: Error,
    },
}
