//! The exchange with a responder over HTTP. RFC 6960 A.1.

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::question::ResponderAddress;

/// The maximum time of an exchange.
const MAX_EXCHANGE: Duration = Duration::from_secs(10);

/// The maximum length of a response. Those of public authorities have less than 4 KiB.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The maximum length of the head of a response, and of what is read at a time.
const MAX_BUFFER_BYTES: usize = 16 << 10;

/// The reason why a responder gave no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no response within {} seconds", MAX_EXCHANGE.as_secs())]
    Timeout,
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("expected status 200, found {0}: redirects are not followed")]
    Status(StatusCode),
    #[error("the response is cut, or longer than {MAX_RESPONSE_BYTES} bytes: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
    #[error("the request cannot be made: {0}")]
    Request(String),
}

impl FetchError {
    /// Returns true if the next question would probably fail too.
    pub(super) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Connect(_) | Self::Timeout | Self::Http(_))
    }
}

/// Sends a request, and returns the response.
///
/// # Errors
/// The responder cannot be reached, does not answer in time, or answers with something else than one short response.
pub(super) async fn fetch(responder: &ResponderAddress, question: Vec<u8>) -> Result<Vec<u8>, FetchError> {
    timeout(MAX_EXCHANGE, exchange(responder, question)).await.unwrap_or(Err(FetchError::Timeout))
}

async fn exchange(responder: &ResponderAddress, question: Vec<u8>) -> Result<Vec<u8>, FetchError> {
    let tcp = TcpStream::connect((responder.host.as_str(), responder.port)).await;
    let tcp = TokioIo::new(tcp.map_err(FetchError::Connect)?);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(MAX_BUFFER_BYTES).handshake(tcp).await?;
    // The end of the exchange ends the task too.
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let path = responder.uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = responder.uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::post(path)
        .header(HOST, authority)
        .header(CONTENT_TYPE, "application/ocsp-request")
        .header(ACCEPT, "application/ocsp-response")
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(question)))
        .map_err(|error| FetchError::Request(error.to_string()))?;
    let response = sender.send_request(request).await?;
    if response.status() != StatusCode::OK {
        return Err(FetchError::Status(response.status()));
    }
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    Ok(body.map_err(FetchError::Body)?.to_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::ocsp::question::ResponderAddress;

    const QUESTION: &[u8] = b"question";

    /// Starts a responder that reads one request and answers with these pieces, of which the last one repeats for ever
    /// if `is_endless` is true. Otherwise it then closes the connection.
    async fn responder(pieces: Vec<Vec<u8>>, is_endless: bool) -> ResponderAddress {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/ocsp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(QUESTION) {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            let head = String::from_utf8_lossy(&request).to_lowercase();
            assert!(head.starts_with("post /ocsp http/1.1\r\n"), "{head}");
            assert!(head.contains("content-type: application/ocsp-request"), "{head}");
            for piece in &pieces {
                stream.write_all(piece).await.unwrap();
            }
            while is_endless && stream.write_all(pieces.last().unwrap()).await.is_ok() {}
        });
        ResponderAddress::parse(&url).unwrap()
    }

    async fn answer(text: &str, body: &[u8]) -> Result<Vec<u8>, FetchError> {
        fetch(&responder(vec![text.as_bytes().to_vec(), body.to_vec()], false).await, QUESTION.to_vec()).await
    }

    #[tokio::test]
    async fn a_short_response_is_taken() {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n";
        assert_eq!(answer(head, b"answer").await.unwrap(), b"answer");
        // Without a length the end of the connection counts.
        assert_eq!(answer("HTTP/1.0 200 OK\r\n\r\n", b"answer").await.unwrap(), b"answer");
        let whole = vec![1; MAX_RESPONSE_BYTES];
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", whole.len());
        assert_eq!(answer(&head, &whole).await.unwrap(), whole);
    }

    #[tokio::test]
    async fn other_answers_are_refused() {
        let redirect = answer("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n", b"").await;
        assert!(matches!(redirect, Err(FetchError::Status(StatusCode::FOUND))), "{redirect:?}");
        let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MAX_RESPONSE_BYTES + 1);
        let long = answer(&long, &vec![0; MAX_RESPONSE_BYTES + 1]).await;
        assert!(matches!(long, Err(FetchError::Body(_))), "{long:?}");
        let cut = answer("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", b"answer").await;
        assert!(matches!(cut, Err(FetchError::Body(_))), "{cut:?}");
        for garbage in ["", "SSH-2.0-x\r\n", "HTTP/1.1 200", "\0\0\0\0"] {
            let refused = answer(garbage, b"").await;
            assert!(matches!(refused, Err(FetchError::Http(_))), "{refused:?}");
        }
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let closed = ResponderAddress::parse(&format!("http://{closed}")).unwrap();
        let refused = fetch(&closed, QUESTION.to_vec()).await.unwrap_err();
        assert!(matches!(refused, FetchError::Connect(_)) && refused.is_unreachable());
    }

    #[tokio::test]
    async fn an_endless_answer_ends_at_the_limit() {
        let chunk = [b"1000\r\n".as_slice(), &[0; 0x1000], b"\r\n"].concat();
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        let endless = fetch(&responder(vec![head, chunk], true).await, QUESTION.to_vec()).await;
        assert!(matches!(endless, Err(FetchError::Body(_))), "{endless:?}");
        let head = b"HTTP/1.1 200 OK\r\n".to_vec();
        let endless =
            fetch(&responder(vec![head, b"x: y\r\n".to_vec()], true).await, QUESTION.to_vec()).await;
        assert!(matches!(endless, Err(FetchError::Http(_))), "{endless:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_responder_is_left() {
        // The listener accepts by its backlog, and nobody reads.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let silent = ResponderAddress::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let left = fetch(&silent, QUESTION.to_vec()).await.unwrap_err();
        assert!(matches!(left, FetchError::Timeout) && left.is_unreachable(), "{left:?}");
    }
}
