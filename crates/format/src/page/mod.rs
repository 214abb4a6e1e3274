//! Pages: the FIL header every page has, and one file per page kind.
