//! Scans.
