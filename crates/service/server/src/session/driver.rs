//! The loop that drives the requests of one stream over any transport.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, Stream};
use oarlock_wire::proto::Request;

use super::{ClientSession, HeldAnswer, PendingResponse};
use crate::budget::HeldBytes;
use crate::clients::{ClientAccount, KnownClient};
use crate::lifetime::StageWatch;
use crate::service::SharedService;

/// The number of requests that are begun before other connections of the thread have a turn.
const MAX_BEGUN: usize = 64;

/// A request with the bytes that it holds.
pub(crate) type HeldRequest = (Request, HeldBytes);

/// The side of a stream from which requests come.
pub(crate) trait RequestSource {
    /// The error that ends the stream at once.
    type Error;

    /// Returns the next request with the bytes that it holds, or `None` after the last.
    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<HeldRequest>, Self::Error>>;

    /// Notes that nothing is read for a while, which is not the client's fault.
    fn pause(&mut self);

    /// Returns the bytes that must be left to the client before another request is read. With space for one more
    /// message of any length, its earlier requests never make the stream fail.
    fn needed_bytes(&self) -> usize;
}

/// The unanswered requests of one stream, and the session that they belong to.
pub(crate) struct RequestDriver {
    session: ClientSession,
    account: Arc<ClientAccount>,
    pending: FuturesUnordered<PendingResponse>,
    max_in_flight: usize,
    /// Ready with a message for the client when the server stops or the connection must end.
    ending: Pin<Box<dyn Future<Output = &'static str> + Send>>,
    end_message: Option<&'static str>,
    /// True if no further request is read. The requests in progress are still answered.
    is_closed: bool,
    /// The number of requests that were begun in this turn.
    begun: usize,
    /// True if an answer may have come since the pending ones were last polled.
    must_poll: bool,
    /// True if requests were begun since then.
    has_begun: bool,
}

impl RequestDriver {
    pub(crate) fn new(client: KnownClient, service: &Arc<SharedService>, stage: StageWatch) -> Self {
        let account = Arc::clone(&client.account);
        Self {
            session: ClientSession::new(Arc::clone(service), client),
            account,
            pending: FuturesUnordered::new(),
            max_in_flight: service.limits.max_in_flight,
            ending: Box::pin(end_message(Arc::clone(service), stage)),
            end_message: None,
            is_closed: false,
            begun: 0,
            must_poll: true,
            has_begun: false,
        }
    }

    /// Begins a turn of the task that polls the stream.
    pub(crate) fn begin_turn(&mut self) {
        (self.begun, self.must_poll) = (0, true);
    }

    /// Returns the next answer, or `None` after the last. Begins requests meanwhile, in the order in which they come.
    pub(crate) fn poll_answer<S: RequestSource>(
        &mut self,
        source: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<HeldAnswer>, S::Error>> {
        loop {
            // Answers come first: sending them frees the bytes that further requests need.
            if self.must_poll {
                if let Poll::Ready(Some(answer)) = Pin::new(&mut self.pending).poll_next(context) {
                    return Poll::Ready(Ok(Some(answer)));
                }
                self.must_poll = false;
            }
            // A future that was ready must not be polled again.
            if !self.is_closed
                && let Poll::Ready(message) = self.ending.as_mut().poll(context)
            {
                self.end_message = Some(message);
                self.is_closed = true;
            }
            if self.is_closed && self.pending.is_empty() {
                return Poll::Ready(Ok(None));
            }
            match self.next_request(source, context) {
                Poll::Ready(Ok(Some((request, held)))) => self.begin(request, held),
                Poll::Ready(Ok(None)) => self.is_closed = true,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // New requests are polled after the last one was begun: a job is computed at once if it is alone.
                    self.must_poll = std::mem::take(&mut self.has_begun);
                    if !self.must_poll {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Returns the next request if one may be read and has arrived, or `None` after the last.
    fn next_request<S: RequestSource>(
        &mut self,
        source: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<HeldRequest>, S::Error>> {
        if self.is_closed || self.has_enough(source.needed_bytes()) {
            source.pause();
            return Poll::Pending;
        }
        if self.begun == MAX_BEGUN {
            // Nothing else would wake the task: the requests that wait have arrived already.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        source.poll_request(context)
    }

    fn begin(&mut self, request: Request, held: HeldBytes) {
        (self.begun, self.has_begun) = (self.begun + 1, true);
        // `start` may compute a cheap job at once, which is why the number per turn is limited.
        self.pending.push(self.session.start(request, held));
    }

    /// Returns true while no further request is read, because the client has the maximum in flight.
    fn has_enough(&self, needed_bytes: usize) -> bool {
        let is_full = self.account.bytes.left() < needed_bytes;
        self.pending.len() >= self.max_in_flight || (is_full && !self.pending.is_empty())
    }

    /// Reads no further request. The requests in progress are still answered.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns true if no request is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns the message for the client if the server ended the stream, once.
    pub(crate) fn take_end_message(&mut self) -> Option<&'static str> {
        self.end_message.take()
    }
}

/// Waits until the server stops or the connection must end. Returns the message for the client.
async fn end_message(service: Arc<SharedService>, stage: StageWatch) -> &'static str {
    tokio::select! {
        () = service.drain.thrown() => "the server is stopping",
        reason = stage.ending() => reason.message(),
    }
}
