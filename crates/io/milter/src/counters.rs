//! Counters for operators. They are lock-free and only rise, unless their description says otherwise.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::protocol::ProtocolErrorKind;

/// The counters of a server, for a metrics page.
#[derive(Debug, Default)]
pub struct MilterCounters {
    /// The number of accepted connections.
    pub connections: AtomicU64,
    /// The number of open connections. It rises and falls.
    pub open_connections: AtomicU64,
    /// The number of connections that were refused, because the limit was reached or the user is not allowed, or that
    /// were silent and gave way.
    pub refused_connections: AtomicU64,
    /// The number of connections that were closed because the MTA sent or read nothing for too long.
    pub timed_out_connections: AtomicU64,
    /// The number of connections that broke: the MTA closed them without QUIT, or the system failed.
    pub lost_connections: AtomicU64,
    /// The number of connections that were cut at the end of the drain time.
    pub cut_connections: AtomicU64,
    /// The number of connections that ended with a panic of the filter.
    pub panics: AtomicU64,
    /// The number of connections that the filter ended: it declined the MTA, or its answer could not be encoded.
    pub filter_faults: AtomicU64,
    /// The number of messages that reached their end, with any outcome.
    pub messages: AtomicU64,
    /// The number of messages that did not reach their end: aborted by the MTA, or decided early by the filter.
    pub aborted_messages: AtomicU64,
    /// The number of changes that were left out because they were not negotiated.
    pub dropped_changes: AtomicU64,
    /// The number of progress replies to MTAs.
    pub progress: AtomicU64,
    /// The number of bytes from MTAs.
    pub received_bytes: AtomicU64,
    /// The number of bytes to MTAs.
    pub sent_bytes: AtomicU64,
    protocol_errors: [AtomicU64; ProtocolErrorKind::ALL.len()],
    outcomes: [AtomicU64; CountedOutcome::ALL.len()],
}

/// An outcome of a message, a recipient or a connection, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CountedOutcome {
    /// Delivered, after other filters were asked.
    Continue,
    /// Delivered without asking other filters.
    Accept,
    /// Rejected for good.
    Reject,
    /// Rejected for now.
    Tempfail,
    /// Rejected with the filter's own text.
    Reply,
    /// Discarded.
    Discard,
}

impl CountedOutcome {
    /// All outcomes, in the order of their counters.
    pub const ALL: [Self; 6] =
        [Self::Continue, Self::Accept, Self::Reject, Self::Tempfail, Self::Reply, Self::Discard];

    /// Returns the label for metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Tempfail => "tempfail",
            Self::Reply => "reply",
            Self::Discard => "discard",
        }
    }
}

impl MilterCounters {
    /// Returns the number of connections that ended with this kind of protocol error.
    #[must_use]
    pub fn protocol_errors(&self, kind: ProtocolErrorKind) -> u64 {
        self.protocol_errors[kind as usize].load(Ordering::Relaxed)
    }

    /// Returns the number of replies with this outcome: at the end of messages, and earlier if the reply was final.
    #[must_use]
    pub fn outcomes(&self, outcome: CountedOutcome) -> u64 {
        self.outcomes[outcome as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn count_error(&self, kind: ProtocolErrorKind) {
        count(&self.protocol_errors[kind as usize], 1);
    }

    pub(crate) fn count_outcome(&self, outcome: CountedOutcome) {
        count(&self.outcomes[outcome as usize], 1);
    }
}

/// Adds to a counter.
pub fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_own_index() {
        assert!(CountedOutcome::ALL.iter().enumerate().all(|(index, outcome)| *outcome as usize == index));
        assert!(ProtocolErrorKind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
    }
}
