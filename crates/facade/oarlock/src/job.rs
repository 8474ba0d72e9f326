//! Jobs: a scheme, a key and borrowed inputs.

use std::fmt;

use oarlock_core::{DigestAlg, HeldJob, JobError, Key, KeyKind, Scheme, SigningScheme, VerifyingScheme};
use zeroize::Zeroizing;

use crate::schemes::hash::{Digester, MessageDigest};

/// One whole operation: a scheme over a message or digest, under a key.
///
/// A job borrows its inputs. They are copied when it is submitted.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Job<'a> {
    /// Padding, encoding and nonce rule.
    pub scheme: Scheme,
    /// The key, of a kind that the scheme can use.
    pub key: &'a Key,
    /// The message or digest to sign or verify, the ciphertext, or the key of the peer.
    pub input: Input<'a>,
    /// The signature to verify or the OAEP label, else empty.
    pub second: &'a [u8],
}

/// The main input of a [`Job`].
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// A whole message, which is hashed if the scheme names a digest. For other schemes: an Ed25519 message, an RSA
    /// ciphertext or a peer's public key for X25519 or ECDH.
    Message(&'a [u8]),
    /// The digest of a message, as long as the scheme's digest, for schemes that name one.
    Digest(&'a [u8]),
}

impl<'a> Job<'a> {
    /// Signs `input`.
    #[must_use]
    pub fn sign(scheme: SigningScheme, key: &'a Key, input: Input<'a>) -> Self {
        Self::with_scheme(scheme.into(), key, input, &[])
    }

    /// Verifies `signature` over `input`.
    #[must_use]
    pub fn verify(scheme: VerifyingScheme, key: &'a Key, input: Input<'a>, signature: &'a [u8]) -> Self {
        Self::with_scheme(scheme.into(), key, input, signature)
    }

    /// Performs any scheme, for callers that read the scheme from a protocol.
    ///
    /// `second` is the signature to verify or the OAEP label, and empty for every other scheme.
    #[must_use]
    pub fn with_scheme(scheme: Scheme, key: &'a Key, input: Input<'a>, second: &'a [u8]) -> Self {
        Self { scheme, key, input, second }
    }

    /// Decrypts with PKCS#1 v1.5. The answer never shows whether the padding was good. RFC 8017 7.2.2.
    #[must_use]
    pub fn decrypt_pkcs1(key: &'a Key, ciphertext: &'a [u8]) -> Self {
        Self { scheme: Scheme::RsaPkcs1Decrypt, key, input: Input::Message(ciphertext), second: &[] }
    }

    /// Decrypts with OAEP, with one digest for the label and the mask generation. RFC 8017 7.1.2.
    #[must_use]
    pub fn decrypt_oaep(digest: DigestAlg, key: &'a Key, ciphertext: &'a [u8], label: &'a [u8]) -> Self {
        let scheme = Scheme::RsaOaepDecrypt { digest, mgf: digest };
        Self { scheme, key, input: Input::Message(ciphertext), second: label }
    }

    /// Agrees on a secret with a peer: by ECDH with the key of a NIST curve, otherwise by X25519.
    ///
    /// `peer` is an uncompressed point for ECDH (SEC 1 2.3.3), and a u-coordinate of 32 bytes for X25519 (RFC 7748
    /// 6.1).
    #[must_use]
    pub fn agree(key: &'a Key, peer: &'a [u8]) -> Self {
        let scheme = match key.kind() {
            KeyKind::EcPrivate(curve) => Scheme::Ecdh { curve },
            _ => Scheme::X25519,
        };
        Self { scheme, key, input: Input::Message(peer), second: &[] }
    }

    /// Returns the job in the form that the holder of its key takes: with the digest in place of the message if the
    /// scheme names one.
    ///
    /// # Errors
    /// [`JobError::Length`] if a given digest has the wrong length; [`JobError::Unsupported`] for a digest in a
    /// scheme that takes messages.
    pub fn to_held(&self) -> Result<HeldJob, JobError> {
        let input = match self.scheme.message_digest() {
            // The message itself never leaves this process if its digest is enough.
            Some(alg) => self.digest(Digester::of(alg)?)?.as_ref().to_vec(),
            None => self.message()?.to_vec(),
        };
        let second = self.second.to_vec();
        Ok(HeldJob { scheme: self.scheme, key: self.key.clone(), input: Zeroizing::new(input), second })
    }

    /// Returns the digest of the message, computed or given.
    pub(crate) fn digest(&self, alg: &Digester) -> Result<MessageDigest, JobError> {
        match self.input {
            Input::Message(message) => Ok(alg.hash(message)),
            Input::Digest(digest) if digest.len() == alg.len() => Ok(MessageDigest::from_slice(digest)),
            Input::Digest(digest) => {
                Err(JobError::Length { what: "digest", expected: alg.len().to_string(), found: digest.len() })
            }
        }
    }

    /// Returns the message of a scheme that names no digest.
    pub(crate) fn message(&self) -> Result<&'a [u8], JobError> {
        match self.input {
            Input::Message(message) => Ok(message),
            Input::Digest(_) => {
                Err(JobError::Unsupported { wanted: format!("{} over a digest", self.scheme) })
            }
        }
    }
}

impl Input<'_> {
    /// Returns the length of the input.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Digest(bytes) => bytes.len(),
        }
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({}, {:?}, {:?})", self.scheme, self.key, self.input)
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(bytes) => write!(f, "Message({} bytes)", bytes.len()),
            Self::Digest(bytes) => write!(f, "Digest({} bytes)", bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{Curve, Fingerprint, KeyHome, KeyKind};

    use super::*;

    #[test]
    fn a_held_job_carries_the_digest_and_not_the_message() {
        let fingerprint = Fingerprint::new([1; 32]);
        let key = Key::held(KeyKind::EcPrivate(Curve::P256), "token", "a", None, fingerprint);
        let scheme = SigningScheme::ECDSA_P256_SHA256_DER;
        let held = Job::sign(scheme, &key, Input::Message(b"abc")).to_held().unwrap();
        assert_eq!(held.input.len(), 32);
        assert_eq!(held.input[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert!(matches!(held.key.home(), KeyHome::Held { .. }));
        let short = Job::sign(scheme, &key, Input::Digest(&[0; 20])).to_held().unwrap_err();
        assert_eq!(short, JobError::Length { what: "digest", expected: "32".into(), found: 20 });
    }

    #[test]
    fn schemes_over_messages_take_no_digest() {
        let key = Key::held(KeyKind::Ed25519Private, "token", "b", None, Fingerprint::new([2; 32]));
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Digest(&[0; 32]));
        assert!(matches!(job.to_held(), Err(JobError::Unsupported { .. })));
    }
}
