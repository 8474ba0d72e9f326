//! A filter whose behaviour the subject of a message chooses, and a server of it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, unreachable_pub)]

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oarlock_milter::client::Message;
use oarlock_milter::protocol::{Actions, Change, SmtpReply, Steps};
use oarlock_milter::{
    Action, Client, Counters, Filter, Filters, Macros, MtaSocket, Server, Settings, Socket, Verdict, Wants,
};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};

/// Makes [`Subject`]s.
#[derive(Clone, Default)]
pub struct Subjects {
    pub steps: Steps,
    pub aborts: Arc<AtomicU64>,
}

/// Does what the subject says.
pub struct Subject {
    subject: Vec<u8>,
    headers: usize,
    bytes: usize,
    aborts: Arc<AtomicU64>,
}

impl Filters for Subjects {
    type Filter = Subject;

    fn wants(&self) -> Wants {
        Wants { actions: Actions::ALL, steps: self.steps, macros: Vec::new() }
    }

    fn filter(&self, _: MtaSocket) -> Subject {
        Subject { subject: Vec::new(), headers: 0, bytes: 0, aborts: Arc::clone(&self.aborts) }
    }
}

impl Subject {
    fn forget(&mut self) {
        self.subject.clear();
        (self.headers, self.bytes) = (0, 0);
    }

    /// What was seen, as a header.
    fn seen(&self, macros: &Macros) -> Change {
        let id = String::from_utf8_lossy(macros.get("i").unwrap_or(b"-")).into_owned();
        let value = format!(" id={id} headers={} body={}", self.headers, self.bytes);
        Change::AddHeader { name: b"X-Seen".to_vec(), value: value.into_bytes() }
    }
}

impl Filter for Subject {
    fn header(&mut self, name: &[u8], value: &[u8]) -> Action {
        self.headers += 1;
        if name.eq_ignore_ascii_case(b"subject") {
            self.subject = value.trim_ascii().to_vec();
        }
        assert!(self.subject != b"panic", "the subject says so");
        Action::Continue
    }

    fn body(&mut self, chunk: &[u8]) -> Action {
        self.bytes += chunk.len();
        if self.subject == b"skip" { Action::Skip } else { Action::Continue }
    }

    async fn end_of_message(&mut self, macros: &Macros) -> Verdict {
        let seen = self.seen(macros);
        let verdict = match self.subject.as_slice() {
            b"reject" => Verdict { action: Action::Reject, ..Verdict::default() },
            b"words" => {
                let words = SmtpReply::new(550, Some((5, 7, 1)), "100% no").unwrap();
                Verdict { action: Action::Reply(words), ..Verdict::default() }
            }
            b"nul" => Verdict { changes: vec![Change::Quarantine(b"\0".to_vec())], action: Action::Continue },
            b"all" => Verdict { changes: every_change(150_000), action: Action::Accept },
            // miltertest has room for a thousand bytes of a reply, and looks at no more.
            b"small" => Verdict { changes: every_change(500), action: Action::Accept },
            b"slow" => {
                sleep(Duration::from_secs(35)).await;
                Verdict { changes: vec![seen], action: Action::Continue }
            }
            b"never" => pending().await,
            _ => Verdict { changes: vec![seen], action: Action::Continue },
        };
        self.forget();
        verdict
    }

    fn abort(&mut self) {
        self.aborts.fetch_add(1, Ordering::Relaxed);
        self.forget();
    }
}

/// Each kind of change once, with a new body of this length.
pub fn every_change(body_bytes: usize) -> Vec<Change> {
    let (name, value) = (b"X-New".to_vec(), b" new\n folded".to_vec());
    let (address, arguments) = (b"<x@example>".to_vec(), Some(b"BODY=8BITMIME".to_vec()));
    vec![
        Change::AddHeader { name: name.clone(), value: value.clone() },
        Change::InsertHeader { index: 1, name, value: value.clone() },
        Change::ChangeHeader { index: 1, name: b"Subject".to_vec(), value },
        Change::AddRecipient { address: address.clone(), arguments: None },
        Change::AddRecipient { address: address.clone(), arguments: arguments.clone() },
        Change::DeleteRecipient(b"<b@example>".to_vec()),
        Change::ChangeFrom { address, arguments },
        Change::Quarantine(b"odd".to_vec()),
        Change::ReplaceBody(vec![b'x'; body_bytes]),
    ]
}

/// A server that runs.
pub struct House {
    pub socket: Socket,
    pub counters: Arc<Counters>,
    pub aborts: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl House {
    pub async fn start(socket: &str, steps: Steps, settings: Settings) -> Self {
        let filters = Subjects { steps, ..Subjects::default() };
        let aborts = Arc::clone(&filters.aborts);
        let server = Server::bind(&[socket.parse().unwrap()], filters, settings).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (socket, counters) = (server.sockets().remove(0), server.counters());
        let running = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { socket, counters, aborts, stop: Some(stop), running }
    }

    /// With what all MTAs offer, and settings that are the default's.
    pub async fn plain(socket: &str) -> Self {
        Self::start(socket, Steps::LEADING_SPACE | Steps::SKIP, Settings::default()).await
    }

    /// A client that was negotiated with and has said EHLO.
    pub async fn client(&self) -> Client {
        let mut client = Client::connect(&self.socket).await.unwrap();
        client.negotiate().await.unwrap();
        client.greet(b"j\0mx\0").await.unwrap();
        client
    }

    /// Tells it to stop.
    pub fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    /// Waits until it has stopped.
    pub async fn stopped(mut self) {
        if self.stop.is_some() {
            self.stop();
        }
        timeout(Duration::from_secs(60), self.running).await.unwrap().unwrap();
    }

    /// Waits until a counter has risen to `value`.
    pub async fn counts(&self, counter: impl Fn(&Counters) -> u64, value: u64) {
        let is_there = async {
            while counter(&self.counters) != value {
                yield_now().await;
            }
        };
        let waited = timeout(Duration::from_secs(60), is_there).await;
        waited.unwrap_or_else(|_| panic!("{}, not {value}", counter(&self.counters)));
    }
}

pub fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// The value of the header that says what was seen.
pub fn seen(changes: &[Change]) -> String {
    match changes {
        [Change::AddHeader { name, value }] if name == b"X-Seen" => String::from_utf8(value.clone()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Sends a message with this subject and a body as long, and gives what comes of it.
pub async fn send(
    client: &mut Client,
    subject: &str,
    body_bytes: usize,
) -> Result<oarlock_milter::client::Answer, oarlock_milter::client::ClientError> {
    let value = format!(" {subject}");
    let body = vec![b'b'; body_bytes];
    let headers: [(&[u8], &[u8]); 3] =
        [(b"From", b" a@example"), (b"Subject", value.as_bytes()), (b"X-Folded", b"\ta\n b")];
    client
        .send(&Message {
            from: b"<a@example>",
            recipients: &[b"<b@example>", b"<c@example>"],
            headers: &headers,
            body: &body,
            mail_macros: b"i\0EARLY\0",
            end_macros: b"i\x004ABC\0",
            header_macros: b"i\x004ABC\0",
            ..Message::default()
        })
        .await
}
