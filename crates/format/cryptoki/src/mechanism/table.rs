//! The table of mechanisms: parameters, key types, sizes and functions of each.

use oarlock::DigestAlg;

use super::parameters::ParameterForm;
use crate::constants::{KeyTypeNumber, MechanismType, mechanism_flags as flag};

/// The facts about a mechanism, `CK_MECHANISM_INFO` and more.
#[derive(Clone, Copy, Debug)]
pub struct MechanismFacts {
    /// The type.
    pub kind: MechanismType,
    /// The smallest key: bits for RSA and curves, bytes for AES and secrets, bytes of the public key for ML-KEM and
    /// ML-DSA, else 0.
    pub min_key_size: u64,
    /// The largest key.
    pub max_key_size: u64,
    /// The functions, [`mechanism_flags`](crate::mechanism_flags).
    pub flags: u64,
    /// The structure of its parameter.
    pub form: ParameterForm,
    pub(crate) family: MechanismFamily,
}

/// The steps that mechanisms of one kind share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MechanismFamily {
    /// RSASSA and RSAES PKCS#1 v1.5. Here and below, `None` if the caller gives the digest, or the encoded digest.
    RsaPkcs1(Option<DigestAlg>),
    RsaPss(Option<DigestAlg>),
    RsaOaep,
    /// Bare RSA.
    RsaRaw,
    Ecdsa(Option<DigestAlg>),
    Eddsa,
    /// ML-DSA over the message itself.
    MlDsa,
    /// HashML-DSA: `None` if the caller gives the digest, which the parameter names.
    HashMlDsa(Option<DigestAlg>),
    /// SLH-DSA over the message itself.
    SlhDsa,
    /// HashSLH-DSA: `None` as for HashML-DSA.
    HashSlhDsa(Option<DigestAlg>),
    MlKem,
    Digest(DigestAlg),
    Hmac {
        alg: DigestAlg,
        /// True if the parameter is the length of the MAC.
        is_general: bool,
    },
    Cmac {
        /// True if the parameter is the length of the MAC.
        is_general: bool,
    },
    Ecb,
    Cbc,
    CbcPad,
    Ctr,
    Gcm,
    ChaCha20Poly1305,
    KeyWrap,
    KeyWrapPadded,
    Ecdh,
    ConcatenateKey,
    /// The data follow the key.
    ConcatenateData,
    /// The data precede the key.
    ConcatenateDataFirst,
    XorData,
    GenerateSecret(KeyTypeNumber),
    GeneratePair(KeyTypeNumber),
}

/// Returns the facts about a mechanism, or `None` if it is unknown.
pub(crate) fn facts(kind: MechanismType) -> Option<&'static MechanismFacts> {
    MECHANISMS.iter().find(|facts| facts.kind == kind)
}

/// Returns the digest of a digest mechanism.
pub(crate) fn digest_of(kind: MechanismType) -> Option<DigestAlg> {
    match facts(kind)?.family {
        MechanismFamily::Digest(alg) => Some(alg),
        _ => None,
    }
}

/// Returns every mechanism.
pub(crate) fn mechanisms() -> &'static [MechanismFacts] {
    MECHANISMS
}

impl MechanismFacts {
    /// Returns the functions of the mechanism. Only a token for old applications wraps and unwraps with padded CBC.
    ///
    /// Whether a wrapped key is valid tells one byte after another of what somebody else has wrapped (Vaudenay 2002),
    /// and with the caller's IV, keys of known bytes tell the bytes in the last block of another key.
    pub(crate) fn flags_if(&self, is_compatible: bool) -> u64 {
        let is_old = self.family == MechanismFamily::CbcPad && !is_compatible;
        if is_old { self.flags & !WRAP } else { self.flags }
    }
}

impl MechanismFamily {
    /// True if a key of this type fits.
    pub(crate) fn takes(self, key: KeyTypeNumber) -> bool {
        match self {
            Self::RsaPkcs1(_) | Self::RsaPss(_) | Self::RsaOaep | Self::RsaRaw => key == KeyTypeNumber::RSA,
            Self::Ecdsa(_) => key == KeyTypeNumber::EC,
            Self::Eddsa => key == KeyTypeNumber::EC_EDWARDS,
            Self::MlDsa | Self::HashMlDsa(_) => key == KeyTypeNumber::ML_DSA,
            Self::SlhDsa | Self::HashSlhDsa(_) => key == KeyTypeNumber::SLH_DSA,
            Self::MlKem => key == KeyTypeNumber::ML_KEM,
            Self::Ecdh => key == KeyTypeNumber::EC || key == KeyTypeNumber::EC_MONTGOMERY,
            Self::Hmac { alg, .. } => key == KeyTypeNumber::GENERIC_SECRET || Some(key) == hmac_key_type(alg),
            Self::Cmac { .. }
            | Self::Ecb
            | Self::Cbc
            | Self::CbcPad
            | Self::Ctr
            | Self::Gcm
            | Self::KeyWrap
            | Self::KeyWrapPadded => key == KeyTypeNumber::AES,
            Self::ChaCha20Poly1305 => key == KeyTypeNumber::CHACHA20,
            Self::ConcatenateKey | Self::ConcatenateData | Self::ConcatenateDataFirst | Self::XorData => {
                !key.is_asymmetric()
            }
            Self::Digest(_) | Self::GenerateSecret(_) | Self::GeneratePair(_) => false,
        }
    }
}

/// Returns the key type that serves only HMAC with `alg`.
fn hmac_key_type(alg: DigestAlg) -> Option<KeyTypeNumber> {
    Some(match alg {
        DigestAlg::Sha1 => KeyTypeNumber::SHA_1_HMAC,
        DigestAlg::Sha224 => KeyTypeNumber::SHA224_HMAC,
        DigestAlg::Sha256 => KeyTypeNumber::SHA256_HMAC,
        DigestAlg::Sha384 => KeyTypeNumber::SHA384_HMAC,
        DigestAlg::Sha512 => KeyTypeNumber::SHA512_HMAC,
        _ => return None,
    })
}

const SIGN: u64 = flag::SIGN | flag::VERIFY | flag::MESSAGE_SIGN | flag::MESSAGE_VERIFY | flag::MULTI_MESSAGE;
const MESSAGES: u64 = flag::MESSAGE_ENCRYPT | flag::MESSAGE_DECRYPT | flag::MULTI_MESSAGE;
const CRYPT: u64 = flag::ENCRYPT | flag::DECRYPT;
const WRAP: u64 = flag::WRAP | flag::UNWRAP;
const ENCAPSULATE: u64 = flag::ENCAPSULATE | flag::DECAPSULATE;
const CURVE: u64 = flag::NAMED_PRIME_CURVES;

const fn row(
    kind: MechanismType,
    sizes: (u64, u64),
    flags: u64,
    form: ParameterForm,
    family: MechanismFamily,
) -> MechanismFacts {
    MechanismFacts { kind, min_key_size: sizes.0, max_key_size: sizes.1, flags, form, family }
}

/// Bits. Shorter keys than 1024 are not made, but old ones verify.
const RSA: (u64, u64) = (512, 8192);
const EC: (u64, u64) = (256, 384);
const FIXED: (u64, u64) = (255, 255);
/// Bytes of the public key.
const ML_KEM: (u64, u64) = (800, 1568);
const ML_DSA: (u64, u64) = (1312, 2592);
const SLH_DSA: (u64, u64) = (32, 64);
/// Bytes.
const AES: (u64, u64) = (16, 32);
const SECRET: (u64, u64) = (1, 65_535);
const NO_KEY: (u64, u64) = (0, 0);

const fn rsa_pkcs1(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, RSA, SIGN, ParameterForm::None, MechanismFamily::RsaPkcs1(Some(alg)))
}

const fn rsa_pss(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, RSA, SIGN, ParameterForm::Pss, MechanismFamily::RsaPss(Some(alg)))
}

const fn ecdsa(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, EC, SIGN | CURVE, ParameterForm::None, MechanismFamily::Ecdsa(Some(alg)))
}

const fn hash_ml_dsa(kind: MechanismType, digest: DigestAlg) -> MechanismFacts {
    row(kind, ML_DSA, SIGN, ParameterForm::OptionalSignContext, MechanismFamily::HashMlDsa(Some(digest)))
}

const fn hash_slh_dsa(kind: MechanismType, digest: DigestAlg) -> MechanismFacts {
    row(kind, SLH_DSA, SIGN, ParameterForm::OptionalSignContext, MechanismFamily::HashSlhDsa(Some(digest)))
}

const fn digest(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, NO_KEY, flag::DIGEST, ParameterForm::None, MechanismFamily::Digest(alg))
}

const fn hmac(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, SECRET, SIGN, ParameterForm::None, MechanismFamily::Hmac { alg, is_general: false })
}

const fn hmac_general(kind: MechanismType, alg: DigestAlg) -> MechanismFacts {
    row(kind, SECRET, SIGN, ParameterForm::Number, MechanismFamily::Hmac { alg, is_general: true })
}

const fn secret(kind: MechanismType, sizes: (u64, u64), key: KeyTypeNumber) -> MechanismFacts {
    row(kind, sizes, flag::GENERATE, ParameterForm::None, MechanismFamily::GenerateSecret(key))
}

const fn pair(kind: MechanismType, sizes: (u64, u64), more: u64, key: KeyTypeNumber) -> MechanismFacts {
    row(kind, sizes, flag::GENERATE_KEY_PAIR | more, ParameterForm::None, MechanismFamily::GeneratePair(key))
}

const MECHANISMS: &[MechanismFacts] = &[
    pair(MechanismType::RSA_PKCS_KEY_PAIR_GEN, (1024, 8192), 0, KeyTypeNumber::RSA),
    row(
        MechanismType::RSA_PKCS,
        RSA,
        SIGN | CRYPT | WRAP,
        ParameterForm::None,
        MechanismFamily::RsaPkcs1(None),
    ),
    rsa_pkcs1(MechanismType::SHA1_RSA_PKCS, DigestAlg::Sha1),
    rsa_pkcs1(MechanismType::SHA224_RSA_PKCS, DigestAlg::Sha224),
    rsa_pkcs1(MechanismType::SHA256_RSA_PKCS, DigestAlg::Sha256),
    rsa_pkcs1(MechanismType::SHA384_RSA_PKCS, DigestAlg::Sha384),
    rsa_pkcs1(MechanismType::SHA512_RSA_PKCS, DigestAlg::Sha512),
    row(MechanismType::RSA_PKCS_PSS, RSA, SIGN, ParameterForm::Pss, MechanismFamily::RsaPss(None)),
    rsa_pss(MechanismType::SHA1_RSA_PKCS_PSS, DigestAlg::Sha1),
    rsa_pss(MechanismType::SHA224_RSA_PKCS_PSS, DigestAlg::Sha224),
    rsa_pss(MechanismType::SHA256_RSA_PKCS_PSS, DigestAlg::Sha256),
    rsa_pss(MechanismType::SHA384_RSA_PKCS_PSS, DigestAlg::Sha384),
    rsa_pss(MechanismType::SHA512_RSA_PKCS_PSS, DigestAlg::Sha512),
    row(
        MechanismType::RSA_PKCS_OAEP,
        RSA,
        CRYPT | WRAP | ENCAPSULATE,
        ParameterForm::Oaep,
        MechanismFamily::RsaOaep,
    ),
    row(MechanismType::RSA_X_509, RSA, SIGN | CRYPT, ParameterForm::None, MechanismFamily::RsaRaw),
    pair(MechanismType::EC_KEY_PAIR_GEN, EC, CURVE, KeyTypeNumber::EC),
    row(MechanismType::ECDSA, EC, SIGN | CURVE, ParameterForm::None, MechanismFamily::Ecdsa(None)),
    ecdsa(MechanismType::ECDSA_SHA1, DigestAlg::Sha1),
    ecdsa(MechanismType::ECDSA_SHA224, DigestAlg::Sha224),
    ecdsa(MechanismType::ECDSA_SHA256, DigestAlg::Sha256),
    ecdsa(MechanismType::ECDSA_SHA384, DigestAlg::Sha384),
    ecdsa(MechanismType::ECDSA_SHA512, DigestAlg::Sha512),
    row(
        MechanismType::ECDH1_DERIVE,
        EC,
        flag::DERIVE | ENCAPSULATE | CURVE,
        ParameterForm::Ecdh,
        MechanismFamily::Ecdh,
    ),
    // The cofactor of P-256 and P-384 is 1, and the scalars of X25519 are multiples of its cofactor. So the mechanism
    // agrees on the same secret as the one above.
    row(
        MechanismType::ECDH1_COFACTOR_DERIVE,
        EC,
        flag::DERIVE | ENCAPSULATE | CURVE,
        ParameterForm::Ecdh,
        MechanismFamily::Ecdh,
    ),
    pair(MechanismType::EC_EDWARDS_KEY_PAIR_GEN, FIXED, CURVE, KeyTypeNumber::EC_EDWARDS),
    pair(MechanismType::EC_MONTGOMERY_KEY_PAIR_GEN, FIXED, CURVE, KeyTypeNumber::EC_MONTGOMERY),
    row(MechanismType::EDDSA, FIXED, SIGN | CURVE, ParameterForm::OptionalEddsa, MechanismFamily::Eddsa),
    pair(MechanismType::ML_KEM_KEY_PAIR_GEN, ML_KEM, 0, KeyTypeNumber::ML_KEM),
    row(MechanismType::ML_KEM, ML_KEM, ENCAPSULATE, ParameterForm::None, MechanismFamily::MlKem),
    pair(MechanismType::ML_DSA_KEY_PAIR_GEN, ML_DSA, 0, KeyTypeNumber::ML_DSA),
    row(MechanismType::ML_DSA, ML_DSA, SIGN, ParameterForm::OptionalSignContext, MechanismFamily::MlDsa),
    row(
        MechanismType::HASH_ML_DSA,
        ML_DSA,
        SIGN,
        ParameterForm::HashSignContext,
        MechanismFamily::HashMlDsa(None),
    ),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA224, DigestAlg::Sha224),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA256, DigestAlg::Sha256),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA384, DigestAlg::Sha384),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA512, DigestAlg::Sha512),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA3_224, DigestAlg::Sha3_224),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA3_256, DigestAlg::Sha3_256),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA3_384, DigestAlg::Sha3_384),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHA3_512, DigestAlg::Sha3_512),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHAKE128, DigestAlg::Shake128),
    hash_ml_dsa(MechanismType::HASH_ML_DSA_SHAKE256, DigestAlg::Shake256),
    pair(MechanismType::SLH_DSA_KEY_PAIR_GEN, SLH_DSA, 0, KeyTypeNumber::SLH_DSA),
    row(MechanismType::SLH_DSA, SLH_DSA, SIGN, ParameterForm::OptionalSignContext, MechanismFamily::SlhDsa),
    row(
        MechanismType::HASH_SLH_DSA,
        SLH_DSA,
        SIGN,
        ParameterForm::HashSignContext,
        MechanismFamily::HashSlhDsa(None),
    ),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA224, DigestAlg::Sha224),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA256, DigestAlg::Sha256),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA384, DigestAlg::Sha384),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA512, DigestAlg::Sha512),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA3_224, DigestAlg::Sha3_224),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA3_256, DigestAlg::Sha3_256),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA3_384, DigestAlg::Sha3_384),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHA3_512, DigestAlg::Sha3_512),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHAKE128, DigestAlg::Shake128),
    hash_slh_dsa(MechanismType::HASH_SLH_DSA_SHAKE256, DigestAlg::Shake256),
    digest(MechanismType::SHA_1, DigestAlg::Sha1),
    digest(MechanismType::SHA224, DigestAlg::Sha224),
    digest(MechanismType::SHA256, DigestAlg::Sha256),
    digest(MechanismType::SHA384, DigestAlg::Sha384),
    digest(MechanismType::SHA512, DigestAlg::Sha512),
    digest(MechanismType::SHA512_224, DigestAlg::Sha512_224),
    digest(MechanismType::SHA512_256, DigestAlg::Sha512_256),
    digest(MechanismType::SHA3_224, DigestAlg::Sha3_224),
    digest(MechanismType::SHA3_256, DigestAlg::Sha3_256),
    digest(MechanismType::SHA3_384, DigestAlg::Sha3_384),
    digest(MechanismType::SHA3_512, DigestAlg::Sha3_512),
    hmac(MechanismType::SHA_1_HMAC, DigestAlg::Sha1),
    hmac(MechanismType::SHA224_HMAC, DigestAlg::Sha224),
    hmac(MechanismType::SHA256_HMAC, DigestAlg::Sha256),
    hmac(MechanismType::SHA384_HMAC, DigestAlg::Sha384),
    hmac(MechanismType::SHA512_HMAC, DigestAlg::Sha512),
    hmac_general(MechanismType::SHA_1_HMAC_GENERAL, DigestAlg::Sha1),
    hmac_general(MechanismType::SHA224_HMAC_GENERAL, DigestAlg::Sha224),
    hmac_general(MechanismType::SHA256_HMAC_GENERAL, DigestAlg::Sha256),
    hmac_general(MechanismType::SHA384_HMAC_GENERAL, DigestAlg::Sha384),
    hmac_general(MechanismType::SHA512_HMAC_GENERAL, DigestAlg::Sha512),
    secret(MechanismType::GENERIC_SECRET_KEY_GEN, SECRET, KeyTypeNumber::GENERIC_SECRET),
    secret(MechanismType::SHA_1_KEY_GEN, SECRET, KeyTypeNumber::SHA_1_HMAC),
    secret(MechanismType::SHA224_KEY_GEN, SECRET, KeyTypeNumber::SHA224_HMAC),
    secret(MechanismType::SHA256_KEY_GEN, SECRET, KeyTypeNumber::SHA256_HMAC),
    secret(MechanismType::SHA384_KEY_GEN, SECRET, KeyTypeNumber::SHA384_HMAC),
    secret(MechanismType::SHA512_KEY_GEN, SECRET, KeyTypeNumber::SHA512_HMAC),
    secret(MechanismType::AES_KEY_GEN, AES, KeyTypeNumber::AES),
    row(MechanismType::AES_ECB, AES, CRYPT, ParameterForm::None, MechanismFamily::Ecb),
    row(MechanismType::AES_CBC, AES, CRYPT, ParameterForm::Iv { len: 16 }, MechanismFamily::Cbc),
    row(
        MechanismType::AES_CBC_PAD,
        AES,
        CRYPT | WRAP,
        ParameterForm::Iv { len: 16 },
        MechanismFamily::CbcPad,
    ),
    row(MechanismType::AES_CTR, AES, CRYPT, ParameterForm::Counter, MechanismFamily::Ctr),
    // Others may have wrapped with it. The caller's IV of a second wrapping could be that of the first.
    row(
        MechanismType::AES_GCM,
        AES,
        CRYPT | flag::UNWRAP | MESSAGES,
        ParameterForm::Gcm,
        MechanismFamily::Gcm,
    ),
    row(MechanismType::AES_CMAC, AES, SIGN, ParameterForm::None, MechanismFamily::Cmac { is_general: false }),
    row(
        MechanismType::AES_CMAC_GENERAL,
        AES,
        SIGN,
        ParameterForm::Number,
        MechanismFamily::Cmac { is_general: true },
    ),
    row(
        MechanismType::AES_KEY_WRAP,
        AES,
        CRYPT | WRAP,
        ParameterForm::OptionalIv { len: 8 },
        MechanismFamily::KeyWrap,
    ),
    row(
        MechanismType::AES_KEY_WRAP_KWP,
        AES,
        CRYPT | WRAP,
        ParameterForm::OptionalIv { len: 4 },
        MechanismFamily::KeyWrapPadded,
    ),
    // CKM_CHACHA20_KEY_GEN has no length of its own: a key has 32 bytes.
    secret(MechanismType::CHACHA20_KEY_GEN, (32, 32), KeyTypeNumber::CHACHA20),
    row(
        MechanismType::CHACHA20_POLY1305,
        (32, 32),
        CRYPT | MESSAGES,
        ParameterForm::ChaCha20Poly1305,
        MechanismFamily::ChaCha20Poly1305,
    ),
    row(
        MechanismType::CONCATENATE_BASE_AND_KEY,
        SECRET,
        flag::DERIVE,
        ParameterForm::KeyHandle,
        MechanismFamily::ConcatenateKey,
    ),
    row(
        MechanismType::CONCATENATE_BASE_AND_DATA,
        SECRET,
        flag::DERIVE,
        ParameterForm::DerivationData,
        MechanismFamily::ConcatenateData,
    ),
    row(
        MechanismType::CONCATENATE_DATA_AND_BASE,
        SECRET,
        flag::DERIVE,
        ParameterForm::DerivationData,
        MechanismFamily::ConcatenateDataFirst,
    ),
    row(
        MechanismType::XOR_BASE_AND_DATA,
        SECRET,
        flag::DERIVE,
        ParameterForm::DerivationData,
        MechanismFamily::XorData,
    ),
];
