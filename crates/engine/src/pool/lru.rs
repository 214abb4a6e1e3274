//! The order in which resident pages are evicted: InnoDB's LRU list with a midpoint
//! (`buf0lru.cc`, MySQL 8.0).
//!
//! ```text
//! head                           midpoint                     tail
//! [young][young] ... [young] [young] | [old][old] ... [old] [old]
//!   ^ promoted pages                   ^ pages just read in     ^ evicted first
//! ```
//!
//! Pages just read enter at the midpoint, so that a scan's pages pass only through the old part and do
//! not evict the pages that others use repeatedly.

/// The place of a page in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

/// The least pages of a list that has an old part (`BUF_LRU_OLD_MIN_LEN`).
const DIVIDED_MIN: usize = 512;

/// The pages by which the old part may differ from its share (`BUF_LRU_OLD_TOLERANCE`).
const TOLERANCE: usize = 20;

const NIL: u32 = u32::MAX;

/// An LRU list with a midpoint; `T` identifies a page.
#[derive(Debug)]
pub(super) struct Lru<T> {
    nodes: Vec<Node<T>>,
    vacant: Vec<u32>,
    young: Ends,
    old: Ends,
    /// Share of the old part, in percent.
    old_pct: usize,
}

#[derive(Debug)]
struct Node<T> {
    page: T,
    is_old: bool,
    before: u32,
    after: u32,
}

#[derive(Debug)]
struct Ends {
    first: u32,
    last: u32,
    len: usize,
}

impl<T: Copy> Lru<T> {
    /// An empty list whose old part has a share of `old_pct` percent.
    pub fn new(old_pct: usize) -> Lru<T> {
        let ends = || Ends { first: NIL, last: NIL, len: 0 };
        Lru { nodes: Vec::new(), vacant: Vec::new(), young: ends(), old: ends(), old_pct }
    }

    pub fn len(&self) -> usize {
        self.young.len + self.old.len
    }

    /// Inserts a page at the midpoint; at the head while the list is too short to be divided.
    pub fn insert(&mut self, page: T) -> Place {
        let is_old = self.old.len > 0 || self.len() + 1 >= DIVIDED_MIN;
        let node = Node { page, is_old, before: NIL, after: NIL };
        let at = match self.vacant.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).unwrap_or(NIL)
            }
        };
        self.link_first(at, is_old);
        self.balance();
        Place(at)
    }

    /// Removes a page.
    pub fn remove(&mut self, place: Place) {
        self.unlink(place.0);
        self.vacant.push(place.0);
        self.balance();
    }

    /// Whether a page is in the old part.
    pub fn is_old(&self, place: Place) -> bool {
        self.nodes[place.0 as usize].is_old
    }

    /// Moves a page to the head.
    pub fn promote(&mut self, place: Place) {
        self.unlink(place.0);
        self.link_first(place.0, false);
        self.balance();
    }

    /// The pages from the tail to the head.
    pub fn tail_first(&self) -> impl Iterator<Item = T> + '_ {
        let last = if self.old.last == NIL { self.young.last } else { self.old.last };
        let mut at = last;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.before;
            if at == NIL && node.is_old {
                at = self.young.last;
            }
            Some(node.page)
        })
    }

    fn ends(&mut self, is_old: bool) -> &mut Ends {
        if is_old { &mut self.old } else { &mut self.young }
    }

    fn link_first(&mut self, at: u32, is_old: bool) {
        let ends = self.ends(is_old);
        let after = std::mem::replace(&mut ends.first, at);
        ends.len += 1;
        if after == NIL {
            ends.last = at;
        } else {
            self.nodes[after as usize].before = at;
        }
        let node = &mut self.nodes[at as usize];
        (node.is_old, node.before, node.after) = (is_old, NIL, after);
    }

    fn link_last(&mut self, at: u32, is_old: bool) {
        let ends = self.ends(is_old);
        let before = std::mem::replace(&mut ends.last, at);
        ends.len += 1;
        if before == NIL {
            ends.first = at;
        } else {
            self.nodes[before as usize].after = at;
        }
        let node = &mut self.nodes[at as usize];
        (node.is_old, node.before, node.after) = (is_old, before, NIL);
    }

    fn unlink(&mut self, at: u32) {
        let Node { is_old, before, after, .. } = self.nodes[at as usize];
        match before {
            NIL => self.ends(is_old).first = after,
            _ => self.nodes[before as usize].after = after,
        }
        match after {
            NIL => self.ends(is_old).last = before,
            _ => self.nodes[after as usize].before = before,
        }
        self.ends(is_old).len -= 1;
    }

    /// Moves the midpoint to where the old part has its share.
    fn balance(&mut self) {
        let wanted = match self.len() {
            0..DIVIDED_MIN => 0,
            len => len * self.old_pct / 100,
        };
        let tolerance = if wanted == 0 { 0 } else { TOLERANCE };
        while self.old.len > wanted + tolerance {
            let at = self.old.first;
            self.unlink(at);
            self.link_last(at, false);
        }
        while self.old.len + tolerance < wanted {
            let at = self.young.last;
            self.unlink(at);
            self.link_first(at, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(lru: &Lru<u32>, most: usize) -> Vec<u32> {
        lru.tail_first().take(most).collect()
    }

    #[test]
    fn a_short_list_is_plain() {
        let mut lru = Lru::new(37);
        let places: Vec<Place> = (0..4).map(|page| lru.insert(page)).collect();
        assert_eq!(tail(&lru, 9), [0, 1, 2, 3]);
        lru.promote(places[1]);
        lru.remove(places[2]);
        assert_eq!(tail(&lru, 9), [0, 3, 1]);
        lru.insert(9);
        assert_eq!(tail(&lru, 9), [0, 3, 1, 9]);
    }

    #[test]
    fn a_long_one_takes_pages_in_at_the_midpoint() {
        let mut lru = Lru::new(37);
        let places: Vec<Place> = (0..1000).map(|page| lru.insert(page)).collect();
        let old = places.iter().filter(|place| lru.is_old(**place)).count();
        assert!((350..=390).contains(&old), "{old}");
        // New pages are evicted before the young ones.
        let young = places.iter().position(|place| !lru.is_old(*place)).unwrap() as u32;
        for page in 1000..2000 {
            let oldest = lru.tail_first().next().unwrap();
            assert_ne!(oldest, young);
            let at = lru.nodes.iter().position(|node| node.page == oldest).unwrap();
            lru.remove(Place(at as u32));
            lru.insert(page);
        }
        assert_eq!(lru.len(), 1000);
        assert!(lru.tail_first().any(|page| page == young));
    }

    /// Compares with a list that is kept in the simplest way.
    #[test]
    fn it_keeps_its_order_whatever_is_done() {
        let mut lru = Lru::new(37);
        let mut places: Vec<(u32, Place)> = Vec::new();
        let mut state = 1u64;
        for page in 0..20_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = (state >> 33) as usize;
            match draw % 4 {
                0 | 1 => places.push((page, lru.insert(page))),
                2 if !places.is_empty() => {
                    let (_, place) = places.swap_remove(draw / 4 % places.len());
                    lru.remove(place);
                }
                _ if !places.is_empty() => {
                    let (page, place) = places[draw / 4 % places.len()];
                    lru.promote(place);
                    assert!(!lru.is_old(place) || lru.len() >= DIVIDED_MIN);
                    assert_eq!(lru.nodes[place.0 as usize].page, page);
                }
                _ => {}
            }
            assert_eq!(lru.len(), places.len());
        }
        let mut listed: Vec<u32> = lru.tail_first().collect();
        let is_old: Vec<bool> = lru
            .tail_first()
            .map(|page| lru.nodes.iter().any(|node| node.page == page && node.is_old))
            .collect();
        assert!(is_old.windows(2).all(|two| two[0] || !two[1]), "old pages are behind young ones");
        let mut expected: Vec<u32> = places.iter().map(|(page, _)| *page).collect();
        listed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(listed, expected);
    }
}
