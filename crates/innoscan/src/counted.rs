//! Counts as people read them.

/// A number with what it is of: `1 row`, `2 rows`. `noun` makes its plural with an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
