//! The verifier of a cryptoserver's certificate.

use std::sync::Arc;

use oarlock_sockets::{BoundedVerifier, ChainLimit};
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use crate::Credentials;

/// Returns the verifier for servers of `server_ca`. A hostile server's long chain ends at its limit, not after seconds.
///
/// # Errors
/// The text says why the authorities cannot be used. It quotes no bytes of the file.
pub(crate) fn server_verifier(credentials: &Credentials) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let authorities: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&credentials.server_ca).collect();
    // The parser's own text may show lines of the file.
    let authorities = authorities.map_err(|_| "the server's authorities are not valid PEM".to_owned())?;
    let mut roots = RootCertStore::empty();
    // Bundles have old certificates that rustls cannot read. They are authorities of nobody then.
    roots.add_parsable_certificates(authorities);
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| format!("the server's authorities: {error}"))?;
    Ok(Arc::new(BoundedVerifier::new(verifier, ChainLimit::default())))
}
