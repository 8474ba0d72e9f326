//! The shared memory of a connection to a UNIX socket, as its client sees it.

use std::os::fd::OwnedFd;

use oarlock_ring::{RingError, RingPair, RingReader, RingSizes, RingWriter};

use crate::proto::{OpenRing, Ring, request};

/// The variable of the environment that turns rings off, if it has any value but `0`.
pub(crate) const SWITCH: &str = "OARLOCK_NO_RING";

/// The two ends of a client.
#[derive(Debug)]
pub(crate) struct ClientRing {
    pub(crate) requests: RingWriter,
    pub(crate) answers: RingReader,
}

/// Returns true if the variable `OARLOCK_NO_RING` turns shared memory off: it has another value than `0`.
#[must_use]
pub fn is_switched_off() -> bool {
    std::env::var_os(SWITCH).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the request for rings of these sizes.
pub(crate) fn opening(sizes: RingSizes) -> request::Body {
    let (request_bytes, answer_bytes) = (sizes.requests as u64, sizes.answers as u64);
    request::Body::OpenRing(OpenRing { request_bytes, answer_bytes })
}

impl ClientRing {
    /// Maps the memory that came with an answer.
    ///
    /// # Errors
    /// The memory did not come, or does not keep to what the answer says.
    pub(crate) fn open(answer: Ring, file: Option<OwnedFd>) -> Result<Self, RingError> {
        let file = file.ok_or(RingError::Unsealed)?;
        // A number beyond the address space becomes a size that is refused.
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let sizes = RingSizes { requests: size(answer.request_bytes), answers: size(answer.answer_bytes) };
        let (requests, answers) = RingPair::open(file, sizes)?.into_client();
        Ok(Self { requests, answers })
    }
}
