//! Key handles: imported once, immutable, shared by handle, identified by fingerprint.

mod composite;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::{
    CompositeAlg, Curve, ForkSafeCell, HssPublicKey, HssSet, MacAlg, MlDsaSet, MlKemSet, RsaExponent,
    SecretBytes, Shape, SlhDsaSet, XmssPublicKey, XmssSet,
};

pub use composite::CompositeParts;

/// A cheap handle to an immutable key.
///
/// `Debug` and `Display` show the kind, the home and the fingerprint, never key material.
#[derive(Clone)]
pub struct Key(Arc<KeyData>);

struct KeyData {
    kind: KeyKind,
    home: KeyHome,
    parts: Option<KeyParts>,
    /// Kept, because each job asks for it several times.
    rsa_public_shape: Option<Shape>,
    fingerprint: Fingerprint,
    prepared: PreparedValues,
}

/// The place of a key's private parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyHome {
    /// This process.
    Local,
    /// A named holder, such as an HSM or a remote server. Jobs of the key go to this holder only.
    Held {
        /// The holder's name, as [`Holder::name`](crate::Holder::name) returns it.
        holder: Arc<str>,
        /// The holder's name for the key, such as an object label.
        reference: Arc<str>,
    },
}

/// The kind of a key, without its material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// RSA with CRT parts, and the length of the modulus in bits.
    RsaPrivate(u16),
    /// RSA modulus and exponent, and the length of the modulus in bits.
    RsaPublic(u16),
    /// A modulus with a secret exponent and no CRT parts.
    ModExp {
        /// The length of the modulus.
        bits: u16,
        /// The bound of the exponent's length, which fixes the shape.
        exponent_bits: u16,
    },
    /// A private key of a NIST curve (with its public point), for ECDSA and for ECDH.
    ///
    /// The key itself permits both. Grants and policies above the engines permit less.
    EcPrivate(Curve),
    /// A public key of a NIST curve.
    EcPublic(Curve),
    /// An Ed25519 private key (with its public key).
    Ed25519Private,
    /// An Ed25519 public key.
    Ed25519Public,
    /// An X25519 private key (with its public key).
    X25519Private,
    /// An X25519 public key.
    X25519Public,
    /// An ML-KEM private key, which decapsulates (with its public key).
    MlKemPrivate(MlKemSet),
    /// An ML-KEM public key, which encapsulates.
    MlKemPublic(MlKemSet),
    /// An ML-DSA private key (with its public key).
    MlDsaPrivate(MlDsaSet),
    /// An ML-DSA public key.
    MlDsaPublic(MlDsaSet),
    /// An SLH-DSA private key (with its public key).
    SlhDsaPrivate(SlhDsaSet),
    /// An SLH-DSA public key.
    SlhDsaPublic(SlhDsaSet),
    /// An HSS public key.
    HssPublic(HssSet),
    /// An XMSS or XMSS^MT public key.
    XmssPublic(XmssSet),
    /// A private key of ML-DSA and one of a traditional signature (with their public keys).
    CompositePrivate(CompositeAlg),
    /// A public key of ML-DSA and one of a traditional signature.
    CompositePublic(CompositeAlg),
    /// A symmetric key, and its length in bytes.
    Secret(u16),
}

impl KeyKind {
    /// True if there is nothing to keep secret: such a key only verifies and encapsulates.
    #[must_use]
    pub fn is_public(self) -> bool {
        // Without a wildcard, so that a new kind is not taken for public, nor a public one refused for its permissions.
        match self {
            Self::RsaPublic(_)
            | Self::EcPublic(_)
            | Self::Ed25519Public
            | Self::X25519Public
            | Self::MlKemPublic(_)
            | Self::MlDsaPublic(_)
            | Self::SlhDsaPublic(_)
            | Self::HssPublic(_)
            | Self::XmssPublic(_)
            | Self::CompositePublic(_) => true,
            Self::RsaPrivate(_)
            | Self::ModExp { .. }
            | Self::EcPrivate(_)
            | Self::Ed25519Private
            | Self::X25519Private
            | Self::MlKemPrivate(_)
            | Self::MlDsaPrivate(_)
            | Self::SlhDsaPrivate(_)
            | Self::CompositePrivate(_)
            | Self::Secret(_) => false,
        }
    }
}

/// The material of a key. Integers are big-endian without leading zeros, unless a width is stated.
#[derive(Clone)]
#[non_exhaustive]
pub enum KeyParts {
    /// RSA with CRT parts.
    RsaPrivate(RsaPrivateParts),
    /// RSA public key.
    RsaPublic(RsaPublicParts),
    /// Modulus and secret exponent.
    ModExp(ModExpParts),
    /// Private key of a NIST curve.
    EcPrivate(EcPrivateParts),
    /// Public key of a NIST curve: the uncompressed point, `04 || x || y`. SEC 1 2.3.3.
    EcPublic(Curve, Vec<u8>),
    /// Ed25519 private key.
    Ed25519Private(Ed25519PrivateParts),
    /// Ed25519 public key. RFC 8032 5.1.5.
    Ed25519Public([u8; 32]),
    /// X25519 private key.
    X25519Private(X25519PrivateParts),
    /// X25519 public key, a u-coordinate. RFC 7748 section 5.
    X25519Public([u8; 32]),
    /// ML-KEM private key.
    MlKemPrivate(LatticePrivateParts<MlKemSet>),
    /// ML-KEM public key: the encapsulation key, whose coefficients are below q. FIPS 203 7.2.
    MlKemPublic(MlKemSet, Vec<u8>),
    /// ML-DSA private key.
    MlDsaPrivate(LatticePrivateParts<MlDsaSet>),
    /// ML-DSA public key. FIPS 204 algorithm 22.
    MlDsaPublic(MlDsaSet, Vec<u8>),
    /// SLH-DSA private key, SK.seed || SK.prf || PK.seed || PK.root, each of n bytes. Its second half is the public
    /// key. FIPS 205 section 9.1.
    SlhDsaPrivate(SlhDsaSet, SecretBytes),
    /// SLH-DSA public key, PK.seed || PK.root, each of n bytes.
    SlhDsaPublic(SlhDsaSet, Vec<u8>),
    /// HSS public key. There is no private key of HSS or XMSS, because a signature would change it.
    HssPublic(HssPublicKey),
    /// XMSS or XMSS^MT public key.
    XmssPublic(XmssPublicKey),
    /// Composite private key.
    CompositePrivate(CompositeParts),
    /// Composite public key.
    CompositePublic(CompositeParts),
    /// Symmetric key.
    Secret(SecretBytes),
}

/// The public parts of an RSA key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RsaPublicParts {
    /// The modulus.
    pub n: Vec<u8>,
    /// The public exponent.
    pub e: Vec<u8>,
}

/// An RSA private key with its CRT parts. RFC 8017 3.2.
#[derive(Clone, Debug)]
pub struct RsaPrivateParts {
    /// The public parts.
    pub public: RsaPublicParts,
    /// The private exponent.
    pub d: SecretBytes,
    /// The first prime, which is the larger.
    pub p: SecretBytes,
    /// The second prime. Neither prime is longer than half the modulus, rounded up.
    pub q: SecretBytes,
    /// `d mod (p - 1)`.
    pub dp: SecretBytes,
    /// `d mod (q - 1)`.
    pub dq: SecretBytes,
    /// `q^-1 mod p`.
    pub qinv: SecretBytes,
}

/// A modulus with a secret exponent.
#[derive(Clone, Debug)]
pub struct ModExpParts {
    /// The modulus, which is odd.
    pub n: Vec<u8>,
    /// The secret exponent, of at most `exponent_bits` bits.
    pub exponent: SecretBytes,
    /// The public bound of the exponent's length in bits.
    pub exponent_bits: u16,
}

/// A private key of a NIST curve, for ECDSA and for ECDH.
#[derive(Clone, Debug)]
pub struct EcPrivateParts {
    /// The curve on which the key lies.
    pub curve: Curve,
    /// The scalar, at the curve's width, in [1, n-1].
    pub scalar: SecretBytes,
    /// The uncompressed public point.
    pub public: Vec<u8>,
}

/// An Ed25519 private key.
#[derive(Clone, Debug)]
pub struct Ed25519PrivateParts {
    /// The 32-byte seed. RFC 8032 5.1.5.
    pub seed: SecretBytes,
    /// The public key that belongs to it.
    pub public: [u8; 32],
}

/// An X25519 private key.
#[derive(Clone, Debug)]
pub struct X25519PrivateParts {
    /// The 32-byte scalar before clamping. RFC 7748 section 5.
    pub scalar: SecretBytes,
    /// The public key that belongs to it.
    pub public: [u8; 32],
}

/// A private key of ML-KEM or ML-DSA.
#[derive(Clone, Debug)]
pub struct LatticePrivateParts<S> {
    /// The parameter set.
    pub set: S,
    /// The private half.
    pub private: LatticePrivate,
    /// The public key that belongs to it. An ephemeral key that nobody but its maker uses may leave it empty, and then
    /// only [`Shape::MlKemKeygen`] and [`Shape::MlKemDecaps`] take the key.
    pub public: Vec<u8>,
}

/// The private half of an ML-KEM or ML-DSA key.
#[derive(Clone, Debug)]
pub enum LatticePrivate {
    /// The seed, from which everything else follows: d || z for ML-KEM, and xi for ML-DSA.
    Seed(SecretBytes),
    /// The expanded key, if the seed is not known.
    Expanded(SecretBytes),
}

/// The identity of a key.
///
/// For an asymmetric key it is the SHA-256 of the SubjectPublicKeyInfo, which the private and the public half share.
/// For a symmetric key it is random, because a hash of a short secret could be found by search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Key {
    /// Creates a local key.
    ///
    /// The `keys` crate imports and validates. A direct caller guarantees that `parts` belong together and that no
    /// other key has this `fingerprint`.
    #[must_use]
    pub fn local(parts: KeyParts, fingerprint: Fingerprint) -> Self {
        Self::build(parts.kind(), KeyHome::Local, Some(parts), fingerprint)
    }

    /// Creates a key that lives with a holder.
    ///
    /// `kind` is the private kind, and `public` the public half if it is known.
    #[must_use]
    pub fn held(
        kind: KeyKind,
        holder: &str,
        reference: &str,
        public: Option<KeyParts>,
        fingerprint: Fingerprint,
    ) -> Self {
        let home = KeyHome::Held { holder: holder.into(), reference: reference.into() };
        Self::build(kind, home, public, fingerprint)
    }

    fn build(kind: KeyKind, home: KeyHome, parts: Option<KeyParts>, fingerprint: Fingerprint) -> Self {
        let public = parts.as_ref().and_then(KeyParts::rsa_public);
        let shape =
            |public: &RsaPublicParts| Shape::RsaPublic { bits: public.bits(), exponent: public.exponent() };
        let rsa_public_shape = public.map(shape);
        Self(Arc::new(KeyData {
            kind,
            home,
            parts,
            rsa_public_shape,
            fingerprint,
            prepared: PreparedValues::default(),
        }))
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.0.kind
    }

    /// Returns the place of its private parts.
    #[must_use]
    pub fn home(&self) -> &KeyHome {
        &self.0.home
    }

    /// Returns all parts of a local key, or the public half of a held key if it is known.
    #[must_use]
    #[inline]
    pub fn parts(&self) -> Option<&KeyParts> {
        self.0.parts.as_ref()
    }

    /// Returns the fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// True if both handles come from the same import.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns n and e, also of a private key.
    #[must_use]
    pub fn rsa_public(&self) -> Option<&RsaPublicParts> {
        self.parts()?.rsa_public()
    }

    /// Returns the uncompressed point, also of a private key.
    #[must_use]
    pub fn ec_public(&self) -> Option<(Curve, &[u8])> {
        match self.parts()? {
            KeyParts::EcPrivate(private) => Some((private.curve, &private.public)),
            KeyParts::EcPublic(curve, point) => Some((*curve, point)),
            _ => None,
        }
    }

    /// Returns the Ed25519 public key, also of a private key.
    #[must_use]
    pub fn ed25519_public(&self) -> Option<&[u8; 32]> {
        match self.parts()? {
            KeyParts::Ed25519Private(private) => Some(&private.public),
            KeyParts::Ed25519Public(public) => Some(public),
            _ => None,
        }
    }

    /// Returns the X25519 public key, also of a private key.
    #[must_use]
    pub fn x25519_public(&self) -> Option<&[u8; 32]> {
        match self.parts()? {
            KeyParts::X25519Private(private) => Some(&private.public),
            KeyParts::X25519Public(public) => Some(public),
            _ => None,
        }
    }

    /// Returns the encapsulation key of ML-KEM, also of a private key, unless an ephemeral key leaves it out.
    #[must_use]
    pub fn ml_kem_public(&self) -> Option<(MlKemSet, &[u8])> {
        match self.parts()? {
            KeyParts::MlKemPrivate(private) if private.public.is_empty() => None,
            KeyParts::MlKemPrivate(private) => Some((private.set, &private.public)),
            KeyParts::MlKemPublic(set, public) => Some((*set, public)),
            _ => None,
        }
    }

    /// Returns the ML-DSA public key, also of a private key.
    #[must_use]
    pub fn ml_dsa_public(&self) -> Option<(MlDsaSet, &[u8])> {
        match self.parts()? {
            KeyParts::MlDsaPrivate(private) => Some((private.set, &private.public)),
            KeyParts::MlDsaPublic(set, public) => Some((*set, public)),
            _ => None,
        }
    }

    /// Returns the SLH-DSA public key, also of a private key.
    #[must_use]
    pub fn slh_dsa_public(&self) -> Option<(SlhDsaSet, &[u8])> {
        match self.parts()? {
            KeyParts::SlhDsaPrivate(set, private) => Some((*set, private.expose().get(set.public_len()..)?)),
            KeyParts::SlhDsaPublic(set, public) => Some((*set, public)),
            _ => None,
        }
    }

    /// Returns the HSS public key.
    #[must_use]
    pub fn hss_public(&self) -> Option<&HssPublicKey> {
        match self.parts()? {
            KeyParts::HssPublic(public) => Some(public),
            _ => None,
        }
    }

    /// Returns the XMSS or XMSS^MT public key.
    #[must_use]
    pub fn xmss_public(&self) -> Option<&XmssPublicKey> {
        match self.parts()? {
            KeyParts::XmssPublic(public) => Some(public),
            _ => None,
        }
    }

    /// Returns the two keys of a composite. Those of a private key are private.
    #[must_use]
    pub fn composite(&self) -> Option<&CompositeParts> {
        match self.parts()? {
            KeyParts::CompositePrivate(parts) | KeyParts::CompositePublic(parts) => Some(parts),
            _ => None,
        }
    }

    /// Returns the bytes of a symmetric key.
    #[must_use]
    #[inline]
    pub fn secret(&self) -> Option<&SecretBytes> {
        match self.parts()? {
            KeyParts::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// Returns the shape of this key's public RSA operation.
    #[must_use]
    pub fn rsa_public_shape(&self) -> Option<Shape> {
        self.0.rsa_public_shape
    }

    /// True if a local key of this kind can do operations of `shape`.
    #[must_use]
    pub fn serves(&self, shape: Shape) -> bool {
        match shape {
            Shape::RsaPrivate { bits } => self.kind() == KeyKind::RsaPrivate(bits),
            // By shape and not by kind: a private key also does the public operation.
            Shape::RsaPublic { .. } => self.rsa_public_shape() == Some(shape),
            Shape::ModExp { bits, exponent_bits } => self.kind() == KeyKind::ModExp { bits, exponent_bits },
            Shape::EcdsaSign { curve } | Shape::Ecdh { curve } => self.kind() == KeyKind::EcPrivate(curve),
            Shape::EcdsaVerify { curve } => self.ec_public().is_some_and(|(key_curve, _)| key_curve == curve),
            Shape::Ed25519Sign => self.kind() == KeyKind::Ed25519Private,
            Shape::Ed25519Verify => self.ed25519_public().is_some(),
            Shape::X25519 => self.kind() == KeyKind::X25519Private,
            // An expanded key holds its public key, and has no seed to make one from.
            Shape::MlKemKeygen { set } => self.kind() == KeyKind::MlKemPrivate(set) && self.has_seed(),
            Shape::MlKemDecaps { set } => self.kind() == KeyKind::MlKemPrivate(set),
            Shape::MlKemEncaps { set } => self.ml_kem_public().is_some_and(|(key_set, _)| key_set == set),
            Shape::MlDsaSign { set } => self.kind() == KeyKind::MlDsaPrivate(set),
            Shape::MlDsaVerify { set } => self.ml_dsa_public().is_some_and(|(key_set, _)| key_set == set),
            Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } => {
                self.kind() == KeyKind::SlhDsaPrivate(set)
            }
            Shape::SlhDsaVerify { set } => self.slh_dsa_public().is_some_and(|(key_set, _)| key_set == set),
            Shape::HssVerify => self.hss_public().is_some(),
            Shape::XmssVerify => self.xmss_public().is_some(),
            Shape::Cipher { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Aead { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Fpe { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Mac { alg } => self.serves_mac(alg),
            Shape::Wrap { alg, .. } => self.is_secret_of(alg.key_len()),
            // The second key of a translation is checked with its record.
            Shape::Translate { from, .. } => self.is_secret_of(from.alg.key_len()),
            // So is the MAC key of a chain.
            Shape::Chain { cipher, .. } => self.is_secret_of(cipher.alg.key_len()),
            Shape::Digest { .. } | Shape::DigestPart { .. } => true,
        }
    }

    fn has_seed(&self) -> bool {
        match self.parts() {
            Some(KeyParts::MlKemPrivate(parts)) => matches!(parts.private, LatticePrivate::Seed(_)),
            _ => false,
        }
    }

    fn serves_mac(&self, alg: MacAlg) -> bool {
        match alg.key_len() {
            Some(len) => self.is_secret_of(len),
            None => self.secret().is_some(),
        }
    }

    // By length only: the key table decides about the type of a key, because 16 bytes may be AES or triple DES.
    fn is_secret_of(&self, len: usize) -> bool {
        self.secret().is_some_and(|secret| secret.len() == len)
    }

    /// Returns a value that an engine keeps with the key, such as Montgomery constants or a key schedule.
    ///
    /// The first call for a type `T` builds the value. All handles share it, and it is dropped with the last of them.
    /// `T` is private to its engine, so a pair of key and engine owns it.
    ///
    /// # Errors
    /// The error of `build`. The next call tries again.
    pub fn prepared<T, E>(&self, build: impl FnOnce(&Self) -> Result<T, E>) -> Result<&T, E>
    where
        T: Any + Send + Sync,
    {
        self.0.prepared.get_or_try_insert(|| build(self))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?}, {:?}, {})", self.kind(), self.home(), self.fingerprint())
    }
}

impl KeyParts {
    fn rsa_public(&self) -> Option<&RsaPublicParts> {
        match self {
            Self::RsaPrivate(private) => Some(&private.public),
            Self::RsaPublic(public) => Some(public),
            _ => None,
        }
    }

    /// Returns the kind of a key with these parts.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        match self {
            Self::RsaPrivate(parts) => KeyKind::RsaPrivate(parts.public.bits()),
            Self::RsaPublic(parts) => KeyKind::RsaPublic(parts.bits()),
            Self::ModExp(parts) => {
                KeyKind::ModExp { bits: bit_len(&parts.n), exponent_bits: parts.exponent_bits }
            }
            Self::EcPrivate(parts) => KeyKind::EcPrivate(parts.curve),
            Self::EcPublic(curve, _) => KeyKind::EcPublic(*curve),
            Self::Ed25519Private(_) => KeyKind::Ed25519Private,
            Self::Ed25519Public(_) => KeyKind::Ed25519Public,
            Self::X25519Private(_) => KeyKind::X25519Private,
            Self::X25519Public(_) => KeyKind::X25519Public,
            Self::MlKemPrivate(parts) => KeyKind::MlKemPrivate(parts.set),
            Self::MlKemPublic(set, _) => KeyKind::MlKemPublic(*set),
            Self::MlDsaPrivate(parts) => KeyKind::MlDsaPrivate(parts.set),
            Self::MlDsaPublic(set, _) => KeyKind::MlDsaPublic(*set),
            Self::SlhDsaPrivate(set, _) => KeyKind::SlhDsaPrivate(*set),
            Self::SlhDsaPublic(set, _) => KeyKind::SlhDsaPublic(*set),
            Self::HssPublic(public) => KeyKind::HssPublic(public.set()),
            Self::XmssPublic(public) => KeyKind::XmssPublic(public.set()),
            Self::CompositePrivate(parts) => KeyKind::CompositePrivate(parts.alg),
            Self::CompositePublic(parts) => KeyKind::CompositePublic(parts.alg),
            Self::Secret(secret) => KeyKind::Secret(u16::try_from(secret.len()).unwrap_or(u16::MAX)),
        }
    }
}

impl fmt::Debug for KeyParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyParts({:?})", self.kind())
    }
}

impl RsaPublicParts {
    /// Returns the length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> u16 {
        bit_len(&self.n)
    }

    /// Returns the exponent shape of the key.
    #[must_use]
    pub fn exponent(&self) -> RsaExponent {
        if self.e == [1, 0, 1] { RsaExponent::F4 } else { RsaExponent::Other }
    }
}

/// Returns the number of bits of a big-endian integer of at most 8191 bytes.
fn bit_len(bytes: &[u8]) -> u16 {
    let Some(first) = bytes.iter().position(|byte| *byte != 0) else { return 0 };
    let bits = (bytes.len() - first) * 8 - bytes[first].leading_zeros() as usize;
    u16::try_from(bits).unwrap_or(u16::MAX)
}

impl Fingerprint {
    /// Creates a fingerprint from 32 bytes that are unique to the key.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Writes the whole fingerprint in hexadecimal.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// One value per type, appended without locks.
///
/// Readers walk a list with one node per engine. A list cannot deadlock in the child of a fork, and a `build` may
/// take long.
#[derive(Default)]
struct PreparedValues(ForkSafeCell<Box<PreparedNode>>);

struct PreparedNode {
    value: Box<dyn Any + Send + Sync>,
    next: PreparedValues,
}

impl PreparedValues {
    fn get_or_try_insert<T: Any + Send + Sync, E>(
        &self,
        build: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, E> {
        let last = match self.find::<T>() {
            Ok(value) => return Ok(value),
            Err(last) => last,
        };
        Ok(last.append(Box::new(build()?)))
    }

    /// Returns the value of type `T`, or the empty link at the end of the list.
    fn find<T: Any>(&self) -> Result<&T, &Self> {
        let mut link = self;
        while let Some(node) = link.0.get() {
            if let Some(value) = node.value.downcast_ref() {
                return Ok(value);
            }
            link = &node.next;
        }
        Err(link)
    }

    /// Appends `value`, or returns the value of its type that another thread appended first.
    fn append<T: Any + Send + Sync>(&self, value: Box<T>) -> &T {
        let mut pending: Option<Box<dyn Any + Send + Sync>> = Some(value);
        let mut link = self;
        // Each round either finds the type or moves past one node, and nodes are never removed.
        loop {
            // unreachable because a value that was inserted is found by its type just below
            let value = pending.take().unwrap_or_else(|| Box::new(()));
            let node = match link.0.try_insert(Box::new(PreparedNode { value, next: Self::default() })) {
                Ok(node) => node,
                Err((node, rejected)) => {
                    pending = Some(rejected.value);
                    node
                }
            };
            if let Some(value) = node.value.downcast_ref() {
                return value;
            }
            link = &node.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret_key(byte: u8) -> Key {
        Key::local(KeyParts::Secret(SecretBytes::new(vec![byte; 16])), Fingerprint::new([byte; 32]))
    }

    #[test]
    fn debug_shows_the_fingerprint_and_no_material() {
        let text = format!("{:?}", secret_key(0xA7));
        assert!(text.contains("Secret(16)") && text.contains("Local"));
        let parts = format!("{:?}", secret_key(0x5C).parts().unwrap());
        assert_eq!(parts, "KeyParts(Secret(16))");
    }

    #[test]
    fn prepared_values_are_built_once_per_type_and_shared_by_handles() {
        let key = secret_key(1);
        let first = key.prepared::<u32, ()>(|_| Ok(7)).unwrap();
        let other = key.clone();
        assert_eq!(other.prepared::<u64, ()>(|_| Ok(8)), Ok(&8));
        assert!(std::ptr::eq(first, other.prepared::<u32, ()>(|_| Err(())).unwrap()));
    }

    #[test]
    fn a_failed_preparation_is_tried_again() {
        let key = secret_key(2);
        assert_eq!(key.prepared::<u32, &str>(|_| Err("no")), Err("no"));
        assert_eq!(key.prepared::<u32, &str>(|_| Ok(3)), Ok(&3));
    }

    #[test]
    fn racing_preparations_agree_on_one_value() {
        let key = secret_key(3);
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4_usize)
                .map(|n| {
                    let key = &key;
                    scope.spawn(move || {
                        key.prepared::<u8, ()>(|_| Ok(1)).unwrap();
                        *key.prepared::<usize, ()>(|_| Ok(n)).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn keys_serve_their_own_shapes_only() {
        use crate::{BlockCipher, CipherMode, Direction};
        let key = secret_key(4);
        let cipher = |alg| Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Encrypt };
        assert!(key.serves(cipher(BlockCipher::Aes128)) && key.serves(cipher(BlockCipher::Tdes2)));
        assert!(!key.serves(cipher(BlockCipher::Des)) && !key.serves(cipher(BlockCipher::Aes256)));
        assert!(key.serves(Shape::Mac { alg: MacAlg::HmacSha256 }) && !key.serves(Shape::Ed25519Sign));
    }

    #[test]
    fn a_private_key_of_a_curve_signs_and_agrees_and_a_public_key_only_verifies() {
        let parts = EcPrivateParts { curve: Curve::P256, scalar: vec![1; 32].into(), public: vec![4; 65] };
        let private = Key::local(KeyParts::EcPrivate(parts), Fingerprint::new([5; 32]));
        let public = Key::local(KeyParts::EcPublic(Curve::P256, vec![4; 65]), Fingerprint::new([5; 32]));
        let serves = |key: &Key, curve| {
            [Shape::EcdsaSign { curve }, Shape::Ecdh { curve }, Shape::EcdsaVerify { curve }]
                .map(|shape| key.serves(shape))
        };
        assert_eq!(serves(&private, Curve::P256), [true; 3]);
        assert_eq!(serves(&private, Curve::P384), [false; 3]);
        assert_eq!(serves(&public, Curve::P256), [false, false, true]);
    }

    #[test]
    fn bit_lengths_ignore_leading_zeros() {
        assert_eq!((bit_len(&[0, 0, 1]), bit_len(&[0x80, 0]), bit_len(&[])), (1, 16, 0));
    }
}
