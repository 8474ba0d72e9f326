//! Object classes and key types: `CKO_*` and `CKK_*` of PKCS#11 3.2.

use super::numbers::numbers;

numbers! {
    /// The class of an object, `CK_OBJECT_CLASS`.
    ObjectClass "CKO";
    DATA: CKO_DATA = 0x0,
    CERTIFICATE: CKO_CERTIFICATE = 0x1,
    PUBLIC_KEY: CKO_PUBLIC_KEY = 0x2,
    PRIVATE_KEY: CKO_PRIVATE_KEY = 0x3,
    SECRET_KEY: CKO_SECRET_KEY = 0x4,
    PROFILE: CKO_PROFILE = 0x9,
}

impl ObjectClass {
    /// True if `CKA_VALUE` of such objects is secret.
    pub(crate) fn has_secret_value(self) -> bool {
        matches!(self, Self::PRIVATE_KEY | Self::SECRET_KEY)
    }
}

numbers! {
    /// The type of a key, `CK_KEY_TYPE`.
    KeyTypeNumber "CKK";
    RSA: CKK_RSA = 0x0,
    EC: CKK_EC = 0x3,
    GENERIC_SECRET: CKK_GENERIC_SECRET = 0x10,
    AES: CKK_AES = 0x1f,
    SHA_1_HMAC: CKK_SHA_1_HMAC = 0x28,
    SHA224_HMAC: CKK_SHA224_HMAC = 0x2e,
    SHA256_HMAC: CKK_SHA256_HMAC = 0x2b,
    SHA384_HMAC: CKK_SHA384_HMAC = 0x2c,
    SHA512_HMAC: CKK_SHA512_HMAC = 0x2d,
    CHACHA20: CKK_CHACHA20 = 0x33,
    EC_EDWARDS: CKK_EC_EDWARDS = 0x40,
    EC_MONTGOMERY: CKK_EC_MONTGOMERY = 0x41,
    ML_KEM: CKK_ML_KEM = 0x49,
    ML_DSA: CKK_ML_DSA = 0x4a,
    SLH_DSA: CKK_SLH_DSA = 0x4b,
}

impl KeyTypeNumber {
    /// True for the types of key pairs.
    pub(crate) fn is_asymmetric(self) -> bool {
        matches!(self, Self::RSA | Self::EC | Self::EC_EDWARDS | Self::EC_MONTGOMERY)
            || self.has_parameter_set()
    }

    /// True for the types whose keys have a `CKA_PARAMETER_SET`.
    pub(crate) fn has_parameter_set(self) -> bool {
        matches!(self, Self::ML_KEM | Self::ML_DSA | Self::SLH_DSA)
    }

    /// True for the types whose private keys may have a `CKA_SEED`.
    pub(crate) fn may_have_seed(self) -> bool {
        matches!(self, Self::ML_KEM | Self::ML_DSA)
    }
}
