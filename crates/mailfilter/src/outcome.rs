//! What became of a message, what is wrong with it, and what is done then.

use oarlock_dkim::{Reason, Verified};
use serde::Deserialize;

use oarlock_milter::protocol::{Change, SmtpReply};
use oarlock_milter::session::{Action, Verdict};

/// What is done with a message that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
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
pub struct Responses {
    /// No key could be looked up for a message that has no signature that passes.
    pub dns_error: Response,
    /// There is no signature, or only some whose keys are being tried out (`t=y`).
    pub no_signature: Response,
    /// There are signatures, and none passes.
    pub bad_signature: Response,
    /// The header is none, or beyond the limits; or a message to be signed has not one `From`.
    pub malformed: Response,
    /// It was to be signed, and its author is not who has sent it: see `[signing] require_from`.
    pub wrong_from: Response,
    /// It was to be signed and could not be.
    pub signing_error: Response,
    /// This program failed, or was overloaded.
    pub internal_error: Response,
}

impl Default for Responses {
    /// What is wrong with others' signatures is for those to judge who read the results. RFC 6376 6.3.
    fn default() -> Self {
        Self {
            dns_error: Response::Accept,
            no_signature: Response::Accept,
            bad_signature: Response::Accept,
            malformed: Response::Accept,
            wrong_from: Response::Accept,
            signing_error: Response::Tempfail,
            internal_error: Response::Tempfail,
        }
    }
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// See [`Responses::dns_error`]; likewise the others.
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

impl Response {
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

impl Fault {
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
    pub(crate) fn of(verified: &Verified) -> Option<Self> {
        let failed: Vec<&Reason> =
            verified.signatures.iter().map(|result| result.reason.as_ref()).collect::<Option<_>>()?;
        let has = |wanted: fn(&Reason) -> bool| failed.iter().any(|reason| wanted(reason));
        Some(if has(|reason| matches!(reason, Reason::Machine(_))) {
            Self::Internal
        } else if verified.signatures.iter().all(|result| result.is_testing) {
            Self::NoSignature
        } else if has(|reason| matches!(reason, Reason::Lookup(_))) {
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

impl Responses {
    /// What is done about a fault.
    #[must_use]
    pub fn to(&self, fault: Fault) -> Response {
        match fault {
            Fault::Dns => self.dns_error,
            Fault::NoSignature => self.no_signature,
            Fault::BadSignature => self.bad_signature,
            Fault::Malformed => self.malformed,
            Fault::WrongFrom => self.wrong_from,
            Fault::Signing => self.signing_error,
            Fault::Internal => self.internal_error,
        }
    }

    /// The verdict on a message with these changes, and perhaps a fault.
    pub(crate) fn verdict(&self, fault: Option<Fault>, mut changes: Vec<Change>) -> Verdict {
        let Some(fault) = fault else { return Verdict { changes, action: Action::Continue } };
        let [temporary, permanent] = fault.replies();
        let action = match self.to(fault) {
            Response::Accept => Action::Continue,
            Response::Tempfail => reply(temporary, Action::Tempfail),
            Response::Reject => reply(permanent, Action::Reject),
            Response::Quarantine => {
                changes.push(Change::Quarantine(permanent.2.into()));
                Action::Continue
            }
        };
        Verdict { changes, action }
    }
}

fn reply((code, extended, text): (u16, (u16, u16, u16), &str), otherwise: Action) -> Action {
    SmtpReply::new(code, Some(extended), text).map_or(otherwise, Action::Reply)
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Signed by one or more.
    Signed,
    /// A signature passes.
    Passed,
    /// Something is wrong with it.
    Faulty(Fault),
    /// Neither to be signed nor to be verified.
    Ignored,
}

impl Outcome {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 10] = [
        Self::Signed,
        Self::Passed,
        Self::Ignored,
        Self::Faulty(Fault::Dns),
        Self::Faulty(Fault::NoSignature),
        Self::Faulty(Fault::BadSignature),
        Self::Faulty(Fault::Malformed),
        Self::Faulty(Fault::WrongFrom),
        Self::Faulty(Fault::Signing),
        Self::Faulty(Fault::Internal),
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
