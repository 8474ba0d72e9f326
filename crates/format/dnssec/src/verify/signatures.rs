//! The signatures of many sets, verified in batches.

use oarlock::Blame;
use oarlock::{Accelerator, Input, Job, JobError};
use smallvec::SmallVec;

use super::ZoneVerifier;
use super::finding::{FindingReason, Severity, VerifyReport};
use super::keys::VerifyKey;
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::ZonePublicKey;
use crate::messages::Messages;
use crate::rrsig::{Rrsig, Validity, signed_labels};
use crate::rtype::RecordType;
use crate::sets::RecordSet;

/// The number of message bytes that are kept before they are verified.
const BATCH_BYTES: usize = 16 << 20;

/// The sets whose signatures are verified together.
#[derive(Debug, Default)]
pub(super) struct SignatureBatch<'z> {
    sets: Vec<SignedSet<'z>>,
    /// The messages of the signatures.
    messages: Messages,
    trials: Vec<KeyTrial<'z>>,
    /// The outcomes of all signatures, set by set.
    outcomes: Vec<SignatureOutcome>,
}

/// A set that must be signed, and the index of its first outcome.
#[derive(Debug)]
struct SignedSet<'z> {
    set: RecordSet<'z>,
    outcomes: usize,
}

/// The outcome of a signature.
#[derive(Debug)]
struct SignatureOutcome {
    row: u32,
    /// The key tag; None if the data of the RRSIG is malformed.
    tag: Option<u16>,
    algorithm: DnssecAlgorithm,
    verdict: SignatureVerdict,
}

#[derive(Clone, Debug)]
enum SignatureVerdict {
    Good,
    Bad(FindingReason),
    /// The algorithm or the key is not supported.
    Unsupported,
}

/// A signature and the key that is tried next.
#[derive(Debug)]
struct KeyTrial<'z> {
    outcome: usize,
    key: usize,
    tried: usize,
    covered: RecordType,
    message: usize,
    signature: &'z [u8],
}

impl<'z> SignatureBatch<'z> {
    /// Adds a set that must be signed.
    ///
    /// # Errors
    /// The messages exceed 4 GiB.
    pub(super) fn add(
        &mut self,
        verifier: &ZoneVerifier<'z>,
        set: RecordSet<'z>,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        if set.records.is_empty() {
            for row in set.signatures {
                report.add(set.owner, set.rtype, Some(*row), FindingReason::NothingSigned);
            }
            return Ok(());
        }
        report.counts.signed_sets += 1;
        self.sets.push(SignedSet { set, outcomes: self.outcomes.len() });
        let max = verifier.settings.max_signatures;
        // Each signature hashes the whole set, so an attacker could multiply the work by adding signatures.
        for &row in set.signatures.iter().take(max) {
            self.add_signature(verifier, set, row, report)?;
        }
        if let Some(row) = set.signatures.get(max) {
            let reason = FindingReason::TooManySignatures { found: set.signatures.len(), max };
            report.add(set.owner, set.rtype, Some(*row), reason);
        }
        Ok(())
    }

    /// Returns true if the batch should be verified now, to bound its memory.
    pub(super) fn is_full(&self) -> bool {
        self.messages.len_bytes() > BATCH_BYTES
    }

    fn add_signature(
        &mut self,
        verifier: &ZoneVerifier<'z>,
        set: RecordSet<'z>,
        row: u32,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        let record = verifier.sets.records().get(row as usize);
        let rrsig = match Rrsig::read(record.data) {
            Ok(rrsig) => rrsig,
            Err(error) => {
                let verdict = SignatureVerdict::Bad(FindingReason::MalformedSignature(error));
                self.outcomes.push(SignatureOutcome {
                    row,
                    tag: None,
                    algorithm: DnssecAlgorithm(0),
                    verdict,
                });
                return Ok(());
            }
        };
        if record.ttl != set.ttl() {
            let reason = FindingReason::SignatureTtl { expected: set.ttl(), found: record.ttl };
            report.add(set.owner, set.rtype, Some(row), reason).key_tag = Some(rrsig.key_tag);
        }
        let algorithm = rrsig.algorithm;
        // The verdict until a key verifies the signature.
        let mut verdict = SignatureVerdict::Bad(FindingReason::BadSignature);
        match candidate(verifier, set, &rrsig) {
            Ok(key) => {
                let digest = algorithm.message_digest();
                let write = |out: &mut Vec<u8>| rrsig.write_signed(set.owner, set.data(), out);
                let message = self.messages.push(digest, write)?;
                let outcome = self.outcomes.len();
                let (covered, signature) = (set.rtype, rrsig.signature);
                self.trials.push(KeyTrial { outcome, key, tried: 1, covered, message, signature });
            }
            Err(other) => verdict = other,
        }
        self.outcomes.push(SignatureOutcome { row, tag: Some(rrsig.key_tag), algorithm, verdict });
        Ok(())
    }

    /// Verifies all signatures and reports the outcomes. A signature that fails is tried with the next key of its
    /// tag.
    ///
    /// # Errors
    /// An engine failed.
    pub(super) fn verify(
        mut self,
        verifier: &ZoneVerifier<'_>,
        accelerator: &Accelerator,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        let mut trials = std::mem::take(&mut self.trials);
        self.messages.hash(accelerator)?;
        // One round per key of a tag. Nearly all signatures succeed in the first round, which fills the lanes best.
        while !trials.is_empty() {
            report.counts.verifications += trials.len() as u64;
            let verdicts = self.try_all(verifier, accelerator, &trials)?;
            let mut again = Vec::new();
            for (trial, is_good) in trials.into_iter().zip(verdicts) {
                if is_good {
                    self.outcomes[trial.outcome].verdict = SignatureVerdict::Good;
                } else if let Some(next) = self.next_trial(verifier, trial) {
                    again.push(next);
                }
            }
            trials = again;
        }
        // The outcomes of a set end where those of the next set begin.
        let ends = self.sets.iter().skip(1).map(|signed| signed.outcomes).chain([self.outcomes.len()]);
        for (signed, end) in self.sets.iter().zip(ends.collect::<Vec<_>>()) {
            conclude(verifier, signed.set, &self.outcomes[signed.outcomes..end], report);
        }
        Ok(())
    }

    /// Returns true for each trial that succeeds.
    fn try_all(
        &self,
        verifier: &ZoneVerifier<'_>,
        accelerator: &Accelerator,
        trials: &[KeyTrial<'_>],
    ) -> Result<Vec<bool>, JobError> {
        let signatures = trials.iter().map(|trial| {
            let input = self.messages.input(trial.message);
            VerifyTask::new(verifier.keys.get(trial.key), input, trial.signature)
        });
        verify_all(accelerator, signatures)
    }

    /// Returns the trial with the next key of the tag. Returns None after the last key, or at the limit of tries.
    fn next_trial<'t>(&mut self, verifier: &ZoneVerifier<'_>, trial: KeyTrial<'t>) -> Option<KeyTrial<'t>> {
        let outcome = &mut self.outcomes[trial.outcome];
        let tag = outcome.tag?;
        let may_sign = |at: &usize| verifier.keys.may_sign(*at, trial.covered);
        let mut next = verifier.keys.with_tag(tag, outcome.algorithm, trial.key + 1).filter(may_sign);
        let key = next.next()?;
        if trial.tried == verifier.settings.max_keys {
            // The key that was not tried and the keys after it. KeyTrap (CVE-2023-50387) is the reason for the limit.
            let keys = trial.tried + 1 + next.count();
            outcome.verdict = SignatureVerdict::Bad(FindingReason::TooManyKeys { tried: trial.tried, keys });
            return None;
        }
        Some(KeyTrial { key, tried: trial.tried + 1, ..trial })
    }
}

/// Returns true if the key made the signature of `signed`.
///
/// # Errors
/// An engine failed.
pub(super) fn signs(
    accelerator: &Accelerator,
    key: &VerifyKey<'_>,
    signed: &[u8],
    signature: &[u8],
) -> Result<bool, JobError> {
    let input = VerifyTask::new(key, Input::Message(signed), signature);
    Ok(verify_all(accelerator, [input].into_iter())?[0])
}

/// A signature to verify.
pub(crate) struct VerifyTask<'k> {
    /// The key; None if it is not supported.
    pub(crate) key: Option<&'k ZonePublicKey>,
    pub(crate) algorithm: DnssecAlgorithm,
    pub(crate) input: Input<'k>,
    pub(crate) signature: &'k [u8],
}

impl<'k> VerifyTask<'k> {
    fn new(key: &'k VerifyKey<'_>, input: Input<'k>, signature: &'k [u8]) -> Self {
        Self { key: key.public.as_ref().ok(), algorithm: key.dnskey.algorithm, input, signature }
    }
}

/// Verifies signatures. Returns true for each good one.
///
/// # Errors
/// An engine failed.
pub(crate) fn verify_all<'k>(
    accelerator: &Accelerator,
    signatures: impl ExactSizeIterator<Item = VerifyTask<'k>>,
) -> Result<Vec<bool>, JobError> {
    let mut verdicts = vec![false; signatures.len()];
    let (mut jobs, mut indices) = (Vec::with_capacity(verdicts.len()), Vec::with_capacity(verdicts.len()));
    for (index, VerifyTask { key, algorithm, input, signature }) in signatures.enumerate() {
        match (key, algorithm.verify_scheme()) {
            (Some(ZonePublicKey::Accelerated(key)), Some(scheme)) => {
                jobs.push(Job::with_scheme(scheme, key, input, signature));
                indices.push(index);
            }
            (Some(ZonePublicKey::Ed448(key)), _) => {
                // Ed448 takes the message itself, so there is no digest.
                verdicts[index] = key.verify(input.bytes(), signature);
            }
            _ => {}
        }
    }
    let answers = accelerator.run_all(&jobs);
    for (index, answer) in indices.into_iter().zip(answers.iter()) {
        verdicts[index] = match answer {
            Ok(_) => true,
            // An engine that failed says nothing about the signature, so the zone must not be called bad.
            Err(error) if error.blame() == Blame::Machine => return Err(error),
            Err(_) => false,
        };
    }
    Ok(verdicts)
}

/// Returns the first key that may have made a signature. Returns the verdict if no computation is needed. RFC 4035
/// 5.3.1.
fn candidate(
    verifier: &ZoneVerifier<'_>,
    set: RecordSet<'_>,
    rrsig: &Rrsig<'_>,
) -> Result<usize, SignatureVerdict> {
    let bad = |reason| Err(SignatureVerdict::Bad(reason));
    if rrsig.signer != verifier.apex {
        return bad(FindingReason::WrongSigner(rrsig.signer.to_buf()));
    }
    let expected = signed_labels(set.owner);
    // RFC 4035 5.3.1 allows fewer labels, for answers expanded from a wildcard. A zone contains the wildcard itself.
    if usize::from(rrsig.labels) != expected {
        return bad(FindingReason::WrongLabels { expected, found: rrsig.labels });
    }
    let algorithm = rrsig.algorithm;
    // RFC 4035 5.2: an unknown algorithm is neither good nor bad.
    if !algorithm.is_supported() {
        return Err(SignatureVerdict::Unsupported);
    }
    match rrsig.validity(verifier.settings.now) {
        Validity::Valid => {}
        Validity::Expired => return bad(FindingReason::Expired { expiration: rrsig.expiration }),
        Validity::NotYet => return bad(FindingReason::NotYetValid { inception: rrsig.inception }),
    }
    let mut keys = verifier.keys.with_tag(rrsig.key_tag, algorithm, 0);
    let Some(first) = keys.clone().next() else { return bad(FindingReason::UnknownKey) };
    match keys.clone().find(|key| verifier.keys.may_sign(*key, set.rtype)) {
        Some(key) => Ok(key),
        None if keys.any(|key| verifier.keys.get(key).public.is_ok()) => bad(FindingReason::RevokedKey),
        None => Err(unusable(verifier, first)),
    }
}

fn unusable(verifier: &ZoneVerifier<'_>, key: usize) -> SignatureVerdict {
    match &verifier.keys.get(key).public {
        Err(error) if !error.is_unsupported() => {
            SignatureVerdict::Bad(FindingReason::UnusableKey(error.clone()))
        }
        _ => SignatureVerdict::Unsupported,
    }
}

/// Reports the outcomes of a set's signatures.
fn conclude(
    verifier: &ZoneVerifier<'_>,
    set: RecordSet<'_>,
    outcomes: &[SignatureOutcome],
    report: &mut VerifyReport,
) {
    let is_good = |algorithm: &DnssecAlgorithm| {
        outcomes
            .iter()
            .any(|one| one.algorithm == *algorithm && matches!(one.verdict, SignatureVerdict::Good))
    };
    let missing: SmallVec<[DnssecAlgorithm; 2]> =
        verifier.required.iter().copied().filter(|algorithm| !is_good(algorithm)).collect();
    // If no key of the zone is usable, no algorithm is required. Then no good signature excuses a bad one.
    let is_signed = missing.is_empty() && !verifier.required.is_empty();
    for outcome in outcomes {
        match &outcome.verdict {
            SignatureVerdict::Good => report.counts.good_signatures += 1,
            SignatureVerdict::Unsupported => report.counts.unsupported_signatures += 1,
            SignatureVerdict::Bad(reason) => {
                let is_made_up_for = is_signed && reason.is_made_up_for();
                let finding = report.add(set.owner, set.rtype, Some(outcome.row), reason.clone());
                finding.key_tag = outcome.tag;
                if is_made_up_for {
                    finding.severity = Severity::Warning;
                }
            }
        }
    }
    for algorithm in missing {
        // An existing signature of the algorithm has been reported already.
        if !outcomes.iter().any(|outcome| outcome.algorithm == algorithm) {
            let row = set.records.first().copied();
            report.add(set.owner, set.rtype, row, FindingReason::MissingSignature(algorithm));
        }
    }
}
