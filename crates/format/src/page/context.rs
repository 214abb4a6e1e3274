//! The form in which a file stores its pages.

use super::{Encryption, PageCompression, PageFormat};
use crate::Error;

/// What is said of a damaged page of a killed server, before the damage.
pub const UNRECOVERED: &str = "the page is torn or damaged, and neither the redo log nor the doublewrite buffer of its \
    killed server has the whole page (another copy of the directory may have it, or a backup)";

/// The properties of a file's pages, in the file and in memory: the input of [`super::open`].
#[derive(Clone, Debug)]
pub struct PageContext {
    format: PageFormat,
    /// The algorithm of page compression in a `full_crc32` file. In other files each page names its own.
    compression: Option<PageCompression>,
    encryption: Encryption,
    /// Whether the pages are those of a killed server, read through its redo log.
    is_of_killed_server: bool,
}

impl PageContext {
    /// Creates the context of a file whose flags name no algorithm of page compression, and whose page 0 no key.
    pub fn plain(format: PageFormat) -> PageContext {
        PageContext {
            format,
            compression: None,
            encryption: Encryption::None,
            is_of_killed_server: false,
        }
    }

    /// Sets by which key pages are encrypted.
    #[must_use]
    pub fn with_encryption(self, encryption: Encryption) -> PageContext {
        PageContext { encryption, ..self }
    }

    /// Returns by which key pages are encrypted.
    pub fn encryption(&self) -> &Encryption {
        &self.encryption
    }

    /// Sets the algorithm of page compression that a `full_crc32` file's flags name.
    #[must_use]
    pub fn with_compression(self, compression: Option<PageCompression>) -> PageContext {
        PageContext { compression, ..self }
    }

    /// Sets that the pages are those of a killed server: what is damaged then, neither its redo log nor its doublewrite
    /// buffer has.
    #[must_use]
    pub fn of_killed_server(&self) -> PageContext {
        PageContext { is_of_killed_server: true, ..self.clone() }
    }

    /// Adds to the error of a page what is known of all of them.
    pub(super) fn explain(&self, error: Error) -> Error {
        if self.is_of_killed_server { error.with_prefix(UNRECOVERED) } else { error }
    }

    /// Returns the algorithm of page compression that the file's flags name.
    pub(super) fn compression(&self) -> Option<PageCompression> {
        self.compression
    }

    /// Returns the properties of an opened page.
    pub fn format(&self) -> PageFormat {
        self.format
    }

    /// Returns the bytes of a page in the file.
    pub fn physical_bytes(&self) -> usize {
        self.format.physical_len()
    }
}
