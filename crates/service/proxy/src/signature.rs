//! Signatures of certificates, revocation lists and OCSP responses, outside of handshakes.

use rustls::crypto::aws_lc_rs::default_provider;
use x509_parser::asn1_rs::{Any, FromDer, Tag};

/// The parts of a signed object, which certificates, revocation lists and OCSP responses have in common:
/// `SEQUENCE { signed, algorithm, BIT STRING, ... }`. RFC 5280 4.1.1.
pub(crate) struct SignedParts<'a> {
    /// The signed part with its header.
    signed: &'a [u8],
    /// The content of the AlgorithmIdentifier.
    algorithm: &'a [u8],
    signature: &'a [u8],
}

impl<'a> SignedParts<'a> {
    /// Splits an object in DER. Returns None if it does not have this form.
    pub(crate) fn split(object: &'a [u8]) -> Option<Self> {
        let (_, object) = Any::from_der(object).ok()?;
        let (rest, _) = Any::from_der(object.data).ok()?;
        let signed = &object.data[..object.data.len() - rest.len()];
        let (rest, algorithm) = Any::from_der(rest).ok()?;
        let (_, signature) = Any::from_der(rest).ok()?;
        Some(Self { signed, algorithm: algorithm.data, signature: bits(&signature)? })
    }

    /// Returns true if the signature is by the key of a SubjectPublicKeyInfo, with an algorithm that rustls takes in
    /// certificates. The library computes it, because no handshake waits for it.
    pub(crate) fn is_signed_by(&self, public_key: &[u8]) -> bool {
        let Some((key_algorithm, key)) = split_key(public_key) else { return false };
        let known = default_provider().signature_verification_algorithms.all;
        let fits = |algorithm: &&&dyn rustls::pki_types::SignatureVerificationAlgorithm| {
            algorithm.public_key_alg_id().as_ref() == key_algorithm
                && algorithm.signature_alg_id().as_ref() == self.algorithm
        };
        let mut fitting = known.iter().filter(fits);
        fitting.any(|algorithm| algorithm.verify_signature(key, self.signed, self.signature).is_ok())
    }
}

/// Returns the content of the algorithm of a SubjectPublicKeyInfo, and its key.
pub(crate) fn split_key(public_key: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, info) = Any::from_der(public_key).ok()?;
    let (rest, algorithm) = Any::from_der(info.data).ok()?;
    let (_, key) = Any::from_der(rest).ok()?;
    Some((algorithm.data, bits(&key)?))
}

/// Returns the bytes of a BIT STRING without unused bits.
fn bits<'a>(any: &Any<'a>) -> Option<&'a [u8]> {
    any.data
        .split_first()
        .filter(|(unused, _)| any.tag() == Tag::BitString && **unused == 0)
        .map(|(_, bytes)| bytes)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
    use x509_parser::prelude::X509Certificate;

    use super::*;

    #[test]
    fn a_certificate_is_signed_by_its_issuer_only() {
        let issuer = |name: &str| {
            let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
            CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
        };
        let (issuer, stranger) = (issuer("issuer.test"), issuer("stranger.test"));
        let params = CertificateParams::new(vec!["leaf.test".to_owned()]).unwrap();
        let leaf = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        let parts = SignedParts::split(leaf.der()).unwrap();
        for (signer, expected) in [(issuer.der(), true), (stranger.der(), false)] {
            let (_, signer) = X509Certificate::from_der(signer).unwrap();
            assert_eq!(parts.is_signed_by(signer.public_key().raw), expected);
        }
        let mut changed = leaf.der().to_vec();
        changed[100] ^= 1;
        let (_, signer) = X509Certificate::from_der(issuer.der()).unwrap();
        let is_good = |object: &[u8]| {
            SignedParts::split(object).is_some_and(|parts| parts.is_signed_by(signer.public_key().raw))
        };
        assert!(is_good(leaf.der()) && !is_good(&changed));
        assert!((0..leaf.der().len()).all(|len| !is_good(&leaf.der()[..len])));
        assert!(!parts.is_signed_by(b"not a key"));
    }
}
