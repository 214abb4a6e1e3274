//! Identifiers as file names: `@0024`, `#P#` and their kin.
