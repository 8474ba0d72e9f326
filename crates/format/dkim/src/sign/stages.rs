//! The stages of signing: hash bodies, write and hash headers, sign. Each stage works on many messages.

use oarlock::{Accelerator, Answers, Job, JobError, SubmitOptions};

use super::field::{FieldStart, append_signature, names_of, write_unsigned_field};
use super::signer::{DkimSigner, FieldName, MailSignError};
use crate::canon::canonicalize_header;
use crate::hash::{
    BodyHasher, BodyNeed, DigestBatch, DigestId, Digests, HashedBodies, HashedBody, WholeBody, find_body,
};
use crate::message::{HeaderField, ParsedMail, name_hash};
use crate::select::write_signed;

/// The header field of a signature without the CRLF at its end, or the reason why the message was not signed.
pub type SignOutcome = Result<String, MailSignError>;

/// A batch of messages that are signed together.
#[derive(Debug)]
pub struct SignIntake<'m> {
    now_s: u64,
    gather: DigestBatch,
    messages: Vec<Vec<HeaderField<'m>>>,
    requests: Vec<MailSignRequest<'m>>,
}

/// One signature of one message.
#[derive(Debug)]
struct MailSignRequest<'m> {
    message: usize,
    signer: &'m DkimSigner,
    /// The hash of the body, or the reason why the message cannot be signed.
    body: Result<HashedBody, MailSignError>,
}

impl DkimSigner {
    /// Returns the hash of the body that the signatures need.
    #[must_use]
    pub fn body_need(&self) -> BodyNeed {
        BodyNeed { form: self.canonicalization.body, digest: self.algorithm.digest(), limit: None }
    }
}

impl<'m> SignIntake<'m> {
    /// Makes an empty batch. `now_s` is the value of `t=`, in seconds since 1970.
    #[must_use]
    pub fn new(now_s: u64) -> Self {
        Self { now_s, gather: DigestBatch::default(), messages: Vec::new(), requests: Vec::new() }
    }

    /// Returns the number of bytes to hash so far. Callers use it to limit the size of a batch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.gather.data.len()
    }

    /// Returns the number of signatures so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns true if the batch has no signature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds a whole message, to be signed by each of `signers`. The signatures keep the order of the requests.
    ///
    /// # Errors
    /// The batch exceeds 4 GiB.
    pub fn push(
        &mut self,
        message: ParsedMail<'m>,
        signers: impl IntoIterator<Item = &'m DkimSigner>,
    ) -> Result<(), JobError> {
        let mut whole = WholeBody::new(message.body);
        self.message(message.headers, signers, |gather, need| whole.hashed(gather, need))
    }

    /// Adds a message whose body was hashed while it arrived, for the [`body_need`](DkimSigner::body_need) of each
    /// signer.
    ///
    /// # Errors
    /// The same as for [`push`](Self::push), or a body could not be hashed.
    pub fn push_hashed(
        &mut self,
        headers: Vec<HeaderField<'m>>,
        bodies: impl IntoIterator<Item = BodyHasher>,
        signers: impl IntoIterator<Item = &'m DkimSigner>,
    ) -> Result<(), JobError> {
        let gather = &mut self.gather;
        let bodies: HashedBodies =
            bodies.into_iter().map(|body| body.finish(gather)).collect::<Result<_, JobError>>()?;
        let missing =
            JobError::Malformed { what: "a body hash that was not computed while the body arrived" };
        let find = |_: &mut DigestBatch, need| find_body(&bodies, need).cloned().ok_or(missing.clone());
        self.message(headers, signers, find)
    }

    /// Signs on this thread.
    ///
    /// # Errors
    /// No engine could hash.
    pub fn sign(self, accelerator: &Accelerator) -> Result<Vec<SignOutcome>, JobError> {
        let digests = self.gather.run(accelerator)?;
        let written = WrittenFields::new(self.now_s, self.messages, self.requests, self.gather, &digests)?;
        let hashed = written.gather.run(accelerator)?;
        let answers = accelerator.run_all(&written.jobs(&hashed));
        Ok(written.finish(&answers))
    }

    /// Signs together with jobs that others have submitted.
    ///
    /// # Errors
    /// No engine could hash, or the queue is full.
    pub async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Vec<SignOutcome>, JobError> {
        let Self { now_s, gather, messages, requests } = self;
        let digests = gather.submit(accelerator, options).await?;
        let mut written = WrittenFields::new(now_s, messages, requests, DigestBatch::default(), &digests)?;
        let hashed = std::mem::take(&mut written.gather).submit(accelerator, options).await?;
        let many = accelerator.submit_many(&written.jobs(&hashed), options);
        Ok(written.finish(&many.await))
    }

    fn message(
        &mut self,
        headers: Vec<HeaderField<'m>>,
        signers: impl IntoIterator<Item = &'m DkimSigner>,
        mut body_of: impl FnMut(&mut DigestBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<(), JobError> {
        let hash = name_hash(b"From");
        let senders = headers.iter().filter(|header| header.hash == hash && header.is(b"From")).count();
        for signer in signers {
            let body = match senders {
                // RFC 5322 3.6 allows exactly one From. Signing another number would vouch for an ambiguous author.
                1 => Ok(body_of(&mut self.gather, signer.body_need())?),
                other => Err(MailSignError::From(other)),
            };
            self.requests.push(MailSignRequest { message: self.messages.len(), signer, body });
        }
        self.messages.push(headers);
        Ok(())
    }
}

/// The second stage: the fields are written except for their signatures.
struct WrittenFields<'m> {
    gather: DigestBatch,
    fields: Vec<Result<UnsignedField<'m>, MailSignError>>,
}

struct UnsignedField<'m> {
    signer: &'m DkimSigner,
    unsigned: String,
    hash: DigestId,
}

impl<'m> WrittenFields<'m> {
    fn new(
        now_s: u64,
        messages: Vec<Vec<HeaderField<'m>>>,
        requests: Vec<MailSignRequest<'m>>,
        mut gather: DigestBatch,
        digests: &Digests,
    ) -> Result<Self, JobError> {
        // The bodies are hashed. Their memory serves the headers now.
        gather.clear();
        let mut fields = Vec::with_capacity(requests.len());
        for MailSignRequest { message, signer, body } in requests {
            fields.push(match body {
                Ok(body) => {
                    let headers = &messages[message];
                    let names = names_of(signer, headers);
                    let bh = body.hash.get(digests);
                    let unsigned =
                        write_unsigned_field(FieldStart::DKIM, signer, headers, &names, bh, body.len, now_s);
                    let hash = signed_headers(&mut gather, signer, headers, &names, &unsigned)?;
                    Ok(UnsignedField { signer, unsigned, hash })
                }
                Err(error) => Err(error),
            });
        }
        Ok(Self { gather, fields })
    }

    fn jobs<'a>(&'a self, digests: &'a Digests) -> Vec<Job<'a>> {
        self.fields.iter().flatten().map(|field| sign_job(field.signer, digests.get(field.hash))).collect()
    }

    fn finish(self, answers: &Answers) -> Vec<SignOutcome> {
        let mut answers = answers.iter();
        let finish = |field: UnsignedField<'_>| match answers.next().unwrap_or(Err(JobError::Cancelled)) {
            Ok(signature) => Ok(append_signature(field.unsigned, signature)),
            Err(error) => Err(error.into()),
        };
        let mut finish = finish;
        self.fields.into_iter().map(|field| field.and_then(&mut finish)).collect()
    }
}

pub(crate) fn sign_job<'a>(signer: &'a DkimSigner, hash: &'a [u8]) -> Job<'a> {
    let input = signer.algorithm.input(hash);
    Job::with_scheme(signer.algorithm.sign_scheme(), &signer.key, input, &[])
}

/// Adds the named fields and the unsigned field of the signature itself to the batch.
pub(crate) fn signed_headers(
    gather: &mut DigestBatch,
    signer: &DkimSigner,
    headers: &[HeaderField<'_>],
    names: &[&FieldName],
    unsigned: &str,
) -> Result<DigestId, JobError> {
    let start = gather.data.len();
    let form = signer.canonicalization.header;
    write_signed(form, headers, names.iter().map(|name| name.signed()), &mut gather.data);
    // This cannot fail: the field was written here, with name and colon.
    if let Ok(header) = HeaderField::new(unsigned.as_bytes()) {
        canonicalize_header(form, &header, &mut gather.data);
    }
    let end = gather.data.len();
    gather.add(signer.algorithm.digest(), start..end)
}
