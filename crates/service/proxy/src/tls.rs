//! The TLS configuration for clients.

use std::sync::Arc;

use oarlock_service_kit::ServiceClock;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ProducesTickets};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};

use crate::certificate::CertificateResolver;
use crate::clients::{ClientNameVerifier, read_client_verifier};
use crate::config::{HandOverRule, ProxyConfig, TlsCipher, TlsSettings, TlsVersion};
use crate::error::ProxyServiceError;
use crate::tickets::{TicketPolicy, rotating_tickets, shared_tickets};

/// Ticket keys that were made at random, and their lifetime. A reload with the same lifetime keeps them.
pub(crate) type RotatingTickets = Option<(u32, Arc<dyn ProducesTickets>)>;

/// Returns a provider with the groups and ciphers of the settings, in their order.
pub(crate) fn with_settings(provider: &CryptoProvider, tls: &TlsSettings) -> Arc<CryptoProvider> {
    let group = |name| provider.kx_groups.iter().copied().find(|group| group.name() == name);
    let kx_groups = tls.groups.iter().filter_map(|wanted| group(wanted.named())).collect();
    let suites = |cipher: &TlsCipher| {
        let cipher = *cipher;
        provider.cipher_suites.iter().copied().filter(move |suite| cipher.is_of(suite.suite()))
    };
    let cipher_suites = tls.ciphers.iter().flat_map(suites).collect();
    Arc::new(CryptoProvider { kx_groups, cipher_suites, ..provider.clone() })
}

/// Reads the authorities and the revocation lists of clients.
pub(crate) fn read_clients(
    config: &ProxyConfig,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<ClientNameVerifier>>, ProxyServiceError> {
    let Some(clients) = &config.clients else { return Ok(None) };
    Ok(Some(Arc::new(read_client_verifier(clients, provider)?)))
}

/// Builds the configuration. It has no tickets: each connection gets its own, by [`TicketPolicy::for_connection`].
pub(crate) fn build_config(
    config: &ProxyConfig,
    provider: Arc<CryptoProvider>,
    certificates: Arc<CertificateResolver>,
    clients: Option<&Arc<ClientNameVerifier>>,
) -> Result<Arc<ServerConfig>, ProxyServiceError> {
    let versions = versions(&config.tls);
    // rustls finds the signature schemes for a certificate by the suites. So those of a version that is off would let it
    // choose an ML-DSA certificate for TLS 1.2.
    let mut provider = CryptoProvider::clone(&provider);
    provider.cipher_suites.retain(|suite| versions.contains(&suite.version()));
    let builder =
        ServerConfig::builder_with_details(Arc::new(provider), Arc::new(certificates.clock.clone()))
            .with_protocol_versions(&versions)?;
    let builder = match clients {
        Some(verifier) => {
            builder.with_client_cert_verifier(Arc::clone(verifier) as Arc<dyn ClientCertVerifier>)
        }
        None => builder.with_no_client_auth(),
    };
    let mut server = builder.with_cert_resolver(certificates);
    server.alpn_protocols = config.tls.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    // Tickets are stateless: a session of any connection is resumed on any thread and any proxy with the same keys.
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.ignore_client_order = true;
    // Early data can be replayed, and a proxy of TCP cannot know whether that is harmless. RFC 8446 8.
    server.max_early_data_size = 0;
    server.send_tls13_tickets = if config.tickets.enabled { config.tickets.count } else { 0 };
    // The kernel gets the keys of long transfers.
    server.enable_secret_extraction = config.kernel.hand_over != HandOverRule::Never;
    Ok(Arc::new(server))
}

/// Returns the tickets of the settings, if clients get any. The keys of `before` stay in use if the settings allow it.
pub(crate) fn build_tickets(
    config: &ProxyConfig,
    clients: Option<&Arc<ClientNameVerifier>>,
    clock: &ServiceClock,
    before: &RotatingTickets,
) -> Result<(Option<Arc<TicketPolicy>>, RotatingTickets), ProxyServiceError> {
    if !config.tickets.enabled {
        return Ok((None, None));
    }
    let lifetime_s = config.tickets.lifetime_seconds;
    let keys = match (&config.tickets.keys, before) {
        (Some(path), _) => shared_tickets(path, lifetime_s)?,
        (None, Some((kept, keys))) if *kept == lifetime_s => Arc::clone(keys),
        (None, _) => rotating_tickets(lifetime_s)?,
    };
    let rotating = config.tickets.keys.is_none().then(|| (lifetime_s, Arc::clone(&keys)));
    let (clients, clock) = (clients.cloned(), clock.clone());
    Ok((Some(Arc::new(TicketPolicy { keys, lifetime_s, clients, clock })), rotating))
}

fn versions(tls: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    let all = [(TlsVersion::Tls12, &TLS12), (TlsVersion::Tls13, &TLS13)];
    let range = tls.min_version..=tls.max_version;
    all.into_iter().filter(|(version, _)| range.contains(version)).map(|(_, version)| version).collect()
}
