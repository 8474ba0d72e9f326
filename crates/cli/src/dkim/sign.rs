//! `oarlock dkim sign`.

use std::io::Write;
use std::path::PathBuf;

use oarlock::Accelerator;
use oarlock_dkim::{Algorithm, Coverage, Limits, Message, SignIntake, Signed, Signer};
use oarlock_io::mail::{self, MailDestination, MailError, MailMessage, to_crlf};
use serde::Serialize;

use super::args::SignArgs;
use super::bulk::{self, Loaded};
use super::document::ResultList;
use super::own_signatures::without_own;
use super::{DkimError, time_s};
use crate::keys::{about, place};
use oarlock_measure::GlobalOptions;
use oarlock_measure::dkim::compare;
use oarlock_measure::table::count;

pub(super) fn run(global: &GlobalOptions, args: &SignArgs) -> Result<(), DkimError> {
    if args.compare.compare {
        return Ok(compare::run(global, &args.mail.paths, args.mail.options(), &args.compare)?);
    }
    let work = Work {
        signers: args.signers()?,
        accelerator: global.builder().build()?,
        now_s: time_s(args.time),
        target: args.target(global),
    };
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&work.accelerator);
    }
    let (mut counts, mut results) = (Counts::default(), ResultList::default());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let take = |done: Done| {
        counts.add(&done);
        done.tell();
        if global.json {
            return Ok(done.lines().iter().try_for_each(|line| results.push(line, &mut out))?);
        }
        Ok(done.text.map_or(Ok(()), |text| out.write_all(&text))?)
    };
    let totals = bulk::run(global, &args.mail, |batch| work.sign(&batch), take);
    if global.json {
        let summary = totals.as_ref().ok().map(|totals| totals.summary(counts));
        results.finish(summary.as_ref(), &mut out)?;
    }
    let totals = totals?;
    out.flush()?;
    if global.json || global.verbose || !matches!(work.target, Target::Stdout) {
        let Counts { signatures, replaced, unsigned } = counts;
        let replaced = if replaced > 0 { format!(" ({replaced} replaced)") } else { String::new() };
        let (signatures, unsigned) = (count(signatures, "signature"), count(unsigned, "message"));
        totals.tell(&format!("{signatures}{replaced}, {unsigned} not signed"));
    }
    match counts.unsigned {
        0 if totals.messages == 0 && totals.unreadable > 0 => Err(DkimError::Usage("nothing could be read")),
        0 => Ok(()),
        unsigned => {
            Err(DkimError::No(format!("{unsigned} of {} not signed", count(totals.messages, "message"))))
        }
    }
}

impl SignArgs {
    fn signers(&self) -> Result<Vec<Signer>, DkimError> {
        let passphrase = place::passphrase(self.passphrase_file.as_deref())?;
        let signer = |(selector, path): &(String, PathBuf)| {
            let key = place::read_to_sign(path, passphrase.as_ref())?;
            about::warn(selector, &key);
            self.signer(selector, key).map_err(|error| DkimError::Signer { path: path.clone(), error })
        };
        self.keys.iter().map(signer).collect()
    }

    fn signer(&self, selector: &str, key: oarlock::Key) -> Result<Signer, oarlock_dkim::SignerError> {
        let mut signer = Signer::new(self.domain.as_deref().unwrap_or_default(), selector, key)?
            .with_canonicalization(self.canonicalization)
            .with_lifetime_s(self.expire)
            .covering(&self.coverage())?;
        if let Some(identity) = &self.identity {
            signer = signer.with_identity(identity)?;
        }
        if self.sha1 {
            signer = signer.with_algorithm(Algorithm::RsaSha1)?;
        }
        if self.body_length {
            signer = signer.with_body_length();
        }
        Ok(if self.copy_fields { signer.with_copied_fields() } else { signer })
    }

    fn coverage(&self) -> Coverage {
        let default = Coverage::default();
        Coverage {
            signed: self.headers.clone().unwrap_or(default.signed),
            // Of fields that the caller names, only those that he wants.
            oversigned: self.oversign.clone().unwrap_or(match self.headers {
                Some(_) => vec!["From".into()],
                None => default.oversigned,
            }),
        }
    }

    fn target(&self, global: &GlobalOptions) -> Target {
        match &self.into {
            _ if self.in_place => Target::Files(MailDestination::InPlace),
            Some(directory) => Target::Files(MailDestination::Directory(directory.clone())),
            None if global.json => Target::Nowhere,
            None => Target::Stdout,
        }
    }
}

/// Where signed messages go.
enum Target {
    Files(MailDestination),
    Stdout,
    /// Only their signatures are told.
    Nowhere,
}

struct Work {
    signers: Vec<Signer>,
    accelerator: Accelerator,
    now_s: u64,
    target: Target,
}

/// What came of a message.
struct Done {
    source: String,
    /// Of each signer; or why it is no message.
    fields: Result<Vec<(String, Algorithm, Signed)>, String>,
    /// Signatures whose place new ones take.
    replaced: u64,
    /// For standard output.
    text: Option<Vec<u8>>,
    error: Option<MailError>,
}

impl Work {
    fn sign(&self, batch: &[Loaded]) -> Result<Vec<(u64, Done)>, DkimError> {
        let mails: Vec<_> = batch.iter().map(|loaded| without_own(&loaded.mail, &self.signers)).collect();
        let wires: Vec<_> = mails.iter().map(|(mail, _)| to_crlf(&mail.bytes)).collect();
        let limits = Limits::default();
        let mut intake = SignIntake::new(self.now_s);
        let mut errors = Vec::with_capacity(batch.len());
        for wire in &wires {
            errors.push(match Message::parse(wire, &limits) {
                Ok(message) => {
                    intake.push(message, &self.signers)?;
                    None
                }
                Err(error) => Some(format!("the message is malformed: {error}")),
            });
        }
        let mut signed = intake.sign(&self.accelerator)?.into_iter();
        let done = batch.iter().zip(&mails).zip(errors).map(|((loaded, (mail, replaced)), error)| {
            let fields = match error {
                Some(error) => Err(error),
                None => Ok(self.signers.iter().zip(&mut signed).map(named).collect()),
            };
            (loaded.index, Done { replaced: *replaced, ..self.write(mail, fields) })
        });
        Ok(done.collect())
    }

    /// A message is written with all its signatures or not at all; on standard output, where others stand behind it, without.
    fn write(&self, mail: &MailMessage, fields: Result<Vec<(String, Algorithm, Signed)>, String>) -> Done {
        let whole: Option<String> = fields.as_ref().ok().and_then(|fields| {
            fields
                .iter()
                .map(|(_, _, field)| field.as_ref().ok().map(|field| field.clone() + "\r\n"))
                .collect()
        });
        let mut done = Done { source: mail.source.to_string(), fields, replaced: 0, text: None, error: None };
        match (&self.target, whole) {
            (Target::Files(destination), Some(header)) => {
                done.error = destination.write(mail, header.as_bytes()).err();
            }
            (Target::Stdout, header) => done.text = Some(text(mail, &header.unwrap_or_default())),
            (Target::Files(_), None) | (Target::Nowhere, _) => {}
        }
        done
    }
}

fn named((signer, field): (&Signer, Signed)) -> (String, Algorithm, Signed) {
    (signer.selector().to_owned(), signer.algorithm(), field)
}

/// As it was, or as one of an mbox where it came from one or from one of many files.
fn text(mail: &MailMessage, header: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(mail.bytes.len() + header.len() + 64);
    let written = if mail.envelope.is_some() {
        mail::write_mbox(&mut text, mail.envelope.as_deref(), header.as_bytes(), &mail.bytes)
    } else {
        mail::write_signed(&mut text, header.as_bytes(), &mail.bytes)
    };
    // Writing into memory does not fail.
    drop(written);
    text
}

/// A signature as `--json` prints it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    source: &'a str,
    selector: Option<&'a str>,
    algorithm: Option<&'static str>,
    field: Option<&'a str>,
    error: Option<String>,
}

impl Done {
    fn is_signed(&self) -> bool {
        self.error.is_none()
            && self.fields.as_ref().is_ok_and(|fields| fields.iter().all(|(_, _, field)| field.is_ok()))
    }

    /// What went wrong, on stderr.
    fn tell(&self) {
        let fault = |reason: &dyn std::fmt::Display| eprintln!("oarlock: {}: {reason}", self.source);
        match &self.fields {
            Err(reason) => fault(reason),
            Ok(fields) => {
                if let Some(error) = fields.iter().find_map(|(_, _, field)| field.as_ref().err()) {
                    fault(error);
                }
            }
        }
        if let Some(error) = &self.error {
            eprintln!("oarlock: {error}");
        }
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let bare = Line { source: &self.source, selector: None, algorithm: None, field: None, error: None };
        let unwritten = self.error.as_ref().map(ToString::to_string);
        match &self.fields {
            Err(error) => vec![Line { error: Some(error.clone()), ..bare }],
            Ok(fields) => fields
                .iter()
                .map(|(selector, algorithm, field)| Line {
                    source: &self.source,
                    selector: Some(selector),
                    algorithm: Some(algorithm.name()),
                    field: field.as_deref().ok(),
                    error: field.as_ref().err().map(ToString::to_string).or(unwritten.clone()),
                })
                .collect(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    signatures: u64,
    /// Signatures of the same domain and selector that the messages had before.
    replaced: u64,
    unsigned: u64,
}

impl Counts {
    fn add(&mut self, done: &Done) {
        if done.is_signed() {
            self.replaced += done.replaced;
            self.signatures += done.fields.as_ref().map_or(0, Vec::len) as u64;
        } else {
            self.unsigned += 1;
        }
    }
}
