//! Sets of nodes that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the sets of at least two nodes that all reach each other, the largest set first.
pub(super) fn cycles<'a>(edges: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<BTreeSet<&'a str>> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        targets.entry(from).or_default().push(to);
    }
    // A crate has some dozens of modules, so that a search from each of them is quick enough.
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        targets.keys().map(|node| (*node, reachable(node, &targets))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|nodes| nodes.contains(to));
    let mut cycles = BTreeSet::new();
    for (node, nodes) in &reached {
        let cycle: BTreeSet<&str> = nodes.iter().copied().filter(|other| reaches(other, node)).collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    let mut cycles: Vec<BTreeSet<&str>> = cycles.into_iter().collect();
    cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    cycles
}

fn reachable<'a>(start: &'a str, targets: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for target in targets.get(node).into_iter().flatten() {
            if reached.insert(*target) {
                open.push(target);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_cycle_with_exactly_its_nodes() {
        let edges =
            [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "d"), ("f", "g")];
        let found = cycles(edges);
        assert_eq!(found, [BTreeSet::from(["d", "e", "f"]), BTreeSet::from(["b", "c"])]);
    }

    #[test]
    fn finds_no_cycle_in_a_graph_that_only_goes_down() {
        assert!(cycles([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).is_empty());
    }
}
