//! SLH-DSA (FIPS 205): one algorithm, generic over the engine that computes its hash steps.
//!
//! | module | content |
//! |---|---|
//! | [`steps`](HashSteps) | what an engine implements: chains and nodes, many independent ones at once |
//! | `address` | the addresses that make every hash step different from all others |
//! | `message` | the encoded message M', its randomised digest, and the indices within it |
//! | `wots`, `tree`, `fors`, `hypertree` | one-time keys, Merkle trees, few-time keys, and the tree of trees |
//! | `portable` | [`HashSteps`] by one stream of compression functions |
//! | [`operation`] | the operations of the contract, for every engine |
//!
//! The leaves of all layers depend on the digest of the message alone, and not on each other. So one signature is one
//! stream of independent chains, and fills the lanes of an engine by itself. Only the few chains that sign the roots of
//! lower layers come later, and they form a stream too.
//!
//! SK.seed, SK.prf and every secret value that is not in the signature decide neither a branch nor an index, and memory
//! that has held them is wiped. Indices and digits come from the digest of the message and from public roots.

mod address;
mod fors;
mod hypertree;
mod message;
pub mod operation;
pub(crate) mod portable;
mod steps;
#[cfg(test)]
mod tests;
mod tree;
mod wots;

use oarlock_core::SlhDsaSet;
use subtle::ConstantTimeEq;

pub use address::{Address, AddressKind};
pub use message::{encoded_digest, encoded_message};
pub use portable::PortableSteps;
pub use steps::{Chain, HashSteps};

use crate::lattice::LatticeFault;
use message::DigestIndices;
use tree::TreeId;

/// The reason why there is no signature or no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlhDsaFault {
    /// The caller does not want the result any more.
    #[error("cancelled")]
    Cancelled,
    /// PK.root does not follow from SK.seed and PK.seed, or a length does not fit.
    #[error("the parts of the private key do not belong together")]
    BadKey,
    /// The context is longer than 255 bytes, or HashSLH-DSA does not take the digest.
    #[error(transparent)]
    Message(#[from] LatticeFault),
}

/// Computes PK.root, the root of the highest tree, of the seeds of `steps`' first key. FIPS 205 algorithm 18.
///
/// `is_cancelled` is asked every eight leaves, as in [`sign`].
///
/// # Errors
/// [`SlhDsaFault::Cancelled`]; [`SlhDsaFault::BadKey`] if SK.seed has another length than n.
pub fn root(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    secret_seed: &[u8],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, SlhDsaFault> {
    if secret_seed.len() != set.n() {
        return Err(SlhDsaFault::BadKey);
    }
    let mut nodes = tree::leaves(steps, set, secret_seed, &[TreeId::top(set)], is_cancelled)?;
    tree::reduce(
        steps,
        set.n(),
        &mut nodes,
        set.tree_height(),
        |height, index| TreeId::top(set).node(height, index),
        |_, _| {},
    );
    Ok(nodes[..set.n()].to_vec())
}

/// Signs an encoded message M' with a private key SK.seed || SK.prf || PK.seed || PK.root, whose PK.seed is that of
/// `steps`' first key. FIPS 205 algorithm 19.
///
/// The highest root is computed in any case and compared with PK.root, so that a wrong key makes no signature.
/// `is_cancelled` is asked every eight leaves of the hypertree and every tree of FORS, which is every millisecond at
/// most.
///
/// # Errors
/// [`SlhDsaFault`]. `signature` then has no meaning, and the caller wipes it.
pub fn sign(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    private: &[u8],
    message: &[u8],
    opt_rand: &[u8],
    signature: &mut [u8],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<(), SlhDsaFault> {
    let n = set.n();
    if private.len() != set.private_len() || opt_rand.len() != n || signature.len() != set.signature_len() {
        return Err(SlhDsaFault::BadKey);
    }
    let (seed, rest) = private.split_at(n);
    let (prf_key, public) = rest.split_at(n);
    let (randomizer, rest) = signature.split_at_mut(n);
    message::randomizer(set, prf_key, opt_rand, message, randomizer);
    steps.publish(randomizer);
    let digest = DigestIndices::new(set, randomizer, public, message);
    let (fors, layers) = rest.split_at_mut(fors::signature_len(set));
    let fors_key = fors::sign(steps, set, seed, &digest, fors, is_cancelled)?;
    let root = hypertree::sign(steps, set, seed, &digest, &fors_key, layers, is_cancelled)?;
    // A difference says that the key is wrong, and no more.
    if bool::from(root.ct_eq(&public[n..])) { Ok(()) } else { Err(SlhDsaFault::BadKey) }
}

/// A signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct SignatureCheck<'a> {
    /// The public key PK.seed || PK.root. The key of the same index in the engine's steps has its PK.seed.
    pub public: &'a [u8],
    /// The encoded message M'.
    pub message: &'a [u8],
    /// The signature. One of another length than that of the set does not verify.
    pub signature: &'a [u8],
}

/// Verifies signatures of one set side by side, each under the key of `steps` with its index. FIPS 205 algorithm 20.
pub fn verify(steps: &impl HashSteps, set: SlhDsaSet, checks: &[SignatureCheck<'_>]) -> Vec<bool> {
    let n = set.n();
    let fits = |check: &SignatureCheck<'_>| {
        check.signature.len() == set.signature_len() && check.public.len() == set.public_len()
    };
    let fitting: Vec<usize> = (0..checks.len()).filter(|index| fits(&checks[*index])).collect();
    if fitting.is_empty() {
        return vec![false; checks.len()];
    }
    let mut parts = Vec::with_capacity(fitting.len());
    for index in &fitting {
        let SignatureCheck { public, message, signature } = checks[*index];
        let (randomizer, rest) = signature.split_at(n);
        let (fors, layers) = rest.split_at(fors::signature_len(set));
        let digest = DigestIndices::new(set, randomizer, public, message);
        // unreachable because no batch has 2^32 signatures
        let key = u32::try_from(*index).unwrap_or(u32::MAX);
        parts.push(SignatureParts { key, digest, fors, layers });
    }
    let fors_keys = fors::public_keys(steps, set, &parts);
    let roots = hypertree::roots(steps, set, &parts, fors_keys);
    let mut verdicts = vec![false; checks.len()];
    for (index, root) in fitting.into_iter().zip(roots.chunks_exact(n)) {
        verdicts[index] = *root == checks[index].public[n..];
    }
    verdicts
}

/// A signature that is being verified.
struct SignatureParts<'a> {
    /// The index of its key in the engine's steps.
    key: u32,
    digest: DigestIndices,
    fors: &'a [u8],
    layers: &'a [u8],
}
