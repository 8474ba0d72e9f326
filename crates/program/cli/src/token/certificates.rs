//! Files of certificates.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use oarlock::keys::import;
use x509_parser::parse_x509_certificate;

use super::TokenError;

/// The largest file in bytes. A chain has a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// A certificate, with the parts that PKCS#11 wants beside it, all in DER.
#[derive(Debug)]
pub(super) struct TokenCertificate {
    pub(super) der: Vec<u8>,
    pub(super) subject: Vec<u8>,
    pub(super) issuer: Vec<u8>,
    /// The serial number as an INTEGER.
    pub(super) serial: Vec<u8>,
    /// The public key as a SubjectPublicKeyInfo.
    pub(super) public_key: Vec<u8>,
}

/// Reads the certificates of a PEM file, at least one. Other blocks, such as keys, are passed over.
pub(super) fn read(path: &Path) -> Result<Vec<TokenCertificate>, TokenError> {
    let mut text = Vec::new();
    let file = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
    file.map_err(|error| TokenError::ReadCertificate { path: path.to_owned(), error })?;
    parse(&text).map_err(|reason| TokenError::Certificate { path: path.to_owned(), reason })
}

fn parse(text: &[u8]) -> Result<Vec<TokenCertificate>, &'static str> {
    let found = import::certificates(text).map_err(|_| "not PEM")?;
    if found.is_empty() {
        return Err("no certificate in PEM");
    }
    found.into_iter().map(TokenCertificate::parse).collect()
}

impl TokenCertificate {
    fn parse(der: Vec<u8>) -> Result<Self, &'static str> {
        let (rest, parsed) = parse_x509_certificate(&der).map_err(|_| "a certificate is not valid DER")?;
        if !rest.is_empty() {
            return Err("bytes behind a certificate");
        }
        let serial = integer(parsed.raw_serial()).ok_or("a serial number is longer than 20 bytes")?;
        let (subject, issuer) = (parsed.subject().as_raw().to_vec(), parsed.issuer().as_raw().to_vec());
        let public_key = parsed.public_key().raw.to_vec();
        Ok(Self { subject, issuer, serial, public_key, der })
    }
}

/// Encodes an INTEGER of at most 20 bytes, the maximum of RFC 5280 4.1.2.2, and its sign byte.
fn integer(content: &[u8]) -> Option<Vec<u8>> {
    let len = u8::try_from(content.len()).ok().filter(|len| (1..=21).contains(len))?;
    // Such a length is one byte, the short form of X.690 8.1.3.4.
    Some([&[2, len], content].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_found_between_other_blocks() {
        let generated = rcgen::generate_simple_self_signed(vec!["example.com".to_owned()]).unwrap();
        let text =
            [generated.signing_key.serialize_pem(), generated.cert.pem(), generated.cert.pem()].concat();
        let found = parse(text.as_bytes()).unwrap();
        assert_eq!(found.len(), 2);
        let first = &found[0];
        assert_eq!((first.der.as_slice(), &first.subject), (generated.cert.der().as_ref(), &first.issuer));
        assert_eq!(usize::from(first.serial[1]), first.serial.len() - 2);
        assert!(first.public_key.starts_with(&[0x30]));
        let key_only = generated.signing_key.serialize_pem();
        for text in ["", "text", &key_only, "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"]
        {
            parse(text.as_bytes()).unwrap_err();
        }
    }
}
