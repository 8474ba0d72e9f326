//! Mechanism types: `CKM_*` of PKCS#11 3.2 that this library knows.

use std::fmt;

/// The type of a mechanism, `CK_MECHANISM_TYPE`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismType(pub u64);

impl MechanismType {
    /// `CKM_RSA_PKCS_KEY_PAIR_GEN`.
    pub const RSA_PKCS_KEY_PAIR_GEN: Self = Self(0x0);
    /// `CKM_RSA_PKCS`.
    pub const RSA_PKCS: Self = Self(0x1);
    /// `CKM_RSA_X_509`.
    pub const RSA_X_509: Self = Self(0x3);
    /// `CKM_RSA_PKCS_OAEP`.
    pub const RSA_PKCS_OAEP: Self = Self(0x9);
    /// `CKM_RSA_PKCS_PSS`.
    pub const RSA_PKCS_PSS: Self = Self(0xd);
    /// `CKM_SHA1_RSA_PKCS`.
    pub const SHA1_RSA_PKCS: Self = Self(0x6);
    /// `CKM_SHA224_RSA_PKCS`.
    pub const SHA224_RSA_PKCS: Self = Self(0x46);
    /// `CKM_SHA256_RSA_PKCS`.
    pub const SHA256_RSA_PKCS: Self = Self(0x40);
    /// `CKM_SHA384_RSA_PKCS`.
    pub const SHA384_RSA_PKCS: Self = Self(0x41);
    /// `CKM_SHA512_RSA_PKCS`.
    pub const SHA512_RSA_PKCS: Self = Self(0x42);
    /// `CKM_SHA1_RSA_PKCS_PSS`.
    pub const SHA1_RSA_PKCS_PSS: Self = Self(0xe);
    /// `CKM_SHA224_RSA_PKCS_PSS`.
    pub const SHA224_RSA_PKCS_PSS: Self = Self(0x47);
    /// `CKM_SHA256_RSA_PKCS_PSS`.
    pub const SHA256_RSA_PKCS_PSS: Self = Self(0x43);
    /// `CKM_SHA384_RSA_PKCS_PSS`.
    pub const SHA384_RSA_PKCS_PSS: Self = Self(0x44);
    /// `CKM_SHA512_RSA_PKCS_PSS`.
    pub const SHA512_RSA_PKCS_PSS: Self = Self(0x45);
    /// `CKM_EC_KEY_PAIR_GEN`.
    pub const EC_KEY_PAIR_GEN: Self = Self(0x1040);
    /// `CKM_ECDSA`.
    pub const ECDSA: Self = Self(0x1041);
    /// `CKM_ECDSA_SHA1`.
    pub const ECDSA_SHA1: Self = Self(0x1042);
    /// `CKM_ECDSA_SHA224`.
    pub const ECDSA_SHA224: Self = Self(0x1043);
    /// `CKM_ECDSA_SHA256`.
    pub const ECDSA_SHA256: Self = Self(0x1044);
    /// `CKM_ECDSA_SHA384`.
    pub const ECDSA_SHA384: Self = Self(0x1045);
    /// `CKM_ECDSA_SHA512`.
    pub const ECDSA_SHA512: Self = Self(0x1046);
    /// `CKM_ECDH1_DERIVE`.
    pub const ECDH1_DERIVE: Self = Self(0x1050);
    /// `CKM_ECDH1_COFACTOR_DERIVE`.
    pub const ECDH1_COFACTOR_DERIVE: Self = Self(0x1051);
    /// `CKM_EC_EDWARDS_KEY_PAIR_GEN`.
    pub const EC_EDWARDS_KEY_PAIR_GEN: Self = Self(0x1055);
    /// `CKM_EC_MONTGOMERY_KEY_PAIR_GEN`.
    pub const EC_MONTGOMERY_KEY_PAIR_GEN: Self = Self(0x1056);
    /// `CKM_EDDSA`.
    pub const EDDSA: Self = Self(0x1057);
    /// `CKM_SHA_1`.
    pub const SHA_1: Self = Self(0x220);
    /// `CKM_SHA224`.
    pub const SHA224: Self = Self(0x255);
    /// `CKM_SHA256`.
    pub const SHA256: Self = Self(0x250);
    /// `CKM_SHA384`.
    pub const SHA384: Self = Self(0x260);
    /// `CKM_SHA512`.
    pub const SHA512: Self = Self(0x270);
    /// `CKM_SHA3_256`.
    pub const SHA3_256: Self = Self(0x2b0);
    /// `CKM_SHA3_384`.
    pub const SHA3_384: Self = Self(0x2c0);
    /// `CKM_SHA3_512`.
    pub const SHA3_512: Self = Self(0x2d0);
    /// `CKM_SHA_1_HMAC`.
    pub const SHA_1_HMAC: Self = Self(0x221);
    /// `CKM_SHA224_HMAC`.
    pub const SHA224_HMAC: Self = Self(0x256);
    /// `CKM_SHA256_HMAC`.
    pub const SHA256_HMAC: Self = Self(0x251);
    /// `CKM_SHA384_HMAC`.
    pub const SHA384_HMAC: Self = Self(0x261);
    /// `CKM_SHA512_HMAC`.
    pub const SHA512_HMAC: Self = Self(0x271);
    /// `CKM_SHA_1_HMAC_GENERAL`.
    pub const SHA_1_HMAC_GENERAL: Self = Self(0x222);
    /// `CKM_SHA224_HMAC_GENERAL`.
    pub const SHA224_HMAC_GENERAL: Self = Self(0x257);
    /// `CKM_SHA256_HMAC_GENERAL`.
    pub const SHA256_HMAC_GENERAL: Self = Self(0x252);
    /// `CKM_SHA384_HMAC_GENERAL`.
    pub const SHA384_HMAC_GENERAL: Self = Self(0x262);
    /// `CKM_SHA512_HMAC_GENERAL`.
    pub const SHA512_HMAC_GENERAL: Self = Self(0x272);
    /// `CKM_GENERIC_SECRET_KEY_GEN`.
    pub const GENERIC_SECRET_KEY_GEN: Self = Self(0x350);
    /// `CKM_SHA_1_KEY_GEN`.
    pub const SHA_1_KEY_GEN: Self = Self(0x4003);
    /// `CKM_SHA224_KEY_GEN`.
    pub const SHA224_KEY_GEN: Self = Self(0x4004);
    /// `CKM_SHA256_KEY_GEN`.
    pub const SHA256_KEY_GEN: Self = Self(0x4005);
    /// `CKM_SHA384_KEY_GEN`.
    pub const SHA384_KEY_GEN: Self = Self(0x4006);
    /// `CKM_SHA512_KEY_GEN`.
    pub const SHA512_KEY_GEN: Self = Self(0x4007);
    /// `CKM_AES_KEY_GEN`.
    pub const AES_KEY_GEN: Self = Self(0x1080);
    /// `CKM_AES_ECB`.
    pub const AES_ECB: Self = Self(0x1081);
    /// `CKM_AES_CBC`.
    pub const AES_CBC: Self = Self(0x1082);
    /// `CKM_AES_CBC_PAD`.
    pub const AES_CBC_PAD: Self = Self(0x1085);
    /// `CKM_AES_CTR`.
    pub const AES_CTR: Self = Self(0x1086);
    /// `CKM_AES_GCM`.
    pub const AES_GCM: Self = Self(0x1087);
    /// `CKM_AES_CMAC`.
    pub const AES_CMAC: Self = Self(0x108a);
    /// `CKM_AES_CMAC_GENERAL`.
    pub const AES_CMAC_GENERAL: Self = Self(0x108b);
    /// `CKM_AES_KEY_WRAP`.
    pub const AES_KEY_WRAP: Self = Self(0x2109);
    /// `CKM_AES_KEY_WRAP_PAD`.
    pub const AES_KEY_WRAP_PAD: Self = Self(0x210a);
    /// `CKM_AES_KEY_WRAP_KWP`.
    pub const AES_KEY_WRAP_KWP: Self = Self(0x210b);
    /// `CKM_CHACHA20_KEY_GEN`.
    pub const CHACHA20_KEY_GEN: Self = Self(0x1225);
    /// `CKM_CHACHA20_POLY1305`.
    pub const CHACHA20_POLY1305: Self = Self(0x4021);
    /// `CKM_CONCATENATE_BASE_AND_KEY`.
    pub const CONCATENATE_BASE_AND_KEY: Self = Self(0x360);
    /// `CKM_CONCATENATE_BASE_AND_DATA`.
    pub const CONCATENATE_BASE_AND_DATA: Self = Self(0x362);
    /// `CKM_CONCATENATE_DATA_AND_BASE`.
    pub const CONCATENATE_DATA_AND_BASE: Self = Self(0x363);
    /// `CKM_XOR_BASE_AND_DATA`.
    pub const XOR_BASE_AND_DATA: Self = Self(0x364);

    /// Every named value.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("CKM_RSA_PKCS_KEY_PAIR_GEN", Self::RSA_PKCS_KEY_PAIR_GEN),
        ("CKM_RSA_PKCS", Self::RSA_PKCS),
        ("CKM_RSA_X_509", Self::RSA_X_509),
        ("CKM_RSA_PKCS_OAEP", Self::RSA_PKCS_OAEP),
        ("CKM_RSA_PKCS_PSS", Self::RSA_PKCS_PSS),
        ("CKM_SHA1_RSA_PKCS", Self::SHA1_RSA_PKCS),
        ("CKM_SHA224_RSA_PKCS", Self::SHA224_RSA_PKCS),
        ("CKM_SHA256_RSA_PKCS", Self::SHA256_RSA_PKCS),
        ("CKM_SHA384_RSA_PKCS", Self::SHA384_RSA_PKCS),
        ("CKM_SHA512_RSA_PKCS", Self::SHA512_RSA_PKCS),
        ("CKM_SHA1_RSA_PKCS_PSS", Self::SHA1_RSA_PKCS_PSS),
        ("CKM_SHA224_RSA_PKCS_PSS", Self::SHA224_RSA_PKCS_PSS),
        ("CKM_SHA256_RSA_PKCS_PSS", Self::SHA256_RSA_PKCS_PSS),
        ("CKM_SHA384_RSA_PKCS_PSS", Self::SHA384_RSA_PKCS_PSS),
        ("CKM_SHA512_RSA_PKCS_PSS", Self::SHA512_RSA_PKCS_PSS),
        ("CKM_EC_KEY_PAIR_GEN", Self::EC_KEY_PAIR_GEN),
        ("CKM_ECDSA", Self::ECDSA),
        ("CKM_ECDSA_SHA1", Self::ECDSA_SHA1),
        ("CKM_ECDSA_SHA224", Self::ECDSA_SHA224),
        ("CKM_ECDSA_SHA256", Self::ECDSA_SHA256),
        ("CKM_ECDSA_SHA384", Self::ECDSA_SHA384),
        ("CKM_ECDSA_SHA512", Self::ECDSA_SHA512),
        ("CKM_ECDH1_DERIVE", Self::ECDH1_DERIVE),
        ("CKM_ECDH1_COFACTOR_DERIVE", Self::ECDH1_COFACTOR_DERIVE),
        ("CKM_EC_EDWARDS_KEY_PAIR_GEN", Self::EC_EDWARDS_KEY_PAIR_GEN),
        ("CKM_EC_MONTGOMERY_KEY_PAIR_GEN", Self::EC_MONTGOMERY_KEY_PAIR_GEN),
        ("CKM_EDDSA", Self::EDDSA),
        ("CKM_SHA_1", Self::SHA_1),
        ("CKM_SHA224", Self::SHA224),
        ("CKM_SHA256", Self::SHA256),
        ("CKM_SHA384", Self::SHA384),
        ("CKM_SHA512", Self::SHA512),
        ("CKM_SHA3_256", Self::SHA3_256),
        ("CKM_SHA3_384", Self::SHA3_384),
        ("CKM_SHA3_512", Self::SHA3_512),
        ("CKM_SHA_1_HMAC", Self::SHA_1_HMAC),
        ("CKM_SHA224_HMAC", Self::SHA224_HMAC),
        ("CKM_SHA256_HMAC", Self::SHA256_HMAC),
        ("CKM_SHA384_HMAC", Self::SHA384_HMAC),
        ("CKM_SHA512_HMAC", Self::SHA512_HMAC),
        ("CKM_SHA_1_HMAC_GENERAL", Self::SHA_1_HMAC_GENERAL),
        ("CKM_SHA224_HMAC_GENERAL", Self::SHA224_HMAC_GENERAL),
        ("CKM_SHA256_HMAC_GENERAL", Self::SHA256_HMAC_GENERAL),
        ("CKM_SHA384_HMAC_GENERAL", Self::SHA384_HMAC_GENERAL),
        ("CKM_SHA512_HMAC_GENERAL", Self::SHA512_HMAC_GENERAL),
        ("CKM_GENERIC_SECRET_KEY_GEN", Self::GENERIC_SECRET_KEY_GEN),
        ("CKM_SHA_1_KEY_GEN", Self::SHA_1_KEY_GEN),
        ("CKM_SHA224_KEY_GEN", Self::SHA224_KEY_GEN),
        ("CKM_SHA256_KEY_GEN", Self::SHA256_KEY_GEN),
        ("CKM_SHA384_KEY_GEN", Self::SHA384_KEY_GEN),
        ("CKM_SHA512_KEY_GEN", Self::SHA512_KEY_GEN),
        ("CKM_AES_KEY_GEN", Self::AES_KEY_GEN),
        ("CKM_AES_ECB", Self::AES_ECB),
        ("CKM_AES_CBC", Self::AES_CBC),
        ("CKM_AES_CBC_PAD", Self::AES_CBC_PAD),
        ("CKM_AES_CTR", Self::AES_CTR),
        ("CKM_AES_GCM", Self::AES_GCM),
        ("CKM_AES_CMAC", Self::AES_CMAC),
        ("CKM_AES_CMAC_GENERAL", Self::AES_CMAC_GENERAL),
        ("CKM_AES_KEY_WRAP", Self::AES_KEY_WRAP),
        ("CKM_AES_KEY_WRAP_PAD", Self::AES_KEY_WRAP_PAD),
        ("CKM_AES_KEY_WRAP_KWP", Self::AES_KEY_WRAP_KWP),
        ("CKM_CHACHA20_KEY_GEN", Self::CHACHA20_KEY_GEN),
        ("CKM_CHACHA20_POLY1305", Self::CHACHA20_POLY1305),
        ("CKM_CONCATENATE_BASE_AND_KEY", Self::CONCATENATE_BASE_AND_KEY),
        ("CKM_CONCATENATE_BASE_AND_DATA", Self::CONCATENATE_BASE_AND_DATA),
        ("CKM_CONCATENATE_DATA_AND_BASE", Self::CONCATENATE_DATA_AND_BASE),
        ("CKM_XOR_BASE_AND_DATA", Self::XOR_BASE_AND_DATA),
    ];

    /// Returns the name in the standard, if the value has one here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, value)| *value == self).map(|(name, _)| *name)
    }
}

impl fmt::Display for MechanismType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "CKM {:#x}", self.0),
        }
    }
}

impl fmt::Debug for MechanismType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
