//! SLH-DSA keys: SK.seed || SK.prf || PK.seed || PK.root. FIPS 205 section 9.1, RFC 9909 section 6.

use oarlock_core::{KeyParts, SecretBytes, SlhDsaSet};
use oarlock_engine_kit::slh_dsa::{PortableSteps, SlhDsaFault, root};

use crate::KeyError;

/// Imports a private key, whose PK.root must follow from its seeds. `public` is the public key that PKCS#8 version 2
/// may contain.
///
/// The check computes one tree, which takes 0.2 ms to 0.2 s. Without it, a key with another root would sign, and nobody
/// could verify.
pub(crate) fn private(set: SlhDsaSet, private: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    check_len(set, set.private_len(), "private key", private)?;
    let (secrets, own_public) = private.split_at(set.public_len());
    let is_own = public.is_none_or(|public| public == own_public);
    if !is_own || own_public[set.n()..] != root_of(set, &secrets[..set.n()], own_public)? {
        return Err(KeyError::PublicMismatch { algorithm: set.standard_name() });
    }
    Ok(KeyParts::SlhDsaPrivate(set, SecretBytes::from(private)))
}

/// Makes a private key of SK.seed, SK.prf and PK.seed, n bytes each. FIPS 205 algorithm 18.
pub(crate) fn from_seeds(set: SlhDsaSet, seeds: &[u8]) -> Result<KeyParts, KeyError> {
    check_len(set, 3 * set.n(), "seeds", seeds)?;
    let root = root_of(set, &seeds[..set.n()], &seeds[set.public_len()..])?;
    // One piece: a vector that grew would leave the seeds behind.
    let mut private = Vec::with_capacity(set.private_len());
    private.extend_from_slice(seeds);
    private.extend_from_slice(&root);
    Ok(KeyParts::SlhDsaPrivate(set, SecretBytes::new(private)))
}

/// Imports a public key. All bytes of the right length are a key. FIPS 205 section 9.1.
pub(crate) fn public(set: SlhDsaSet, public: &[u8]) -> Result<KeyParts, KeyError> {
    check_len(set, set.public_len(), "public key", public)?;
    Ok(KeyParts::SlhDsaPublic(set, public.to_vec()))
}

fn root_of(set: SlhDsaSet, secret_seed: &[u8], public_seed: &[u8]) -> Result<Vec<u8>, KeyError> {
    let root = root(&PortableSteps::new(set, [public_seed]), set, secret_seed, &|| false);
    root.map_err(|_: SlhDsaFault| KeyError::Machine { what: "computing the root of a key" })
}

fn check_len(set: SlhDsaSet, len: usize, what: &str, bytes: &[u8]) -> Result<(), KeyError> {
    if bytes.len() == len {
        return Ok(());
    }
    let expected = format!("{what} of {len} bytes");
    Err(KeyError::Length { what: set.standard_name(), expected, found: bytes.len() })
}
