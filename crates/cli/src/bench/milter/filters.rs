//! The filters: ours as a process, and one that only accepts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use oarlock::keys::export;
use oarlock_dkim::{RecordOptions, record_text};
use oarlock_milter::protocol::{Actions, Steps};
use oarlock_milter::{
    FilterFactory, FilterWants, MessageFilter, MilterServer, MilterSettings, MilterSocket, MtaSocket,
};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::super::BenchError;
use super::super::args::MilterRow;
use super::super::place::{make_directory, write};
use super::super::plan::Program;
use super::super::process::Process;
use super::mails::Mails;
use crate::args::Global;
use crate::cores::Cores;
use crate::dkim::{DOMAIN, SELECTOR};

/// Where the filters listen: a port that the system chooses.
const ANYWHERE: &str = "inet:0@127.0.0.1";

/// `oarlock milter` on the servers' core, with a key of its own.
pub(super) struct Ours {
    process: Process,
    pub(super) socket: MilterSocket,
}

/// What it says when it listens.
#[derive(Deserialize)]
struct Said {
    sockets: Vec<String>,
}

impl Ours {
    pub(super) fn start(
        global: &Global,
        place: &Path,
        row: MilterRow,
        mails: &Mails,
        cores: &Cores,
    ) -> Result<Self, BenchError> {
        let directory = make_directory(place.join(row.to_string()))?;
        let (config, records) = (directory.join("milter.toml"), directory.join("records"));
        let mut known = String::new();
        if let Some(key) = &mails.key {
            write(&directory.join("key.pem"), export::private_pkcs8_pem(key)?.as_bytes())?;
            let record = record_text(key, &RecordOptions::default())?;
            known = format!("{SELECTOR}._domainkey.{DOMAIN} {record}\n");
        }
        write(&records, known.as_bytes())?;
        write(&directory.join("signing.table"), format!("{DOMAIN} {SELECTOR} key.pem\n").as_bytes())?;
        let mode = if row.signs() { "sign" } else { "verify" };
        let text = format!(
            "mode = \"{mode}\"\nauthserv_id = \"mx.example.com\"\nsigning.table = \"signing.table\"\n\
             listen.sockets = [\"{ANYWHERE}\"]\n"
        );
        write(&config, text.as_bytes())?;
        let mut command = Command::new(std::env::current_exe().map_err(BenchError::Own)?);
        command.arg("--json");
        if let Some(engines) = &global.engines {
            command.args(["--engines", &engines.join(",")]);
        }
        if let Some(threads) = global.threads {
            command.args(["--threads", &threads.to_string()]);
        }
        command.args(["milter", "--log", "json", "--config"]).arg(&config).arg("--keys-file").arg(&records);
        command.stdout(Stdio::piped());
        let log = directory.join("milter.log");
        let mut process = Process::start(Program::Milter, &mut command, log, cores)?;
        let said = serde_json::from_str(&process.first_line()?).ok();
        let socket = said.and_then(|said: Said| said.sockets.first()?.parse().ok());
        match socket {
            Some(socket) => Ok(Self { process, socket }),
            None => Err(process.ended()),
        }
    }

    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }
}

/// A filter that has everything sent to it, as one that verifies, and accepts. It ends with this.
pub(super) struct Acceptor {
    pub(super) socket: MilterSocket,
    _stop: oneshot::Sender<()>,
}

impl Acceptor {
    /// On a thread at the servers' core.
    pub(super) fn start(cores: &Cores) -> Result<Self, BenchError> {
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let there = cores.visit();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(sender.send(Err(error.to_string()))),
            };
            runtime.block_on(async {
                let bound = match ANYWHERE.parse() {
                    Ok(socket) => MilterServer::bind(&[socket], Acceptors, MilterSettings::default()).await,
                    Err(error) => return drop(sender.send(Err(format!("{error}")))),
                };
                match bound {
                    Ok(server) => {
                        drop(sender.send(Ok(server.sockets().remove(0))));
                        server.run(async { drop(stopped.await) }).await;
                    }
                    Err(error) => drop(sender.send(Err(error.to_string()))),
                }
            });
        });
        drop(there);
        let bound = receiver.recv().unwrap_or_else(|_| Err("its thread has ended".to_owned()));
        let socket = bound.map_err(|error| BenchError::Clients(std::io::Error::other(error)))?;
        Ok(Self { socket, _stop: stop })
    }
}

struct Acceptors;
struct Accepts;

impl FilterFactory for Acceptors {
    type Filter = Accepts;

    fn filter(&self, _: MtaSocket) -> Accepts {
        Accepts
    }

    fn wants(&self) -> FilterWants {
        // What our own filter wants of an MTA.
        let steps = Steps::NO_HELO
            | Steps::NO_RECIPIENT
            | Steps::NO_DATA
            | Steps::NO_UNKNOWN
            | Steps::NO_REPLY_CONNECT
            | Steps::NO_REPLY_MAIL
            | Steps::NO_REPLY_HEADER
            | Steps::LEADING_SPACE;
        FilterWants { actions: Actions::NONE, steps, macros: Vec::new() }
    }
}

impl MessageFilter for Accepts {}
