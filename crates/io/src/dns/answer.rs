//! What is known about the TXT records of a name.

use super::BadName;

/// The longest that an answer may be kept, in seconds: a day.
pub const MAX_TTL_S: u32 = 86_400;

/// The longest that it may be kept that there is nothing, in seconds: an hour (RFC 2308 5 advises one to three).
pub const MAX_NEGATIVE_TTL_S: u32 = 3_600;

/// What is known about the TXT records of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxtAnswer {
    /// There are some.
    Records(TxtRecords),
    /// There is no such name (NXDOMAIN).
    NoName {
        /// How long this may be kept, in seconds; 0 where the answer did not say.
        ttl_s: u32,
    },
    /// The name has no TXT record.
    NoData {
        /// How long this may be kept, in seconds; 0 where the answer did not say.
        ttl_s: u32,
    },
    /// Nobody could say; another time somebody may.
    TempFail {
        /// Why.
        reason: TempReason,
    },
    /// The caller: this can be no name.
    BadName(BadName),
}

/// The TXT records of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxtRecords {
    /// Each record's strings one after the other, in the order of the answer.
    pub records: Vec<Vec<u8>>,
    /// How long they may be kept, in seconds: the least of all on the way, aliases among them.
    pub ttl_s: u32,
    /// The name server says that it has validated them by DNSSEC (RFC 6840 5.8). Worth as much as the way to that server.
    pub is_authentic: bool,
}

/// Why nobody could say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TempReason {
    /// The peer: no answer in time.
    #[error("no name server answered in time")]
    Timeout,
    /// The peer: the name server failed, or found signatures of DNSSEC that are wrong (SERVFAIL).
    #[error("the name server failed (SERVFAIL)")]
    ServFail,
    /// The peer: the name server does not want to answer (REFUSED).
    #[error("the name server refused (REFUSED)")]
    Refused,
    /// The peer: an answer that is none.
    #[error("the name server's answer is none: {0}")]
    Answer(String),
    /// The machine: no name server can be reached.
    #[error("no name server can be reached: {0}")]
    Network(String),
}
