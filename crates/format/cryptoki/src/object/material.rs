//! Keys and attributes: a key from the values of a template, and the values of a key.

use std::borrow::Cow;

use oarlock::engine_api::{KeyParts, LatticePrivate};
use oarlock::keys::{export, raw, rsa};
use oarlock::{Key, KeyKind, SecretBytes};
use zeroize::Zeroizing;

use super::der::{NamedCurve, wrap_octets};
use super::fault::from_key_error;
use super::parameter_set::{self, ParameterSet};
use crate::attribute::{AttributeSet, AttributeValue};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode};
use crate::token::ObjectContent;

/// An object that is complete but has no handle yet.
#[derive(Debug)]
pub(crate) struct NewObject {
    /// The attributes without secret values.
    pub(crate) attributes: AttributeSet,
    pub(crate) key: Option<Key>,
    /// The value of a data object that is private.
    pub(crate) private_value: Option<SecretBytes>,
}

impl NewObject {
    /// Returns what a token stores.
    pub(crate) fn content(&self) -> ObjectContent {
        let mut secrets = self.key.as_ref().map(private_values).unwrap_or_default();
        if let Some(value) = &self.private_value {
            secrets.set(A::VALUE, value.clone());
        }
        ObjectContent { attributes: self.attributes.clone(), secrets }
    }
}

/// Makes a key out of values, public and secret ones in two sets.
///
/// # Errors
/// [`ReturnCode::TemplateIncomplete`] for a missing value, [`ReturnCode::AttributeValueInvalid`] for values that are
/// not a key, [`ReturnCode::CurveNotSupported`].
pub(crate) fn key_from_values(
    class: ObjectClass,
    key_type: KeyTypeNumber,
    sets: [&AttributeSet; 2],
) -> Result<Key, ReturnCode> {
    let find = |kind| sets.iter().find_map(|set| set.bytes(kind));
    let need = |kind| find(kind).ok_or(ReturnCode::TemplateIncomplete);
    match (class, key_type) {
        (ObjectClass::PUBLIC_KEY, KeyTypeNumber::RSA) => {
            rsa::public(need(A::MODULUS)?, need(A::PUBLIC_EXPONENT)?).map_err(from_key_error)
        }
        (ObjectClass::PRIVATE_KEY, KeyTypeNumber::RSA) => rsa_private(find),
        (ObjectClass::PUBLIC_KEY | ObjectClass::PRIVATE_KEY, key_type) if key_type.has_parameter_set() => {
            let number = sets.iter().find_map(|set| set.number(A::PARAMETER_SET));
            let set = ParameterSet::read(key_type, number)?;
            if class == ObjectClass::PUBLIC_KEY {
                set.import_public(need(A::VALUE)?)
            } else {
                seeded_private(set, find(A::SEED), find(A::VALUE))
            }
        }
        (ObjectClass::PUBLIC_KEY | ObjectClass::PRIVATE_KEY, _) => {
            let curve = NamedCurve::read(need(A::EC_PARAMS)?)?;
            if curve.key_type() != key_type {
                return Err(ReturnCode::TemplateInconsistent);
            }
            if class == ObjectClass::PUBLIC_KEY {
                curve_public(curve, need(A::EC_POINT)?)
            } else {
                curve_private(curve, need(A::VALUE)?)
            }
        }
        (ObjectClass::SECRET_KEY, _) => {
            let value = need(A::VALUE)?;
            if !is_secret_len(key_type, value.len()) {
                return Err(ReturnCode::AttributeValueInvalid);
            }
            raw::secret(value.to_vec()).map_err(from_key_error)
        }
        _ => Err(ReturnCode::TemplateInconsistent),
    }
}

fn rsa_private<'a>(find: impl Fn(A) -> Option<&'a [u8]>) -> Result<Key, ReturnCode> {
    let need = |kind| find(kind).ok_or(ReturnCode::TemplateIncomplete);
    let (n, e, d) = (need(A::MODULUS)?, need(A::PUBLIC_EXPONENT)?, need(A::PRIVATE_EXPONENT)?);
    // A template may leave these out, and then the primes are computed from the three numbers above. PKCS#11 3.2 6.1.3.
    let crt = [A::PRIME_1, A::PRIME_2, A::EXPONENT_1, A::EXPONENT_2, A::COEFFICIENT].map(find);
    let key = match crt {
        [Some(p), Some(q), Some(dp), Some(dq), Some(qinv)] => {
            rsa::private(&rsa::PrivateNumbers { n, e, d, p, q, dp, dq, qinv })
        }
        _ => rsa::private_without_crt(n, e, d),
    };
    key.map_err(from_key_error)
}

/// Makes a private key of its seed, its expanded form, or both, which must agree.
fn seeded_private(set: ParameterSet, seed: Option<&[u8]>, value: Option<&[u8]>) -> Result<Key, ReturnCode> {
    let Some(seed) = seed else {
        return set.import_value(value.ok_or(ReturnCode::TemplateIncomplete)?);
    };
    let key = set.import_seed(seed)?;
    match value {
        // The comparison of secret bytes takes the same time for all values.
        Some(value) if parameter_set::expanded_form(&key)? != SecretBytes::from(value) => {
            Err(ReturnCode::AttributeValueInvalid)
        }
        _ => Ok(key),
    }
}

fn curve_public(curve: NamedCurve, point: &[u8]) -> Result<Key, ReturnCode> {
    let point = curve.point(point);
    let key = match curve {
        NamedCurve::Nist(curve) => raw::ec_public(curve, point),
        NamedCurve::Edwards25519 => raw::ed25519_public(point),
        NamedCurve::Curve25519 => raw::x25519_public(point),
    };
    key.map_err(from_key_error)
}

fn curve_private(curve: NamedCurve, value: &[u8]) -> Result<Key, ReturnCode> {
    let key = match curve {
        NamedCurve::Nist(curve) => {
            // CKA_VALUE of an EC key is a big integer: leading zeros may be missing.
            let digits = value.iter().position(|byte| *byte != 0).and_then(|start| value.get(start..));
            let digits = digits.ok_or(ReturnCode::AttributeValueInvalid)?;
            let zeros = curve.scalar_len().checked_sub(digits.len());
            let zeros = zeros.ok_or(ReturnCode::AttributeValueInvalid)?;
            let mut scalar = Zeroizing::new(vec![0; curve.scalar_len()]);
            scalar.iter_mut().skip(zeros).zip(digits).for_each(|(to, from)| *to = *from);
            raw::ec_private(curve, &scalar)
        }
        NamedCurve::Edwards25519 => raw::ed25519_private(value),
        NamedCurve::Curve25519 => raw::x25519_private(value),
    };
    key.map_err(from_key_error)
}

/// True if a secret key of this type can have this length.
pub(crate) fn is_secret_len(key_type: KeyTypeNumber, len: usize) -> bool {
    match key_type {
        // No engine has AES with 24 bytes.
        KeyTypeNumber::AES => len == 16 || len == 32,
        KeyTypeNumber::CHACHA20 => len == 32,
        _ => (1..=raw::MAX_SECRET_LEN).contains(&len),
    }
}

/// Adds the values that follow from a key to its attributes, and keeps the key.
pub(crate) fn new_key_object(
    mut attributes: AttributeSet,
    key: Key,
    class: ObjectClass,
) -> Result<NewObject, ReturnCode> {
    // Only the key keeps secret values, because attributes are copied and compared freely.
    for kind in SECRET_KINDS {
        attributes.remove(kind);
    }
    if class == ObjectClass::SECRET_KEY {
        let len = key.secret().map_or(0, SecretBytes::len);
        attributes.set(A::VALUE_LEN, len as u64);
        return Ok(NewObject { attributes, key: Some(key), private_value: None });
    }
    for (kind, value) in public_values(&key, class).iter() {
        if kind == A::EC_PARAMS {
            // A template may name the curve in another form, which stays as it is.
            attributes.set_default(kind, value.clone());
        } else {
            attributes.set(kind, value.clone());
        }
    }
    // A template may state the public key, but a wrong one would let programs trust another key.
    let info = export::spki_der(&key).map_err(|_| ReturnCode::FunctionFailed)?;
    if attributes.bytes(A::PUBLIC_KEY_INFO).is_some_and(|given| !given.is_empty() && given != info) {
        return Err(ReturnCode::TemplateInconsistent);
    }
    attributes.set(A::PUBLIC_KEY_INFO, info);
    Ok(NewObject { attributes, key: Some(key), private_value: None })
}

/// Returns the attributes of an asymmetric key that are not secret: its type, and the values that an object of this
/// class has.
#[must_use]
pub fn public_values(key: &Key, class: ObjectClass) -> AttributeSet {
    let mut values = AttributeSet::new();
    let is_public = class == ObjectClass::PUBLIC_KEY;
    if let Some(key_type) = asymmetric_type(key) {
        values.set(A::KEY_TYPE, key_type.0);
    }
    if let Some(public) = key.rsa_public() {
        values.set(A::MODULUS, public.n.as_slice());
        values.set(A::PUBLIC_EXPONENT, public.e.as_slice());
        if is_public {
            values.set(A::MODULUS_BITS, u64::from(public.bits()));
        }
    }
    if let Some(number) = ParameterSet::from_key(key).and_then(ParameterSet::number) {
        values.set(A::PARAMETER_SET, number);
        if let (true, Some(public)) = (is_public, parameter_set::public_value(key)) {
            values.set(A::VALUE, public);
        }
    }
    if let Some(curve) = NamedCurve::from_key(key) {
        values.set(A::EC_PARAMS, curve.params());
        if is_public {
            values.set(A::EC_POINT, wrap_octets(public_point(key)));
        }
    }
    values
}

const SECRET_KINDS: [A; 8] = [
    A::SEED,
    A::VALUE,
    A::PRIVATE_EXPONENT,
    A::PRIME_1,
    A::PRIME_2,
    A::EXPONENT_1,
    A::EXPONENT_2,
    A::COEFFICIENT,
];

/// Returns the public point of an EC, Edwards or Montgomery key, or nothing for other keys.
pub(crate) fn public_point(key: &Key) -> &[u8] {
    if let Some((_, point)) = key.ec_public() {
        return point;
    }
    let public = key.ed25519_public().or_else(|| key.x25519_public());
    public.map_or(&[], |public| public.as_slice())
}

/// Returns the secret values that make a key. Those that are computed from them are left out: the expanded form of a
/// key whose seed is known.
#[must_use]
pub fn private_values(key: &Key) -> AttributeSet {
    let values = SECRET_KINDS.iter().filter_map(|kind| {
        let value = kept_value(key, *kind)?;
        Some((*kind, AttributeValue::Secret(value.clone())))
    });
    values.collect()
}

/// Returns one secret value of a key.
///
/// # Errors
/// [`ReturnCode::AttributeTypeInvalid`] for the seed of a key that was made of its expanded form,
/// [`ReturnCode::AttributeSensitive`] if the key has no such value here.
pub(crate) fn secret_value(key: &Key, kind: A) -> Result<Cow<'_, SecretBytes>, ReturnCode> {
    if let Some(value) = kept_value(key, kind) {
        return Ok(Cow::Borrowed(value));
    }
    match (key.parts(), kind) {
        (Some(KeyParts::MlKemPrivate(_) | KeyParts::MlDsaPrivate(_)), A::VALUE) => {
            parameter_set::expanded_form(key).map(Cow::Owned)
        }
        (Some(KeyParts::MlKemPrivate(_) | KeyParts::MlDsaPrivate(_)), A::SEED) => {
            Err(ReturnCode::AttributeTypeInvalid)
        }
        _ => Err(ReturnCode::AttributeSensitive),
    }
}

/// Returns one secret value that a key contains as it is.
fn kept_value(key: &Key, kind: A) -> Option<&SecretBytes> {
    match (key.parts()?, kind) {
        (KeyParts::Secret(value), A::VALUE) => Some(value),
        (KeyParts::EcPrivate(parts), A::VALUE) => Some(&parts.scalar),
        (KeyParts::Ed25519Private(parts), A::VALUE) => Some(&parts.seed),
        (KeyParts::X25519Private(parts), A::VALUE) => Some(&parts.scalar),
        (KeyParts::MlKemPrivate(parts), _) => lattice_value(&parts.private, kind),
        (KeyParts::MlDsaPrivate(parts), _) => lattice_value(&parts.private, kind),
        (KeyParts::SlhDsaPrivate(_, value), A::VALUE) => Some(value),
        (KeyParts::RsaPrivate(parts), _) => match kind {
            A::PRIVATE_EXPONENT => Some(&parts.d),
            A::PRIME_1 => Some(&parts.p),
            A::PRIME_2 => Some(&parts.q),
            A::EXPONENT_1 => Some(&parts.dp),
            A::EXPONENT_2 => Some(&parts.dq),
            A::COEFFICIENT => Some(&parts.qinv),
            _ => None,
        },
        _ => None,
    }
}

fn lattice_value(private: &LatticePrivate, kind: A) -> Option<&SecretBytes> {
    match (private, kind) {
        (LatticePrivate::Seed(value), A::SEED) | (LatticePrivate::Expanded(value), A::VALUE) => Some(value),
        _ => None,
    }
}

/// Returns the type of an asymmetric key.
pub(crate) fn asymmetric_type(key: &Key) -> Option<KeyTypeNumber> {
    match key.kind() {
        KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Some(KeyTypeNumber::RSA),
        _ => {
            let with_set = ParameterSet::from_key(key).map(ParameterSet::key_type);
            with_set.or_else(|| NamedCurve::from_key(key).map(NamedCurve::key_type))
        }
    }
}
