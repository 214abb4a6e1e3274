//! Lossless values: what a column's bytes mean, before any output format.
