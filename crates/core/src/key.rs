//! Key handles: imported once, immutable, shared by handle, known by fingerprint.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::{Curve, MacAlg, RsaExponent, SecretBytes, Shape};

/// A key: a cheap handle to immutable parts. `Debug` and `Display` show kind, home and fingerprint, never material.
#[derive(Clone)]
pub struct Key(Arc<KeyData>);

struct KeyData {
    kind: KeyKind,
    home: KeyHome,
    parts: Option<KeyParts>,
    /// Asked several times for each job.
    rsa_public_shape: Option<Shape>,
    fingerprint: Fingerprint,
    prepared: PreparedValues,
}

/// Where a key's private parts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyHome {
    /// In this process.
    Local,
    /// With a named holder (an HSM, a remote server); its jobs are never sent to anyone else.
    Held {
        /// The holder's name, as [`Holder::name`](crate::Holder::name) gives it.
        holder: Arc<str>,
        /// What the holder calls the key: an object label, a resident key's name.
        reference: Arc<str>,
    },
}

/// What a key is, without its material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// RSA with CRT parts; the modulus length in bits.
    RsaPrivate(u16),
    /// RSA modulus and exponent; the modulus length in bits.
    RsaPublic(u16),
    /// A modulus with a secret exponent and no CRT parts.
    ModExp {
        /// Modulus length.
        bits: u16,
        /// The bound of the exponent's length that fixes its shape.
        exponent_bits: u16,
    },
    /// An ECDSA private key (with its public point).
    EcPrivate(Curve),
    /// An ECDSA public key.
    EcPublic(Curve),
    /// An Ed25519 private key (with its public key).
    Ed25519Private,
    /// An Ed25519 public key.
    Ed25519Public,
    /// An X25519 private key (with its public key).
    X25519Private,
    /// An X25519 public key.
    X25519Public,
    /// A symmetric key of so many bytes.
    Secret(u16),
}

/// The material of a key. Integers are big-endian without leading zeros unless a width is stated.
#[derive(Clone)]
#[non_exhaustive]
pub enum KeyParts {
    /// RSA with CRT parts.
    RsaPrivate(RsaPrivateParts),
    /// RSA public key.
    RsaPublic(RsaPublicParts),
    /// Modulus and secret exponent.
    ModExp(ModExpParts),
    /// ECDSA private key.
    EcPrivate(EcPrivateParts),
    /// ECDSA public key: the uncompressed point, `04 || x || y`. SEC 1 2.3.3.
    EcPublic(Curve, Vec<u8>),
    /// Ed25519 private key.
    Ed25519Private(Ed25519PrivateParts),
    /// Ed25519 public key. RFC 8032 5.1.5.
    Ed25519Public([u8; 32]),
    /// X25519 private key.
    X25519Private(X25519PrivateParts),
    /// X25519 public key, a u-coordinate. RFC 7748 section 5.
    X25519Public([u8; 32]),
    /// Symmetric key.
    Secret(SecretBytes),
}

/// n and e of an RSA key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RsaPublicParts {
    /// Modulus.
    pub n: Vec<u8>,
    /// Public exponent.
    pub e: Vec<u8>,
}

/// An RSA private key with its CRT parts. RFC 8017 3.2.
#[derive(Clone, Debug)]
pub struct RsaPrivateParts {
    /// n and e.
    pub public: RsaPublicParts,
    /// Private exponent.
    pub d: SecretBytes,
    /// First prime, the larger.
    pub p: SecretBytes,
    /// Second prime. Neither is longer than half the modulus, rounded up.
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
    /// Odd modulus.
    pub n: Vec<u8>,
    /// Secret exponent of at most `exponent_bits` bits.
    pub exponent: SecretBytes,
    /// The public bound of the exponent's length in bits.
    pub exponent_bits: u16,
}

/// An ECDSA private key.
#[derive(Clone, Debug)]
pub struct EcPrivateParts {
    /// The curve.
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

/// What a key is known by. For asymmetric keys the SHA-256 of the SubjectPublicKeyInfo, the same for the private and the
/// public half; for symmetric keys random, because a hash of a short secret could be searched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Key {
    /// A local key. The `keys` crate is the importer that validates; whoever calls this vouches that `parts` belong
    /// together and that `fingerprint` is theirs alone.
    #[must_use]
    pub fn local(parts: KeyParts, fingerprint: Fingerprint) -> Self {
        Self::build(parts.kind(), KeyHome::Local, Some(parts), fingerprint)
    }

    /// A key that lives with a holder. `kind` is the private kind; `public` the public half where it is known.
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

    /// What the key is.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.0.kind
    }

    /// Where its private parts are.
    #[must_use]
    pub fn home(&self) -> &KeyHome {
        &self.0.home
    }

    /// Its parts: all of a local key, the public half (where known) of a held one.
    #[must_use]
    pub fn parts(&self) -> Option<&KeyParts> {
        self.0.parts.as_ref()
    }

    /// What it is known by.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// True where both handles are the same import.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// n and e, of a private key too.
    #[must_use]
    pub fn rsa_public(&self) -> Option<&RsaPublicParts> {
        self.parts()?.rsa_public()
    }

    /// The uncompressed point, of a private key too.
    #[must_use]
    pub fn ec_public(&self) -> Option<(Curve, &[u8])> {
        match self.parts()? {
            KeyParts::EcPrivate(private) => Some((private.curve, &private.public)),
            KeyParts::EcPublic(curve, point) => Some((*curve, point)),
            _ => None,
        }
    }

    /// The Ed25519 public key, of a private key too.
    #[must_use]
    pub fn ed25519_public(&self) -> Option<&[u8; 32]> {
        match self.parts()? {
            KeyParts::Ed25519Private(private) => Some(&private.public),
            KeyParts::Ed25519Public(public) => Some(public),
            _ => None,
        }
    }

    /// The X25519 public key, of a private key too.
    #[must_use]
    pub fn x25519_public(&self) -> Option<&[u8; 32]> {
        match self.parts()? {
            KeyParts::X25519Private(private) => Some(&private.public),
            KeyParts::X25519Public(public) => Some(public),
            _ => None,
        }
    }

    /// The bytes of a symmetric key.
    #[must_use]
    pub fn secret(&self) -> Option<&SecretBytes> {
        match self.parts()? {
            KeyParts::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// The shape of this key's public RSA operation.
    #[must_use]
    pub fn rsa_public_shape(&self) -> Option<Shape> {
        self.0.rsa_public_shape
    }

    /// True where a local key of this kind can do operations of `shape`.
    #[must_use]
    pub fn serves(&self, shape: Shape) -> bool {
        match shape {
            Shape::RsaPrivate { bits } => self.kind() == KeyKind::RsaPrivate(bits),
            Shape::RsaPublic { .. } => self.rsa_public_shape() == Some(shape),
            Shape::ModExp { bits, exponent_bits } => self.kind() == KeyKind::ModExp { bits, exponent_bits },
            Shape::EcdsaSign { curve } => self.kind() == KeyKind::EcPrivate(curve),
            Shape::EcdsaVerify { curve } => self.ec_public().is_some_and(|(own, _)| own == curve),
            Shape::Ed25519Sign => self.kind() == KeyKind::Ed25519Private,
            Shape::Ed25519Verify => self.ed25519_public().is_some(),
            Shape::X25519 => self.kind() == KeyKind::X25519Private,
            Shape::Cipher { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Aead { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Mac { alg } => self.serves_mac(alg),
            Shape::Wrap { alg, .. } => self.is_secret_of(alg.key_len()),
            Shape::Translate { from, .. } => self.is_secret_of(from.alg.key_len()),
            Shape::Digest { .. } | Shape::DigestPart { .. } => true,
        }
    }

    fn serves_mac(&self, alg: MacAlg) -> bool {
        match alg.key_len() {
            Some(len) => self.is_secret_of(len),
            None => self.secret().is_some(),
        }
    }

    fn is_secret_of(&self, len: usize) -> bool {
        self.secret().is_some_and(|secret| secret.len() == len)
    }

    /// What an engine keeps with the key (Montgomery constants, key schedules): built at the first call for this `T`,
    /// shared by all handles, dropped with the last. `T` is private to its engine, so (key, engine) owns it.
    ///
    /// # Errors
    /// The error of `build`, which is then tried again at the next call.
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

    /// What a key of these parts is.
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
    /// Length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> u16 {
        bit_len(&self.n)
    }

    /// Which exponent shape the key belongs to.
    #[must_use]
    pub fn exponent(&self) -> RsaExponent {
        if self.e == [1, 0, 1] { RsaExponent::F4 } else { RsaExponent::Other }
    }
}

/// Bits of a big-endian integer of at most 8191 bytes.
fn bit_len(bytes: &[u8]) -> u16 {
    let Some(first) = bytes.iter().position(|byte| *byte != 0) else { return 0 };
    let bits = (bytes.len() - first) * 8 - bytes[first].leading_zeros() as usize;
    u16::try_from(bits).unwrap_or(u16::MAX)
}

impl Fingerprint {
    /// A fingerprint from 32 bytes that are unique to the key.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The whole fingerprint in hexadecimal.
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

/// One value per type, appended without locks: readers walk a list of as many nodes as there are engines.
#[derive(Default)]
struct PreparedValues(OnceLock<Box<PreparedNode>>);

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

    /// The value of type `T`, or the empty link at the end of the list.
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

    /// Appends `value`, or returns the one of its type that another thread appended first.
    fn append<T: Any + Send + Sync>(&self, value: Box<T>) -> &T {
        let mut pending: Option<Box<dyn Any + Send + Sync>> = Some(value);
        let mut link = self;
        loop {
            let node = link.0.get_or_init(|| {
                // unreachable because the call that takes the value finds it by its type just below
                let value = pending.take().unwrap_or_else(|| Box::new(()));
                Box::new(PreparedNode { value, next: Self::default() })
            });
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
    fn bit_lengths_ignore_leading_zeros() {
        assert_eq!((bit_len(&[0, 0, 1]), bit_len(&[0x80, 0]), bit_len(&[])), (1, 16, 0));
    }
}
