//! Node pointers: from a branch page to its children.
