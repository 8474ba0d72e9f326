//! Pages over HTTP/1.1, for monitoring: one request per connection. `/metrics` and `/healthz` are the pages of each
//! service.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{pending, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use oarlock_network::{LogLimit, accept_next};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::text;

/// A source of metrics.
pub trait MetricsPage: Send + Sync + 'static {
    /// Returns the current page of metrics.
    fn page(&self) -> String;

    /// Returns true if the service accepts no more work.
    fn is_draining(&self) -> bool;

    /// Returns the reason why work is refused at present, if there is one.
    fn refusal(&self) -> Option<&'static str> {
        self.is_draining().then_some("draining")
    }
}

/// The pages of a listener.
pub trait HttpPages: Send + Sync + 'static {
    /// Returns the page at a path, or `None` if there is none. `host` is the request's header `Host`, if it has one.
    fn page(&self, path: &str, host: Option<&str>) -> Option<HttpPage>;

    /// Returns the paths for the text of an answer 404, such as `/metrics or /healthz`.
    fn paths(&self) -> &'static str;
}

/// A page as it is sent.
#[derive(Clone, Debug)]
pub struct HttpPage {
    /// The status of the answer.
    pub status: StatusCode,
    /// The value of the header `content-type`.
    pub content_type: &'static str,
    /// Further headers, with names in lower case.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body. Several connections share its memory.
    pub body: Bytes,
}

impl HttpPage {
    /// Returns a page with a body, without further headers.
    #[must_use]
    pub fn new(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status, content_type, headers: &[], body: body.into() }
    }

    /// Returns a page of plain text.
    #[must_use]
    pub fn text(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }
}

/// The pages `/metrics` and `/healthz` of a service.
struct MetricsPages<P>(Arc<P>);

impl<P: MetricsPage> HttpPages for MetricsPages<P> {
    fn page(&self, path: &str, _: Option<&str>) -> Option<HttpPage> {
        match path {
            "/metrics" => Some(HttpPage::new(StatusCode::OK, text::CONTENT_TYPE, self.0.page())),
            "/healthz" => Some(match self.0.refusal() {
                Some(reason) => HttpPage::text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
                None => HttpPage::text(StatusCode::OK, "ok\n"),
            }),
            _ => None,
        }
    }

    fn paths(&self) -> &'static str {
        "/metrics or /healthz"
    }
}

/// The maximum number of connections. A further connection ends the oldest one. A working client has finished long
/// before that.
const MAX_CONNECTIONS: usize = 64;

/// The time limit of a connection.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The maximum length of a request's head, and of a write, in bytes.
const BUFFER_BYTES: usize = 16 << 10;

/// Limits the log of failures: every accept fails if the system has no descriptors left.
static FAILURES: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Answers requests for metrics until the future is dropped. Without a listener it only waits for that.
pub async fn serve<P: MetricsPage>(listener: Option<TcpListener>, page: Arc<P>) {
    match listener {
        Some(listener) => serve_pages(listener, Arc::new(MetricsPages(page))).await,
        None => pending().await,
    }
}

/// Answers requests for pages until the future is dropped. Memory and time are bounded: a client that reads slowly or
/// never is cut after ten seconds, and there are at most 64 connections.
pub async fn serve_pages<P: HttpPages>(listener: TcpListener, pages: Arc<P>) {
    let mut connections = JoinSet::new();
    let mut order: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let (stream, _) = accept_next(|| listener.accept(), report_failure).await;
        while connections.try_join_next().is_some() {}
        order.retain(|connection| !connection.is_finished());
        if order.len() >= MAX_CONNECTIONS
            && let Some(oldest) = order.pop_front()
        {
            oldest.abort();
        }
        order.push_back(connections.spawn(answer(stream, Arc::clone(&pages))));
    }
}

fn report_failure(error: io::Error) {
    if let Some(suppressed) = FAILURES.admit() {
        warn!(%error, suppressed, "a client of the metrics could not be accepted");
    }
}

/// Answers one request of one client. Bytes that are not HTTP get the status 400 or no answer.
async fn answer<P: HttpPages>(stream: impl AsyncRead + AsyncWrite + Unpin, pages: Arc<P>) {
    let respond = service_fn(|request| ready(Ok::<_, Infallible>(respond(&*pages, &request))));
    let mut server = http1::Builder::new();
    let connection =
        server.keep_alive(false).max_buf_size(BUFFER_BYTES).serve_connection(TokioIo::new(stream), respond);
    match timeout(TIME_LIMIT, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "a client of the metrics failed"),
        Err(_) => debug!("a client of the metrics took too long"),
    }
}

fn respond<B>(pages: &impl HttpPages, request: &Request<B>) -> Response<SharedBody> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let page = HttpPage::text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n");
        let mut response = response(page);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let page = pages.page(request.uri().path(), host);
    response(
        page.unwrap_or_else(|| {
            HttpPage::text(StatusCode::NOT_FOUND, format!("expected {}\n", pages.paths()))
        }),
    )
}

fn response(page: HttpPage) -> Response<SharedBody> {
    let mut response = Response::new(SharedBody(page.body));
    *response.status_mut() = page.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    for (name, value) in page.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// A body whose memory several responses share.
struct SharedBody(Bytes);

impl Body for SharedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then_some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Stub(AtomicBool);

    impl MetricsPage for Stub {
        fn page(&self) -> String {
            "# HELP a A.\na 1\n".to_owned()
        }

        fn is_draining(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn pages(stub: &Arc<Stub>) -> Arc<MetricsPages<Stub>> {
        Arc::new(MetricsPages(Arc::clone(stub)))
    }

    /// Returns the response to these bytes, from a client that reads as fast as it can.
    async fn ask(page: &Arc<Stub>, request: &str) -> String {
        let (mut client, server) = duplex(1 << 20);
        client.write_all(request.as_bytes()).await.unwrap();
        tokio::spawn(answer(server, pages(page)));
        let mut response = String::new();
        // The server ends the connection at its own limit, so more time means that the limit does not work.
        let read = timeout(2 * TIME_LIMIT, client.read_to_string(&mut response)).await;
        read.unwrap().unwrap();
        response
    }

    #[tokio::test]
    async fn answers_each_path() {
        let service = Arc::new(Stub::default());
        let ok = ask(&service, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(ok.starts_with("HTTP/1.1 200 OK\r\n") && ok.ends_with("\r\n\r\nok\n"), "{ok}");
        let page = ask(&service, "GET /metrics?all HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(page.contains("content-type: text/plain; version=0.0.4"), "{page}");
        assert!(page.ends_with("\na 1\n"), "{page}");
        let head = ask(&service, "HEAD /metrics HTTP/1.0\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.0 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        let nowhere = ask(&service, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(nowhere.starts_with("HTTP/1.1 404"), "{nowhere}");
        let post = ask(&service, "POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n").await;
        assert!(post.starts_with("HTTP/1.1 405") && post.contains("allow: GET, HEAD"), "{post}");
        service.0.store(true, Ordering::Relaxed);
        let draining = ask(&service, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(draining.starts_with("HTTP/1.1 503") && draining.ends_with("draining\n"), "{draining}");
    }

    #[tokio::test]
    async fn rejects_requests_that_are_not_http() {
        let service = Arc::new(Stub::default());
        let garbage = ask(&service, "\u{1}\u{2}\u{3} what?\r\n\r\n").await;
        assert!(garbage.starts_with("HTTP/1.1 400"), "{garbage}");
        let long = format!("GET /metrics HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(2 * BUFFER_BYTES));
        let refused = ask(&service, &long).await;
        assert!(refused.starts_with("HTTP/1.1 431"), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn disconnects_slow_clients() {
        let service = Arc::new(Stub::default());
        let began = Instant::now();
        let (mut silent, server) = duplex(1 << 10);
        silent.write_all(b"GET /metr").await.unwrap();
        answer(server, pages(&service)).await;
        assert!(began.elapsed() >= TIME_LIMIT && began.elapsed() < 2 * TIME_LIMIT);
        // The buffer holds the request but not the response.
        let (mut deaf, server) = duplex(64);
        deaf.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        answer(server, pages(&service)).await;
        assert!(began.elapsed() >= 2 * TIME_LIMIT && began.elapsed() < 3 * TIME_LIMIT);
    }
}
