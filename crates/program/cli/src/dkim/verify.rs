//! `oarlock dkim verify`.

use std::io::Write;

use oarlock::Accelerator;
use oarlock_dkim::{
    ArcChain, DkimVerdict, ParsedMail, SignatureResult, VerifiedMessage, VerifyIntake, VerifyPolicy,
    best_verdict, to_crlf,
};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::args::MailVerifyArgs;
use super::bulk::{self, LoadedMail, MailTotals};
use super::document::ResultList;
use super::lookup::KeyRecordSource;
use super::{DkimError, time_s};

pub(super) fn run(global: &GlobalOptions, args: &MailVerifyArgs) -> Result<(), DkimError> {
    args.comparison.hand_over("verify --compare")?;
    let verifier = MailVerifier {
        accelerator: global.builder().lazy().build()?,
        records: KeyRecordSource::open(&args.lookup)?,
        policy: args.policy(),
        now_s: time_s(args.time),
    };
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&verifier.accelerator);
    }
    let (mut counts, mut results) = (VerdictCounts::default(), ResultList::default());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let take = |found: VerifiedMail| {
        counts.add(&found);
        if global.json {
            return Ok(found.lines().iter().try_for_each(|line| results.push(line, &mut out))?);
        }
        Ok(found.print(&mut out)?)
    };
    let totals = bulk::run(global, &args.mail, |batch| verifier.verify(&batch), take);
    if global.json {
        // As in `sign`: the document ends also after an error.
        let summary = totals.as_ref().ok().map(|totals| totals.summary(counts));
        results.finish(summary.as_ref(), &mut out)?;
    }
    let totals = totals?;
    out.flush()?;
    totals.print(&counts.to_string());
    counts.verdict(&totals)
}

struct MailVerifier {
    accelerator: Accelerator,
    records: KeyRecordSource,
    policy: VerifyPolicy,
    now_s: u64,
}

/// The result of a message.
struct VerifiedMail {
    source: String,
    /// The results, or the reason why the message cannot be parsed.
    verified: Result<VerifiedMessage, String>,
}

impl MailVerifier {
    fn verify(&self, batch: &[LoadedMail]) -> Result<Vec<(u64, VerifiedMail)>, DkimError> {
        let wires: Vec<_> = batch.iter().map(|loaded| to_crlf(&loaded.mail.bytes)).collect();
        let mut intake = VerifyIntake::new(&self.policy, self.now_s);
        let mut errors = Vec::with_capacity(batch.len());
        for wire in &wires {
            errors.push(match ParsedMail::parse(wire, &self.policy.limits) {
                Ok(message) => {
                    intake.push(&message)?;
                    None
                }
                Err(error) => Some(error.to_string()),
            });
        }
        let hashed = intake.hash(&self.accelerator)?;
        let keys = self.records.find(hashed.queries());
        let keyed = hashed.answer(|name| {
            // unreachable because `find` has an answer for every query
            let unknown = || oarlock_dkim::KeyAnswer::Unknown("nobody asked".into());
            keys.get(name).cloned().unwrap_or_else(unknown)
        });
        let mut verified = keyed.verify(&self.accelerator).into_iter();
        let found = batch.iter().zip(errors).map(|(loaded, error)| {
            let verified = match error {
                Some(error) => Err(error),
                None => Ok(verified.next().unwrap_or_default()),
            };
            (loaded.index, VerifiedMail { source: loaded.mail.source.to_string(), verified })
        });
        Ok(found.collect())
    }
}

/// A signature as `--json` prints it, or a message without signatures.
#[derive(Debug, Serialize)]
struct ResultLine<'a> {
    source: &'a str,
    kind: &'static str,
    result: &'static str,
    reason: Option<String>,
    domain: Option<&'a str>,
    selector: Option<&'a str>,
    identity: Option<&'a str>,
    algorithm: Option<&'static str>,
    key_bits: Option<u32>,
    testing: bool,
}

impl VerifiedMail {
    fn lines(&self) -> Vec<ResultLine<'_>> {
        let bare = |kind, verdict: DkimVerdict, reason| ResultLine {
            source: &self.source,
            kind,
            result: verdict.name(),
            reason,
            domain: None,
            selector: None,
            identity: None,
            algorithm: None,
            key_bits: None,
            testing: false,
        };
        let VerifiedMessage { signatures, chain } = match &self.verified {
            Ok(verified) => verified,
            Err(error) => return vec![bare("message", DkimVerdict::Permerror, Some(error.clone()))],
        };
        let mut lines: Vec<_> = signatures.iter().map(|signature| self.line(signature)).collect();
        if lines.is_empty() {
            lines.push(bare("signature", DkimVerdict::None, None));
        }
        lines.extend(chain.as_ref().map(|chain: &ArcChain| bare("arc", chain.verdict(), chain.reason())));
        lines
    }

    fn line<'a>(&'a self, signature: &'a SignatureResult) -> ResultLine<'a> {
        ResultLine {
            source: &self.source,
            kind: "signature",
            result: signature.verdict().name(),
            reason: signature.reason.as_ref().map(ToString::to_string),
            domain: signature.domain.as_deref(),
            selector: signature.selector.as_deref(),
            identity: signature.identity.as_deref(),
            algorithm: signature.algorithm.map(|algorithm| algorithm.name()),
            key_bits: signature.key_bits,
            testing: signature.is_testing,
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        self.lines().iter().try_for_each(|line| line.print(out))
    }
}

impl ResultLine<'_> {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        write!(out, "{:9}  {}", self.result, self.source)?;
        if self.kind == "arc" {
            write!(out, "  ARC chain")?;
        }
        if let Some(domain) = self.domain {
            write!(out, "  {domain}")?;
        }
        for part in [self.selector, self.algorithm].into_iter().flatten() {
            write!(out, " {part}")?;
        }
        if let Some(bits) = self.key_bits {
            write!(out, " {bits} bits")?;
        }
        if self.testing {
            write!(out, " (test mode)")?;
        }
        match &self.reason {
            Some(reason) => writeln!(out, ": {reason}"),
            None => writeln!(out),
        }
    }
}

/// Messages by their best signature.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct VerdictCounts {
    signatures: u64,
    pass: u64,
    fail: u64,
    policy: u64,
    neutral: u64,
    temperror: u64,
    permerror: u64,
    none: u64,
    malformed: u64,
}

impl VerdictCounts {
    fn add(&mut self, found: &VerifiedMail) {
        let Ok(verified) = &found.verified else {
            self.malformed += 1;
            return;
        };
        self.signatures += verified.signatures.len() as u64;
        let count = match best_verdict(&verified.signatures) {
            DkimVerdict::Pass => &mut self.pass,
            DkimVerdict::Fail => &mut self.fail,
            DkimVerdict::Policy => &mut self.policy,
            DkimVerdict::Neutral => &mut self.neutral,
            DkimVerdict::Temperror => &mut self.temperror,
            DkimVerdict::Permerror => &mut self.permerror,
            DkimVerdict::None => &mut self.none,
        };
        *count += 1;
    }

    fn verdict(&self, totals: &MailTotals) -> Result<(), DkimError> {
        let others = totals.messages - self.pass;
        if totals.unreadable > 0 && totals.messages == 0 {
            return Err(DkimError::Usage("nothing could be read"));
        }
        // Messages whose keys could not be looked up may be good, so this is an error and not an answer.
        match (others, self.temperror) {
            (0, _) => Ok(()),
            (_, 0) => Err(DkimError::No(format!(
                "{others} of {} without a signature that passes",
                count(totals.messages, "message")
            ))),
            (_, unknown) => Err(DkimError::Lookup(format!(
                "keys of {} could not be looked up",
                count(unknown, "message")
            ))),
        }
    }
}

impl std::fmt::Display for VerdictCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pass", self.pass)?;
        let others = [
            (self.fail, "fail"),
            (self.policy, "policy"),
            (self.neutral, "neutral"),
            (self.temperror, "temperror"),
            (self.permerror, "permerror"),
            (self.none, "not signed"),
            (self.malformed, "malformed"),
        ];
        others
            .iter()
            .filter(|(count, _)| *count > 0)
            .try_for_each(|(count, name)| write!(f, ", {count} {name}"))
    }
}
