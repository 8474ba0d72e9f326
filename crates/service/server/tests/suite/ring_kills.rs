//! Clients and servers that SIGKILL ends at every step of the use of shared memory: the other side ends cleanly.
//!
//! The process to be killed is this test again, which uses the ring by hand and stops at a step.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use oarlock::keys::{export, generate, held};
use oarlock::{Input, Job, Key, SigningScheme};
use oarlock_shared_memory::{RingPair, RingReader, RingSizes, RingWriter, receive_with_file, send_with_file};
use oarlock_wire::proto::{self, OpenKey, OpenRing, Request, Response, open_key, request, response};
use oarlock_wire::{
    ConnectionPool, Endpoint, JobKeySource, LinkError, LinkTransport, Message, PoolConfig, PoolError,
    ServerLink, ServerUsers, frame, jobs,
};

use crate::test_server::{TestServer, engines, open_resident, request};

const SIZES: RingSizes = RingSizes { requests: 1 << 14, answers: 1 << 14 };
/// The position of the first byte of the ring of requests in the memory file.
const REQUESTS: u64 = 4096;
/// The position of the first byte of the ring of answers.
const ANSWERS: u64 = REQUESTS + SIZES.requests as u64;

/// The variables that make this test a process to be killed: its part, its step and its socket.
const PART: &str = "OARLOCK_TEST_PART";
const STEP: &str = "OARLOCK_TEST_STEP";
const SOCKET: &str = "OARLOCK_TEST_SOCKET";

/// The last step that a client takes before it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientStep {
    Connected,
    HalfPreamble,
    Greeted,
    HalfRingRequest,
    /// The memory file is on its way.
    RingRequested,
    FileReceived,
    Mapped,
    /// Half of a request is in the memory.
    HalfRequestWritten,
    /// A request is in the memory, and its position is not.
    RequestWritten,
    /// The server sleeps and is not woken.
    RequestPublished,
    /// Two of the four bytes that wake the server.
    HalfWoken,
    Woken,
    Asleep,
    AnswerArrived,
    AnswerRead,
    /// A request is in the ring, and half of a longer one is on the socket.
    HalfLongRequest,
    /// The ring of answers is full.
    AnswersUnread,
}

const CLIENT_STEPS: [ClientStep; 17] = [
    ClientStep::Connected,
    ClientStep::HalfPreamble,
    ClientStep::Greeted,
    ClientStep::HalfRingRequest,
    ClientStep::RingRequested,
    ClientStep::FileReceived,
    ClientStep::Mapped,
    ClientStep::HalfRequestWritten,
    ClientStep::RequestWritten,
    ClientStep::RequestPublished,
    ClientStep::HalfWoken,
    ClientStep::Woken,
    ClientStep::Asleep,
    ClientStep::AnswerArrived,
    ClientStep::AnswerRead,
    ClientStep::HalfLongRequest,
    ClientStep::AnswersUnread,
];

/// The last step that a server takes before it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ServerStep {
    Accepted,
    Greeted,
    RingRequested,
    MemoryCreated,
    HalfFileAnswer,
    FileSent,
    /// The first question is answered; the second has arrived in the ring.
    RequestArrived,
    RequestRead,
    /// Half of an answer is in the memory.
    HalfAnswerWritten,
    /// The client sleeps and is not woken.
    AnswerPublished,
    HalfWoken,
    Woken,
    /// Never killed.
    Never,
}

const SERVER_STEPS: [ServerStep; 12] = [
    ServerStep::Accepted,
    ServerStep::Greeted,
    ServerStep::RingRequested,
    ServerStep::MemoryCreated,
    ServerStep::HalfFileAnswer,
    ServerStep::FileSent,
    ServerStep::RequestArrived,
    ServerStep::RequestRead,
    ServerStep::HalfAnswerWritten,
    ServerStep::AnswerPublished,
    ServerStep::HalfWoken,
    ServerStep::Woken,
];

/// The body of a process to be killed: not a test of its own.
#[test]
fn child_process() {
    let Ok(part) = std::env::var(PART) else { return };
    let step: usize = std::env::var(STEP).unwrap().parse().unwrap();
    let path = PathBuf::from(std::env::var_os(SOCKET).unwrap());
    match &*part {
        "client" => run_client(&path, CLIENT_STEPS[step]),
        "server" => run_server(&path, SERVER_STEPS.get(step).copied().unwrap_or(ServerStep::Never)),
        other => panic!("unknown part {other}"),
    }
}

fn start_child(part: &str, step: usize, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ring_kills::child_process", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).env(STEP, step.to_string()).env(SOCKET, path);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("ready")), "the {part} ended before its step {step}");
    child
}

/// Prints a line that the parent waits for.
fn report_ready() {
    println!("ready");
    std::io::stdout().flush().unwrap();
}

fn framed(message: &impl Message) -> BytesMut {
    let mut bytes = BytesMut::new();
    frame::write(message, &mut bytes).unwrap();
    bytes
}

fn jobs_body(message: &[u8]) -> request::Body {
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(message));
    request::Body::Jobs(jobs::write([(job, 0)].into_iter()).unwrap())
}

fn open_body() -> request::Body {
    let source = Some(open_key::Source::Resident("ed25519".into()));
    request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() })
}

/// One side of a connection with rings, which keeps to the protocol until it stops.
struct RingSide {
    socket: UnixStream,
    file: OwnedFd,
    writer: RingWriter,
    reader: RingReader,
    received: BytesMut,
    /// The bytes that this side has written to the ring.
    written: u64,
    /// The position of the written ring in the file.
    start: u64,
}

impl RingSide {
    /// Writes bytes into the memory from the end of the last frame on. Their frame is not visible.
    fn write_invisibly(&self, len: usize, bytes: &[u8]) {
        let frame = [&(len as u64).to_le_bytes()[..], bytes].concat();
        assert_eq!(rustix::io::pwrite(&self.file, &frame, self.start + self.written).unwrap(), frame.len());
    }

    fn publish(&mut self, message: &[u8]) {
        assert!(self.writer.write(message).unwrap());
        self.written += 8 + message.len().next_multiple_of(8) as u64;
    }

    /// Wakes the other side if it sleeps.
    fn wake(&mut self) {
        if self.writer.take_sleeper() {
            self.socket.write_all(&[0; frame::HEADER_BYTES]).unwrap();
        }
    }

    /// Waits until the ring has a frame, and leaves it there. Returns false if a message has arrived on the socket
    /// first.
    fn wait_for_frame(&mut self) -> bool {
        loop {
            while self.received.len() >= frame::HEADER_BYTES && self.received[..frame::HEADER_BYTES] == [0; 4]
            {
                self.received.advance(frame::HEADER_BYTES);
            }
            if self.reader.has_frame().unwrap() {
                return true;
            }
            if frame::len(&self.received, 1 << 20).unwrap().is_some_and(|len| self.received.len() >= 4 + len)
            {
                return false;
            }
            if self.reader.sleep().unwrap() {
                read_some(&mut self.socket, &mut self.received);
            }
        }
    }

    fn read_frame(&mut self) -> BytesMut {
        let mut frame = BytesMut::new();
        self.reader.read(&mut frame).unwrap().unwrap();
        frame
    }
}

fn read_some(socket: &mut UnixStream, received: &mut BytesMut) {
    let mut buffer = [0; 4096];
    let len = socket.read(&mut buffer).unwrap();
    assert!(len > 0, "the other side has closed the connection");
    received.extend_from_slice(&buffer[..len]);
}

fn run_client(path: &Path, last: ClientStep) {
    let reached = |step| {
        if step == last {
            report_ready();
            // Until SIGKILL.
            std::io::stdin().lines().for_each(drop);
        }
    };
    let mut socket = UnixStream::connect(path).unwrap();
    reached(ClientStep::Connected);
    socket.write_all(&frame::PREAMBLE[..4]).unwrap();
    reached(ClientStep::HalfPreamble);
    socket.write_all(&frame::PREAMBLE[4..]).unwrap();
    reached(ClientStep::Greeted);
    let (request_bytes, answer_bytes) = (SIZES.requests as u64, SIZES.answers as u64);
    let asked = framed(&request(1, request::Body::OpenRing(OpenRing { request_bytes, answer_bytes })));
    socket.write_all(&asked[..asked.len() / 2]).unwrap();
    reached(ClientStep::HalfRingRequest);
    socket.write_all(&asked[asked.len() / 2..]).unwrap();
    reached(ClientStep::RingRequested);
    let (mut received, mut file) = (BytesMut::new(), None);
    while frame::take(&mut received, 1 << 20).unwrap().is_none() {
        let mut buffer = [0; 4096];
        let (len, found) = receive_with_file(&socket, &mut buffer).unwrap();
        assert!(len > 0);
        received.extend_from_slice(&buffer[..len]);
        file = file.or(found);
    }
    let file = file.unwrap();
    reached(ClientStep::FileReceived);
    let (writer, reader) = RingPair::open(file.try_clone().unwrap(), SIZES).unwrap().into_client();
    reached(ClientStep::Mapped);
    let mut ring = RingSide { socket, file, writer, reader, received, written: 0, start: REQUESTS };
    ring.publish(&request(2, open_body()).encode_to_vec());
    ring.wake();
    assert!(ring.wait_for_frame());
    ring.read_frame();
    let job = request(3, jobs_body(b"a message")).encode_to_vec();
    ring.write_invisibly(job.len(), &job[..job.len() / 2]);
    reached(ClientStep::HalfRequestWritten);
    ring.write_invisibly(job.len(), &job);
    reached(ClientStep::RequestWritten);
    ring.publish(&job);
    reached(ClientStep::RequestPublished);
    if ring.writer.take_sleeper() {
        ring.socket.write_all(&[0; 2]).unwrap();
        reached(ClientStep::HalfWoken);
        ring.socket.write_all(&[0; 2]).unwrap();
    }
    reached(ClientStep::HalfWoken);
    reached(ClientStep::Woken);
    ring.reader.sleep().unwrap();
    reached(ClientStep::Asleep);
    assert!(ring.wait_for_frame());
    reached(ClientStep::AnswerArrived);
    ring.read_frame();
    reached(ClientStep::AnswerRead);
    ring.publish(&job);
    ring.wake();
    let long = framed(&request(4, jobs_body(&[7; 40_000])));
    if last == ClientStep::HalfLongRequest {
        ring.socket.write_all(&long[..long.len() / 2]).unwrap();
        reached(ClientStep::HalfLongRequest);
    }
    // The server answers the last ones through the socket, because the ring is full.
    for id in 5.. {
        ring.publish(&request(id, request::Body::ListKeys(proto::ListKeysRequest {})).encode_to_vec());
        ring.wake();
        while !ring.writer.has_space(64).unwrap() {
            std::thread::yield_now();
        }
        rustix::io::ioctl_fionbio(&ring.socket, true).unwrap();
        let mut buffer = [0; 4096];
        match ring.socket.read(&mut buffer) {
            Ok(len) if buffer[..len].iter().any(|byte| *byte != 0) => break,
            _ => rustix::io::ioctl_fionbio(&ring.socket, false).unwrap(),
        }
    }
    reached(ClientStep::AnswersUnread);
    unreachable!("a client that should be killed at {last:?}");
}

fn metric(page: &str, name: &str) -> u64 {
    let line = page.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Waits until the server counts nothing of a killed client any more.
fn wait_for_nothing_held(address: std::net::SocketAddr) {
    loop {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        let names = ["oarlock_rings_open", "oarlock_connections_open", "oarlock_held_bytes"];
        if names.iter().all(|name| metric(&page, name) == 0) {
            return;
        }
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_killed_at_any_step_leaves_nothing_at_the_server() {
    let server = TestServer::with(|config, _| {
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
    })
    .await;
    let (path, metrics) = (server.addresses.unix.clone().unwrap(), server.addresses.metrics.unwrap());
    for (number, step) in CLIENT_STEPS.into_iter().enumerate() {
        let path = path.clone();
        let killed = tokio::task::spawn_blocking(move || {
            let mut client = start_child("client", number, &path);
            client.kill().unwrap();
            let end = client.wait().unwrap();
            assert_eq!(end.signal(), Some(9), "{step:?}: {end}");
            wait_for_nothing_held(metrics);
        });
        killed.await.unwrap();
        let link = ServerLink::open(&server.unix()).await.unwrap();
        assert_eq!(*link.transport(), LinkTransport::Ring, "{step:?}");
        open_resident(&link, 0, "ed25519").await;
        let answer = link.call(jobs_body(b"another")).await.unwrap();
        assert!(matches!(answer, response::Body::Results(results) if results.codes.is_empty()), "{step:?}");
        drop(link);
        tokio::task::spawn_blocking(move || wait_for_nothing_held(metrics)).await.unwrap();
    }
}

/// The server's part by hand. It serves connections one after the other, and kills itself at its step.
fn run_server(path: &Path, last: ServerStep) {
    let reached = |step| {
        if step == last {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
    };
    let listener = UnixListener::bind(path).unwrap();
    report_ready();
    loop {
        let (mut socket, _) = listener.accept().unwrap();
        reached(ServerStep::Accepted);
        socket.read_exact(&mut [0; frame::PREAMBLE.len()]).unwrap();
        reached(ServerStep::Greeted);
        let mut received = BytesMut::new();
        let asked = loop {
            if let Some(message) = frame::take(&mut received, 1 << 20).unwrap() {
                break Request::decode(message).unwrap();
            }
            read_some(&mut socket, &mut received);
        };
        assert!(matches!(asked.body, Some(request::Body::OpenRing(_))));
        reached(ServerStep::RingRequested);
        let pair = RingPair::create(SIZES).unwrap();
        reached(ServerStep::MemoryCreated);
        let (request_bytes, answer_bytes) = (SIZES.requests as u64, SIZES.answers as u64);
        let ring = response::Body::Ring(proto::Ring { request_bytes, answer_bytes });
        let answer = framed(&Response { id: asked.id, body: Some(ring) });
        let half = answer.len() / 2;
        assert_eq!(send_with_file(&socket, &answer[..half], pair.file()).unwrap(), half);
        reached(ServerStep::HalfFileAnswer);
        socket.write_all(&answer[half..]).unwrap();
        reached(ServerStep::FileSent);
        let file = pair.file().try_clone_to_owned().unwrap();
        let (reader, writer) = pair.into_server();
        let mut side = RingSide { socket, file, writer, reader, received, written: 0, start: ANSWERS };
        serve_ring(&mut side, last == ServerStep::HalfWoken, reached);
    }
}

/// Answers requests on the way that they came. The steps are those of the second job.
fn serve_ring(side: &mut RingSide, splits_wake: bool, reached: impl Fn(ServerStep)) {
    let mut job_count = 0;
    loop {
        let is_in_ring = side.wait_for_frame();
        if is_in_ring && job_count == 1 {
            reached(ServerStep::RequestArrived);
        }
        let request = if is_in_ring {
            Request::decode(&*side.read_frame()).unwrap()
        } else {
            Request::decode(frame::take(&mut side.received, 1 << 20).unwrap().unwrap()).unwrap()
        };
        let body = match request.body {
            Some(request::Body::OpenKey(_)) => response::Body::Key(proto::KeyInfo::default()),
            Some(request::Body::Jobs(_)) => {
                job_count += 1;
                response::Body::Results(proto::Results {
                    outputs: vec![job_count; 64].into(),
                    output_lens: 64_u32.to_le_bytes().to_vec().into(),
                    ..proto::Results::default()
                })
            }
            other => panic!("{other:?}"),
        };
        let answer = Response { id: request.id, body: Some(body) };
        let reached = |step| {
            if job_count == 2 {
                reached(step);
            }
        };
        if !is_in_ring {
            side.socket.write_all(&framed(&answer)).unwrap();
            continue;
        }
        reached(ServerStep::RequestRead);
        let answer = answer.encode_to_vec();
        side.write_invisibly(answer.len(), &answer[..answer.len() / 2]);
        reached(ServerStep::HalfAnswerWritten);
        side.publish(&answer);
        reached(ServerStep::AnswerPublished);
        if splits_wake && job_count == 2 {
            side.socket.write_all(&[0; 2]).unwrap();
            reached(ServerStep::HalfWoken);
        }
        side.wake();
        reached(ServerStep::Woken);
    }
}

/// Waits for a server that kills itself.
fn assert_killed(mut server: Child, step: ServerStep) {
    let end = server.wait().unwrap();
    assert_eq!(end.signal(), Some(9), "{step:?}: {end}");
}

/// Returns the outputs of a job.
async fn ask(link: &ServerLink) -> Result<Vec<u8>, LinkError> {
    match link.call(jobs_body(b"a message")).await? {
        response::Body::Results(results) => Ok(results.outputs.to_vec()),
        other => panic!("{other:?}"),
    }
}

fn assert_lost(answer: Result<Vec<u8>, LinkError>, step: ServerStep) {
    match answer {
        Err(error @ LinkError::Lost(_)) => assert!(error.is_elsewhere()),
        other => panic!("{step:?}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_at_any_step_gives_its_stream_an_error() {
    for (number, step) in SERVER_STEPS.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let server = {
            let path = path.clone();
            tokio::task::spawn_blocking(move || start_child("server", number, &path)).await.unwrap()
        };
        let opened = ServerLink::open(&Endpoint::unix(path)).await;
        if let Ok(link) = opened {
            let first = ask(&link).await;
            if step <= ServerStep::FileSent {
                assert_lost(first, step);
            } else {
                assert_eq!(first.unwrap(), [1; 64], "{step:?}");
                assert_eq!(*link.transport(), LinkTransport::Ring);
                // Two at once: one has an answer at most.
                let (second, third) = tokio::join!(ask(&link), ask(&link));
                if step < ServerStep::AnswerPublished {
                    assert_lost(second, step);
                    assert_lost(third, step);
                } else {
                    let mut outputs: Vec<_> = [second, third].into_iter().filter_map(Result::ok).collect();
                    assert_eq!(
                        outputs.pop().as_deref(),
                        Some(&[2; 64][..]),
                        "{step:?}: published, so not lost"
                    );
                    assert!(outputs.is_empty(), "{step:?}");
                }
            }
            assert!(link.is_closed(), "{step:?}");
            assert_lost(ask(&link).await, step);
        } else {
            assert!(step < ServerStep::FileSent, "{step:?}: {opened:?}");
        }
        tokio::task::spawn_blocking(move || assert_killed(server, step)).await.unwrap();
    }
}

fn pool(path: &Path) -> ConnectionPool {
    let path = path.to_owned();
    let config = PoolConfig {
        path,
        users: ServerUsers::default(),
        patience: Duration::from_secs(60),
        max_idle: 4,
        has_ring: true,
    };
    ConnectionPool::new(config, engines().engines(["scalar"]).build().unwrap())
}

fn ask_pool(pool: &ConnectionPool, key: &Key) -> Result<Vec<u8>, PoolError> {
    let job = Job::sign(SigningScheme::ED25519, key, Input::Message(b"a message"));
    let source = JobKeySource::Resident { name: "ed25519", fingerprint: None };
    pool.start(&job, source)?.wait().map(|answer| answer.output.expose().to_vec())
}

#[test]
fn a_server_killed_at_any_step_gives_a_pool_an_error_and_is_asked_again_after_its_restart() {
    let spki = export::spki_der(&generate::ed25519().unwrap()).unwrap();
    let key = held::from_spki(&spki, "servers", "ed25519").unwrap();
    for (number, step) in SERVER_STEPS.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let server = start_child("server", number, &path);
        let pool = pool(&path);
        let first = ask_pool(&pool, &key);
        if step <= ServerStep::FileSent {
            let error = first.unwrap_err();
            assert!(error.is_unavailable(), "{step:?}: {error}");
        } else {
            assert_eq!(first.unwrap(), [1; 64], "{step:?}");
            assert_eq!(pool.idle_with_ring(), 1, "{step:?}");
            let second = ask_pool(&pool, &key);
            if step < ServerStep::AnswerPublished {
                // The pool connects once more. The listener of a dying process may still accept that.
                let error = second.unwrap_err();
                assert!(error.is_unavailable(), "{step:?}: {error}");
            } else {
                assert_eq!(second.unwrap(), [2; 64], "{step:?}: published, so not lost");
            }
        }
        assert_killed(server, step);
        std::fs::remove_file(&path).unwrap();
        let mut again = start_child("server", SERVER_STEPS.len(), &path);
        for answer in 1..4 {
            assert_eq!(ask_pool(&pool, &key).unwrap(), [answer; 64], "{step:?}");
        }
        assert_eq!(pool.idle_with_ring(), 1, "{step:?}");
        again.kill().unwrap();
        again.wait().unwrap();
    }
}
