//! HTTP/2 as an attacker speaks it: calls that are begun and not ended, and answers for which no window is opened.
//! RFC 9113.

use std::io::{self, Write};
use std::net::TcpStream;

use bytes::Bytes;

/// A connection over plaintext.
pub(super) struct Http2Connection {
    stream: TcpStream,
    last_stream: u32,
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_HEADERS: u8 = 4;

impl Http2Connection {
    pub(super) fn open(address: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_write_timeout(Some(std::time::Duration::from_secs(1)))?;
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        let mut http2 = Self { stream, last_stream: 0 };
        http2.frame(SETTINGS, 0, 0, &[])?;
        Ok(http2)
    }

    /// Begins a call that announces a message of a length, and sends the first bytes of it.
    pub(super) fn begin(&mut self, method: &str, announced: u32, message: &[u8]) -> io::Result<()> {
        // Streams of clients have odd numbers: RFC 9113 5.1.1.
        self.last_stream = if self.last_stream == 0 { 1 } else { self.last_stream + 2 };
        let path = format!("/oarlock.v1.Cryptoserver/{method}");
        let mut block = Vec::new();
        for (name, value) in [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", &path),
            (":authority", "siege"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ] {
            literal(&mut block, name, value);
        }
        self.frame(HEADERS, END_HEADERS, self.last_stream, &block)?;
        // A message of gRPC: a flag that says uncompressed, the length, the bytes.
        let mut data = vec![0];
        data.extend_from_slice(&announced.to_be_bytes());
        data.extend_from_slice(message);
        // The maximum frame that every server accepts: RFC 9113 4.2.
        for piece in data.chunks(16_384) {
            self.frame(DATA, 0, self.last_stream, piece)?;
        }
        Ok(())
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let len = (payload.len() as u32).to_be_bytes();
        let mut bytes = vec![len[1], len[2], len[3], kind, flags];
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes)
    }
}

/// Sends a call with a message in JSON, reads the answer, and begins again while `goes_on` says so.
pub(super) fn call_again_and_again(
    address: &str,
    method: &str,
    text: &Bytes,
    goes_on: impl Fn() -> bool,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await?;
        let (mut calls, connection) = h2::client::handshake(stream).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        while goes_on() {
            let request = http::Request::post(format!("http://siege/oarlock.v1.Cryptoserver/{method}"))
                .header("content-type", "application/json")
                .body(())
                .map_err(io::Error::other)?;
            calls = calls.ready().await.map_err(io::Error::other)?;
            let (answer, mut body) = calls.send_request(request, false).map_err(io::Error::other)?;
            body.send_data(text.clone(), true).map_err(io::Error::other)?;
            answer.await.map_err(io::Error::other)?;
        }
        Ok(())
    })
}

/// Appends a header without indexing and without Huffman codes. RFC 7541 6.2.2.
fn literal(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        // None is longer than 126 bytes, so that the length has one byte.
        block.push(text.len() as u8);
        block.extend_from_slice(text.as_bytes());
    }
}
