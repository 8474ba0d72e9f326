//! Keys of TLS 1.3: key and IV out of a traffic secret, and the secret after it.

use aws_lc_rs::hkdf;
use oarlock::{DigestAlg, SecretBytes};

use super::{DerivationError, Keys};
use crate::suite::{Protocol, Suite};

/// A traffic secret of TLS 1.3. RFC 8446 7.2.
#[derive(Clone)]
pub(crate) struct TrafficSecret(SecretBytes);

impl Keys {
    /// Derives keys from a traffic secret: of the handshake, or of application data. RFC 8446 7.3.
    ///
    /// # Errors
    /// [`DerivationError::Protocol`]; [`DerivationError::Length`] if the secret is not as long as the digest of the
    /// suite.
    pub fn tls13(suite: Suite, secret: &[u8]) -> Result<Self, DerivationError> {
        Self::check_protocol(suite, Protocol::Tls13)?;
        let expected = suite.digest().output_len();
        if secret.len() != expected {
            return Err(DerivationError::Length {
                suite,
                what: "traffic secret",
                expected,
                found: secret.len(),
            });
        }
        Ok(Self {
            suite,
            key: expand_label(suite, secret, b"key", suite.key_len())?,
            mac_key: SecretBytes::default(),
            iv: expand_label(suite, secret, b"iv", suite.iv_len())?,
            sequence: Some(0),
            secret: Some(TrafficSecret(secret.into())),
        })
    }

    /// Derives the keys after a KeyUpdate. RFC 8446 7.2.
    ///
    /// # Errors
    /// [`DerivationError::Protocol`] if these are not keys of [`Keys::tls13`].
    pub fn next_generation(&self) -> Result<Self, DerivationError> {
        let none = DerivationError::Protocol { suite: self.suite, wanted: Protocol::Tls13 };
        let secret = self.secret.as_ref().ok_or(none)?;
        let next = expand_label(self.suite, secret.0.expose(), b"traffic upd", secret.0.len())?;
        Self::tls13(self.suite, next.expose())
    }
}

struct OutputLen(usize);

impl hkdf::KeyType for OutputLen {
    fn len(&self) -> usize {
        self.0
    }
}

/// Computes HKDF-Expand-Label with an empty context. RFC 8446 7.1.
fn expand_label(
    suite: Suite,
    secret: &[u8],
    label: &[u8],
    len: usize,
) -> Result<SecretBytes, DerivationError> {
    let algorithm = match suite.digest() {
        DigestAlg::Sha384 => hkdf::HKDF_SHA384,
        _ => hkdf::HKDF_SHA256,
    };
    let failed = DerivationError::Derivation { suite };
    let (Ok(output_len), Ok(label_len)) = (u16::try_from(len), u8::try_from(b"tls13 ".len() + label.len()))
    else {
        return Err(failed);
    };
    let secret = hkdf::Prk::new_less_safe(algorithm, secret);
    let info = [&output_len.to_be_bytes(), &[label_len][..], b"tls13 ", label, &[0]];
    let mut output = vec![0; len];
    let okm = secret.expand(&info, OutputLen(len)).map_err(|_| failed.clone())?;
    okm.fill(&mut output).map_err(|_| failed)?;
    Ok(output.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bytes::bytes_of_hex as hex;

    /// RFC 8448 section 3: the server's and the client's application traffic secrets.
    #[test]
    fn derives_the_keys_of_rfc_8448() {
        let server = hex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643");
        let keys = Keys::tls13(Suite::TLS13_AES_128_GCM, &server).unwrap();
        assert_eq!(keys.expose().key, hex("9f02283b6c9c07efc26bb9f2ac92e356"));
        assert_eq!(keys.expose().iv, hex("cf782b88dd83549aadf1e984"));
        let client = hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
        let keys = Keys::tls13(Suite::TLS13_AES_128_GCM, &client).unwrap();
        assert_eq!(keys.expose().key, hex("17422dda596ed5d9acd890e3c63f5051"));
        assert_eq!(keys.expose().iv, hex("5b78923dee08579033e523d9"));
    }

    #[test]
    fn each_generation_differs_and_only_tls_1_3_has_them() {
        let first = Keys::tls13(Suite::TLS13_AES_256_GCM, &[7; 48]).unwrap();
        let second = first.next_generation().unwrap();
        let third = second.next_generation().unwrap();
        assert_ne!(first.expose().key, second.expose().key);
        assert_ne!(second.expose().iv, third.expose().iv);
        let material = first.expose();
        let given = Keys::new(Suite::TLS13_AES_256_GCM, &material).unwrap();
        assert!(matches!(given.next_generation(), Err(DerivationError::Protocol { .. })));
    }

    #[test]
    fn a_secret_of_another_digest_is_refused() {
        let error = Keys::tls13(Suite::TLS13_AES_256_GCM, &[7; 32]).unwrap_err();
        assert!(matches!(error, DerivationError::Length { expected: 48, found: 32, .. }));
        assert!(Keys::tls13(Suite::TLS12_AES_128_GCM, &[7; 32]).is_err());
    }
}
