//! What operators watch: counters without locks, that only rise unless they say otherwise.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::protocol::ErrorKind;

/// Counters of a server, for a page of metrics to read.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections taken in.
    pub connections: AtomicU64,
    /// Connections now: rises and falls.
    pub open_connections: AtomicU64,
    /// Connections turned away because there were as many as there may be.
    pub refused_connections: AtomicU64,
    /// Connections on which too long nothing came, or nothing was taken.
    pub timed_out_connections: AtomicU64,
    /// Connections that broke: the MTA hung up without QUIT, or the system failed.
    pub lost_connections: AtomicU64,
    /// Connections cut because draining took too long.
    pub cut_connections: AtomicU64,
    /// Connections that a panic of the filter ended.
    pub panics: AtomicU64,
    /// Connections that the filter ended: it did without the MTA, or said what cannot be said.
    pub filter_faults: AtomicU64,
    /// Messages that came to their end, whatever became of them then.
    pub messages: AtomicU64,
    /// Messages that did not: given up by the MTA, or ended by the filter before.
    pub aborted_messages: AtomicU64,
    /// Changes left out because they were not agreed on.
    pub dropped_changes: AtomicU64,
    /// Times that an MTA was asked for patience.
    pub progress: AtomicU64,
    /// Bytes from MTAs.
    pub received_bytes: AtomicU64,
    /// Bytes to MTAs.
    pub sent_bytes: AtomicU64,
    protocol_errors: [AtomicU64; ErrorKind::ALL.len()],
    outcomes: [AtomicU64; Outcome::ALL.len()],
}

/// What became of messages, recipients and connections, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Delivered, and other filters asked.
    Continue,
    /// Delivered without further question.
    Accept,
    /// Refused for good.
    Reject,
    /// Refused for now.
    Tempfail,
    /// Refused with words of the filter's.
    Reply,
    /// Thrown away.
    Discard,
}

impl Outcome {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 6] =
        [Self::Continue, Self::Accept, Self::Reject, Self::Tempfail, Self::Reply, Self::Discard];

    /// As a label of metrics.
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

impl Counters {
    /// Connections ended because the MTA broke the protocol in this way.
    #[must_use]
    pub fn protocol_errors(&self, kind: ErrorKind) -> u64 {
        self.protocol_errors[kind as usize].load(Ordering::Relaxed)
    }

    /// How often this was said: of messages at their end, and before it of messages, recipients and connections where it was final.
    #[must_use]
    pub fn outcomes(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn note_error(&self, kind: ErrorKind) {
        count(&self.protocol_errors[kind as usize], 1);
    }

    pub(crate) fn note(&self, outcome: Outcome) {
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
    fn every_counter_has_its_place() {
        assert!(Outcome::ALL.iter().enumerate().all(|(place, outcome)| *outcome as usize == place));
        assert!(ErrorKind::ALL.iter().enumerate().all(|(place, kind)| *kind as usize == place));
    }
}
