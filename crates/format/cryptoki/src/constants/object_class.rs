//! Object classes and key types: `CKO_*` and `CKK_*` of PKCS#11 3.2.

use std::fmt;

/// The class of an object, `CK_OBJECT_CLASS`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectClass(pub u64);

impl ObjectClass {
    /// `CKO_DATA`.
    pub const DATA: Self = Self(0x0);
    /// `CKO_CERTIFICATE`.
    pub const CERTIFICATE: Self = Self(0x1);
    /// `CKO_PUBLIC_KEY`.
    pub const PUBLIC_KEY: Self = Self(0x2);
    /// `CKO_PRIVATE_KEY`.
    pub const PRIVATE_KEY: Self = Self(0x3);
    /// `CKO_SECRET_KEY`.
    pub const SECRET_KEY: Self = Self(0x4);
    /// `CKO_HW_FEATURE`.
    pub const HW_FEATURE: Self = Self(0x5);
    /// `CKO_DOMAIN_PARAMETERS`.
    pub const DOMAIN_PARAMETERS: Self = Self(0x6);
    /// `CKO_MECHANISM`.
    pub const MECHANISM: Self = Self(0x7);
    /// `CKO_OTP_KEY`.
    pub const OTP_KEY: Self = Self(0x8);
    /// `CKO_PROFILE`.
    pub const PROFILE: Self = Self(0x9);
    /// `CKO_VALIDATION`.
    pub const VALIDATION: Self = Self(0xa);
    /// `CKO_TRUST`.
    pub const TRUST: Self = Self(0xb);

    /// Every named value.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("CKO_DATA", Self::DATA),
        ("CKO_CERTIFICATE", Self::CERTIFICATE),
        ("CKO_PUBLIC_KEY", Self::PUBLIC_KEY),
        ("CKO_PRIVATE_KEY", Self::PRIVATE_KEY),
        ("CKO_SECRET_KEY", Self::SECRET_KEY),
        ("CKO_HW_FEATURE", Self::HW_FEATURE),
        ("CKO_DOMAIN_PARAMETERS", Self::DOMAIN_PARAMETERS),
        ("CKO_MECHANISM", Self::MECHANISM),
        ("CKO_OTP_KEY", Self::OTP_KEY),
        ("CKO_PROFILE", Self::PROFILE),
        ("CKO_VALIDATION", Self::VALIDATION),
        ("CKO_TRUST", Self::TRUST),
    ];

    /// Returns the name in the standard, if the value has one here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, value)| *value == self).map(|(name, _)| *name)
    }
}

impl fmt::Display for ObjectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "CKO {:#x}", self.0),
        }
    }
}

impl fmt::Debug for ObjectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a key, `CK_KEY_TYPE`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyTypeNumber(pub u64);

impl KeyTypeNumber {
    /// `CKK_RSA`.
    pub const RSA: Self = Self(0x0);
    /// `CKK_EC`.
    pub const EC: Self = Self(0x3);
    /// `CKK_GENERIC_SECRET`.
    pub const GENERIC_SECRET: Self = Self(0x10);
    /// `CKK_AES`.
    pub const AES: Self = Self(0x1f);
    /// `CKK_SHA_1_HMAC`.
    pub const SHA_1_HMAC: Self = Self(0x28);
    /// `CKK_SHA224_HMAC`.
    pub const SHA224_HMAC: Self = Self(0x2e);
    /// `CKK_SHA256_HMAC`.
    pub const SHA256_HMAC: Self = Self(0x2b);
    /// `CKK_SHA384_HMAC`.
    pub const SHA384_HMAC: Self = Self(0x2c);
    /// `CKK_SHA512_HMAC`.
    pub const SHA512_HMAC: Self = Self(0x2d);
    /// `CKK_CHACHA20`.
    pub const CHACHA20: Self = Self(0x33);
    /// `CKK_EC_EDWARDS`.
    pub const EC_EDWARDS: Self = Self(0x40);
    /// `CKK_EC_MONTGOMERY`.
    pub const EC_MONTGOMERY: Self = Self(0x41);

    /// Every named value.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("CKK_RSA", Self::RSA),
        ("CKK_EC", Self::EC),
        ("CKK_GENERIC_SECRET", Self::GENERIC_SECRET),
        ("CKK_AES", Self::AES),
        ("CKK_SHA_1_HMAC", Self::SHA_1_HMAC),
        ("CKK_SHA224_HMAC", Self::SHA224_HMAC),
        ("CKK_SHA256_HMAC", Self::SHA256_HMAC),
        ("CKK_SHA384_HMAC", Self::SHA384_HMAC),
        ("CKK_SHA512_HMAC", Self::SHA512_HMAC),
        ("CKK_CHACHA20", Self::CHACHA20),
        ("CKK_EC_EDWARDS", Self::EC_EDWARDS),
        ("CKK_EC_MONTGOMERY", Self::EC_MONTGOMERY),
    ];

    /// Returns the name in the standard, if the value has one here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, value)| *value == self).map(|(name, _)| *name)
    }
}

impl fmt::Display for KeyTypeNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "CKK {:#x}", self.0),
        }
    }
}

impl fmt::Debug for KeyTypeNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
