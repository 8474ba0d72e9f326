//! Shared memory between a local client and the server, with honest and hostile clients.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::BytesMut;
use oarlock::keys::generate;
use oarlock::{Accelerator, Input, Job, Key, SigningScheme};
use oarlock_shared_memory::{RingPair, RingReader, RingSizes, RingWriter, receive_with_file};
use oarlock_wire::proto::{self, Code, OpenKey, OpenRing, Response, open_key, request, response};
use oarlock_wire::{
    ConnectionPool, JobKeySource, LinkTransport, Message, PoolConfig, RingUnavailable, ServerLink,
    ServerUsers, frame, jobs,
};

use crate::test_server::{TestServer, engines, open_resident, request};

fn edwards_job() -> proto::Jobs {
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"message"));
    jobs::write([(job, 0)].into_iter()).unwrap()
}

/// A client with a ring of its own, which may write anything.
struct RawClient {
    socket: UnixStream,
    sizes: RingSizes,
    requests: RingWriter,
    answers: RingReader,
    file: std::os::fd::OwnedFd,
    bytes: BytesMut,
}

impl RawClient {
    fn open(path: &Path, sizes: RingSizes) -> Self {
        Self::try_open(path, sizes).unwrap_or_else(|fault| panic!("{}", fault.message))
    }

    fn try_open(path: &Path, sizes: RingSizes) -> Result<Self, proto::Fault> {
        let mut socket = UnixStream::connect(path).unwrap();
        let (request_bytes, answer_bytes) = (sizes.requests as u64, sizes.answers as u64);
        let mut bytes = BytesMut::from(&frame::PREAMBLE[..]);
        let open = request(1, request::Body::OpenRing(OpenRing { request_bytes, answer_bytes }));
        frame::write(&open, &mut bytes).unwrap();
        socket.write_all(&bytes).unwrap();
        let (mut received, mut file) = (BytesMut::new(), None);
        loop {
            if let Some(message) = frame::take(&mut received, 1 << 20).unwrap() {
                let ring = match Response::decode(message).unwrap().body {
                    Some(response::Body::Ring(ring)) => ring,
                    Some(response::Body::Fault(fault)) => return Err(fault),
                    other => panic!("{other:?}"),
                };
                let sizes =
                    RingSizes { requests: ring.request_bytes as usize, answers: ring.answer_bytes as usize };
                let file: std::os::fd::OwnedFd = Option::take(&mut file).unwrap();
                let pair = RingPair::open(file.try_clone().unwrap(), sizes).unwrap();
                let (requests, answers) = pair.into_client();
                return Ok(Self { socket, sizes, requests, answers, file, bytes: BytesMut::new() });
            }
            let mut buffer = [0; 4096];
            let (len, found) = receive_with_file(&socket, &mut buffer).unwrap();
            assert!(len > 0, "the server closed the connection");
            file = file.or(found);
            received.extend_from_slice(&buffer[..len]);
        }
    }

    /// Writes bytes to the memory, behind the back of the protocol.
    fn poke(&self, offset: u64, bytes: &[u8]) {
        rustix::io::pwrite(&self.file, bytes, offset).unwrap();
    }

    fn wake(&mut self) {
        self.socket.write_all(&[0; frame::HEADER_BYTES]).unwrap();
    }

    fn send(&mut self, request: &proto::Request) {
        assert!(self.requests.write(&request.encode_to_vec()).unwrap());
        if self.requests.take_sleeper() {
            self.wake();
        }
    }

    /// Returns the next answer of the ring.
    fn answer(&mut self) -> Response {
        loop {
            self.bytes.clear();
            if self.answers.read(&mut self.bytes).unwrap().is_some() {
                return Response::decode(&*self.bytes).unwrap();
            }
            if self.answers.sleep().unwrap() {
                let mut wake = [0; frame::HEADER_BYTES];
                self.socket.read_exact(&mut wake).unwrap();
                assert_eq!(wake, [0; frame::HEADER_BYTES], "only wake-ups");
            }
        }
    }

    /// Returns the last message of the socket before its end, which is the server's reason.
    fn end(mut self) -> String {
        let mut received = Vec::new();
        read_to_end(&mut self.socket, &mut received);
        let (mut received, mut last) = (BytesMut::from(&*received), None);
        while let Some(message) = frame::take(&mut received, 1 << 20).unwrap() {
            last = Some(Response::decode(message).unwrap());
        }
        match last.and_then(|response| response.body) {
            Some(response::Body::Fault(fault)) => fault.message,
            other => panic!("{other:?}"),
        }
    }
}

/// Reads what the server sends until it ends the connection. A server that has not read the last wake-up resets the
/// connection after its reason.
fn read_to_end(socket: &mut UnixStream, received: &mut Vec<u8>) {
    if let Err(error) = socket.read_to_end(received) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

const SIZES: RingSizes = RingSizes { requests: 1 << 16, answers: 1 << 16 };

fn open_key(id: u64) -> proto::Request {
    let source = Some(open_key::Source::Resident("ed25519".into()));
    request(id, request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() }))
}

/// Asserts that the server still serves a client through shared memory.
async fn assert_serves(server: &TestServer) {
    let link = ServerLink::open(&server.unix()).await.unwrap();
    assert_eq!(*link.transport(), LinkTransport::Ring);
    open_resident(&link, 0, "ed25519").await;
    let answer = link.call(request::Body::Jobs(edwards_job())).await.unwrap();
    assert!(matches!(answer, response::Body::Results(results) if results.codes.is_empty()));
}

/// Runs blocking code of a raw client beside the server.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn path_of(server: &TestServer) -> std::path::PathBuf {
    server.addresses.unix.clone().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_every_length_pass_and_long_ones_take_the_socket() {
    let server = TestServer::with(|config, _| {
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.limits.max_ring_bytes = 1 << 14;
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    assert_eq!(*link.transport(), LinkTransport::Ring);
    open_resident(&link, 0, "ed25519").await;
    let key = generate::ed25519().unwrap();
    // A batch of 400 is longer than the ring, in both directions.
    let batch = |count: usize| {
        let message = vec![7; 200];
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(&message));
        request::Body::Jobs(jobs::write((0..count).map(|_| (job, 0))).unwrap())
    };
    for _ in 0..3 {
        let counts = [1, 20, 400, 1, 64, 2, 400, 3];
        let answers = counts.map(|count| link.call(batch(count)));
        for (count, answer) in counts.into_iter().zip(futures_util::future::join_all(answers).await) {
            let response::Body::Results(results) = answer.unwrap() else { panic!("results") };
            assert_eq!(results.outputs.len(), 64 * count);
        }
    }
    let page = server_metrics(&server).await;
    for name in ["oarlock_ring_received_bytes_total", "oarlock_ring_sent_bytes_total"] {
        assert!(value_of(&page, name) > 1000, "{page}");
    }
    assert!(value_of(&page, "oarlock_received_bytes_total") > 6 * 80_000, "long ones by the socket: {page}");
    assert_eq!(value_of(&page, "oarlock_rings_open"), 1);
    drop(link);
}

async fn server_metrics(server: &TestServer) -> String {
    let address = server.addresses.metrics.unwrap();
    blocking(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    })
    .await
}

fn value_of(page: &str, name: &str) -> u64 {
    let line = page.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_used_before_the_answer_to_its_opening_keeps_its_order() {
    let server = TestServer::with(|config, _| config.limits.max_ring_bytes = 1 << 12).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let key = generate::ed25519().unwrap();
    for round in 0..50_usize {
        // The first request is longer than the ring in every second round, so that the others follow it on the socket.
        let long = vec![1; if round % 2 == 0 { 8000 } else { 8 }];
        let job = |message| Job::sign(SigningScheme::ED25519, &key, Input::Message(message));
        let body = |message| request::Body::Jobs(jobs::write([(job(message), 0)].into_iter()).unwrap());
        let source = Some(open_key::Source::Resident("ed25519".into()));
        let open = request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() });
        let close = request::Body::CloseKey(proto::CloseKey { handle: 0 });
        let (opened, first, second, closed) = tokio::join!(
            link.call(open),
            link.call(body(&long)),
            link.call(body(b"short")),
            link.call(close)
        );
        opened.unwrap();
        closed.unwrap();
        for answer in [first, second] {
            let response::Body::Results(results) = answer.unwrap() else { panic!("results") };
            assert!(results.codes.is_empty(), "round {round}: {}", results.faults[0].message);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_opens_its_ring_with_its_first_question() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    blocking(move || {
        let config = PoolConfig {
            path,
            users: ServerUsers::default(),
            patience: Duration::from_secs(60),
            max_idle: 4,
            has_ring: true,
        };
        let checker: Accelerator = engines().engines(["scalar"]).build().unwrap();
        let pool = ConnectionPool::new(config.clone(), checker.clone());
        let info = pool.key_info("ed25519").unwrap();
        assert_eq!((pool.idle(), pool.idle_with_ring()), (1, 1));
        let key = held(&info);
        let source = JobKeySource::Resident { name: "ed25519", fingerprint: None };
        for number in 0..200_usize {
            // Every twentieth question is longer than the ring.
            let message = vec![3; if number % 20 == 19 { 40_000 } else { number }];
            let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(&message));
            let answer = pool.start(&job, source).unwrap().wait().unwrap();
            assert_eq!(answer.output.expose().len(), 64);
            assert_eq!((pool.idle(), pool.idle_with_ring()), (1, 1), "question {number}");
        }
        let without = ConnectionPool::new(PoolConfig { has_ring: false, ..config }, checker);
        without.key_info("ed25519").unwrap();
        assert_eq!((without.idle(), without.idle_with_ring()), (1, 0));
    })
    .await;
}

fn held(info: &proto::KeyInfo) -> Key {
    oarlock::keys::held::from_spki(&info.public_key, "servers", "ed25519").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn says_why_there_is_no_ring() {
    let server = TestServer::with(|config, _| config.limits.max_ring_bytes = 0).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    assert!(link.transport().to_string().contains("max_ring_bytes"), "{}", link.transport());
    open_resident(&link, 0, "ed25519").await;
    let link = ServerLink::open_without_ring(&server.unix(), "not wanted").await.unwrap();
    assert_eq!(
        *link.transport(),
        LinkTransport::Socket { no_ring: RingUnavailable::Unwanted("not wanted".into()) }
    );
    open_resident(&link, 0, "ed25519").await;
    // Rings belong to the UNIX socket.
    let link = ServerLink::open(&server.plaintext()).await.unwrap();
    let error = link.call(request::Body::OpenRing(OpenRing::default())).await.unwrap_err().to_string();
    assert!(error.contains("on the UNIX socket only"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_positions_and_lengths_end_only_their_connection() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    let positions = [1_u64, 7, SIZES.requests as u64 + 8, 1 << 40, u64::MAX, u64::MAX - 7, 1 << 63];
    for position in positions {
        let path = path.clone();
        let end = blocking(move || {
            let mut client = RawClient::open(&path, SIZES);
            client.poke(0, &position.to_le_bytes());
            client.wake();
            client.end()
        });
        let end = end.await;
        assert!(end.contains("an impossible position"), "{position}: {end}");
    }
    for len in [1_u64 << 20, SIZES.requests as u64, u64::MAX, 9] {
        let path = path.clone();
        let end = blocking(move || {
            let mut client = RawClient::open(&path, SIZES);
            client.poke(4096, &len.to_le_bytes());
            client.poke(0, &16_u64.to_le_bytes());
            client.wake();
            client.end()
        });
        let end = end.await;
        assert!(end.contains(&format!("a frame of {len} bytes")), "{len}: {end}");
    }
    // Positions of the ring of answers: the reader claims to have read what was never written.
    let end = blocking(move || {
        let mut client = RawClient::open(&path, SIZES);
        client.poke(4 * 128, &(1_u64 << 33).to_le_bytes());
        // The server looks at the position when its ring seems full.
        for id in 2..1000 {
            client.socket.set_nonblocking(true).unwrap();
            if client.requests.write(&open_key(id).encode_to_vec()).unwrap() && client.requests.take_sleeper()
            {
                let _ = client.socket.write(&[0; frame::HEADER_BYTES]);
            }
        }
        client.socket.set_nonblocking(false).unwrap();
        client.end()
    });
    let end = end.await;
    assert!(end.contains("an impossible position"), "{end}");
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_message_end_only_their_connection() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    let end = blocking(move || {
        let mut client = RawClient::open(&path, SIZES);
        assert!(client.requests.write(&[0xff; 40]).unwrap());
        client.wake();
        client.end()
    });
    assert!(end.await.contains("expected a message of this protocol"));
    assert_serves(&server).await;
}

/// A client that changes bytes and lengths while the server reads. The server copies once what it sees: each
/// request gets an answer or the connection ends with a reason.
#[tokio::test(flavor = "multi_thread")]
async fn memory_that_changes_while_it_is_read_harms_nobody() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    let ends = blocking(move || {
        let mut ends = Vec::new();
        for round in 0..20_u64 {
            let mut client = RawClient::open(&path, RingSizes { requests: 4096, answers: 4096 });
            let file = client.file.try_clone().unwrap();
            let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let is_stopped = std::sync::Arc::clone(&stop);
            let vandal = std::thread::spawn(move || {
                let mut random = round + 1;
                while !is_stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let offset = 4096 + (random >> 33) % 4096;
                    rustix::io::pwrite(&file, &[(random >> 56) as u8], offset).unwrap();
                }
            });
            client.socket.set_nonblocking(true).unwrap();
            for id in 2..300 {
                let request = open_key(id).encode_to_vec();
                let Ok(written) = client.requests.write(&request) else { break };
                if written && client.requests.take_sleeper() {
                    let _ = client.socket.write(&[0; frame::HEADER_BYTES]);
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            vandal.join().unwrap();
            client.socket.set_nonblocking(false).unwrap();
            client.socket.shutdown(std::net::Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let _ = client.socket.read_to_end(&mut rest);
            ends.push(rest.len());
        }
        ends
    });
    assert_eq!(ends.await.len(), 20);
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_cannot_be_cut_and_a_hole_in_it_is_zeros() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    blocking(move || {
        let mut client = RawClient::open(&path, SIZES);
        for len in [0, 1, 4096, 1 << 30] {
            assert_eq!(rustix::fs::ftruncate(&client.file, len).unwrap_err(), rustix::io::Errno::PERM);
        }
        client.send(&open_key(2));
        assert_eq!(client.answer().id, 2);
        let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&client.file, flags, 0, client.sizes.file_len() as u64).unwrap();
        client.wake();
        // Positions of zero are behind those that the server has read: it ends the connection, and does not crash.
        assert!(client.end().contains("an impossible position"));
    })
    .await;
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_reads_its_answers_holds_up_nobody() {
    let server = TestServer::with(|config, _| config.limits.max_stall_seconds = 1).await;
    let path = path_of(&server);
    blocking(move || {
        let mut client = RawClient::open(&path, RingSizes { requests: 1 << 16, answers: 4096 });
        client.socket.set_nonblocking(true).unwrap();
        let mut id = 2;
        // The ring of answers and then the socket fill up, and the server cuts the connection after a while.
        let error = loop {
            let list = request(id, request::Body::ListKeys(proto::ListKeysRequest {})).encode_to_vec();
            if client.requests.write(&list).unwrap() {
                id += 1;
            }
            if client.requests.take_sleeper()
                && let Err(error) = client.socket.write_all(&[0; frame::HEADER_BYTES])
            {
                break error;
            }
            if client.socket.peek_end() {
                break std::io::ErrorKind::BrokenPipe.into();
            }
            std::thread::yield_now();
        };
        assert_ne!(error.kind(), std::io::ErrorKind::TimedOut);
        assert!(id > 60, "{id}");
    })
    .await;
    assert_serves(&server).await;
}

/// Tells if the server has cut a connection, without reading its answers.
trait PeekEnd {
    fn peek_end(&self) -> bool;
}

impl PeekEnd for UnixStream {
    fn peek_end(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut polled = [PollFd::new(self, PollFlags::empty())];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
        polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_rings_are_served_and_end_with_their_connections() {
    let server = TestServer::with(|config, _| {
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.limits.max_unix_connections = 1100;
        config.limits.max_connections_per_client = 1100;
        (config.limits.max_bytes_per_client, config.limits.max_bytes) = (512 << 20, 512 << 20);
    })
    .await;
    let path = path_of(&server);
    let clients = blocking(move || {
        let small = RingSizes { requests: 4096, answers: 4096 };
        let mut clients: Vec<RawClient> = (0..1000).map(|_| RawClient::open(&path, small)).collect();
        for client in &mut clients {
            client.send(&open_key(2));
        }
        for client in &mut clients {
            assert_eq!(client.answer().id, 2);
        }
        clients
    })
    .await;
    let page = server_metrics(&server).await;
    assert_eq!(value_of(&page, "oarlock_rings_open"), 1000);
    drop(clients);
    while value_of(&server_metrics(&server).await, "oarlock_rings_open") > 0 {
        tokio::task::yield_now().await;
    }
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_rings_for_half_of_its_bytes_and_goes_on_without() {
    let server = TestServer::with(|config, _| {
        config.limits.max_message_bytes = 1 << 20;
        config.limits.max_bytes_per_client = 4 << 20;
    })
    .await;
    let path = path_of(&server);
    let kept = blocking(move || {
        let large = RingSizes { requests: 1 << 19, answers: 1 << 19 };
        let first = RawClient::open(&path, large);
        let fault = match RawClient::try_open(&path, large) {
            Err(fault) => fault,
            Ok(_) => RawClient::try_open(&path, large).map(drop).unwrap_err(),
        };
        assert_eq!(fault.code(), Code::ResourceExhausted, "{}", fault.message);
        assert!(fault.message.contains("gets no more rings"), "{}", fault.message);
        first
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
    drop(kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_ring_on_one_connection_is_refused() {
    let server = TestServer::new().await;
    let path = path_of(&server);
    blocking(move || {
        let mut client = RawClient::open(&path, SIZES);
        client.send(&open_key(2));
        assert_eq!(client.answer().id, 2);
        let mut bytes = BytesMut::new();
        let again = request(7, request::Body::OpenRing(OpenRing { request_bytes: 1, answer_bytes: 1 }));
        frame::write(&again, &mut bytes).unwrap();
        client.socket.write_all(&bytes).unwrap();
        let Some(response::Body::Fault(fault)) = client.answer().body else { panic!("a refusal") };
        assert!(fault.message.contains("once per connection"), "{}", fault.message);
        // The first ring still works.
        client.send(&open_key(8));
        assert_eq!(client.answer().id, 8);
    })
    .await;
}

/// Requests for rings count like all others. Otherwise their answers would fill the server's memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_asks_for_rings_for_ever_is_cut_off() {
    let server = TestServer::with(|config, _| config.limits.max_stall_seconds = 1).await;
    let path = path_of(&server);
    blocking(move || {
        let mut socket = UnixStream::connect(&path).unwrap();
        let mut bytes = BytesMut::from(&frame::PREAMBLE[..]);
        let open = request(1, request::Body::OpenRing(OpenRing::default()));
        (0..500_000).for_each(|_| frame::write(&open, &mut bytes).unwrap());
        // The client reads nothing, so the server stops reading, and cuts the connection before it has read them all.
        let error = socket.write_all(&bytes).unwrap_err();
        let is_cut =
            matches!(error.kind(), std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::ConnectionReset);
        assert!(is_cut, "{error}");
    })
    .await;
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_says_so_on_the_socket_and_leaves_whole_answers() {
    let mut server = TestServer::new().await;
    let path = path_of(&server);
    let mut client = blocking(move || {
        let mut client = RawClient::open(&path, SIZES);
        client.send(&open_key(2));
        assert_eq!(client.answer().id, 2);
        client
    })
    .await;
    client.send(&request(3, request::Body::Jobs(edwards_job())));
    server.begin_to_stop();
    let reason = blocking(move || {
        let mut received = Vec::new();
        read_to_end(&mut client.socket, &mut received);
        // The server may have read the request or not. What is in the ring is a whole answer.
        client.bytes.clear();
        if client.answers.read(&mut client.bytes).unwrap().is_some() {
            assert_eq!(Response::decode(&*client.bytes).unwrap().id, 3);
        }
        String::from_utf8_lossy(&received).into_owned()
    })
    .await;
    assert!(reason.contains("the server is stopping"), "{reason}");
    server.stopped().await;
}
