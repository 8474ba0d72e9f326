//! XMSS and XMSS^MT. RFC 8391, with the hash functions of SP 800-208 section 5.

use oarlock_core::{TreeHash, XmssPublicKey, XmssSet};

use super::digits::digits;
use super::portable::start_behind;
use super::{ChainStart, PaddedMessages, TreeHasher, digest};

/// The bits of a digit.
const DIGIT_BITS: usize = 4;

/// The last number of a chain's values.
const LAST_VALUE: u8 = XmssSet::CHAIN_VALUES as u8 - 1;

/// The numbers at the beginning of the messages of F, H, H_msg and PRF. RFC 8391 section 5.1.
const F: u8 = 0;
const H: u8 = 1;
const H_MSG: u8 = 2;
const PRF: u8 = 3;

/// The types of addresses. RFC 8391 section 2.5.
const ONE_TIME: u32 = 0;
const L_TREE: u32 = 1;
const TREE: u32 = 2;

/// The words of an address that differ between types: the leaf; the chain or height; the step or index; the key or
/// mask.
const LEAF_WORD: usize = 4;
const CHAIN_WORD: usize = 5;
const STEP_WORD: usize = 6;
const MASK_WORD: usize = 7;

/// The address of a hash computation. RFC 8391 section 2.5.
#[derive(Clone, Copy)]
struct HashAddress([u32; 8]);

impl HashAddress {
    fn new(layer: usize, tree: u64, kind: u32) -> Self {
        // unreachable because a key has at most 12 layers
        let layer = u32::try_from(layer).unwrap_or(u32::MAX);
        Self([layer, (tree >> 32) as u32, tree as u32, kind, 0, 0, 0, 0])
    }

    fn with(mut self, word: usize, value: u32) -> Self {
        self.0[word] = value;
        self
    }

    fn encoded(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.as_chunks_mut().0.iter_mut().zip(self.0).for_each(|(bytes, word)| *bytes = word.to_be_bytes());
        bytes
    }
}

/// Returns the beginning of the messages of a function: its number, as wide as a value, or in four bytes for values of
/// 192 bits. SP 800-208 section 5.
fn prefix(hash: TreeHash, number: u8) -> &'static [u8] {
    const PREFIXES: [[u8; 32]; 4] = {
        let mut prefixes = [[0; 32]; 4];
        prefixes[1][31] = 1;
        prefixes[2][31] = 2;
        prefixes[3][31] = 3;
        prefixes
    };
    let len = if hash.n() == 32 { 32 } else { 4 };
    &PREFIXES[usize::from(number)][32 - len..]
}

/// Makes an empty list of messages of a function: its number, a key, and an input of `input` bytes.
fn messages(hash: TreeHash, input: usize) -> PaddedMessages {
    PaddedMessages::new(hash, prefix(hash, F).len() + hash.n() + input)
}

/// The key of PRF, which is SEED.
#[derive(Clone, Copy)]
struct PrfKey<'a> {
    seed: &'a [u8],
    /// The chaining value behind PRF's number and SEED, which are a block of SHA-256 for values of 256 bits.
    start: Option<ChainStart>,
}

impl<'a> PrfKey<'a> {
    fn new(hash: TreeHash, seed: &'a [u8]) -> Self {
        let has_start = !hash.is_shake() && hash.n() == 32;
        let start = has_start.then(|| {
            let mut block = [0; 64];
            block[..32].copy_from_slice(prefix(hash, PRF));
            block[32..].copy_from_slice(seed);
            start_behind(&block)
        });
        Self { seed, start }
    }

    /// Makes an empty list of messages of PRF. Those behind a chaining value are addresses alone.
    fn messages(hash: TreeHash) -> PaddedMessages {
        match !hash.is_shake() && hash.n() == 32 {
            true => PaddedMessages::new(hash, 32),
            false => messages(hash, 32),
        }
    }

    /// Appends the message for an address.
    fn push(&self, messages: &mut PaddedMessages, address: HashAddress) {
        let address = address.encoded();
        match &self.start {
            Some(start) => messages.push_behind(start, &[&address]),
            None => messages.push(&[prefix(messages.hash(), PRF), self.seed, &address]),
        }
    }
}

/// A signature whose length and index are right.
pub(super) struct LayeredSignature<'a> {
    set: XmssSet,
    seed: PrfKey<'a>,
    root: &'a [u8],
    index: u64,
    /// The hash of the message.
    digest: Vec<u8>,
    /// The one-time signature and the path of each layer.
    layers: &'a [u8],
}

impl<'a> LayeredSignature<'a> {
    /// Reads a signature and hashes its message, or returns None if it is not one of this key. RFC 8391 algorithms 14
    /// and 17.
    pub(super) fn parse(key: &'a XmssPublicKey, message: &[u8], signature: &'a [u8]) -> Option<Self> {
        let (set, n) = (key.set(), key.set().hash().n());
        if signature.len() != set.signature_len() {
            return None;
        }
        let (index, rest) = signature.split_at_checked(set.index_len())?;
        let (randomizer, layers) = rest.split_at_checked(n)?;
        // A value of n bytes too: RFC 8391 section 4.1.9, step 2.
        let mut wide_index = [0; 32];
        wide_index[32 - index.len()..].copy_from_slice(index);
        let number = u64::from_be_bytes(*wide_index.last_chunk()?);
        if number >> set.height() != 0 {
            return None;
        }
        let start = prefix(set.hash(), H_MSG);
        let digest = digest(set.hash(), &[start, randomizer, key.root(), &wide_index[32 - n..], message]);
        let seed = PrfKey::new(set.hash(), key.seed());
        Some(Self { set, seed, root: key.root(), index: number, digest, layers })
    }

    /// Returns the position of the signature in a layer.
    fn position(&self, layer: usize) -> LayerPosition<'a> {
        let (set, height) = (self.set, self.set.tree_height());
        let index = self.index >> (layer * height);
        let signature = &self.layers[layer * (set.chains() + height) * set.hash().n()..];
        let (chains, rest) = signature.split_at(set.chains() * set.hash().n());
        LayerPosition {
            layer,
            tree: index >> height,
            // A tree has at most 2^20 leaves.
            leaf: (index & ((1 << height) - 1)) as u32,
            seed: self.seed,
            chains,
            path: &rest[..height * set.hash().n()],
        }
    }
}

/// A one-time signature and the path above it in the tree of a layer.
struct LayerPosition<'a> {
    layer: usize,
    tree: u64,
    leaf: u32,
    seed: PrfKey<'a>,
    chains: &'a [u8],
    path: &'a [u8],
}

impl LayerPosition<'_> {
    fn address(&self, kind: u32) -> HashAddress {
        HashAddress::new(self.layer, self.tree, kind)
    }
}

/// Verifies signatures with one hash function. RFC 8391 algorithms 14 and 17.
pub(super) fn verify(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    signatures: &[LayeredSignature<'_>],
) -> Vec<bool> {
    let n = hash.n();
    let mut nodes: Vec<u8> = signatures.iter().flat_map(|signature| &signature.digest).copied().collect();
    let max_layers = signatures.iter().map(|signature| signature.set.layers()).max().unwrap_or_default();
    for layer in 0..max_layers {
        let members: Vec<usize> =
            (0..signatures.len()).filter(|at| signatures[*at].set.layers() > layer).collect();
        let positions: Vec<_> = members.iter().map(|index| signatures[*index].position(layer)).collect();
        let signed: Vec<u8> = members.iter().flat_map(|index| &nodes[index * n..][..n]).copied().collect();
        let ends = chain_ends(hasher, hash, &positions, &signed);
        let leaves = compress_keys(hasher, hash, &positions, ends);
        let roots = roots(hasher, hash, &positions, leaves);
        for (index, root) in members.iter().zip(roots.chunks_exact(n)) {
            nodes[index * n..][..n].copy_from_slice(root);
        }
    }
    signatures.iter().zip(nodes.chunks_exact(n)).map(|(signature, root)| signature.root == root).collect()
}

/// A chain that has steps left.
struct WotsChain {
    /// The number of its value.
    output: usize,
    step: u8,
}

/// Returns the last values of the chains that sign `signed`. RFC 8391 algorithms 2 and 6.
fn chain_ends(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    positions: &[LayerPosition<'_>],
    signed: &[u8],
) -> Vec<u8> {
    let n = hash.n();
    let (mut values, mut running) = (Vec::new(), Vec::new());
    // The key and the mask of the next step of each chain.
    let mut masks = PrfKey::messages(hash);
    for (position, signed) in positions.iter().zip(signed.chunks_exact(n)) {
        let address = position.address(ONE_TIME).with(LEAF_WORD, position.leaf);
        let count = position.chains.len() / n;
        for (index, step) in (0_u32..).zip(digits(signed, DIGIT_BITS, count)) {
            if step < LAST_VALUE {
                running.push(WotsChain { output: values.len() / n + index as usize, step });
                let address = address.with(CHAIN_WORD, index).with(STEP_WORD, step.into());
                position.seed.push(&mut masks, address);
                position.seed.push(&mut masks, address.with(MASK_WORD, 1));
            }
        }
        values.extend_from_slice(position.chains);
    }
    let mut steps = messages(hash, n);
    let mut next = Vec::new();
    while !running.is_empty() {
        next.resize(2 * running.len() * n, 0);
        hasher.hash(&masks, &mut next);
        steps.clear();
        for (chain, masks) in running.iter().zip(next.chunks_exact(2 * n)) {
            let (key, mask) = masks.split_at(n);
            let mut value = [0; 32];
            xor(&values[chain.output * n..][..n], mask, &mut value[..n]);
            steps.push(&[prefix(hash, F), key, &value[..n]]);
        }
        next.truncate(running.len() * n);
        hasher.hash(&steps, &mut next);
        // From the last on, because the last one takes the number of one that ends.
        for index in (0..running.len()).rev() {
            let chain = &mut running[index];
            values[chain.output * n..][..n].copy_from_slice(&next[index * n..][..n]);
            chain.step += 1;
            if chain.step == LAST_VALUE {
                running.swap_remove(index);
                // The mask first, so that the key takes the number of a key.
                masks.swap_remove(2 * index + 1);
                masks.swap_remove(2 * index);
            } else {
                let step = u32::from(chain.step).to_be_bytes();
                for message in [2 * index, 2 * index + 1] {
                    let message = masks.message_mut(message);
                    let address_at = message.len() - 32;
                    message[address_at + 4 * STEP_WORD..][..4].copy_from_slice(&step);
                }
            }
        }
    }
    values
}

/// Returns the key and the masks of each hash computation: `COUNT` values of PRF. RFC 8391 section 2.7.
fn masks<'a, const COUNT: usize>(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    items: impl Iterator<Item = (PrfKey<'a>, HashAddress)>,
) -> Vec<u8> {
    let mut messages = PrfKey::messages(hash);
    for (key, address) in items {
        for mask in 0..COUNT {
            key.push(&mut messages, address.with(MASK_WORD, mask as u32));
        }
    }
    let mut masks = vec![0; messages.count() * hash.n()];
    hasher.hash(&messages, &mut masks);
    masks
}

/// Writes `left ^ right`.
fn xor(left: &[u8], right: &[u8], out: &mut [u8]) {
    for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
        *out = left ^ right;
    }
}

/// Compresses each one-time key to a leaf by an unbalanced tree. RFC 8391 algorithm 8.
fn compress_keys(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    positions: &[LayerPosition<'_>],
    ends: Vec<u8>,
) -> Vec<u8> {
    let n = hash.n();
    let (mut nodes, mut count) = (ends, positions.first().map_or(0, |position| position.chains.len() / n));
    for height in 0_u32.. {
        if count <= 1 {
            break;
        }
        let pairs = count / 2;
        let children =
            nodes.chunks_exact(count * n).flat_map(|nodes| nodes[..2 * pairs * n].chunks_exact(2 * n));
        let items = positions.iter().flat_map(|position| {
            let address = position.address(L_TREE).with(LEAF_WORD, position.leaf).with(CHAIN_WORD, height);
            (0..pairs).map(move |index| (position.seed, address.with(STEP_WORD, index as u32)))
        });
        let parents = randomized_nodes(hasher, hash, items, children);
        let mut next = Vec::with_capacity(positions.len() * count.div_ceil(2) * n);
        for (parents, nodes) in parents.chunks_exact(pairs * n).zip(nodes.chunks_exact(count * n)) {
            next.extend_from_slice(parents);
            // The last node of an odd number moves up as it is.
            next.extend_from_slice(&nodes[2 * pairs * n..]);
        }
        (nodes, count) = (next, count.div_ceil(2));
    }
    nodes
}

/// Hashes pairs of nodes. RFC 8391 algorithm 7.
fn randomized_nodes<'a, 'c>(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    items: impl Iterator<Item = (PrfKey<'a>, HashAddress)>,
    children: impl Iterator<Item = &'c [u8]>,
) -> Vec<u8> {
    let n = hash.n();
    let mut nodes = masks::<3>(hasher, hash, items);
    let mut messages = messages(hash, 2 * n);
    for (masks, children) in nodes.chunks_exact(3 * n).zip(children) {
        let (key, masks) = masks.split_at(n);
        let mut masked = [0; 64];
        xor(children, masks, &mut masked[..2 * n]);
        messages.push(&[prefix(hash, H), key, &masked[..2 * n]]);
    }
    nodes.truncate(messages.count() * n);
    hasher.hash(&messages, &mut nodes);
    nodes
}

/// Returns the root that follows from each leaf. RFC 8391 algorithm 13.
fn roots(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    positions: &[LayerPosition<'_>],
    leaves: Vec<u8>,
) -> Vec<u8> {
    let (n, mut nodes) = (hash.n(), leaves);
    let tree_height = |position: &LayerPosition<'_>| position.path.len() / n;
    let max_height = positions.iter().map(tree_height).max().unwrap_or_default();
    for height in 0..max_height {
        let members: Vec<usize> =
            (0..positions.len()).filter(|at| tree_height(&positions[*at]) > height).collect();
        let children: Vec<u8> = members
            .iter()
            .flat_map(|index| {
                let (value, position) = (&nodes[index * n..][..n], &positions[*index]);
                let sibling = &position.path[height * n..][..n];
                if position.leaf >> height & 1 == 0 { [value, sibling] } else { [sibling, value] }
            })
            .flatten()
            .copied()
            .collect();
        let items = members.iter().map(|index| {
            let position = &positions[*index];
            let address = position.address(TREE).with(CHAIN_WORD, height as u32);
            (position.seed, address.with(STEP_WORD, position.leaf >> (height + 1)))
        });
        let parents = randomized_nodes(hasher, hash, items, children.chunks_exact(2 * n));
        for (index, parent) in members.iter().zip(parents.chunks_exact(n)) {
            nodes[index * n..][..n].copy_from_slice(parent);
        }
    }
    nodes
}
