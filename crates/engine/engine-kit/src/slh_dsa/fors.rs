//! Few-time keys: FORS. FIPS 205 section 8.

use oarlock_core::SlhDsaSet;
use zeroize::Zeroizing;

use super::message::DigestIndices;
use super::{Address, AddressKind, Chain, HashSteps, SignatureParts, SlhDsaFault, TreeId, tree};

/// The number of leaves in memory at once: those of the highest tree of any set, or of several smaller trees.
const LEAVES_AT_ONCE: usize = 1 << 14;

/// The number of leaves that are computed together.
const GROUP: usize = 256;

/// Returns the number of bytes of the part of a signature: for each tree the secret value of a leaf and a path.
pub(super) fn signature_len(set: SlhDsaSet) -> usize {
    set.fors_trees() * tree_part_len(set)
}

fn tree_part_len(set: SlhDsaSet) -> usize {
    (1 + set.fors_height()) * set.n()
}

/// Writes the part of a signature, and returns the FORS public key. FIPS 205 algorithms 16 and 17.
pub(super) fn sign(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    secret_seed: &[u8],
    digest: &DigestIndices,
    signature: &mut [u8],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, SlhDsaFault> {
    let (n, height) = (set.n(), set.fors_height());
    let key = address(digest, 0);
    let at_once = (LEAVES_AT_ONCE >> height).min(set.fors_trees());
    let mut memory = Zeroizing::new(vec![0; (at_once << height) * n]);
    let mut roots = Vec::with_capacity(set.fors_trees() * n);
    for (group, part) in signature.chunks_mut(at_once * tree_part_len(set)).enumerate() {
        if is_cancelled() {
            return Err(SlhDsaFault::Cancelled);
        }
        let first_tree = group * at_once;
        let mut parts: Vec<&mut [u8]> = part.chunks_exact_mut(tree_part_len(set)).collect();
        let indices = &digest.fors_indices[first_tree..first_tree + parts.len()];
        let nodes = &mut memory[..(parts.len() << height) * n];
        let first_leaf = (first_tree << height) as u32;
        secrets(steps, n, secret_seed, key, first_leaf, nodes);
        for (tree, (part, index)) in parts.iter_mut().zip(indices).enumerate() {
            part[..n].copy_from_slice(value(nodes, n, (tree << height) + *index as usize));
        }
        leaves(steps, n, key, first_leaf, nodes);
        let node = |height: u32, index: u32| Address { height, index: (first_leaf >> height) + index, ..key };
        let copy_neighbours = |level: usize, nodes: &[u8]| {
            for (tree, (part, index)) in parts.iter_mut().zip(indices).enumerate() {
                let neighbour = (tree << (height - level)) + (*index as usize >> level ^ 1);
                part[(1 + level) * n..(2 + level) * n].copy_from_slice(value(nodes, n, neighbour));
            }
        };
        tree::reduce(steps, n, nodes, height, node, copy_neighbours);
        roots.extend_from_slice(&nodes[..indices.len() * n]);
    }
    let mut public = vec![0; n];
    steps.nodes(&[Address { kind: AddressKind::ForsRoots, ..key }], &roots, &mut public);
    Ok(public)
}

/// Returns the address of a FORS key, of which those of its trees and its roots differ in the kind and the last fields.
fn address(digest: &DigestIndices, key: u32) -> Address {
    let tree = TreeId { layer: 0, tree: digest.tree };
    Address { key, kind: AddressKind::ForsTree, ..tree.key_pair(digest.leaf) }
}

fn value(values: &[u8], n: usize, index: usize) -> &[u8] {
    &values[index * n..(index + 1) * n]
}

/// Computes the secret values of leaves.
fn secrets(steps: &impl HashSteps, n: usize, seed: &[u8], key: Address, first: u32, values: &mut [u8]) {
    values.chunks_exact_mut(n).for_each(|value| value.copy_from_slice(seed));
    leaves(steps, n, Address { kind: AddressKind::ForsSecret, ..key }, first, values);
}

/// Replaces values by F of themselves, at the addresses of leaves from `first` on.
fn leaves(steps: &impl HashSteps, n: usize, key: Address, first: u32, values: &mut [u8]) {
    for (group, values) in values.chunks_mut(GROUP * n).enumerate() {
        let first = first + (group * GROUP) as u32;
        let count = (values.len() / n) as u32;
        let chain = |index| Chain { first: Address { index, ..key }, steps: 1 };
        let chains: Vec<Chain> = (first..first + count).map(chain).collect();
        steps.chains(&chains, values);
    }
}

/// Returns the FORS public keys that some signatures lead to. FIPS 205 algorithm 17.
pub(super) fn public_keys(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    signatures: &[SignatureParts<'_>],
) -> Vec<u8> {
    let (n, trees) = (set.n(), set.fors_trees());
    let keys: Vec<Address> =
        signatures.iter().map(|signature| address(&signature.digest, signature.key)).collect();
    let part = |at: usize| {
        let start = at % trees * tree_part_len(set);
        &signatures[at / trees].fors[start..start + tree_part_len(set)]
    };
    let mut indices: Vec<u32> =
        signatures.iter().flat_map(|signature| signature.digest.fors_indices.iter().copied()).collect();
    // Indices count through all trees of a key.
    let offset = |at: usize, height: usize| ((at % trees) << (set.fors_height() - height)) as u32;
    let chain = |(at, index): (usize, &u32)| Chain {
        first: Address { index: offset(at, 0) + index, ..keys[at / trees] },
        steps: 1,
    };
    let chains: Vec<Chain> = indices.iter().enumerate().map(chain).collect();
    let mut values: Vec<u8> = (0..indices.len()).flat_map(|at| part(at)[..n].iter().copied()).collect();
    steps.chains(&chains, &mut values);
    for height in 1..=set.fors_height() {
        let neighbour = |at: usize| value(part(at), n, height);
        let parent = |at: usize, index: u32| Address {
            height: height as u32,
            index: offset(at, height) + index,
            ..keys[at / trees]
        };
        tree::climb(steps, n, &mut values, &mut indices, neighbour, parent);
    }
    let roots: Vec<Address> =
        keys.iter().map(|key| Address { kind: AddressKind::ForsRoots, ..*key }).collect();
    let mut public = vec![0; signatures.len() * n];
    steps.nodes(&roots, &values, &mut public);
    public
}
