//! Messages verified, and sealed.

use std::collections::HashMap;

use futures_util::future::join_all;
use oarlock::JobError;
use oarlock_dkim::{
    ArcChain, ArcSealer, BodyHasher, FailReason, HeaderField, KeyAnswer, KeyName, MailLimits, MailMessage,
    MailParseError, SealError, SealIntake, SealedResults, SignatureResult, VerifiedMessage, VerifyIntake,
    authentication_results,
};
use tracing::info;

use crate::incoming::BodyHashers;
use crate::outcome::{MessageFault, MessageOutcome};
use crate::report::{MessageReport, insertion};
use crate::state::FilterState;
use oarlock_milter::counters::count;
use oarlock_milter::protocol::MessageChange;

/// Verifies all signatures and says so at the top; seals where that is wanted.
/// `others` are results of this site that stand in the message.
pub(crate) async fn verify(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    bodies: BodyHashers,
    others: &[String],
    now_s: u64,
) -> MessageReport {
    let verified = match judge(shared, &headers, bodies.signatures, now_s).await {
        Ok(verified) => verified,
        Err(error) => return MessageReport::failed(MessageOutcome::Faulty(MessageFault::Internal), error),
    };
    let mut report = report(shared, &verified);
    if let (Some(sealer), Some(chain)) = (&shared.sealer, &verified.chain) {
        let results = SealedResults {
            authserv_id: shared.authserv_id(),
            signatures: &verified.signatures,
            chain,
            others,
        };
        let sealed = seal(shared, sealer, headers, bodies.seal, &results, now_s).await;
        match sealed {
            Ok(fields) => {
                count(&shared.metrics.sealed, 1);
                report.changes.extend(fields);
            }
            Err(error) => {
                count(&shared.metrics.unsealed, 1);
                info!(%error, "a message was not sealed");
            }
        }
    }
    // Last, so that it is the first one.
    report.changes.push(results(shared, &verified.signatures, verified.chain.as_ref()));
    report
}

/// A message whose header is none.
pub(crate) fn malformed(shared: &FilterState, error: MailParseError) -> MessageReport {
    let mut report = MessageReport::failed(MessageOutcome::Faulty(MessageFault::Malformed), &error);
    if shared.mode.verifies() {
        let result = SignatureResult {
            reason: Some(FailReason::Message(error)),
            domain: None,
            selector: None,
            identity: None,
            algorithm: None,
            signature_start: None,
            key_bits: None,
            is_testing: false,
        };
        report.changes.push(results(shared, &[result], None));
    }
    report
}

async fn judge(
    shared: &FilterState,
    headers: &[HeaderField<'_>],
    bodies: Vec<BodyHasher>,
    now_s: u64,
) -> Result<VerifiedMessage, JobError> {
    let mut intake = VerifyIntake::new(&shared.policy, now_s);
    intake.push_hashed(headers, bodies)?;
    let hashed = intake.submit(&shared.accelerator, shared.options()).await?;
    let names: Vec<KeyName> = hashed.queries().cloned().collect();
    let answers = join_all(names.iter().map(|name| shared.lookups.key(name))).await;
    let answers: HashMap<KeyName, _> = names.into_iter().zip(answers).collect();
    let unasked = || KeyAnswer::Unknown("nobody asked for it".to_owned());
    let keyed = hashed.answer(|name| answers.get(name).cloned().unwrap_or_else(unasked));
    Ok(keyed.submit(&shared.accelerator, shared.options()).await.pop().unwrap_or_default())
}

fn report(shared: &FilterState, verified: &VerifiedMessage) -> MessageReport {
    let fault = MessageFault::of(verified);
    let mut report = MessageReport::of(fault.map_or(MessageOutcome::Passed, MessageOutcome::Faulty));
    for result in &verified.signatures {
        shared.metrics.verified(result.verdict());
        report.signatures.push(summary(result));
    }
    if let Some(chain) = &verified.chain {
        shared.metrics.chain(chain.verdict());
        report.arc = Some(chain.verdict().to_string());
    }
    let reasons = || verified.signatures.iter().filter_map(|result| result.reason.as_ref());
    report.reason = fault.and_then(|_| reasons().next()).map(FailReason::to_string);
    report
}

fn summary(result: &SignatureResult) -> String {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    format!("{} d={} s={}", result.verdict(), or_none(&result.domain), or_none(&result.selector))
}

fn results(shared: &FilterState, signatures: &[SignatureResult], chain: Option<&ArcChain>) -> MessageChange {
    insertion(&authentication_results(shared.authserv_id(), signatures, chain))
}

/// The three fields of a set, in the order in which they go to the top.
async fn seal(
    shared: &FilterState,
    sealer: &ArcSealer,
    headers: Vec<HeaderField<'_>>,
    bodies: Vec<BodyHasher>,
    results: &SealedResults<'_>,
    now_s: u64,
) -> Result<Vec<MessageChange>, SealError> {
    let mut sealing = SealIntake::new(sealer, now_s);
    sealing.push_hashed(headers, bodies, results)?;
    let sealed = sealing
        .submit(&shared.accelerator, shared.options())
        .await?
        .pop()
        .unwrap_or(Err(JobError::Cancelled.into()))?;
    let set =
        MailMessage::parse(sealed.as_bytes(), &MailLimits::default()).map_err(|_| JobError::Cancelled)?;
    let change = |header: &HeaderField<'_>| insertion(&String::from_utf8_lossy(header.raw()));
    Ok(set.headers.iter().rev().map(change).collect())
}
