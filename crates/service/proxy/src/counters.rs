//! The counters of the proxy for operators.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::{AlertDescription, CommonState, Error, HandshakeKind, ProtocolVersion};

use oarlock_rustls::TlsHandshakeError;
use oarlock_service_kit::metrics::read_counter as read;

use crate::admission::ExceededLimit;
use crate::bytes::RelayedBytes;
use crate::kernel::UserReason;

/// The reason why a connection was refused before its first byte reached a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The maximum number of connections is open.
    MaxConnections,
    /// The address of the client has the maximum number of connections.
    MaxConnectionsPerAddress,
    /// The connection gave way to a newer one, or too many handshakes are open.
    Busy,
    /// The PROXY header or the handshake took too long.
    Timeout,
    /// The client left during its PROXY header or its handshake.
    Left,
    /// The PROXY header is not valid.
    Header,
    /// The client asked for a name without a certificate.
    UnknownName,
    /// The client's certificate is missing, not valid or not allowed.
    ClientCertificate,
    /// The client and the proxy have no version, suite, group or application protocol in common.
    Incompatible,
    /// The client broke the protocol or sent an alert.
    Protocol,
    /// A key of the proxy could not sign, or another fault of the machine.
    Machine,
    /// No route and no default backend fits.
    NoRoute,
    /// The backend could not be reached.
    Backend,
}

impl RefusalReason {
    /// All reasons.
    pub const ALL: [Self; 13] = [
        Self::MaxConnections,
        Self::MaxConnectionsPerAddress,
        Self::Busy,
        Self::Timeout,
        Self::Left,
        Self::Header,
        Self::UnknownName,
        Self::ClientCertificate,
        Self::Incompatible,
        Self::Protocol,
        Self::Machine,
        Self::NoRoute,
        Self::Backend,
    ];

    /// Returns the name of the reason in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxConnections => "max_connections",
            Self::MaxConnectionsPerAddress => "max_connections_per_address",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Left => "left",
            Self::Header => "proxy_header",
            Self::UnknownName => "unknown_name",
            Self::ClientCertificate => "client_certificate",
            Self::Incompatible => "incompatible",
            Self::Protocol => "protocol",
            Self::Machine => "machine",
            Self::NoRoute => "no_route",
            Self::Backend => "backend",
        }
    }

    /// Returns the reason of a failed handshake with a client.
    pub(crate) fn of_handshake(error: &TlsHandshakeError) -> Self {
        match error {
            TlsHandshakeError::Tls(error) => Self::of_tls(error),
            // rustls reports a message that is too long as a buffer that is full.
            TlsHandshakeError::Io(error) if error.kind() == io::ErrorKind::Other => Self::Protocol,
            TlsHandshakeError::Io(_) => Self::Left,
            TlsHandshakeError::Timeout { .. } => Self::Timeout,
            TlsHandshakeError::Busy { .. } => Self::Busy,
            _ => Self::Machine,
        }
    }

    fn of_tls(error: &Error) -> Self {
        match error {
            Error::NoCertificatesPresented
            | Error::InvalidCertificate(_)
            | Error::InvalidCertRevocationList(_)
            | Error::AlertReceived(AlertDescription::CertificateRequired) => Self::ClientCertificate,
            Error::NoApplicationProtocol | Error::PeerIncompatible(_) => Self::Incompatible,
            // rustls has no other error for a resolver without a certificate.
            Error::General(text) if text.contains("no server certificate") => Self::UnknownName,
            Error::General(_) | Error::Other(_) | Error::FailedToGetRandomBytes => Self::Machine,
            _ => Self::Protocol,
        }
    }
}

impl From<ExceededLimit> for RefusalReason {
    fn from(limit: ExceededLimit) -> Self {
        match limit {
            ExceededLimit::All => Self::MaxConnections,
            ExceededLimit::Address => Self::MaxConnectionsPerAddress,
        }
    }
}

/// The way in which a connection ended after it was relayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndKind {
    Complete,
    Idle,
    Client,
    Backend,
    /// A certificate of a peer ended.
    Certificate,
    /// The proxy stopped.
    Drained,
}

impl EndKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Complete, Self::Idle, Self::Client, Self::Backend, Self::Certificate, Self::Drained];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Idle => "idle",
            Self::Client => "client",
            Self::Backend => "backend",
            Self::Certificate => "certificate",
            Self::Drained => "drained",
        }
    }
}

/// The properties of a finished handshake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HandshakeLabels {
    pub(crate) version: &'static str,
    pub(crate) group: String,
    pub(crate) is_resumed: bool,
}

impl HandshakeLabels {
    pub(crate) fn new(connection: &CommonState) -> Self {
        let group = connection.negotiated_key_exchange_group();
        Self {
            version: version_name(connection.protocol_version()),
            // A resumed session of TLS 1.2 has no group.
            group: group.map_or_else(|| "none".to_owned(), |group| format!("{:?}", group.name())),
            is_resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }
}

/// Returns the name of a version, as OpenSSL writes it.
pub(crate) fn version_name(version: Option<ProtocolVersion>) -> &'static str {
    match version {
        Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
        _ => "unknown",
    }
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct ProxyCounters {
    /// Connections, by the route that they took.
    pub(crate) routes: LabelledCounter,
    /// Finished handshakes, by the file of the certificate.
    pub(crate) certificates: LabelledCounter,
    /// Accepted connections.
    pub(crate) connections: AtomicU64,
    /// Connections handed to a less loaded thread.
    pub(crate) handed_on: AtomicU64,
    pub(crate) bytes: RelayedBytes,
    /// Connections handed to the kernel.
    pub(crate) handed_over: AtomicU64,
    long_transfers: [AtomicU64; UserReason::ALL.len()],
    /// Handshakes for which no certificate was valid.
    pub(crate) without_valid_certificate: Arc<AtomicU64>,
    pub(crate) reloads: AtomicU64,
    pub(crate) refused_reloads: AtomicU64,
    refused: [AtomicU64; RefusalReason::ALL.len()],
    ended: [AtomicU64; EndKind::ALL.len()],
    handshakes: Mutex<BTreeMap<HandshakeLabels, u64>>,
}

impl ProxyCounters {
    /// Makes counters, of which one is counted elsewhere.
    pub(crate) fn new(without_valid_certificate: Arc<AtomicU64>) -> Self {
        Self { without_valid_certificate, ..Self::default() }
    }

    pub(crate) fn refuse(&self, reason: RefusalReason) {
        count(&self.refused[reason as usize]);
    }

    pub(crate) fn end(&self, kind: EndKind) {
        count(&self.ended[kind as usize]);
    }

    /// Counts a long transfer that stays in user space.
    pub(crate) fn long_transfer(&self, reason: UserReason) {
        count(&self.long_transfers[reason as usize]);
    }

    pub(crate) fn long_transfers(&self) -> impl Iterator<Item = (UserReason, u64)> {
        UserReason::ALL.into_iter().zip(self.long_transfers.iter().map(read))
    }

    pub(crate) fn handshake(&self, labels: HandshakeLabels) {
        *self.handshakes.lock().unwrap_or_else(PoisonError::into_inner).entry(labels).or_insert(0) += 1;
    }

    pub(crate) fn handshakes(&self) -> BTreeMap<HandshakeLabels, u64> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn refused(&self) -> impl Iterator<Item = (RefusalReason, u64)> {
        RefusalReason::ALL.into_iter().zip(self.refused.iter().map(read))
    }

    pub(crate) fn ended(&self) -> impl Iterator<Item = (EndKind, u64)> {
        EndKind::ALL.into_iter().zip(self.ended.iter().map(read))
    }
}

/// A counter for each value of a label, of which it keeps a bounded number.
#[derive(Debug, Default)]
pub(crate) struct LabelledCounter(Mutex<LabelledCounts>);

#[derive(Debug, Default)]
struct LabelledCounts {
    by_value: BTreeMap<Arc<str>, u64>,
    /// The count of all values beyond the maximum.
    others: u64,
}

/// The maximum number of values of a label.
const MAX_LABEL_VALUES: usize = 1_000;

/// The value that stands for those beyond the maximum.
const OTHER_VALUES: &str = "others";

impl LabelledCounter {
    /// Adds one to the count of a value.
    pub(crate) fn count(&self, value: &Arc<str>) {
        let counts = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.by_value.get_mut(value) {
            *count += 1;
        } else if counts.by_value.len() < MAX_LABEL_VALUES {
            counts.by_value.insert(Arc::clone(value), 1);
        } else {
            counts.others += 1;
        }
    }

    /// Forgets the values that the settings do not have any more, so that new ones find space.
    pub(crate) fn retain(&self, is_used: impl Fn(&str) -> bool) {
        let counts = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.by_value.retain(|value, _| is_used(value));
    }

    /// Returns the counts.
    pub(crate) fn counts(&self) -> Vec<(Arc<str>, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others = (counts.others > 0).then(|| (Arc::from(OTHER_VALUES), counts.others));
        let by_value = counts.by_value.iter().map(|(value, count)| (Arc::clone(value), *count));
        by_value.chain(others).collect()
    }
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_bounded_number_of_values_and_forgets_those_that_are_not_used() {
        let counter = LabelledCounter::default();
        let value = |number: usize| Arc::<str>::from(number.to_string());
        (0..MAX_LABEL_VALUES + 10).for_each(|number| counter.count(&value(number)));
        counter.count(&value(0));
        let counts = counter.counts();
        assert_eq!(counts.len(), MAX_LABEL_VALUES + 1);
        assert_eq!(counts.first(), Some(&(value(0), 2)));
        assert_eq!(counts.last(), Some(&(OTHER_VALUES.into(), 10)));
        counter.retain(|value| value == "7");
        counter.count(&value(MAX_LABEL_VALUES));
        let expected = [(value(MAX_LABEL_VALUES), 1), (value(7), 1), (OTHER_VALUES.into(), 10)];
        assert_eq!(counter.counts(), expected);
    }

    #[test]
    fn the_lists_are_in_the_order_of_the_counters() {
        for (at, reason) in RefusalReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
        }
        for (at, reason) in UserReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
        }
        for (at, kind) in EndKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
    }
}
