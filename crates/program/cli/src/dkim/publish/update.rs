//! Dynamic updates (RFC 2136) by the program nsupdate, and the reasons why a server refuses them.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::tsig::TsigKeyFile;

/// A zone that can be updated, and how.
#[derive(Debug)]
pub(super) struct ZoneUpdater {
    /// The program `nsupdate` or one with its commands and messages.
    pub(super) program: PathBuf,
    /// The words after `server`: a name or an address, and perhaps a port.
    pub(super) server: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) tsig: Option<TsigKeyFile>,
    pub(super) max_seconds: u64,
}

/// The answer of a server to an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateAnswer {
    /// The update was made.
    Done,
    /// The name has records that the update forbids (YXRRSET).
    Exists,
    /// The name does not have the records that the update requires (NXRRSET).
    Absent,
}

/// The reason why an update was not made. RFC 2136 2.2, RFC 8945 5.3.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error("{}: {error}: install BIND's client programs, or name the program with --nsupdate", program.display())]
    Program { program: PathBuf, error: io::Error },
    #[error("{0} refuses the update (REFUSED): its zone does not allow it to this TSIG key or address")]
    Refused(String),
    #[error("{0} is not authoritative for the zone (NOTAUTH): name another --server or --zone")]
    NotAuthoritative(String),
    #[error(
        "{server} does not know the TSIG key {key:?} (BADKEY): compare its name and algorithm with the server's"
    )]
    BadKey { server: String, key: String },
    #[error(
        "{server} rejects the signature of the update (BADSIG): the TSIG key {key:?} has another secret there"
    )]
    BadSignature { server: String, key: String },
    #[error("{0} rejects the time of the update (BADTIME): the clocks differ by more than five minutes")]
    BadTime(String),
    #[error("{server} answers the update with {code}")]
    Code { server: String, code: String },
    #[error("{server}: no answer: {reason}")]
    NoAnswer { server: String, reason: String },
    #[error("no zone was found for {0}: name it with --zone, and a server of it with --server")]
    NoZone(String),
    #[error("{}: {reason}", program.display())]
    Other { program: PathBuf, reason: String },
}

impl ZoneUpdater {
    /// Returns the input of the program: server and zone, these commands, and `send`.
    pub(super) fn script(&self, commands: &[String]) -> String {
        let server = self.server.iter().map(|server| format!("server {server}"));
        let zone = self.zone.iter().map(|zone| format!("zone {zone}."));
        let lines = server.chain(zone).chain(commands.iter().cloned()).chain(["send".to_owned()]);
        lines.fold(String::new(), |text, line| text + &line + "\n")
    }

    /// Sends an update for a name. Returns the answer and the server that gave it.
    pub(super) fn send(
        &self,
        name: &str,
        commands: &[String],
    ) -> Result<(UpdateAnswer, SocketAddr), UpdateError> {
        let output = self
            .run(&self.script(commands))
            .map_err(|error| UpdateError::Program { program: self.program.clone(), error })?;
        let text = String::from_utf8_lossy(&output.stderr);
        let read = UpdateLog::read(&text);
        let key = self.tsig.as_ref().map_or_else(|| "none".to_owned(), |key| key.name.clone());
        let answer = read.answer(output.status.success(), &self.program, name, key)?;
        let server = read.address().ok_or_else(|| UpdateError::Other {
            program: self.program.clone(),
            reason: "it does not say to which server it has sent the update".to_owned(),
        })?;
        Ok((answer, server))
    }

    fn run(&self, script: &str) -> io::Result<Output> {
        let mut command = Command::new(&self.program);
        // The log names the server that was asked, and the code and the TSIG error of its answer.
        command.arg("-d").env("LC_ALL", "C");
        // An attempt and three repetitions share the time.
        let attempt = (self.max_seconds / 4).max(1);
        command.args(["-t", &self.max_seconds.to_string(), "-u", &attempt.to_string(), "-r", "3"]);
        if let Some(key) = &self.tsig {
            // The secret itself would be visible in the list of processes.
            command.arg("-k").arg(&key.path);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            match input.write_all(script.as_bytes()) {
                // The program ended early. Its log says why.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
        child.wait_with_output()
    }
}

/// The log of nsupdate.
struct UpdateLog<'a> {
    text: &'a str,
    /// The address of the server, in the form ADDRESS#PORT.
    server: Option<&'a str>,
    /// The part with the answer to the update.
    reply: Option<&'a str>,
}

impl<'a> UpdateLog<'a> {
    fn read(text: &'a str) -> Self {
        let server = text.lines().filter_map(|line| line.strip_prefix("Sending update to ")).next_back();
        let reply = text.split_once("Reply from update query:").map(|(_, reply)| reply);
        Self { text, server: server.map(str::trim), reply }
    }

    fn address(&self) -> Option<SocketAddr> {
        let (ip, port) = self.server?.rsplit_once('#')?;
        Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
    }

    fn answer(
        &self,
        is_success: bool,
        program: &Path,
        name: &str,
        key: String,
    ) -> Result<UpdateAnswer, UpdateError> {
        let server = self.server.unwrap_or("the server").to_owned();
        let Some(reply) = self.reply else { return Err(self.failure(program, name, server)) };
        let code =
            reply.split_once("status: ").and_then(|(_, rest)| rest.split_once(',')).map(|(code, _)| code);
        let has_fault =
            |fault: &str| reply.lines().any(|line| line.split_whitespace().any(|word| word == fault));
        Err(match code.unwrap_or_default() {
            "NOERROR" if is_success => return Ok(UpdateAnswer::Done),
            "YXRRSET" => return Ok(UpdateAnswer::Exists),
            "NXRRSET" => return Ok(UpdateAnswer::Absent),
            "REFUSED" => UpdateError::Refused(server),
            "NOTAUTH" if has_fault("BADKEY") => UpdateError::BadKey { server, key },
            "NOTAUTH" if has_fault("BADSIG") => UpdateError::BadSignature { server, key },
            "NOTAUTH" if has_fault("BADTIME") => UpdateError::BadTime(server),
            "NOTAUTH" | "NOTZONE" => UpdateError::NotAuthoritative(server),
            "NOERROR" | "" => self.failure(program, name, server),
            code => UpdateError::Code { server, code: code.to_owned() },
        })
    }

    /// Returns the reason why there was no answer to an update.
    fn failure(&self, program: &Path, name: &str, server: String) -> UpdateError {
        // The answer to the first question had the time of a server such as Knot DNS.
        if self.text.contains("clocks are unsynchronized") {
            return UpdateError::BadTime(server);
        }
        let lost = self.text.lines().find_map(|line| line.strip_prefix("; Communication with "));
        if let Some((server, reason)) = lost.and_then(|lost| lost.split_once(" failed: ")) {
            let (server, reason) = (server.to_owned(), reason.to_owned());
            // The first question is for the zone. A server that refuses it does not have the zone.
            return match reason.as_str() {
                "REFUSED" => UpdateError::NoZone(name.to_owned()),
                _ => UpdateError::NoAnswer { server, reason },
            };
        }
        if self.text.contains("does not exist (NXDOMAIN)") {
            return UpdateError::NoZone(name.to_owned());
        }
        let is_message = |line: &&str| !line.trim().is_empty() && !line.starts_with(';') && !is_noise(line);
        match self.text.lines().filter(is_message).find(|line| !line.starts_with("syntax error")) {
            Some(line) if line.starts_with("couldn't get address") => {
                UpdateError::NoAnswer { server, reason: line.to_owned() }
            }
            line => UpdateError::Other {
                program: program.to_owned(),
                reason: line.unwrap_or("it failed without a message").to_owned(),
            },
        }
    }
}

/// Returns true for a line that only tells what the program does.
fn is_noise(line: &str) -> bool {
    const STEPS: [&str; 7] = [
        "Creating key",
        "namefromtext",
        "keycreate",
        "Reply from",
        "Found zone",
        "The primary",
        "Sending update",
    ];
    STEPS.iter().any(|step| line.starts_with(step)) || line.contains("\tIN\t") || line.contains("\tTSIG\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log of BIND 9.18 for an update that the server answers, with the code and the end of the TSIG record.
    fn log(code: &str, tsig: &str) -> String {
        format!(
            "Creating key...\nCreating key...\nnamefromtext\nkeycreate\nSending update to 127.0.0.1#5353\n\n\
             Reply from update query:\n;; ->>HEADER<<- opcode: UPDATE, status: {code}, id:  48365\n\
             ;; flags: qr; ZONE: 1, PREREQ: 0, UPDATE: 0, ADDITIONAL: 1\n;; ZONE SECTION:\n;example.com.\t\t\tIN\tSOA\n\n\
             ;; TSIG PSEUDOSECTION:\nupd.\t\t\t0\tANY\tTSIG\thmac-sha256. 1796073286 300 0 48365 {tsig} \n\n"
        )
    }

    fn answer(text: &str, is_success: bool) -> Result<UpdateAnswer, UpdateError> {
        UpdateLog::read(text).answer(
            is_success,
            Path::new("nsupdate"),
            "s1._domainkey.example.com",
            "upd".into(),
        )
    }

    #[test]
    fn reads_the_codes_of_an_answer() {
        assert_eq!(answer(&log("NOERROR", "NOERROR 0"), true).unwrap(), UpdateAnswer::Done);
        assert_eq!(answer(&log("YXRRSET", "NOERROR 0"), false).unwrap(), UpdateAnswer::Exists);
        assert_eq!(answer(&log("NXRRSET", "NOERROR 0"), false).unwrap(), UpdateAnswer::Absent);
        assert_eq!(UpdateLog::read(&log("NOERROR", "")).address(), Some("127.0.0.1:5353".parse().unwrap()));
        let v6 = UpdateLog::read("Sending update to ::1#53\n").address();
        assert_eq!(v6, Some("[::1]:53".parse().unwrap()));
        use UpdateError::{BadKey, BadSignature, BadTime, Code, NotAuthoritative, Other, Refused};
        let error = |code, tsig| answer(&log(code, tsig), false).unwrap_err();
        assert!(matches!(error("REFUSED", "NOERROR 0"), Refused(_)));
        assert!(matches!(error("NOTAUTH", "NOERROR 0"), NotAuthoritative(_)));
        assert!(matches!(error("NOTZONE", "NOERROR 0"), NotAuthoritative(_)));
        assert!(matches!(error("NOTAUTH", "BADKEY 0"), BadKey { key, .. } if key == "upd"));
        assert!(matches!(error("NOTAUTH", "BADSIG 0"), BadSignature { .. }));
        assert!(
            matches!(error("NOTAUTH", "BADTIME 6 AABrDedU"), BadTime(server) if server == "127.0.0.1#5353")
        );
        assert!(matches!(error("SERVFAIL", "NOERROR 0"), Code { code, .. } if code == "SERVFAIL"));
        // The answer was not signed, or signed by another key.
        assert!(matches!(error("NOERROR", "NOERROR 0"), Other { .. }));
    }

    #[test]
    fn reads_the_reason_of_a_missing_answer() {
        let error = |text: &str| answer(text, false).unwrap_err();
        let timeout = "Sending update to 192.0.2.1#53\n; Communication with 192.0.2.1#53 failed: timed out\n";
        match error(timeout) {
            UpdateError::NoAnswer { server, reason } => {
                assert_eq!((&*server, &*reason), ("192.0.2.1#53", "timed out"));
            }
            other => panic!("{other}"),
        }
        for text in [
            "; Communication with 127.0.0.1#5353 failed: REFUSED\ncould not reach any name server\n",
            "namefromtext\nspecified zone 'example.com' does not exist (NXDOMAIN)\n",
        ] {
            assert!(matches!(error(text), UpdateError::NoZone(_)), "{text}");
        }
        let skewed = error("Creating key...\ndns_request_getresponse: clocks are unsynchronized\n");
        assert!(matches!(skewed, UpdateError::BadTime(_)), "{skewed}");
        let unknown = error("couldn't get address for 'nosuch.invalid': not found\nsyntax error\n");
        assert!(
            matches!(&unknown, UpdateError::NoAnswer { reason, .. } if reason.contains("nosuch")),
            "{unknown}"
        );
        let other = error("Creating key...\nincorrect section name: x\nsyntax error\n");
        assert!(
            matches!(&other, UpdateError::Other { reason, .. } if reason.contains("incorrect")),
            "{other}"
        );
        assert!(matches!(error(""), UpdateError::Other { .. }));
    }
}
