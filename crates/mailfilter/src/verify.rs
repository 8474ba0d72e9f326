//! Messages verified, and sealed.

use std::collections::HashMap;

use futures_util::future::join_all;
use oarlock::JobError;
use oarlock_dkim::{
    BodyHasher, Chain, Header, Intake, KeyAnswer, KeyName, Limits, Message, MessageError, Reason, SealError,
    SealedResults, Sealer, Sealing, SignatureResult, Verified, authentication_results,
};
use tracing::info;

use crate::incoming::Bodies;
use crate::outcome::{Fault, Outcome};
use crate::report::{Report, insertion};
use crate::state::Shared;
use oarlock_milter::counters::count;
use oarlock_milter::protocol::Change;

/// Verifies all signatures and says so at the top; seals where that is wanted.
/// `others` are results of this site that stand in the message.
pub(crate) async fn verify(
    shared: &Shared,
    headers: Vec<Header<'_>>,
    bodies: Bodies,
    others: &[String],
    now_s: u64,
) -> Report {
    let verified = match judge(shared, &headers, bodies.signatures, now_s).await {
        Ok(verified) => verified,
        Err(error) => return Report::failed(Outcome::Faulty(Fault::Internal), error),
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
pub(crate) fn malformed(shared: &Shared, error: MessageError) -> Report {
    let mut report = Report::failed(Outcome::Faulty(Fault::Malformed), &error);
    if shared.mode.verifies() {
        let result = SignatureResult {
            reason: Some(Reason::Message(error)),
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
    shared: &Shared,
    headers: &[Header<'_>],
    bodies: Vec<BodyHasher>,
    now_s: u64,
) -> Result<Verified, JobError> {
    let mut intake = Intake::new(&shared.policy, now_s);
    intake.push_hashed(headers, bodies)?;
    let hashed = intake.submit(&shared.accelerator, shared.options()).await?;
    let names: Vec<KeyName> = hashed.queries().cloned().collect();
    let answers = join_all(names.iter().map(|name| shared.lookups.key(name))).await;
    let answers: HashMap<KeyName, _> = names.into_iter().zip(answers).collect();
    let unasked = || KeyAnswer::Unknown("nobody asked for it".to_owned());
    let keyed = hashed.answer(|name| answers.get(name).cloned().unwrap_or_else(unasked));
    Ok(keyed.submit(&shared.accelerator, shared.options()).await.pop().unwrap_or_default())
}

fn report(shared: &Shared, verified: &Verified) -> Report {
    let fault = Fault::of(verified);
    let mut report = Report::of(fault.map_or(Outcome::Passed, Outcome::Faulty));
    for result in &verified.signatures {
        shared.metrics.verified(result.verdict());
        report.signatures.push(summary(result));
    }
    if let Some(chain) = &verified.chain {
        shared.metrics.chain(chain.verdict());
        report.arc = Some(chain.verdict().to_string());
    }
    let reasons = || verified.signatures.iter().filter_map(|result| result.reason.as_ref());
    report.reason = fault.and_then(|_| reasons().next()).map(Reason::to_string);
    report
}

fn summary(result: &SignatureResult) -> String {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    format!("{} d={} s={}", result.verdict(), or_none(&result.domain), or_none(&result.selector))
}

fn results(shared: &Shared, signatures: &[SignatureResult], chain: Option<&Chain>) -> Change {
    insertion(&authentication_results(shared.authserv_id(), signatures, chain))
}

/// The three fields of a set, in the order in which they go to the top.
async fn seal(
    shared: &Shared,
    sealer: &Sealer,
    headers: Vec<Header<'_>>,
    bodies: Vec<BodyHasher>,
    results: &SealedResults<'_>,
    now_s: u64,
) -> Result<Vec<Change>, SealError> {
    let mut sealing = Sealing::new(sealer, now_s);
    sealing.push_hashed(headers, bodies, results)?;
    let sealed = sealing
        .submit(&shared.accelerator, shared.options())
        .await?
        .pop()
        .unwrap_or(Err(JobError::Cancelled.into()))?;
    let set = Message::parse(sealed.as_bytes(), &Limits::default()).map_err(|_| JobError::Cancelled)?;
    let change = |header: &Header<'_>| insertion(&String::from_utf8_lossy(header.raw()));
    Ok(set.headers.iter().rev().map(change).collect())
}
