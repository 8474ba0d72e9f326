//! Oarlock's filter, as a process.

use std::path::Path;
use std::process::{Command, Stdio};

use oarlock::keys::export;
use oarlock_dkim::{RecordOptions, record_text};
use oarlock_measure::cores::DividedCores;
use oarlock_milter::MilterSocket;
use oarlock_terminal::GlobalOptions;
use serde::Deserialize;

use super::super::BenchError;
use super::super::args::MilterRow;
use super::super::directory::{make_directory, write};
use super::super::plan::BenchProgram;
use super::super::process::ServerProcess;
use super::mails::MtaMailSet;
use crate::dkim::{DOMAIN, SELECTOR};
use crate::product::oarlock_path;

/// The address that the filter is to listen at: a port that the system chooses.
pub(super) const ANY_PORT: &str = "inet:0@127.0.0.1";

/// `oarlock milter` on the servers' core, with a key of its own.
pub(super) struct OwnFilter {
    process: ServerProcess,
    pub(super) socket: MilterSocket,
}

/// The line that the filter prints when it listens.
#[derive(Deserialize)]
struct AnnouncedSockets {
    sockets: Vec<String>,
}

impl OwnFilter {
    pub(super) fn start(
        global: &GlobalOptions,
        folder: &Path,
        row: MilterRow,
        mails: &MtaMailSet,
        cores: &DividedCores,
    ) -> Result<Self, BenchError> {
        let directory = make_directory(folder.join(row.to_string()))?;
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
             listen.sockets = [\"{ANY_PORT}\"]\n"
        );
        write(&config, text.as_bytes())?;
        let mut command = Command::new(oarlock_path()?);
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
        let mut process = ServerProcess::start(BenchProgram::Milter, command, log, cores)?;
        let said = serde_json::from_str(&process.first_line()?).ok();
        let socket = said.and_then(|said: AnnouncedSockets| said.sockets.first()?.parse().ok());
        match socket {
            Some(socket) => Ok(Self { process, socket }),
            None => Err(process.ended()),
        }
    }

    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }
}
