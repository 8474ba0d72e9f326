//! A filter with keys, a signing table and DNS of its own, and an MTA that does what it says.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, unreachable_pub)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use oarlock::keys::{export, generate};
use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_dkim::{RecordOptions, record_text};
use oarlock_io::dns::{KeysFile, TxtLookup};
use oarlock_mailfilter::{Config, Service};
use oarlock_milter::client::{Answer, Message};
use oarlock_milter::protocol::{Actions, Change, Reply, Steps};
use oarlock_milter::{Client, Counters, Server, Settings, Socket};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Engines, each alone.
pub fn engines() -> impl Iterator<Item = AcceleratorBuilder> {
    oarlock::KNOWN_ENGINES.iter().map(|name| Accelerator::builder().engines([*name]).lazy())
}

pub fn scalar() -> AcceleratorBuilder {
    Accelerator::builder().engines(["scalar"]).lazy()
}

/// Files of a filter, and what DNS says of its keys.
pub struct Place {
    directory: TempDir,
    /// Name and record on each line.
    pub records: String,
}

impl Place {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), records: String::new() }
    }

    /// Keys `rsa` and `ed`, their records at example.com, and a table that signs with both.
    pub fn of_example() -> Self {
        let mut place = Self::new();
        place.key("rsa", "s1", "example.com", &generate::rsa(2048).unwrap());
        place.key("ed", "s2", "example.com", &generate::ed25519().unwrap());
        place.table("example.com s1 rsa\nexample.com s2 ed\n");
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A private key in a file, and its record in DNS.
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

    /// Settings for these files, and more.
    pub fn config(&self, more: &str) -> Config {
        let config = format!("authserv_id = \"mx.example\"\nsigning.table = \"table\"\n{more}");
        self.write("milter.toml", &config);
        Config::read(&self.path("milter.toml")).unwrap()
    }

    pub async fn post(&self, more: &str) -> Post {
        Post::open(self.config(more), scalar(), self.dns()).await
    }
}

/// A filter that runs.
pub struct Post {
    pub service: Service,
    pub counters: Arc<Counters>,
    pub socket: Socket,
    stop: oneshot::Sender<()>,
    run: JoinHandle<()>,
}

impl Post {
    pub async fn open(config: Config, engines: AcceleratorBuilder, lookups: Arc<dyn TxtLookup>) -> Self {
        Self::open_at("inet:0@127.0.0.1", config, engines, lookups).await
    }

    pub async fn open_at(
        socket: &str,
        config: Config,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Self {
        let service = Service::open(config, engines, lookups).await.unwrap();
        let sockets = [socket.parse().unwrap()];
        let server = Server::bind(&sockets, service.filters(), Settings::default()).await.unwrap();
        let (socket, counters) = (server.sockets().remove(0), server.counters());
        let (stop, stopped) = oneshot::channel::<()>();
        let run = tokio::spawn(server.run(async move { drop(stopped.await) }));
        Self { service, counters, socket, stop, run }
    }

    /// An MTA's connection, with all that Postfix offers.
    pub async fn client(&self) -> Client {
        self.client_with(Steps::ALL).await
    }

    pub async fn client_with(&self, steps: Steps) -> Client {
        let mut client = Client::connect(&self.socket).await.unwrap();
        client.offer(6, Actions::ALL, steps).await.unwrap();
        client.greet(b"").await.unwrap();
        client
    }

    /// A message from a client that has authenticated itself.
    pub async fn submit(&self, mail: &Mail) -> Answer {
        self.send(&mut self.client().await, mail, b"i\x00QUEUED\0{auth_authen}\0joe\0").await
    }

    /// A message from anybody.
    pub async fn receive(&self, mail: &Mail) -> Answer {
        self.send(&mut self.client().await, mail, b"i\x00QUEUED\0").await
    }

    pub async fn send(&self, client: &mut Client, mail: &Mail, macros: &[u8]) -> Answer {
        let headers: Vec<(&[u8], &[u8])> =
            mail.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let message = Message {
            from: b"<joe@example.com>",
            recipients: &[b"<jane@example.net>"],
            headers: &headers,
            body: &mail.body,
            mail_macros: macros,
            ..Message::default()
        };
        client.send(&message).await.unwrap()
    }

    pub async fn stopped(self) {
        let _ = self.stop.send(());
        self.run.await.unwrap();
    }
}

/// A message as an MTA keeps it: values from the colon on, folds as LF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Mail {
    /// One from joe@example.com.
    pub fn plain() -> Self {
        let headers = [
            ("Received", " from a\n\tby b; Thu, 1 Jan 2026 00:00:00 +0000"),
            ("From", "  Joe <joe@example.com>"),
            ("To", " jane@example.net"),
            ("Subject", " a subject that\n  is folded"),
            ("Date", " Thu, 1 Jan 2026 00:00:00 +0000"),
        ];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            headers: headers.map(own).into(),
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

    /// What an MTA makes of it: each change as it comes, removed fields counting no more.
    pub fn changed(&self, answer: &Answer) -> Self {
        assert_eq!(answer.reply, Reply::Continue);
        let mut mail = self.clone();
        for change in &answer.changes {
            match change {
                Change::InsertHeader { index: 0, name, value } => {
                    mail.headers.insert(0, (text(name), text(value)));
                }
                Change::ChangeHeader { index, name, value } if value.is_empty() => {
                    let name = text(name);
                    let of_name = |(_, (other, _)): &(usize, &(String, String))| {
                        other.trim_end().eq_ignore_ascii_case(&name)
                    };
                    let place = mail.headers.iter().enumerate().filter(of_name).nth(*index as usize - 1);
                    let (place, _) = place.unwrap();
                    mail.headers.remove(place);
                }
                other => panic!("{other:?}"),
            }
        }
        mail
    }

    /// Values of fields of a name.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let of_name = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    /// What is said of it at the top.
    pub fn results(&self) -> String {
        assert_eq!(self.headers[0].0, "Authentication-Results");
        self.headers[0].1.replace("\n\t", " ").replace('\n', "").trim().to_owned()
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
