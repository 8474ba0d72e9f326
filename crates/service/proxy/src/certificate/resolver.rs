//! The choice of a certificate at each handshake.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oarlock_network::{HostName, LogLimit};
use oarlock_service_kit::ServiceClock;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{NamedGroup, SignatureScheme};
use smallvec::SmallVec;
use tracing::warn;

use super::{CertificateEntry, CertificateTable};

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

/// The client's first message, and the choice that it led to.
#[derive(Debug, Default)]
pub(crate) struct RecordedHello {
    /// The host name that the client asked for.
    pub(crate) server_name: Option<Box<str>>,
    /// The file of the certificate that was chosen. A resumed session does not send it.
    pub(crate) certificate: Option<Arc<str>>,
}

/// The choice for one connection, and its record.
#[derive(Debug)]
pub(crate) struct RecordedResolver {
    pub(crate) certificates: Arc<CertificateResolver>,
    pub(crate) hello: Arc<OnceLock<RecordedHello>>,
}

impl CertificateResolver {
    fn choose(&self, hello: &ClientHello<'_>) -> Option<&Arc<CertificateEntry>> {
        let name = hello.server_name().map(HostName::new);
        // The time is asked here, so that a certificate which begins or ends changes the choice without a reload.
        let now_s = self.clock.signed_now_s();
        let schemes = usable_schemes(hello);
        let entry = self.table.find(name.as_ref(), &schemes, now_s)?;
        if !entry.validity.contains(now_s) {
            self.without_valid.fetch_add(1, Ordering::Relaxed);
            if let Some(suppressed) = INVALID.admit() {
                let file = entry.files.chain().display();
                warn!(%file, suppressed, "no certificate that fits a client is valid now: this one was sent");
            }
        }
        Some(entry)
    }
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.choose(&hello).map(|entry| entry.key_at(self.clock.signed_now_s()))
    }
}

impl ResolvesServerCert for RecordedResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let entry = self.certificates.choose(&hello);
        let server_name = hello.server_name().map(|name| String::from(HostName::new(name)).into());
        let certificate = entry.map(|entry| Arc::clone(&entry.label));
        // A second ClientHello after a retry asks for the same name.
        let _ = self.hello.set(RecordedHello { server_name, certificate });
        entry.map(|entry| entry.key_at(self.certificates.clock.signed_now_s()))
    }
}

/// Returns the schemes of a client without those of ML-DSA if it may speak TLS 1.2.
///
/// ML-DSA is for TLS 1.3, and rustls shows no versions here. A client of TLS 1.2 may list its suites and schemes of
/// TLS 1.3 nevertheless, as rustls does, but no groups of ML-KEM: they are for TLS 1.3 too.
fn usable_schemes(hello: &ClientHello<'_>) -> SmallVec<[SignatureScheme; 24]> {
    let has_ml_kem = hello.named_groups().unwrap_or_default().iter().any(|group| is_ml_kem(*group));
    let schemes = hello.signature_schemes().iter().copied();
    schemes.filter(|scheme| has_ml_kem || !is_ml_dsa(*scheme)).collect()
}

fn is_ml_dsa(scheme: SignatureScheme) -> bool {
    matches!(scheme, SignatureScheme::ML_DSA_44 | SignatureScheme::ML_DSA_65 | SignatureScheme::ML_DSA_87)
}

/// True for a group of ML-KEM, hybrid or not. RFC 10024, draft-ietf-tls-mlkem.
fn is_ml_kem(group: NamedGroup) -> bool {
    // The last one is SecP384r1MLKEM1024, which rustls has no name for.
    matches!(
        group,
        NamedGroup::X25519MLKEM768
            | NamedGroup::secp256r1MLKEM768
            | NamedGroup::MLKEM512
            | NamedGroup::MLKEM768
            | NamedGroup::MLKEM1024
            | NamedGroup::Unknown(0x11ed)
    )
}
