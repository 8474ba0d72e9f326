//! Keys as OpenSSL's key managers see them: imported from the numbers of another provider's key, exported as such.

use std::ffi::{CStr, c_int};
use std::sync::{PoisonError, RwLock};

use oarlock::Key;
use oarlock::engine_api::{KeyParts, RsaPrivateParts};
use oarlock::keys::{self, KeyError, raw, rsa};
use oarlock::{Curve, KeyHome, KeyKind};

use crate::entry::params::{Made, Params, Wanted};
use crate::error::Failure;

/// Kinds of keys, one key manager each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Rsa,
    Ec,
    Ed25519,
    X25519,
}

impl Family {
    /// Of a key; None where no key manager here is for it.
    pub(crate) fn of(key: &Key) -> Option<Self> {
        Some(match key.kind() {
            KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Self::Rsa,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => Self::Ec,
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => Self::Ed25519,
            KeyKind::X25519Private | KeyKind::X25519Public => Self::X25519,
            _ => return None,
        })
    }

    /// Its name in OpenSSL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Ec => "EC",
            Self::Ed25519 => "ED25519",
            Self::X25519 => "X25519",
        }
    }
}

/// Which parts of a key are meant: `OSSL_KEYMGMT_SELECT_*`.
#[derive(Clone, Copy)]
pub(crate) struct Selection(pub(crate) c_int);

impl Selection {
    pub(crate) fn private(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn keypair(self) -> bool {
        self.0 & 3 != 0
    }

    /// What keys of one group have in common.
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
}

/// What a key manager hands out.
#[derive(Debug)]
pub(crate) struct ProviderKey {
    pub(crate) family: Family,
    content: RwLock<Content>,
}

#[derive(Clone, Debug)]
enum Content {
    Nothing,
    /// The parameters of a key that is to come.
    Curve(Curve),
    Key(Key),
}

impl ProviderKey {
    pub(crate) fn new(family: Family, key: Option<Key>) -> Self {
        Self { family, content: RwLock::new(key.map_or(Content::Nothing, Content::Key)) }
    }

    /// The parameters of EC keys without a key.
    pub(crate) fn of_curve(curve: Curve) -> Self {
        Self { family: Family::Ec, content: RwLock::new(Content::Curve(curve)) }
    }

    pub(crate) fn get(&self) -> Option<Key> {
        match self.content() {
            Content::Key(key) => Some(key),
            Content::Nothing | Content::Curve(_) => None,
        }
    }

    /// Of EC keys and of their parameters.
    pub(crate) fn curve(&self) -> Option<Curve> {
        match self.content() {
            Content::Nothing => None,
            Content::Curve(curve) => Some(curve),
            Content::Key(key) => key.ec_public().map(|(curve, _)| curve),
        }
    }

    fn content(&self) -> Content {
        self.content.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, content: Content) {
        *self.content.write().unwrap_or_else(PoisonError::into_inner) = content;
    }

    /// True where it has all the parts that are selected. All keys but those of curves have the same parameters.
    pub(crate) fn has(&self, selection: Selection) -> bool {
        if selection.domain() && self.family == Family::Ec && self.curve().is_none() {
            return false;
        }
        match self.get() {
            _ if !selection.keypair() => true,
            None => false,
            Some(key) => !selection.private() || is_private(&key),
        }
    }

    /// True where both have the same key, as far as it is selected: fingerprints are of public halves.
    pub(crate) fn matches(&self, other: &Self, selection: Selection) -> bool {
        if self.family != other.family || selection.domain() && self.curve() != other.curve() {
            return false;
        }
        match (self.get(), other.get()) {
            (Some(own), Some(other)) if selection.keypair() => own.fingerprint() == other.fingerprint(),
            (own, other) => !selection.keypair() || (own.is_none() && other.is_none()),
        }
    }

    /// Takes over the key of another provider's numbers. False where it is of a kind that is left to that provider.
    pub(crate) fn import(&self, params: Params<'_>, selection: Selection) -> bool {
        if !selection.keypair() {
            return match self.family {
                Family::Ec if selection.domain() => {
                    let curve = params.text(name::GROUP).and_then(curve_named);
                    curve.map(|curve| self.put(Content::Curve(curve))).is_some()
                }
                _ => true,
            };
        }
        let key = match self.family {
            Family::Rsa => import_rsa(params, selection),
            Family::Ec => import_ec(params, selection),
            Family::Ed25519 => import_edwards(params, selection, raw::ed25519_private, raw::ed25519_public),
            Family::X25519 => import_edwards(params, selection, raw::x25519_private, raw::x25519_public),
        };
        key.map(|key| self.put(Content::Key(key))).is_some()
    }

    /// Writes the selected parts; of a key that lives elsewhere, its public half. None without a key.
    pub(crate) fn export(&self, selection: Selection) -> Option<Made> {
        let mut made = Made::default();
        let key = match self.content() {
            Content::Key(key) => key,
            _ if selection.keypair() => return None,
            Content::Nothing => return Some(made),
            Content::Curve(curve) => {
                made.text(name::GROUP, group(curve).to_str().unwrap_or_default());
                return Some(made);
            }
        };
        let private = key.parts().filter(|_| selection.private());
        match self.family {
            Family::Rsa => {
                let public = key.rsa_public()?;
                made.integer(name::N, &public.n).integer(name::E, &public.e);
                if let Some(KeyParts::RsaPrivate(parts)) = private {
                    export_rsa_private(parts, &mut made);
                }
            }
            Family::Ec => {
                let (curve, point) = key.ec_public()?;
                made.text(name::GROUP, group(curve).to_str().unwrap_or_default());
                made.octets(name::PUBLIC, point);
                if let Some(KeyParts::EcPrivate(parts)) = private {
                    made.integer(name::PRIVATE, parts.scalar.expose());
                }
            }
            Family::Ed25519 => {
                made.octets(name::PUBLIC, key.ed25519_public()?);
                if let Some(KeyParts::Ed25519Private(parts)) = private {
                    made.octets(name::PRIVATE, parts.seed.expose());
                }
            }
            Family::X25519 => {
                made.octets(name::PUBLIC, key.x25519_public()?);
                if let Some(KeyParts::X25519Private(parts)) = private {
                    made.octets(name::PRIVATE, parts.scalar.expose());
                }
            }
        }
        Some(made)
    }

    /// Fills in what is asked of the key. False where a place is too small.
    pub(crate) fn describe(&self, wanted: &mut Wanted<'_>) -> bool {
        let key = match self.content() {
            Content::Nothing => return true,
            Content::Curve(curve) => {
                return Sizes::of(KeyKind::EcPublic(curve)).describe(wanted)
                    & wanted.text(name::GROUP, group(curve));
            }
            Content::Key(key) => key,
        };
        let is_written = Sizes::of(key.kind()).describe(wanted);
        let is_own_written = match self.family {
            Family::Rsa => key.rsa_public().is_none_or(|public| {
                wanted.text(name::DEFAULT_DIGEST, c"SHA256")
                    & wanted.integer(name::N, &public.n)
                    & wanted.integer(name::E, &public.e)
            }),
            Family::Ec => key.ec_public().is_none_or(|(curve, point)| {
                wanted.text(name::DEFAULT_DIGEST, c"SHA256")
                    & wanted.text(name::GROUP, group(curve))
                    & wanted.text(name::POINT_FORMAT, c"uncompressed")
                    & wanted.text(name::ENCODING, c"named_curve")
                    & wanted.octets(name::PUBLIC, point)
                    & wanted.octets(name::ENCODED_PUBLIC, point)
            }),
            Family::Ed25519 => {
                wanted.text(name::MANDATORY_DIGEST, c"")
                    & key.ed25519_public().is_none_or(|public| wanted.octets(name::PUBLIC, public))
            }
            Family::X25519 => key.x25519_public().is_none_or(|public| {
                wanted.octets(name::PUBLIC, public)
                    & wanted.octets(name::ENCODED_PUBLIC, public)
                    & wanted.text(name::GROUP, c"x25519")
            }),
        };
        let private = match key.parts() {
            Some(KeyParts::X25519Private(parts)) => wanted.octets(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::Ed25519Private(parts)) => wanted.octets(name::PRIVATE, parts.seed.expose()),
            Some(KeyParts::EcPrivate(parts)) => wanted.integer(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::RsaPrivate(parts)) => wanted.integer(name::D, parts.d.expose()),
            _ => true,
        };
        is_written & is_own_written & private
    }

    /// Takes a peer's public key as TLS sends it. RFC 8446 4.2.8.2.
    pub(crate) fn set_encoded_public(&self, bytes: &[u8]) -> Result<(), Failure> {
        let key = match self.family {
            Family::X25519 => raw::x25519_public(bytes)?,
            Family::Ed25519 => raw::ed25519_public(bytes)?,
            Family::Ec => raw::ec_public(self.curve().ok_or(Failure::NoKey)?, bytes)?,
            Family::Rsa => {
                let what = format!("an encoded public key for {}", self.family.name());
                return Err(Failure::Unsupported { what });
            }
        };
        self.put(Content::Key(key));
        Ok(())
    }
}

impl Clone for ProviderKey {
    fn clone(&self) -> Self {
        Self { family: self.family, content: RwLock::new(self.content()) }
    }
}

/// True where private operations can be asked of it, here or where it lives.
pub(crate) fn is_private(key: &Key) -> bool {
    matches!(
        key.kind(),
        KeyKind::RsaPrivate(_) | KeyKind::EcPrivate(_) | KeyKind::Ed25519Private | KeyKind::X25519Private
    )
}

/// The name under which a cryptoserver holds it.
pub(crate) fn held_name(key: &Key) -> Option<&str> {
    match key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

/// What OpenSSL calls a curve.
pub(crate) fn group(curve: Curve) -> &'static CStr {
    match curve {
        Curve::P384 => c"secp384r1",
        _ => c"prime256v1",
    }
}

/// The curve that OpenSSL means by a name; None where it is not offered.
pub(crate) fn curve_named(name: &str) -> Option<Curve> {
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_one_of(&["prime256v1", "P-256", "secp256r1", "1.2.840.10045.3.1.7"]) {
        return Some(Curve::P256);
    }
    is_one_of(&["secp384r1", "P-384", "1.3.132.0.34"]).then_some(Curve::P384)
}

/// Lengths that OpenSSL asks of keys.
struct Sizes {
    bits: i64,
    security_bits: i64,
    /// Longest output of an operation, in bytes.
    max_len: i64,
}

impl Sizes {
    fn of(kind: KeyKind) -> Self {
        let (bits, security_bits, max_len) = match kind {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => {
                (bits.into(), rsa_security_bits(bits), i64::from(bits.div_ceil(8)))
            }
            KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => (384, 192, 104),
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => (256, 128, 72),
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => (256, 128, 64),
            _ => (253, 128, 32),
        };
        Self { bits, security_bits, max_len }
    }

    /// False where a place is too small.
    fn describe(&self, wanted: &mut Wanted<'_>) -> bool {
        wanted.number(name::BITS, self.bits)
            & wanted.number(name::SECURITY_BITS, self.security_bits)
            & wanted.number(name::MAX_SIZE, self.max_len)
    }
}

/// NIST SP 800-57 part 1, table 2.
fn rsa_security_bits(bits: u16) -> i64 {
    match bits {
        ..1024 => 0,
        1024..2048 => 80,
        2048..3072 => 112,
        3072..7680 => 128,
        _ => 192,
    }
}

fn import_rsa(params: Params<'_>, selection: Selection) -> Option<Key> {
    let (n, e) = (params.integer(name::N)?, params.integer(name::E)?);
    let private = params.integer(name::D).filter(|_| selection.private());
    let Some(d) = private else { return rsa::public(&n, &e).ok() };
    if params.has(name::FACTOR3) {
        return None;
    }
    let parts = [name::FACTOR1, name::FACTOR2, name::EXPONENT1, name::EXPONENT2, name::COEFFICIENT1];
    match parts.map(|name| params.integer(name)) {
        [Some(p), Some(q), Some(dp), Some(dq), Some(qinv)] => rsa::private(&rsa::PrivateNumbers {
            n: &n,
            e: &e,
            d: &d,
            p: &p,
            q: &q,
            dp: &dp,
            dq: &dq,
            qinv: &qinv,
        })
        .ok(),
        _ => rsa::private_without_crt(&n, &e, &d).ok(),
    }
}

fn import_ec(params: Params<'_>, selection: Selection) -> Option<Key> {
    let curve = curve_named(params.text(name::GROUP)?)?;
    let public = params.octets(name::PUBLIC).map(|point| raw::ec_public(curve, point).ok());
    let scalar = params.integer(name::PRIVATE).filter(|_| selection.private());
    let Some(scalar) = scalar else { return public? };
    let private = raw::ec_private(curve, &at_width(&scalar, curve.scalar_len())?).ok()?;
    match public {
        Some(public) if public.as_ref().map(Key::fingerprint) != Some(private.fingerprint()) => None,
        _ => Some(private),
    }
}

/// The integer at the width, whatever zeros stand before it. Where they are is no secret: only the width decides.
fn at_width(integer: &[u8], width: usize) -> Option<zeroize::Zeroizing<Vec<u8>>> {
    let mut out = zeroize::Zeroizing::new(vec![0; width.saturating_sub(integer.len())]);
    let (above, kept) = integer.split_at(integer.len().saturating_sub(width));
    out.extend_from_slice(kept);
    above.iter().all(|byte| *byte == 0).then_some(out)
}

fn import_edwards(
    params: Params<'_>,
    selection: Selection,
    private: fn(&[u8]) -> Result<Key, KeyError>,
    public: fn(&[u8]) -> Result<Key, KeyError>,
) -> Option<Key> {
    let public = params.octets(name::PUBLIC).map(|bytes| public(bytes).ok());
    let secret = params.octets(name::PRIVATE).filter(|_| selection.private());
    let Some(secret) = secret else { return public? };
    let private = private(secret).ok()?;
    match public {
        Some(public) if public.as_ref().map(Key::fingerprint) != Some(private.fingerprint()) => None,
        _ => Some(private),
    }
}

fn export_rsa_private(parts: &RsaPrivateParts, made: &mut Made) {
    made.integer(name::D, parts.d.expose())
        .integer(name::FACTOR1, parts.p.expose())
        .integer(name::FACTOR2, parts.q.expose())
        .integer(name::EXPONENT1, parts.dp.expose())
        .integer(name::EXPONENT2, parts.dq.expose())
        .integer(name::COEFFICIENT1, parts.qinv.expose());
}

/// A key that a cryptoserver holds under `name`, of its public half.
pub(crate) fn held(name: &str, spki: &[u8]) -> Result<Key, Failure> {
    Ok(keys::held::from_spki(spki, "cryptoserver", name)?)
}
