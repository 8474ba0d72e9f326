//! The selections of key parts, and the names of parameters that key managers know.

use std::ffi::c_int;

/// A selection of a key's parts: `OSSL_KEYMGMT_SELECT_*`.
#[derive(Clone, Copy)]
pub(crate) struct KeySelection(pub(crate) c_int);

impl KeySelection {
    /// True if the private half is selected.
    pub(crate) fn private(self) -> bool {
        self.0 & 1 != 0
    }

    /// True if either half is selected.
    pub(crate) fn keypair(self) -> bool {
        self.0 & 3 != 0
    }

    /// Everything that a public key has, with the private half or without it.
    pub(crate) fn all(has_private: bool) -> Self {
        Self(if has_private { 0x87 } else { 0x86 })
    }

    /// True if the parameters are selected that keys of one group share.
    pub(crate) fn domain(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const N: &CStr = c"n";
    pub(crate) const E: &CStr = c"e";
    pub(crate) const D: &CStr = c"d";
    pub(crate) const FACTOR1: &CStr = c"rsa-factor1";
    pub(crate) const FACTOR2: &CStr = c"rsa-factor2";
    pub(crate) const FACTOR3: &CStr = c"rsa-factor3";
    pub(crate) const EXPONENT1: &CStr = c"rsa-exponent1";
    pub(crate) const EXPONENT2: &CStr = c"rsa-exponent2";
    pub(crate) const COEFFICIENT1: &CStr = c"rsa-coefficient1";
    pub(crate) const GROUP: &CStr = c"group";
    pub(crate) const PUBLIC: &CStr = c"pub";
    pub(crate) const PRIVATE: &CStr = c"priv";
    pub(crate) const ENCODED_PUBLIC: &CStr = c"encoded-pub-key";
    pub(crate) const BITS: &CStr = c"bits";
    pub(crate) const PRIMES: &CStr = c"primes";
    pub(crate) const SECURITY_BITS: &CStr = c"security-bits";
    pub(crate) const MAX_SIZE: &CStr = c"max-size";
    pub(crate) const DEFAULT_DIGEST: &CStr = c"default-digest";
    pub(crate) const MANDATORY_DIGEST: &CStr = c"mandatory-digest";
    pub(crate) const POINT_FORMAT: &CStr = c"point-format";
    pub(crate) const ENCODING: &CStr = c"encoding";
    pub(crate) const INCLUDE_PUBLIC: &CStr = c"include-public";
    pub(crate) const COFACTOR_FLAG: &CStr = c"use-cofactor-flag";
    pub(crate) const GROUP_CHECK: &CStr = c"group-check";
    pub(crate) const DECODED_FROM_EXPLICIT: &CStr = c"decoded-from-explicit";
    pub(crate) const QX: &CStr = c"qx";
    pub(crate) const QY: &CStr = c"qy";
    pub(crate) const FIELD_TYPE: &CStr = c"field-type";
    pub(crate) const P: &CStr = c"p";
    pub(crate) const A: &CStr = c"a";
    pub(crate) const B: &CStr = c"b";
    pub(crate) const GENERATOR: &CStr = c"generator";
    pub(crate) const ORDER: &CStr = c"order";
    pub(crate) const COFACTOR: &CStr = c"cofactor";
    /// The seed of a verifiably random curve, or that of an ML-KEM or ML-DSA key. OpenSSL 3.5.
    pub(crate) const SEED: &CStr = c"seed";
    pub(crate) const SECURITY_CATEGORY: &CStr = c"security-category";
    /// The use of a recipient's key in CMS. RFC 9629, RFC 9936.
    pub(crate) const CMS_RECIPIENT: &CStr = c"ri-type";
    pub(crate) const CMS_KDF: &CStr = c"kemri-kdf-alg";
}
