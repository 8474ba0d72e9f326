//! The provider for rustls.

use std::fmt;
use std::sync::Arc;

use oarlock::Accelerator;
use oarlock::tls_groups::Group;
use rustls::Error;
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, KeyProvider};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;

use crate::exchange::JobKxGroup;
use crate::sign::signing_key_from_der;
use crate::verify;

/// Returns a provider whose public-key operations are jobs of an accelerator.
///
/// | part | computed by |
/// |---|---|
/// | X25519 | the accelerator |
/// | X25519MLKEM768 | the accelerator: X25519 and ML-KEM side by side |
/// | SecP256r1MLKEM768 | the accelerator: ECDH and ML-KEM side by side; AWS-LC draws the key of P-256 |
/// | P-256 and P-384 key exchange | AWS-LC |
/// | verification of ECDSA P-256 and P-384, Ed25519, RSA PKCS#1 and PSS | the accelerator, with its tables of keys that recur |
/// | verification of other signatures | AWS-LC |
/// | signatures of keys that rustls loads | the accelerator; AWS-LC for kinds that it does not have |
/// | cipher suites, hashes, random numbers | AWS-LC |
///
/// The groups and suites are public fields, which the caller may reorder or shorten. Within a handshake of
/// [`TlsAcceptor`](crate::TlsAcceptor), [`TlsConnector`](crate::TlsConnector) or
/// [`Handshakes`](crate::Handshakes), the operations of many handshakes share batches. Elsewhere each call waits for
/// its own result.
///
/// rustls requires some parts to live for ever. A provider therefore keeps some kilobytes and its accelerator until
/// the process ends: make one, and clone it.
///
/// ```
/// use std::sync::Arc;
///
/// let provider = Arc::new(oarlock_rustls::provider(&oarlock::Accelerator::new()?));
/// let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
/// # let _ = builder.with_no_client_auth();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn provider(accelerator: &Accelerator) -> CryptoProvider {
    let base = default_provider();
    let group = |group| -> &'static JobKxGroup {
        Box::leak(Box::new(JobKxGroup { accelerator: accelerator.clone(), group }))
    };
    CryptoProvider {
        kx_groups: vec![
            group(Group::X25519MlKem768),
            group(Group::SecP256r1MlKem768),
            group(Group::X25519),
            kx_group::SECP256R1,
            kx_group::SECP384R1,
        ],
        signature_verification_algorithms: verify::accelerated(
            accelerator,
            base.signature_verification_algorithms,
        ),
        key_provider: Box::leak(Box::new(JobKeyProvider(accelerator.clone(), base.key_provider))),
        ..base
    }
}

/// Loads private keys for an accelerator, or else for AWS-LC.
struct JobKeyProvider(Accelerator, &'static dyn KeyProvider);

impl KeyProvider for JobKeyProvider {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        match signing_key_from_der(&self.0, &der) {
            Ok(key) => Ok(key),
            // Such as P-521. Its error is also the right one for a file that nobody can read.
            Err(_) => self.1.load_private_key(der),
        }
    }
}

impl fmt::Debug for JobKeyProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKeyProvider")
    }
}
