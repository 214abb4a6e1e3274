//! Files of a crate that need each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::modules::Edge;

/// The edges of which each lies on a way back to where it begins.
pub(super) fn circles(edges: &[Edge]) -> Vec<&Edge> {
    let mut needs: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for edge in edges {
        needs.entry(&edge.from).or_default().push(&edge.to);
    }
    edges.iter().filter(|edge| reaches(&needs, &edge.to, &edge.from)).collect()
}

fn reaches(needs: &BTreeMap<&Path, Vec<&Path>>, from: &Path, to: &Path) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        if file == to {
            return true;
        }
        let next = needs.get(file).into_iter().flatten();
        open.extend(next.filter(|next| seen.insert(next)));
    }
    false
}
