//! Attribute types: `CKA_*` of PKCS#11 3.2.

use std::fmt;

/// The type of an attribute, `CK_ATTRIBUTE_TYPE`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeType(pub u64);

impl AttributeType {
    /// `CKA_CLASS`.
    pub const CLASS: Self = Self(0x0);
    /// `CKA_TOKEN`.
    pub const TOKEN: Self = Self(0x1);
    /// `CKA_PRIVATE`.
    pub const PRIVATE: Self = Self(0x2);
    /// `CKA_LABEL`.
    pub const LABEL: Self = Self(0x3);
    /// `CKA_UNIQUE_ID`.
    pub const UNIQUE_ID: Self = Self(0x4);
    /// `CKA_APPLICATION`.
    pub const APPLICATION: Self = Self(0x10);
    /// `CKA_VALUE`.
    pub const VALUE: Self = Self(0x11);
    /// `CKA_OBJECT_ID`.
    pub const OBJECT_ID: Self = Self(0x12);
    /// `CKA_CERTIFICATE_TYPE`.
    pub const CERTIFICATE_TYPE: Self = Self(0x80);
    /// `CKA_ISSUER`.
    pub const ISSUER: Self = Self(0x81);
    /// `CKA_SERIAL_NUMBER`.
    pub const SERIAL_NUMBER: Self = Self(0x82);
    /// `CKA_AC_ISSUER`.
    pub const AC_ISSUER: Self = Self(0x83);
    /// `CKA_OWNER`.
    pub const OWNER: Self = Self(0x84);
    /// `CKA_ATTR_TYPES`.
    pub const ATTR_TYPES: Self = Self(0x85);
    /// `CKA_TRUSTED`.
    pub const TRUSTED: Self = Self(0x86);
    /// `CKA_CERTIFICATE_CATEGORY`.
    pub const CERTIFICATE_CATEGORY: Self = Self(0x87);
    /// `CKA_JAVA_MIDP_SECURITY_DOMAIN`.
    pub const JAVA_MIDP_SECURITY_DOMAIN: Self = Self(0x88);
    /// `CKA_URL`.
    pub const URL: Self = Self(0x89);
    /// `CKA_HASH_OF_SUBJECT_PUBLIC_KEY`.
    pub const HASH_OF_SUBJECT_PUBLIC_KEY: Self = Self(0x8a);
    /// `CKA_HASH_OF_ISSUER_PUBLIC_KEY`.
    pub const HASH_OF_ISSUER_PUBLIC_KEY: Self = Self(0x8b);
    /// `CKA_NAME_HASH_ALGORITHM`.
    pub const NAME_HASH_ALGORITHM: Self = Self(0x8c);
    /// `CKA_CHECK_VALUE`.
    pub const CHECK_VALUE: Self = Self(0x90);
    /// `CKA_KEY_TYPE`.
    pub const KEY_TYPE: Self = Self(0x100);
    /// `CKA_SUBJECT`.
    pub const SUBJECT: Self = Self(0x101);
    /// `CKA_ID`.
    pub const ID: Self = Self(0x102);
    /// `CKA_SENSITIVE`.
    pub const SENSITIVE: Self = Self(0x103);
    /// `CKA_ENCRYPT`.
    pub const ENCRYPT: Self = Self(0x104);
    /// `CKA_DECRYPT`.
    pub const DECRYPT: Self = Self(0x105);
    /// `CKA_WRAP`.
    pub const WRAP: Self = Self(0x106);
    /// `CKA_UNWRAP`.
    pub const UNWRAP: Self = Self(0x107);
    /// `CKA_SIGN`.
    pub const SIGN: Self = Self(0x108);
    /// `CKA_SIGN_RECOVER`.
    pub const SIGN_RECOVER: Self = Self(0x109);
    /// `CKA_VERIFY`.
    pub const VERIFY: Self = Self(0x10a);
    /// `CKA_VERIFY_RECOVER`.
    pub const VERIFY_RECOVER: Self = Self(0x10b);
    /// `CKA_DERIVE`.
    pub const DERIVE: Self = Self(0x10c);
    /// `CKA_START_DATE`.
    pub const START_DATE: Self = Self(0x110);
    /// `CKA_END_DATE`.
    pub const END_DATE: Self = Self(0x111);
    /// `CKA_MODULUS`.
    pub const MODULUS: Self = Self(0x120);
    /// `CKA_MODULUS_BITS`.
    pub const MODULUS_BITS: Self = Self(0x121);
    /// `CKA_PUBLIC_EXPONENT`.
    pub const PUBLIC_EXPONENT: Self = Self(0x122);
    /// `CKA_PRIVATE_EXPONENT`.
    pub const PRIVATE_EXPONENT: Self = Self(0x123);
    /// `CKA_PRIME_1`.
    pub const PRIME_1: Self = Self(0x124);
    /// `CKA_PRIME_2`.
    pub const PRIME_2: Self = Self(0x125);
    /// `CKA_EXPONENT_1`.
    pub const EXPONENT_1: Self = Self(0x126);
    /// `CKA_EXPONENT_2`.
    pub const EXPONENT_2: Self = Self(0x127);
    /// `CKA_COEFFICIENT`.
    pub const COEFFICIENT: Self = Self(0x128);
    /// `CKA_PUBLIC_KEY_INFO`.
    pub const PUBLIC_KEY_INFO: Self = Self(0x129);
    /// `CKA_VALUE_LEN`.
    pub const VALUE_LEN: Self = Self(0x161);
    /// `CKA_EXTRACTABLE`.
    pub const EXTRACTABLE: Self = Self(0x162);
    /// `CKA_LOCAL`.
    pub const LOCAL: Self = Self(0x163);
    /// `CKA_NEVER_EXTRACTABLE`.
    pub const NEVER_EXTRACTABLE: Self = Self(0x164);
    /// `CKA_ALWAYS_SENSITIVE`.
    pub const ALWAYS_SENSITIVE: Self = Self(0x165);
    /// `CKA_KEY_GEN_MECHANISM`.
    pub const KEY_GEN_MECHANISM: Self = Self(0x166);
    /// `CKA_MODIFIABLE`.
    pub const MODIFIABLE: Self = Self(0x170);
    /// `CKA_COPYABLE`.
    pub const COPYABLE: Self = Self(0x171);
    /// `CKA_DESTROYABLE`.
    pub const DESTROYABLE: Self = Self(0x172);
    /// `CKA_EC_PARAMS`.
    pub const EC_PARAMS: Self = Self(0x180);
    /// `CKA_EC_POINT`.
    pub const EC_POINT: Self = Self(0x181);
    /// `CKA_ALWAYS_AUTHENTICATE`.
    pub const ALWAYS_AUTHENTICATE: Self = Self(0x202);
    /// `CKA_WRAP_WITH_TRUSTED`.
    pub const WRAP_WITH_TRUSTED: Self = Self(0x210);
    /// `CKA_WRAP_TEMPLATE`.
    pub const WRAP_TEMPLATE: Self = Self(0x4000_0211);
    /// `CKA_UNWRAP_TEMPLATE`.
    pub const UNWRAP_TEMPLATE: Self = Self(0x4000_0212);
    /// `CKA_DERIVE_TEMPLATE`.
    pub const DERIVE_TEMPLATE: Self = Self(0x4000_0213);
    /// `CKA_ALLOWED_MECHANISMS`.
    pub const ALLOWED_MECHANISMS: Self = Self(0x4000_0600);
    /// `CKA_MECHANISM_TYPE`.
    pub const MECHANISM_TYPE: Self = Self(0x500);
    /// `CKA_PROFILE_ID`.
    pub const PROFILE_ID: Self = Self(0x601);
    /// `CKA_ENCAPSULATE`.
    pub const ENCAPSULATE: Self = Self(0x633);
    /// `CKA_DECAPSULATE`.
    pub const DECAPSULATE: Self = Self(0x634);

    /// Every named value.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("CKA_CLASS", Self::CLASS),
        ("CKA_TOKEN", Self::TOKEN),
        ("CKA_PRIVATE", Self::PRIVATE),
        ("CKA_LABEL", Self::LABEL),
        ("CKA_UNIQUE_ID", Self::UNIQUE_ID),
        ("CKA_APPLICATION", Self::APPLICATION),
        ("CKA_VALUE", Self::VALUE),
        ("CKA_OBJECT_ID", Self::OBJECT_ID),
        ("CKA_CERTIFICATE_TYPE", Self::CERTIFICATE_TYPE),
        ("CKA_ISSUER", Self::ISSUER),
        ("CKA_SERIAL_NUMBER", Self::SERIAL_NUMBER),
        ("CKA_AC_ISSUER", Self::AC_ISSUER),
        ("CKA_OWNER", Self::OWNER),
        ("CKA_ATTR_TYPES", Self::ATTR_TYPES),
        ("CKA_TRUSTED", Self::TRUSTED),
        ("CKA_CERTIFICATE_CATEGORY", Self::CERTIFICATE_CATEGORY),
        ("CKA_JAVA_MIDP_SECURITY_DOMAIN", Self::JAVA_MIDP_SECURITY_DOMAIN),
        ("CKA_URL", Self::URL),
        ("CKA_HASH_OF_SUBJECT_PUBLIC_KEY", Self::HASH_OF_SUBJECT_PUBLIC_KEY),
        ("CKA_HASH_OF_ISSUER_PUBLIC_KEY", Self::HASH_OF_ISSUER_PUBLIC_KEY),
        ("CKA_NAME_HASH_ALGORITHM", Self::NAME_HASH_ALGORITHM),
        ("CKA_CHECK_VALUE", Self::CHECK_VALUE),
        ("CKA_KEY_TYPE", Self::KEY_TYPE),
        ("CKA_SUBJECT", Self::SUBJECT),
        ("CKA_ID", Self::ID),
        ("CKA_SENSITIVE", Self::SENSITIVE),
        ("CKA_ENCRYPT", Self::ENCRYPT),
        ("CKA_DECRYPT", Self::DECRYPT),
        ("CKA_WRAP", Self::WRAP),
        ("CKA_UNWRAP", Self::UNWRAP),
        ("CKA_SIGN", Self::SIGN),
        ("CKA_SIGN_RECOVER", Self::SIGN_RECOVER),
        ("CKA_VERIFY", Self::VERIFY),
        ("CKA_VERIFY_RECOVER", Self::VERIFY_RECOVER),
        ("CKA_DERIVE", Self::DERIVE),
        ("CKA_START_DATE", Self::START_DATE),
        ("CKA_END_DATE", Self::END_DATE),
        ("CKA_MODULUS", Self::MODULUS),
        ("CKA_MODULUS_BITS", Self::MODULUS_BITS),
        ("CKA_PUBLIC_EXPONENT", Self::PUBLIC_EXPONENT),
        ("CKA_PRIVATE_EXPONENT", Self::PRIVATE_EXPONENT),
        ("CKA_PRIME_1", Self::PRIME_1),
        ("CKA_PRIME_2", Self::PRIME_2),
        ("CKA_EXPONENT_1", Self::EXPONENT_1),
        ("CKA_EXPONENT_2", Self::EXPONENT_2),
        ("CKA_COEFFICIENT", Self::COEFFICIENT),
        ("CKA_PUBLIC_KEY_INFO", Self::PUBLIC_KEY_INFO),
        ("CKA_VALUE_LEN", Self::VALUE_LEN),
        ("CKA_EXTRACTABLE", Self::EXTRACTABLE),
        ("CKA_LOCAL", Self::LOCAL),
        ("CKA_NEVER_EXTRACTABLE", Self::NEVER_EXTRACTABLE),
        ("CKA_ALWAYS_SENSITIVE", Self::ALWAYS_SENSITIVE),
        ("CKA_KEY_GEN_MECHANISM", Self::KEY_GEN_MECHANISM),
        ("CKA_MODIFIABLE", Self::MODIFIABLE),
        ("CKA_COPYABLE", Self::COPYABLE),
        ("CKA_DESTROYABLE", Self::DESTROYABLE),
        ("CKA_EC_PARAMS", Self::EC_PARAMS),
        ("CKA_EC_POINT", Self::EC_POINT),
        ("CKA_ALWAYS_AUTHENTICATE", Self::ALWAYS_AUTHENTICATE),
        ("CKA_WRAP_WITH_TRUSTED", Self::WRAP_WITH_TRUSTED),
        ("CKA_WRAP_TEMPLATE", Self::WRAP_TEMPLATE),
        ("CKA_UNWRAP_TEMPLATE", Self::UNWRAP_TEMPLATE),
        ("CKA_DERIVE_TEMPLATE", Self::DERIVE_TEMPLATE),
        ("CKA_ALLOWED_MECHANISMS", Self::ALLOWED_MECHANISMS),
        ("CKA_MECHANISM_TYPE", Self::MECHANISM_TYPE),
        ("CKA_PROFILE_ID", Self::PROFILE_ID),
        ("CKA_ENCAPSULATE", Self::ENCAPSULATE),
        ("CKA_DECAPSULATE", Self::DECAPSULATE),
    ];

    /// Returns the name in the standard, if the value has one here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, value)| *value == self).map(|(name, _)| *name)
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "CKA {:#x}", self.0),
        }
    }
}

impl fmt::Debug for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
