//! The ids of unfinished transactions.

/// The transactions whose changes are not shown: those that were neither committed nor rolled back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The ids, ascending.
    ids: Box<[u64]>,
}

impl Unfinished {
    /// Creates the set of these ids.
    pub fn new(ids: impl IntoIterator<Item = u64>) -> Unfinished {
        let mut ids: Vec<u64> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Unfinished { ids: ids.into() }
    }

    /// Returns whether a transaction is one of them. Nearly all rows are older than the oldest.
    #[inline]
    pub fn contains(&self, trx_id: u64) -> bool {
        match self.ids.first() {
            Some(&oldest) if trx_id >= oldest => self.ids.binary_search(&trx_id).is_ok(),
            _ => false,
        }
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_are_unfinished() {
        let set = Unfinished::new([900, 7, 900, 31]);
        assert_eq!(set.len(), 3);
        for (id, is_one) in [(0, false), (6, false), (7, true), (8, false), (31, true), (900, true)]
        {
            assert_eq!(set.contains(id), is_one, "{id}");
        }
        assert!(!Unfinished::default().contains(0));
    }
}
