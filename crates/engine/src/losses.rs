//! What an output does not hold of the values, counted.

use std::ops::AddAssign;

/// The numbers of values that an output does not hold as the server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Characters that are not valid in their column's charset, and became U+FFFD.
    pub replaced_characters: u64,
    /// Dates that no calendar has (zero dates, a zero month or day, February 31), and became NULL.
    pub dates_as_null: u64,
    /// Geometries whose SRID is not that of their column, and is not written.
    pub srids_left_out: u64,
}

impl Losses {
    /// Whether nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Losses::default()
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Losses) {
        self.replaced_characters += other.replaced_characters;
        self.dates_as_null += other.dates_as_null;
        self.srids_left_out += other.srids_left_out;
    }
}
