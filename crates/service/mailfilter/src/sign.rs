//! Signing of messages.

use std::sync::Arc;
use std::time::Duration;

use oarlock_dkim::{DkimSigner, HeaderField, MailSignError, SignIntake, SignOutcome, SignerError};
use oarlock_network::LogLimit;
use tracing::warn;

use crate::author::AuthorAddress;
use crate::incoming::BodyHashers;
use crate::keys::SigningKeyFault;
use crate::outcome::{MessageFault, MessageOutcome};
use crate::report::{LoggedTags, MessageReport, insertion};
use crate::signing_address::SigningChoice;
use crate::state::FilterState;
use crate::table::SigningLine;
use oarlock_milter::counters::count;

/// The reason why one signature was not made.
#[derive(Debug, thiserror::Error)]
enum SignFailure {
    #[error(transparent)]
    Key(#[from] SigningKeyFault),
    #[error("{}: {error}", path.display())]
    Signer { path: std::path::PathBuf, error: SignerError },
    #[error(transparent)]
    Sign(#[from] MailSignError),
}

/// The limit of log lines about missing signatures. Every message of a domain whose key is missing causes one.
static UNSIGNED: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Signs by each line. A signature that fails does not affect the others. A message without any signature is faulty.
pub(crate) async fn sign(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    bodies: BodyHashers,
    choice: &SigningChoice,
    now_s: u64,
) -> MessageReport {
    let SigningChoice { address, lines } = choice;
    let mut signers = Vec::with_capacity(lines.len());
    let mut failed: Vec<(String, SignFailure)> = Vec::new();
    for line in lines {
        match line_signer(shared, line, address).await {
            Ok(signer) => signers.push(signer),
            Err(error) => {
                let domain = Some(line.domain.as_deref().unwrap_or(address.domain()));
                let tags = LoggedTags { domain, selector: Some(&line.selector), ..LoggedTags::default() };
                failed.push((tags.to_string(), error));
            }
        }
    }
    let mut report = MessageReport::new(MessageOutcome::Signed);
    for (signer, signed) in
        signers.iter().zip(make_signatures(shared, headers, bodies, &signers, now_s).await)
    {
        match signed {
            Ok(field) => {
                report.signatures.push(format!("d={} s={}", signer.domain(), signer.selector()));
                report.changes.push(insertion(&field));
            }
            Err(error) => {
                let tags = LoggedTags {
                    domain: Some(signer.domain()),
                    selector: Some(signer.selector()),
                    algorithm: Some(signer.algorithm().name()),
                    identity: None,
                };
                failed.push((tags.to_string(), error.into()));
            }
        }
    }
    // Each field is inserted at the top, so the topmost field is inserted last.
    report.changes.reverse();
    count(&shared.metrics.signed, report.changes.len());
    count(&shared.metrics.unsigned, failed.len());
    for (_, error) in &failed {
        if let Some(suppressed) = UNSIGNED.admit() {
            warn!(%error, suppressed, "a signature was not made");
        }
    }
    if report.changes.is_empty() {
        report.outcome = MessageOutcome::Faulty(MessageFault::Signing);
    }
    report.reason = failed.first().map(|(_, error)| error.to_string());
    report.failures = failed.into_iter().map(|(tags, error)| format!("{tags}: {error}")).collect();
    report
}

async fn line_signer(
    shared: &FilterState,
    line: &SigningLine,
    address: &AuthorAddress,
) -> Result<Arc<DkimSigner>, SignFailure> {
    let key = line.file.key(&shared.keys).await?;
    let made = line.signer(address, key, &shared.style);
    made.map_err(|error| SignFailure::Signer { path: line.file.path().to_owned(), error })
}

/// Returns one signature or error for each signer.
async fn make_signatures(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    bodies: BodyHashers,
    signers: &[Arc<DkimSigner>],
    now_s: u64,
) -> Vec<SignOutcome> {
    let mut intake = SignIntake::new(now_s);
    let signed = match intake.push_hashed(headers, bodies.signatures, signers.iter().map(|signer| &**signer))
    {
        Ok(()) => intake.submit(&shared.accelerator, shared.options()).await,
        Err(error) => Err(error),
    };
    signed.unwrap_or_else(|error| vec![Err(error.into()); signers.len()])
}
