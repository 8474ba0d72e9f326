//! Verifying and sealing of messages.

use std::collections::HashMap;

use futures_util::future::join_all;
use oarlock::JobError;
use oarlock_dkim::{
    ArcChain, BodyHasher, FailReason, HeaderField, KeyAnswer, KeyName, MailParseError, ParsedSignatures,
    SealError, SealIntake, SealedResults, SignatureResult, VerifiedMessage, VerifyIntake,
    authentication_results,
};
use tracing::info;

use crate::incoming::BodyHashers;
use crate::outcome::{MessageFault, MessageOutcome};
use crate::report::{LoggedTags, MessageReport, insertion};
use crate::seal::{SealFailure, SealSource};
use crate::state::FilterState;
use oarlock_milter::counters::count;
use oarlock_milter::protocol::MessageChange;

/// Verifies all signatures and reports the results at the top. Seals the message if that is configured. `others` are
/// the results of other filters of this site.
pub(crate) async fn verify(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    parsed: ParsedSignatures<'_>,
    bodies: BodyHashers,
    others: &[String],
    now_s: u64,
) -> MessageReport {
    let verified = match verify_signatures(shared, &headers, parsed, bodies.signatures, now_s).await {
        Ok(verified) => verified,
        Err(error) => return MessageReport::failed(MessageOutcome::Faulty(MessageFault::Internal), error),
    };
    let mut report = report(shared, &verified);
    if let (Some(source), Some(chain)) = (&shared.seal, &verified.chain) {
        let results = SealedResults {
            authserv_id: shared.authserv_id(),
            signatures: &verified.signatures,
            chain,
            others,
        };
        let sealed = seal(shared, source, headers, bodies.seal, &results, now_s).await;
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
    // The results are inserted last, so that they are the topmost field.
    report.changes.push(results(shared, &verified.signatures, verified.chain.as_ref()));
    report
}

/// Reports a message whose header is malformed.
pub(crate) fn malformed(shared: &FilterState, error: MailParseError) -> MessageReport {
    let mut report = MessageReport::failed(MessageOutcome::Faulty(MessageFault::Malformed), &error);
    if shared.mode.verifies() {
        let result = SignatureResult::unreadable(FailReason::Message(error));
        report.changes.push(results(shared, &[result], None));
    }
    report
}

async fn verify_signatures(
    shared: &FilterState,
    headers: &[HeaderField<'_>],
    parsed: ParsedSignatures<'_>,
    bodies: Vec<BodyHasher>,
    now_s: u64,
) -> Result<VerifiedMessage, JobError> {
    let mut intake = VerifyIntake::new(&shared.policy, now_s);
    intake.push_hashed(headers, parsed, bodies)?;
    let hashed = intake.submit(&shared.accelerator, shared.options()).await?;
    let names: Vec<KeyName> = hashed.queries().cloned().collect();
    let answers = join_all(names.iter().map(|name| shared.lookups.key(name))).await;
    let answers: HashMap<KeyName, _> = names.into_iter().zip(answers).collect();
    let unasked = || KeyAnswer::Unknown("the key was not looked up".to_owned());
    let keyed = hashed.answer(|name| answers.get(name).cloned().unwrap_or_else(unasked));
    Ok(keyed.submit(&shared.accelerator, shared.options()).await.pop().unwrap_or_default())
}

fn report(shared: &FilterState, verified: &VerifiedMessage) -> MessageReport {
    let fault = MessageFault::of_verified(verified);
    let mut report = MessageReport::new(fault.map_or(MessageOutcome::Passed, MessageOutcome::Faulty));
    for result in &verified.signatures {
        shared.metrics.verified(result.verdict());
        report.signatures.push(summary(result));
        report.failures.extend(result.reason.as_ref().map(|reason| format!("{}: {reason}", tags(result))));
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
    let key = result.key_protection.known_name().map(|name| format!(" key={name}")).unwrap_or_default();
    format!("{} {}{key}", result.verdict(), LoggedTags { algorithm: None, identity: None, ..tags(result) })
}

fn tags(result: &SignatureResult) -> LoggedTags<'_> {
    LoggedTags {
        domain: result.domain.as_deref(),
        selector: result.selector.as_deref(),
        algorithm: result.algorithm.map(|algorithm| algorithm.name()),
        identity: result.identity.as_deref(),
    }
}

fn results(shared: &FilterState, signatures: &[SignatureResult], chain: Option<&ArcChain>) -> MessageChange {
    insertion(&authentication_results(shared.authserv_id(), signatures, chain))
}

/// Returns the three fields of a set, in the order in which they are inserted at the top.
async fn seal(
    shared: &FilterState,
    source: &SealSource,
    headers: Vec<HeaderField<'_>>,
    bodies: Vec<BodyHasher>,
    results: &SealedResults<'_>,
    now_s: u64,
) -> Result<Vec<MessageChange>, SealFailure> {
    let mut sealing = SealIntake::new(source.sealer(&shared.keys).await?, now_s);
    sealing.push_hashed(headers, bodies, results).map_err(SealError::from)?;
    let sealed = sealing
        .submit(&shared.accelerator, shared.options())
        .await
        .map_err(SealError::from)?
        .pop()
        .unwrap_or(Err(JobError::Cancelled.into()))?;
    // Each field is inserted at the top, so the lowest field is inserted first.
    Ok(sealed.from_top().into_iter().rev().map(insertion).collect())
}
