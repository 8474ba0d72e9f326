//! The later stages of verifying: compare body hashes, choose keys, verify signatures.

use std::collections::HashSet;

use oarlock::{Accelerator, Answers, Job, JobError, Key, SubmitOptions};
use smallvec::SmallVec;

use crate::algorithm::SignatureAlgorithm;
use crate::chain::{ArcChain, ChainFault};
use crate::hash::{DigestId, Digests, Hash, HashedBody};
use crate::key_answer::{KeyAnswer, KeyName, KeyProtection};
use crate::policy::VerifyPolicy;
use crate::record::KeyRecord;
use crate::signature::DkimSignature;
use crate::verdict::{FailReason, SignatureResult};

/// A signature before its hashes are known.
#[derive(Debug)]
// Nearly all signatures are hashed. A box would cost an allocation for each of them.
#[allow(clippy::large_enum_variant)]
pub(super) enum UnverifiedSignature<'m> {
    Done(Box<SignatureResult>),
    /// The signature cannot pass under any key. Its record is looked up all the same, because it may have
    /// `t=y`.
    Refused {
        signature: DkimSignature<'m>,
        reason: FailReason,
    },
    /// The signature is part of the batch. Seals have no body.
    Hashed {
        signature: DkimSignature<'m>,
        hash: DigestId,
        body: Option<HashedBody>,
    },
}

/// The signatures of one message before their hashes are known.
#[derive(Debug, Default)]
pub(super) struct PendingMessage<'m> {
    pub(super) signatures: SmallVec<[UnverifiedSignature<'m>; 2]>,
    pub(super) chain: Option<PendingChain<'m>>,
}

/// The signatures of an ARC chain, in the order of [`ArcChain::signatures`].
#[derive(Debug)]
pub(super) struct PendingChain<'m> {
    pub(super) sets: usize,
    pub(super) fault: Option<ChainFault>,
    pub(super) signatures: Vec<UnverifiedSignature<'m>>,
}

/// The result of verifying one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedMessage {
    /// The result of each signature, from the top.
    pub signatures: SmallVec<[SignatureResult; 2]>,
    /// The result of the ARC chain, if the policy verifies chains.
    pub chain: Option<ArcChain>,
}

/// The second stage: everything is hashed and keys are needed.
#[derive(Debug)]
pub struct HashedMessages<'m> {
    policy: VerifyPolicy,
    results: Vec<VerifiedMessage>,
    open: Vec<OpenSignature<'m>>,
}

/// The position of a signature's result.
#[derive(Clone, Copy, Debug)]
struct ResultPosition {
    message: usize,
    is_of_chain: bool,
    index: usize,
}

impl ResultPosition {
    fn find_in(self, results: &mut [VerifiedMessage]) -> Option<&mut SignatureResult> {
        let VerifiedMessage { signatures, chain } = results.get_mut(self.message)?;
        if self.is_of_chain {
            chain.as_mut()?.signatures.get_mut(self.index)
        } else {
            signatures.get_mut(self.index)
        }
    }
}

/// A signature that needs its key.
#[derive(Debug)]
struct OpenSignature<'m> {
    position: ResultPosition,
    name: KeyName,
    signature: DkimSignature<'m>,
    /// The hash of the signed fields. It is empty for a signature that cannot pass.
    hash: Hash,
}

/// The names of the records that one message needs.
#[derive(Debug, Default)]
struct WantedRecords(SmallVec<[KeyName; 8]>);

impl WantedRecords {
    /// Returns true if the record is needed already or the limit allows one more.
    fn admits(&mut self, name: &KeyName, max: usize) -> bool {
        let is_known = self.0.contains(name);
        if !is_known && self.0.len() < max {
            self.0.push(name.clone());
            return true;
        }
        is_known
    }
}

impl<'m> HashedMessages<'m> {
    pub(super) fn new(policy: VerifyPolicy, messages: Vec<PendingMessage<'m>>, digests: &Digests) -> Self {
        let mut hashed = Self { policy, results: Vec::with_capacity(messages.len()), open: Vec::new() };
        for (message, parts) in messages.into_iter().enumerate() {
            let mut wanted = WantedRecords::default();
            let mut check = |pending, is_of_chain, index| {
                hashed.check(pending, ResultPosition { message, is_of_chain, index }, &mut wanted, digests)
            };
            let signatures = parts.signatures.into_iter().enumerate();
            let signatures = signatures.map(|(index, pending)| check(pending, false, index)).collect();
            let chain = parts.chain.map(|PendingChain { sets, fault, signatures }| {
                let mut checked = Vec::with_capacity(signatures.len());
                for (index, pending) in signatures.into_iter().enumerate() {
                    checked.push(check(pending, true, index));
                    // A chain whose newest message signature fails is broken, even with good seals. RFC 8617 5.2.
                    if index == 0 && checked[0].reason.is_some() {
                        break;
                    }
                }
                ArcChain { sets, fault, signatures: checked }
            });
            hashed.results.push(VerifiedMessage { signatures, chain });
        }
        hashed
    }

    /// Returns the names of the records to look up, each once.
    pub fn queries(&self) -> impl Iterator<Item = &KeyName> {
        let mut seen = HashSet::new();
        self.open.iter().map(|open| &open.name).filter(move |name| seen.insert(*name))
    }

    /// Adds the keys. `answer` is called once for each signature that needs a key.
    #[must_use]
    pub fn answer(self, mut answer: impl FnMut(&KeyName) -> KeyAnswer) -> KeyedMessages<'m> {
        let Self { policy, mut results, open } = self;
        let mut keyed = Vec::with_capacity(open.len());
        for open in open {
            let Some(result) = open.position.find_in(&mut results) else { continue };
            match (choose_key(&answer(&open.name), &open, &policy, result), &result.reason) {
                (Ok(key), None) => keyed.push((open, key)),
                // RFC 6376 6.1.1 checks these rules before the key is looked up. The body hash comes after the key.
                (Err(_), Some(reason)) if reason.precedes_key() => {}
                (Err(reason), _) => result.reason = Some(reason),
                (Ok(_), Some(_)) => {}
            }
        }
        KeyedMessages { results, keyed }
    }

    /// Returns the result as far as it is known without a key. A DKIM signature that fails stays open: its record may
    /// have `t=y` or be missing, and both take precedence over the body hash. RFC 6376 3.6.1 and 6.1.2.
    fn check(
        &mut self,
        pending: UnverifiedSignature<'m>,
        position: ResultPosition,
        wanted: &mut WantedRecords,
        digests: &Digests,
    ) -> SignatureResult {
        let (signature, hash, reason) = match pending {
            UnverifiedSignature::Done(result) => return *result,
            UnverifiedSignature::Refused { signature, reason } => (signature, Hash::new(), Some(reason)),
            UnverifiedSignature::Hashed { signature, hash, body } => {
                let reason = body.and_then(|body| body_fault(&signature, &body, digests, &self.policy));
                (signature, digests.get(hash).into(), reason)
            }
        };
        let mut result = SignatureResult::for_signature(&signature, reason);
        // A chain has no test mode, so a signature of a chain that fails needs no record.
        if position.is_of_chain && result.reason.is_some() {
            return result;
        }
        let name = KeyName::new(&signature.selector, &signature.domain);
        let max = self.policy.limits.max_lookups;
        if wanted.admits(&name, max) {
            self.open.push(OpenSignature { position, name, signature, hash });
        } else {
            result.reason.get_or_insert(FailReason::TooManyLookups(max));
        }
        result
    }
}

fn body_fault(
    signature: &DkimSignature<'_>,
    body: &HashedBody,
    digests: &Digests,
    policy: &VerifyPolicy,
) -> Option<FailReason> {
    if let Some(signed) = signature.body_length {
        // RFC 6376 3.5: `l=` must not exceed the length of the body.
        if signed > body.len {
            return Some(FailReason::BodyTooShort { signed, found: body.len });
        }
        if signed < body.len && !policy.accepts_partial_body {
            return Some(FailReason::PartialBody(body.len - signed));
        }
    }
    (body.hash.get(digests) != signature.body_hash.as_slice()).then_some(FailReason::BodyHash)
}

/// Chooses the first record that fits the signature. If none fits, the fault of the first record is reported. RFC 6376
/// 6.1.2.
fn choose_key(
    answer: &KeyAnswer,
    open: &OpenSignature<'_>,
    policy: &VerifyPolicy,
    result: &mut SignatureResult,
) -> Result<Key, FailReason> {
    let (records, protection) = match answer {
        KeyAnswer::NoRecord => return Err(FailReason::NoRecord(open.name.to_string())),
        KeyAnswer::Unknown(reason) => return Err(FailReason::Lookup(reason.clone())),
        KeyAnswer::Records { records, protection } => (records, *protection),
    };
    result.key_protection = protection;
    // A chain that fails would stay broken for all later hosts, which may not ask for DNSSEC.
    let is_refused =
        policy.requires_dnssec && protection != KeyProtection::Secure && !open.position.is_of_chain;
    // RFC 6376 3.6.2.2 calls several records undefined. Some zones have them during a change of keys.
    let mut first = None;
    for record in records.iter() {
        let fault = match record {
            Ok(record) => match record_fault(record, &open.signature, policy) {
                None => {
                    result.key_bits = Some(record.key_bits());
                    result.is_testing = record.is_testing;
                    return if is_refused { Err(FailReason::UnprotectedKey) } else { Ok(record.key.clone()) };
                }
                Some(reason) => {
                    if first.is_none() {
                        result.key_bits = Some(record.key_bits());
                        result.is_testing = record.is_testing;
                    }
                    reason
                }
            },
            Err(error) => {
                if first.is_none() {
                    result.is_testing = error.is_testing();
                }
                error.clone().into()
            }
        };
        first.get_or_insert(fault);
    }
    Err(first.unwrap_or_else(|| FailReason::NoRecord(open.name.to_string())))
}

fn record_fault(
    record: &KeyRecord,
    signature: &DkimSignature<'_>,
    policy: &VerifyPolicy,
) -> Option<FailReason> {
    let algorithm = signature.algorithm;
    let found = SignatureAlgorithm::for_key(&record.key).map_or("another", SignatureAlgorithm::key_type);
    if found != algorithm.key_type() {
        return Some(FailReason::KeyType { found, wanted: algorithm.key_type() });
    }
    if !record.allows_hash(algorithm) {
        return Some(FailReason::HashNotAllowed(algorithm.hash()));
    }
    if record.is_strict && !is_of_domain_itself(signature) {
        return Some(FailReason::StrictIdentity);
    }
    if found != "rsa" {
        return None;
    }
    let VerifyPolicy { min_rsa_bits: min, max_rsa_bits: max, .. } = *policy;
    match record.key_bits() {
        found if found < min => Some(FailReason::WeakKey { found, min }),
        found if found > max => Some(FailReason::LongKey { found, max }),
        _ => None,
    }
}

fn is_of_domain_itself(signature: &DkimSignature<'_>) -> bool {
    let host = signature.identity.as_deref().and_then(|identity| identity.rsplit_once('@'));
    host.is_none_or(|(_, host)| crate::domain::ascii_form(host).as_deref() == Some(&signature.domain))
}

/// The third stage: the keys are known.
#[derive(Debug)]
pub struct KeyedMessages<'m> {
    results: Vec<VerifiedMessage>,
    keyed: Vec<(OpenSignature<'m>, Key)>,
}

impl KeyedMessages<'_> {
    /// Verifies on this thread. The results are in the order of the messages.
    #[must_use]
    pub fn verify(self, accelerator: &Accelerator) -> Vec<VerifiedMessage> {
        let answers = accelerator.run_all(&self.jobs());
        self.with_answers(&answers)
    }

    /// Verifies together with jobs that others have submitted.
    pub async fn submit(self, accelerator: &Accelerator, options: SubmitOptions) -> Vec<VerifiedMessage> {
        let many = accelerator.submit_many(&self.jobs(), options);
        let answers = many.await;
        self.with_answers(&answers)
    }

    fn jobs(&self) -> Vec<Job<'_>> {
        self.keyed.iter().map(|(open, key)| verify_job(open, key)).collect()
    }

    fn with_answers(mut self, answers: &Answers) -> Vec<VerifiedMessage> {
        for ((open, _), answer) in self.keyed.iter().zip(answers.iter()) {
            if let Some(result) = open.position.find_in(&mut self.results) {
                result.reason = answer.err().map(job_failure);
            }
        }
        self.results
    }
}

fn verify_job<'a>(open: &'a OpenSignature<'_>, key: &'a Key) -> Job<'a> {
    let DkimSignature { algorithm, signature, .. } = &open.signature;
    Job::with_scheme(algorithm.verify_scheme(), key, algorithm.input(&open.hash), signature)
}

/// Returns the reason for a failed job. A signature of the wrong length for its key counts as a wrong signature,
/// although the engine reports a caller's error.
fn job_failure(error: JobError) -> FailReason {
    match error.blame() {
        oarlock::Blame::Machine => FailReason::Machine(error),
        oarlock::Blame::Caller | oarlock::Blame::Peer => FailReason::Rejected,
    }
}
