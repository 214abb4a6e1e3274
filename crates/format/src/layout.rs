//! The order and shape of a table's fields on disk, compiled once from its definition.
