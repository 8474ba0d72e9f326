//! `oarlock dkim sign`.

use std::io::Write;
use std::path::PathBuf;

use oarlock::Accelerator;
use oarlock_dkim::{
    DkimSigner, HeaderCoverage, MailLimits, ParsedMail, SignIntake, SignOutcome, SignatureAlgorithm, to_crlf,
};
use oarlock_mail_files::mail::{self, MailDestination, MailError, StoredMail};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::args::MailSignArgs;
use super::bulk::{self, LoadedMail};
use super::document::ResultList;
use super::own_signatures::without_own;
use super::{DkimError, time_s};
use crate::keys::{KeyInputs, summary};

pub(super) fn run(global: &GlobalOptions, args: &MailSignArgs) -> Result<(), DkimError> {
    args.comparison.hand_over("sign --compare")?;
    let inputs = KeyInputs::read(args.keys.iter().map(|(_, path)| &**path))?;
    let work = MailSigning {
        signers: args.signers(&inputs)?,
        accelerator: inputs.holders.register(global.builder()).lazy().build()?,
        now_s: time_s(args.time),
        target: args.target(global),
    };
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&work.accelerator);
    }
    let (mut counts, mut results) = (SignCounts::default(), ResultList::default());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let take = |done: SignedMail| {
        counts.add(&done);
        done.print_failures();
        if global.json {
            return Ok(done.lines().iter().try_for_each(|line| results.push(line, &mut out))?);
        }
        Ok(done.text.map_or(Ok(()), |text| out.write_all(&text))?)
    };
    let totals = bulk::run(global, &args.mail, |batch| work.sign(&batch), take);
    if global.json {
        // Also after an error, so that the document on standard output ends.
        let summary = totals.as_ref().ok().map(|totals| totals.summary(counts));
        results.finish(summary.as_ref(), &mut out)?;
    }
    let totals = totals?;
    out.flush()?;
    if global.json || global.verbose || !matches!(work.target, MailTarget::Stdout) {
        let SignCounts { signatures, replaced, unsigned } = counts;
        let replaced = if replaced > 0 { format!(" ({replaced} replaced)") } else { String::new() };
        let (signatures, unsigned) = (count(signatures, "signature"), count(unsigned, "message"));
        totals.print(&format!("{signatures}{replaced}, {unsigned} not signed"));
    }
    match counts.unsigned {
        0 if totals.messages == 0 && totals.unreadable > 0 => Err(DkimError::Usage("nothing could be read")),
        0 => Ok(()),
        unsigned => {
            Err(DkimError::No(format!("{unsigned} of {} not signed", count(totals.messages, "message"))))
        }
    }
}

impl MailSignArgs {
    fn signers(&self, inputs: &KeyInputs) -> Result<Vec<DkimSigner>, DkimError> {
        let passphrase = self.passphrase.read()?;
        let signer = |(selector, path): &(String, PathBuf)| {
            let key = inputs.signing_key(path, passphrase.as_ref())?;
            summary::warn(selector, &key);
            self.signer(selector, key).map_err(|error| DkimError::Signer { path: path.clone(), error })
        };
        self.keys.iter().map(signer).collect()
    }

    fn signer(&self, selector: &str, key: oarlock::Key) -> Result<DkimSigner, oarlock_dkim::SignerError> {
        let mut signer = DkimSigner::new(self.domain.as_deref().unwrap_or_default(), selector, key)?
            .with_canonicalization(self.canonicalization)
            .with_lifetime_s(self.expire)
            .covering(&self.coverage())?;
        if let Some(identity) = &self.identity {
            signer = signer.with_identity(identity)?;
        }
        if self.sha1 {
            signer = signer.with_algorithm(SignatureAlgorithm::RsaSha1)?;
        }
        if self.body_length {
            signer = signer.with_body_length();
        }
        Ok(if self.copy_fields { signer.with_copied_fields() } else { signer })
    }

    fn coverage(&self) -> HeaderCoverage {
        let default = HeaderCoverage::default();
        HeaderCoverage {
            signed: self.headers.clone().unwrap_or(default.signed),
            // If the caller names the fields, only From is oversigned by default.
            oversigned: self.oversign.clone().unwrap_or(match self.headers {
                Some(_) => vec!["From".into()],
                None => default.oversigned,
            }),
        }
    }

    fn target(&self, global: &GlobalOptions) -> MailTarget {
        match &self.into {
            _ if self.in_place => MailTarget::Files(MailDestination::InPlace),
            Some(directory) => MailTarget::Files(MailDestination::Directory(directory.clone())),
            None if global.json => MailTarget::Nowhere,
            None => MailTarget::Stdout,
        }
    }
}

/// The target of signed messages.
enum MailTarget {
    Files(MailDestination),
    Stdout,
    /// Only their signatures are printed.
    Nowhere,
}

struct MailSigning {
    signers: Vec<DkimSigner>,
    accelerator: Accelerator,
    now_s: u64,
    target: MailTarget,
}

/// The result of a message.
struct SignedMail {
    source: String,
    /// The signature of each signer, or the reason why the message cannot be parsed.
    fields: Result<Vec<(String, SignatureAlgorithm, SignOutcome)>, String>,
    /// The number of older signatures that new ones replace.
    replaced: u64,
    /// The text for standard output.
    text: Option<Vec<u8>>,
    error: Option<MailError>,
}

impl MailSigning {
    fn sign(&self, batch: &[LoadedMail]) -> Result<Vec<(u64, SignedMail)>, DkimError> {
        let mails: Vec<_> = batch.iter().map(|loaded| without_own(&loaded.mail, &self.signers)).collect();
        let wires: Vec<_> = mails.iter().map(|(mail, _)| to_crlf(&mail.bytes)).collect();
        let limits = MailLimits::default();
        let mut intake = SignIntake::new(self.now_s);
        let mut errors = Vec::with_capacity(batch.len());
        for wire in &wires {
            errors.push(match ParsedMail::parse(wire, &limits) {
                Ok(message) => {
                    intake.push(message, &self.signers)?;
                    None
                }
                Err(error) => Some(format!("the message is malformed: {error}")),
            });
        }
        // Only messages that could be parsed are in the intake, so its results are counted apart.
        let mut signed = intake.sign(&self.accelerator)?.into_iter();
        let done = batch.iter().zip(&mails).zip(errors).map(|((loaded, (mail, replaced)), error)| {
            let fields = match error {
                Some(error) => Err(error),
                None => Ok(self.signers.iter().zip(&mut signed).map(named).collect()),
            };
            (loaded.index, SignedMail { replaced: *replaced, ..self.write(mail, fields) })
        });
        Ok(done.collect())
    }

    /// Writes a message with all its signatures. If one is missing, a file is not written, and standard output gets
    /// the message unsigned.
    fn write(
        &self,
        mail: &StoredMail,
        fields: Result<Vec<(String, SignatureAlgorithm, SignOutcome)>, String>,
    ) -> SignedMail {
        let whole: Option<String> = fields.as_ref().ok().and_then(|fields| {
            fields
                .iter()
                .map(|(_, _, field)| field.as_ref().ok().map(|field| field.clone() + "\r\n"))
                .collect()
        });
        let mut done =
            SignedMail { source: mail.source.to_string(), fields, replaced: 0, text: None, error: None };
        match (&self.target, whole) {
            (MailTarget::Files(destination), Some(header)) => {
                done.error = destination.write(mail, header.as_bytes()).err();
            }
            (MailTarget::Stdout, header) => done.text = Some(text(mail, &header.unwrap_or_default())),
            (MailTarget::Files(_), None) | (MailTarget::Nowhere, _) => {}
        }
        done
    }
}

fn named((signer, field): (&DkimSigner, SignOutcome)) -> (String, SignatureAlgorithm, SignOutcome) {
    (signer.selector().to_owned(), signer.algorithm(), field)
}

/// Returns the message as it was, or as a part of an mbox if it came from an mbox or from one of several files.
fn text(mail: &StoredMail, header: &str) -> Vec<u8> {
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
struct SignatureLine<'a> {
    source: &'a str,
    selector: Option<&'a str>,
    algorithm: Option<&'static str>,
    field: Option<&'a str>,
    error: Option<String>,
}

impl SignedMail {
    fn is_signed(&self) -> bool {
        self.error.is_none()
            && self.fields.as_ref().is_ok_and(|fields| fields.iter().all(|(_, _, field)| field.is_ok()))
    }

    /// Prints failures on stderr.
    fn print_failures(&self) {
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

    fn lines(&self) -> Vec<SignatureLine<'_>> {
        let bare =
            SignatureLine { source: &self.source, selector: None, algorithm: None, field: None, error: None };
        let unwritten = self.error.as_ref().map(ToString::to_string);
        match &self.fields {
            Err(error) => vec![SignatureLine { error: Some(error.clone()), ..bare }],
            Ok(fields) => fields
                .iter()
                .map(|(selector, algorithm, field)| SignatureLine {
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
struct SignCounts {
    signatures: u64,
    /// The number of older signatures of the same domain and selector.
    replaced: u64,
    unsigned: u64,
}

impl SignCounts {
    fn add(&mut self, done: &SignedMail) {
        if done.is_signed() {
            self.replaced += done.replaced;
            self.signatures += done.fields.as_ref().map_or(0, Vec::len) as u64;
        } else {
            self.unsigned += 1;
        }
    }
}
