//! The properties of a connection that the log shows.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use oarlock_rustls::TlsHandshakeError;
use rustls::{AlertDescription, Error};

use crate::bytes::ConnectionBytes;
use crate::certificate::RecordedHello;
use crate::counters::{EndKind, HandshakeLabels, RefusalReason};

/// The properties of a connection, as far as they are known, and its end.
#[derive(Debug)]
pub(crate) struct ConnectionRecord {
    /// The time at which the connection was accepted, by the clock of the system and by one that never goes back.
    pub(crate) accepted: (SystemTime, Instant),
    /// The time from then on until the handshake was finished, or until the PROXY header was read without TLS.
    pub(crate) handshake: Option<Duration>,
    /// The time until the backend was connected, with its TLS, counted from the end of the handshake.
    pub(crate) connect: Option<Duration>,
    /// The listener that accepted the connection.
    pub(crate) listener: Option<Arc<str>>,
    /// The address of the client, which a trusted PROXY header may have named. None over a UNIX socket.
    pub(crate) client: Option<SocketAddr>,
    /// The address of the load balancer, if its PROXY header named the client.
    pub(crate) balancer: Option<SocketAddr>,
    /// The client's first message, once it has arrived.
    pub(crate) hello: Arc<OnceLock<RecordedHello>>,
    pub(crate) tls: Option<RecordedTls>,
    /// The protocol that was negotiated.
    pub(crate) alpn: Option<Box<[u8]>>,
    /// The first name in the client's certificate, in the notation of `[clients] allowed_names`.
    pub(crate) client_name: Option<Box<str>>,
    /// The route that matched; None for the backend of all other connections.
    pub(crate) route: Option<Arc<str>>,
    /// The name or the address of the backend.
    pub(crate) backend: Option<Arc<str>>,
    /// The address of the backend that was connected, or tried last.
    pub(crate) endpoint: Option<Arc<str>>,
    /// The number of addresses that were tried.
    pub(crate) tries: u32,
    pub(crate) bytes: ConnectionBytes,
    pub(crate) end: RecordedEnd,
    /// The error with which the connection ended.
    pub(crate) error: Option<Box<str>>,
    /// The alert with which the handshake ended.
    pub(crate) alert: Option<RecordedAlert>,
}

/// The properties of a client's TLS connection.
#[derive(Debug)]
pub(crate) struct RecordedTls {
    pub(crate) labels: HandshakeLabels,
    /// The registered name of the cipher suite.
    pub(crate) cipher: Option<Box<str>>,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedEnd {
    /// It was not relayed.
    Refused(RefusalReason),
    /// It was relayed, or cut when the proxy stopped.
    Relayed(EndKind),
}

/// A fatal alert, by the side that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedAlert {
    Sent(AlertDescription),
    Received(AlertDescription),
}

impl ConnectionRecord {
    /// Begins the record of a connection that was accepted now.
    pub(crate) fn new(client: Option<SocketAddr>) -> Self {
        Self {
            accepted: (SystemTime::now(), Instant::now()),
            handshake: None,
            connect: None,
            listener: None,
            client,
            balancer: None,
            hello: Arc::default(),
            tls: None,
            alpn: None,
            client_name: None,
            route: None,
            backend: None,
            endpoint: None,
            tries: 0,
            bytes: ConnectionBytes::default(),
            // A connection that has no other end when its task is dropped was cut.
            end: RecordedEnd::Relayed(EndKind::Drained),
            error: None,
            alert: None,
        }
    }

    /// Notes that the handshake is finished.
    pub(crate) fn finish_handshake(&mut self) {
        self.handshake = Some(self.accepted.1.elapsed());
    }

    /// Notes that the backend is connected.
    pub(crate) fn finish_connect(&mut self) {
        self.connect = self.handshake.map(|before| self.accepted.1.elapsed().saturating_sub(before));
    }

    /// Notes that the connection was refused.
    pub(crate) fn refuse(&mut self, reason: RefusalReason, error: &dyn Display) {
        self.end = RecordedEnd::Refused(reason);
        self.error = Some(error.to_string().into());
    }

    /// Notes how a relayed connection has ended.
    pub(crate) fn finish(&mut self, kind: EndKind, error: Option<&io::Error>) {
        self.end = RecordedEnd::Relayed(kind);
        self.error = error.map(|error| error.to_string().into());
    }

    pub(crate) fn server_name(&self) -> Option<&str> {
        self.hello.get()?.server_name.as_deref()
    }

    pub(crate) fn certificate(&self) -> Option<&Arc<str>> {
        self.hello.get()?.certificate.as_ref()
    }

    /// Returns true if the connection was refused, or did not end by itself.
    pub(crate) fn has_failed(&self) -> bool {
        self.end != RecordedEnd::Relayed(EndKind::Complete)
    }
}

impl RecordedAlert {
    /// Returns the alert of a failed handshake, if its error tells it.
    pub(crate) fn of_handshake(error: &TlsHandshakeError) -> Option<Self> {
        let TlsHandshakeError::Tls(error) = error else { return None };
        Some(Self::Sent(match error {
            Error::AlertReceived(alert) => return Some(Self::Received(*alert)),
            Error::InvalidCertificate(error) => error.clone().into(),
            Error::InvalidMessage(error) => (*error).into(),
            Error::NoCertificatesPresented => AlertDescription::CertificateRequired,
            Error::NoApplicationProtocol => AlertDescription::NoApplicationProtocol,
            Error::DecryptError => AlertDescription::DecryptError,
            Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
                AlertDescription::UnexpectedMessage
            }
            _ => return None,
        }))
    }
}
