//! rustls on Oarlock: a provider, private keys held anywhere, and handshakes whose operations share batches.
//!
//! rustls asks for each signature, key agreement and verification by a call that must return the result, so a server
//! would compute them one by one. A [`TlsAcceptor`] runs rustls on a small stack of its own. When rustls asks for an
//! operation, the handshake pauses and other handshakes go on. The operations of all of them are computed side by
//! side.
//!
//! | item | purpose |
//! |---|---|
//! | [`provider`] | a [`CryptoProvider`](rustls::crypto::CryptoProvider) for any configuration |
//! | [`signing_key`], [`load_signing_key`], [`load_key_reference`] | private keys in this process or at a cryptoserver |
//! | [`TlsAcceptor`], [`TlsConnector`] | handshakes on the current thread, for current-thread runtimes |
//! | [`Handshakes`] | handshakes on threads of their own, for runtimes that move tasks between threads |
//! | [`BoundedVerifier`] | a limit of the chains that a verifier of clients or servers takes |
//!
//! The streams are those of tokio-rustls. So axum, hyper and tonic take them unchanged; the crate has an example for
//! axum and one for tonic.
//!
//! # Certificates of peers
//!
//! A configuration that verifies certificates of clients, or of servers that may be hostile, needs a
//! [`BoundedVerifier`]: without it a chain of 50 KiB keeps a thread busy for seconds, and nobody has to sign it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use oarlock_rustls::{BoundedVerifier, ChainLimit};
//! use rustls::server::WebPkiClientVerifier;
//!
//! # fn bounded(
//! #     roots: rustls::RootCertStore,
//! #     provider: Arc<rustls::crypto::CryptoProvider>,
//! # ) -> Result<rustls::ServerConfig, Box<dyn std::error::Error>> {
//! let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider)).build()?;
//! let bounded = BoundedVerifier::new(clients, ChainLimit::default());
//! let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
//! let builder = builder.with_client_cert_verifier(Arc::new(bounded));
//! # Ok(builder.with_cert_resolver(Arc::new(rustls::server::ResolvesServerCertUsingSni::new())))
//! # }
//! ```
//!
//! rustls verifies a chain in full handshakes only. A resumed connection has the chain of its first handshake, whose
//! certificates may have ended since, and tickets pass from session to session without an end. An application that
//! trusts certificates of clients turns resumption off (`send_tls13_tickets = 0` and
//! [`NoServerSessionStorage`](rustls::server::NoServerSessionStorage)), or verifies
//! [`peer_certificates`](rustls::CommonState::peer_certificates) again if
//! [`handshake_kind`](rustls::CommonState::handshake_kind) is `Resumed`.
//!
//! # Callbacks
//!
//! Callbacks of a configuration, such as a certificate resolver or verifier, run on the handshake's stack of 256 KiB.
//! They must not keep a lock or a borrow of a thread-local value while they call the provider. A callback that panics
//! ends its handshake with [`TlsHandshakeError::Panicked`].
#![deny(unsafe_code)]

mod acceptor;
mod connector;
mod error;
mod exchange;
mod gather;
mod handshake;
mod limits;
#[allow(unsafe_code)]
mod pause;
mod provider;
mod sign;
mod threads;
mod verify;

pub use acceptor::TlsAcceptor;
pub use connector::TlsConnector;
pub use error::{TlsHandshakeError, TlsKeyError};
pub use limits::HandshakeLimits;
pub use oarlock_sockets::{BoundedVerifier, ChainError, ChainLimit};
pub use provider::provider;
pub use sign::{load_key_reference, load_signing_key, signing_key};
pub use threads::Handshakes;
