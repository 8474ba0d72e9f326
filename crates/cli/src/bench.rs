//! `oarlock bench`: its commands, and the milter protocol for the bench of mail filters.

use std::fmt;
use std::sync::mpsc;
use std::thread;

use clap::{Args, Subcommand};
use oarlock_measure::GlobalOptions;
use oarlock_measure::bench::{
    self, BenchError, ExternalFilter, FilterAnswer, FilterProtocol, MilterArgs, MtaMessage, MtaSession,
    ReloadsArgs, TlsArgs,
};
use oarlock_milter::client::{Answer, Message};
use oarlock_milter::protocol::{Actions, Change, Reply, Steps};
use oarlock_milter::{Client, Filter, Filters, MtaSocket, Server, Settings, Socket, Wants};
use tokio::sync::oneshot;

/// Arguments of `oarlock bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// TLS handshakes of unmodified nginx and HAProxy, with OpenSSL alone and with Oarlock as its provider
    Tls(TlsArgs),
    /// TLS handshakes of nginx while it is reloaded and its workers are killed: which failed, and how much memory it takes
    Reloads(ReloadsArgs),
    /// Messages that a mail filter signs and verifies, as MTAs send them
    Milter(MilterCommand),
}

/// Arguments of `oarlock bench milter`.
#[derive(Args, Debug)]
#[command(after_help = "Rows: messages of 8.9 KB, relaxed/relaxed, one key, whose record is at hand.\n  \
                  verify-rsa2048, verify-ed25519  messages with one signature, from anybody\n  \
                  sign-rsa2048, sign-ed25519      messages of an authenticated client\n  \
                  accept                          a filter that has everything sent to it and accepts it\n\
                  The filters share the first core of this process, the MTAs have the others. A session sends its next message as soon \
                  as the one before is answered, and every answer is checked. p50_us and p99_us are from MAIL to the end of the answer; \
                  added_p50_us is the median over turns of what the row's median is above that of accept in the same turn.")]
struct MilterCommand {
    #[command(flatten)]
    bench: MilterArgs,
    /// A filter that runs already, as inet:PORT@HOST or unix:PATH: load for other people's. Its answers are checked as ours are, so
    /// it must know a key, or be measured with the row accept
    #[arg(long, value_name = "SOCKET", requires = "rows")]
    connect: Option<Socket>,
    /// That filter's process, whose CPU time is counted
    #[arg(long, value_name = "PID", requires = "connect")]
    process: Option<u32>,
}

pub(crate) fn run(global: &GlobalOptions, args: &BenchArgs) -> Result<(), BenchError> {
    oarlock_server::raise_open_files();
    match &args.command {
        BenchCommand::Tls(args) => bench::run_tls(global, args),
        BenchCommand::Reloads(args) => bench::run_reloads(global, args),
        BenchCommand::Milter(args) => {
            let external = args
                .connect
                .as_ref()
                .map(|socket| ExternalFilter { address: socket.to_string(), process: args.process });
            bench::run_milter(global, &args.bench, &MilterProtocol, external.as_ref())
        }
    }
}

/// The milter protocol of `oarlock-milter`.
struct MilterProtocol;

impl FilterProtocol for MilterProtocol {
    type Session = MilterSession;
    type Acceptor = AcceptorHandle;

    fn start_acceptor(&self) -> Result<(String, AcceptorHandle), String> {
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        thread::spawn(move || serve_acceptor(&sender, stopped));
        let bound = receiver.recv().unwrap_or_else(|_| Err("its thread has ended".to_owned()));
        Ok((bound?, AcceptorHandle { _stop: stop }))
    }

    async fn connect(&self, address: &str) -> Result<MilterSession, String> {
        let socket: Socket = address.parse().map_err(text)?;
        let mut client = Client::connect(&socket).await.map_err(text)?;
        client.negotiate().await.map_err(text)?;
        client.greet(b"").await.map_err(text)?;
        Ok(MilterSession(client))
    }
}

/// The handle of a filter on a thread. The filter ends when this is dropped.
struct AcceptorHandle {
    _stop: oneshot::Sender<()>,
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

/// Serves until `stopped` is ready or its sender is gone. The address, or the reason why there is none, goes to `sender`.
fn serve_acceptor(sender: &mpsc::Sender<Result<String, String>>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(sender.send(Err(text(error)))),
    };
    runtime.block_on(async {
        let socket = Socket::Inet { host: Some("127.0.0.1".into()), port: 0, is_v6: false };
        match Server::bind(&[socket], Acceptors, Settings::default()).await {
            Ok(server) => {
                drop(sender.send(Ok(server.sockets().remove(0).to_string())));
                server.run(async { drop(stopped.await) }).await;
            }
            Err(error) => drop(sender.send(Err(text(error)))),
        }
    });
}

struct Acceptors;
struct AcceptingFilter;

impl Filters for Acceptors {
    type Filter = AcceptingFilter;

    fn filter(&self, _: MtaSocket) -> AcceptingFilter {
        AcceptingFilter
    }

    fn wants(&self) -> Wants {
        // The same steps as the filter that is measured asks for, so that an MTA sends both the same.
        let steps = Steps::NO_HELO
            | Steps::NO_RECIPIENT
            | Steps::NO_DATA
            | Steps::NO_UNKNOWN
            | Steps::NO_REPLY_CONNECT
            | Steps::NO_REPLY_MAIL
            | Steps::NO_REPLY_HEADER
            | Steps::LEADING_SPACE;
        Wants { actions: Actions::NONE, steps, macros: Vec::new() }
    }
}

impl Filter for AcceptingFilter {}

/// A connection in the milter protocol.
struct MilterSession(Client);

impl MtaSession for MilterSession {
    type Answer = MilterAnswer;

    async fn send(&mut self, message: &MtaMessage) -> Result<MilterAnswer, String> {
        let headers: Vec<(&[u8], &[u8])> =
            message.headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let authenticated: &[u8] = b"i\x00QUEUED\0{auth_authen}\0sender\0";
        let sent = Message {
            from: b"<sender@example.com>",
            recipients: &[b"<receiver@example.net>"],
            headers: &headers,
            body: &message.body,
            mail_macros: if message.is_authenticated { authenticated } else { b"i\x00QUEUED\0" },
            ..Message::default()
        };
        self.0.send(&sent).await.map(MilterAnswer).map_err(text)
    }
}

/// An answer in the milter protocol.
#[derive(Debug)]
struct MilterAnswer(Answer);

impl FilterAnswer for MilterAnswer {
    fn is_accepted(&self) -> bool {
        matches!(self.0.reply, Reply::Continue | Reply::Accept)
    }

    fn inserts(&self, name: &[u8], part: &[u8]) -> bool {
        let contains = |value: &[u8]| value.windows(part.len()).any(|window| window == part);
        self.0.changes.iter().any(|change| match change {
            Change::InsertHeader { name: own, value, .. } => {
                own.eq_ignore_ascii_case(name) && contains(value)
            }
            _ => false,
        })
    }
}
