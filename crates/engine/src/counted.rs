//! Counts in readable form.

/// A number with its noun: `1 row`, `2 rows`. The plural of `noun` is made with an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
