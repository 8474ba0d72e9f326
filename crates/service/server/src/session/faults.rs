//! The faults that requests and operations are refused with.

use std::time::Duration;

use oarlock::keys::KeyError;
use oarlock_records::VersionRange;
use oarlock_wire::proto::{Blame, Code, Fault};

use crate::audit::AuditError;
use crate::budget::BytesError;
use crate::keyring::DenialReason;

/// Returns a fault with a code and a message.
pub(crate) fn refusal(code: Code, message: &str, blame: Blame) -> Fault {
    Fault { code: code.into(), message: message.to_owned(), blame: blame.into(), ..Fault::default() }
}

/// Returns the refusal of work whose audit entry was not accepted.
pub(super) fn unaudited(error: AuditError) -> Fault {
    let (code, blame, retry_after_ms) = match error {
        AuditError::Full => (Code::Unavailable, Blame::Machine, 100),
        AuditError::TooMany { .. } => (Code::ResourceExhausted, Blame::Caller, 100),
        // The same request never fits, so there is no time after which to try again.
        AuditError::TooLarge { .. } => (Code::ResourceExhausted, Blame::Caller, 0),
        AuditError::Closed => (Code::Unavailable, Blame::Machine, 0),
    };
    Fault { retry_after_ms, ..refusal(code, &error.to_string(), blame) }
}

/// Returns the refusal of a request or an answer that would hold too many bytes.
pub(super) fn too_many_bytes(error: BytesError) -> Fault {
    let blame = match error {
        BytesError::Client { .. } => Blame::Caller,
        BytesError::All { .. } => Blame::Machine,
    };
    Fault { retry_after_ms: 100, ..refusal(Code::ResourceExhausted, &error.to_string(), blame) }
}

/// Returns a time after which to try again, at least one millisecond: zero would mean that the time is unknown.
pub(super) fn retry_ms(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).max(1)
}

/// Returns the refusal for a key that does not exist or that the client may not use: the two cases look the same.
pub(super) fn no_key(name: &str) -> Fault {
    let name: String = name.chars().take(64).collect();
    let message = format!("key {name:?}: there is no key of this name that this client may use");
    refusal(Code::PermissionDenied, &message, Blame::Caller)
}

/// Returns the refusal for a key whose device is not available.
pub(super) fn missing_key(name: &str, reason: &str) -> Fault {
    let message = format!("key {name:?} is not available: {reason}");
    Fault { retry_after_ms: 1000, ..refusal(Code::Unavailable, &message, Blame::Machine) }
}

/// Returns the refusal for a key that replaced the expected one. The name comes from the server's files, or is the
/// fingerprint of a key that the client brought.
pub(super) fn replaced_key(name: &str) -> Fault {
    let message = format!("{name:?} is not the key that the client expects: another key has this name now");
    refusal(Code::WrongKey, &message, Blame::Caller)
}

/// Returns the refusal of a code by an older version of a key, whose name has its number.
pub(super) fn older_key(name: &str) -> Fault {
    let message = format!(
        "{name:?} is an older version: it verifies codes (VerifyMac), and the newest version makes them"
    );
    refusal(Code::PermissionDenied, &message, Blame::Caller)
}

/// Returns the refusal of a version of a key that the server does not have, or whose use has ended.
pub(super) fn no_version(name: &str, VersionRange { min, newest }: VersionRange) -> Fault {
    let message = format!("key {name:?}: there is no such version: expected {min} to {newest}");
    refusal(Code::NoSuchKey, &message, Blame::Caller)
}

/// Returns the refusal for a key that the server has removed.
pub(super) fn removed_key() -> Fault {
    refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller)
}

/// Returns the refusal of an operation under a handle without a key.
pub(super) fn not_open(handle: u32) -> Fault {
    let message = format!("handle {handle}: this stream has not opened it");
    refusal(Code::NoSuchKey, &message, Blame::Caller)
}

pub(super) fn bad_key(error: KeyError) -> Fault {
    refusal(Code::BadKey, &error.to_string(), Blame::Caller)
}

/// Returns the refusal of an operation that the grants of a key do not allow.
pub(super) fn denial(reason: DenialReason, operation: &str) -> Fault {
    match reason {
        DenialReason::Forbidden => {
            let message = format!("no grant allows this client {operation} with this key");
            refusal(Code::PermissionDenied, &message, Blame::Caller)
        }
        DenialReason::TooOften(wait) => {
            let message = format!("{operation}: the rate of the grant for this key is used up");
            let retry_after_ms = retry_ms(wait);
            Fault { retry_after_ms, ..refusal(Code::ResourceExhausted, &message, Blame::Caller) }
        }
    }
}
