//! ML-DSA. FIPS 204.

use oarlock_core::{DigestAlg, MlDsaSet};
use zeroize::Zeroizing;

use super::{ExpandedKey, LatticeFault, context_len, digest_oid};
use crate::ffi::lattice as ffi;
use crate::hash::shake256;

/// Expands the key pair of a seed xi. FIPS 204 algorithm 6.
///
/// # Errors
/// [`LatticeFault`].
pub fn expand(set: MlDsaSet, seed: &[u8; MlDsaSet::SEED_LEN]) -> Result<ExpandedKey, LatticeFault> {
    let mut public = vec![0; set.public_len()];
    let mut private = Zeroizing::new(vec![0; set.expanded_len()]);
    ffi::ml_dsa_keypair(set, seed, &mut public, &mut private)?;
    Ok(ExpandedKey { public, private })
}

/// Returns the public key of an expanded private key, or `None` if the parts of that key do not belong together: a
/// coefficient of s1 or s2 beyond eta, or another t0 or tr than follows from the rest.
#[must_use]
pub fn public_of(set: MlDsaSet, private: &[u8]) -> Option<Vec<u8>> {
    let mut public = vec![0; set.public_len()];
    let is_good = private.len() == set.expanded_len() && ffi::ml_dsa_public_of(set, private, &mut public);
    is_good.then_some(public)
}

/// The hash tr of a public key, 64 bytes. FIPS 204 algorithm 6, step 9.
#[must_use]
pub fn public_hash(public: &[u8]) -> [u8; 64] {
    let mut hash = [0; 64];
    shake256(&[public], &mut hash);
    hash
}

/// The message representative of a message under the key with the hash `tr`. FIPS 204 algorithm 2, step 10 and
/// algorithm 7, step 6.
///
/// # Errors
/// [`LatticeFault`] if the context is longer than 255 bytes.
pub fn message_mu(
    tr: &[u8; 64],
    context: &[u8],
    message: &[u8],
) -> Result<[u8; MlDsaSet::MU_LEN], LatticeFault> {
    Ok(mu(&[tr, &[0, context_len(context)?], context, message]))
}

/// The message representative of the digest of a message. FIPS 204 algorithm 4, step 23.
///
/// # Errors
/// [`LatticeFault`] if the context is longer than 255 bytes, or if the digest is not one of [`DigestAlg::PRE_HASH`].
pub fn digest_mu(
    tr: &[u8; 64],
    context: &[u8],
    digest: DigestAlg,
    hash: &[u8],
) -> Result<[u8; MlDsaSet::MU_LEN], LatticeFault> {
    Ok(mu(&[tr, &[1, context_len(context)?], context, &digest_oid(digest)?, hash]))
}

fn mu(parts: &[&[u8]]) -> [u8; MlDsaSet::MU_LEN] {
    let mut mu = [0; MlDsaSet::MU_LEN];
    shake256(parts, &mut mu);
    mu
}

/// Signs mu with an expanded key and the random bytes rnd; zeros make the deterministic variant. FIPS 204 algorithm 7.
///
/// # Errors
/// [`LatticeFault`] also if `private` or `signature` has another length.
pub fn sign(
    set: MlDsaSet,
    private: &[u8],
    mu: &[u8; MlDsaSet::MU_LEN],
    random: &[u8; 32],
    signature: &mut [u8],
) -> Result<(), LatticeFault> {
    if private.len() != set.expanded_len() || signature.len() != set.signature_len() {
        return Err(LatticeFault("the lengths of a signature do not fit"));
    }
    ffi::ml_dsa_sign(set, private, mu, random, signature)
}

/// True if the signature of mu verifies. FIPS 204 algorithm 8.
#[must_use]
pub fn verify(set: MlDsaSet, public: &[u8], mu: &[u8; MlDsaSet::MU_LEN], signature: &[u8]) -> bool {
    public.len() == set.public_len()
        && signature.len() == set.signature_len()
        && ffi::ml_dsa_verify(set, public, mu, signature)
}
