//! The result of verifying a signature. RFC 8601 2.7.1.

use std::fmt;

use oarlock::JobError;

use crate::algorithm::SignatureAlgorithm;
use crate::key_answer::KeyProtection;
use crate::message::MailParseError;
use crate::record::KeyRecordError;
use crate::signature::SignatureError;

/// A result by its name in `Authentication-Results`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DkimVerdict {
    /// The message was not signed.
    None,
    /// The signature verifies.
    Pass,
    /// The signature does not verify.
    Fail,
    /// The signature may verify, but the policy does not accept it.
    Policy,
    /// The signature cannot be parsed or is not valid now.
    Neutral,
    /// The signature could not be verified for now. A later attempt may succeed.
    Temperror,
    /// The signature cannot be verified, now or later.
    Permerror,
}

/// The reason why a signature does not pass, in words for the postmaster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailReason {
    /// The message itself is malformed.
    #[error("the message is malformed: {0}")]
    Message(#[from] MailParseError),
    /// The header field of the signature is malformed.
    #[error("signature is malformed: {0}")]
    Signature(#[from] SignatureError),
    /// The hash of the body differs.
    #[error("the body was changed: its hash differs")]
    BodyHash,
    /// The signature does not match the header fields under this key.
    #[error("signed header fields were changed, or the key is not the one that signed")]
    Rejected,
    /// `l=` is longer than the body.
    #[error("{signed} bytes of the body are signed, but it has only {found}")]
    BodyTooShort {
        /// The value of `l=`.
        signed: u64,
        /// The canonical length of the body in bytes.
        found: u64,
    },
    /// `l=` leaves a part of the body unsigned.
    #[error("{0} bytes at the end of the body are not signed")]
    PartialBody(u64),
    /// The time of `x=` has passed.
    #[error("the signature expired {0} s ago")]
    Expired(u64),
    /// The time of `t=` has not come yet.
    #[error("the signature is from the future, by {0} s")]
    Future(u64),
    /// SHA-1 is not accepted. RFC 8301 3.1.
    #[error("rsa-sha1 is no longer accepted")]
    Sha1,
    /// The RSA key is too short. RFC 8301 3.2.
    #[error("the key has {found} bits: the minimum is {min}")]
    WeakKey {
        /// The bits of the modulus.
        found: u32,
        /// The minimum that is accepted.
        min: u32,
    },
    /// The RSA key is longer than verifiers must support. RFC 8301 3.2.
    #[error("the key has {found} bits: the maximum is {max}")]
    LongKey {
        /// The bits of the modulus.
        found: u32,
        /// The maximum that is accepted.
        max: u32,
    },
    /// The message has more signatures than are verified.
    #[error("the message has more than {0} signatures: this one was not verified")]
    TooManySignatures(usize),
    /// The message needs more key records than are looked up.
    #[error("the message needs more than {0} key records: that of this signature was not looked up")]
    TooManyLookups(usize),
    /// There is no record under the selector.
    #[error("no key for signature: there is no record {0}")]
    NoRecord(String),
    /// The record holds no key for this signature.
    #[error(transparent)]
    Record(#[from] KeyRecordError),
    /// The key in the record has another type than the signature.
    #[error("the key is of type {found}, the signature of type {wanted}")]
    KeyType {
        /// The type of the key.
        found: &'static str,
        /// The type that the signature needs.
        wanted: &'static str,
    },
    /// The record does not allow its key with this hash.
    #[error("the key record does not allow {0}")]
    HashNotAllowed(&'static str),
    /// The record has `t=s`, and the identity is in a subdomain of the signing domain.
    #[error("the key record does not allow identities of subdomains")]
    StrictIdentity,
    /// The policy requires DNSSEC.
    #[error("the key record is not protected by DNSSEC")]
    UnprotectedKey,
    /// DNS gave no answer.
    #[error("the key could not be looked up: {0}")]
    Lookup(String),
    /// This machine could not compute the verification.
    #[error("this verifier failed: {0}")]
    Machine(#[from] JobError),
}

impl FailReason {
    /// Returns the verdict that the reason leads to.
    #[must_use]
    pub fn verdict(&self) -> DkimVerdict {
        match self {
            Self::Signature(_) | Self::Expired(_) | Self::Future(_) => DkimVerdict::Neutral,
            Self::BodyHash | Self::Rejected => DkimVerdict::Fail,
            Self::PartialBody(_)
            | Self::Sha1
            | Self::WeakKey { .. }
            | Self::LongKey { .. }
            | Self::UnprotectedKey
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

    /// Returns true for a reason that is found before the key is looked up. RFC 6376 6.1.1.
    pub(crate) fn precedes_key(&self) -> bool {
        matches!(self, Self::Expired(_) | Self::Future(_) | Self::Sha1)
    }
}

/// The result of one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureResult {
    /// The reason why the signature does not pass. None if it passes.
    pub reason: Option<FailReason>,
    /// `d=`, if it could be read.
    pub domain: Option<String>,
    /// `s=`, if it could be read.
    pub selector: Option<String>,
    /// `i=`, if the signature has one.
    pub identity: Option<String>,
    /// `a=`, if it could be read.
    pub algorithm: Option<SignatureAlgorithm>,
    /// The first eight characters of `b=`. They distinguish the signatures of a message. RFC 6008 4.
    pub signature_start: Option<String>,
    /// The bits of the RSA modulus, or 256 for Ed25519, if the key was found.
    pub key_bits: Option<u32>,
    /// The protection of the key record by DNSSEC.
    pub key_protection: KeyProtection,
    /// True if the record has `t=y`: the domain only tests, and a failure means nothing.
    pub is_testing: bool,
}

impl SignatureResult {
    /// Returns the result of a message, or of a signature, of which nothing can be read.
    #[must_use]
    pub fn unreadable(reason: FailReason) -> Self {
        Self {
            reason: Some(reason),
            domain: None,
            selector: None,
            identity: None,
            algorithm: None,
            signature_start: None,
            key_bits: None,
            key_protection: KeyProtection::Unknown,
            is_testing: false,
        }
    }

    /// Returns the verdict.
    #[must_use]
    pub fn verdict(&self) -> DkimVerdict {
        self.reason.as_ref().map_or(DkimVerdict::Pass, FailReason::verdict)
    }
}

impl DkimVerdict {
    /// Returns the name in `Authentication-Results`.
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
