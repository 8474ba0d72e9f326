//! One call over HTTP/2: the bytes that it holds, the time limit of its messages, and the answers that its client has
//! not taken.

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

/// The bytes that a call holds beside messages: its headers, its session, and the buffers between gRPC and the socket.
pub(crate) const CALL_BYTES: usize = 128 << 10;

/// The bytes in front of each message: a flag and the length.
pub(crate) const PREFIX_BYTES: usize = 5;

/// A call, from its first byte to the last byte of its answer.
#[derive(Debug)]
pub(crate) struct GrpcCall {
    state: Mutex<CallState>,
    max_message: Duration,
    /// True if the time of the arriving message starts again, because the message before is complete or the server has
    /// read nothing for a while.
    begins_anew: AtomicBool,
    /// The maximum bytes that a call with one request may send; `None` for a stream, whose messages gRPC limits.
    max_unary_bytes: Option<usize>,
}

#[derive(Debug)]
struct CallState {
    held: HeldBytes,
    /// The bytes of the message that is arriving.
    arriving: usize,
    /// The length of the longest message so far. gRPC keeps a buffer of this length.
    longest: usize,
    /// The bytes that the call holds until its end.
    kept: HeldBytes,
}

impl GrpcCall {
    /// Begins a call of a client.
    ///
    /// # Errors
    /// The client, or all clients together, hold the maximum of bytes.
    pub(crate) fn begin(
        client: &Arc<ClientAccount>,
        limits: &ServerLimits,
        is_stream: bool,
    ) -> Result<Arc<Self>, Status> {
        let kept = HeldBytes::new(&client.bytes, CALL_BYTES)?;
        let held = HeldBytes::none(&client.bytes);
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
        // HTTP/2 delivers parts of messages, so the length prefix is counted with them.
        state.arriving += bytes;
        if let Some(max) = self.max_unary_bytes
            && state.arriving > max + PREFIX_BYTES
        {
            let message = format!(
                "a call with one request may have {max} bytes ([limits] max_unary_bytes): use a stream for more"
            );
            return Err(Status::resource_exhausted(message));
        }
        // gRPC never shrinks its buffer, so the call holds the longest message even when the next one is short.
        let needed = state.arriving.max(state.longest);
        if needed > state.held.len() {
            state.held.resize(needed)?;
        }
        Ok(())
    }

    /// Separates the bytes of a message that has arrived completely.
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
        // Bytes of the next message may have arrived already. They stay counted.
        state.arriving = state.arriving.saturating_sub(bytes + PREFIX_BYTES);
        state.longest = state.longest.max(bytes + PREFIX_BYTES);
        // The message is counted beside `held`, which still stands for the buffer of gRPC.
        HeldBytes::new(&client.bytes, bytes)
    }

    /// Keeps bytes until the call has ended.
    pub(crate) fn keep(&self, held: HeldBytes) {
        self.lock().kept.merge(held);
    }

    /// Notes that the server does not read for a while. This time does not count against the client.
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

impl From<BytesError> for Status {
    fn from(error: BytesError) -> Self {
        Self::resource_exhausted(error.to_string())
    }
}

/// The request body of a call.
pub(crate) struct RequestBody<B> {
    body: B,
    call: Arc<GrpcCall>,
    /// The end of the time of the arriving message, if any.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<B> RequestBody<B> {
    pub(crate) fn new(body: B, call: Arc<GrpcCall>) -> Self {
        Self { body, call, deadline: None }
    }

    /// Returns a status once the arriving message has taken too long.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        // Relaxed is enough: the flag guards no other memory.
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
            "the message was not complete after {} s ([limits] max_message_seconds)",
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
        // The body is asked before the clock: a frame that has arrived is not late.
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

/// The answers of a connection that its client has not taken yet, with the times since when.
#[derive(Debug, Default)]
pub(crate) struct UntakenAnswers {
    since: Mutex<HashMap<u64, Instant>>,
    last_id: AtomicU64,
}

impl UntakenAnswers {
    /// Returns the longest time for which the client has not taken an answer.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.lock().values().min().map(Instant::elapsed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer body of a call. It is handed to HTTP/2 in pieces, so that little is buffered for a client that takes no
/// more.
pub(crate) struct AnswerBody {
    body: tonic::body::Body,
    /// The bytes that are left of the last frame.
    rest: Bytes,
    id: u64,
    untaken: Arc<UntakenAnswers>,
    /// The call, whose bytes are held until its answer ends.
    _call: Option<Arc<GrpcCall>>,
}

/// The bytes of an answer that are handed to HTTP/2 at once.
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

impl AnswerBody {
    /// Returns the body of a refusal, which no call counts.
    pub(crate) fn of_refusal(body: tonic::body::Body) -> Self {
        Self { body, rest: Bytes::new(), id: 0, untaken: Arc::default(), _call: None }
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
        // HTTP/2 asks for more, so the client has taken the piece before.
        this.untaken.lock().remove(&this.id);
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => this.rest = frame.into_data().unwrap_or_default(),
                other => return Poll::Ready(other),
            }
        }
        let piece = this.next_piece();
        // Taken only when HTTP/2 asks for the next piece: until then flow control or the socket holds this one back.
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

    /// A body whose bytes arrive over a channel.
    struct ChannelBody(mpsc::UnboundedReceiver<Bytes>);

    impl Body for ChannelBody {
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
        body: RequestBody<ChannelBody>,
        sender: mpsc::UnboundedSender<Bytes>,
    }

    impl Stream {
        fn new() -> Self {
            let limits = ServerLimits { max_message_seconds: 60, ..ServerLimits::default() };
            let client = ClientAccounts::new(&limits).find(&ClientIdentity::loopback());
            let call = GrpcCall::begin(&client, &limits, true).unwrap();
            let (sender, receiver) = mpsc::unbounded_channel();
            Self { body: RequestBody::new(ChannelBody(receiver), Arc::clone(&call)), client, call, sender }
        }

        fn send(&self, bytes: usize) {
            self.sender.send(vec![0; bytes].into()).unwrap();
        }

        /// Reads the bytes that have arrived, and returns the status of a message that is late.
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
    async fn ends_half_a_message_after_its_time_although_bytes_trickle_in() {
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
    async fn gives_each_message_a_time_of_its_own() {
        let mut stream = Stream::new();
        for _ in 0..10 {
            // A message, and the first bytes of the next message.
            stream.send(100);
            assert!(stream.read().await.is_none());
            let held = stream.call.take_message(&stream.client, 90 - PREFIX_BYTES).unwrap();
            assert_eq!(held.len(), 90 - PREFIX_BYTES);
            advance(40 * SECOND).await;
        }
        stream.call.pause();
        advance(1000 * SECOND).await;
        assert!(stream.read().await.is_none(), "the server itself did not read");
        advance(61 * SECOND).await;
        assert!(stream.read().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn does_not_limit_the_time_between_messages() {
        let mut stream = Stream::new();
        assert!(stream.read().await.is_none());
        advance(1000 * SECOND).await;
        assert!(stream.read().await.is_none());
    }
}
