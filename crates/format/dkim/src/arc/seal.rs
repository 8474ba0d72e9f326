//! New sets for messages that are handed on. RFC 8617 5.1.

use std::fmt;

use oarlock::{Accelerator, Answers, Job, JobError, SubmitOptions};

use super::sets::{
    MAX_SETS, MESSAGE, RESULTS, SEAL, find_sets, highest_instance, write_results_and_message, write_seal,
};
use crate::canon::{CanonicalForm, canonicalize_header};
use crate::chain::{ArcChain, ChainFault};
use crate::fold::FoldedField;
use crate::hash::{
    BodyHasher, BodyNeed, DigestBatch, DigestId, Digests, HashedBodies, HashedBody, WholeBody, find_body,
};
use crate::message::{HeaderField, ParsedMail, name_hash};
use crate::results;
use crate::sign::{
    DkimSigner, FieldName, FieldStart, SignedFields, append_signature, names_of, sign_job, signed_headers,
    write_unsigned_field,
};
use crate::verdict::{DkimVerdict, SignatureResult};

/// The reason why a message was not sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// An intermediary sealed the chain as broken. No set may be added to it. RFC 8617 5.1.2.
    #[error("the chain was sealed as broken: no set may be added")]
    Closed,
    /// A key of the chain could not be looked up. A new set would declare the chain broken for ever. Without one, the
    /// next receiver can still verify the chain.
    #[error("a key of the chain could not be looked up, so its result is not known")]
    Undecided,
    /// The chain has the maximum number of sets.
    #[error("the chain has the maximum of {MAX_SETS} sets")]
    TooLong,
    /// The key could not sign.
    #[error("{0}")]
    Job(#[from] JobError),
}

/// The three header fields of a new ARC set, each without the CRLF at its end. They go to the top of the message, the
/// seal first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedFields {
    /// `ARC-Seal`.
    pub seal: String,
    /// `ARC-Message-Signature`.
    pub message_signature: String,
    /// `ARC-Authentication-Results`.
    pub results: String,
}

impl SealedFields {
    /// Returns the fields in their order in the message, the seal first.
    #[must_use]
    pub fn from_top(&self) -> [&str; 3] {
        [&self.seal, &self.message_signature, &self.results]
    }
}

impl fmt::Display for SealedFields {
    /// Writes the fields from the top, each with its CRLF.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.from_top().iter().try_for_each(|field| write!(f, "{field}\r\n"))
    }
}

/// A new set, or the reason why the message was not sealed.
pub type SealedSet = Result<SealedFields, SealError>;

/// Adds sets for one domain under one selector.
#[derive(Clone, Debug)]
pub struct ArcSealer(DkimSigner);

impl ArcSealer {
    /// Makes a sealer that uses the signer's key, canonical forms and field names. `DKIM-Signature` is added to the
    /// signed fields.
    #[must_use]
    pub fn new(signer: DkimSigner) -> Self {
        // RFC 8617 4.1.2: seals are never among the signed fields.
        let is_other = |name: &&FieldName| !name.name.as_bytes().eq_ignore_ascii_case(SEAL);
        let mut names: Vec<FieldName> = signer.fields.0.iter().filter(is_other).cloned().collect();
        let field = "DKIM-Signature";
        if !names.iter().any(|name| name.name.eq_ignore_ascii_case(field)) {
            let hash = name_hash(field.as_bytes());
            names.push(FieldName { name: field.into(), hash, is_oversigned: false });
        }
        Self(signer.with_fields(SignedFields(names.into())))
    }

    /// Returns the hash of the body that the signatures need.
    #[must_use]
    pub fn body_need(&self) -> BodyNeed {
        self.0.body_need()
    }

    /// Returns the sealing domain.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.domain()
    }
}

/// The results of verifying a message, as a set reports them.
#[derive(Clone, Copy, Debug)]
pub struct SealedResults<'a> {
    /// The name of the verifying host.
    pub authserv_id: &'a str,
    /// The result of each signature.
    pub signatures: &'a [SignatureResult],
    /// The result of the chain.
    pub chain: &'a ArcChain,
    /// The results of other filters of the same domain, such as `spf=pass smtp.mailfrom=example.com`. A set repeats
    /// all of them. RFC 8617 4.1.1.
    pub others: &'a [String],
}

/// A batch of messages that one sealer seals together.
#[derive(Debug)]
pub struct SealIntake<'m> {
    sealer: &'m ArcSealer,
    now_s: u64,
    gather: DigestBatch,
    requests: Vec<Result<SealRequest<'m>, SealError>>,
}

#[derive(Debug)]
struct SealRequest<'m> {
    headers: Vec<HeaderField<'m>>,
    body: HashedBody,
    number: usize,
    verdict: DkimVerdict,
    results: String,
}

impl<'m> SealIntake<'m> {
    /// Makes an empty batch. `now_s` is the time in seconds since 1970.
    #[must_use]
    pub fn new(sealer: &'m ArcSealer, now_s: u64) -> Self {
        Self { sealer, now_s, gather: DigestBatch::default(), requests: Vec::new() }
    }

    /// Adds a message and the results of verifying it, its chain included.
    ///
    /// # Errors
    /// The batch exceeds 4 GiB.
    pub fn push(&mut self, message: ParsedMail<'m>, results: &SealedResults<'_>) -> Result<(), JobError> {
        let mut whole = WholeBody::new(message.body);
        let body = whole.hashed(&mut self.gather, self.sealer.body_need())?;
        self.add(message.headers, body, results);
        Ok(())
    }

    /// Adds a message whose body was hashed while it arrived, for [`ArcSealer::body_need`].
    ///
    /// # Errors
    /// The same as for [`push`](Self::push), or the body could not be hashed.
    pub fn push_hashed(
        &mut self,
        headers: Vec<HeaderField<'m>>,
        bodies: impl IntoIterator<Item = BodyHasher>,
        results: &SealedResults<'_>,
    ) -> Result<(), JobError> {
        let gather = &mut self.gather;
        let bodies: HashedBodies =
            bodies.into_iter().map(|body| body.finish(gather)).collect::<Result<_, JobError>>()?;
        let missing =
            JobError::Malformed { what: "a body hash that was not computed while the body arrived" };
        let body = find_body(&bodies, self.sealer.body_need()).cloned().ok_or(missing)?;
        self.add(headers, body, results);
        Ok(())
    }

    /// Seals on this thread. The sets are in the order of the messages.
    ///
    /// # Errors
    /// No engine could hash.
    pub fn seal(self, accelerator: &Accelerator) -> Result<Vec<SealedSet>, JobError> {
        let signer = &self.sealer.0;
        let digests = self.gather.run(accelerator)?;
        let mut stage = SealStage::messages(signer, self.now_s, self.requests, &digests)?;
        // The seal covers the finished message signature, so the two cannot be signed in one step. RFC 8617 5.1.1.
        for step in [SealStage::seals, SealStage::sets] {
            let hashed = stage.gather.run(accelerator)?;
            let answers = accelerator.run_all(&stage.jobs(signer, &hashed));
            stage = step(stage, signer, self.now_s, &answers)?;
        }
        Ok(stage.finish())
    }

    /// Seals together with jobs that others have submitted.
    ///
    /// # Errors
    /// No engine could hash, or the queue is full.
    pub async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Vec<SealedSet>, JobError> {
        let signer = &self.sealer.0;
        let digests = self.gather.submit(accelerator, options).await?;
        let mut stage = SealStage::messages(signer, self.now_s, self.requests, &digests)?;
        for step in [SealStage::seals, SealStage::sets] {
            let hashed = std::mem::take(&mut stage.gather).submit(accelerator, options).await?;
            let many = accelerator.submit_many(&stage.jobs(signer, &hashed), options);
            stage = step(stage, signer, self.now_s, &many.await)?;
        }
        Ok(stage.finish())
    }

    fn add(&mut self, headers: Vec<HeaderField<'m>>, body: HashedBody, results: &SealedResults<'_>) {
        let SealedResults { authserv_id, signatures, chain, others } = *results;
        let number = highest_instance(&headers) + 1;
        self.requests.push(if matches!(chain.fault, Some(ChainFault::SealedAsFailed(_))) {
            Err(SealError::Closed)
        } else if chain.verdict() == DkimVerdict::Temperror {
            Err(SealError::Undecided)
        // `number` counts from the highest instance of any field, so that a malformed chain cannot hide the limit.
        } else if number > MAX_SETS {
            Err(SealError::TooLong)
        } else {
            let mut field = FoldedField::new(field_name(RESULTS));
            field.push_glued(&format!(": i={number}; "));
            results::write_results(&mut field, authserv_id, signatures, Some(chain), others);
            Ok(SealRequest { headers, body, number, verdict: chain.verdict(), results: field.finish() })
        });
    }
}

/// The next field to hash and sign of each message.
struct SealStage<'m> {
    gather: DigestBatch,
    parts: Vec<Result<PendingSet<'m>, SealError>>,
}

struct PendingSet<'m> {
    request: SealRequest<'m>,
    /// The field without its signature.
    unsigned: String,
    hash: DigestId,
    /// The complete message signature, empty in the first stage.
    message: String,
}

impl<'m> SealStage<'m> {
    fn messages(
        signer: &DkimSigner,
        now_s: u64,
        requests: Vec<Result<SealRequest<'m>, SealError>>,
        digests: &Digests,
    ) -> Result<Self, JobError> {
        let mut gather = DigestBatch::default();
        let mut part = |request: SealRequest<'m>| {
            let SealRequest { headers, body, number, .. } = &request;
            let names = names_of(signer, headers);
            let head = FieldStart { field: field_name(MESSAGE), first: &format!("i={number};") };
            let unsigned =
                write_unsigned_field(head, signer, headers, &names, body.hash.get(digests), body.len, now_s);
            let hash = signed_headers(&mut gather, signer, headers, &names, &unsigned)?;
            Ok(PendingSet { request, unsigned, hash, message: String::new() })
        };
        let parts = requests.into_iter().map(|request| request.and_then(&mut part)).collect();
        Ok(Self { gather, parts })
    }

    fn seals(self, signer: &DkimSigner, now_s: u64, answers: &Answers) -> Result<Self, JobError> {
        let mut gather = DigestBatch::default();
        let seal = |part: PendingSet<'m>, answer: Result<&[u8], JobError>| {
            let message = append_signature(part.unsigned, answer?);
            let unsigned = write_unsigned_seal(signer, &part.request, now_s);
            let start = gather.data.len();
            write_seal_input(&part.request, &message, &unsigned, &mut gather.data);
            let end = gather.data.len();
            let hash = gather.add(signer.algorithm().digest(), start..end)?;
            Ok(PendingSet { request: part.request, unsigned, hash, message })
        };
        let parts = step_each(self.parts, answers, seal);
        Ok(Self { gather, parts })
    }

    fn sets(self, _: &DkimSigner, _: u64, answers: &Answers) -> Result<Self, JobError> {
        let set = |part: PendingSet<'m>, answer: Result<&[u8], JobError>| {
            Ok(PendingSet { unsigned: append_signature(part.unsigned, answer?), ..part })
        };
        Ok(Self { gather: DigestBatch::default(), parts: step_each(self.parts, answers, set) })
    }

    fn jobs<'a>(&self, signer: &'a DkimSigner, digests: &'a Digests) -> Vec<Job<'a>> {
        self.parts.iter().flatten().map(|part| sign_job(signer, digests.get(part.hash))).collect()
    }

    fn finish(self) -> Vec<SealedSet> {
        let set = |part: PendingSet<'_>| SealedFields {
            seal: part.unsigned,
            message_signature: part.message,
            results: part.request.results,
        };
        self.parts.into_iter().map(|part| part.map(set)).collect()
    }
}

/// Runs `step` for each set with its answer. A set that failed before has no answer and is skipped.
fn step_each<'m>(
    parts: Vec<Result<PendingSet<'m>, SealError>>,
    answers: &Answers,
    mut step: impl FnMut(PendingSet<'m>, Result<&[u8], JobError>) -> Result<PendingSet<'m>, SealError>,
) -> Vec<Result<PendingSet<'m>, SealError>> {
    let mut answers = answers.iter();
    let mut next = || answers.next().unwrap_or(Err(JobError::Cancelled));
    parts.into_iter().map(|part| part.and_then(|part| step(part, next()))).collect()
}

/// Writes the seal up to `b=`. RFC 8617 4.1.3.
fn write_unsigned_seal(signer: &DkimSigner, request: &SealRequest<'_>, now_s: u64) -> String {
    let claim = match request.verdict {
        DkimVerdict::None => "none",
        DkimVerdict::Pass => "pass",
        _ => "fail",
    };
    let mut field = FoldedField::new(field_name(SEAL));
    field.push_glued(":");
    for tag in [
        format!("i={};", request.number),
        format!("a={};", signer.algorithm()),
        format!("t={now_s};"),
        format!("cv={claim};"),
        format!("d={};", signer.domain()),
        format!("s={};", signer.selector()),
        "b=".into(),
    ] {
        field.push_word(&tag);
    }
    field.finish()
}

/// Writes the input of the new seal: all sets, or only the new one if the chain is broken. RFC 8617 5.1.1 and 5.1.2.
fn write_seal_input(request: &SealRequest<'_>, message: &str, seal: &str, out: &mut Vec<u8>) {
    let older = match request.verdict {
        // RFC 8617 5.1.2: the seal of a broken chain covers only its own set.
        DkimVerdict::Pass => find_sets(&request.headers).unwrap_or_default(),
        _ => Default::default(),
    };
    for set in &older {
        write_results_and_message(set, &request.headers, out);
        write_seal(set, &request.headers, out);
    }
    for (field, end) in [(&*request.results, "\r\n"), (message, "\r\n"), (seal, "")] {
        // This cannot fail: the fields were written here, with name and colon.
        if let Ok(header) = HeaderField::new(field.as_bytes()) {
            canonicalize_header(CanonicalForm::Relaxed, &header, out);
            out.extend_from_slice(end.as_bytes());
        }
    }
}

fn field_name(name: &'static [u8]) -> &'static str {
    std::str::from_utf8(name).unwrap_or_default()
}
