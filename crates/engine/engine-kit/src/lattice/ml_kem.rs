//! ML-KEM. FIPS 203.

use oarlock_core::MlKemSet;
use zeroize::Zeroizing;

use super::{ExpandedKey, LatticeFault};
use crate::ffi::lattice as ffi;

/// Expands the key pair of a seed d || z. FIPS 203 algorithm 16.
///
/// # Errors
/// [`LatticeFault`].
pub fn expand(set: MlKemSet, seed: &[u8; MlKemSet::SEED_LEN]) -> Result<ExpandedKey, LatticeFault> {
    let mut public = vec![0; set.public_len()];
    let mut private = Zeroizing::new(vec![0; set.expanded_len()]);
    ffi::ml_kem_keypair(set, seed, &mut public, &mut private)?;
    Ok(ExpandedKey { public, private })
}

/// True if the bytes are an encapsulation key: of the right length, and every coefficient below q. FIPS 203 7.2.
#[must_use]
pub fn is_public(set: MlKemSet, public: &[u8]) -> bool {
    public.len() == set.public_len() && ffi::ml_kem_is_public(set, public)
}

/// True if the bytes are a decapsulation key in expanded form: of the right length, with the hash of an encapsulation
/// key that [`is_public`]. FIPS 203 7.3.
#[must_use]
pub fn is_expanded(set: MlKemSet, private: &[u8]) -> bool {
    private.len() == set.expanded_len()
        && ffi::ml_kem_is_expanded(set, private)
        && is_public(set, public_part(set, private))
}

/// Returns the encapsulation key within an expanded decapsulation key, which is the second of its four parts. FIPS 203
/// algorithm 16, step 3.
#[must_use]
pub fn public_part(set: MlKemSet, private: &[u8]) -> &[u8] {
    // Behind it are the hash of 32 bytes and z of 32 bytes.
    let end = private.len().saturating_sub(64);
    private.get(end.saturating_sub(set.public_len())..end).unwrap_or_default()
}

/// Encapsulates: writes the ciphertext, and behind it the secret of 32 bytes, to `out`. FIPS 203 algorithm 17.
///
/// # Errors
/// [`LatticeFault`] also if `public` is no encapsulation key or `out` has another length.
pub fn encapsulate(
    set: MlKemSet,
    public: &[u8],
    random: &[u8; MlKemSet::RANDOM_LEN],
    out: &mut [u8],
) -> Result<(), LatticeFault> {
    let wrong = LatticeFault("the lengths of an encapsulation do not fit");
    if public.len() != set.public_len() {
        return Err(wrong);
    }
    let (ciphertext, secret) = out.split_at_mut_checked(set.ciphertext_len()).ok_or(wrong)?;
    let secret = secret.try_into().map_err(|_| wrong)?;
    ffi::ml_kem_encapsulate(set, public, random, ciphertext, secret)
}

/// Decapsulates with an expanded key. A ciphertext that was not made for the key gives another secret. FIPS 203
/// algorithm 18.
///
/// # Errors
/// [`LatticeFault`] also if `private` or `ciphertext` has another length.
pub fn decapsulate(
    set: MlKemSet,
    private: &[u8],
    ciphertext: &[u8],
    secret: &mut [u8; MlKemSet::SECRET_LEN],
) -> Result<(), LatticeFault> {
    if private.len() != set.expanded_len() || ciphertext.len() != set.ciphertext_len() {
        return Err(LatticeFault("the lengths of a decapsulation do not fit"));
    }
    ffi::ml_kem_decapsulate(set, private, ciphertext, secret)
}
