//! What is said of a signature. RFC 8601 2.7.1.

use std::fmt;

use oarlock::JobError;

use crate::algorithm::SignatureAlgorithm;
use crate::message::MailParseError;
use crate::record::KeyRecordError;
use crate::signature::SignatureError;

/// A result as `Authentication-Results` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DkimVerdict {
    /// The message was not signed.
    None,
    /// The signature verifies.
    Pass,
    /// It does not.
    Fail,
    /// It may verify, but something about it is not accepted here.
    Policy,
    /// It cannot be understood, or is not valid now.
    Neutral,
    /// It could not be verified for now; later it may be.
    Temperror,
    /// It cannot be verified, now or later.
    Permerror,
}

/// Why a signature does not pass, in words for whoever answers for the mail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailReason {
    /// The message itself is malformed.
    #[error("the message is malformed: {0}")]
    Message(#[from] MailParseError),
    /// The header field of the signature is malformed.
    #[error("signature is malformed: {0}")]
    Signature(#[from] SignatureError),
    /// The hash of the body is another one.
    #[error("the body has been changed (its hash is another one)")]
    BodyHash,
    /// The signature is not one of these header fields under this key.
    #[error("signed header fields have been changed, or the key is another one")]
    Rejected,
    /// `l=` is longer than the body.
    #[error("{signed} bytes of body are signed, and there are {found}")]
    BodyTooShort {
        /// `l=`
        signed: u64,
        /// Canonical bytes of the body.
        found: u64,
    },
    /// `l=` leaves some of the body unsigned.
    #[error("{0} bytes at the end of the body are not signed")]
    PartialBody(u64),
    /// `x=` has passed.
    #[error("the signature expired {0} s ago")]
    Expired(u64),
    /// `t=` has not come.
    #[error("the signature is from the future, by {0} s")]
    Future(u64),
    /// SHA-1 is not accepted. RFC 8301 3.1.
    #[error("rsa-sha1 is not accepted any more")]
    Sha1,
    /// The RSA key is too short. RFC 8301 3.2.
    #[error("the key has {found} bits, and {min} are the least that is accepted")]
    WeakKey {
        /// Bits of the modulus.
        found: u32,
        /// What would do.
        min: u32,
    },
    /// The RSA key is longer than anybody has to verify. RFC 8301 3.2.
    #[error("the key has {found} bits, and {max} are the most that is accepted")]
    LongKey {
        /// Bits of the modulus.
        found: u32,
        /// What would do.
        max: u32,
    },
    /// There are more signatures than are verified.
    #[error("the message has more than {0} signatures, this one was left out")]
    TooManySignatures(usize),
    /// The message has signatures under more keys than are looked up.
    #[error("the message needs more than {0} key records, that of this signature was left out")]
    TooManyLookups(usize),
    /// There is no record under the selector.
    #[error("no key for signature: there is no record {0}")]
    NoRecord(String),
    /// The record holds no key for this signature.
    #[error(transparent)]
    Record(#[from] KeyRecordError),
    /// The record's key is of another type than the signature.
    #[error("the key is of type {found}, the signature of type {wanted}")]
    KeyType {
        /// Of the key.
        found: &'static str,
        /// Of the signature.
        wanted: &'static str,
    },
    /// The record does not let its key be used with this hash.
    #[error("the key is not for signatures with {0}")]
    HashNotAllowed(&'static str),
    /// `t=s` in the record, and an identity below the signing domain.
    #[error("the key is not for identities below its domain")]
    StrictIdentity,
    /// DNS gave no answer.
    #[error("the key could not be looked up: {0}")]
    Lookup(String),
    /// Nothing here could compute it.
    #[error("this verifier failed: {0}")]
    Machine(#[from] JobError),
}

impl FailReason {
    /// The result that it leads to.
    #[must_use]
    pub fn verdict(&self) -> DkimVerdict {
        match self {
            Self::Signature(_) | Self::Expired(_) | Self::Future(_) => DkimVerdict::Neutral,
            Self::BodyHash | Self::Rejected => DkimVerdict::Fail,
            Self::PartialBody(_)
            | Self::Sha1
            | Self::WeakKey { .. }
            | Self::LongKey { .. }
            | Self::TooManySignatures(_)
            | Self::TooManyLookups(_) => DkimVerdict::Policy,
            Self::Lookup(_) | Self::Machine(_) => DkimVerdict::Temperror,
            Self::Message(_)
            | Self::BodyTooShort { .. }
            | Self::NoRecord(_)
            | Self::Record(_)
            | Self::KeyType { .. }
            | Self::HashNotAllowed(_)
            | Self::StrictIdentity => DkimVerdict::Permerror,
        }
    }

    /// True for what is found before the key is looked up. RFC 6376 6.1.1.
    pub(crate) fn precedes_key(&self) -> bool {
        matches!(self, Self::Expired(_) | Self::Future(_) | Self::Sha1)
    }
}

/// What is known of one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureResult {
    /// Why it does not pass; it does where there is no reason.
    pub reason: Option<FailReason>,
    /// `d=`, as far as it could be read.
    pub domain: Option<String>,
    /// `s=`
    pub selector: Option<String>,
    /// `i=`
    pub identity: Option<String>,
    /// `a=`
    pub algorithm: Option<SignatureAlgorithm>,
    /// The first eight characters of `b=`, by which signatures of a message are told apart. RFC 6008 4.
    pub signature_start: Option<String>,
    /// Bits of the RSA modulus, or 256 for Ed25519, where the key was found.
    pub key_bits: Option<u32>,
    /// `t=y` in the record: whoever signs only tries it out, so that a signature that does not pass means nothing.
    pub is_testing: bool,
}

impl SignatureResult {
    /// The result.
    #[must_use]
    pub fn verdict(&self) -> DkimVerdict {
        self.reason.as_ref().map_or(DkimVerdict::Pass, FailReason::verdict)
    }
}

impl DkimVerdict {
    /// As `Authentication-Results` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Policy => "policy",
            Self::Neutral => "neutral",
            Self::Temperror => "temperror",
            Self::Permerror => "permerror",
        }
    }
}

impl fmt::Display for DkimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
