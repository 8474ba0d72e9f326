//! Errors of one job, and the party at fault.

use std::fmt;

use crate::{DigestAlg, KeyKind, Shape, Status};

/// The party that has to act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// The caller asked for something that cannot be done.
    Caller,
    /// A peer sent data that does not verify.
    Peer,
    /// This machine, one of its engines or a holder failed.
    Machine,
}

/// The reason why one job has no result. It concerns this job alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum JobError {
    /// A length does not fit the shape.
    #[error("the {what} has {found} bytes, expected {expected}")]
    Length {
        /// The name of the field.
        what: &'static str,
        /// The lengths that fit.
        expected: String,
        /// The length that was given.
        found: usize,
    },
    /// The scheme does not take the digest.
    #[error("the {what} is {found}, expected {}", DigestNames(expected))]
    Digest {
        /// The name of the field.
        what: &'static str,
        /// The digests that the scheme takes.
        expected: &'static [DigestAlg],
        /// The digest that was given.
        found: DigestAlg,
    },
    /// The key is of another kind than the job needs.
    #[error("wrong key type: {wanted} cannot use a key of kind {found:?}")]
    KeyType {
        /// The shape or scheme.
        wanted: String,
        /// The kind of the key that was given.
        found: KeyKind,
    },
    /// The key has the right kind, but its parts do not belong together, so no result under it is right.
    #[error("the key cannot be used for {shape}: its parts do not belong together")]
    UnusableKey { shape: Shape },
    /// An integer is out of its range, such as an RSA input not below the modulus.
    #[error("the {what} is out of range")]
    OutOfRange {
        /// The name of the value.
        what: &'static str,
    },
    /// No engine or holder offers the operation.
    #[error("{wanted} is not available: no engine and no holder offers it")]
    Unsupported {
        /// The shape or scheme.
        wanted: String,
    },
    /// A record names a key, span or slot that does not exist, or a call has more than a batch can hold.
    #[error("invalid input: {what}")]
    Malformed {
        /// The flaw.
        what: &'static str,
    },
    /// The answer is no: a signature, a tag or a wrap does not verify.
    #[error("{}", Status::Rejected)]
    Rejected,
    /// A key agreement gave all zeros: the peer's public key is of small order. RFC 7748 6.1.
    #[error("the peer's public key is of small order")]
    SmallOrderPeer,
    /// The peer's public key of a key agreement is not an uncompressed point on the curve. NIST SP 800-56A 5.6.2.3.
    #[error("the peer's public key is not an uncompressed point on the curve of the key")]
    PeerNotOnCurve,
    /// The key table refuses the record: its key does not exist, or its policy does not allow this.
    #[error("the key table refuses the record: {reason}")]
    Refused { reason: Status },
    /// The unwrapped key does not match its check value.
    #[error("{}", Status::BadCheckValue)]
    BadCheckValue,
    /// No IV could be made: the counter is exhausted or cannot be stored, or random bytes are missing.
    #[error("{}", Status::NoIv)]
    NoIv,
    /// The record whose secret slot this one needs has failed.
    #[error("{}", Status::DependencyFailed)]
    DependencyFailed,
    /// The queue is full. Try again later, or on another machine.
    #[error("overloaded: {queued} operations are queued, and the maximum is {bound}; try again later")]
    Overloaded {
        /// The number of operations in the tenant's queue.
        queued: usize,
        /// The largest number allowed there.
        bound: usize,
    },
    /// The deadline passed before there was a result.
    #[error("the deadline passed before there was a result")]
    DeadlineExceeded,
    /// The job was cancelled.
    #[error("the job was cancelled")]
    Cancelled,
    /// The job was submitted before a fork and belongs to the parent process.
    #[error("the job was submitted before a fork, and its result belongs to the parent process")]
    Forked,
    /// Every engine that offers the shape has failed.
    #[error("no engine could compute {shape}: {reason}")]
    EngineFailed {
        shape: Shape,
        /// The last fault.
        reason: String,
    },
    /// The holder of the key failed or went away.
    #[error("holder {holder} failed: {reason}")]
    HolderFailed {
        /// The holder's name.
        holder: String,
        /// The holder's explanation.
        reason: String,
    },
    /// The holder of the key does not do the job.
    #[error("holder {holder} refused: {reason}")]
    HolderRefused {
        /// The holder's name.
        holder: String,
        /// The holder's explanation.
        reason: String,
    },
    /// The operating system gave no worker threads.
    #[error("the operating system starts no worker threads: {reason}")]
    NoThreads {
        /// The error of the operating system.
        reason: String,
    },
    /// The dispatcher has shut down.
    #[error("the dispatcher has shut down")]
    ShutDown,
}

/// Names of digests in a sentence: `sha1, sha224 or sha256`.
struct DigestNames<'a>(&'a [DigestAlg]);

impl fmt::Display for DigestNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, digest) in self.0.iter().enumerate() {
            let before = match index {
                0 => "",
                index if index + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{before}{digest}")?;
        }
        Ok(())
    }
}

impl JobError {
    /// Returns the party at fault.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Length { .. }
            | Self::Digest { .. }
            | Self::KeyType { .. }
            | Self::UnusableKey { .. }
            | Self::OutOfRange { .. }
            | Self::Unsupported { .. }
            | Self::Malformed { .. }
            | Self::Refused { .. }
            | Self::HolderRefused { .. }
            | Self::Cancelled
            | Self::Forked => Blame::Caller,
            Self::Rejected
            | Self::SmallOrderPeer
            | Self::PeerNotOnCurve
            | Self::BadCheckValue
            | Self::DependencyFailed => Blame::Peer,
            Self::NoIv
            | Self::Overloaded { .. }
            | Self::DeadlineExceeded
            | Self::EngineFailed { .. }
            | Self::HolderFailed { .. }
            | Self::NoThreads { .. }
            | Self::ShutDown => Blame::Machine,
        }
    }
}

impl Status {
    /// Returns the error of a job with this status, or `None` if the job is done.
    #[must_use]
    pub fn error(self, shape: Shape) -> Option<JobError> {
        match self {
            Self::Done => None,
            Self::Rejected => Some(JobError::Rejected),
            Self::OutOfRange => Some(JobError::OutOfRange { what: "input" }),
            Self::BadLength | Self::Malformed => Some(JobError::Malformed { what: self.text() }),
            Self::BadKey => Some(JobError::UnusableKey { shape }),
            Self::DependencyFailed => Some(JobError::DependencyFailed),
            Self::Cancelled => Some(JobError::Cancelled),
            Self::UnknownKey
            | Self::WrongKeyType
            | Self::Forbidden
            | Self::KeyUsedUp
            | Self::IvForbidden
            | Self::WeakKey => Some(JobError::Refused { reason: self }),
            Self::BadCheckValue => Some(JobError::BadCheckValue),
            Self::NoIv => Some(JobError::NoIv),
            Self::Unsupported => Some(JobError::Unsupported { wanted: shape.to_string() }),
            Self::EngineFailed => {
                Some(JobError::EngineFailed { shape, reason: "the last engine that offers it failed".into() })
            }
            Self::Pending => {
                Some(JobError::EngineFailed { shape, reason: "the engine left the job undone".into() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_status_but_done_is_an_error_with_a_message_of_its_own() {
        let shape = Shape::Digest { alg: DigestAlg::Sha1 };
        let messages: BTreeSet<String> = Status::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), Status::ALL.len());
        assert!(Status::ALL.iter().all(|status| (*status == Status::Done) == status.error(shape).is_none()));
        assert_eq!(std::mem::size_of::<Status>(), 1);
    }

    #[test]
    fn an_error_of_a_job_says_what_failed_what_was_found_and_what_is_allowed() {
        let length = JobError::Length { what: "digest", expected: "32".into(), found: 20 };
        assert_eq!(length.to_string(), "the digest has 20 bytes, expected 32");
        let full = JobError::Overloaded { queued: 9, bound: 8 };
        assert_eq!(
            full.to_string(),
            "overloaded: 9 operations are queued, and the maximum is 8; try again later"
        );
        let key = JobError::KeyType { wanted: "p256-sign".into(), found: KeyKind::Secret(16) };
        assert_eq!(key.to_string(), "wrong key type: p256-sign cannot use a key of kind Secret(16)");
    }

    #[test]
    fn an_error_without_details_has_the_text_of_its_status() {
        let shape = Shape::Digest { alg: DigestAlg::Sha1 };
        for status in [Status::Rejected, Status::BadCheckValue, Status::NoIv, Status::DependencyFailed] {
            assert_eq!(status.error(shape).unwrap().to_string(), status.to_string());
        }
    }
}
