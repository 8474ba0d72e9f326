//! The first stage: signatures found, and what they sign made canonical.

use std::ops::Range;

use oarlock::{Accelerator, JobError, SubmitOptions};

use super::stages::{HashedMessages, PendingChain, PendingMessage, PendingSignature};
use crate::arc::{ArcSet, ArcSets, find_sets, write_results_and_message, write_seal, write_seal_unsigned};
use crate::canon::{CanonicalForm, canonicalize_header};
use crate::hash::{
    BodyHasher, BodyNeed, DigestId, HashBatch, HashedBodies, HashedBody, WholeBody, find_body,
};
use crate::message::{HeaderField, MailMessage, name_hash};
use crate::policy::VerifyPolicy;
use crate::select::write_signed;
use crate::signature::DkimSignature;
use crate::tags::TagList;
use crate::verdict::{FailReason, SignatureResult};

const FIELD: &[u8] = b"DKIM-Signature";

/// Messages whose signatures are verified together.
#[derive(Debug)]
pub struct VerifyIntake<'m> {
    policy: VerifyPolicy,
    now_s: u64,
    gather: HashBatch,
    messages: Vec<PendingMessage<'m>>,
}

impl<'m> VerifyIntake<'m> {
    /// Nothing yet. `now_s` is the time in seconds since 1970 at which signatures must be valid.
    #[must_use]
    pub fn new(policy: &VerifyPolicy, now_s: u64) -> Self {
        Self { policy: policy.clone(), now_s, gather: HashBatch::default(), messages: Vec::new() }
    }

    /// Bytes to be hashed so far, by which a batch's size is bounded.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.gather.data.len()
    }

    /// Messages so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// True where there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a whole message. Its results will be at the same place among the messages.
    ///
    /// # Errors
    /// The batch is at 4 GiB.
    pub fn push(&mut self, message: &MailMessage<'m>) -> Result<(), JobError> {
        let mut whole = WholeBody::new(message.body);
        self.message(&message.headers, |gather, need| whole.hashed(gather, need))
    }

    /// Adds a message whose body was hashed as it came, for everything that [`body_needs`] told.
    ///
    /// # Errors
    /// As [`push`](Self::push), or a body could not be hashed.
    pub fn push_hashed(
        &mut self,
        headers: &[HeaderField<'m>],
        bodies: impl IntoIterator<Item = BodyHasher>,
    ) -> Result<(), JobError> {
        let gather = &mut self.gather;
        let bodies: HashedBodies =
            bodies.into_iter().map(|body| body.finish(gather)).collect::<Result<_, JobError>>()?;
        let missing = JobError::Malformed { what: "a body hash that nobody asked for in time" };
        self.message(headers, |_, need| find_body(&bodies, need).cloned().ok_or(missing.clone()))
    }

    /// Hashes everything on this thread.
    ///
    /// # Errors
    /// No engine could.
    pub fn hash(self, accelerator: &Accelerator) -> Result<HashedMessages<'m>, JobError> {
        let digests = self.gather.run(accelerator)?;
        Ok(HashedMessages::new(self.policy, self.messages, &digests))
    }

    /// Hashes everything beside what others have submitted.
    ///
    /// # Errors
    /// No engine could, or there is no room in the queue.
    pub async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<HashedMessages<'m>, JobError> {
        let Self { policy, gather, messages, .. } = self;
        let digests = gather.submit(accelerator, options).await?;
        Ok(HashedMessages::new(policy, messages, &digests))
    }

    fn message(
        &mut self,
        headers: &[HeaderField<'m>],
        mut body_of: impl FnMut(&mut HashBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<(), JobError> {
        let mut parts = PendingMessage::default();
        for (place, field) in signatures(headers).enumerate() {
            let signature = self.read(place, field);
            parts.signatures.push(self.pending(headers, field, signature, &mut body_of)?);
        }
        if self.policy.verifies_chains {
            parts.chain = Some(self.chain(headers, &mut body_of)?);
        }
        self.messages.push(parts);
        Ok(())
    }

    fn pending(
        &mut self,
        headers: &[HeaderField<'m>],
        field: &HeaderField<'m>,
        signature: Result<DkimSignature<'m>, Box<PendingSignature<'m>>>,
        body_of: &mut impl FnMut(&mut HashBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<PendingSignature<'m>, JobError> {
        Ok(match signature {
            Ok(signature) => {
                let body = Some(body_of(&mut self.gather, need_of(&signature))?);
                let hash = self.signed_headers(headers, field, &signature)?;
                PendingSignature::Hashed { signature, hash, body }
            }
            Err(pending) => *pending,
        })
    }

    /// The newest message signature and every seal. RFC 8617 5.2.
    fn chain(
        &mut self,
        headers: &[HeaderField<'m>],
        body_of: &mut impl FnMut(&mut HashBatch, BodyNeed) -> Result<HashedBody, JobError>,
    ) -> Result<PendingChain<'m>, JobError> {
        let sets: ArcSets<'m> = match find_sets(headers) {
            Ok(sets) => sets,
            Err(fault) => return Ok(PendingChain { sets: 0, fault: Some(fault), signatures: Vec::new() }),
        };
        let mut signatures = Vec::with_capacity(sets.len() + 1);
        if let Some(newest) = sets.last() {
            let signature = self.read_of_set(&newest.message);
            let is_refused = signature.is_err();
            signatures.push(self.pending(headers, &newest.message, signature, body_of)?);
            if !is_refused {
                signatures.extend(self.seals(&sets));
            }
        }
        Ok(PendingChain { sets: sets.len(), fault: None, signatures })
    }

    /// The seals from the newest on. Each signs what all before it sign, which is kept once.
    fn seals(&mut self, sets: &[ArcSet<'m>]) -> Vec<PendingSignature<'m>> {
        let mut seals = Vec::with_capacity(sets.len());
        let mut start = self.gather.data.len();
        self.gather.start_growth();
        for set in sets {
            let signature = set.seal_signature.clone();
            let data = &mut self.gather.data;
            write_results_and_message(set, data);
            let shared = start..data.len();
            write_seal_unsigned(set, data);
            let own = shared.end..data.len();
            start = own.end;
            write_seal(set, data);
            let hash = self.gather.grow(signature.algorithm.digest(), shared, own);
            seals.push(match self.refusal(&signature) {
                Some(reason) => {
                    PendingSignature::Done(Box::new(SignatureResult::for_signature(&signature, Some(reason))))
                }
                None => PendingSignature::Hashed { signature, hash, body: None },
            });
        }
        seals.reverse();
        seals
    }

    fn read_of_set(&self, field: &HeaderField<'m>) -> Result<DkimSignature<'m>, Box<PendingSignature<'m>>> {
        let signature = DkimSignature::parse_of_set(field.value(), &self.policy.limits)
            .map_err(|error| PendingSignature::unread(field, error.into()))?;
        match self.refusal(&signature) {
            Some(reason) => Err(Box::new(PendingSignature::Done(Box::new(SignatureResult::for_signature(
                &signature,
                Some(reason),
            ))))),
            None => Ok(signature),
        }
    }

    /// A signature that is worth hashing for.
    fn read(
        &self,
        place: usize,
        field: &HeaderField<'m>,
    ) -> Result<DkimSignature<'m>, Box<PendingSignature<'m>>> {
        let VerifyPolicy { limits, .. } = &self.policy;
        if place >= limits.signatures {
            return Err(PendingSignature::unread(field, FailReason::TooManySignatures(limits.signatures)));
        }
        let signature = DkimSignature::parse(field.value(), limits)
            .map_err(|error| PendingSignature::unread(field, error.into()))?;
        match self.refusal(&signature) {
            Some(reason) => Err(Box::new(PendingSignature::Refused { signature, reason })),
            None => Ok(signature),
        }
    }

    fn refusal(&self, signature: &DkimSignature<'_>) -> Option<FailReason> {
        let VerifyPolicy { accepts_sha1, clock_skew_s, .. } = self.policy;
        if signature.algorithm.hash() == "sha1" && !accepts_sha1 {
            return Some(FailReason::Sha1);
        }
        let late = signature.expires.and_then(|expires| self.now_s.checked_sub(expires));
        if let Some(late_s) = late.filter(|late_s| *late_s > clock_skew_s) {
            return Some(FailReason::Expired(late_s));
        }
        let early = signature.timestamp.and_then(|timestamp| timestamp.checked_sub(self.now_s));
        early.filter(|early_s| *early_s > clock_skew_s).map(FailReason::Future)
    }

    /// The signed fields, and the signature's own without the value of `b=` and the CRLF. RFC 6376 3.7.
    fn signed_headers(
        &mut self,
        headers: &[HeaderField<'m>],
        field: &HeaderField<'m>,
        signature: &DkimSignature<'m>,
    ) -> Result<DigestId, JobError> {
        let data = &mut self.gather.data;
        let start = data.len();
        let form = signature.canonicalization.header;
        write_signed(form, headers, signature.names.iter().copied(), data);
        write_unsigned(form, field, signature.signature_place.clone(), data);
        let end = data.len();
        self.gather.add(signature.algorithm.digest(), start..end)
    }
}

/// A signature's field as it was before it was signed.
pub(crate) fn write_unsigned(
    form: CanonicalForm,
    field: &HeaderField<'_>,
    place: Range<usize>,
    out: &mut Vec<u8>,
) {
    let raw = field.raw();
    let value_at = raw.len() - field.value().len();
    let unsigned = [&raw[..value_at + place.start], &raw[value_at + place.end..]].concat();
    // It was one with that value, and the name has not changed.
    if let Ok(header) = HeaderField::new(&unsigned) {
        canonicalize_header(form, &header, out);
    }
}

fn signatures<'h, 'm>(headers: &'h [HeaderField<'m>]) -> impl Iterator<Item = &'h HeaderField<'m>> {
    let hash = name_hash(FIELD);
    headers.iter().filter(move |header| header.hash == hash && header.is(FIELD))
}

fn need_of(signature: &DkimSignature<'_>) -> BodyNeed {
    BodyNeed {
        form: signature.canonicalization.body,
        digest: signature.algorithm.digest(),
        limit: signature.body_length,
    }
}

/// Which hashes of its body a message's signatures need, each once: for those who hash it as it comes.
#[must_use]
pub fn body_needs(headers: &[HeaderField<'_>], policy: &VerifyPolicy, now_s: u64) -> Vec<BodyNeed> {
    let intake = VerifyIntake::new(policy, now_s);
    let mut needs = Vec::new();
    for (place, field) in signatures(headers).enumerate() {
        if let Ok(signature) = intake.read(place, field)
            && !needs.contains(&need_of(&signature))
        {
            needs.push(need_of(&signature));
        }
    }
    let sets = if policy.verifies_chains { find_sets(headers).unwrap_or_default() } else { ArcSets::new() };
    if let Some(Ok(signature)) = sets.last().map(|set| intake.read_of_set(&set.message))
        && !needs.contains(&need_of(&signature))
    {
        needs.push(need_of(&signature));
    }
    needs
}

impl SignatureResult {
    pub(crate) fn for_signature(signature: &DkimSignature<'_>, reason: Option<FailReason>) -> Self {
        Self {
            reason,
            domain: Some(signature.domain.clone()),
            selector: Some(signature.selector.clone()),
            identity: signature.identity.as_deref().map(Into::into),
            algorithm: Some(signature.algorithm),
            signature_start: Some(start_of(&crate::base64::encode(
                &signature.signature[..6.min(signature.signature.len())],
            ))),
            key_bits: None,
            is_testing: false,
        }
    }

    /// Of a field that was not read, with what of it could be.
    fn unread(field: &HeaderField<'_>, reason: FailReason) -> Self {
        let tags = TagList::parse(field.value()).ok();
        let tag = |name| tags.as_ref().and_then(|tags| tags.get(name)).map(crate::signature::text);
        let name = |tag: Option<&str>| Some(crate::domain::ascii_form(tag?)?.into_owned());
        Self {
            reason: Some(reason),
            domain: name(tag("d")),
            selector: name(tag("s")),
            identity: None,
            algorithm: tag("a").and_then(|name| name.parse().ok()),
            signature_start: None,
            key_bits: None,
            is_testing: false,
        }
    }
}

impl PendingSignature<'_> {
    fn unread(field: &HeaderField<'_>, reason: FailReason) -> Box<Self> {
        Box::new(Self::Done(Box::new(SignatureResult::unread(field, reason))))
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(8).collect()
}
