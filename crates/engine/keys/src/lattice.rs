//! ML-KEM and ML-DSA keys: seeds, expanded keys and public keys. RFC 9935, RFC 9881.

use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, TagNumber, Tagged};
use oarlock_core::{KeyParts, LatticePrivate, LatticePrivateParts, MlDsaSet, MlKemSet, SecretBytes};
use oarlock_engine_kit::lattice::{ExpandedKey, LatticeFault, ml_dsa, ml_kem};
use zeroize::Zeroizing;

use crate::{KeyError, asn1};

/// A parameter set of ML-KEM or ML-DSA.
pub(crate) trait LatticeSet: Copy {
    const SEED_LEN: usize;

    /// Returns the name of the standard.
    fn name(self) -> &'static str;

    fn public_len(self) -> usize;

    fn expanded_len(self) -> usize;

    fn expand(self, seed: &[u8]) -> Result<ExpandedKey, LatticeFault>;

    /// Returns the public key of an expanded key, or `None` if its parts do not belong together.
    fn public_of(self, expanded: &[u8]) -> Option<Vec<u8>>;
}

/// Imports what the OCTET STRING of PKCS#8 contains: `CHOICE { seed [0], expandedKey, both }` of RFC 9935 section 6 and
/// RFC 9881 section 6, or one of OpenSSL's other forms: a bare seed, a bare expanded key, or the expanded key with the
/// public key behind it in an OCTET STRING (`oqskeypair`).
///
/// `public` is the public key that PKCS#8 version 2 may contain.
pub(crate) fn pkcs8_private<S: LatticeSet>(
    set: S,
    content: &[u8],
    public: Option<&[u8]>,
) -> Result<LatticePrivateParts<S>, KeyError> {
    // No DER of these keys is as long as a bare form.
    let parts = match content.len() {
        len if len == S::SEED_LEN => from_seed(set, content),
        len if len == set.expanded_len() => from_expanded(set, content),
        _ => choice(set, content),
    }?;
    agree(set, parts, public)
}

fn choice<S: LatticeSet>(set: S, content: &[u8]) -> Result<LatticePrivateParts<S>, KeyError> {
    let malformed = asn1::malformed("private key of a lattice scheme");
    let any = AnyRef::from_der(content).map_err(&malformed)?;
    let tag = any.tag();
    if tag.is_context_specific() && !tag.is_constructed() && tag.number() == TagNumber(0) {
        return from_seed(set, any.value());
    }
    if tag == der::Tag::OctetString {
        let bytes = any.value();
        return match bytes.split_at_checked(set.expanded_len()) {
            Some((expanded, public)) if public.len() == set.public_len() => {
                agree(set, from_expanded(set, expanded)?, Some(public))
            }
            _ => from_expanded(set, bytes),
        };
    }
    let members = any.sequence(|reader| {
        let seed = <&OctetStringRef>::decode(reader)?;
        Ok::<_, der::Error>((seed.as_bytes(), <&OctetStringRef>::decode(reader)?.as_bytes()))
    });
    let (seed, expanded) = members.map_err(&malformed)?;
    both(set, seed, expanded)
}

/// Recomputes the expanded key and compares every byte, z of ML-KEM included. RFC 9935 section 8.
fn both<S: LatticeSet>(set: S, seed: &[u8], expanded: &[u8]) -> Result<LatticePrivateParts<S>, KeyError> {
    check_len(set, S::SEED_LEN, "seed", seed)?;
    check_len(set, set.expanded_len(), "expanded key", expanded)?;
    let computed = expand(set, seed)?;
    if SecretBytes::from(&computed.private[..]) != SecretBytes::from(expanded) {
        return Err(KeyError::SeedMismatch { algorithm: set.name() });
    }
    Ok(seeded(set, seed, computed.public))
}

/// Imports a seed: d || z of ML-KEM, 64 bytes, or xi of ML-DSA, 32 bytes.
pub(crate) fn from_seed<S: LatticeSet>(set: S, seed: &[u8]) -> Result<LatticePrivateParts<S>, KeyError> {
    check_len(set, S::SEED_LEN, "seed", seed)?;
    Ok(seeded(set, seed, expand(set, seed)?.public))
}

fn seeded<S>(set: S, seed: &[u8], public: Vec<u8>) -> LatticePrivateParts<S> {
    LatticePrivateParts { set, private: LatticePrivate::Seed(SecretBytes::from(seed)), public }
}

/// Imports an expanded key, whose parts must belong together.
pub(crate) fn from_expanded<S: LatticeSet>(
    set: S,
    expanded: &[u8],
) -> Result<LatticePrivateParts<S>, KeyError> {
    check_len(set, set.expanded_len(), "expanded key", expanded)?;
    let public = set.public_of(expanded).ok_or(KeyError::ExpandedKey { algorithm: set.name() })?;
    Ok(LatticePrivateParts { set, private: LatticePrivate::Expanded(SecretBytes::from(expanded)), public })
}

/// Imports an ML-KEM encapsulation key: every coefficient is below q. FIPS 203 7.2.
pub(crate) fn ml_kem_public(set: MlKemSet, public: &[u8]) -> Result<KeyParts, KeyError> {
    check_len(set, set.public_len(), "public key", public)?;
    if !ml_kem::is_public(set, public) {
        return Err(KeyError::EncapsulationKey { algorithm: set.name() });
    }
    Ok(KeyParts::MlKemPublic(set, public.to_vec()))
}

/// Imports an ML-DSA public key. All bytes of the right length are a key. FIPS 204 algorithm 23.
pub(crate) fn ml_dsa_public(set: MlDsaSet, public: &[u8]) -> Result<KeyParts, KeyError> {
    check_len(set, set.public_len(), "public key", public)?;
    Ok(KeyParts::MlDsaPublic(set, public.to_vec()))
}

/// Returns the content of PKCS#8's OCTET STRING: the seed if it is known, else the expanded key. RFC 9935 section 6,
/// RFC 9881 section 6.
pub(crate) fn pkcs8_content(private: &LatticePrivate) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    match private {
        LatticePrivate::Seed(seed) => {
            let len = u8::try_from(seed.len()).map_err(asn1::not_encoded)?;
            // `[0] IMPLICIT OCTET STRING`, written by hand in one piece, so that no copy of the seed stays behind.
            let mut der = Zeroizing::new(Vec::with_capacity(2 + seed.len()));
            der.extend_from_slice(&[0x80, len]);
            der.extend_from_slice(seed.expose());
            Ok(der)
        }
        LatticePrivate::Expanded(expanded) => asn1::secret_octets(expanded.expose()),
    }
}

/// Returns the expanded form of a private key.
pub(crate) fn expanded<S: LatticeSet>(parts: &LatticePrivateParts<S>) -> Result<SecretBytes, KeyError> {
    match &parts.private {
        LatticePrivate::Seed(seed) => Ok(SecretBytes::from(&expand(parts.set, seed.expose())?.private[..])),
        LatticePrivate::Expanded(expanded) => Ok(expanded.clone()),
    }
}

fn agree<S: LatticeSet>(
    set: S,
    parts: LatticePrivateParts<S>,
    public: Option<&[u8]>,
) -> Result<LatticePrivateParts<S>, KeyError> {
    match public {
        Some(public) if public != parts.public => Err(KeyError::PublicMismatch { algorithm: set.name() }),
        _ => Ok(parts),
    }
}

fn check_len<S: LatticeSet>(set: S, len: usize, what: &str, bytes: &[u8]) -> Result<(), KeyError> {
    if bytes.len() == len {
        return Ok(());
    }
    let expected = format!("{what} of {len} bytes");
    Err(KeyError::Length { what: set.name(), expected, found: bytes.len() })
}

fn expand<S: LatticeSet>(set: S, seed: &[u8]) -> Result<ExpandedKey, KeyError> {
    set.expand(seed).map_err(|_| KeyError::Machine { what: "expanding the seed of a key" })
}

/// The random bytes of the trial encapsulation of an import. They need not be secret: nobody uses the secret.
const TRIAL: [u8; MlKemSet::RANDOM_LEN] = [0x5A; MlKemSet::RANDOM_LEN];

impl LatticeSet for MlKemSet {
    const SEED_LEN: usize = Self::SEED_LEN;

    fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => "ML-KEM-512",
            Self::MlKem768 => "ML-KEM-768",
            Self::MlKem1024 => "ML-KEM-1024",
            _ => "ML-KEM",
        }
    }

    fn public_len(self) -> usize {
        self.public_len()
    }

    fn expanded_len(self) -> usize {
        self.expanded_len()
    }

    fn expand(self, seed: &[u8]) -> Result<ExpandedKey, LatticeFault> {
        ml_kem::expand(self, &fixed(seed))
    }

    /// FIPS 203 7.3 asks for the hash of the encapsulation key only. The key could still hold another one than that of
    /// its secret, and then every secret would differ from the peer's without an error. One encapsulation shows it.
    fn public_of(self, expanded: &[u8]) -> Option<Vec<u8>> {
        if !ml_kem::is_expanded(self, expanded) {
            return None;
        }
        let public = ml_kem::public_part(self, expanded);
        let mut made = Zeroizing::new(vec![0; self.ciphertext_len() + Self::SECRET_LEN]);
        ml_kem::encapsulate(self, public, &TRIAL, &mut made).ok()?;
        let (ciphertext, secret) = made.split_at(self.ciphertext_len());
        let mut found = Zeroizing::new([0; Self::SECRET_LEN]);
        ml_kem::decapsulate(self, expanded, ciphertext, &mut found).ok()?;
        (secret == &found[..]).then(|| public.to_vec())
    }
}

impl LatticeSet for MlDsaSet {
    const SEED_LEN: usize = Self::SEED_LEN;

    fn name(self) -> &'static str {
        match self {
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
            _ => "ML-DSA",
        }
    }

    fn public_len(self) -> usize {
        self.public_len()
    }

    fn expanded_len(self) -> usize {
        self.expanded_len()
    }

    fn expand(self, seed: &[u8]) -> Result<ExpandedKey, LatticeFault> {
        ml_dsa::expand(self, &fixed(seed))
    }

    fn public_of(self, expanded: &[u8]) -> Option<Vec<u8>> {
        ml_dsa::public_of(self, expanded)
    }
}

/// Copies a seed whose length the caller has checked.
fn fixed<const N: usize>(seed: &[u8]) -> Zeroizing<[u8; N]> {
    let mut bytes = Zeroizing::new([0; N]);
    let len = seed.len().min(N);
    bytes[..len].copy_from_slice(&seed[..len]);
    bytes
}
