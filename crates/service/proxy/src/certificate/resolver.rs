//! The choice of a certificate at each handshake.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oarlock_network::{HostName, LogLimit};
use oarlock_service_kit::ServiceClock;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tracing::warn;

use super::CertificateTable;

/// Limits the log lines about handshakes without a valid certificate: each client causes one.
static INVALID: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Chooses the certificates of handshakes by the names, the signature schemes and the clock.
#[derive(Debug)]
pub(crate) struct CertificateResolver {
    pub(crate) table: Arc<CertificateTable>,
    pub(crate) clock: ServiceClock,
    /// The number of handshakes for which no certificate was valid.
    pub(crate) without_valid: Arc<AtomicU64>,
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().map(HostName::new);
        // The time is asked here, so that a certificate which begins or ends changes the choice without a reload.
        let now_s = self.clock.signed_now_s();
        let entry = self.table.find(name.as_ref(), hello.signature_schemes(), now_s)?;
        if !entry.validity.contains(now_s) {
            self.without_valid.fetch_add(1, Ordering::Relaxed);
            if let Some(suppressed) = INVALID.admit() {
                let file = entry.files.chain().display();
                warn!(%file, suppressed, "no certificate that fits a client is valid now: this one was sent");
            }
        }
        Some(Arc::clone(&entry.key))
    }
}
