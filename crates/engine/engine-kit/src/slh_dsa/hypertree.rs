//! The hypertree. FIPS 205 section 7.

use oarlock_core::SlhDsaSet;
use zeroize::Zeroizing;

use super::message::DigestIndices;
use super::wots::{self, CHAIN_STEPS};
use super::{Address, Chain, HashSteps, SignatureParts, SlhDsaFault, TreeId, tree};

/// Returns the number of bytes of the part of a signature that one layer has: chains and a path.
fn layer_len(set: SlhDsaSet) -> usize {
    (set.chains() + set.tree_height()) * set.n()
}

/// Signs a FORS public key, and returns the root of the highest tree. FIPS 205 algorithm 12.
///
/// The standard signs layer by layer. Here the trees of all layers are computed first, because none depends on what it
/// signs.
pub(super) fn sign(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    secret_seed: &[u8],
    digest: &DigestIndices,
    fors_key: &[u8],
    signature: &mut [u8],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, SlhDsaFault> {
    let (n, height) = (set.n(), set.tree_height());
    let path = digest.path(set);
    let trees: Vec<TreeId> = path.iter().map(|(tree, _)| *tree).collect();
    let mut nodes = tree::leaves(steps, set, secret_seed, &trees, is_cancelled)?;
    let node = |height: u32, index: u32| {
        let nodes_per_tree = set.tree_height() as u32 - height;
        trees[(index >> nodes_per_tree) as usize].node(height, index & ((1 << nodes_per_tree) - 1))
    };
    let copy_neighbours = |level: usize, nodes: &[u8]| {
        let layers = signature.chunks_exact_mut(layer_len(set)).zip(&path).enumerate();
        for (layer, (part, (_, leaf))) in layers {
            let neighbour = (layer << (height - level)) + (*leaf as usize >> level ^ 1);
            part[(set.chains() + level) * n..][..n].copy_from_slice(&nodes[neighbour * n..][..n]);
        }
    };
    tree::reduce(steps, n, &mut nodes, height, node, copy_neighbours);
    let roots = &nodes[..set.layers() * n];
    steps.publish(fors_key);
    steps.publish(roots);
    // Each layer signs the root of the layer below, the lowest the FORS key.
    let (below_top, top) = roots.split_at(roots.len() - n);
    let signed = fors_key.chunks_exact(n).chain(below_top.chunks_exact(n));
    let digits: Vec<u8> = signed.flat_map(wots::digits).collect();
    let keys: Vec<Address> = path.iter().map(|(tree, leaf)| tree.key_pair(*leaf)).collect();
    let mut values = Zeroizing::new(vec![0; digits.len() * n]);
    wots::values_from_secrets(steps, set, secret_seed, &keys, |index| digits[index], &mut values);
    let parts = signature.chunks_exact_mut(layer_len(set));
    for (part, values) in parts.zip(values.chunks_exact(set.chains() * n)) {
        part[..values.len()].copy_from_slice(values);
    }
    Ok(top.to_vec())
}

/// Returns the roots that some signatures lead to from their FORS public keys. FIPS 205 algorithm 13.
pub(super) fn roots(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    signatures: &[SignatureParts<'_>],
    fors_keys: Vec<u8>,
) -> Vec<u8> {
    let n = set.n();
    let paths: Vec<Vec<(TreeId, u32)>> =
        signatures.iter().map(|signature| signature.digest.path(set)).collect();
    let mut values = fors_keys;
    for layer in 0..set.layers() {
        let part = |at: usize| &signatures[at].layers[layer * layer_len(set)..][..layer_len(set)];
        let with_key = |at: usize, address: Address| Address { key: signatures[at].key, ..address };
        let keys: Vec<Address> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| with_key(at, path[layer].0.key_pair(path[layer].1)))
            .collect();
        let digits: Vec<u8> = values.chunks_exact(n).flat_map(wots::digits).collect();
        let chain = |(at, digit): (usize, &u8)| Chain {
            first: Address {
                height: (at % set.chains()) as u32,
                index: u32::from(*digit),
                ..keys[at / set.chains()]
            },
            steps: CHAIN_STEPS - digit,
        };
        let chains: Vec<Chain> = digits.iter().enumerate().map(chain).collect();
        let mut ends: Vec<u8> =
            (0..signatures.len()).flat_map(|at| part(at)[..set.chains() * n].iter().copied()).collect();
        steps.chains(&chains, &mut ends);
        wots::compress(steps, &keys, &ends, &mut values);
        let mut indices: Vec<u32> = paths.iter().map(|path| path[layer].1).collect();
        for height in 0..set.tree_height() {
            let neighbour = |at: usize| &part(at)[(set.chains() + height) * n..][..n];
            let parent = |at: usize, index| with_key(at, paths[at][layer].0.node(height as u32 + 1, index));
            tree::climb(steps, n, &mut values, &mut indices, neighbour, parent);
        }
    }
    values
}
