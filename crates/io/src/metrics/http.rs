//! `/metrics` and `/healthz` over HTTP/1.1, for monitoring: one request per connection.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::text;
use crate::{LogLimit, accept_next};

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

/// The maximum number of connections. A further connection ends the oldest one. A working client has finished long
/// before that.
const MAX_CONNECTIONS: usize = 64;

/// The time limit of a connection.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The maximum length of a request's head, and of a write, in bytes.
const BUFFER_BYTES: usize = 16 << 10;

/// Limits the log of failures: every accept fails if the system has no descriptors left.
static FAILURES: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Answers requests until the future is dropped.
pub async fn serve<P: MetricsPage>(listener: TcpListener, page: Arc<P>) {
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
        order.push_back(connections.spawn(answer(stream, Arc::clone(&page))));
    }
}

fn report_failure(error: io::Error) {
    if let Some(suppressed) = FAILURES.admit() {
        warn!(%error, suppressed, "a client of the metrics could not be accepted");
    }
}

/// Answers one request of one client. Bytes that are not HTTP get the status 400 or no answer.
async fn answer<P: MetricsPage>(stream: impl AsyncRead + AsyncWrite + Unpin, page: Arc<P>) {
    let respond = service_fn(|request| ready(Ok::<_, Infallible>(respond(&*page, &request))));
    let mut server = http1::Builder::new();
    let connection =
        server.keep_alive(false).max_buf_size(BUFFER_BYTES).serve_connection(TokioIo::new(stream), respond);
    match timeout(TIME_LIMIT, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "a client of the metrics failed"),
        Err(_) => debug!("a client of the metrics took too long"),
    }
}

fn respond<B>(page: &impl MetricsPage, request: &Request<B>) -> Response<String> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/metrics" => with_type(StatusCode::OK, page.page(), text::CONTENT_TYPE),
        "/healthz" => match page.refusal() {
            Some(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, &format!("{reason}\n")),
            None => plain(StatusCode::OK, "ok\n"),
        },
        _ => plain(StatusCode::NOT_FOUND, "expected /metrics or /healthz\n"),
    }
}

fn plain(status: StatusCode, body: &str) -> Response<String> {
    with_type(status, body.to_owned(), "text/plain; charset=utf-8")
}

fn with_type(status: StatusCode, body: String, content_type: &'static str) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
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

    /// Returns the response to these bytes, from a client that reads as fast as it can.
    async fn ask(page: &Arc<Stub>, request: &str) -> String {
        let (mut client, server) = duplex(1 << 20);
        client.write_all(request.as_bytes()).await.unwrap();
        tokio::spawn(answer(server, Arc::clone(page)));
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
        answer(server, Arc::clone(&service)).await;
        assert!(began.elapsed() >= TIME_LIMIT && began.elapsed() < 2 * TIME_LIMIT);
        // The buffer holds the request but not the response.
        let (mut deaf, server) = duplex(64);
        deaf.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        answer(server, service).await;
        assert!(began.elapsed() >= 2 * TIME_LIMIT && began.elapsed() < 3 * TIME_LIMIT);
    }
}
