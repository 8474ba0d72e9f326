//! Private keys that sign handshakes, in this process or elsewhere.

use std::fmt;
use std::sync::Arc;

use oarlock::keys::reference::Reference;
use oarlock::keys::{Passphrase, export, held, import};
use oarlock::{Accelerator, Curve, Input, Job, Key, KeyKind, MlDsaSet, SigningScheme};
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, OtherError, SignatureAlgorithm, SignatureScheme};

use crate::TlsKeyError;
use crate::pause::run_jobs;

/// The schemes of RSA keys in the order of preference, which is that of rustls.
const RSA_SCHEMES: [(SignatureScheme, SigningScheme); 6] = [
    (SignatureScheme::RSA_PSS_SHA512, SigningScheme::RSA_PSS_SHA512),
    (SignatureScheme::RSA_PSS_SHA384, SigningScheme::RSA_PSS_SHA384),
    (SignatureScheme::RSA_PSS_SHA256, SigningScheme::RSA_PSS_SHA256),
    (SignatureScheme::RSA_PKCS1_SHA512, SigningScheme::RSA_PKCS1_SHA512),
    (SignatureScheme::RSA_PKCS1_SHA384, SigningScheme::RSA_PKCS1_SHA384),
    (SignatureScheme::RSA_PKCS1_SHA256, SigningScheme::RSA_PKCS1_SHA256),
];
const P256_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ECDSA_NISTP256_SHA256, SigningScheme::ECDSA_P256_SHA256_DER)];
const P384_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ECDSA_NISTP384_SHA384, SigningScheme::ECDSA_P384_SHA384_DER)];
const ED25519_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ED25519, SigningScheme::ED25519)];
/// draft-ietf-tls-mldsa: over the message itself, without a context. rustls uses them in TLS 1.3 only, as no cipher
/// suite of TLS 1.2 names them.
const ML_DSA_44_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ML_DSA_44, SigningScheme::ML_DSA_44)];
const ML_DSA_65_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ML_DSA_65, SigningScheme::ML_DSA_65)];
const ML_DSA_87_SCHEMES: [(SignatureScheme, SigningScheme); 1] =
    [(SignatureScheme::ML_DSA_87, SigningScheme::ML_DSA_87)];

/// The algorithm of ML-DSA keys, which have no number among those of TLS 1.2. rustls gives its own the same.
const ML_DSA: SignatureAlgorithm = SignatureAlgorithm::Unknown(0);

/// The lengths of RSA keys, in bits, that rustls uses.
const RSA_BITS: std::ops::RangeInclusive<u16> = 2_048..=8_192;

/// Returns a key that signs handshakes by jobs of an accelerator.
///
/// The key may be local or held. The jobs of a held key go to its holder, which the accelerator must know
/// ([`AcceleratorBuilder::holder`](oarlock::AcceleratorBuilder::holder)).
///
/// # Errors
/// [`TlsKeyError::Kind`] for a public key, or a key of another kind than RSA, P-256, P-384, Ed25519 or ML-DSA.
///
/// ```
/// let accelerator = oarlock::Accelerator::new()?;
/// let key = oarlock_rustls::signing_key(&accelerator, oarlock::keys::generate::ed25519()?)?;
/// assert!(key.public_key().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn signing_key(accelerator: &Accelerator, key: Key) -> Result<Arc<dyn SigningKey>, TlsKeyError> {
    let (algorithm, schemes): (_, &'static [_]) = match key.kind() {
        KeyKind::RsaPrivate(bits) if RSA_BITS.contains(&bits) => (SignatureAlgorithm::RSA, &RSA_SCHEMES),
        KeyKind::EcPrivate(Curve::P256) => (SignatureAlgorithm::ECDSA, &P256_SCHEMES),
        KeyKind::EcPrivate(Curve::P384) => (SignatureAlgorithm::ECDSA, &P384_SCHEMES),
        KeyKind::Ed25519Private => (SignatureAlgorithm::ED25519, &ED25519_SCHEMES),
        KeyKind::MlDsaPrivate(MlDsaSet::MlDsa44) => (ML_DSA, &ML_DSA_44_SCHEMES),
        KeyKind::MlDsaPrivate(MlDsaSet::MlDsa65) => (ML_DSA, &ML_DSA_65_SCHEMES),
        KeyKind::MlDsaPrivate(MlDsaSet::MlDsa87) => (ML_DSA, &ML_DSA_87_SCHEMES),
        found => return Err(TlsKeyError::Kind { found }),
    };
    // A held key without its public half cannot be compared with its certificate, but it signs.
    let spki = export::spki_der(&key).ok();
    Ok(Arc::new(JobSigningKey { accelerator: accelerator.clone(), key, algorithm, schemes, spki }))
}

/// Returns the key of a file: PEM or DER, with PKCS#8, PKCS#1 or SEC 1, encrypted or not.
///
/// # Errors
/// [`TlsKeyError::Key`] if the file cannot be read, and those of [`signing_key`]. No error quotes the file.
pub fn load_signing_key(
    accelerator: &Accelerator,
    file: &[u8],
    passphrase: Option<&Passphrase>,
) -> Result<Arc<dyn SigningKey>, TlsKeyError> {
    signing_key(accelerator, import::any(file, passphrase)?)
}

/// Returns the key that a file names: a PEM block `OARLOCK KEY REFERENCE`, as the cryptoserver writes it. The key
/// stays at `holder`, a holder of the accelerator.
///
/// # Errors
/// [`TlsKeyError::Key`] if the file is no reference; [`TlsKeyError::NoPublicKey`] if it has no public key, so
/// that the server must be asked for it; and those of [`signing_key`].
pub fn load_key_reference(
    accelerator: &Accelerator,
    file: &[u8],
    holder: &str,
) -> Result<Arc<dyn SigningKey>, TlsKeyError> {
    let reference = Reference::parse_pem(file)?;
    let spki = reference.spki.as_deref().ok_or(TlsKeyError::NoPublicKey)?;
    signing_key(accelerator, held::from_spki(spki, holder, &reference.name)?)
}

/// Loads a key for rustls, which passes DER.
pub(crate) fn signing_key_from_der(
    accelerator: &Accelerator,
    der: &PrivateKeyDer<'_>,
) -> Result<Arc<dyn SigningKey>, TlsKeyError> {
    signing_key(accelerator, import::der(der.secret_der(), None)?)
}

struct JobSigningKey {
    accelerator: Accelerator,
    key: Key,
    algorithm: SignatureAlgorithm,
    schemes: &'static [(SignatureScheme, SigningScheme)],
    /// The public half, a SubjectPublicKeyInfo.
    spki: Option<Vec<u8>>,
}

impl SigningKey for JobSigningKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let (scheme, signing) = *self.schemes.iter().find(|(scheme, _)| offered.contains(scheme))?;
        let (accelerator, key) = (self.accelerator.clone(), self.key.clone());
        Some(Box::new(SchemeSigner { accelerator, key, scheme, signing }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.spki.as_deref().map(SubjectPublicKeyInfoDer::from)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }
}

struct SchemeSigner {
    accelerator: Accelerator,
    key: Key,
    scheme: SignatureScheme,
    signing: SigningScheme,
}

impl Signer for SchemeSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let job = Job::sign(self.signing, &self.key, Input::Message(message));
        let failed = |error| Error::Other(OtherError(Arc::new(error)));
        let answers = run_jobs(&self.accelerator, &[job]).map_err(failed)?;
        Ok(answers.get(0).map_err(failed)?.to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

// By hand: the accelerator's lists its engines.
impl fmt::Debug for JobSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobSigningKey({:?})", self.key)
    }
}

impl fmt::Debug for SchemeSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemeSigner({:?}, {:?})", self.scheme, self.key)
    }
}

#[cfg(test)]
mod tests {
    use oarlock::keys::generate;

    use super::*;

    fn accelerator() -> Accelerator {
        Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()
    }

    #[test]
    fn schemes_follow_the_kind_of_key() {
        let accelerator = accelerator();
        let key = signing_key(&accelerator, generate::rsa(2_048).unwrap()).unwrap();
        let offered =
            [SignatureScheme::ED25519, SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::RSA_PSS_SHA256];
        assert_eq!(key.choose_scheme(&offered).unwrap().scheme(), SignatureScheme::RSA_PSS_SHA256);
        assert!(key.choose_scheme(&offered[..1]).is_none());
        assert_eq!(key.algorithm(), SignatureAlgorithm::RSA);
    }

    #[test]
    fn ml_dsa_keys_sign_with_their_own_scheme() {
        let accelerator = accelerator();
        let all = [SignatureScheme::ML_DSA_87, SignatureScheme::ML_DSA_65, SignatureScheme::ML_DSA_44];
        for (set, scheme) in MlDsaSet::ALL.into_iter().zip(all.into_iter().rev()) {
            let key = generate::ml_dsa(set).unwrap();
            let signing = signing_key(&accelerator, key.clone()).unwrap();
            let signer = signing.choose_scheme(&all).unwrap();
            assert_eq!(signer.scheme(), scheme);
            assert!(
                signing
                    .choose_scheme(&all.into_iter().filter(|s| *s != scheme).collect::<Vec<_>>())
                    .is_none()
            );
            assert_eq!(signing.public_key().unwrap().as_ref(), export::spki_der(&key).unwrap());
            // AWS-LC reads the same key from its seed, and verifies the signature.
            let signature = signer.sign(b"a message").unwrap();
            let algorithms = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
            let (_, algorithm) = algorithms.mapping.iter().find(|(found, _)| *found == scheme).unwrap();
            let (_, public) = key.ml_dsa_public().unwrap();
            algorithm[0].verify_signature(public, b"a message", &signature).unwrap();
            algorithm[0].verify_signature(public, b"A message", &signature).unwrap_err();
        }
    }

    #[test]
    fn keys_that_cannot_sign_are_rejected() {
        let accelerator = accelerator();
        let ml_kem = signing_key(&accelerator, generate::ml_kem(oarlock::MlKemSet::MlKem768).unwrap());
        assert!(matches!(ml_kem, Err(TlsKeyError::Kind { found: KeyKind::MlKemPrivate(_) })));
        let x25519 = signing_key(&accelerator, generate::x25519().unwrap()).unwrap_err();
        assert!(matches!(x25519, TlsKeyError::Kind { found: KeyKind::X25519Private }));
        let private = generate::ed25519().unwrap();
        let public = import::spki_der(&export::spki_der(&private).unwrap()).unwrap();
        assert!(matches!(signing_key(&accelerator, public), Err(TlsKeyError::Kind { .. })));
        let broken = load_signing_key(&accelerator, b"-----BEGIN PRIVATE KEY-----\nAAAA", None).unwrap_err();
        assert!(!broken.to_string().contains("AAAA"), "{broken}");
    }

    #[test]
    fn a_reference_needs_its_public_key() {
        let accelerator = accelerator();
        let spki = export::spki_der(&generate::ed25519().unwrap()).unwrap();
        let mut reference = Reference { name: "web".into(), spki: Some(spki.clone()) };
        let file = reference.to_pem().unwrap();
        let key = load_key_reference(&accelerator, file.as_bytes(), "cryptoserver").unwrap();
        assert_eq!(key.public_key().unwrap().as_ref(), spki);
        reference.spki = None;
        let file = reference.to_pem().unwrap();
        let refused = load_key_reference(&accelerator, file.as_bytes(), "cryptoserver");
        assert!(matches!(refused, Err(TlsKeyError::NoPublicKey)));
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = generate::ed25519().unwrap();
        let shown = format!("{:?}", signing_key(&accelerator(), key.clone()).unwrap());
        assert!(shown.contains(&format!("{key:?}")) && shown.len() < 300, "{shown}");
    }
}
