//! The encoded message, its randomised digest, and what the digest chooses.

use oarlock_core::{DigestAlg, SlhDsaSet};

use super::{SlhDsaFault, TreeId};
use crate::hash::{HashState, HmacKey, Sha256, Sha512, shake256};
use crate::lattice;

/// Returns M' of a message and its context, as pure SLH-DSA signs it. FIPS 205 algorithm 22, step 8.
///
/// # Errors
/// [`SlhDsaFault::Message`] if the context is longer than 255 bytes.
pub fn encoded_message(context: &[u8], message: &[u8]) -> Result<Vec<u8>, SlhDsaFault> {
    Ok([&[0, lattice::context_len(context)?], context, message].concat())
}

/// Returns M' of the digest of a message, as HashSLH-DSA signs it. FIPS 205 algorithm 23, step 24.
///
/// # Errors
/// As [`encoded_message`], and for SHA-1.
pub fn encoded_digest(context: &[u8], digest: DigestAlg, hash: &[u8]) -> Result<Vec<u8>, SlhDsaFault> {
    let oid = lattice::digest_oid(digest)?;
    Ok([&[1, lattice::context_len(context)?], context, &oid, hash].concat())
}

/// Writes R, the randomizer of a digest: PRF_msg. FIPS 205 sections 11.1 and 11.2.
pub(super) fn randomizer(set: SlhDsaSet, prf_key: &[u8], opt_rand: &[u8], message: &[u8], out: &mut [u8]) {
    match set.n() {
        _ if set.is_shake() => shake256(&[prf_key, opt_rand, message], out),
        16 => HmacKey::<Sha256>::new(prf_key).code(&[opt_rand, message], out),
        _ => HmacKey::<Sha512>::new(prf_key).code(&[opt_rand, message], out),
    }
}

/// The bytes of the longest digest.
const MAX_DIGEST: usize = 64;

fn digest<H: HashState>(parts: &[&[u8]], out: &mut [u8]) {
    let mut state = H::new();
    parts.iter().for_each(|part| state.update(part));
    state.finish(out);
}

/// The indices that the digest of a message chooses. FIPS 205 algorithm 19, steps 6 to 10.
pub(super) struct DigestIndices {
    /// The leaf that is revealed in each FORS tree.
    pub(super) fors_indices: Vec<u32>,
    /// The tree of the lowest layer that has the FORS key.
    pub(super) tree: u64,
    /// The leaf of this tree.
    pub(super) leaf: u32,
}

impl DigestIndices {
    /// Hashes a message: H_msg. `public` is PK.seed || PK.root.
    pub(super) fn new(set: SlhDsaSet, randomizer: &[u8], public: &[u8], message: &[u8]) -> Self {
        let mut digest = vec![0; set.digest_len()];
        let public_seed = &public[..set.n()];
        match set.n() {
            _ if set.is_shake() => shake256(&[randomizer, public, message], &mut digest),
            16 => expanded::<Sha256>([randomizer, public, message], public_seed, &mut digest),
            _ => expanded::<Sha512>([randomizer, public, message], public_seed, &mut digest),
        }
        Self::split(set, &digest)
    }

    /// Splits a digest of m bytes into the indices of FORS, that of the tree and that of the leaf.
    pub(super) fn split(set: SlhDsaSet, digest: &[u8]) -> Self {
        let (height, tree_bits) = (set.fors_height(), set.tree_height() * (set.layers() - 1));
        let (indices, rest) = digest.split_at((height * set.fors_trees()).div_ceil(8));
        let (tree, leaf) = rest.split_at(tree_bits.div_ceil(8));
        let index = |number: usize| {
            let bits = (number * height..(number + 1) * height)
                .map(|bit| u32::from(indices[bit / 8] >> (7 - bit % 8) & 1));
            bits.fold(0, |value, bit| value << 1 | bit)
        };
        // Trees have indices of up to 64 bits, so that the bits above are cut by a shift and not by a remainder.
        let tree = big_endian(tree) & (u64::MAX >> (64 - tree_bits));
        let leaf = big_endian(leaf) as u32 & ((1 << set.tree_height()) - 1);
        Self { fors_indices: (0..set.fors_trees()).map(index).collect(), tree, leaf }
    }

    /// Returns the trees of all layers on the path to the root, each with the leaf on the path. FIPS 205 algorithm 12,
    /// steps 6 to 9.
    pub(super) fn path(&self, set: SlhDsaSet) -> Vec<(TreeId, u32)> {
        let (mut tree, mut leaf) = (self.tree, self.leaf);
        let step = |layer| {
            let found = (TreeId { layer, tree }, leaf);
            leaf = (tree & ((1 << set.tree_height()) - 1)) as u32;
            tree >>= set.tree_height();
            found
        };
        (0..set.layers() as u32).map(step).collect()
    }
}

/// Hashes a message and expands the digest by MGF1. FIPS 205 sections 11.2.1 and 11.2.2, RFC 8017 B.2.1.
fn expanded<H: HashState>(message: [&[u8]; 3], public_seed: &[u8], out: &mut [u8]) {
    let [mut inner, mut block] = [[0; MAX_DIGEST]; 2];
    let (inner, block) = (&mut inner[..H::OUTPUT], &mut block[..H::OUTPUT]);
    digest::<H>(&message, inner);
    for (counter, chunk) in (0_u32..).zip(out.chunks_mut(H::OUTPUT)) {
        digest::<H>(&[message[0], public_seed, inner, &counter.to_be_bytes()], block);
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_indices_of_63_and_64_bits_keep_all_their_bits() {
        for (set, bits) in
            [(SlhDsaSet::Sha2_128f, 63), (SlhDsaSet::Shake256f, 64), (SlhDsaSet::Sha2_256s, 56)]
        {
            let digest = DigestIndices::split(set, &vec![0xff; set.digest_len()]);
            assert_eq!(digest.tree, u64::MAX >> (64 - bits), "{set}");
            assert_eq!(digest.leaf, (1 << set.tree_height()) - 1);
            assert!(digest.fors_indices.iter().all(|index| *index == (1 << set.fors_height()) - 1));
            let path = digest.path(set);
            let (top, leaf) = path[set.layers() - 1];
            assert_eq!((top.tree, leaf), (0, (1 << set.tree_height()) - 1), "{set}");
        }
    }

    #[test]
    fn fors_indices_are_read_from_the_left() {
        let set = SlhDsaSet::Sha2_128s;
        let mut digest = vec![0; set.digest_len()];
        digest[..3].copy_from_slice(&[0xab, 0xc1, 0x23]);
        assert_eq!(DigestIndices::split(set, &digest).fors_indices[..3], [0xabc, 0x123, 0]);
    }

    #[test]
    fn encodings_of_messages_and_digests_differ_in_their_first_byte() {
        assert_eq!(encoded_message(b"c", b"m").unwrap(), b"\x00\x01cm");
        let hash = [7; 32];
        let encoded = encoded_digest(b"", DigestAlg::Sha256, &hash).unwrap();
        assert_eq!((&encoded[..2], &encoded[13..]), (&[1, 0][..], &hash[..]));
        assert!(encoded_message(&[0; 256], b"").is_err() && encoded_message(&[0; 255], b"").is_ok());
    }
}
