//! Coalescing of page numbers to reads: adjacent and nearby pages are read together.

/// Adjacent units of a file: `first .. first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the first unit.
    pub first: u32,
    /// Number of units.
    pub count: u32,
}

/// Joins ascending numbers into runs. Neighbours with a gap of at most `gap` unneeded units are
/// joined, and the gap is read with them; no run is longer than `max`.
///
/// # Panics
/// When `max` is 0, or the numbers do not ascend.
pub fn coalesce(numbers: &[u32], gap: u32, max: u32) -> impl Iterator<Item = Run> + '_ {
    assert!(max > 0, "a run has at least one unit");
    let mut rest = numbers.iter().copied().peekable();
    std::iter::from_fn(move || {
        let first = rest.next()?;
        let mut last = first;
        while let Some(&next) = rest.peek() {
            assert!(next > last, "numbers ascend");
            if next - last - 1 > gap || next - first >= max {
                break;
            }
            last = next;
            rest.next();
        }
        Some(Run { first, count: last - first + 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(numbers: &[u32], gap: u32, max: u32) -> Vec<(u32, u32)> {
        coalesce(numbers, gap, max).map(|run| (run.first, run.count)).collect()
    }

    #[test]
    fn joins_neighbours_up_to_the_gap_and_the_maximum() {
        assert_eq!(runs(&[], 0, 4), []);
        assert_eq!(runs(&[3, 4, 5, 9], 0, 64), [(3, 3), (9, 1)]);
        assert_eq!(runs(&[3, 5, 8], 1, 64), [(3, 3), (8, 1)]);
        assert_eq!(runs(&[3, 5, 8], 2, 64), [(3, 6)]);
        assert_eq!(runs(&[0, 1, 2, 3, 4], 0, 2), [(0, 2), (2, 2), (4, 1)]);
        assert_eq!(runs(&[0, 3, 4], 9, 4), [(0, 4), (4, 1)]);
        assert_eq!(runs(&[u32::MAX - 1, u32::MAX], 9, 64), [(u32::MAX - 1, 2)]);
    }

    #[test]
    fn covers_every_number_once_in_order() {
        let numbers: Vec<u32> =
            (0..500u32).filter(|n| n.wrapping_mul(0x9e37_79b9) >> 30 != 0).collect();
        for gap in 0..4 {
            for max in 1..9 {
                let runs = runs(&numbers, gap, max);
                assert!(runs.iter().all(|(_, count)| (1..=max).contains(count)));
                assert!(runs.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
                let within = |n: &u32| runs.iter().any(|(f, c)| (*f..f + c).contains(n));
                assert!(numbers.iter().all(within));
            }
        }
    }
}
