//! Aria.
