//! Answers to questions for TXT records.

use oarlock_dkim::KeyProtection;
use oarlock_network::BadName;

/// The maximum lifetime of an answer in seconds: a day.
pub(crate) const MAX_TTL_S: u32 = 86_400;

/// The maximum lifetime of a negative answer in seconds: an hour (RFC 2308 section 5 recommends one to three).
pub(crate) const MAX_NEGATIVE_TTL_S: u32 = 3_600;

/// An answer to a question for the TXT records of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxtAnswer {
    /// The name has TXT records.
    Records(TxtRecords),
    /// The name does not exist (NXDOMAIN).
    NoName {
        /// The lifetime of the answer in seconds; 0 if the answer did not state it.
        ttl_s: u32,
    },
    /// The name has no TXT record.
    NoData {
        /// The lifetime of the answer in seconds; 0 if the answer did not state it.
        ttl_s: u32,
    },
    /// There is no answer now. A later question may succeed.
    TempFail {
        /// The reason of the failure.
        reason: TempReason,
    },
    /// The caller is at fault: the name is malformed.
    BadName(BadName),
}

/// The TXT records of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxtRecords {
    /// The records in the order of the answer, the strings of each joined.
    pub records: Vec<Vec<u8>>,
    /// The lifetime in seconds: the minimum of all records, aliases included.
    pub ttl_s: u32,
    /// The protection by DNSSEC, as stated by a name server that the caller trusts (RFC 6840 5.8).
    pub protection: KeyProtection,
}

/// The reason of a temporary failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TempReason {
    /// The name server did not answer in time.
    #[error("no name server answered in time")]
    Timeout,
    /// The name server failed, or found bad DNSSEC signatures (SERVFAIL).
    #[error("the name server failed (SERVFAIL)")]
    ServFail,
    /// The name server refused to answer (REFUSED).
    #[error("the name server refused (REFUSED)")]
    Refused,
    /// The answer of the name server is malformed.
    #[error("the name server's answer is malformed: {0}")]
    Answer(String),
    /// No name server can be reached.
    #[error("no name server can be reached: {0}")]
    Network(String),
}
