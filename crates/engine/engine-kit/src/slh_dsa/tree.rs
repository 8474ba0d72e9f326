//! Merkle trees. FIPS 205 section 6.

use oarlock_core::SlhDsaSet;
use zeroize::Zeroizing;

use super::wots::{self, CHAIN_STEPS};
use super::{Address, AddressKind, HashSteps, SlhDsaFault};

/// The number of one-time keys that are computed together. It divides the leaves of every tree, and their 280 chains or
/// more fill every width of lanes.
const LEAVES_AT_ONCE: usize = 8;

/// The number of nodes that are computed together.
const NODES_AT_ONCE: usize = 256;

/// A tree of the hypertree.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeId {
    pub(super) layer: u32,
    pub(super) tree: u64,
}

impl TreeId {
    /// Returns the only tree of the highest layer.
    pub(super) fn top(set: SlhDsaSet) -> Self {
        Self { layer: set.layers() as u32 - 1, tree: 0 }
    }

    /// Returns the address of the one-time key at a leaf.
    pub(super) fn key_pair(self, leaf: u32) -> Address {
        Address { kind: AddressKind::WotsHash, key_pair: leaf, ..self.node(0, 0) }
    }

    /// Returns the address of a node.
    pub(super) fn node(self, height: u32, index: u32) -> Address {
        let Self { layer, tree } = self;
        Address { key: 0, layer, tree, kind: AddressKind::Tree, key_pair: 0, height, index }
    }
}

/// Computes the leaves of some trees, one tree behind the other.
pub(super) fn leaves(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    secret_seed: &[u8],
    trees: &[TreeId],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, SlhDsaFault> {
    let height = set.tree_height();
    let mut leaves = vec![0; (trees.len() << height) * set.n()];
    let mut ends = Zeroizing::new(vec![0; LEAVES_AT_ONCE * set.chains() * set.n()]);
    for (group, out) in leaves.chunks_mut(LEAVES_AT_ONCE * set.n()).enumerate() {
        if is_cancelled() {
            return Err(SlhDsaFault::Cancelled);
        }
        let first = group * LEAVES_AT_ONCE;
        let key = |leaf: usize| trees[leaf >> height].key_pair((leaf & ((1 << height) - 1)) as u32);
        let keys: Vec<Address> = (first..first + LEAVES_AT_ONCE).map(key).collect();
        wots::values_from_secrets(steps, set, secret_seed, &keys, |_| CHAIN_STEPS, &mut ends);
        wots::compress(steps, &keys, &ends, out);
    }
    Ok(leaves)
}

/// Replaces the leaves of trees of one height, which lie one tree behind the other, by the roots of the trees.
///
/// `address` returns the address of a node, whose index counts through all trees. `visit` sees the nodes of each level
/// below the roots. FIPS 205 algorithms 9 and 15.
pub(super) fn reduce(
    steps: &impl HashSteps,
    n: usize,
    nodes: &mut [u8],
    tree_height: usize,
    address: impl Fn(u32, u32) -> Address,
    mut visit: impl FnMut(usize, &[u8]),
) {
    let mut parents = [0; NODES_AT_ONCE * 32];
    let mut count = nodes.len() / n;
    for height in 0..tree_height {
        visit(height, &nodes[..count * n]);
        count /= 2;
        for first in (0..count).step_by(NODES_AT_ONCE) {
            let group = first..count.min(first + NODES_AT_ONCE);
            let addresses: Vec<Address> =
                group.clone().map(|index| address(height as u32 + 1, index as u32)).collect();
            let parents = &mut parents[..group.len() * n];
            steps.nodes(&addresses, &nodes[2 * group.start * n..2 * group.end * n], parents);
            // The children of these parents and of all before them are not needed any more.
            nodes[group.start * n..group.end * n].copy_from_slice(parents);
        }
    }
}

/// Climbs one level in many trees at once: each value becomes the parent of itself and its neighbour.
///
/// `indices` are the indices of the values at their level, `neighbour(i)` the nodes beside them and `address(i, index)`
/// the addresses of the parents. FIPS 205 algorithm 11, steps 9 to 20.
pub(super) fn climb<'s>(
    steps: &impl HashSteps,
    n: usize,
    values: &mut [u8],
    indices: &mut [u32],
    neighbour: impl Fn(usize) -> &'s [u8],
    address: impl Fn(usize, u32) -> Address,
) {
    let mut children = Vec::with_capacity(2 * values.len());
    let mut addresses = Vec::with_capacity(indices.len());
    for (at, (value, index)) in values.chunks_exact(n).zip(indices.iter_mut()).enumerate() {
        let (left, right) = if *index & 1 == 0 { (value, neighbour(at)) } else { (neighbour(at), value) };
        children.extend_from_slice(left);
        children.extend_from_slice(right);
        *index >>= 1;
        addresses.push(address(at, *index));
    }
    steps.nodes(&addresses, &children, values);
}
