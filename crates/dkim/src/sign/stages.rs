//! Bodies hashed, headers written and hashed, signatures made: each for many messages at a time.

use oarlock::{Accelerator, Answers, Job, JobError, SubmitOptions};

use super::field::{Head, names_of, signed, unsigned};
use super::signer::{Name, SignError, Signer};
use crate::canon::canonicalize_header;
use crate::hash::{Bodies, BodyHasher, BodyNeed, Digests, Gather, HashId, HashedBody, WholeBody, find_body};
use crate::message::{Header, Message, name_hash};
use crate::select::write_signed;

/// A signature's header field without the CRLF at its end, or why there is none.
pub type Signed = Result<String, SignError>;

/// Messages that are signed together.
#[derive(Debug)]
pub struct SignIntake<'m> {
    now_s: u64,
    gather: Gather,
    messages: Vec<Vec<Header<'m>>>,
    requests: Vec<Request<'m>>,
}

/// One signature of one message.
#[derive(Debug)]
struct Request<'m> {
    message: usize,
    signer: &'m Signer,
    /// Why the message cannot be signed, else its body.
    body: Result<HashedBody, SignError>,
}

impl Signer {
    /// Which hash of the body its signatures need.
    #[must_use]
    pub fn body_need(&self) -> BodyNeed {
        BodyNeed { form: self.canonicalization.body, digest: self.algorithm.digest(), limit: None }
    }
}

impl<'m> SignIntake<'m> {
    /// Nothing yet. `now_s` is what `t=` will be, in seconds since 1970.
    #[must_use]
    pub fn new(now_s: u64) -> Self {
        Self { now_s, gather: Gather::default(), messages: Vec::new(), requests: Vec::new() }
    }

    /// Bytes to be hashed so far, by which a batch's size is bounded.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.gather.data.len()
    }

    /// Signatures so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds a whole message, to be signed by each of `signers`. Signatures come in the order in which they were asked for.
    ///
    /// # Errors
    /// The batch is at 4 GiB.
    pub fn push(
        &mut self,
        message: Message<'m>,
        signers: impl IntoIterator<Item = &'m Signer>,
    ) -> Result<(), JobError> {
        let mut whole = WholeBody::new(message.body);
        self.message(message.headers, signers, |gather, need| whole.hashed(gather, need))
    }

    /// Adds a message whose body was hashed as it came, for the [`body_need`](Signer::body_need) of each signer.
    ///
    /// # Errors
    /// As [`push`](Self::push), or a body could not be hashed.
    pub fn push_hashed(
        &mut self,
        headers: Vec<Header<'m>>,
        bodies: impl IntoIterator<Item = BodyHasher>,
        signers: impl IntoIterator<Item = &'m Signer>,
    ) -> Result<(), JobError> {
        let gather = &mut self.gather;
        let bodies: Bodies =
            bodies.into_iter().map(|body| body.finish(gather)).collect::<Result<_, JobError>>()?;
        let missing = JobError::Malformed { what: "a body hash that nobody asked for in time" };
        let find = |_: &mut Gather, need| find_body(&bodies, need).cloned().ok_or(missing.clone());
        self.message(headers, signers, find)
    }

    /// Signs on this thread.
    ///
    /// # Errors
    /// No engine could hash.
    pub fn sign(self, accelerator: &Accelerator) -> Result<Vec<Signed>, JobError> {
        let digests = self.gather.run(accelerator)?;
        let written = Written::new(self.now_s, self.messages, self.requests, self.gather, &digests)?;
        let hashed = written.gather.run(accelerator)?;
        let answers = accelerator.run_all(&written.jobs(&hashed));
        Ok(written.finish(&answers))
    }

    /// Signs beside what others have submitted.
    ///
    /// # Errors
    /// No engine could hash, or there is no room in the queue.
    pub async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Vec<Signed>, JobError> {
        let Self { now_s, gather, messages, requests } = self;
        let digests = gather.submit(accelerator, options).await?;
        let mut written = Written::new(now_s, messages, requests, Gather::default(), &digests)?;
        let hashed = std::mem::take(&mut written.gather).submit(accelerator, options).await?;
        let many = accelerator.submit_many(&written.jobs(&hashed), options);
        Ok(written.finish(&many.await))
    }

    fn message(
        &mut self,
        headers: Vec<Header<'m>>,
        signers: impl IntoIterator<Item = &'m Signer>,
        mut body_of: impl FnMut(&mut Gather, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<(), JobError> {
        let hash = name_hash(b"From");
        let senders = headers.iter().filter(|header| header.hash == hash && header.is(b"From")).count();
        for signer in signers {
            let body = match senders {
                1 => Ok(body_of(&mut self.gather, signer.body_need())?),
                other => Err(SignError::From(other)),
            };
            self.requests.push(Request { message: self.messages.len(), signer, body });
        }
        self.messages.push(headers);
        Ok(())
    }
}

/// The second stage: fields are written but for their signatures.
struct Written<'m> {
    gather: Gather,
    fields: Vec<Result<Field<'m>, SignError>>,
}

struct Field<'m> {
    signer: &'m Signer,
    unsigned: String,
    hash: HashId,
}

impl<'m> Written<'m> {
    fn new(
        now_s: u64,
        messages: Vec<Vec<Header<'m>>>,
        requests: Vec<Request<'m>>,
        mut gather: Gather,
        digests: &Digests,
    ) -> Result<Self, JobError> {
        gather.clear();
        let mut fields = Vec::with_capacity(requests.len());
        for Request { message, signer, body } in requests {
            fields.push(match body {
                Ok(body) => {
                    let headers = &messages[message];
                    let names = names_of(signer, headers);
                    let bh = body.hash.get(digests);
                    let unsigned = unsigned(Head::DKIM, signer, headers, &names, bh, body.len, now_s);
                    let hash = signed_headers(&mut gather, signer, headers, &names, &unsigned)?;
                    Ok(Field { signer, unsigned, hash })
                }
                Err(error) => Err(error),
            });
        }
        Ok(Self { gather, fields })
    }

    fn jobs<'a>(&'a self, digests: &'a Digests) -> Vec<Job<'a>> {
        self.fields.iter().flatten().map(|field| sign_job(field.signer, digests.get(field.hash))).collect()
    }

    fn finish(self, answers: &Answers) -> Vec<Signed> {
        let mut answers = answers.iter();
        let finish = |field: Field<'_>| match answers.next().unwrap_or(Err(JobError::Cancelled)) {
            Ok(signature) => Ok(signed(field.unsigned, signature)),
            Err(error) => Err(error.into()),
        };
        let mut finish = finish;
        self.fields.into_iter().map(|field| field.and_then(&mut finish)).collect()
    }
}

pub(crate) fn sign_job<'a>(signer: &'a Signer, hash: &'a [u8]) -> Job<'a> {
    let input = signer.algorithm.input(hash);
    Job::with_scheme(signer.algorithm.sign_scheme(), &signer.key, input, &[])
}

/// The named fields, and the signature's own before it is signed.
pub(crate) fn signed_headers(
    gather: &mut Gather,
    signer: &Signer,
    headers: &[Header<'_>],
    names: &[&Name],
    unsigned: &str,
) -> Result<HashId, JobError> {
    let start = gather.data.len();
    let form = signer.canonicalization.header;
    write_signed(form, headers, names.iter().map(|name| name.signed()), &mut gather.data);
    // It was written with name and colon.
    if let Ok(own) = Header::new(unsigned.as_bytes()) {
        canonicalize_header(form, &own, &mut gather.data);
    }
    let end = gather.data.len();
    gather.add(signer.algorithm.digest(), start..end)
}
