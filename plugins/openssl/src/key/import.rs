//! Keys from the numbers that another provider exports. None means that this provider does not support the key.

use oarlock::keys::{KeyError, export, raw, rsa};
use oarlock::{Key, MlDsaSet, MlKemSet, SecretBytes, SlhDsaSet};
use zeroize::Zeroizing;

use super::{KeySelection, curve_by_name, name};
use crate::ffi::libcrypto::params::ParamReader;
use crate::provider::LoadedProvider;

/// Imports an RSA key from its numbers.
pub(super) fn import_rsa(params: ParamReader<'_>, selection: KeySelection) -> Option<Key> {
    let (n, e) = (params.integer(name::N)?, params.integer(name::E)?);
    let private = params.integer(name::D).filter(|_| selection.private());
    let Some(d) = private else { return rsa::public(&n, &e).ok() };
    // The engines compute with two primes. Keys with more (RFC 8017 3.2) stay with the default provider.
    if params.has(name::FACTOR3) {
        return None;
    }
    let parts = [name::FACTOR1, name::FACTOR2, name::EXPONENT1, name::EXPONENT2, name::COEFFICIENT1];
    match parts.map(|name| params.integer(name)) {
        [Some(p), Some(q), Some(dp), Some(dq), Some(qinv)] => rsa::private(&rsa::PrivateNumbers {
            n: &n,
            e: &e,
            d: &d,
            p: &p,
            q: &q,
            dp: &dp,
            dq: &dq,
            qinv: &qinv,
        })
        .ok(),
        // A program may give n, e and d alone: EVP_PKEY_fromdata(3).
        _ => rsa::private_without_crt(&n, &e, &d).ok(),
    }
}

/// Imports an EC key from the name of its curve, its point and its scalar.
pub(super) fn import_ec(params: ParamReader<'_>, selection: KeySelection) -> Option<Key> {
    let curve = curve_by_name(params.text(name::GROUP)?)?;
    let public = params.octets(name::PUBLIC).map(|point| raw::ec_public(curve, point).ok());
    let scalar = params.integer(name::PRIVATE).filter(|_| selection.private());
    let Some(scalar) = scalar else { return public? };
    // OpenSSL pads the scalar to the length of the order, or passes it without leading zeros.
    let private = raw::ec_private(curve, &pad_to_width(&scalar, curve.scalar_len())?).ok()?;
    with_matching_public(private, public)
}

/// Pads or cuts an integer to a width. None if it is larger. The steps depend on the width alone, which is public.
fn pad_to_width(integer: &[u8], width: usize) -> Option<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(vec![0; width.saturating_sub(integer.len())]);
    let (above, kept) = integer.split_at(integer.len().saturating_sub(width));
    out.extend_from_slice(kept);
    above.iter().all(|byte| *byte == 0).then_some(out)
}

/// Imports a key of Ed25519 or X25519 from its encoded halves, which `private` and `public` read.
pub(super) fn import_edwards(
    params: ParamReader<'_>,
    selection: KeySelection,
    private: fn(&[u8]) -> Result<Key, KeyError>,
    public: fn(&[u8]) -> Result<Key, KeyError>,
) -> Option<Key> {
    let public = params.octets(name::PUBLIC).map(|bytes| public(bytes).ok());
    let secret = params.octets(name::PRIVATE).filter(|_| selection.private());
    let Some(secret) = secret else { return public? };
    with_matching_public(private(secret).ok()?, public)
}

/// Imports an ML-KEM key from its seed, its expanded form or its public half.
pub(super) fn import_ml_kem(
    provider: &LoadedProvider,
    params: ParamReader<'_>,
    selection: KeySelection,
    set: MlKemSet,
) -> Option<Key> {
    let public = params.octets(name::PUBLIC).map(|bytes| raw::ml_kem_public(set, bytes).ok());
    let read = LatticeReader {
        seed: |bytes: &[u8]| raw::ml_kem_seed(set, bytes),
        expanded: |bytes: &[u8]| raw::ml_kem_expanded(set, bytes),
    };
    import_lattice(provider, params, selection, public, &read)
}

/// Imports an ML-DSA key from its seed, its expanded form or its public half.
pub(super) fn import_ml_dsa(
    provider: &LoadedProvider,
    params: ParamReader<'_>,
    selection: KeySelection,
    set: MlDsaSet,
) -> Option<Key> {
    let public = params.octets(name::PUBLIC).map(|bytes| raw::ml_dsa_public(set, bytes).ok());
    let read = LatticeReader {
        seed: |bytes: &[u8]| raw::ml_dsa_seed(set, bytes),
        expanded: |bytes: &[u8]| raw::ml_dsa_expanded(set, bytes),
    };
    import_lattice(provider, params, selection, public, &read)
}

/// Imports an SLH-DSA key from its four parts or its public half.
pub(super) fn import_slh_dsa(
    provider: &LoadedProvider,
    params: ParamReader<'_>,
    selection: KeySelection,
    set: SlhDsaSet,
) -> Option<Key> {
    let public = params.octets(name::PUBLIC).map(|bytes| raw::slh_dsa_public(set, bytes).ok());
    let Some(secret) = params.octets(name::PRIVATE).filter(|_| selection.private()) else { return public? };
    let private = provider.off_fibre(|| raw::slh_dsa_private(set, secret)).ok()?.ok()?;
    with_matching_public(private, public)
}

/// The functions that read both forms of a private key.
struct LatticeReader<S, E> {
    seed: S,
    expanded: E,
}

fn import_lattice<S, E>(
    provider: &LoadedProvider,
    params: ParamReader<'_>,
    selection: KeySelection,
    public: Option<Option<Key>>,
    read: &LatticeReader<S, E>,
) -> Option<Key>
where
    S: Fn(&[u8]) -> Result<Key, KeyError> + Sync,
    E: Fn(&[u8]) -> Result<Key, KeyError> + Sync,
{
    let secret = |name| params.octets(name).filter(|_| selection.private());
    let private = match (secret(name::SEED), secret(name::PRIVATE)) {
        (None, None) => return public?,
        (Some(seed), expanded) => {
            let from_both = || {
                let key = (read.seed)(seed).ok()?;
                // A key that states both must mean one. RFC 9935 section 8, RFC 9881 section 8.
                let is_same = |expanded: &[u8]| {
                    export::expanded(&key).is_ok_and(|computed| computed == SecretBytes::from(expanded))
                };
                expanded.is_none_or(is_same).then_some(key)
            };
            provider.off_fibre(from_both).ok()??
        }
        (None, Some(expanded)) => provider.off_fibre(|| (read.expanded)(expanded)).ok()?.ok()?,
    };
    with_matching_public(private, public)
}

/// Returns the private key unless a public half came with it that is invalid or belongs to another key.
fn with_matching_public(private: Key, public: Option<Option<Key>>) -> Option<Key> {
    match public {
        // Signatures by this key would not verify under the certificate of that public half.
        Some(public) if public.as_ref().map(Key::fingerprint) != Some(private.fingerprint()) => None,
        _ => Some(private),
    }
}
