//! Jobs: a scheme, a key and its inputs, borrowed or owned.

use std::fmt;

use zeroize::Zeroizing;

use crate::{DigestAlg, JobError, Key, KeyKind, MlKemSet, Scheme, SigningScheme, VerifyingScheme};

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
    /// The message or digest to sign or verify, the ciphertext, or the key of the peer. Empty for an encapsulation.
    pub input: Input<'a>,
    /// The signature to verify or the OAEP label, else empty.
    pub second: &'a [u8],
    /// The context of an ML-DSA, SLH-DSA or composite signature, at most 255 bytes, else empty. FIPS 204 5.2, FIPS 205
    /// section 10.2.
    pub context: &'a [u8],
}

/// The main input of a [`Job`].
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// A whole message, which is hashed if the scheme names a digest. For other schemes: an Ed25519 message, an RSA
    /// ciphertext or a peer's public key for X25519 or ECDH.
    Message(&'a [u8]),
    /// The digest of a message, as long as the scheme's digest, for schemes that name one. The mu of
    /// [`MlDsaVariant::ExternalMu`](crate::MlDsaVariant::ExternalMu) counts as a digest.
    Digest(&'a [u8]),
}

/// A [`Job`] with inputs of its own.
#[derive(Clone)]
pub struct OwnedJob {
    /// The padding, the encoding and the nonce rule.
    pub scheme: Scheme,
    /// The private key to sign with, or the public key of the signer.
    pub key: Key,
    input: Zeroizing<Vec<u8>>,
    is_digest: bool,
    second: Vec<u8>,
    context: Vec<u8>,
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
        Self { scheme, key, input, second, context: &[] }
    }

    /// Sets the context of an ML-DSA, SLH-DSA or composite signature.
    #[must_use]
    pub fn context(self, context: &'a [u8]) -> Self {
        Self { context, ..self }
    }

    /// Decrypts with PKCS#1 v1.5. The answer never shows whether the padding was good. RFC 8017 7.2.2.
    #[must_use]
    pub fn decrypt_pkcs1(key: &'a Key, ciphertext: &'a [u8]) -> Self {
        Self::with_scheme(Scheme::RsaPkcs1Decrypt, key, Input::Message(ciphertext), &[])
    }

    /// Decrypts with OAEP, with one digest for the label and the mask generation. RFC 8017 7.1.2.
    #[must_use]
    pub fn decrypt_oaep(digest: DigestAlg, key: &'a Key, ciphertext: &'a [u8], label: &'a [u8]) -> Self {
        let scheme = Scheme::RsaOaepDecrypt { digest, mgf: digest };
        Self::with_scheme(scheme, key, Input::Message(ciphertext), label)
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
        Self::with_scheme(scheme, key, Input::Message(peer), &[])
    }

    /// Computes the encapsulation key of an ML-KEM private key that holds its seed, such as an ephemeral key without
    /// its public half. FIPS 203 algorithm 16.
    #[must_use]
    pub fn encapsulation_key(key: &'a Key) -> Self {
        Self::with_scheme(Scheme::MlKemKeygen { set: ml_kem_set(key) }, key, Input::Message(&[]), &[])
    }

    /// Encapsulates a new secret for the holder of the private half of `key`. The answer is the ciphertext, and behind
    /// it the secret of 32 bytes. FIPS 203 algorithm 20.
    #[must_use]
    pub fn encapsulate(key: &'a Key) -> Self {
        Self::with_scheme(Scheme::MlKemEncaps { set: ml_kem_set(key) }, key, Input::Message(&[]), &[])
    }

    /// Decapsulates a secret of 32 bytes. The answer never shows whether the ciphertext was made for `key`. FIPS 203
    /// algorithm 21.
    #[must_use]
    pub fn decapsulate(key: &'a Key, ciphertext: &'a [u8]) -> Self {
        let scheme = Scheme::MlKemDecaps { set: ml_kem_set(key) };
        Self::with_scheme(scheme, key, Input::Message(ciphertext), &[])
    }

    /// Returns the message of a scheme that names no digest.
    ///
    /// # Errors
    /// [`JobError::Unsupported`] if the input is a digest.
    pub fn message(&self) -> Result<&'a [u8], JobError> {
        match self.input {
            Input::Message(message) => Ok(message),
            Input::Digest(_) => {
                Err(JobError::Unsupported { wanted: format!("{} over a digest", self.scheme) })
            }
        }
    }
}

/// Returns the parameter set of an ML-KEM key. A key of another kind gets any set, and its job the error that the key
/// is of the wrong kind.
fn ml_kem_set(key: &Key) -> MlKemSet {
    match key.kind() {
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => set,
        _ => MlKemSet::MlKem768,
    }
}

impl<'a> Input<'a> {
    /// Returns the bytes of the message or digest.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Message(bytes) | Self::Digest(bytes) => bytes,
        }
    }

    /// True if the input is a digest.
    #[must_use]
    pub fn is_digest(&self) -> bool {
        matches!(self, Self::Digest(_))
    }

    /// Returns the length of the input.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl OwnedJob {
    /// Returns the job as a borrowed one.
    #[must_use]
    pub fn as_job(&self) -> Job<'_> {
        let input = if self.is_digest { Input::Digest(&self.input) } else { Input::Message(&self.input) };
        Job::with_scheme(self.scheme, &self.key, input, &self.second).context(&self.context)
    }
}

impl From<Job<'_>> for OwnedJob {
    fn from(job: Job<'_>) -> Self {
        let (input, is_digest) = (job.input.bytes().to_vec().into(), job.input.is_digest());
        let (second, context) = (job.second.to_vec(), job.context.to_vec());
        Self { scheme: job.scheme, key: job.key.clone(), input, is_digest, second, context }
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({}, {:?}, {:?})", self.scheme, self.key, self.input)
    }
}

impl fmt::Debug for OwnedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_job().fmt(f)
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
