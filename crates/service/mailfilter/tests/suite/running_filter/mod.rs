//! A running filter with keys, a signing table and DNS of its own, and an MTA that applies its changes.

use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use oarlock::keys::{export, generate};
use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_dkim::{RecordOptions, record_text};
use oarlock_mail_files::dns::{KeysFile, TxtLookup};
use oarlock_mailfilter::{FilterConfig, FilterService};
use oarlock_milter::client::{FilterAnswer, SentMessage};
use oarlock_milter::protocol::{
    Actions, AddressFamily, ConnectInfo, FilterReply, MessageChange, MilterCommand, Steps,
};
use oarlock_milter::{MilterClient, MilterCounters, MilterServer, MilterSettings, MilterSocket};
use oarlock_service_kit::ServiceClock;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The time after which a test counts as hanging. The longest one takes seconds, and a loaded machine is slower.
const MAX_TEST_TIME: Duration = Duration::from_secs(300);

/// Ends the process if the sender that it returns is not dropped in time, so that a test that hangs fails.
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

/// Returns the builders of accelerators with one engine each.
pub fn engines() -> impl Iterator<Item = AcceleratorBuilder> {
    oarlock::KNOWN_ENGINES.iter().map(|name| Accelerator::builder().engines([*name]).lazy())
}

pub fn scalar() -> AcceleratorBuilder {
    Accelerator::builder().engines(["scalar"]).lazy()
}

/// The files of a filter, and the DNS records of its keys.
pub struct FilterFiles {
    directory: TempDir,
    /// A name and a record on each line.
    pub records: String,
    /// The deadline of the test, which has these files until its end.
    _deadline: mpsc::Sender<()>,
}

impl FilterFiles {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), records: String::new(), _deadline: start_deadline() }
    }

    /// Makes the keys `rsa` and `ed`, their records at example.com, and a table that signs with both.
    pub fn for_example() -> Self {
        let mut files = Self::new();
        files.key("rsa", "s1", "example.com", &generate::rsa(2048).unwrap());
        files.key("ed", "s2", "example.com", &generate::ed25519().unwrap());
        files.table("example.com s1 rsa\nexample.com s2 ed\n");
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a private key to a file and its record to DNS.
    pub fn key(&mut self, file: &str, selector: &str, domain: &str, key: &oarlock::Key) {
        self.write(file, &export::private_pkcs8_pem(key).unwrap());
        let record = record_text(key, &RecordOptions::default()).unwrap();
        writeln!(self.records, "{selector}._domainkey.{domain} {record}").unwrap();
    }

    pub fn write(&self, name: &str, text: &str) {
        let new = self.path(".writing");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, PermissionsExt::from_mode(0o600)).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    pub fn table(&self, text: &str) {
        self.write("table", text);
    }

    pub fn dns(&self) -> Arc<KeysFile> {
        Arc::new(KeysFile::parse(self.records.as_bytes()).unwrap())
    }

    /// Returns settings for these files, with more settings.
    pub fn config(&self, more: &str) -> FilterConfig {
        let config = format!("authserv_id = \"mx.example\"\nsigning.table = \"table\"\n{more}");
        self.write("milter.toml", &config);
        FilterConfig::read(&self.path("milter.toml")).unwrap()
    }

    pub async fn start_filter(&self, more: &str) -> RunningFilter {
        RunningFilter::open(self.config(more), scalar(), self.dns()).await
    }
}

/// A running filter.
pub struct RunningFilter {
    pub service: FilterService,
    pub counters: Arc<MilterCounters>,
    pub socket: MilterSocket,
    stop: oneshot::Sender<()>,
    run: JoinHandle<()>,
}

impl RunningFilter {
    pub async fn open(
        config: FilterConfig,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Self {
        Self::open_at("inet:0@127.0.0.1", config, engines, lookups).await
    }

    pub async fn open_at(
        socket: &str,
        config: FilterConfig,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Self {
        let service = FilterService::open(config, engines, lookups).await.unwrap();
        Self::of_service(socket, service).await
    }

    /// Starts a filter whose clock a test sets.
    pub async fn open_with_clock(files: &FilterFiles, more: &str, clock: &ServiceClock) -> Self {
        let config = files.config(more);
        let service = FilterService::open_with_clock(config, scalar(), files.dns(), clock.clone()).await;
        Self::of_service("inet:0@127.0.0.1", service.unwrap()).await
    }

    async fn of_service(socket: &str, service: FilterService) -> Self {
        let sockets = [socket.parse().unwrap()];
        let server =
            MilterServer::bind(&sockets, service.filters(), MilterSettings::default()).await.unwrap();
        let (socket, counters) = (server.sockets().remove(0), server.counters());
        let (stop, stopped) = oneshot::channel::<()>();
        let run = tokio::spawn(server.run(async move { drop(stopped.await) }));
        Self { service, counters, socket, stop, run }
    }

    /// Connects an MTA that offers everything that Postfix offers.
    pub async fn client(&self) -> MilterClient {
        self.client_with(Steps::ALL).await
    }

    pub async fn client_with(&self, steps: Steps) -> MilterClient {
        let mut client = MilterClient::connect(&self.socket).await.unwrap();
        client.offer(6, Actions::ALL, steps).await.unwrap();
        client.greet(b"").await.unwrap();
        client
    }

    /// Sends a message from an authenticated client.
    pub async fn submit(&self, mail: &TestMail) -> FilterAnswer {
        self.send(&mut self.client().await, mail, b"i\x00QUEUED\0{auth_authen}\0joe\0").await
    }

    /// Sends a message from a client without authentication.
    pub async fn receive(&self, mail: &TestMail) -> FilterAnswer {
        self.send(&mut self.client().await, mail, b"i\x00QUEUED\0").await
    }

    /// Sends a message of a client with this address and name, without authentication.
    pub async fn receive_from(&self, address: &str, name: &str, mail: &TestMail) -> FilterAnswer {
        let mut client = connect(&self.socket, address, name).await;
        self.send(&mut client, mail, b"i\x00QUEUED\0").await
    }

    pub async fn send(&self, client: &mut MilterClient, mail: &TestMail, macros: &[u8]) -> FilterAnswer {
        send_as(client, b"<joe@example.com>", mail, macros).await
    }

    pub async fn stopped(self) {
        let _ = self.stop.send(());
        self.run.await.unwrap();
    }
}

/// Sends a message with this MAIL FROM.
pub async fn send_as(client: &mut MilterClient, from: &[u8], mail: &TestMail, macros: &[u8]) -> FilterAnswer {
    let headers: Vec<(&[u8], &[u8])> =
        mail.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    let message = SentMessage {
        from,
        recipients: &[b"<jane@example.net>"],
        headers: &headers,
        body: &mail.body,
        mail_macros: macros,
        ..SentMessage::default()
    };
    client.send(&message).await.unwrap()
}

/// Connects to a filter as an MTA whose client has this address and name.
pub async fn connect(socket: &MilterSocket, address: &str, name: &str) -> MilterClient {
    let mut client = MilterClient::connect(socket).await.unwrap();
    client.negotiate().await.unwrap();
    let (family, address) = match address.contains(':') {
        true => (AddressFamily::Inet6, format!("IPv6:{address}")),
        false => (AddressFamily::Inet, address.to_owned()),
    };
    let connect = ConnectInfo { host: name.as_bytes(), family, port: 25, address: address.as_bytes() };
    client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
    client
}

/// A message as an MTA stores it: values start after the colon, folds are LF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestMail {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl TestMail {
    /// Returns a message from joe@example.com.
    pub fn plain() -> Self {
        let headers = [
            ("Received", " from a\n\tby b; Thu, 1 Jan 2026 00:00:00 +0000"),
            ("From", "  Joe <joe@example.com>"),
            ("To", " jane@example.net"),
            ("Subject", " a subject that\n  is folded"),
            ("Date", " Thu, 1 Jan 2026 00:00:00 +0000"),
        ];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            headers: headers.map(owned).into(),
            body: b"Hello  Jane,\r\n\r\nhow are you?\r\n\r\n\r\n".to_vec(),
        }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn from(mut self, value: &str) -> Self {
        self.headers.retain(|(name, _)| name != "From");
        self.with("From", value)
    }

    /// Applies the changes of an answer in their order, as an MTA does. A removed field no longer counts.
    pub fn changed(&self, answer: &FilterAnswer) -> Self {
        assert!(matches!(answer.reply, FilterReply::Continue | FilterReply::Accept), "{:?}", answer.reply);
        let mut mail = self.clone();
        for change in &answer.changes {
            match change {
                MessageChange::InsertHeader { index: 0, name, value } => {
                    mail.headers.insert(0, (text(name), text(value)));
                }
                MessageChange::ChangeHeader { index, name, value } if value.is_empty() => {
                    let name = text(name);
                    let of_name = |(_, (other, _)): &(usize, &(String, String))| {
                        other.trim_end().eq_ignore_ascii_case(&name)
                    };
                    let files = mail.headers.iter().enumerate().filter(of_name).nth(*index as usize - 1);
                    let (files, _) = files.unwrap();
                    mail.headers.remove(files);
                }
                other => panic!("{other:?}"),
            }
        }
        mail
    }

    /// Returns the values of the fields with this name.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let of_name = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    /// Returns the tag of each signature from the top.
    pub fn signature_tags(&self, name: &str) -> Vec<String> {
        let tag = |value: &str| {
            let tags = value.split(';').filter_map(|tag| tag.trim().split_once('='));
            tags.filter(|(other, _)| *other == name).map(|(_, value)| value.to_owned()).next()
        };
        self.values("DKIM-Signature").into_iter().filter_map(tag).collect()
    }

    /// Returns the results field at the top.
    pub fn results(&self) -> String {
        assert_eq!(self.headers[0].0, "Authentication-Results");
        self.headers[0].1.replace("\n\t", " ").replace('\n', "").trim().to_owned()
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
