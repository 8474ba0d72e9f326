//! A filter whose behaviour depends on the subject of a message, and its server.

use std::future::pending;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use oarlock_milter::client::SentMessage;
use oarlock_milter::protocol::{Actions, MessageChange, SmtpReply, Steps};
use oarlock_milter::{
    FilterAction, FilterFactory, FilterVerdict, FilterWants, MacroTable, MessageFilter, MilterClient,
    MilterCounters, MilterServer, MilterSettings, MilterSocket, MtaSocket, UnixUsers,
};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};

/// The time after which a test counts as hanging. The longest one takes seconds, and a loaded machine is slower.
const MAX_TEST_TIME: Duration = Duration::from_secs(300);

/// Ends the process if the sender that it returns is not dropped in time, so that a test that hangs fails. The clock
/// of tokio cannot do that: some tests pause it.
fn start_deadline() -> mpsc::Sender<()> {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let (running, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(MAX_TEST_TIME) == Err(RecvTimeoutError::Timeout) {
            // `eprintln!` would write into the captured output of the test, which is lost here.
            let _ = writeln!(std::io::stderr(), "{test}: not finished after {MAX_TEST_TIME:?}");
            std::process::exit(101);
        }
    });
    running
}

/// A factory of [`SubjectFilter`]s.
#[derive(Clone, Default)]
pub struct SubjectFilters {
    pub steps: Steps,
    pub aborts: Arc<AtomicU64>,
}

/// A filter that does what the subject says.
pub struct SubjectFilter {
    subject: Vec<u8>,
    headers: usize,
    bytes: usize,
    aborts: Arc<AtomicU64>,
}

impl FilterFactory for SubjectFilters {
    type Filter = SubjectFilter;

    fn wants(&self) -> FilterWants {
        FilterWants { actions: Actions::ALL, steps: self.steps, macros: Vec::new() }
    }

    fn filter(&self, _: MtaSocket) -> SubjectFilter {
        SubjectFilter { subject: Vec::new(), headers: 0, bytes: 0, aborts: Arc::clone(&self.aborts) }
    }
}

impl SubjectFilter {
    fn forget(&mut self) {
        self.subject.clear();
        (self.headers, self.bytes) = (0, 0);
    }

    /// Returns a header with the counts of the message.
    fn seen(&self, macros: &MacroTable) -> MessageChange {
        let id = String::from_utf8_lossy(macros.get("i").unwrap_or(b"-")).into_owned();
        let value = format!(" id={id} headers={} body={}", self.headers, self.bytes);
        MessageChange::AddHeader { name: b"X-Seen".to_vec(), value: value.into_bytes() }
    }
}

impl MessageFilter for SubjectFilter {
    fn header(&mut self, name: &[u8], value: &[u8]) -> FilterAction {
        self.headers += 1;
        if name.eq_ignore_ascii_case(b"subject") {
            self.subject = value.trim_ascii().to_vec();
        }
        assert!(self.subject != b"panic", "the subject says so");
        FilterAction::Continue
    }

    fn body(&mut self, chunk: &[u8]) -> FilterAction {
        self.bytes += chunk.len();
        if self.subject == b"skip" { FilterAction::Skip } else { FilterAction::Continue }
    }

    async fn end_of_message(&mut self, macros: &MacroTable) -> FilterVerdict {
        let seen = self.seen(macros);
        let verdict = match self.subject.as_slice() {
            b"reject" => FilterVerdict { action: FilterAction::Reject, ..FilterVerdict::default() },
            b"words" => {
                let words = SmtpReply::new(550, Some((5, 7, 1)), "100% no").unwrap();
                FilterVerdict { action: FilterAction::Reply(words), ..FilterVerdict::default() }
            }
            b"nul" => FilterVerdict {
                changes: vec![MessageChange::Quarantine(b"\0".to_vec())],
                action: FilterAction::Continue,
            },
            b"all" => FilterVerdict { changes: every_change(150_000), action: FilterAction::Accept },
            // miltertest has room for a thousand bytes of a reply and ignores the rest.
            b"small" => FilterVerdict { changes: every_change(500), action: FilterAction::Accept },
            b"slow" => {
                sleep(Duration::from_secs(35)).await;
                FilterVerdict { changes: vec![seen], action: FilterAction::Continue }
            }
            b"never" => pending().await,
            _ => FilterVerdict { changes: vec![seen], action: FilterAction::Continue },
        };
        self.forget();
        verdict
    }

    fn abort(&mut self) {
        self.aborts.fetch_add(1, Ordering::Relaxed);
        self.forget();
    }
}

/// Returns each kind of change once, with a new body of this length.
pub fn every_change(body_bytes: usize) -> Vec<MessageChange> {
    let (name, value) = (b"X-New".to_vec(), b" new\n folded".to_vec());
    let (address, arguments) = (b"<x@example>".to_vec(), Some(b"BODY=8BITMIME".to_vec()));
    vec![
        MessageChange::AddHeader { name: name.clone(), value: value.clone() },
        MessageChange::InsertHeader { index: 1, name, value: value.clone() },
        MessageChange::ChangeHeader { index: 1, name: b"Subject".to_vec(), value },
        MessageChange::AddRecipient { address: address.clone(), arguments: None },
        MessageChange::AddRecipient { address: address.clone(), arguments: arguments.clone() },
        MessageChange::DeleteRecipient(b"<b@example>".to_vec()),
        MessageChange::ChangeFrom { address, arguments },
        MessageChange::Quarantine(b"odd".to_vec()),
        MessageChange::ReplaceBody(vec![b'x'; body_bytes]),
    ]
}

/// A running server.
pub struct TestServer {
    pub socket: MilterSocket,
    pub counters: Arc<MilterCounters>,
    pub users: UnixUsers,
    pub aborts: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
    /// The deadline of the test, which has this server until its end.
    _deadline: mpsc::Sender<()>,
}

impl TestServer {
    pub async fn start(socket: &str, steps: Steps, settings: MilterSettings) -> Self {
        let filters = SubjectFilters { steps, ..SubjectFilters::default() };
        let aborts = Arc::clone(&filters.aborts);
        let server = MilterServer::bind(&[socket.parse().unwrap()], filters, settings).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (socket, counters, users) = (server.sockets().remove(0), server.counters(), server.unix_users());
        let running = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { socket, counters, users, aborts, stop: Some(stop), running, _deadline: start_deadline() }
    }

    /// Starts a server with common steps and default settings.
    pub async fn plain(socket: &str) -> Self {
        Self::start(socket, Steps::LEADING_SPACE | Steps::SKIP, MilterSettings::default()).await
    }

    /// Returns a client that has negotiated and sent EHLO.
    pub async fn client(&self) -> MilterClient {
        let mut client = MilterClient::connect(&self.socket).await.unwrap();
        client.negotiate().await.unwrap();
        client.greet(b"j\0mx\0").await.unwrap();
        client
    }

    /// Makes the server stop.
    pub fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    /// Stops the server and waits until it has ended.
    pub async fn stopped(mut self) {
        if self.stop.is_some() {
            self.stop();
        }
        timeout(Duration::from_secs(60), self.running).await.unwrap().unwrap();
    }

    /// Waits until a counter has this value. A paused clock does not pass here, and the deadline of the test applies.
    pub async fn counts(&self, counter: impl Fn(&MilterCounters) -> u64, value: u64) {
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

/// Returns the value of the header with the counts.
pub fn seen(changes: &[MessageChange]) -> String {
    match changes {
        [MessageChange::AddHeader { name, value }] if name == b"X-Seen" => {
            String::from_utf8(value.clone()).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

/// Sends a message with this subject and length. Returns the answer.
pub async fn send(
    client: &mut MilterClient,
    subject: &str,
    body_bytes: usize,
) -> Result<oarlock_milter::client::FilterAnswer, oarlock_milter::client::ClientError> {
    let value = format!(" {subject}");
    let body = vec![b'b'; body_bytes];
    let headers: [(&[u8], &[u8]); 3] =
        [(b"From", b" a@example"), (b"Subject", value.as_bytes()), (b"X-Folded", b"\ta\n b")];
    client
        .send(&SentMessage {
            from: b"<a@example>",
            recipients: &[b"<b@example>", b"<c@example>"],
            headers: &headers,
            body: &body,
            mail_macros: b"i\0EARLY\0",
            end_macros: b"i\x004ABC\0",
            header_macros: b"i\x004ABC\0",
            ..SentMessage::default()
        })
        .await
}
