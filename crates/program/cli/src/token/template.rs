//! Templates of `C_CreateObject` for a key and its certificates.

use oarlock::{Key, KeyKind};
use oarlock_cryptoki::{
    AttributeSet, AttributeType as A, ObjectClass, TemplateEntry, private_values, public_values,
};
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
        // A key that is elsewhere shows no values.
        key.parts()?;
        let uses: &[A] = match key.kind() {
            KeyKind::RsaPrivate(_) => &[A::SIGN, A::DECRYPT],
            KeyKind::EcPrivate(_) => &[A::SIGN, A::DERIVE],
            KeyKind::Ed25519Private | KeyKind::MlDsaPrivate(_) | KeyKind::SlhDsaPrivate(_) => &[A::SIGN],
            KeyKind::X25519Private => &[A::DERIVE],
            KeyKind::MlKemPrivate(_) => &[A::DECAPSULATE],
            _ => return None,
        };
        Some(template.key(uses, &[public_values(key, ObjectClass::PRIVATE_KEY), private_values(key)]))
    }

    /// Makes the template of the public half of a private key.
    pub(super) fn public_key(key: &Key, names: ImportNames<'_>) -> Option<Self> {
        let mut template = Self::new(ObjectClass::PUBLIC_KEY, names);
        template.flag(A::PRIVATE, false);
        let uses: &[A] = match key.kind() {
            KeyKind::RsaPrivate(_) => &[A::VERIFY, A::ENCRYPT],
            KeyKind::EcPrivate(_)
            | KeyKind::Ed25519Private
            | KeyKind::MlDsaPrivate(_)
            | KeyKind::SlhDsaPrivate(_) => &[A::VERIFY],
            KeyKind::MlKemPrivate(_) => &[A::ENCAPSULATE],
            // An agreement uses the private key, and gets the other public key as bytes.
            KeyKind::X25519Private => &[],
            _ => return None,
        };
        Some(template.key(uses, &[public_values(key, ObjectClass::PUBLIC_KEY)]))
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

    /// Adds the uses and the values of a key.
    fn key(mut self, uses: &[A], values: &[AttributeSet]) -> Self {
        for kind in uses {
            self.flag(*kind, true);
        }
        self.0
            .extend(values.iter().flat_map(AttributeSet::iter).map(|(kind, value)| (kind, value.encoded())));
        self
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
