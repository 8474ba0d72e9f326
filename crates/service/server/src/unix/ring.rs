//! The rings of a connection: requests that come through shared memory, and answers that leave through it.

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use oarlock_network::LogLimit;
use oarlock_shared_memory::{RingError, RingPair, RingReader, RingSizes, RingWriter};
use oarlock_wire::Message;
use oarlock_wire::proto::{Blame, Code, Fault, OpenRing, Request, Response, Ring, response};

use crate::budget::HeldBytes;
use crate::clients::ClientAccount;
use crate::metrics::{RingRefusal, ServerMetrics, count};
use crate::service::SharedService;
use crate::session::{HeldRequest, refusal};

use super::UnixEnd;

/// The log lines about a system that gives no memory: every connection would write one.
static FAILURES: LogLimit = LogLimit::new(Duration::from_secs(60));

/// The rings of one connection. The client can write any byte of their memory at any time.
pub(super) struct ConnectionRing {
    service: Arc<SharedService>,
    account: Arc<ClientAccount>,
    requests: RingReader,
    answers: RingWriter,
    /// True once a request has arrived through the ring. Until then answers go through the socket: a client that cannot
    /// map the memory continues without it.
    is_in_use: bool,
    /// The bytes of requests, copied out of the ring before anything reads them.
    received: BytesMut,
    /// The bytes of the memory itself.
    _held: HeldBytes,
}

impl ConnectionRing {
    /// Creates the rings that a client asks for. Returns them with the answer and the memory file, which goes with the
    /// answer's first byte.
    ///
    /// # Errors
    /// The settings allow no rings, the client holds too many bytes, or the system refuses the memory. The client can
    /// go on without rings.
    pub(super) fn create(
        service: &Arc<SharedService>,
        account: &Arc<ClientAccount>,
        wanted: OpenRing,
    ) -> Result<(Self, Ring, OwnedFd), Fault> {
        // A ring takes no message that the socket would not take.
        let max = service.limits.max_ring_bytes.min(service.limits.max_message_bytes);
        let metrics = &service.metrics;
        if max < RingSizes::MIN {
            metrics.refused_rings.count(RingRefusal::Settings);
            let message = "this server opens no rings ([limits] max_ring_bytes is below 4096)";
            return Err(refusal(Code::Unsupported, message, Blame::Caller));
        }
        let sizes = RingSizes::fitting(wanted.request_bytes, wanted.answer_bytes, max);
        if !account.bytes.leaves_half(sizes.file_len()) {
            metrics.refused_rings.count(RingRefusal::Bytes);
            let message = "this client holds half of its bytes ([limits] max_bytes_per_client), so it gets no more rings";
            return Err(refusal(Code::ResourceExhausted, message, Blame::Caller));
        }
        let held = HeldBytes::new(&account.bytes, sizes.file_len()).map_err(|error| {
            metrics.refused_rings.count(RingRefusal::Bytes);
            refusal(Code::ResourceExhausted, &error.to_string(), Blame::Caller)
        })?;
        let failed = |error: RingError| {
            report_failure(metrics, &error);
            refusal(Code::Unavailable, &error.to_string(), Blame::Machine)
        };
        let pair = RingPair::create(sizes).map_err(failed)?;
        let file = pair.file().try_clone_to_owned();
        let file = file.map_err(|error| failed(RingError::System { what: "dup", error }))?;
        let (requests, answers) = pair.into_server();
        count(&metrics.open_rings, 1);
        count(&metrics.rings, 1);
        tracing::debug!(requests = sizes.requests, answers = sizes.answers, "shared memory for a client");
        let ring = Self {
            service: Arc::clone(service),
            account: Arc::clone(account),
            requests,
            answers,
            is_in_use: false,
            received: BytesMut::new(),
            _held: held,
        };
        let answer = Ring { request_bytes: sizes.requests as u64, answer_bytes: sizes.answers as u64 };
        Ok((ring, answer, file))
    }

    /// Returns the next request, or `None` if there is none now.
    pub(super) fn take_request(&mut self) -> Result<Option<HeldRequest>, UnixEnd> {
        let Some(len) = self.requests.read(&mut self.received).map_err(UnixEnd::Ring)? else {
            return Ok(None);
        };
        self.is_in_use = true;
        count(&self.service.metrics.ring_received_bytes, len);
        let held = HeldBytes::new(&self.account.bytes, len).map_err(UnixEnd::Full)?;
        let message = self.received.split().freeze();
        let request = Request::decode(message).map_err(|error| UnixEnd::Wire(error.into()))?;
        Ok(Some((request, held)))
    }

    /// Asks the client to wake this side. Returns false if there is a request meanwhile.
    pub(super) fn sleep(&mut self) -> Result<bool, UnixEnd> {
        self.requests.sleep().map_err(UnixEnd::Ring)
    }

    /// Writes an answer. Returns false if the ring has no space for it, or the client does not use the ring: then it
    /// goes through the socket.
    pub(super) fn write(&mut self, response: &Response) -> Result<bool, UnixEnd> {
        if !self.is_in_use {
            return Ok(false);
        }
        let len = response.encoded_len();
        match self.answers.encode(len, |frame| response.encode_raw(frame)) {
            Ok(written) => {
                count(&self.service.metrics.ring_sent_bytes, if written { len } else { 0 });
                Ok(written)
            }
            Err(RingError::TooLong { .. }) => Ok(false),
            Err(error) => Err(UnixEnd::Ring(error)),
        }
    }

    /// Returns true, once, if the client sleeps and answers have come.
    pub(super) fn must_wake_client(&mut self) -> bool {
        self.answers.take_sleeper()
    }
}

impl Drop for ConnectionRing {
    fn drop(&mut self) {
        self.service.metrics.open_rings.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Reports that the system gives no shared memory.
pub(super) fn report_failure(metrics: &ServerMetrics, error: &dyn Display) {
    metrics.refused_rings.count(RingRefusal::System);
    if let Some(suppressed) = FAILURES.admit() {
        tracing::warn!(%error, suppressed, "no shared memory for clients, which go on with the socket alone");
    }
}

/// Returns the answer to a request for rings.
pub(super) fn ring_response(id: u64, answer: Result<Ring, Fault>) -> Response {
    let body = answer.map_or_else(response::Body::Fault, response::Body::Ring);
    Response { id, body: Some(body) }
}
