//! The shared memory of a connection to a UNIX socket, as its client sees it.

use std::fmt;
use std::os::fd::OwnedFd;

use oarlock_shared_memory::{RingError, RingPair, RingReader, RingSizes, RingWriter};

use crate::proto::{Blame, Fault, OpenRing, Ring, request};

/// The variable of the environment that turns rings off, if it has any value but `0`.
const SWITCH: &str = "OARLOCK_NO_RING";

/// The two ends of a client.
#[derive(Debug)]
pub(crate) struct ClientRing {
    pub(crate) requests: RingWriter,
    pub(crate) answers: RingReader,
}

/// The reason why a connection to a UNIX socket has no shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingUnavailable {
    /// This process does not ask for it.
    Unwanted(String),
    /// The server gives none, by its settings or its limits, or because it does not know rings.
    Refused(String),
    /// The system of the server or of this process forbids it, or has no memory.
    Forbidden(String),
}

/// Returns true if the variable `OARLOCK_NO_RING` turns shared memory off: it has another value than `0`.
#[must_use]
pub fn is_switched_off() -> bool {
    std::env::var_os(SWITCH).is_some_and(|value| !value.is_empty() && value != "0")
}

impl RingUnavailable {
    /// Returns the reason of a process whose environment turns shared memory off.
    pub(crate) fn switched_off() -> Self {
        Self::Unwanted(format!("{SWITCH} is set"))
    }

    /// Returns the reason that a server's refusal gives.
    pub(crate) fn of_fault(fault: Fault) -> Self {
        match fault.blame() {
            Blame::Machine => Self::Forbidden(format!("the server: {}", fault.message)),
            _ => Self::Refused(fault.message),
        }
    }

    /// Returns true if nobody has decided against shared memory: the system forbids it, so an administrator may want
    /// to know.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }
}

impl From<RingError> for RingUnavailable {
    fn from(error: RingError) -> Self {
        Self::Forbidden(error.to_string())
    }
}

impl fmt::Display for RingUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unwanted(reason) | Self::Refused(reason) | Self::Forbidden(reason)) = self;
        f.write_str(reason)
    }
}

/// Returns the request for rings of these sizes.
pub(crate) fn opening(sizes: RingSizes) -> request::Body {
    let (request_bytes, answer_bytes) = (sizes.requests as u64, sizes.answers as u64);
    request::Body::OpenRing(OpenRing { request_bytes, answer_bytes })
}

impl ClientRing {
    /// Maps the memory that came with an answer. If this fails, the socket still works: the server answers through the
    /// ring only after a request has arrived through it.
    ///
    /// # Errors
    /// The memory did not come, or does not keep to what the answer says.
    pub(crate) fn open(answer: Ring, file: Option<OwnedFd>) -> Result<Self, RingError> {
        let file = file.ok_or(RingError::NoFile)?;
        // A number beyond the address space becomes a size that is refused.
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let sizes = RingSizes { requests: size(answer.request_bytes), answers: size(answer.answer_bytes) };
        let (requests, answers) = RingPair::open(file, sizes)?.into_client();
        Ok(Self { requests, answers })
    }
}
