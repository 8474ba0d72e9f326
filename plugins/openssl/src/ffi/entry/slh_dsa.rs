//! SLH-DSA: twelve parameter sets with the same functions. Their entries stand behind those of the other algorithms.

use std::ffi::CStr;

use oarlock::SlhDsaSet;

use super::decoder::FamilyDecoders;
use super::encoder::FamilyEncoders;
use super::keymgmt::{FamilyKeys, FamilyMarker};
use super::provider::{PRIVATE_KEYS, PROPERTIES, PUBLIC_KEYS, REFERENCES, encoder};
use super::signature::FamilySignatures;
use crate::ffi::libcrypto::abi::OsslAlgorithm;
use crate::key::KeyFamily;

/// The family of the set at an index of [`SlhDsaSet::ALL`].
pub(super) struct SlhDsaFamily<const SET: usize>;

impl<const SET: usize> FamilyMarker for SlhDsaFamily<SET> {
    const FAMILY: KeyFamily = KeyFamily::SlhDsa(SlhDsaSet::ALL[SET]);
}

/// The names of OpenSSL 3.5, with those of the object identifiers.
const NAMES: [&CStr; 12] = [
    c"SLH-DSA-SHA2-128s:id-slh-dsa-sha2-128s:2.16.840.1.101.3.4.3.20",
    c"SLH-DSA-SHA2-128f:id-slh-dsa-sha2-128f:2.16.840.1.101.3.4.3.21",
    c"SLH-DSA-SHA2-192s:id-slh-dsa-sha2-192s:2.16.840.1.101.3.4.3.22",
    c"SLH-DSA-SHA2-192f:id-slh-dsa-sha2-192f:2.16.840.1.101.3.4.3.23",
    c"SLH-DSA-SHA2-256s:id-slh-dsa-sha2-256s:2.16.840.1.101.3.4.3.24",
    c"SLH-DSA-SHA2-256f:id-slh-dsa-sha2-256f:2.16.840.1.101.3.4.3.25",
    c"SLH-DSA-SHAKE-128s:id-slh-dsa-shake-128s:2.16.840.1.101.3.4.3.26",
    c"SLH-DSA-SHAKE-128f:id-slh-dsa-shake-128f:2.16.840.1.101.3.4.3.27",
    c"SLH-DSA-SHAKE-192s:id-slh-dsa-shake-192s:2.16.840.1.101.3.4.3.28",
    c"SLH-DSA-SHAKE-192f:id-slh-dsa-shake-192f:2.16.840.1.101.3.4.3.29",
    c"SLH-DSA-SHAKE-256s:id-slh-dsa-shake-256s:2.16.840.1.101.3.4.3.30",
    c"SLH-DSA-SHAKE-256f:id-slh-dsa-shake-256f:2.16.840.1.101.3.4.3.31",
];

/// The object identifiers with their names.
pub(super) const OBJECTS: [(&CStr, &CStr, &CStr); 12] = [
    (c"2.16.840.1.101.3.4.3.20", c"id-slh-dsa-sha2-128s", c"SLH-DSA-SHA2-128s"),
    (c"2.16.840.1.101.3.4.3.21", c"id-slh-dsa-sha2-128f", c"SLH-DSA-SHA2-128f"),
    (c"2.16.840.1.101.3.4.3.22", c"id-slh-dsa-sha2-192s", c"SLH-DSA-SHA2-192s"),
    (c"2.16.840.1.101.3.4.3.23", c"id-slh-dsa-sha2-192f", c"SLH-DSA-SHA2-192f"),
    (c"2.16.840.1.101.3.4.3.24", c"id-slh-dsa-sha2-256s", c"SLH-DSA-SHA2-256s"),
    (c"2.16.840.1.101.3.4.3.25", c"id-slh-dsa-sha2-256f", c"SLH-DSA-SHA2-256f"),
    (c"2.16.840.1.101.3.4.3.26", c"id-slh-dsa-shake-128s", c"SLH-DSA-SHAKE-128s"),
    (c"2.16.840.1.101.3.4.3.27", c"id-slh-dsa-shake-128f", c"SLH-DSA-SHAKE-128f"),
    (c"2.16.840.1.101.3.4.3.28", c"id-slh-dsa-shake-192s", c"SLH-DSA-SHAKE-192s"),
    (c"2.16.840.1.101.3.4.3.29", c"id-slh-dsa-shake-192f", c"SLH-DSA-SHAKE-192f"),
    (c"2.16.840.1.101.3.4.3.30", c"id-slh-dsa-shake-256s", c"SLH-DSA-SHAKE-256s"),
    (c"2.16.840.1.101.3.4.3.31", c"id-slh-dsa-shake-256f", c"SLH-DSA-SHAKE-256f"),
];

/// An entry for each set, made by a macro of the set's index.
macro_rules! each_set {
    ($entry:ident) => {
        [
            $entry!(0),
            $entry!(1),
            $entry!(2),
            $entry!(3),
            $entry!(4),
            $entry!(5),
            $entry!(6),
            $entry!(7),
            $entry!(8),
            $entry!(9),
            $entry!(10),
            $entry!(11),
        ]
    };
}

macro_rules! key_manager {
    ($set:literal) => {
        OsslAlgorithm::new(
            NAMES[$set],
            PROPERTIES,
            &FamilyKeys::<SlhDsaFamily<$set>>::TABLE,
            c"Oarlock SLH-DSA keys",
        )
    };
}

macro_rules! signature {
    ($set:literal) => {
        OsslAlgorithm::new(
            NAMES[$set],
            PROPERTIES,
            &FamilySignatures::<SlhDsaFamily<$set>>::TABLE,
            c"Oarlock SLH-DSA",
        )
    };
}

macro_rules! decoders {
    ($set:literal) => {
        [
            OsslAlgorithm::new(
                NAMES[$set],
                REFERENCES,
                &FamilyDecoders::<SlhDsaFamily<$set>>::REFERENCE,
                c"Oarlock references to SLH-DSA keys",
            ),
            OsslAlgorithm::new(
                NAMES[$set],
                PRIVATE_KEYS,
                &FamilyDecoders::<SlhDsaFamily<$set>>::PRIVATE,
                c"Oarlock SLH-DSA keys in PKCS#8",
            ),
            OsslAlgorithm::new(
                NAMES[$set],
                PUBLIC_KEYS,
                &FamilyDecoders::<SlhDsaFamily<$set>>::PUBLIC,
                c"Oarlock SLH-DSA public keys",
            ),
        ]
    };
}

macro_rules! encoders {
    ($set:literal) => {
        [
            encoder!(NAMES[$set], "der", "PrivateKeyInfo", SlhDsaFamily<$set>, PRIVATE_DER),
            encoder!(NAMES[$set], "pem", "PrivateKeyInfo", SlhDsaFamily<$set>, PRIVATE_PEM),
            encoder!(NAMES[$set], "der", "EncryptedPrivateKeyInfo", SlhDsaFamily<$set>, PRIVATE_DER),
            encoder!(NAMES[$set], "pem", "EncryptedPrivateKeyInfo", SlhDsaFamily<$set>, PRIVATE_PEM),
            encoder!(NAMES[$set], "der", "SubjectPublicKeyInfo", SlhDsaFamily<$set>, PUBLIC_DER),
            encoder!(NAMES[$set], "pem", "SubjectPublicKeyInfo", SlhDsaFamily<$set>, PUBLIC_PEM),
        ]
    };
}

pub(super) const KEY_MANAGERS: [OsslAlgorithm; 12] = each_set!(key_manager);
pub(super) const SIGNATURES: [OsslAlgorithm; 12] = each_set!(signature);
pub(super) const DECODERS: [[OsslAlgorithm; 3]; 12] = each_set!(decoders);
pub(super) const ENCODERS: [[OsslAlgorithm; 6]; 12] = each_set!(encoders);
