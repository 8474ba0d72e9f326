//! Templates of `C_CreateObject` for a key and its certificates.

use oarlock::engine_api::KeyParts;
use oarlock::{Curve, Key};
use oarlock_cryptoki::{AttributeType as A, KeyTypeNumber, ObjectClass, TemplateEntry};
use zeroize::Zeroizing;

use super::certificates::TokenCertificate;

/// `CKC_X_509`.
const X509: u64 = 0;

/// The names that the objects of one import have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImportNames<'a> {
    pub(super) label: &'a str,
    pub(super) id: &'a [u8],
    /// The subject of the certificate, in DER; empty without a certificate.
    pub(super) subject: &'a [u8],
}

/// A template that owns its values.
pub(super) struct ObjectTemplate(Vec<(A, Zeroizing<Vec<u8>>)>);

impl ObjectTemplate {
    /// Makes the template of a private key: private, sensitive and not extractable. Returns None if the key is not a
    /// private one.
    pub(super) fn private_key(key: &Key, names: ImportNames<'_>) -> Option<Self> {
        let mut template = Self::new(ObjectClass::PRIVATE_KEY, names);
        for (kind, value) in [(A::PRIVATE, true), (A::SENSITIVE, true), (A::EXTRACTABLE, false)] {
            template.flag(kind, value);
        }
        match key.parts()? {
            KeyParts::RsaPrivate(parts) => {
                template.number(A::KEY_TYPE, KeyTypeNumber::RSA.0).flag(A::SIGN, true).flag(A::DECRYPT, true);
                template.bytes(A::MODULUS, &parts.public.n).bytes(A::PUBLIC_EXPONENT, &parts.public.e);
                for (kind, value) in [
                    (A::PRIVATE_EXPONENT, &parts.d),
                    (A::PRIME_1, &parts.p),
                    (A::PRIME_2, &parts.q),
                    (A::EXPONENT_1, &parts.dp),
                    (A::EXPONENT_2, &parts.dq),
                    (A::COEFFICIENT, &parts.qinv),
                ] {
                    template.bytes(kind, value.expose());
                }
            }
            KeyParts::EcPrivate(parts) => {
                template.curve(KeyTypeNumber::EC, curve_params(parts.curve)?);
                template.flag(A::SIGN, true).flag(A::DERIVE, true).bytes(A::VALUE, parts.scalar.expose());
            }
            KeyParts::Ed25519Private(parts) => {
                template.curve(KeyTypeNumber::EC_EDWARDS, ED25519);
                template.flag(A::SIGN, true).bytes(A::VALUE, parts.seed.expose());
            }
            KeyParts::X25519Private(parts) => {
                template.curve(KeyTypeNumber::EC_MONTGOMERY, X25519);
                template.flag(A::DERIVE, true).bytes(A::VALUE, parts.scalar.expose());
            }
            _ => return None,
        }
        Some(template)
    }

    /// Makes the template of the public half of a private key.
    pub(super) fn public_key(key: &Key, names: ImportNames<'_>) -> Option<Self> {
        let mut template = Self::new(ObjectClass::PUBLIC_KEY, names);
        template.flag(A::PRIVATE, false);
        match key.parts()? {
            KeyParts::RsaPrivate(parts) => {
                template
                    .number(A::KEY_TYPE, KeyTypeNumber::RSA.0)
                    .flag(A::VERIFY, true)
                    .flag(A::ENCRYPT, true);
                template.bytes(A::MODULUS, &parts.public.n).bytes(A::PUBLIC_EXPONENT, &parts.public.e);
            }
            KeyParts::EcPrivate(parts) => {
                template.curve(KeyTypeNumber::EC, curve_params(parts.curve)?);
                template.flag(A::VERIFY, true).bytes(A::EC_POINT, &octets(&parts.public)?);
            }
            KeyParts::Ed25519Private(parts) => {
                template.curve(KeyTypeNumber::EC_EDWARDS, ED25519);
                template.flag(A::VERIFY, true).bytes(A::EC_POINT, &octets(&parts.public)?);
            }
            KeyParts::X25519Private(parts) => {
                template.curve(KeyTypeNumber::EC_MONTGOMERY, X25519);
                template.bytes(A::EC_POINT, &octets(&parts.public)?);
            }
            _ => return None,
        }
        Some(template)
    }

    /// Makes the template of a certificate.
    pub(super) fn certificate(certificate: &TokenCertificate, names: ImportNames<'_>) -> Self {
        let subject = &certificate.subject;
        let mut template = Self::new(ObjectClass::CERTIFICATE, ImportNames { subject, ..names });
        template.flag(A::PRIVATE, false).number(A::CERTIFICATE_TYPE, X509);
        template.bytes(A::ISSUER, &certificate.issuer).bytes(A::SERIAL_NUMBER, &certificate.serial);
        template.bytes(A::VALUE, &certificate.der);
        template
    }

    /// Makes a template that no library accepts.
    #[cfg(test)]
    pub(super) fn incomplete() -> Self {
        Self(Vec::new())
    }

    /// Returns the template as the library takes it.
    pub(super) fn entries(&self) -> Vec<TemplateEntry<'_>> {
        self.0.iter().map(|(kind, value)| TemplateEntry::new(*kind, value)).collect()
    }

    fn new(class: ObjectClass, names: ImportNames<'_>) -> Self {
        let mut template = Self(Vec::new());
        template.number(A::CLASS, class.0).flag(A::TOKEN, true);
        template.bytes(A::LABEL, names.label.as_bytes()).bytes(A::ID, names.id);
        if !names.subject.is_empty() {
            template.bytes(A::SUBJECT, names.subject);
        }
        template
    }

    fn curve(&mut self, key_type: KeyTypeNumber, params: &[u8]) -> &mut Self {
        self.number(A::KEY_TYPE, key_type.0).bytes(A::EC_PARAMS, params)
    }

    fn flag(&mut self, kind: A, value: bool) -> &mut Self {
        self.bytes(kind, &[u8::from(value)])
    }

    /// Adds a `CK_ULONG`.
    fn number(&mut self, kind: A, value: u64) -> &mut Self {
        self.bytes(kind, &(value as usize).to_ne_bytes())
    }

    fn bytes(&mut self, kind: A, value: &[u8]) -> &mut Self {
        self.0.push((kind, Zeroizing::new(value.to_vec())));
        self
    }
}

/// Object identifiers in DER. RFC 5480 2.1.1.1, RFC 8410 section 3.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 0x22];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];
const X25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x6e];

fn curve_params(curve: Curve) -> Option<&'static [u8]> {
    match curve {
        Curve::P256 => Some(P256),
        Curve::P384 => Some(P384),
        _ => None,
    }
}

/// Encodes a point as an OCTET STRING of less than 128 bytes.
fn octets(point: &[u8]) -> Option<Vec<u8>> {
    let len = u8::try_from(point.len()).ok().filter(|len| *len < 0x80)?;
    Some([&[4, len], point].concat())
}
