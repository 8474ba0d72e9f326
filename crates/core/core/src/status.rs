//! Statuses: the end of one job, in one byte.

use std::fmt;

/// The end of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Status {
    /// The engine has not written the status. An engine that leaves it so has failed.
    #[default]
    Pending,
    /// The result is in its place. For a verification, the answer is yes.
    Done,
    /// The answer is no: a signature, a tag or a wrap does not verify.
    Rejected,
    /// An input value is out of range, such as an RSA input that is not below n.
    OutOfRange,
    /// A length does not fit the shape.
    BadLength,
    /// The key does not fit the shape or is unusable.
    BadKey,
    /// A record names something that does not exist.
    Malformed,
    /// The record whose slot this one needs has failed.
    DependencyFailed,
    /// The caller did not want the result any more ([`Operation::is_cancelled`](crate::Operation::is_cancelled)).
    Cancelled,
    /// The key table has no such key. This and all following statuses come from the accelerator, never from an
    /// engine.
    UnknownKey,
    /// The key is of another type than the shape needs, even if the length fits.
    WrongKeyType,
    /// The key's policy does not allow this operation, direction or algorithm.
    Forbidden,
    /// The key has reached its maximum number of uses.
    KeyUsedUp,
    /// The key's policy does not allow an IV from that source.
    IvForbidden,
    /// The key is weak, or one part of it repeats another, and its policy refuses such keys.
    WeakKey,
    /// The unwrapped key does not match its check value.
    BadCheckValue,
    /// No IV could be made: the counter is exhausted or cannot be stored, or random bytes are missing.
    NoIv,
    /// No engine offers the shape.
    Unsupported,
    /// Every engine that offers the shape has failed.
    EngineFailed,
}

impl Status {
    /// Every status, in the order of the enum.
    pub const ALL: [Self; 19] = [
        Self::Pending,
        Self::Done,
        Self::Rejected,
        Self::OutOfRange,
        Self::BadLength,
        Self::BadKey,
        Self::Malformed,
        Self::DependencyFailed,
        Self::Cancelled,
        Self::UnknownKey,
        Self::WrongKeyType,
        Self::Forbidden,
        Self::KeyUsedUp,
        Self::IvForbidden,
        Self::WeakKey,
        Self::BadCheckValue,
        Self::NoIv,
        Self::Unsupported,
        Self::EngineFailed,
    ];

    /// Returns the text of the status, which the error of a job repeats if it has nothing to add.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Pending => "not computed",
            Self::Done => "done",
            Self::Rejected => "verification failed",
            Self::OutOfRange => "the input is out of range",
            Self::BadLength => "a length does not fit: input, IV, tag or place of the output",
            Self::BadKey => "the key does not fit the operation or is unusable",
            Self::Malformed => "no such key, span or slot, or a slot that is written twice or read too early",
            Self::DependencyFailed => "the record that this one depends on failed",
            Self::Cancelled => "cancelled by its caller",
            Self::UnknownKey => "the table has no such key",
            Self::WrongKeyType => "the key is of another type than the operation needs",
            Self::Forbidden => "the key's policy forbids the operation",
            Self::KeyUsedUp => "the key has reached its maximum number of uses",
            Self::IvForbidden => "the key's policy forbids an IV from this source",
            Self::WeakKey => "the key is weak, and its policy refuses weak keys",
            Self::BadCheckValue => "the unwrapped key does not match its check value",
            Self::NoIv => "no IV could be made",
            Self::Unsupported => "no engine and no holder offers the operation",
            Self::EngineFailed => "every engine that offers the operation failed",
        }
    }
}

/// Describes the status for a human reader.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
