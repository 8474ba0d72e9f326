//! The provider itself: initialisation, the algorithms that it offers, teardown. provider-base(7).

use std::ffi::{CStr, c_char, c_int, c_void};

use oarlock::tls_groups::Group;
use oarlock_ffi::print_line;

use super::decoder::FamilyDecoders;
use super::encoder::FamilyEncoders;
use super::keymgmt::{
    MlDsa44Family, MlDsa65Family, MlDsa87Family, MlKem512Family, MlKem768Family, MlKem1024Family,
};
use super::{
    cipher, decoder, describe, dispatch, entry, exchange, hybrid, kdf, kem, keymgmt, signature, slh_dsa,
    store,
};
use crate::config::Config;
use crate::error::REASONS;
use crate::ffi::libcrypto::abi::{
    OsslAlgorithm, OsslDispatch, OsslItem, OsslParam, StaticTable, kind, operation, provider,
};
use crate::ffi::libcrypto::core::CoreHandle;
use crate::ffi::libcrypto::params::{Callback, ParamList, ParamReader, ParamWriter};
use crate::hybrid::security_bits;
use crate::provider::{DecoderList, LoadedProvider};

/// The property that selects these algorithms, as in `default_properties = ?provider=oarlock`.
pub(super) const PROPERTIES: &CStr = c"provider=oarlock";

/// The property of key managers that no query prefers. OpenSSL finds them if an operation of this provider needs its
/// own keys; new keys come from the default provider, which supports every size and curve. OpenSSL sometimes caches a
/// key manager by name alone, so that these may be asked for new keys all the same.
const KEYS_ONLY: &CStr = c"oarlock.keys=import";

static FUNCTIONS: StaticTable<OsslDispatch> = dispatch! {
    provider::TEARDOWN => teardown,
    provider::GETTABLE_PARAMS => gettable_params,
    provider::GET_PARAMS => get_params,
    provider::QUERY_OPERATION => query_operation,
    provider::GET_REASON_STRINGS => reason_strings,
    provider::GET_CAPABILITIES => get_capabilities,
};

// The names of OpenSSL 3.5, with those of the object identifiers.
const ML_KEM_512: &CStr = c"ML-KEM-512:MLKEM512:id-alg-ml-kem-512:2.16.840.1.101.3.4.4.1";
const ML_KEM_768: &CStr = c"ML-KEM-768:MLKEM768:id-alg-ml-kem-768:2.16.840.1.101.3.4.4.2";
const ML_KEM_1024: &CStr = c"ML-KEM-1024:MLKEM1024:id-alg-ml-kem-1024:2.16.840.1.101.3.4.4.3";
const ML_DSA_44: &CStr = c"ML-DSA-44:MLDSA44:2.16.840.1.101.3.4.3.17:id-ml-dsa-44";
const ML_DSA_65: &CStr = c"ML-DSA-65:MLDSA65:2.16.840.1.101.3.4.3.18:id-ml-dsa-65";
const ML_DSA_87: &CStr = c"ML-DSA-87:MLDSA87:2.16.840.1.101.3.4.3.19:id-ml-dsa-87";

const KEYMGMT_OTHERS: [OsslAlgorithm; 13] = [
    OsslAlgorithm::new(
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
        KEYS_ONLY,
        &keymgmt::RSA,
        c"Oarlock RSA keys",
    ),
    OsslAlgorithm::new(c"EC:id-ecPublicKey:1.2.840.10045.2.1", KEYS_ONLY, &keymgmt::EC, c"Oarlock EC keys"),
    OsslAlgorithm::new(c"ED25519:1.3.101.112", KEYS_ONLY, &keymgmt::ED25519, c"Oarlock Ed25519 keys"),
    OsslAlgorithm::new(c"X25519:1.3.101.110", PROPERTIES, &keymgmt::X25519, c"Oarlock X25519 keys"),
    OsslAlgorithm::new(ML_KEM_512, PROPERTIES, &keymgmt::ML_KEM_512, c"Oarlock ML-KEM-512 keys"),
    OsslAlgorithm::new(ML_KEM_768, PROPERTIES, &keymgmt::ML_KEM_768, c"Oarlock ML-KEM-768 keys"),
    OsslAlgorithm::new(ML_KEM_1024, PROPERTIES, &keymgmt::ML_KEM_1024, c"Oarlock ML-KEM-1024 keys"),
    OsslAlgorithm::new(ML_DSA_44, PROPERTIES, &keymgmt::ML_DSA_44, c"Oarlock ML-DSA-44 keys"),
    OsslAlgorithm::new(ML_DSA_65, PROPERTIES, &keymgmt::ML_DSA_65, c"Oarlock ML-DSA-65 keys"),
    OsslAlgorithm::new(ML_DSA_87, PROPERTIES, &keymgmt::ML_DSA_87, c"Oarlock ML-DSA-87 keys"),
    OsslAlgorithm::new(
        c"X25519MLKEM768",
        PROPERTIES,
        &hybrid::X25519_ML_KEM_768,
        c"Oarlock X25519 and ML-KEM-768 keys",
    ),
    OsslAlgorithm::new(
        c"SecP256r1MLKEM768",
        PROPERTIES,
        &hybrid::SECP256R1_ML_KEM_768,
        c"Oarlock P-256 and ML-KEM-768 keys",
    ),
    OsslAlgorithm::new(
        c"SecP384r1MLKEM1024",
        PROPERTIES,
        &hybrid::SECP384R1_ML_KEM_1024,
        c"Oarlock P-384 and ML-KEM-1024 keys",
    ),
];

static KEYMGMT: StaticTable<OsslAlgorithm> = StaticTable({
    const ALL: [OsslAlgorithm; 26] = joined(&[&KEYMGMT_OTHERS, &slh_dsa::KEY_MANAGERS]);
    &ALL
});

const SIGNATURE_OTHERS: [OsslAlgorithm; 6] = [
    OsslAlgorithm::new(
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
        PROPERTIES,
        &signature::RSA,
        c"Oarlock RSA signatures",
    ),
    OsslAlgorithm::new(c"ECDSA", PROPERTIES, &signature::ECDSA, c"Oarlock ECDSA over P-256 and P-384"),
    OsslAlgorithm::new(c"ED25519:1.3.101.112", PROPERTIES, &signature::ED25519, c"Oarlock Ed25519"),
    OsslAlgorithm::new(ML_DSA_44, PROPERTIES, &signature::ML_DSA_44, c"Oarlock ML-DSA-44"),
    OsslAlgorithm::new(ML_DSA_65, PROPERTIES, &signature::ML_DSA_65, c"Oarlock ML-DSA-65"),
    OsslAlgorithm::new(ML_DSA_87, PROPERTIES, &signature::ML_DSA_87, c"Oarlock ML-DSA-87"),
];

static SIGNATURE: StaticTable<OsslAlgorithm> = StaticTable({
    const ALL: [OsslAlgorithm; 19] = joined(&[&SIGNATURE_OTHERS, &slh_dsa::SIGNATURES]);
    &ALL
});

/// Returns the entries of several arrays, and the end of an array behind them.
const fn joined<const N: usize>(parts: &[&[OsslAlgorithm]]) -> [OsslAlgorithm; N] {
    let mut all = [OsslAlgorithm::END; N];
    let (mut part, mut index) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[index] = parts[part][at];
            (at, index) = (at + 1, index + 1);
        }
        part += 1;
    }
    assert!(index + 1 == N);
    all
}

static ASYM_CIPHER: StaticTable<OsslAlgorithm> = StaticTable(&[
    OsslAlgorithm::new(
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
        PROPERTIES,
        &cipher::RSA,
        c"Oarlock RSA decryption",
    ),
    OsslAlgorithm::END,
]);

static KEYEXCH: StaticTable<OsslAlgorithm> = StaticTable(&[
    OsslAlgorithm::new(c"X25519:1.3.101.110", PROPERTIES, &exchange::X25519, c"Oarlock X25519"),
    OsslAlgorithm::new(c"ECDH", PROPERTIES, &exchange::ECDH, c"Oarlock ECDH over P-256 and P-384"),
    OsslAlgorithm::END,
]);

static KDF: StaticTable<OsslAlgorithm> = StaticTable(&[
    OsslAlgorithm::new(c"TLS13-KDF", PROPERTIES, &kdf::TLS13, c"Oarlock key derivation of TLS 1.3"),
    OsslAlgorithm::new(c"TLS1-PRF", PROPERTIES, &kdf::TLS12, c"Oarlock key derivation of TLS 1.2"),
    OsslAlgorithm::END,
]);

static KEM: StaticTable<OsslAlgorithm> = StaticTable(&[
    OsslAlgorithm::new(ML_KEM_512, PROPERTIES, &kem::ML_KEM, c"Oarlock ML-KEM-512"),
    OsslAlgorithm::new(ML_KEM_768, PROPERTIES, &kem::ML_KEM, c"Oarlock ML-KEM-768"),
    OsslAlgorithm::new(ML_KEM_1024, PROPERTIES, &kem::ML_KEM, c"Oarlock ML-KEM-1024"),
    OsslAlgorithm::new(c"X25519MLKEM768", PROPERTIES, &kem::HYBRID, c"Oarlock X25519 and ML-KEM-768"),
    OsslAlgorithm::new(c"SecP256r1MLKEM768", PROPERTIES, &kem::HYBRID, c"Oarlock P-256 and ML-KEM-768"),
    OsslAlgorithm::new(c"SecP384r1MLKEM1024", PROPERTIES, &kem::HYBRID, c"Oarlock P-384 and ML-KEM-1024"),
    OsslAlgorithm::END,
]);

/// The decoders from PEM to DER, and from DER to the families of keys. A program that loads any file asks for DER
/// first.
const DECODERS_OF_REFERENCES: [OsslAlgorithm; 4] = [
    OsslAlgorithm::new(c"DER", c"provider=oarlock,input=pem", &decoder::DER, c"Oarlock references in PEM"),
    OsslAlgorithm::new(c"RSA", REFERENCES, &decoder::RSA, c"Oarlock references to RSA keys"),
    OsslAlgorithm::new(c"EC", REFERENCES, &decoder::EC, c"Oarlock references to EC keys"),
    OsslAlgorithm::new(c"ED25519", REFERENCES, &decoder::ED25519, c"Oarlock references to Ed25519 keys"),
];

/// The decoders of a TLS program on OpenSSL before 3.2. These versions compare each decoder with each name of a key's
/// kind for every certificate that a peer sends: 58 decoders make the 140 microseconds of a certificate 330. They have
/// no use for keys of ML-DSA and SLH-DSA in TLS either, as libssl takes no signature schemes from providers.
static FEW_DECODERS: StaticTable<OsslAlgorithm> = StaticTable({
    const ALL: [OsslAlgorithm; 5] = joined(&[&DECODERS_OF_REFERENCES]);
    &ALL
});

const DECODERS_OF_LATTICES: [OsslAlgorithm; 18] = [
    OsslAlgorithm::new(
        ML_KEM_512,
        REFERENCES,
        &FamilyDecoders::<MlKem512Family>::REFERENCE,
        c"Oarlock references to ML-KEM-512 keys",
    ),
    OsslAlgorithm::new(
        ML_KEM_512,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlKem512Family>::PRIVATE,
        c"Oarlock ML-KEM-512 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_KEM_512,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlKem512Family>::PUBLIC,
        c"Oarlock ML-KEM-512 public keys",
    ),
    OsslAlgorithm::new(
        ML_KEM_768,
        REFERENCES,
        &FamilyDecoders::<MlKem768Family>::REFERENCE,
        c"Oarlock references to ML-KEM-768 keys",
    ),
    OsslAlgorithm::new(
        ML_KEM_768,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlKem768Family>::PRIVATE,
        c"Oarlock ML-KEM-768 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_KEM_768,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlKem768Family>::PUBLIC,
        c"Oarlock ML-KEM-768 public keys",
    ),
    OsslAlgorithm::new(
        ML_KEM_1024,
        REFERENCES,
        &FamilyDecoders::<MlKem1024Family>::REFERENCE,
        c"Oarlock references to ML-KEM-1024 keys",
    ),
    OsslAlgorithm::new(
        ML_KEM_1024,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlKem1024Family>::PRIVATE,
        c"Oarlock ML-KEM-1024 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_KEM_1024,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlKem1024Family>::PUBLIC,
        c"Oarlock ML-KEM-1024 public keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_44,
        REFERENCES,
        &FamilyDecoders::<MlDsa44Family>::REFERENCE,
        c"Oarlock references to ML-DSA-44 keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_44,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlDsa44Family>::PRIVATE,
        c"Oarlock ML-DSA-44 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_DSA_44,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlDsa44Family>::PUBLIC,
        c"Oarlock ML-DSA-44 public keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_65,
        REFERENCES,
        &FamilyDecoders::<MlDsa65Family>::REFERENCE,
        c"Oarlock references to ML-DSA-65 keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_65,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlDsa65Family>::PRIVATE,
        c"Oarlock ML-DSA-65 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_DSA_65,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlDsa65Family>::PUBLIC,
        c"Oarlock ML-DSA-65 public keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_87,
        REFERENCES,
        &FamilyDecoders::<MlDsa87Family>::REFERENCE,
        c"Oarlock references to ML-DSA-87 keys",
    ),
    OsslAlgorithm::new(
        ML_DSA_87,
        PRIVATE_KEYS,
        &FamilyDecoders::<MlDsa87Family>::PRIVATE,
        c"Oarlock ML-DSA-87 keys in PKCS#8",
    ),
    OsslAlgorithm::new(
        ML_DSA_87,
        PUBLIC_KEYS,
        &FamilyDecoders::<MlDsa87Family>::PUBLIC,
        c"Oarlock ML-DSA-87 public keys",
    ),
];

static DECODER: StaticTable<OsslAlgorithm> = StaticTable({
    const ALL: [OsslAlgorithm; 59] =
        joined(&[&DECODERS_OF_REFERENCES, &DECODERS_OF_LATTICES, slh_dsa::DECODERS.as_flattened()]);
    &ALL
});

/// The structure is [`object::STRUCTURE`](super::object::STRUCTURE).
pub(super) const REFERENCES: &CStr = c"provider=oarlock,input=der,structure=oarlock-reference";

/// The structures of key files. OpenSSL finds the decoder of a family by the name that the file has for its algorithm.
pub(super) const PRIVATE_KEYS: &CStr = c"provider=oarlock,input=der,structure=PrivateKeyInfo";
pub(super) const PUBLIC_KEYS: &CStr = c"provider=oarlock,input=der,structure=SubjectPublicKeyInfo";

/// An encoder of ML-KEM, ML-DSA or SLH-DSA keys. OpenSSL chooses it by its output and its structure.
macro_rules! encoder {
    ($names:expr, $output:literal, $structure:literal, $family:ty, $table:ident) => {
        OsslAlgorithm::new(
            $names,
            match CStr::from_bytes_with_nul(
                concat!("provider=oarlock,output=", $output, ",structure=", $structure, "\0").as_bytes(),
            ) {
                Ok(properties) => properties,
                Err(_) => c"",
            },
            &FamilyEncoders::<$family>::$table,
            c"Oarlock keys in files",
        )
    };
}

pub(super) use encoder;

/// An encoder for PKCS#8 encrypts if a cipher is set, under both names of the structure.
const ENCODER_OTHERS: [OsslAlgorithm; 36] = [
    encoder!(ML_KEM_512, "der", "PrivateKeyInfo", MlKem512Family, PRIVATE_DER),
    encoder!(ML_KEM_512, "pem", "PrivateKeyInfo", MlKem512Family, PRIVATE_PEM),
    encoder!(ML_KEM_512, "der", "EncryptedPrivateKeyInfo", MlKem512Family, PRIVATE_DER),
    encoder!(ML_KEM_512, "pem", "EncryptedPrivateKeyInfo", MlKem512Family, PRIVATE_PEM),
    encoder!(ML_KEM_512, "der", "SubjectPublicKeyInfo", MlKem512Family, PUBLIC_DER),
    encoder!(ML_KEM_512, "pem", "SubjectPublicKeyInfo", MlKem512Family, PUBLIC_PEM),
    encoder!(ML_KEM_768, "der", "PrivateKeyInfo", MlKem768Family, PRIVATE_DER),
    encoder!(ML_KEM_768, "pem", "PrivateKeyInfo", MlKem768Family, PRIVATE_PEM),
    encoder!(ML_KEM_768, "der", "EncryptedPrivateKeyInfo", MlKem768Family, PRIVATE_DER),
    encoder!(ML_KEM_768, "pem", "EncryptedPrivateKeyInfo", MlKem768Family, PRIVATE_PEM),
    encoder!(ML_KEM_768, "der", "SubjectPublicKeyInfo", MlKem768Family, PUBLIC_DER),
    encoder!(ML_KEM_768, "pem", "SubjectPublicKeyInfo", MlKem768Family, PUBLIC_PEM),
    encoder!(ML_KEM_1024, "der", "PrivateKeyInfo", MlKem1024Family, PRIVATE_DER),
    encoder!(ML_KEM_1024, "pem", "PrivateKeyInfo", MlKem1024Family, PRIVATE_PEM),
    encoder!(ML_KEM_1024, "der", "EncryptedPrivateKeyInfo", MlKem1024Family, PRIVATE_DER),
    encoder!(ML_KEM_1024, "pem", "EncryptedPrivateKeyInfo", MlKem1024Family, PRIVATE_PEM),
    encoder!(ML_KEM_1024, "der", "SubjectPublicKeyInfo", MlKem1024Family, PUBLIC_DER),
    encoder!(ML_KEM_1024, "pem", "SubjectPublicKeyInfo", MlKem1024Family, PUBLIC_PEM),
    encoder!(ML_DSA_44, "der", "PrivateKeyInfo", MlDsa44Family, PRIVATE_DER),
    encoder!(ML_DSA_44, "pem", "PrivateKeyInfo", MlDsa44Family, PRIVATE_PEM),
    encoder!(ML_DSA_44, "der", "EncryptedPrivateKeyInfo", MlDsa44Family, PRIVATE_DER),
    encoder!(ML_DSA_44, "pem", "EncryptedPrivateKeyInfo", MlDsa44Family, PRIVATE_PEM),
    encoder!(ML_DSA_44, "der", "SubjectPublicKeyInfo", MlDsa44Family, PUBLIC_DER),
    encoder!(ML_DSA_44, "pem", "SubjectPublicKeyInfo", MlDsa44Family, PUBLIC_PEM),
    encoder!(ML_DSA_65, "der", "PrivateKeyInfo", MlDsa65Family, PRIVATE_DER),
    encoder!(ML_DSA_65, "pem", "PrivateKeyInfo", MlDsa65Family, PRIVATE_PEM),
    encoder!(ML_DSA_65, "der", "EncryptedPrivateKeyInfo", MlDsa65Family, PRIVATE_DER),
    encoder!(ML_DSA_65, "pem", "EncryptedPrivateKeyInfo", MlDsa65Family, PRIVATE_PEM),
    encoder!(ML_DSA_65, "der", "SubjectPublicKeyInfo", MlDsa65Family, PUBLIC_DER),
    encoder!(ML_DSA_65, "pem", "SubjectPublicKeyInfo", MlDsa65Family, PUBLIC_PEM),
    encoder!(ML_DSA_87, "der", "PrivateKeyInfo", MlDsa87Family, PRIVATE_DER),
    encoder!(ML_DSA_87, "pem", "PrivateKeyInfo", MlDsa87Family, PRIVATE_PEM),
    encoder!(ML_DSA_87, "der", "EncryptedPrivateKeyInfo", MlDsa87Family, PRIVATE_DER),
    encoder!(ML_DSA_87, "pem", "EncryptedPrivateKeyInfo", MlDsa87Family, PRIVATE_PEM),
    encoder!(ML_DSA_87, "der", "SubjectPublicKeyInfo", MlDsa87Family, PUBLIC_DER),
    encoder!(ML_DSA_87, "pem", "SubjectPublicKeyInfo", MlDsa87Family, PUBLIC_PEM),
];

static ENCODER: StaticTable<OsslAlgorithm> = StaticTable({
    const ALL: [OsslAlgorithm; 109] = joined(&[&ENCODER_OTHERS, slh_dsa::ENCODERS.as_flattened()]);
    &ALL
});

static STORE: StaticTable<OsslAlgorithm> = StaticTable(&[
    OsslAlgorithm::new(c"oarlock", PROPERTIES, &store::OARLOCK, c"Keys in a cryptoserver"),
    OsslAlgorithm::END,
]);

static GETTABLE: StaticTable<OsslParam> = describe! {
    c"name" => kind::UTF8_PTR,
    c"version" => kind::UTF8_PTR,
    c"buildinfo" => kind::UTF8_PTR,
    c"status" => kind::INTEGER,
};

static REASON_STRINGS: StaticTable<OsslItem> = {
    const fn item(index: usize) -> OsslItem {
        OsslItem { id: REASONS[index].0, text: REASONS[index].1.as_ptr() }
    }
    const END: OsslItem = OsslItem { id: 0, text: std::ptr::null() };
    StaticTable(&[item(0), item(1), item(2), item(3), item(4), item(5), item(6), END])
};

/// A TLS group under one of its names.
struct TlsGroup {
    name: &'static str,
    /// The name of the group in its key manager.
    internal: &'static str,
    algorithm: &'static str,
    id: c_int,
    security_bits: c_int,
    /// True for a group of TLS 1.3 alone whose share is encapsulated for.
    is_kem: bool,
}

/// The groups of RFC 8446 4.2.7 and RFC 10024, with the names in configurations of OpenSSL.
const GROUPS: [TlsGroup; 8] = [
    TlsGroup::of_curve("x25519", "X25519", "X25519", 0x1D, 128),
    TlsGroup::of_curve("secp256r1", "prime256v1", "EC", 0x17, 128),
    TlsGroup::of_curve("P-256", "prime256v1", "EC", 0x17, 128),
    TlsGroup::of_curve("secp384r1", "secp384r1", "EC", 0x18, 192),
    TlsGroup::of_curve("P-384", "secp384r1", "EC", 0x18, 192),
    TlsGroup::of_kem(Group::X25519MlKem768),
    TlsGroup::of_kem(Group::SecP256r1MlKem768),
    TlsGroup::of_kem(Group::SecP384r1MlKem1024),
];

/// A TLS signature scheme.
struct TlsSignature {
    name: &'static str,
    algorithm: &'static str,
    oid: &'static str,
    code_point: c_int,
    security_bits: c_int,
}

/// The schemes of draft-ietf-tls-mldsa.
const SIGNATURE_ALGORITHMS: [TlsSignature; 3] = [
    TlsSignature {
        name: "mldsa44",
        algorithm: "ML-DSA-44",
        oid: "2.16.840.1.101.3.4.3.17",
        code_point: 0x0904,
        security_bits: 128,
    },
    TlsSignature {
        name: "mldsa65",
        algorithm: "ML-DSA-65",
        oid: "2.16.840.1.101.3.4.3.18",
        code_point: 0x0905,
        security_bits: 192,
    },
    TlsSignature {
        name: "mldsa87",
        algorithm: "ML-DSA-87",
        oid: "2.16.840.1.101.3.4.3.19",
        code_point: 0x0906,
        security_bits: 256,
    },
];

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// Initialises the provider. This is the only symbol that OpenSSL looks for.
///
/// # Safety
/// Only OpenSSL calls this function, with the arguments that provider(7) describes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    functions: *const OsslDispatch,
    out: Option<&mut *const OsslDispatch>,
    context: Option<&mut *mut c_void>,
) -> c_int {
    let provider = oarlock_ffi::guard(|| {
        // No thread starts and no engine is created here: servers load providers and fork afterwards, and a thread does
        // not survive a fork.
        // SAFETY: the handle and functions that OpenSSL gives to a provider.
        let core = unsafe { CoreHandle::new(handle, functions) };
        let section = |name: &str| std::ffi::CString::new(name).ok().and_then(|name| core.setting(&name));
        match Config::read(section, oarlock_ffi::environment) {
            Ok((config, ignored)) => {
                ignored.into_iter().for_each(print_line);
                name_objects(&core);
                Some(Box::new(LoadedProvider::new(core, config)))
            }
            Err(failure) => {
                // Most programs continue without a provider that fails to load, and never read the error queue.
                print_line(&format!("not loaded: {failure}"));
                core.raise(&failure);
                None
            }
        }
    });
    let (Some(Some(provider)), Some(out), Some(context)) = (provider, out, context) else { return 0 };
    // The core owns the context from here on, and returns it to `teardown`.
    *context = Box::into_raw(provider).cast();
    *out = FUNCTIONS.as_ptr();
    1
}

/// The object identifiers that OpenSSL before 3.5 does not know, with their names there.
const OBJECTS: [(&CStr, &CStr, &CStr); 6] = [
    (c"2.16.840.1.101.3.4.4.1", c"id-alg-ml-kem-512", c"ML-KEM-512"),
    (c"2.16.840.1.101.3.4.4.2", c"id-alg-ml-kem-768", c"ML-KEM-768"),
    (c"2.16.840.1.101.3.4.4.3", c"id-alg-ml-kem-1024", c"ML-KEM-1024"),
    (c"2.16.840.1.101.3.4.3.17", c"id-ml-dsa-44", c"ML-DSA-44"),
    (c"2.16.840.1.101.3.4.3.18", c"id-ml-dsa-65", c"ML-DSA-65"),
    (c"2.16.840.1.101.3.4.3.19", c"id-ml-dsa-87", c"ML-DSA-87"),
];

/// Names the objects, without which OpenSSL verifies no certificate that has an ML-DSA or SLH-DSA signature.
fn name_objects(core: &CoreHandle) {
    for (oid, short, long) in OBJECTS.into_iter().chain(slh_dsa::OBJECTS) {
        let is_signature = !long.to_bytes().starts_with(b"ML-KEM");
        if core.name_object(oid, short, long) && is_signature {
            core.name_signature(oid);
        }
    }
}

entry! {
    // Contexts that OpenSSL frees later hold clones, so the state outlives this call if it must.
    fn teardown(provider: Option<Box<LoadedProvider>>) -> (), or (); { drop(provider); }
}

entry! {
    fn gettable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { GETTABLE.as_ptr() }
}

entry! {
    fn get_params(_provider: *const c_void, wanted: ParamWriter<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        let is_written = wanted.text(c"name", c"Oarlock")
            & wanted.text(c"version", VERSION)
            & wanted.text(c"buildinfo", VERSION)
            & wanted.number(c"status", 1);
        is_written.into()
    }
}

entry! {
    fn query_operation(provider: Option<&LoadedProvider>, id: c_int, no_cache: Option<&mut c_int>) -> *const OsslAlgorithm,
        or std::ptr::null();
    {
        let decoders = match provider {
            Some(provider) if id == operation::DECODER => provider.decoders(),
            _ => DecoderList::All,
        };
        if let Some(no_cache) = no_cache {
            *no_cache = (decoders == DecoderList::AllForNow).into();
        }
        match id {
            operation::KDF => KDF.as_ptr(),
            operation::KEYMGMT => KEYMGMT.as_ptr(),
            operation::KEYEXCH => KEYEXCH.as_ptr(),
            operation::SIGNATURE => SIGNATURE.as_ptr(),
            operation::ASYM_CIPHER => ASYM_CIPHER.as_ptr(),
            operation::KEM => KEM.as_ptr(),
            operation::ENCODER => ENCODER.as_ptr(),
            operation::DECODER if decoders == DecoderList::Few => FEW_DECODERS.as_ptr(),
            operation::DECODER => DECODER.as_ptr(),
            operation::STORE => STORE.as_ptr(),
            _ => std::ptr::null(),
        }
    }
}

entry! {
    /// Lists the TLS groups, and the signature schemes that only providers have. TLS uses one only from the provider
    /// that its key manager comes from: provider-base(7). OpenSSL before 3.2 does not ask for signature schemes.
    fn get_capabilities(
        provider: Option<&LoadedProvider>,
        wanted: Name,
        callback: Option<Callback>,
        argument: *mut c_void,
    )
        -> c_int, or 0;
    {
        // SAFETY: OpenSSL passes a name that ends with zero, or null.
        let wanted = (!wanted.is_null()).then(|| unsafe { CStr::from_ptr(wanted) });
        let is_wanted = |name: &[u8]| wanted.is_some_and(|wanted| wanted.to_bytes().eq_ignore_ascii_case(name));
        if is_wanted(b"TLS-SIGALG") {
            return SIGNATURE_ALGORITHMS.iter().all(|scheme| scheme.params().pass_to(callback, argument)).into();
        }
        if !is_wanted(b"TLS-GROUP") {
            // OpenSSL counts a provider without this function as successful, so an unknown capability is success too.
            return 1;
        }
        provider.inspect(|provider| provider.note_tls());
        let is_passed = GROUPS.iter().all(|group| group.params().pass_to(callback, argument));
        (is_passed && pass_other_curves(provider, callback, argument)).into()
    }
}

/// Passes the fallback's groups on other curves. They are this provider's groups if OpenSSL has chosen its manager of
/// EC keys, which has keys on all curves.
fn pass_other_curves(
    provider: Option<&LoadedProvider>,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> bool {
    let Some(fallback) = provider.and_then(LoadedProvider::fallback) else { return true };
    let Some(callback) = callback else { return false };
    let mut caller = GroupCaller { callback, argument };
    fallback.capabilities(c"TLS-GROUP", pass_other_curve, (&raw mut caller).cast())
}

/// The argument of [`pass_other_curve`].
struct GroupCaller {
    callback: Callback,
    argument: *mut c_void,
}

entry! {
    fn pass_other_curve(group: *const OsslParam, caller: *mut c_void) -> c_int, or 0; {
        // SAFETY: the argument of `pass_other_curves`, which waits for this call.
        let Some(caller) = (unsafe { caller.cast::<GroupCaller>().as_ref() }) else { return 0 };
        // SAFETY: the parameters of a group, which live as long as this call.
        let params = unsafe { ParamReader::new(group) };
        let name = params.text(c"tls-group-name");
        let is_own = name.is_some_and(|name| GROUPS.iter().any(|group| group.name.eq_ignore_ascii_case(name)));
        if is_own || params.text(c"tls-group-alg") != Some("EC") {
            return 1;
        }
        // SAFETY: the callback of OpenSSL, with its argument.
        unsafe { (caller.callback)(group, caller.argument) }
    }
}

impl TlsGroup {
    const fn of_curve(
        name: &'static str,
        internal: &'static str,
        algorithm: &'static str,
        id: c_int,
        security_bits: c_int,
    ) -> Self {
        Self { name, internal, algorithm, id, security_bits, is_kem: false }
    }

    const fn of_kem(group: Group) -> Self {
        let (name, security_bits) = (group.name(), security_bits(group) as c_int);
        let id = group.code_point() as c_int;
        Self { name, internal: name, algorithm: name, id, security_bits, is_kem: true }
    }

    fn params(&self) -> ParamList {
        let mut params = ParamList::default();
        params
            .text(c"tls-group-name", self.name)
            .text(c"tls-group-name-internal", self.internal)
            .text(c"tls-group-alg", self.algorithm)
            .number(c"tls-group-id", self.id)
            .number(c"tls-group-sec-bits", self.security_bits)
            // TLS 1.3, or TLS 1.0 and DTLS 1.0 or later; 0 means no maximum, and -1 no version.
            .number(c"tls-min-tls", if self.is_kem { 0x0304 } else { 0x0301 })
            .number(c"tls-max-tls", 0)
            .number(c"tls-min-dtls", if self.is_kem { -1 } else { 0xFEFF })
            .number(c"tls-max-dtls", if self.is_kem { -1 } else { 0 })
            .number(c"tls-group-is-kem", c_int::from(self.is_kem));
        params
    }
}

impl TlsSignature {
    fn params(&self) -> ParamList {
        let mut params = ParamList::default();
        params
            .text(c"tls-sigalg-iana-name", self.name)
            .text(c"tls-sigalg-name", self.algorithm)
            .text(c"tls-sigalg-oid", self.oid)
            .number(c"tls-sigalg-code-point", self.code_point)
            .number(c"tls-sigalg-sec-bits", self.security_bits)
            // TLS 1.3 or later; 0 means no maximum, and -1 no version.
            .number(c"tls-min-tls", 0x0304)
            .number(c"tls-max-tls", 0)
            .number(c"tls-min-dtls", -1)
            .number(c"tls-max-dtls", -1);
        params
    }
}

entry! {
    fn reason_strings(_provider: *const c_void) -> *const OsslItem, or std::ptr::null(); { REASON_STRINGS.as_ptr() }
}

/// A name that C lends.
pub(super) type Name = *const c_char;
