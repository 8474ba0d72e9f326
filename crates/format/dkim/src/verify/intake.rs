//! The first stage of verifying: the signed data is made canonical and hashed.

use oarlock::{Accelerator, JobError, SubmitOptions};

use super::parsed::{ParseState, ParsedChain, ParsedSignature, ParsedSignatures, body_need, refusal};
use super::stages::{HashedMessages, PendingChain, PendingMessage, UnverifiedSignature};
use crate::arc::{ArcSet, write_results_and_message, write_seal, write_seal_unsigned};
use crate::chain::ChainFault;
use crate::hash::{
    BodyHasher, BodyNeed, DigestBatch, DigestId, HashedBodies, HashedBody, WholeBody, find_body,
};
use crate::message::{HeaderField, ParsedMail};
use crate::policy::VerifyPolicy;
use crate::select::{write_signed, write_unsigned};
use crate::signature::DkimSignature;
use crate::verdict::SignatureResult;

/// A batch of messages whose signatures are verified together.
#[derive(Debug)]
pub struct VerifyIntake<'m> {
    policy: VerifyPolicy,
    now_s: u64,
    gather: DigestBatch,
    messages: Vec<PendingMessage<'m>>,
}

impl<'m> VerifyIntake<'m> {
    /// Makes an empty batch. Signatures must be valid at `now_s`, in seconds since 1970.
    #[must_use]
    pub fn new(policy: &VerifyPolicy, now_s: u64) -> Self {
        Self { policy: policy.clone(), now_s, gather: DigestBatch::default(), messages: Vec::new() }
    }

    /// Returns the number of bytes to hash so far. Callers bound the size of a batch by it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.gather.data.len()
    }

    /// Returns the number of messages so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns true if the batch has no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a whole message. The results keep the order of the messages.
    ///
    /// # Errors
    /// The batch exceeds 4 GiB.
    pub fn push(&mut self, message: &ParsedMail<'m>) -> Result<(), JobError> {
        let mut whole = WholeBody::new(message.body);
        let parsed = ParsedSignatures::parse(&message.headers, &self.policy, self.now_s);
        self.add_message(&message.headers, parsed, |gather, need| whole.hashed(gather, need))
    }

    /// Adds a message whose body was hashed while it arrived, for every need of [`ParsedSignatures::body_needs`].
    /// `headers` must be the fields that were parsed, in the same order.
    ///
    /// # Errors
    /// The same as for [`push`](Self::push), or a body could not be hashed.
    pub fn push_hashed(
        &mut self,
        headers: &[HeaderField<'_>],
        parsed: ParsedSignatures<'m>,
        bodies: impl IntoIterator<Item = BodyHasher>,
    ) -> Result<(), JobError> {
        let gather = &mut self.gather;
        let bodies: HashedBodies =
            bodies.into_iter().map(|body| body.finish(gather)).collect::<Result<_, JobError>>()?;
        let missing =
            JobError::Malformed { what: "a body hash that was not computed while the body arrived" };
        self.add_message(headers, parsed, |_, need| find_body(&bodies, need).cloned().ok_or(missing.clone()))
    }

    /// Hashes everything on this thread.
    ///
    /// # Errors
    /// No engine could hash.
    pub fn hash(self, accelerator: &Accelerator) -> Result<HashedMessages<'m>, JobError> {
        let digests = self.gather.run(accelerator)?;
        Ok(HashedMessages::new(self.policy, self.messages, &digests))
    }

    /// Hashes everything together with jobs that others have submitted.
    ///
    /// # Errors
    /// No engine could hash, or the queue is full.
    pub async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<HashedMessages<'m>, JobError> {
        let Self { policy, gather, messages, .. } = self;
        let digests = gather.submit(accelerator, options).await?;
        Ok(HashedMessages::new(policy, messages, &digests))
    }

    fn add_message(
        &mut self,
        headers: &[HeaderField<'_>],
        parsed: ParsedSignatures<'m>,
        mut body_of: impl FnMut(&mut DigestBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<(), JobError> {
        let mut pending = PendingMessage::default();
        for parsed in parsed.signatures {
            pending.signatures.push(self.gather_signature(headers, parsed, &mut body_of)?);
        }
        if let Some(chain) = parsed.chain {
            pending.chain = Some(self.gather_chain(headers, chain, &mut body_of)?);
        }
        self.messages.push(pending);
        Ok(())
    }

    fn gather_signature(
        &mut self,
        headers: &[HeaderField<'_>],
        parsed: ParsedSignature<'m>,
        body_of: &mut impl FnMut(&mut DigestBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<UnverifiedSignature<'m>, JobError> {
        Ok(match parsed.state {
            ParseState::Unread(result) => UnverifiedSignature::Done(result),
            ParseState::Refused { signature, reason } if parsed.is_of_chain => {
                UnverifiedSignature::Done(Box::new(SignatureResult::for_signature(&signature, Some(reason))))
            }
            ParseState::Refused { signature, reason } => UnverifiedSignature::Refused { signature, reason },
            ParseState::Ready(signature) => {
                let body = Some(body_of(&mut self.gather, body_need(&signature))?);
                let hash = self.signed_headers(headers, &headers[parsed.position], &signature)?;
                UnverifiedSignature::Hashed { signature, hash, body }
            }
        })
    }

    /// Gathers the newest message signature and every seal. RFC 8617 5.2.
    fn gather_chain(
        &mut self,
        headers: &[HeaderField<'_>],
        parsed: Result<ParsedChain<'m>, ChainFault>,
        body_of: &mut impl FnMut(&mut DigestBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<PendingChain<'m>, JobError> {
        let ParsedChain { sets, newest } = match parsed {
            Ok(parsed) => parsed,
            Err(fault) => return Ok(PendingChain { sets: 0, fault: Some(fault), signatures: Vec::new() }),
        };
        let mut signatures = Vec::with_capacity(sets.len() + 1);
        if let Some(newest) = newest {
            let is_ready = matches!(newest.state, ParseState::Ready(_));
            signatures.push(self.gather_signature(headers, newest, body_of)?);
            if is_ready {
                signatures.extend(self.gather_seals(headers, &sets));
            }
        }
        Ok(PendingChain { sets: sets.len(), fault: None, signatures })
    }

    /// Gathers the seals from the newest on. Each seal covers all sets before it, so that the shared bytes are stored
    /// once.
    fn gather_seals(&mut self, headers: &[HeaderField<'_>], sets: &[ArcSet]) -> Vec<UnverifiedSignature<'m>> {
        let mut seals = Vec::with_capacity(sets.len());
        let mut start = self.gather.data.len();
        // The seals sign prefixes of the same text (RFC 8617 5.1.1). Copies for every seal would grow with the square
        // of the sets.
        self.gather.start_growth();
        for set in sets {
            let signature = set.seal_signature.clone();
            let data = &mut self.gather.data;
            write_results_and_message(set, headers, data);
            let shared = start..data.len();
            write_seal_unsigned(set, headers, data);
            let tail = shared.end..data.len();
            start = tail.end;
            write_seal(set, headers, data);
            let hash = self.gather.grow(signature.algorithm.digest(), shared, tail);
            seals.push(match refusal(&self.policy, self.now_s, &signature) {
                Some(reason) => UnverifiedSignature::Done(Box::new(SignatureResult::for_signature(
                    &signature,
                    Some(reason),
                ))),
                None => UnverifiedSignature::Hashed { signature, hash, body: None },
            });
        }
        seals.reverse();
        seals
    }

    /// Gathers the signed fields and the field of the signature, without the value of `b=` and the CRLF. RFC 6376 3.7.
    fn signed_headers(
        &mut self,
        headers: &[HeaderField<'_>],
        field: &HeaderField<'_>,
        signature: &DkimSignature<'_>,
    ) -> Result<DigestId, JobError> {
        let data = &mut self.gather.data;
        let start = data.len();
        let form = signature.canonicalization.header;
        write_signed(form, headers, signature.names.iter(), data);
        write_unsigned(form, field, signature.signature_span.clone(), data);
        let end = data.len();
        self.gather.add(signature.algorithm.digest(), start..end)
    }
}
