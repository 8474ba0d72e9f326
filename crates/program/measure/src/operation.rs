//! Operations by their names in `oarlock speed` and `oarlock latency`: `rsa2048-sign`, `des-cbc-40`.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | [`NamedOperation`], its names, [`OperationError`] |
//! | `work` | [`PublicKeyWork`]: keys, inputs and signatures for public-key operations |
//! | `rsa_keys` | published RSA keys to time with |

mod rsa_keys;
mod work;

use std::fmt;
use std::str::FromStr;

use oarlock::keys::KeyError;
use oarlock::{
    AeadAlg, BlockCipher, ChainOrder, CipherMode, CipherSpec, Curve, Direction, FpeAlg, MAX_FF1_NUMERALS,
    MAX_MTE_FRAGMENT, MacAlg, MacPadding, MlDsaSet, MlKemSet, RsaExponent, SlhDsaSet,
};
use oarlock::{DigestAlg, JobError, Shape};
use oarlock_terminal::{CommandError, FailureKind};

pub use work::PublicKeyWork;

/// An operation that is measured. `Display` and `FromStr` are inverse to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of fields say what they are")]
pub enum NamedOperation {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rsa { bits: u16, verb: OperationVerb },
    /// ECDSA in DER, with SHA-256 on P-256 and SHA-384 on P-384.
    Ecdsa { curve: Curve, verb: OperationVerb },
    /// Ed25519 over messages of 32 bytes.
    Ed25519 { verb: OperationVerb },
    /// X25519 with a peer's public key.
    X25519,
    /// ECDH with a peer's point.
    Ecdh { curve: Curve },
    /// ML-KEM.
    MlKem { set: MlKemSet, verb: KemVerb },
    /// ML-DSA over messages of 32 bytes, hedged.
    MlDsa { set: MlDsaSet, verb: OperationVerb },
    /// SLH-DSA over messages of 32 bytes, hedged.
    SlhDsa { set: SlhDsaSet, verb: OperationVerb },
    /// Verification by HSS with one tree of height 5, digits of 4 bits, and SHA-256.
    HssVerify,
    /// Verification by XMSS-SHA2_10_256.
    XmssVerify,
    /// One record of `len` bytes.
    Record { kind: RecordKind, len: usize },
}

/// The use of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationVerb {
    /// A signature is made.
    Sign,
    /// A signature is verified.
    Verify,
    /// Verification under a few keys that are each used often.
    VerifyHot,
}

/// The use of a key encapsulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KemVerb {
    /// A secret is made for the holder of a private key.
    Encapsulate,
    /// The secret is found again.
    Decapsulate,
}

/// The kind of a record operation: encrypt, seal, authenticate or hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say what the variants mean")]
pub enum RecordKind {
    Cbc(BlockCipher),
    Ctr(BlockCipher),
    Aead(AeadAlg),
    /// Decimal numerals, with a tweak of seven bytes.
    Fpe(FpeAlg),
    /// A TLS record: cipher in CBC mode and HMAC, the MAC first.
    Chain(BlockCipher, MacAlg),
    Mac(MacAlg),
    Digest(DigestAlg),
}

/// An error of an operation's name or of its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum OperationError {
    #[error(
        "unknown operation {found:?}: expected one of {expected}; N is a number of bytes, as in sha256-64"
    )]
    Unknown { found: String, expected: String },
    #[error("{family}-N: expected N to be {expected}, found {found:?}")]
    RecordLen { family: &'static str, expected: String, found: String },
    #[error("{found} is not a public-key operation: expected one of {expected}")]
    NotPublicKey { found: String, expected: String },
    #[error("keys for {operation}: {error}")]
    Key { operation: String, error: KeyError },
    #[error("no published signature for {operation}")]
    Unpublished { operation: String },
    #[error("inputs for {operation}: {error}")]
    Job { operation: String, error: JobError },
}

/// The longest record, in bytes.
pub(crate) const MAX_RECORD_BYTES: usize = 1 << 20;

const RSA_BITS: [u16; 4] = [1024, 2048, 3072, 4096];

/// Families of record operations; the length is appended to the name. The second is the length of the usual row.
const RECORDS: [(&str, usize, RecordKind); 32] = [
    ("des-cbc", 40, RecordKind::Cbc(BlockCipher::Des)),
    ("tdes-cbc", 40, RecordKind::Cbc(BlockCipher::Tdes3)),
    ("aes128-cbc", 48, RecordKind::Cbc(BlockCipher::Aes128)),
    ("aes256-cbc", 48, RecordKind::Cbc(BlockCipher::Aes256)),
    ("aes128-gcm", 40, RecordKind::Aead(AeadAlg::Aes128Gcm)),
    ("aes256-gcm", 40, RecordKind::Aead(AeadAlg::Aes256Gcm)),
    ("chacha20-poly1305", 40, RecordKind::Aead(AeadAlg::ChaCha20Poly1305)),
    ("chacha20-poly1305-ssh", 40, RecordKind::Aead(AeadAlg::ChaCha20Poly1305Ssh)),
    ("aes128-siv", 16, RecordKind::Aead(AeadAlg::Aes128Siv)),
    ("aes256-siv", 16, RecordKind::Aead(AeadAlg::Aes256Siv)),
    ("aes128-gcm-siv", 16, RecordKind::Aead(AeadAlg::Aes128GcmSiv)),
    ("aes256-gcm-siv", 16, RecordKind::Aead(AeadAlg::Aes256GcmSiv)),
    ("aes128-ff1", 16, RecordKind::Fpe(FpeAlg::Aes128Ff1)),
    ("aes256-ff1", 16, RecordKind::Fpe(FpeAlg::Aes256Ff1)),
    ("aes128-ctr", 40, RecordKind::Ctr(BlockCipher::Aes128)),
    ("aes256-ctr", 40, RecordKind::Ctr(BlockCipher::Aes256)),
    ("aes128-cbc-sha1", 1024, RecordKind::Chain(BlockCipher::Aes128, MacAlg::HmacSha1)),
    ("aes128-cbc-sha256", 1024, RecordKind::Chain(BlockCipher::Aes128, MacAlg::HmacSha256)),
    ("aes256-cbc-sha1", 1024, RecordKind::Chain(BlockCipher::Aes256, MacAlg::HmacSha1)),
    ("aes256-cbc-sha256", 1024, RecordKind::Chain(BlockCipher::Aes256, MacAlg::HmacSha256)),
    ("tdes-cbc-sha1", 1024, RecordKind::Chain(BlockCipher::Tdes3, MacAlg::HmacSha1)),
    ("hmac-sha512", 64, RecordKind::Mac(MacAlg::HmacSha512)),
    ("sha1", 64, RecordKind::Digest(DigestAlg::Sha1)),
    ("sha224", 64, RecordKind::Digest(DigestAlg::Sha224)),
    ("sha256", 64, RecordKind::Digest(DigestAlg::Sha256)),
    ("sha512", 64, RecordKind::Digest(DigestAlg::Sha512)),
    ("sha3-256", 64, RecordKind::Digest(DigestAlg::Sha3_256)),
    ("sha3-512", 64, RecordKind::Digest(DigestAlg::Sha3_512)),
    ("shake128", 64, RecordKind::Digest(DigestAlg::Shake128)),
    ("shake256", 64, RecordKind::Digest(DigestAlg::Shake256)),
    ("des-mac", 40, RecordKind::Mac(MacAlg::DesMac(MacPadding::Zeros))),
    ("aes-cmac", 48, RecordKind::Mac(MacAlg::Aes128Cmac)),
];

impl NamedOperation {
    /// Returns every operation, records at their usual length.
    pub(crate) fn known() -> Vec<Self> {
        let records = RECORDS.iter().map(|&(_, len, kind)| Self::Record { kind, len });
        Self::public_key().into_iter().chain(records).collect()
    }

    /// Returns every public-key operation.
    pub(crate) fn public_key() -> Vec<Self> {
        let rsa = RSA_BITS.into_iter().flat_map(|bits| {
            [OperationVerb::Sign, OperationVerb::Verify].map(|verb| Self::Rsa { bits, verb })
        });
        let ecdsa = Curve::ALL
            .into_iter()
            .flat_map(|curve| OperationVerb::ALL.map(|verb| Self::Ecdsa { curve, verb }));
        let ed25519 = OperationVerb::ALL.map(|verb| Self::Ed25519 { verb });
        let ecdh = Curve::ALL.map(|curve| Self::Ecdh { curve });
        let ml_kem =
            MlKemSet::ALL.into_iter().flat_map(|set| KemVerb::ALL.map(|verb| Self::MlKem { set, verb }));
        let ml_dsa = MlDsaSet::ALL
            .into_iter()
            .flat_map(|set| OperationVerb::ALL.map(|verb| Self::MlDsa { set, verb }));
        let classical = rsa.chain(ecdsa).chain(ed25519).chain([Self::X25519]).chain(ecdh);
        let slh_dsa = SlhDsaSet::ALL.into_iter().flat_map(|set| {
            [OperationVerb::Sign, OperationVerb::Verify].map(|verb| Self::SlhDsa { set, verb })
        });
        let stateful = [Self::HssVerify, Self::XmssVerify];
        classical.chain(ml_kem).chain(ml_dsa).chain(slh_dsa).chain(stateful).collect()
    }

    /// True if the operation is measured without being named. Signatures of most sets of SLH-DSA take up to a second.
    pub(crate) fn is_usual(self) -> bool {
        let usual = [SlhDsaSet::Sha2_128s, SlhDsaSet::Sha2_128f];
        !matches!(self, Self::SlhDsa { set, .. } if !usual.contains(&set))
    }

    /// Returns the maximal number of operations in a call. One SLH-DSA signature fills an engine's lanes, and takes as
    /// long as a whole batch of others.
    pub(crate) fn max_batch(self) -> usize {
        match self {
            Self::SlhDsa { verb: OperationVerb::Sign, .. } => 1,
            Self::SlhDsa { .. } => 16,
            _ => usize::MAX,
        }
    }

    /// Returns all names for help and error messages, with `N` for the length of records.
    pub(crate) fn known_names() -> String {
        let records: Vec<String> = RECORDS.iter().map(|(family, ..)| format!("{family}-N")).collect();
        format!("{}, {}", Self::public_key_names(), records.join(", "))
    }

    /// Returns all names in lines for help, one for each cipher or kind of key.
    pub(crate) fn known_families() -> Vec<String> {
        let names = Self::known_names();
        let family = |name: &str| {
            // `ml` and `slh` alone say nothing.
            let words = if name.starts_with("ml-") || name.starts_with("slh-") { 2 } else { 1 };
            name.split('-').take(words).collect::<Vec<_>>().join("-")
        };
        let mut families: Vec<Vec<&str>> = Vec::new();
        for name in names.split(", ") {
            match families.iter_mut().find(|names| family(names[0]) == family(name)) {
                Some(names) => names.push(name),
                None => families.push(vec![name]),
            }
        }
        families.iter().map(|names| names.join(", ")).collect()
    }

    pub(crate) fn is_public_key(self) -> bool {
        !matches!(self, Self::Record { .. })
    }

    /// Parses the name of a public-key operation.
    ///
    /// # Errors
    /// Another name. The error lists the names of public-key operations alone.
    pub fn parse_public_key(name: &str) -> Result<Self, OperationError> {
        match name.parse() {
            Ok(operation) if Self::is_public_key(operation) => Ok(operation),
            // Another length would not help: no record operation is taken here.
            Ok(_) | Err(OperationError::RecordLen { .. }) => Err(OperationError::not_public_key(name)),
            Err(_) => {
                Err(OperationError::Unknown { found: name.to_owned(), expected: Self::public_key_names() })
            }
        }
    }

    /// Returns the shape and the length of one record; None for public-key operations.
    pub(crate) fn record(self) -> Option<(Shape, usize)> {
        let Self::Record { kind, len } = self else { return None };
        Some((kind.shape(), len))
    }

    /// Returns the shape that an engine computes for it.
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Rsa { bits, verb: OperationVerb::Sign } => Shape::RsaPrivate { bits },
            Self::Rsa { bits, .. } => Shape::RsaPublic { bits, exponent: RsaExponent::F4 },
            Self::Ecdsa { curve, verb: OperationVerb::Sign } => Shape::EcdsaSign { curve },
            Self::Ecdsa { curve, .. } => Shape::EcdsaVerify { curve },
            Self::Ed25519 { verb: OperationVerb::Sign } => Shape::Ed25519Sign,
            Self::Ed25519 { .. } => Shape::Ed25519Verify,
            Self::X25519 => Shape::X25519,
            Self::Ecdh { curve } => Shape::Ecdh { curve },
            Self::MlKem { set, verb: KemVerb::Encapsulate } => Shape::MlKemEncaps { set },
            Self::MlKem { set, verb: KemVerb::Decapsulate } => Shape::MlKemDecaps { set },
            Self::MlDsa { set, verb: OperationVerb::Sign } => Shape::MlDsaSign { set },
            Self::MlDsa { set, .. } => Shape::MlDsaVerify { set },
            Self::SlhDsa { set, verb: OperationVerb::Sign } => Shape::SlhDsaSign { set },
            Self::SlhDsa { set, .. } => Shape::SlhDsaVerify { set },
            Self::HssVerify => Shape::HssVerify,
            Self::XmssVerify => Shape::XmssVerify,
            Self::Record { kind, .. } => kind.shape(),
        }
    }

    /// True if few keys are used often, so that engines may build tables for them before the measurement.
    #[must_use]
    pub fn is_hot(self) -> bool {
        matches!(
            self,
            Self::Ecdsa { verb: OperationVerb::VerifyHot, .. }
                | Self::Ed25519 { verb: OperationVerb::VerifyHot }
                | Self::MlDsa { verb: OperationVerb::VerifyHot, .. }
        )
    }

    /// True if AWS-LC has the operation. For the others the scalar engine has code of its own, partly over AWS-LC's
    /// ciphers and hashes.
    pub(crate) fn is_in_aws_lc(self) -> bool {
        use AeadAlg::{Aes128Siv, Aes192Siv, Aes256Siv, ChaCha20Poly1305Ssh};
        !matches!(
            self,
            Self::SlhDsa { .. }
                | Self::HssVerify
                | Self::XmssVerify
                | Self::Record { kind: RecordKind::Fpe(_), .. }
                | Self::Record {
                    kind: RecordKind::Aead(Aes128Siv | Aes192Siv | Aes256Siv | ChaCha20Poly1305Ssh),
                    ..
                }
        )
    }

    /// Returns the default number of keys. It is small if recurring keys are the point, or if keys are costly to make.
    #[must_use]
    pub fn usual_keys(self) -> usize {
        match self {
            Self::Rsa { .. } => rsa_keys::PER_SIZE,
            _ if self.is_hot() => 8,
            Self::SlhDsa { .. } | Self::HssVerify | Self::XmssVerify => 1,
            Self::Ecdsa { .. }
            | Self::Ed25519 { .. }
            | Self::X25519
            | Self::Ecdh { .. }
            | Self::MlKem { .. }
            | Self::MlDsa { .. } => 64,
            Self::Record { .. } => 1024,
        }
    }

    fn public_key_names() -> String {
        Self::public_key().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl OperationVerb {
    const ALL: [Self; 3] = [Self::Sign, Self::Verify, Self::VerifyHot];
}

impl KemVerb {
    const ALL: [Self; 2] = [Self::Encapsulate, Self::Decapsulate];
}

impl FromStr for NamedOperation {
    type Err = OperationError;

    fn from_str(text: &str) -> Result<Self, OperationError> {
        if let Some(found) = Self::public_key().into_iter().find(|known| known.to_string() == text) {
            return Ok(found);
        }
        // Names of families have dashes too, so the last one separates the length.
        let record = text.rsplit_once('-').and_then(|(family, len)| {
            let known = RECORDS.iter().find(|(known, ..)| *known == family)?;
            Some(record(known.0, known.2, len))
        });
        let unknown = || OperationError::Unknown { found: text.to_owned(), expected: Self::known_names() };
        record.unwrap_or_else(|| Err(unknown()))
    }
}

fn record(family: &'static str, kind: RecordKind, len: &str) -> Result<NamedOperation, OperationError> {
    let (unit, min, max) = match kind {
        RecordKind::Cbc(alg) => (alg.block_len(), alg.block_len(), MAX_RECORD_BYTES),
        RecordKind::Chain(..) => (1, 1, MAX_MTE_FRAGMENT),
        RecordKind::Aead(alg) => (1, alg.min_input_len().max(1), MAX_RECORD_BYTES),
        // A million texts of decimal numerals.
        RecordKind::Fpe(_) => (1, 6, MAX_FF1_NUMERALS),
        _ => (1, 1, MAX_RECORD_BYTES),
    };
    let is_good = |len: &usize| (min..=max).contains(len) && len.is_multiple_of(unit);
    // `parse` takes signs and leading zeros, names do not.
    let is_plain = len.bytes().all(|byte| byte.is_ascii_digit()) && !len.starts_with('0');
    match len.parse().ok().filter(is_good).filter(|_| is_plain) {
        Some(len) => Ok(NamedOperation::Record { kind, len }),
        None => {
            let expected = match unit {
                1 => format!("{min} to {max}"),
                unit => format!("a multiple of {unit} from {min} to {max}"),
            };
            Err(OperationError::RecordLen { family, expected, found: len.to_owned() })
        }
    }
}

impl fmt::Display for NamedOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa { bits, verb } => write!(f, "rsa{bits}-{verb}"),
            Self::Ecdsa { curve, verb } => write!(f, "{curve}-{verb}"),
            Self::Ed25519 { verb } => write!(f, "ed25519-{verb}"),
            Self::X25519 => f.write_str("x25519-derive"),
            Self::Ecdh { curve } => write!(f, "{curve}-derive"),
            Self::MlKem { set, verb } => write!(f, "{set}-{verb}"),
            Self::MlDsa { set, verb } => write!(f, "{set}-{verb}"),
            Self::SlhDsa { set, verb } => write!(f, "{set}-{verb}"),
            Self::HssVerify => f.write_str("hss-sha256-h5-w4-verify"),
            Self::XmssVerify => f.write_str("xmss-sha2-10-256-verify"),
            Self::Record { kind, len } => {
                let family = RECORDS
                    .iter()
                    .find(|(.., known_kind)| known_kind == kind)
                    .map_or("record", |known| known.0);
                write!(f, "{family}-{len}")
            }
        }
    }
}

impl fmt::Display for OperationVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::VerifyHot => "verify-hot",
        })
    }
}

impl fmt::Display for KemVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encapsulate => "encaps",
            Self::Decapsulate => "decaps",
        })
    }
}

impl RecordKind {
    fn shape(self) -> Shape {
        let direction = Direction::Encrypt;
        match self {
            Self::Cbc(alg) => Shape::Cipher { alg, mode: CipherMode::Cbc, direction },
            Self::Ctr(alg) => Shape::Cipher { alg, mode: CipherMode::Ctr, direction },
            Self::Aead(alg) => Shape::Aead { alg, direction },
            Self::Fpe(alg) => Shape::Fpe { alg, direction },
            Self::Chain(alg, mac) => {
                let cipher = CipherSpec { alg, mode: CipherMode::Cbc };
                Shape::Chain { cipher, mac, order: ChainOrder::MacThenEncrypt, direction }
            }
            Self::Mac(alg) => Shape::Mac { alg },
            Self::Digest(alg) => Shape::Digest { alg },
        }
    }
}

impl CommandError for OperationError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Unknown { .. } | Self::RecordLen { .. } | Self::NotPublicKey { .. } => FailureKind::Usage,
            Self::Unpublished { .. } => FailureKind::Machine,
            Self::Key { error, .. } => error.kind(),
            Self::Job { error, .. } => error.kind(),
        }
    }
}

impl OperationError {
    fn not_public_key(found: impl fmt::Display) -> Self {
        Self::NotPublicKey { found: found.to_string(), expected: NamedOperation::public_key_names() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_read_back() {
        for operation in NamedOperation::known() {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
    }

    #[test]
    fn the_names_of_the_manual_are_known() {
        let names = "rsa1024-sign rsa4096-verify p256-sign p256-verify p256-verify-hot p384-verify-hot ed25519-sign \
                     ed25519-verify-hot ml-kem-768-encaps ml-kem-1024-decaps ml-dsa-44-sign ml-dsa-87-verify-hot slh-dsa-sha2-128s-sign slh-dsa-shake-256f-verify hss-sha256-h5-w4-verify xmss-sha2-10-256-verify x25519-derive p256-derive p384-derive des-cbc-40 tdes-cbc-40 aes128-cbc-48 aes128-gcm-40 sha1-20 sha224-64 \
                     sha256-8192 des-mac-40 aes-cmac-48";
        for name in names.split_whitespace() {
            assert_eq!(name.parse::<NamedOperation>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn unknown_names_are_told_what_is_known() {
        for name in
            ["", "rsa", "rsa2047-sign", "RSA2048-sign", "p256", "p256-verify-cold", "des-cbc", "md5-16"]
        {
            let error = name.parse::<NamedOperation>().unwrap_err();
            assert!(
                matches!(error, OperationError::Unknown { .. }) && error.kind() == FailureKind::Usage,
                "{name}: {error}"
            );
            assert!(error.to_string().contains("rsa2048-sign") && error.to_string().contains("sha256-N"));
        }
    }

    #[test]
    fn record_lengths_fit_their_blocks() {
        for name in
            ["des-cbc-41", "aes128-cbc-40", "sha1-0", "sha1-+5", "sha1-05", "sha256-1048577", "sha1-x"]
        {
            let error = name.parse::<NamedOperation>().unwrap_err();
            assert!(matches!(error, OperationError::RecordLen { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn the_shape_is_that_of_the_jobs() {
        let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        for operation in NamedOperation::public_key().into_iter().filter(|operation| operation.is_usual()) {
            let work = operation.work(&accelerator, 1, 1).unwrap();
            assert_eq!(
                oarlock::engine_api::schemes::shape_of(&work.job(0).unwrap()),
                Ok(operation.shape()),
                "{operation}"
            );
        }
    }

    #[test]
    fn records_have_a_shape_and_signatures_have_none() {
        let des: NamedOperation = "des-cbc-40".parse().unwrap();
        let shape =
            Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Cbc, direction: Direction::Encrypt };
        assert_eq!(des.record(), Some((shape, 40)));
        assert!(
            NamedOperation::public_key()
                .iter()
                .all(|known| known.record().is_none() && known.is_public_key())
        );
    }
}
