//! HSS and LMS. RFC 8554.

use oarlock_core::{HssPublicKey, LmsSet, TreeHash};

use super::digits::digits;
use super::{PaddedMessages, TreeHasher, digest};

/// The bytes of I, which names a tree.
const IDENTIFIER_LEN: usize = 16;

/// The numbers that make hashes of different purposes differ. RFC 8554 section 7.1.
const PUBLIC_KEY: [u8; 2] = [0x80, 0x80];
const MESSAGE: [u8; 2] = [0x81, 0x81];
const LEAF: [u8; 2] = [0x82, 0x82];
const INTERIOR: [u8; 2] = [0x83, 0x83];

/// The bytes before the number of a step, and before the value, in the message of a step: I, the number of the leaf,
/// and that of the chain.
const STEP_AT: usize = IDENTIFIER_LEN + 6;
const VALUE_AT: usize = STEP_AT + 1;

/// The signature of one tree, whose lengths and types are right.
pub(super) struct TreeSignature<'a> {
    set: LmsSet,
    identifier: &'a [u8],
    root: &'a [u8],
    message: &'a [u8],
    /// q, the number of the one-time key.
    leaf: [u8; 4],
    /// C.
    randomizer: &'a [u8],
    chains: &'a [u8],
    path: &'a [u8],
}

/// Splits an HSS signature into the signatures of its trees, from the highest on, or returns None if it is not one of
/// this key. RFC 8554 section 6.3.
pub(super) fn tree_signatures<'a>(
    key: &'a HssPublicKey,
    message: &'a [u8],
    signature: &'a [u8],
) -> Option<Vec<TreeSignature<'a>>> {
    let (signed_keys, mut rest) = split_u32(signature)?;
    if usize::try_from(signed_keys).ok()? + 1 != key.set().levels() {
        return None;
    }
    let (mut set, mut tree) = (key.set().top(), key.tree());
    let mut trees = Vec::with_capacity(key.set().levels());
    for _ in 0..signed_keys {
        let (tree_signature, keys) = rest.split_at_checked(set.signature_len())?;
        let (lms, codes) = split_u32(keys)?;
        let next = LmsSet::from_codes(lms, split_u32(codes)?.0).ok()?;
        // SP 800-208 section 4: one hash function for all levels.
        if next.hash() != set.hash() {
            return None;
        }
        let (next_tree, after) = keys.split_at_checked(next.public_len())?;
        trees.push(TreeSignature::parse(set, tree, next_tree, tree_signature)?);
        (set, tree, rest) = (next, next_tree, after);
    }
    trees.push(TreeSignature::parse(set, tree, message, rest)?);
    Some(trees)
}

impl<'a> TreeSignature<'a> {
    /// Reads the signature of a message under the public key of a tree. RFC 8554 algorithm 6a.
    fn parse(set: LmsSet, tree: &'a [u8], message: &'a [u8], signature: &'a [u8]) -> Option<Self> {
        if signature.len() != set.signature_len() {
            return None;
        }
        let (leaf, rest) = signature.split_first_chunk()?;
        let (lm_ots, rest) = split_u32(rest)?;
        let (randomizer, rest) = rest.split_at_checked(set.hash().n())?;
        let (chains, rest) = rest.split_at_checked(set.chains() * set.hash().n())?;
        let (lms, path) = split_u32(rest)?;
        let is_own =
            LmsSet::from_codes(lms, lm_ots) == Ok(set) && u32::from_be_bytes(*leaf) >> set.height() == 0;
        let (identifier, root) = tree.get(8..)?.split_at_checked(IDENTIFIER_LEN)?;
        is_own.then_some(Self { set, identifier, root, message, leaf: *leaf, randomizer, chains, path })
    }

    /// Returns the number of the leaf among all nodes, where the root is 1. RFC 8554 section 5.3.
    fn leaf_node(&self) -> u32 {
        (1 << self.set.height()) + u32::from_be_bytes(self.leaf)
    }

    /// Returns the digits that the chains sign. RFC 8554 algorithm 4b.
    fn digits(&self) -> Vec<u8> {
        let parts = [self.identifier, &self.leaf, &MESSAGE, self.randomizer, self.message];
        digits(&digest(self.set.hash(), &parts), self.set.digit_bits(), self.set.chains())
    }
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

/// Verifies signatures of trees with one hash function.
pub(super) fn verify_trees(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    trees: &[TreeSignature<'_>],
) -> Vec<bool> {
    if trees.is_empty() {
        return Vec::new();
    }
    let ends = chain_ends(hasher, hash, trees);
    let keys = one_time_keys(hasher, hash, trees, &ends);
    let roots = roots(hasher, hash, trees, keys);
    trees.iter().zip(roots.chunks_exact(hash.n())).map(|(tree, root)| tree.root == root).collect()
}

/// A chain that has steps left.
struct RunningChain {
    /// The number of its value in the result.
    output: usize,
    step: u8,
    end: u8,
}

/// Returns the last values of all chains, one behind the other. RFC 8554 algorithm 4b.
fn chain_ends(hasher: &impl TreeHasher, hash: TreeHash, trees: &[TreeSignature<'_>]) -> Vec<u8> {
    let n = hash.n();
    let mut ends = Vec::new();
    let (mut running, mut messages) = (Vec::new(), PaddedMessages::new(hash, VALUE_AT + n));
    for tree in trees {
        let end = ((1_u16 << tree.set.digit_bits()) - 1) as u8;
        for (index, (step, value)) in
            (0_u16..).zip(tree.digits().into_iter().zip(tree.chains.chunks_exact(n)))
        {
            if step < end {
                messages.push(&[tree.identifier, &tree.leaf, &index.to_be_bytes(), &[step], value]);
                running.push(RunningChain { output: ends.len() / n, step, end });
            }
            // What a chain without steps ends with.
            ends.extend_from_slice(value);
        }
    }
    let mut values = vec![0; running.len() * n];
    while !running.is_empty() {
        values.truncate(running.len() * n);
        hasher.hash(&messages, &mut values);
        // From the last on, because the last one takes the number of one that ends.
        for index in (0..running.len()).rev() {
            let (chain, value) = (&mut running[index], &values[index * n..][..n]);
            chain.step += 1;
            if chain.step == chain.end {
                ends[chain.output * n..][..n].copy_from_slice(value);
                running.swap_remove(index);
                messages.swap_remove(index);
            } else {
                let message = messages.message_mut(index);
                message[STEP_AT] = chain.step;
                message[VALUE_AT..].copy_from_slice(value);
            }
        }
    }
    ends
}

/// Returns K of each signature, the one-time public key. RFC 8554 algorithm 4b.
fn one_time_keys(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    trees: &[TreeSignature<'_>],
    ends: &[u8],
) -> Vec<u8> {
    let n = hash.n();
    let mut keys = vec![0; trees.len() * n];
    let mut counts: Vec<usize> = trees.iter().map(|tree| tree.set.chains()).collect();
    counts.sort_unstable();
    counts.dedup();
    for count in counts {
        let (mut messages, mut members) =
            (PaddedMessages::new(hash, IDENTIFIER_LEN + 6 + count * n), Vec::new());
        let mut rest = ends;
        for (index, tree) in trees.iter().enumerate() {
            let (values, others) = rest.split_at(tree.set.chains() * n);
            if tree.set.chains() == count {
                messages.push(&[tree.identifier, &tree.leaf, &PUBLIC_KEY, values]);
                members.push(index);
            }
            rest = others;
        }
        hash_into(hasher, &messages, &members, &mut keys);
    }
    keys
}

/// Returns the root that follows from each one-time key. RFC 8554 algorithm 6a.
fn roots(hasher: &impl TreeHasher, hash: TreeHash, trees: &[TreeSignature<'_>], keys: Vec<u8>) -> Vec<u8> {
    let (n, mut nodes) = (hash.n(), keys);
    let mut messages = PaddedMessages::new(hash, IDENTIFIER_LEN + 6 + n);
    for (tree, key) in trees.iter().zip(nodes.chunks_exact(n)) {
        messages.push(&[tree.identifier, &tree.leaf_node().to_be_bytes(), &LEAF, key]);
    }
    hasher.hash(&messages, &mut nodes);
    let mut messages = PaddedMessages::new(hash, IDENTIFIER_LEN + 6 + 2 * n);
    let max_height = trees.iter().map(|tree| tree.set.height()).max().unwrap_or_default();
    for height in 0..max_height {
        messages.clear();
        let members: Vec<usize> = (0..trees.len()).filter(|at| trees[*at].set.height() > height).collect();
        for index in &members {
            let tree = &trees[*index];
            let (node, value) = (tree.leaf_node() >> height, &nodes[index * n..][..n]);
            let sibling = &tree.path[height * n..][..n];
            let [left, right] = if node % 2 == 0 { [value, sibling] } else { [sibling, value] };
            messages.push(&[tree.identifier, &(node >> 1).to_be_bytes(), &INTERIOR, left, right]);
        }
        hash_into(hasher, &messages, &members, &mut nodes);
    }
    nodes
}

/// Hashes messages into those values of `out` that `members` number.
fn hash_into(hasher: &impl TreeHasher, messages: &PaddedMessages, members: &[usize], out: &mut [u8]) {
    let n = messages.hash().n();
    let mut values = vec![0; members.len() * n];
    hasher.hash(messages, &mut values);
    for (index, value) in members.iter().zip(values.chunks_exact(n)) {
        out[index * n..][..n].copy_from_slice(value);
    }
}
