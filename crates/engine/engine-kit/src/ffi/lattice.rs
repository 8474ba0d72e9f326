//! AWS-LC's functions for ML-KEM and ML-DSA.

use std::ptr;

use oarlock_core::{MlDsaSet, MlKemSet};

#[allow(
    clippy::wildcard_imports,
    reason = "the build script names the functions by their parameter sets"
)]
use super::*;

/// A function of AWS-LC failed for valid arguments: memory ran out, or the machine is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("AWS-LC failed: {0}")]
pub struct LatticeFault(pub(crate) &'static str);

pub(crate) fn ml_kem_keypair(
    set: MlKemSet,
    seed: &[u8; MlKemSet::SEED_LEN],
    public: &mut [u8],
    private: &mut [u8],
) -> Result<(), LatticeFault> {
    let function = match set {
        MlKemSet::MlKem512 => ml_kem_512_keypair_deterministic,
        MlKemSet::MlKem768 => ml_kem_768_keypair_deterministic,
        MlKemSet::MlKem1024 => ml_kem_1024_keypair_deterministic,
        _ => return Err(LatticeFault("an unknown parameter set")),
    };
    let (mut public_len, mut private_len) = (public.len(), private.len());
    // SAFETY: the buffers are writable for their lengths, which the function checks; the seed has 64 bytes.
    let fault = unsafe {
        let (public, private) = (public.as_mut_ptr(), private.as_mut_ptr());
        function(public, &raw mut public_len, private, &raw mut private_len, seed.as_ptr())
    };
    // ML-KEM functions return 0 for success, ML-DSA functions 1.
    if fault == 0 { Ok(()) } else { Err(LatticeFault("expanding an ML-KEM key")) }
}

pub(crate) fn ml_kem_is_public(set: MlKemSet, public: &[u8]) -> bool {
    let function = match set {
        MlKemSet::MlKem512 => ml_kem_512_check_pk,
        MlKemSet::MlKem768 => ml_kem_768_check_pk,
        MlKemSet::MlKem1024 => ml_kem_1024_check_pk,
        _ => return false,
    };
    // SAFETY: the key is readable for its length, which the function checks.
    unsafe { function(public.as_ptr(), public.len()) == 0 }
}

pub(crate) fn ml_kem_is_expanded(set: MlKemSet, private: &[u8]) -> bool {
    let function = match set {
        MlKemSet::MlKem512 => ml_kem_512_check_sk,
        MlKemSet::MlKem768 => ml_kem_768_check_sk,
        MlKemSet::MlKem1024 => ml_kem_1024_check_sk,
        _ => return false,
    };
    // SAFETY: the key is readable for its length, which the function checks.
    unsafe { function(private.as_ptr(), private.len()) == 0 }
}

/// The caller has checked the length of `public`.
pub(crate) fn ml_kem_encapsulate(
    set: MlKemSet,
    public: &[u8],
    random: &[u8; MlKemSet::RANDOM_LEN],
    ciphertext: &mut [u8],
    secret: &mut [u8; MlKemSet::SECRET_LEN],
) -> Result<(), LatticeFault> {
    debug_assert_eq!(public.len(), set.public_len());
    let function = match set {
        MlKemSet::MlKem512 => ml_kem_512_encapsulate_deterministic,
        MlKemSet::MlKem768 => ml_kem_768_encapsulate_deterministic,
        MlKemSet::MlKem1024 => ml_kem_1024_encapsulate_deterministic,
        _ => return Err(LatticeFault("an unknown parameter set")),
    };
    let (mut ciphertext_len, mut secret_len) = (ciphertext.len(), secret.len());
    // SAFETY: the outputs are writable for their lengths, which the function checks; the key has the length of its
    // set, and the random bytes are 32.
    let fault = unsafe {
        let (ciphertext, secret) = (ciphertext.as_mut_ptr(), secret.as_mut_ptr());
        let lens = (&raw mut ciphertext_len, &raw mut secret_len);
        function(ciphertext, lens.0, secret, lens.1, public.as_ptr(), random.as_ptr())
    };
    if fault == 0 { Ok(()) } else { Err(LatticeFault("encapsulating with ML-KEM")) }
}

/// The caller has checked the lengths of `private` and `ciphertext`.
pub(crate) fn ml_kem_decapsulate(
    set: MlKemSet,
    private: &[u8],
    ciphertext: &[u8],
    secret: &mut [u8; MlKemSet::SECRET_LEN],
) -> Result<(), LatticeFault> {
    debug_assert_eq!((private.len(), ciphertext.len()), (set.expanded_len(), set.ciphertext_len()));
    let function = match set {
        MlKemSet::MlKem512 => ml_kem_512_decapsulate,
        MlKemSet::MlKem768 => ml_kem_768_decapsulate,
        MlKemSet::MlKem1024 => ml_kem_1024_decapsulate,
        _ => return Err(LatticeFault("an unknown parameter set")),
    };
    let mut secret_len = secret.len();
    // SAFETY: the output is writable for its length, which the function checks; key and ciphertext have the lengths of
    // their set.
    let fault =
        unsafe { function(secret.as_mut_ptr(), &raw mut secret_len, ciphertext.as_ptr(), private.as_ptr()) };
    if fault == 0 { Ok(()) } else { Err(LatticeFault("decapsulating with ML-KEM")) }
}

/// The caller has made the buffers of the lengths of the set.
pub(crate) fn ml_dsa_keypair(
    set: MlDsaSet,
    seed: &[u8; MlDsaSet::SEED_LEN],
    public: &mut [u8],
    private: &mut [u8],
) -> Result<(), LatticeFault> {
    debug_assert_eq!((public.len(), private.len()), (set.public_len(), set.expanded_len()));
    let function = match set {
        MlDsaSet::MlDsa44 => ml_dsa_44_keypair_internal,
        MlDsaSet::MlDsa65 => ml_dsa_65_keypair_internal,
        MlDsaSet::MlDsa87 => ml_dsa_87_keypair_internal,
        _ => return Err(LatticeFault("an unknown parameter set")),
    };
    // SAFETY: both buffers have the lengths of their set, and the seed 32 bytes.
    let is_done = unsafe { function(public.as_mut_ptr(), private.as_mut_ptr(), seed.as_ptr()) };
    if is_done == 1 { Ok(()) } else { Err(LatticeFault("expanding an ML-DSA key")) }
}

/// The caller has checked the lengths. Returns false if the private key is wrong.
pub(crate) fn ml_dsa_public_of(set: MlDsaSet, private: &[u8], public: &mut [u8]) -> bool {
    debug_assert_eq!((public.len(), private.len()), (set.public_len(), set.expanded_len()));
    let function = match set {
        MlDsaSet::MlDsa44 => ml_dsa_44_pack_pk_from_sk,
        MlDsaSet::MlDsa65 => ml_dsa_65_pack_pk_from_sk,
        MlDsaSet::MlDsa87 => ml_dsa_87_pack_pk_from_sk,
        _ => return false,
    };
    // SAFETY: both buffers have the lengths of their set.
    unsafe { function(public.as_mut_ptr(), private.as_ptr()) == 1 }
}

/// The caller has checked the lengths.
pub(crate) fn ml_dsa_sign(
    set: MlDsaSet,
    private: &[u8],
    mu: &[u8; MlDsaSet::MU_LEN],
    random: &[u8; 32],
    signature: &mut [u8],
) -> Result<(), LatticeFault> {
    debug_assert_eq!((private.len(), signature.len()), (set.expanded_len(), set.signature_len()));
    let function = match set {
        MlDsaSet::MlDsa44 => ml_dsa_extmu_44_sign_internal,
        MlDsaSet::MlDsa65 => ml_dsa_extmu_65_sign_internal,
        MlDsaSet::MlDsa87 => ml_dsa_extmu_87_sign_internal,
        _ => return Err(LatticeFault("an unknown parameter set")),
    };
    let mut len = signature.len();
    // SAFETY: key and signature have the lengths of their set, mu 64 and rnd 32 bytes; the prefix is empty and may be
    // null.
    let is_done = unsafe {
        let (private, signature, random) = (private.as_ptr(), signature.as_mut_ptr(), random.as_ptr());
        function(private, signature, &raw mut len, mu.as_ptr(), mu.len(), ptr::null(), 0, random)
    };
    if is_done == 1 && len == signature.len() { Ok(()) } else { Err(LatticeFault("signing with ML-DSA")) }
}

/// The caller has checked the lengths.
pub(crate) fn ml_dsa_verify(
    set: MlDsaSet,
    public: &[u8],
    mu: &[u8; MlDsaSet::MU_LEN],
    signature: &[u8],
) -> bool {
    debug_assert_eq!((public.len(), signature.len()), (set.public_len(), set.signature_len()));
    let function = match set {
        MlDsaSet::MlDsa44 => ml_dsa_extmu_44_verify,
        MlDsaSet::MlDsa65 => ml_dsa_extmu_65_verify,
        MlDsaSet::MlDsa87 => ml_dsa_extmu_87_verify,
        _ => return false,
    };
    let (signature, len) = (signature.as_ptr(), signature.len());
    // SAFETY: key and signature have the lengths of their set, and mu has 64 bytes.
    unsafe { function(public.as_ptr(), signature, len, mu.as_ptr(), mu.len()) == 1 }
}
