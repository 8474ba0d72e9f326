//! Statuses: how one job ended, in one byte.

use std::fmt;

/// How one job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Status {
    /// The engine has not written it: an engine that leaves it so has failed.
    #[default]
    Pending,
    /// The result is there; for verifications, the answer is yes.
    Done,
    /// The answer is no.
    Rejected,
    /// An input value is out of range, such as an RSA input not below n.
    OutOfRange,
    /// A length does not fit the shape.
    BadLength,
    /// The key does not fit the shape or is unusable.
    BadKey,
    /// A record names something that does not exist.
    Malformed,
    /// The record whose slot this one needs has failed.
    DependencyFailed,
    /// The key table has no such key. This and what follows is said by the hall, never by an engine.
    UnknownKey,
    /// The key is of another type than the shape needs, whatever its length.
    WrongKeyType,
    /// The key's policy does not allow this operation, direction or algorithm.
    Forbidden,
    /// The key has been used as often as it may be.
    KeyUsedUp,
    /// The key's policy does not allow an IV from there.
    IvForbidden,
    /// The key is weak, or a part of it does another part's work, and its policy refuses such keys.
    WeakKey,
    /// The unwrapped key is not the one that the check value was made of.
    BadCheckValue,
    /// No IV could be made: the counter is at its end or cannot be kept, or there was no randomness.
    NoIv,
    /// Nothing here offers the shape.
    Unsupported,
    /// Every engine that offers the shape has failed.
    EngineFailed,
}

/// What happened, for a human to read.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "not computed",
            Self::Done => "done",
            Self::Rejected => "verification failed",
            Self::OutOfRange => "the input is out of range",
            Self::BadLength => "a length does not fit: input, IV, tag or place of the output",
            Self::BadKey => "the key does not fit the operation or is unusable",
            Self::Malformed => "no such key, span or slot, or a slot that is written twice or read too early",
            Self::DependencyFailed => "the record that this one depends on failed",
            Self::UnknownKey => "the table has no such key",
            Self::WrongKeyType => "the key is of another type than the operation needs",
            Self::Forbidden => "the key's policy forbids the operation",
            Self::KeyUsedUp => "the key has been used as often as it may be",
            Self::IvForbidden => "the key's policy forbids an IV from there",
            Self::WeakKey => "the key is weak, and its policy refuses weak keys",
            Self::BadCheckValue => "the check value is not that of the unwrapped key",
            Self::NoIv => "no IV could be made",
            Self::Unsupported => "nothing here offers the operation",
            Self::EngineFailed => "every engine that offers the operation failed",
        })
    }
}
