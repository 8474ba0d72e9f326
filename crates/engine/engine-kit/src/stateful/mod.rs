//! Verification of stateful hash-based signatures, HSS with LMS (RFC 8554) and XMSS with XMSS^MT (RFC 8391): one
//! algorithm each, generic over the engine that hashes.
//!
//! | module | content |
//! |---|---|
//! | [`messages`](PaddedMessages) | many messages of one length, padded for their hash function |
//! | `hss`, `xmss` | the two schemes, each for many signatures side by side |
//! | `digits` | the digits that Winternitz chains sign, with their checksum |
//! | `portable` | [`TreeHasher`] by one stream of compression functions |
//!
//! The chains of all signatures of a batch are steps of one loop, and those that have ended leave it. All levels of an
//! HSS signature are verified at once, because each contains the public key of the next. The layers of XMSS^MT follow
//! each other, because each signs the root of the one before.
//!
//! All inputs are public, so that nothing is wiped and every branch may depend on them. Lengths are checked before
//! anything is hashed, and bound the work: one signature takes at most 8 x 265 chains of LMS with one step each, or 8 x
//! 34 of 255 steps, or 12 x 67 of XMSS with 15 steps of three hashes.

mod digits;
mod hss;
mod messages;
mod portable;
#[cfg(test)]
mod tests;
mod xmss;

use oarlock_core::{HssPublicKey, Operation, SecondInput, Status, TreeHash, XmssPublicKey};

pub use messages::{ChainStart, PaddedMessages};
pub use portable::PortableHasher;

/// Public keys, messages and signatures of every hash function, one case a line: `hss` or `xmss`, the public key, the
/// message and the signature, in hexadecimal. Made by pyhsslms 2.0.0 and go-xmssmt 1.5.2.
pub const KNOWN_SIGNATURES: &str = include_str!("known.txt");

/// The hash functions of an engine.
pub trait TreeHasher {
    /// Writes the value of each message, the first n bytes of its hash, one behind the other.
    ///
    /// The messages are independent of each other and may be hashed in any order, any number at once. Their number is
    /// often no multiple of a lane count.
    fn hash(&self, messages: &PaddedMessages, values: &mut [u8]);
}

/// A signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct StatefulCheck<'a> {
    key: StatefulKey<'a>,
    message: &'a [u8],
    signature: &'a [u8],
}

/// A public key of either scheme.
#[derive(Clone, Copy, Debug)]
enum StatefulKey<'a> {
    Hss(&'a HssPublicKey),
    Xmss(&'a XmssPublicKey),
}

impl<'a> StatefulCheck<'a> {
    /// Returns the signature of an operation with its message and its key.
    ///
    /// # Errors
    /// [`Status::BadKey`] for keys of other schemes, [`Status::Malformed`] without a signature.
    pub fn new(operation: &'a Operation<'a>) -> Result<Self, Status> {
        let hss = operation.key.hss_public().map(StatefulKey::Hss);
        let key = hss.or_else(|| operation.key.xmss_public().map(StatefulKey::Xmss)).ok_or(Status::BadKey)?;
        match operation.extra {
            SecondInput::Signature(signature) => Ok(Self { key, message: operation.input, signature }),
            _ => Err(Status::Malformed),
        }
    }
}

/// Verifies signatures of any schemes and parameter sets side by side.
pub fn verify(hasher: &impl TreeHasher, checks: &[StatefulCheck<'_>]) -> Vec<bool> {
    let mut verdicts = vec![false; checks.len()];
    // One length and one function for all chains of a loop.
    for hash in TreeHash::ALL {
        verify_hss(hasher, hash, checks, &mut verdicts);
        verify_xmss(hasher, hash, checks, &mut verdicts);
    }
    verdicts
}

fn verify_hss(hasher: &impl TreeHasher, hash: TreeHash, checks: &[StatefulCheck<'_>], verdicts: &mut [bool]) {
    let (mut trees, mut owners) = (Vec::new(), Vec::new());
    for (index, StatefulCheck { key, message, signature }) in checks.iter().enumerate() {
        if let StatefulKey::Hss(key) = key
            && key.set().top().hash() == hash
            && let Some(levels) = hss::tree_signatures(key, message, signature)
        {
            // Until a tree says otherwise.
            verdicts[index] = true;
            owners.resize(owners.len() + levels.len(), index);
            trees.extend(levels);
        }
    }
    for (owner, is_valid) in owners.into_iter().zip(hss::verify_trees(hasher, hash, &trees)) {
        verdicts[owner] &= is_valid;
    }
}

fn verify_xmss(
    hasher: &impl TreeHasher,
    hash: TreeHash,
    checks: &[StatefulCheck<'_>],
    verdicts: &mut [bool],
) {
    let (mut signatures, mut owners) = (Vec::new(), Vec::new());
    for (index, StatefulCheck { key, message, signature }) in checks.iter().enumerate() {
        if let StatefulKey::Xmss(key) = key
            && key.set().hash() == hash
            && let Some(parts) = xmss::LayeredSignature::parse(key, message, signature)
        {
            owners.push(index);
            signatures.push(parts);
        }
    }
    for (owner, is_valid) in owners.into_iter().zip(xmss::verify(hasher, hash, &signatures)) {
        verdicts[owner] = is_valid;
    }
}

/// Returns n bytes of the hash of a message of any length, given in parts.
fn digest(hash: TreeHash, parts: &[&[u8]]) -> Vec<u8> {
    use crate::hash::{HashState, Sha256, shake256};

    let mut value = vec![0; hash.n()];
    if hash.is_shake() {
        shake256(parts, &mut value);
    } else {
        let mut state = Sha256::new();
        parts.iter().for_each(|part| state.update(part));
        state.finish(&mut value);
    }
    value
}
