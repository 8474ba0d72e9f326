//! `oarlock dkim publish`: puts the record of a key into its zone by a dynamic update, or removes it.
//!
//! | module | what it holds |
//! |---|---|
//! | `update` | updates by nsupdate, and the reasons why a server refuses them |
//! | `tsig` | the check of files with a TSIG key |

mod tsig;
mod update;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use oarlock_dkim::{KeyAnswer, KeyName, KeyRecord, RecordOptions, ascii_form, host_form, record_strings};
use oarlock_mailfilter::SigningTable;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

pub(super) use self::tsig::TsigKeyError;
use self::tsig::TsigKeyFile;
pub(super) use self::update::UpdateError;
use self::update::{UpdateAnswer, ZoneUpdater};
use super::DkimError;
use super::args::PublishArgs;
use super::dns::CheckedRecord;
use super::lookup::KeyRecordSource;
use crate::keys::{key_file, summary};

/// The action of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum PublishAction {
    Published,
    /// Another record was replaced.
    Replaced,
    /// The same record was there before.
    Unchanged,
    Deleted,
    /// There was no record to delete.
    Absent,
    /// Nothing was sent.
    DryRun,
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct PublishReport {
    name: String,
    action: PublishAction,
    /// The server that has answered; null if nothing was sent.
    server: Option<SocketAddr>,
    record: Option<String>,
    ttl_s: u32,
    /// The input of nsupdate, if nothing was sent.
    commands: Option<String>,
}

pub(super) fn run(global: &GlobalOptions, args: &PublishArgs) -> Result<(), DkimError> {
    let publication = Publication::new(args)?;
    let record = publication.key.as_ref().map(|key| key.text.clone());
    let report = |action, server, commands| PublishReport {
        name: publication.name.to_string(),
        action,
        server,
        record: record.clone(),
        ttl_s: args.ttl,
        commands,
    };
    if args.dry_run {
        let script = publication.updater.script(&publication.first_commands());
        return report(PublishAction::DryRun, None, Some(script)).print(global);
    }
    let (action, server) = if args.delete { publication.delete()? } else { publication.publish()? };
    report(action, Some(server), None).print(global)
}

/// A key with its record.
struct PublishedKey {
    text: String,
    /// The record as a verifier reads it.
    record: KeyRecord,
}

impl PublishedKey {
    /// Returns true if a record has the same key.
    fn is_in(&self, record: &KeyRecord) -> bool {
        record.key.fingerprint() == self.record.key.fingerprint()
    }

    /// Returns true if a record says the same.
    fn says(&self, record: &KeyRecord) -> bool {
        let rules = |record: &KeyRecord| (record.is_testing, record.is_strict, record.notes.clone());
        self.is_in(record) && rules(record) == rules(&self.record)
    }
}

/// A record to publish or to remove.
struct Publication<'a> {
    args: &'a PublishArgs,
    name: KeyName,
    /// The key. None if any record is to be deleted.
    key: Option<PublishedKey>,
    updater: ZoneUpdater,
}

impl<'a> Publication<'a> {
    fn new(args: &'a PublishArgs) -> Result<Self, DkimError> {
        let bad = |name: &str| DkimError::Domain(name.to_owned());
        let form = |name: &str| ascii_form(name).map(String::from).ok_or_else(|| bad(name));
        let (selector, domain) = (form(&args.selector)?, form(&args.domain)?);
        let zone = args.zone.as_ref().map(|zone| host_form(zone).map(String::from).ok_or_else(|| bad(zone)));
        let updater = ZoneUpdater {
            program: args.nsupdate.clone(),
            server: args.server.as_deref().map(server_words).transpose()?,
            zone: zone.transpose()?,
            tsig: args.tsig_key.as_deref().map(TsigKeyFile::open).transpose()?,
            max_seconds: args.timeout,
        };
        let key = match args.key_path(&selector, &domain)? {
            Some(path) => Some(args.read_key(&path, &selector)?),
            None if args.force => None,
            None => {
                return Err(DkimError::Usage("--delete needs --key or --table, or --force for any record"));
            }
        };
        Ok(Self { args, name: KeyName::new(&selector, &domain), key, updater })
    }

    fn publish(&self) -> Result<(PublishAction, SocketAddr), DkimError> {
        let (answer, server) = self.send(&self.first_commands())?;
        let action = match answer {
            UpdateAnswer::Done if self.args.force => PublishAction::Replaced,
            UpdateAnswer::Done => PublishAction::Published,
            UpdateAnswer::Exists | UpdateAnswer::Absent => self.replace(server)?,
        };
        match self.find(server)? {
            KeyAnswer::Records { records, .. } if self.is_only(&records) => Ok((action, server)),
            KeyAnswer::Unknown(reason) => Err(DkimError::Lookup(reason)),
            _ => Err(DkimError::No(format!(
                "{server} has taken the update, and does not answer with the record"
            ))),
        }
    }

    /// Replaces a record of the same key, unless it is the same record.
    fn replace(&self, server: SocketAddr) -> Result<PublishAction, DkimError> {
        let other = || {
            DkimError::No(format!(
                "{} has another key: overwrite it with --force, or take another selector",
                self.name
            ))
        };
        match self.find(server)? {
            KeyAnswer::Records { records, .. } => match (&*records, &self.key) {
                ([Ok(record)], Some(key)) if key.says(record) => return Ok(PublishAction::Unchanged),
                ([Ok(record)], Some(key)) if key.is_in(record) => {}
                _ => return Err(other()),
            },
            KeyAnswer::Unknown(reason) => return Err(DkimError::Lookup(reason)),
            KeyAnswer::NoRecord => return Err(other()),
        }
        let commands = [self.require("yxrrset"), self.delete_command()].into_iter().chain(self.add_command());
        match self.send(&commands.collect::<Vec<_>>())?.0 {
            UpdateAnswer::Done => Ok(PublishAction::Replaced),
            UpdateAnswer::Exists | UpdateAnswer::Absent => Err(self.changed()),
        }
    }

    fn delete(&self) -> Result<(PublishAction, SocketAddr), DkimError> {
        // An update that only requires something finds the server that has the zone.
        let (answer, server) = self.send(&[self.require("yxrrset")])?;
        if answer != UpdateAnswer::Done {
            return Ok((PublishAction::Absent, server));
        }
        if !self.args.force {
            match self.find(server)? {
                KeyAnswer::Records { records, .. } if self.is_only(&records) => {}
                KeyAnswer::Unknown(reason) => return Err(DkimError::Lookup(reason)),
                _ => {
                    return Err(DkimError::No(format!(
                        "{} has another key: delete it with --force",
                        self.name
                    )));
                }
            }
        }
        match self.send(&[self.require("yxrrset"), self.delete_command()])?.0 {
            UpdateAnswer::Done => {}
            UpdateAnswer::Exists | UpdateAnswer::Absent => return Err(self.changed()),
        }
        match self.find(server)? {
            KeyAnswer::NoRecord => Ok((PublishAction::Deleted, server)),
            KeyAnswer::Unknown(reason) => Err(DkimError::Lookup(reason)),
            KeyAnswer::Records { .. } => {
                Err(DkimError::No(format!("{server} has taken the update, and still answers with a record")))
            }
        }
    }

    /// Returns the commands of the first update.
    fn first_commands(&self) -> Vec<String> {
        match (self.args.delete, self.args.force) {
            (true, _) => vec![self.require("yxrrset"), self.delete_command()],
            (false, false) => [self.require("nxrrset")].into_iter().chain(self.add_command()).collect(),
            (false, true) => [self.delete_command()].into_iter().chain(self.add_command()).collect(),
        }
    }

    fn require(&self, state: &str) -> String {
        format!("prereq {state} {}. IN TXT", self.name)
    }

    fn delete_command(&self) -> String {
        format!("update delete {}. IN TXT", self.name)
    }

    fn add_command(&self) -> Option<String> {
        let key = self.key.as_ref()?;
        let strings: Vec<String> = record_strings(&key.text).map(quoted).collect();
        Some(format!("update add {}. {} IN TXT {}", self.name, self.args.ttl, strings.join(" ")))
    }

    fn send(&self, commands: &[String]) -> Result<(UpdateAnswer, SocketAddr), DkimError> {
        Ok(self.updater.send(&self.name.to_string(), commands)?)
    }

    /// Asks the server that was updated, and no cache.
    fn find(&self, server: SocketAddr) -> Result<KeyAnswer, DkimError> {
        let source = KeyRecordSource::at_server(server, Duration::from_secs(self.args.timeout))?;
        let mut answers = source.find(std::iter::once(&self.name));
        let unknown = || KeyAnswer::Unknown("the lookup failed".to_owned());
        Ok(answers.remove(&self.name).unwrap_or_else(unknown))
    }

    /// Returns true if this is the only record, and has the key.
    fn is_only(&self, records: &[Result<KeyRecord, oarlock_dkim::KeyRecordError>]) -> bool {
        matches!((records, &self.key), ([Ok(record)], Some(key)) if key.is_in(record))
    }

    fn changed(&self) -> DkimError {
        DkimError::No(format!("{} was changed meanwhile by somebody else: nothing was done", self.name))
    }
}

impl PublishArgs {
    /// Returns the file of the key, or its URI.
    fn key_path(&self, selector: &str, domain: &str) -> Result<Option<PathBuf>, DkimError> {
        let Some(path) = &self.table else { return Ok(self.key.clone()) };
        let table = SigningTable::open(path)?;
        let missing =
            || DkimError::NoLine { table: path.clone(), selector: selector.into(), domain: domain.into() };
        Ok(Some(table.key_file(selector, domain).ok_or_else(missing)?.to_owned()))
    }

    fn read_key(&self, path: &std::path::Path, selector: &str) -> Result<PublishedKey, DkimError> {
        let passphrase = self.passphrase.read()?;
        let key = key_file::read(path, passphrase.as_ref())?;
        let options =
            RecordOptions { is_testing: self.test_mode, is_strict: self.strict, notes: self.notes.clone() };
        let CheckedRecord { text, record, .. } = CheckedRecord::of_key(path, &key, &options)?;
        summary::warn(selector, &key);
        Ok(PublishedKey { text, record })
    }
}

/// Returns the words after the command `server`: a name or an address, and a port if there is one.
fn server_words(text: &str) -> Result<String, DkimError> {
    if let Ok(address) = oarlock_mail_files::dns::server_address(text) {
        return Ok(format!("{} {}", address.ip(), address.port()));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "53"));
    match (host_form(host), port.parse::<u16>()) {
        (Some(host), Ok(port)) => Ok(format!("{host} {port}")),
        _ => Err(DkimError::UpdateServer(text.to_owned())),
    }
}

/// Returns a string in quotes. Every other byte is escaped, so that no text can end the line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => quoted += &format!("\\{byte:03}"),
        }
    }
    quoted + "\""
}

impl PublishReport {
    fn print(&self, global: &GlobalOptions) -> Result<(), DkimError> {
        let Self { name, .. } = self;
        let server = self.server.map(|server| server.to_string()).unwrap_or_default();
        Ok(print_report(global.json, self, |_| match self.action {
            PublishAction::Published => format!("{name}: published at {server}\n"),
            PublishAction::Replaced => format!("{name}: replaced at {server}\n"),
            PublishAction::Unchanged => format!("{name}: {server} has this record already\n"),
            PublishAction::Deleted => format!("{name}: deleted at {server}\n"),
            PublishAction::Absent => format!("{name}: {server} has no record\n"),
            PublishAction::DryRun => self.commands.clone().unwrap_or_default(),
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_a_name_or_an_address_and_a_port() {
        for (text, words) in [
            ("192.0.2.1", "192.0.2.1 53"),
            ("192.0.2.1:5353", "192.0.2.1 5353"),
            ("::1", "::1 53"),
            ("[::1]:5353", "::1 5353"),
            ("NS1.example.com", "ns1.example.com 53"),
            ("ns1.example.com.:54", "ns1.example.com 54"),
        ] {
            assert_eq!(server_words(text).unwrap(), words);
        }
        for text in ["", "ns1:x", "a b", "ns1\nkey x y", ":53", "ns:70000"] {
            assert!(matches!(server_words(text), Err(DkimError::UpdateServer(_))), "{text}");
        }
    }

    #[test]
    fn no_text_ends_a_string() {
        assert_eq!(quoted("a\"b\\c;"), "\"a\\\"b\\\\c;\"");
        assert_eq!(quoted("x\nsend\u{e9}\0"), "\"x\\010send\\195\\169\\000\"");
    }
}
