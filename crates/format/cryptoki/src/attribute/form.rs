//! The form of each attribute: a truth value, a number, bytes, a date, or a list.

use oarlock::SecretBytes;

use super::value::AttributeValue;
use crate::constants::{AttributeType as A, MechanismType, ReturnCode};

/// The form of an attribute's value in the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeForm {
    Bool,
    Number,
    Bytes,
    /// An unsigned big-endian integer. Leading zeros do not count.
    Integer,
    /// `CK_DATE` of eight digits, or empty.
    Date,
    Secret,
    /// A secret unsigned integer.
    SecretInteger,
    Mechanisms,
    /// An array of attributes, which is the template of other keys.
    Template,
}

impl AttributeForm {
    /// Returns the form of an attribute, or `None` if this library does not know the type.
    ///
    /// `CKA_VALUE` is secret in private and secret keys, and public in data, certificates and public keys;
    /// `is_value_secret` says which.
    pub(crate) fn from_type(kind: A, is_value_secret: bool) -> Option<Self> {
        Some(match kind {
            A::TOKEN
            | A::PRIVATE
            | A::TRUSTED
            | A::SENSITIVE
            | A::ENCRYPT
            | A::DECRYPT
            | A::WRAP
            | A::UNWRAP
            | A::SIGN
            | A::SIGN_RECOVER
            | A::VERIFY
            | A::VERIFY_RECOVER
            | A::DERIVE
            | A::EXTRACTABLE
            | A::LOCAL
            | A::NEVER_EXTRACTABLE
            | A::ALWAYS_SENSITIVE
            | A::MODIFIABLE
            | A::COPYABLE
            | A::DESTROYABLE
            | A::ALWAYS_AUTHENTICATE
            | A::WRAP_WITH_TRUSTED
            | A::ENCAPSULATE
            | A::DECAPSULATE => Self::Bool,
            A::CLASS
            | A::CERTIFICATE_TYPE
            | A::CERTIFICATE_CATEGORY
            | A::JAVA_MIDP_SECURITY_DOMAIN
            | A::NAME_HASH_ALGORITHM
            | A::KEY_TYPE
            | A::MODULUS_BITS
            | A::VALUE_LEN
            | A::PARAMETER_SET
            | A::KEY_GEN_MECHANISM
            | A::MECHANISM_TYPE
            | A::PROFILE_ID => Self::Number,
            A::MODULUS | A::PUBLIC_EXPONENT => Self::Integer,
            A::PRIVATE_EXPONENT
            | A::PRIME_1
            | A::PRIME_2
            | A::EXPONENT_1
            | A::EXPONENT_2
            | A::COEFFICIENT => Self::SecretInteger,
            // Not stripped as other integers are: leading zeros of a secret key count. `curve_private` adds those that
            // an EC key lacks.
            A::VALUE if is_value_secret => Self::Secret,
            A::SEED => Self::Secret,
            A::START_DATE | A::END_DATE => Self::Date,
            A::ALLOWED_MECHANISMS => Self::Mechanisms,
            A::WRAP_TEMPLATE
            | A::UNWRAP_TEMPLATE
            | A::DERIVE_TEMPLATE
            | A::ENCAPSULATE_TEMPLATE
            | A::DECAPSULATE_TEMPLATE => Self::Template,
            A::VALUE
            | A::LABEL
            | A::UNIQUE_ID
            | A::APPLICATION
            | A::OBJECT_ID
            | A::ISSUER
            | A::SERIAL_NUMBER
            | A::AC_ISSUER
            | A::OWNER
            | A::ATTR_TYPES
            | A::URL
            | A::HASH_OF_SUBJECT_PUBLIC_KEY
            | A::HASH_OF_ISSUER_PUBLIC_KEY
            | A::CHECK_VALUE
            | A::SUBJECT
            | A::ID
            | A::PUBLIC_KEY_INFO
            | A::EC_PARAMS
            | A::EC_POINT => Self::Bytes,
            _ => return None,
        })
    }

    /// Reads a value as the C interface shows it. A template has no flat form.
    ///
    /// # Errors
    /// [`ReturnCode::AttributeValueInvalid`] if the length or the content does not fit.
    pub(crate) fn read(self, bytes: &[u8]) -> Result<AttributeValue, ReturnCode> {
        let invalid = ReturnCode::AttributeValueInvalid;
        Ok(match self {
            Self::Bool => match bytes {
                [0] => AttributeValue::Bool(false),
                // CK_TRUE is 1, but C programs write any nonzero byte.
                [_] => AttributeValue::Bool(true),
                _ => return Err(invalid),
            },
            Self::Number => AttributeValue::Number(number(bytes).ok_or(invalid)?),
            Self::Bytes => AttributeValue::Bytes(bytes.to_vec()),
            Self::Integer => AttributeValue::Bytes(strip(bytes).to_vec()),
            Self::Date if is_date(bytes) => AttributeValue::Bytes(bytes.to_vec()),
            // The flat bytes of a template would be pointers of the caller, so the plugin reads its entries.
            Self::Date | Self::Template => return Err(invalid),
            Self::Secret => AttributeValue::Secret(SecretBytes::from(bytes)),
            Self::SecretInteger => AttributeValue::Secret(SecretBytes::from(strip(bytes))),
            Self::Mechanisms => {
                let fields = bytes.chunks_exact(size_of::<usize>());
                if !fields.remainder().is_empty() {
                    return Err(invalid);
                }
                let kinds: Option<Vec<_>> = fields.map(|field| number(field).map(MechanismType)).collect();
                AttributeValue::Mechanisms(kinds.ok_or(invalid)?)
            }
        })
    }
}

/// True if a template of other keys may have an attribute: not a secret, and not another template.
pub(crate) fn is_template_entry(kind: A) -> bool {
    let form = AttributeForm::from_type(kind, true);
    form.is_some_and(|form| {
        !matches!(form, AttributeForm::Template | AttributeForm::Secret | AttributeForm::SecretInteger)
    })
}

fn number(bytes: &[u8]) -> Option<u64> {
    // CK_ULONG is `unsigned long`, which is as wide as `usize` on UNIX. The caller's memory may have any alignment.
    Some(usize::from_ne_bytes(bytes.try_into().ok()?) as u64)
}

fn strip(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

/// True for `YYYYMMDD` with a month and a day that exist, and for an empty date.
fn is_date(bytes: &[u8]) -> bool {
    let Some(month_and_day) = bytes.get(4..) else { return bytes.is_empty() };
    if bytes.len() != 8 || !bytes.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let value = |pair: &[u8]| pair.iter().fold(0, |sum, digit| 10 * sum + u32::from(digit - b'0'));
    // The 31st of every month is accepted: the library only keeps dates and compares them with nothing.
    (1..=12).contains(&value(&month_and_day[..2])) && (1..=31).contains(&value(&month_and_day[2..]))
}
