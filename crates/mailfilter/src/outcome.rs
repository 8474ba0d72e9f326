//! What became of a message, what is wrong with it, and what is done then.

use oarlock_dkim::{FailReason, VerifiedMessage};
use serde::Deserialize;

use oarlock_milter::protocol::{MessageChange, SmtpReply};
use oarlock_milter::session::{FilterAction, FilterVerdict};

/// What is done with a message that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultResponse {
    /// It is taken.
    Accept,
    /// The client is to come again later.
    Tempfail,
    /// It is refused.
    Reject,
    /// It is taken and held, for somebody to look at.
    Quarantine,
}

/// What is done with messages that something is wrong with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultResponses {
    /// No key could be looked up for a message that has no signature that passes.
    pub dns_error: FaultResponse,
    /// There is no signature, or only some whose keys are being tried out (`t=y`).
    pub no_signature: FaultResponse,
    /// There are signatures, and none passes.
    pub bad_signature: FaultResponse,
    /// The header is none, or beyond the limits; or a message to be signed has not one `From`.
    pub malformed: FaultResponse,
    /// It was to be signed, and its author is not who has sent it: see `[signing] require_from`.
    pub wrong_from: FaultResponse,
    /// It was to be signed and could not be.
    pub signing_error: FaultResponse,
    /// This program failed, or was overloaded.
    pub internal_error: FaultResponse,
}

impl Default for FaultResponses {
    /// What is wrong with others' signatures is for those to judge who read the results. RFC 6376 6.3.
    fn default() -> Self {
        Self {
            dns_error: FaultResponse::Accept,
            no_signature: FaultResponse::Accept,
            bad_signature: FaultResponse::Accept,
            malformed: FaultResponse::Accept,
            wrong_from: FaultResponse::Accept,
            signing_error: FaultResponse::Tempfail,
            internal_error: FaultResponse::Tempfail,
        }
    }
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageFault {
    /// See [`FaultResponses::dns_error`]; likewise the others.
    Dns,
    /// No signature.
    NoSignature,
    /// No good signature.
    BadSignature,
    /// No header.
    Malformed,
    /// Another author than the sender.
    WrongFrom,
    /// Not signed.
    Signing,
    /// Our own.
    Internal,
}

impl FaultResponse {
    /// As settings have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Tempfail => "tempfail",
            Self::Reject => "reject",
            Self::Quarantine => "quarantine",
        }
    }
}

impl MessageFault {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 7] = [
        Self::Dns,
        Self::NoSignature,
        Self::BadSignature,
        Self::Malformed,
        Self::WrongFrom,
        Self::Signing,
        Self::Internal,
    ];

    /// As settings, log and metrics have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns_error",
            Self::NoSignature => "no_signature",
            Self::BadSignature => "bad_signature",
            Self::Malformed => "malformed",
            Self::WrongFrom => "wrong_from",
            Self::Signing => "signing_error",
            Self::Internal => "internal_error",
        }
    }

    /// What is wrong with a message as it was verified; None where a signature passes.
    pub(crate) fn of(verified: &VerifiedMessage) -> Option<Self> {
        let failed: Vec<&FailReason> =
            verified.signatures.iter().map(|result| result.reason.as_ref()).collect::<Option<_>>()?;
        let has = |wanted: fn(&FailReason) -> bool| failed.iter().any(|reason| wanted(reason));
        Some(if has(|reason| matches!(reason, FailReason::Machine(_))) {
            Self::Internal
        } else if verified.signatures.iter().all(|result| result.is_testing) {
            Self::NoSignature
        } else if has(|reason| matches!(reason, FailReason::Lookup(_))) {
            Self::Dns
        } else {
            Self::BadSignature
        })
    }

    /// The reply that refuses such a message for now (RFC 3463), and the one that does for good (RFC 7372).
    fn replies(self) -> [(u16, (u16, u16, u16), &'static str); 2] {
        let text = match self {
            Self::Dns => "DKIM keys could not be looked up",
            Self::NoSignature => "No DKIM signature found",
            Self::BadSignature => "No passing DKIM signature found",
            Self::Malformed => "The header of this message is malformed",
            Self::WrongFrom => "The From address is not one of its sender",
            Self::Signing => "This message could not be signed",
            Self::Internal => "The mail filter failed",
        };
        let (temporary, permanent) = match self {
            Self::Dns => ((4, 4, 3), (5, 7, 20)),
            Self::NoSignature | Self::BadSignature => ((4, 7, 20), (5, 7, 20)),
            Self::Malformed => ((4, 6, 0), (5, 6, 0)),
            Self::WrongFrom => ((4, 7, 1), (5, 7, 1)),
            Self::Signing | Self::Internal => ((4, 3, 0), (5, 3, 0)),
        };
        [(451, temporary, text), (550, permanent, text)]
    }
}

impl FaultResponses {
    /// What is done about a fault.
    #[must_use]
    pub fn to(&self, fault: MessageFault) -> FaultResponse {
        match fault {
            MessageFault::Dns => self.dns_error,
            MessageFault::NoSignature => self.no_signature,
            MessageFault::BadSignature => self.bad_signature,
            MessageFault::Malformed => self.malformed,
            MessageFault::WrongFrom => self.wrong_from,
            MessageFault::Signing => self.signing_error,
            MessageFault::Internal => self.internal_error,
        }
    }

    /// The verdict on a message with these changes, and perhaps a fault.
    pub(crate) fn verdict(
        &self,
        fault: Option<MessageFault>,
        mut changes: Vec<MessageChange>,
    ) -> FilterVerdict {
        let Some(fault) = fault else { return FilterVerdict { changes, action: FilterAction::Continue } };
        let [temporary, permanent] = fault.replies();
        let action = match self.to(fault) {
            FaultResponse::Accept => FilterAction::Continue,
            FaultResponse::Tempfail => reply(temporary, FilterAction::Tempfail),
            FaultResponse::Reject => reply(permanent, FilterAction::Reject),
            FaultResponse::Quarantine => {
                changes.push(MessageChange::Quarantine(permanent.2.into()));
                FilterAction::Continue
            }
        };
        FilterVerdict { changes, action }
    }
}

fn reply((code, extended, text): (u16, (u16, u16, u16), &str), otherwise: FilterAction) -> FilterAction {
    SmtpReply::new(code, Some(extended), text).map_or(otherwise, FilterAction::Reply)
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageOutcome {
    /// Signed by one or more.
    Signed,
    /// A signature passes.
    Passed,
    /// Something is wrong with it.
    Faulty(MessageFault),
    /// Neither to be signed nor to be verified.
    Ignored,
}

impl MessageOutcome {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 10] = [
        Self::Signed,
        Self::Passed,
        Self::Ignored,
        Self::Faulty(MessageFault::Dns),
        Self::Faulty(MessageFault::NoSignature),
        Self::Faulty(MessageFault::BadSignature),
        Self::Faulty(MessageFault::Malformed),
        Self::Faulty(MessageFault::WrongFrom),
        Self::Faulty(MessageFault::Signing),
        Self::Faulty(MessageFault::Internal),
    ];

    /// As log and metrics have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Passed => "passed",
            Self::Ignored => "ignored",
            Self::Faulty(fault) => fault.name(),
        }
    }
}
