//! The outcomes of messages, their faults and the responses to faults.

use oarlock_dkim::{FailReason, VerifiedMessage};
use serde::Deserialize;

use oarlock_milter::protocol::{MessageChange, SmtpReply};
use oarlock_milter::session::{FilterAction, FilterVerdict};

/// The response to a faulty message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultResponse {
    /// Accepts the message.
    Accept,
    /// Rejects the message for now: the client tries again later.
    Tempfail,
    /// Rejects the message.
    Reject,
    /// Accepts the message and quarantines it for inspection.
    Quarantine,
}

/// The response to each fault.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultResponses {
    /// No signature passes, and a key could not be looked up.
    pub dns_error: FaultResponse,
    /// The message has no signature, or only test signatures (`t=y`).
    pub no_signature: FaultResponse,
    /// The message has signatures, and none passes.
    pub bad_signature: FaultResponse,
    /// The header is malformed or exceeds the limits, or a message to sign does not have exactly one `From`.
    pub malformed: FaultResponse,
    /// The message should be signed, but its author is not the sender. See `[signing] require_from`.
    pub wrong_from: FaultResponse,
    /// The message should be signed, and signing failed.
    pub signing_error: FaultResponse,
    /// This program failed or was overloaded.
    pub internal_error: FaultResponse,
}

impl Default for FaultResponses {
    /// Accepts messages with faulty signatures: the programs that read the results decide. RFC 6376 6.3.
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

/// A fault of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageFault {
    /// [`FaultResponses::dns_error`] is the response.
    Dns,
    /// [`FaultResponses::no_signature`] is the response.
    NoSignature,
    /// [`FaultResponses::bad_signature`] is the response.
    BadSignature,
    /// [`FaultResponses::malformed`] is the response.
    Malformed,
    /// [`FaultResponses::wrong_from`] is the response.
    WrongFrom,
    /// [`FaultResponses::signing_error`] is the response.
    Signing,
    /// [`FaultResponses::internal_error`] is the response.
    Internal,
}

impl FaultResponse {
    /// Returns the name in the settings.
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
    /// All faults, in the order of their counters.
    pub const ALL: [Self; 7] = [
        Self::Dns,
        Self::NoSignature,
        Self::BadSignature,
        Self::Malformed,
        Self::WrongFrom,
        Self::Signing,
        Self::Internal,
    ];

    /// Returns the name in settings, log and metrics.
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

    /// Returns the fault of a verified message, or None if a signature passes.
    pub(crate) fn of_verified(verified: &VerifiedMessage) -> Option<Self> {
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

    /// Returns the SMTP replies that reject such a message for now (RFC 3463) and for good (RFC 7372).
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
    /// Returns the response to a fault.
    #[must_use]
    pub(crate) fn response_to(&self, fault: MessageFault) -> FaultResponse {
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

    /// Returns the verdict for a message with these changes and perhaps a fault.
    pub(crate) fn verdict(
        &self,
        fault: Option<MessageFault>,
        mut changes: Vec<MessageChange>,
    ) -> FilterVerdict {
        let Some(fault) = fault else { return FilterVerdict { changes, action: FilterAction::Continue } };
        let [temporary, permanent] = fault.replies();
        let action = match self.response_to(fault) {
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

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageOutcome {
    /// At least one signature was made.
    Signed,
    /// At least one signature passes.
    Passed,
    /// The message has a fault.
    Faulty(MessageFault),
    /// The message was neither signed nor verified.
    Ignored,
}

impl MessageOutcome {
    /// All outcomes, in the order of their counters.
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

    /// Returns the name in log and metrics.
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
