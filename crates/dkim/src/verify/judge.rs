//! The later stages: body hashes compared, keys chosen, signatures verified.

use std::collections::HashSet;

use oarlock::{Accelerator, Answers, Job, JobError, Key, SubmitOptions};
use smallvec::SmallVec;

use crate::algorithm::Algorithm;
use crate::arc::{Chain, ChainFault};
use crate::hash::{Digests, Hash, HashId, HashedBody};
use crate::key_answer::{KeyAnswer, KeyName};
use crate::policy::Policy;
use crate::record::KeyRecord;
use crate::signature::Signature;
use crate::verdict::{Reason, SignatureResult};

/// A signature before its hashes are known.
#[derive(Debug)]
// Nearly all of them are of the large kind.
#[allow(clippy::large_enum_variant)]
pub(super) enum Pending<'m> {
    Done(Box<SignatureResult>),
    /// It cannot pass, whatever its key is. Its record is read all the same: it may say `t=y`.
    Refused {
        signature: Signature<'m>,
        reason: Reason,
    },
    /// Seals have no body.
    Hashed {
        signature: Signature<'m>,
        hash: HashId,
        body: Option<HashedBody>,
    },
}

/// Everything of one message before its hashes are known.
#[derive(Debug, Default)]
pub(super) struct Parts<'m> {
    pub(super) signatures: SmallVec<[Pending<'m>; 2]>,
    pub(super) chain: Option<ChainParts<'m>>,
}

/// The signatures of an ARC chain, in the order of [`Chain::signatures`].
#[derive(Debug)]
pub(super) struct ChainParts<'m> {
    pub(super) sets: usize,
    pub(super) fault: Option<ChainFault>,
    pub(super) signatures: Vec<Pending<'m>>,
}

/// What is known of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Of each signature from the top.
    pub signatures: SmallVec<[SignatureResult; 2]>,
    /// Of the ARC chain, where the policy looks at it.
    pub chain: Option<Chain>,
}

/// The second stage: everything is hashed, and keys are wanted.
#[derive(Debug)]
pub struct Hashed<'m> {
    policy: Policy,
    results: Vec<Verified>,
    open: Vec<Open<'m>>,
}

/// Where a signature's result goes.
#[derive(Clone, Copy, Debug)]
struct Place {
    message: usize,
    is_of_chain: bool,
    index: usize,
}

impl Place {
    fn of(self, results: &mut [Verified]) -> Option<&mut SignatureResult> {
        let Verified { signatures, chain } = results.get_mut(self.message)?;
        if self.is_of_chain {
            chain.as_mut()?.signatures.get_mut(self.index)
        } else {
            signatures.get_mut(self.index)
        }
    }
}

/// A signature that needs its key.
#[derive(Debug)]
struct Open<'m> {
    place: Place,
    name: KeyName,
    signature: Signature<'m>,
    /// Of the signed fields; empty for a signature that cannot pass.
    hash: Hash,
}

/// The names of one message whose records are wanted.
#[derive(Debug, Default)]
struct Wanted(SmallVec<[KeyName; 8]>);

impl Wanted {
    /// True where the record is wanted already, or there may be one more.
    fn admits(&mut self, name: &KeyName, max: usize) -> bool {
        let is_known = self.0.contains(name);
        if !is_known && self.0.len() < max {
            self.0.push(name.clone());
            return true;
        }
        is_known
    }
}

impl<'m> Hashed<'m> {
    pub(super) fn new(policy: Policy, messages: Vec<Parts<'m>>, digests: &Digests) -> Self {
        let mut hashed = Self { policy, results: Vec::with_capacity(messages.len()), open: Vec::new() };
        for (message, parts) in messages.into_iter().enumerate() {
            let mut wanted = Wanted::default();
            let mut judge = |pending, is_of_chain, index| {
                hashed.judge(pending, Place { message, is_of_chain, index }, &mut wanted, digests)
            };
            let signatures = parts.signatures.into_iter().enumerate();
            let signatures = signatures.map(|(index, pending)| judge(pending, false, index)).collect();
            let chain = parts.chain.map(|ChainParts { sets, fault, signatures }| {
                let mut judged = Vec::with_capacity(signatures.len());
                for (index, pending) in signatures.into_iter().enumerate() {
                    judged.push(judge(pending, true, index));
                    // A chain whose newest message signature fails is broken, whatever its seals are. RFC 8617 5.2.
                    if index == 0 && judged[0].reason.is_some() {
                        break;
                    }
                }
                Chain { sets, fault, signatures: judged }
            });
            hashed.results.push(Verified { signatures, chain });
        }
        hashed
    }

    /// Names of the records that are wanted, each once.
    pub fn queries(&self) -> impl Iterator<Item = &KeyName> {
        let mut seen = HashSet::new();
        self.open.iter().map(|open| &open.name).filter(move |name| seen.insert(*name))
    }

    /// Takes the keys. `answer` is called once for each signature that needs one.
    #[must_use]
    pub fn answer(self, mut answer: impl FnMut(&KeyName) -> KeyAnswer) -> Keyed<'m> {
        let Self { policy, mut results, open } = self;
        let mut keyed = Vec::with_capacity(open.len());
        for open in open {
            let Some(result) = open.place.of(&mut results) else { continue };
            match (choose(&answer(&open.name), &open, &policy, result), &result.reason) {
                (Ok(key), None) => keyed.push((open, key)),
                // Rules of RFC 6376 6.1.1 are applied before the key is looked up, the body hash after it.
                (Err(_), Some(reason)) if reason.precedes_key() => {}
                (Err(reason), _) => result.reason = Some(reason),
                (Ok(_), Some(_)) => {}
            }
        }
        Keyed { results, keyed }
    }

    /// The result as far as it is known without a key. DKIM signatures that fail are open, too: a record may say that nobody is to
    /// mind (`t=y`), or be missing, and both count before the body hash. RFC 6376 3.6.1 and 6.1.2.
    fn judge(
        &mut self,
        pending: Pending<'m>,
        place: Place,
        wanted: &mut Wanted,
        digests: &Digests,
    ) -> SignatureResult {
        let (signature, hash, reason) = match pending {
            Pending::Done(result) => return *result,
            Pending::Refused { signature, reason } => (signature, Hash::new(), Some(reason)),
            Pending::Hashed { signature, hash, body } => {
                let reason = body.and_then(|body| body_fault(&signature, &body, digests, &self.policy));
                (signature, digests.get(hash).into(), reason)
            }
        };
        let mut result = SignatureResult::of(&signature, reason);
        if place.is_of_chain && result.reason.is_some() {
            return result;
        }
        let name = KeyName::new(&signature.selector, &signature.domain);
        let max = self.policy.limits.max_lookups;
        if wanted.admits(&name, max) {
            self.open.push(Open { place, name, signature, hash });
        } else {
            result.reason.get_or_insert(Reason::TooManyLookups(max));
        }
        result
    }
}

fn body_fault(
    signature: &Signature<'_>,
    body: &HashedBody,
    digests: &Digests,
    policy: &Policy,
) -> Option<Reason> {
    if let Some(signed) = signature.body_length {
        if signed > body.len {
            return Some(Reason::BodyTooShort { signed, found: body.len });
        }
        if signed < body.len && !policy.accepts_partial_body {
            return Some(Reason::PartialBody(body.len - signed));
        }
    }
    (body.hash.get(digests) != signature.body_hash.as_slice()).then_some(Reason::BodyHash)
}

/// The first record that serves the signature; where none does, the first one's fault is told. RFC 6376 6.1.2.
fn choose(
    answer: &KeyAnswer,
    open: &Open<'_>,
    policy: &Policy,
    result: &mut SignatureResult,
) -> Result<Key, Reason> {
    let records = match answer {
        KeyAnswer::NoRecord => return Err(Reason::NoRecord(open.name.to_string())),
        KeyAnswer::Unknown(reason) => return Err(Reason::Lookup(reason.clone())),
        KeyAnswer::Records(records) => records,
    };
    let mut first = None;
    for record in records.iter() {
        let fault = match record {
            Ok(record) => match fault(record, &open.signature, policy) {
                None => {
                    result.key_bits = Some(record.key_bits());
                    result.is_testing = record.is_testing;
                    return Ok(record.key.clone());
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
    Err(first.unwrap_or_else(|| Reason::NoRecord(open.name.to_string())))
}

fn fault(record: &KeyRecord, signature: &Signature<'_>, policy: &Policy) -> Option<Reason> {
    let algorithm = signature.algorithm;
    let found = Algorithm::of_key(&record.key).map_or("another", Algorithm::key_type);
    if found != algorithm.key_type() {
        return Some(Reason::KeyType { found, wanted: algorithm.key_type() });
    }
    if !record.allows_hash(algorithm) {
        return Some(Reason::HashNotAllowed(algorithm.hash()));
    }
    if record.is_strict && !is_of_domain_itself(signature) {
        return Some(Reason::StrictIdentity);
    }
    if found != "rsa" {
        return None;
    }
    let Policy { min_rsa_bits: min, max_rsa_bits: max, .. } = *policy;
    match record.key_bits() {
        found if found < min => Some(Reason::WeakKey { found, min }),
        found if found > max => Some(Reason::LongKey { found, max }),
        _ => None,
    }
}

fn is_of_domain_itself(signature: &Signature<'_>) -> bool {
    let host = signature.identity.as_deref().and_then(|identity| identity.rsplit_once('@'));
    host.is_none_or(|(_, host)| crate::domain::ascii_form(host).as_deref() == Some(&signature.domain))
}

/// The third stage: the keys are there.
#[derive(Debug)]
pub struct Keyed<'m> {
    results: Vec<Verified>,
    keyed: Vec<(Open<'m>, Key)>,
}

impl Keyed<'_> {
    /// Verifies on this thread. Results are in the order in which messages came.
    #[must_use]
    pub fn verify(self, accelerator: &Accelerator) -> Vec<Verified> {
        let answers = accelerator.run_all(&self.jobs());
        self.judged(&answers)
    }

    /// Verifies beside what others have submitted.
    pub async fn submit(self, accelerator: &Accelerator, options: SubmitOptions) -> Vec<Verified> {
        let many = accelerator.submit_many(&self.jobs(), options);
        let answers = many.await;
        self.judged(&answers)
    }

    fn jobs(&self) -> Vec<Job<'_>> {
        self.keyed.iter().map(|(open, key)| job(open, key)).collect()
    }

    fn judged(mut self, answers: &Answers) -> Vec<Verified> {
        for ((open, _), answer) in self.keyed.iter().zip(answers.iter()) {
            if let Some(result) = open.place.of(&mut self.results) {
                result.reason = answer.err().map(refusal);
            }
        }
        self.results
    }
}

fn job<'a>(open: &'a Open<'_>, key: &'a Key) -> Job<'a> {
    let Signature { algorithm, signature, .. } = &open.signature;
    Job::with_scheme(algorithm.verify_scheme(), key, algorithm.input(&open.hash), signature)
}

/// A signature that is too long or too short for its key is a wrong one, whatever it is called below.
fn refusal(error: JobError) -> Reason {
    match error.blame() {
        oarlock::Blame::Machine => Reason::Machine(error),
        oarlock::Blame::Caller | oarlock::Blame::Peer => Reason::Rejected,
    }
}
