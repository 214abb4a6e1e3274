//! A record's bytes to its fields: null, inline, off-page, or a default it was stored without.
