//! The attributes of each class and key type, and when a template may set them. PKCS#11 3.2 4.

use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass};

/// The times at which a template may set an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingRule {
    /// At creation of any kind and by copies, and later if the object can be modified.
    Always,
    /// At creation of any kind and by copies.
    Birth,
    /// At creation from values, not if a key is generated, unwrapped or derived.
    Values,
    /// As [`Values`](Self::Values), and later.
    ValuesAndLater,
    /// If a key is generated, unwrapped or derived, not at creation from values.
    Making,
    /// Never: the library sets it.
    Never,
}

/// Returns the rule of an attribute, or `None` if objects of this class and key type do not have it.
pub(crate) fn rule(class: ObjectClass, key_type: Option<KeyTypeNumber>, kind: A) -> Option<SettingRule> {
    common(kind).or_else(|| match class {
        ObjectClass::DATA => data(kind),
        ObjectClass::CERTIFICATE => certificate(kind),
        ObjectClass::PUBLIC_KEY => key(kind).or_else(|| public_key(kind)).or_else(|| public(key_type?, kind)),
        ObjectClass::PRIVATE_KEY => {
            key(kind).or_else(|| private_key(kind)).or_else(|| private(key_type?, kind))
        }
        ObjectClass::SECRET_KEY => key(kind).or_else(|| secret_key(kind)),
        _ => None,
    })
}

/// True if the value is secret: part of a private or secret key, or the value of a private data object.
pub(crate) fn is_secret_kind(class: ObjectClass, key_type: Option<KeyTypeNumber>, kind: A) -> bool {
    match class {
        ObjectClass::DATA | ObjectClass::SECRET_KEY => kind == A::VALUE,
        ObjectClass::PRIVATE_KEY if key_type == Some(KeyTypeNumber::RSA) => matches!(
            kind,
            A::PRIVATE_EXPONENT | A::PRIME_1 | A::PRIME_2 | A::EXPONENT_1 | A::EXPONENT_2 | A::COEFFICIENT
        ),
        ObjectClass::PRIVATE_KEY if key_type.is_some_and(KeyTypeNumber::may_have_seed) => {
            matches!(kind, A::VALUE | A::SEED)
        }
        ObjectClass::PRIVATE_KEY => kind == A::VALUE,
        _ => false,
    }
}

fn common(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::CLASS | A::TOKEN | A::PRIVATE | A::MODIFIABLE | A::DESTROYABLE => SettingRule::Birth,
        A::LABEL | A::COPYABLE => SettingRule::Always,
        A::UNIQUE_ID => SettingRule::Never,
        _ => return None,
    })
}

fn data(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::APPLICATION | A::OBJECT_ID => SettingRule::Always,
        A::VALUE => SettingRule::Values,
        _ => return None,
    })
}

fn certificate(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::ID | A::ISSUER | A::SERIAL_NUMBER | A::TRUSTED => SettingRule::ValuesAndLater,
        A::CERTIFICATE_TYPE
        | A::CERTIFICATE_CATEGORY
        | A::CHECK_VALUE
        | A::START_DATE
        | A::END_DATE
        | A::PUBLIC_KEY_INFO
        | A::SUBJECT
        | A::VALUE
        | A::URL
        | A::HASH_OF_SUBJECT_PUBLIC_KEY
        | A::HASH_OF_ISSUER_PUBLIC_KEY
        | A::JAVA_MIDP_SECURITY_DOMAIN
        | A::NAME_HASH_ALGORITHM
        | A::OWNER
        | A::AC_ISSUER
        | A::ATTR_TYPES => SettingRule::Values,
        _ => return None,
    })
}

fn key(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::KEY_TYPE | A::ALLOWED_MECHANISMS => SettingRule::Birth,
        // CKA_DERIVE may change, but only to false: `check_direction` of the laws.
        A::ID | A::START_DATE | A::END_DATE | A::DERIVE => SettingRule::Always,
        A::LOCAL | A::KEY_GEN_MECHANISM => SettingRule::Never,
        _ => return None,
    })
}

fn public_key(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::SUBJECT | A::ENCRYPT | A::VERIFY | A::VERIFY_RECOVER | A::WRAP | A::TRUSTED | A::ENCAPSULATE => {
            SettingRule::Always
        }
        A::WRAP_TEMPLATE | A::ENCAPSULATE_TEMPLATE => SettingRule::Birth,
        A::PUBLIC_KEY_INFO => SettingRule::Values,
        _ => return None,
    })
}

fn private_key(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::SUBJECT
        | A::SENSITIVE
        | A::DECRYPT
        | A::SIGN
        | A::SIGN_RECOVER
        | A::UNWRAP
        | A::EXTRACTABLE
        | A::WRAP_WITH_TRUSTED
        | A::DECAPSULATE => SettingRule::Always,
        A::ALWAYS_AUTHENTICATE | A::UNWRAP_TEMPLATE | A::DERIVE_TEMPLATE | A::DECAPSULATE_TEMPLATE => {
            SettingRule::Birth
        }
        A::PUBLIC_KEY_INFO => SettingRule::Values,
        A::ALWAYS_SENSITIVE | A::NEVER_EXTRACTABLE => SettingRule::Never,
        _ => return None,
    })
}

fn secret_key(kind: A) -> Option<SettingRule> {
    Some(match kind {
        A::SENSITIVE
        | A::ENCRYPT
        | A::DECRYPT
        | A::SIGN
        | A::VERIFY
        | A::WRAP
        | A::UNWRAP
        | A::EXTRACTABLE
        | A::WRAP_WITH_TRUSTED
        | A::TRUSTED => SettingRule::Always,
        A::WRAP_TEMPLATE | A::UNWRAP_TEMPLATE | A::DERIVE_TEMPLATE => SettingRule::Birth,
        A::VALUE => SettingRule::Values,
        A::VALUE_LEN => SettingRule::Making,
        A::ALWAYS_SENSITIVE | A::NEVER_EXTRACTABLE => SettingRule::Never,
        _ => return None,
    })
}

fn public(key_type: KeyTypeNumber, kind: A) -> Option<SettingRule> {
    Some(match (key_type, kind) {
        (KeyTypeNumber::RSA, A::MODULUS) => SettingRule::Values,
        (KeyTypeNumber::RSA, A::PUBLIC_EXPONENT) => SettingRule::Birth,
        // Creation from values computes it, and accepts the right number.
        (KeyTypeNumber::RSA, A::MODULUS_BITS) => SettingRule::Birth,
        (KeyTypeNumber::RSA, _) => return None,
        (key_type, kind) if key_type.has_parameter_set() => match kind {
            A::PARAMETER_SET => SettingRule::Birth,
            A::VALUE => SettingRule::Values,
            _ => return None,
        },
        (_, A::EC_PARAMS) => SettingRule::Birth,
        (_, A::EC_POINT) => SettingRule::Values,
        _ => return None,
    })
}

fn private(key_type: KeyTypeNumber, kind: A) -> Option<SettingRule> {
    if is_secret_kind(ObjectClass::PRIVATE_KEY, Some(key_type), kind) {
        return Some(SettingRule::Values);
    }
    Some(match (key_type, kind) {
        (KeyTypeNumber::RSA, A::MODULUS | A::PUBLIC_EXPONENT) => SettingRule::Values,
        (KeyTypeNumber::RSA, _) => return None,
        // Not for generated keys: the template of the public key has the curve or the parameter set of a pair.
        (key_type, A::PARAMETER_SET) if key_type.has_parameter_set() => SettingRule::Values,
        (key_type, _) if key_type.has_parameter_set() => return None,
        (_, A::EC_PARAMS) => SettingRule::Values,
        _ => return None,
    })
}
