//! One call over HTTP/2: the bytes that it holds, how long its message may take, and whether its answer is taken.

use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{Sleep, sleep};
use tonic::{Code, Status};

use crate::budget::{BytesError, HeldBytes};
use crate::clients::ClientAccount;
use crate::config::ServerLimits;

/// Bytes that a call holds beside messages: its headers, its session, and what lies between gRPC and the socket.
pub(crate) const CALL_BYTES: usize = 128 << 10;

/// Bytes in front of each message: a flag and the length.
const PREFIX_BYTES: usize = 5;

/// A call from its first byte to the last of its answer.
#[derive(Debug)]
pub(crate) struct GrpcCall {
    state: Mutex<CallState>,
    max_message: Duration,
    /// Set if the time of the arriving message begins anew: the one before is whole, or the server has read nothing for a while.
    begins_anew: AtomicBool,
    /// The most bytes that a call with one request may send; None for a stream, whose messages gRPC bounds.
    max_unary_bytes: Option<usize>,
}

#[derive(Debug)]
struct CallState {
    held: HeldBytes,
    /// Bytes of the message that is arriving.
    arriving: usize,
    /// The longest message so far: gRPC keeps the memory that it took.
    longest: usize,
    /// Bytes that the call holds until its end.
    kept: HeldBytes,
}

impl GrpcCall {
    /// Begins a call of a client.
    ///
    /// # Errors
    /// The client, or all clients together, hold as many bytes as they may.
    pub(crate) fn begin(
        client: &Arc<ClientAccount>,
        limits: &ServerLimits,
        is_stream: bool,
    ) -> Result<Arc<Self>, Status> {
        let kept = HeldBytes::new(client, CALL_BYTES).map_err(exhausted)?;
        let held = HeldBytes::none(Arc::clone(client));
        Ok(Arc::new(Self {
            state: Mutex::new(CallState { held, arriving: 0, longest: 0, kept }),
            max_message: limits.max_message(),
            begins_anew: AtomicBool::new(false),
            max_unary_bytes: (!is_stream).then_some(limits.max_unary_bytes),
        }))
    }

    /// Counts bytes that have arrived.
    fn receive(&self, bytes: usize) -> Result<(), Status> {
        let mut state = self.lock();
        state.arriving += bytes;
        if let Some(max) = self.max_unary_bytes
            && state.arriving > max + PREFIX_BYTES
        {
            let message = format!(
                "a call with one request has at most {max} bytes ([limits] max_unary_bytes): use a stream for more"
            );
            return Err(Status::resource_exhausted(message));
        }
        let needed = state.arriving.max(state.longest);
        if needed > state.held.len() { state.held.resize(needed).map_err(exhausted) } else { Ok(()) }
    }

    /// Separates what a message holds that has arrived whole.
    ///
    /// # Errors
    /// As for [`GrpcCall::begin`].
    pub(crate) fn take_message(
        &self,
        client: &Arc<ClientAccount>,
        bytes: usize,
    ) -> Result<HeldBytes, BytesError> {
        self.begins_anew.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        state.arriving = state.arriving.saturating_sub(bytes + PREFIX_BYTES);
        state.longest = state.longest.max(bytes + PREFIX_BYTES);
        HeldBytes::new(client, bytes)
    }

    /// Keeps bytes until the call has ended.
    pub(crate) fn keep(&self, held: HeldBytes) {
        self.lock().kept.merge(held);
    }

    /// Notes that the server reads no more of the call for a while: that time is not the client's.
    pub(crate) fn pause(&self) {
        self.begins_anew.store(true, Ordering::Relaxed);
    }

    fn is_arriving(&self) -> bool {
        self.lock().arriving > 0
    }

    fn lock(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn exhausted(error: BytesError) -> Status {
    Status::resource_exhausted(error.to_string())
}

/// The body that a client sends in a call.
pub(crate) struct RequestBody<B> {
    body: B,
    call: Arc<GrpcCall>,
    /// Set while a message arrives.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<B> RequestBody<B> {
    pub(crate) fn new(body: B, call: Arc<GrpcCall>) -> Self {
        Self { body, call, deadline: None }
    }

    /// Fails once the message that is arriving has taken too long.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        if self.call.begins_anew.swap(false, Ordering::Relaxed) || !self.call.is_arriving() {
            self.deadline = None;
        }
        if !self.call.is_arriving() {
            return Poll::Pending;
        }
        let max = self.call.max_message;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(max)));
        ready!(deadline.as_mut().poll(context));
        let message = format!(
            "half a message and no more for {} s ([limits] max_message_seconds)",
            self.call.max_message.as_secs()
        );
        Poll::Ready(Status::deadline_exceeded(message))
    }
}

impl<B: Body<Data = Bytes, Error: Display> + Unpin> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending => return self.poll_late(context).map(|late| Some(Err(late))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(Err(error))) => {
                return Poll::Ready(Some(Err(Status::new(Code::Cancelled, error.to_string()))));
            }
            Poll::Ready(Some(Ok(frame))) => frame,
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        Poll::Ready(Some(self.call.receive(bytes).map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Answers of a connection that its client has not taken yet, and since when.
#[derive(Debug, Default)]
pub(crate) struct UntakenAnswers {
    since: Mutex<HashMap<u64, Instant>>,
    last_id: AtomicU64,
}

impl UntakenAnswers {
    /// Returns for how long the client has left an answer untaken.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.lock().values().min().map(Instant::elapsed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body that the server answers in a call, in pieces that leave little behind when the client takes no more.
pub(crate) struct AnswerBody {
    body: tonic::body::Body,
    /// Bytes that are left of the last frame.
    rest: Bytes,
    id: u64,
    untaken: Arc<UntakenAnswers>,
    /// Keeps what the call holds until its answer ends.
    _call: Option<Arc<GrpcCall>>,
}

/// Bytes of an answer that go to HTTP/2 at once.
const PIECE_BYTES: usize = 16 << 10;

impl AnswerBody {
    pub(crate) fn new(body: tonic::body::Body, call: Arc<GrpcCall>, untaken: Arc<UntakenAnswers>) -> Self {
        let id = untaken.last_id.fetch_add(1, Ordering::Relaxed);
        Self { body, rest: Bytes::new(), id, untaken, _call: Some(call) }
    }

    fn next_piece(&mut self) -> Frame<Bytes> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE_BYTES));
        Frame::data(piece)
    }
}

impl Default for AnswerBody {
    /// A body without content, as refusals have.
    fn default() -> Self {
        let (body, untaken) = (tonic::body::Body::empty(), Arc::default());
        Self { body, rest: Bytes::new(), id: 0, untaken, _call: None }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        // HTTP/2 asks for more: it has passed on what it was given.
        this.untaken.lock().remove(&this.id);
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => this.rest = frame.into_data().unwrap_or_default(),
                other => return Poll::Ready(other),
            }
        }
        let piece = this.next_piece();
        this.untaken.lock().insert(this.id, Instant::now());
        Poll::Ready(Some(Ok(piece)))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.untaken.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::poll_fn;

    use tokio::sync::mpsc;
    use tokio::time::advance;

    use super::*;
    use crate::clients::ClientAccounts;
    use crate::identity::ClientIdentity;

    /// Bytes as they arrive.
    struct Arriving(mpsc::UnboundedReceiver<Bytes>);

    impl Body for Arriving {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    struct Stream {
        client: Arc<ClientAccount>,
        call: Arc<GrpcCall>,
        body: RequestBody<Arriving>,
        sender: mpsc::UnboundedSender<Bytes>,
    }

    impl Stream {
        fn new() -> Self {
            let limits = ServerLimits { max_message_seconds: 60, ..ServerLimits::default() };
            let client = ClientAccounts::new(&limits).find(&ClientIdentity::loopback());
            let call = GrpcCall::begin(&client, &limits, true).unwrap();
            let (sender, receiver) = mpsc::unbounded_channel();
            Self { body: RequestBody::new(Arriving(receiver), Arc::clone(&call)), client, call, sender }
        }

        fn send(&self, bytes: usize) {
            self.sender.send(vec![0; bytes].into()).unwrap();
        }

        /// Reads what is there, and returns the fault of what comes too late.
        async fn read(&mut self) -> Option<Status> {
            poll_fn(|context| {
                loop {
                    match Pin::new(&mut self.body).poll_frame(context) {
                        Poll::Ready(Some(Ok(_))) => {}
                        Poll::Ready(Some(Err(status))) => return Poll::Ready(Some(status)),
                        Poll::Ready(None) | Poll::Pending => return Poll::Ready(None),
                    }
                }
            })
            .await
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn half_a_message_has_its_time_whatever_trickles_in() {
        let mut stream = Stream::new();
        stream.send(10);
        for _ in 0..59 {
            assert!(stream.read().await.is_none());
            advance(SECOND).await;
            stream.send(1);
        }
        advance(2 * SECOND).await;
        assert_eq!(stream.read().await.unwrap().code(), Code::DeadlineExceeded);
    }

    #[tokio::test(start_paused = true)]
    async fn each_of_many_messages_has_a_time_of_its_own() {
        let mut stream = Stream::new();
        for _ in 0..10 {
            // A message, and the first bytes of the next one.
            stream.send(100);
            assert!(stream.read().await.is_none());
            let held = stream.call.take_message(&stream.client, 90 - PREFIX_BYTES).unwrap();
            assert_eq!(held.len(), 90 - PREFIX_BYTES);
            advance(40 * SECOND).await;
        }
        stream.call.pause();
        advance(1000 * SECOND).await;
        assert!(stream.read().await.is_none(), "the server itself read nothing for so long");
        advance(61 * SECOND).await;
        assert!(stream.read().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_stream_is_not_late() {
        let mut stream = Stream::new();
        assert!(stream.read().await.is_none());
        advance(1000 * SECOND).await;
        assert!(stream.read().await.is_none());
    }
}
