//! The form in which a file stores its pages.

use super::{Encryption, PageCompression, PageFormat};

/// The properties of a file's pages, in the file and in memory: the input of [`super::open`].
#[derive(Clone, Debug)]
pub struct PageContext {
    format: PageFormat,
    /// The algorithm of page compression in a `full_crc32` file. In other files each page names its own.
    compression: Option<PageCompression>,
    encryption: Encryption,
}

impl PageContext {
    /// Creates the context of a file whose flags name no algorithm of page compression, and whose page 0 no key.
    pub fn plain(format: PageFormat) -> PageContext {
        PageContext { format, compression: None, encryption: Encryption::None }
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
