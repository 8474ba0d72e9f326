//! Messages signed.

use std::time::Duration;

use oarlock_dkim::{DkimSigner, HeaderField, MailSignError, SignIntake, SignOutcome, SignerError};
use oarlock_io::LogLimit;
use tracing::warn;

use crate::author::AuthorAddress;
use crate::incoming::BodyHashers;
use crate::keys::SigningKeyFault;
use crate::outcome::{MessageFault, MessageOutcome};
use crate::report::{MessageReport, insertion};
use crate::state::FilterState;
use crate::table::SigningLine;
use oarlock_milter::counters::count;

/// Why one signature was not made.
#[derive(Debug, thiserror::Error)]
enum SignFailure {
    #[error(transparent)]
    Key(#[from] SigningKeyFault),
    #[error("{}: {error}", path.display())]
    Signer { path: std::path::PathBuf, error: SignerError },
    #[error(transparent)]
    Sign(#[from] MailSignError),
}

/// Every message of a domain whose key is missing brings such a line about.
static UNSIGNED: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Signs by each line. A signature that cannot be made costs the others nothing; a message without any is faulty.
pub(crate) async fn sign(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    bodies: BodyHashers,
    lines: &[SigningLine],
    author: &AuthorAddress,
    now_s: u64,
) -> MessageReport {
    let mut signers = Vec::with_capacity(lines.len());
    let mut failed = Vec::new();
    for line in lines {
        match signer(shared, line, author).await {
            Ok(signer) => signers.push(signer),
            Err(error) => failed.push(error),
        }
    }
    let mut report = MessageReport::of(MessageOutcome::Signed);
    for (signer, signed) in signers.iter().zip(signatures(shared, headers, bodies, &signers, now_s).await) {
        match signed {
            Ok(field) => {
                report.signatures.push(format!("d={} s={}", signer.domain(), signer.selector()));
                report.changes.push(insertion(&field));
            }
            Err(error) => failed.push(error.into()),
        }
    }
    // Each goes to the top, so the first one goes there last.
    report.changes.reverse();
    count(&shared.metrics.signed, report.changes.len());
    count(&shared.metrics.unsigned, failed.len());
    for error in &failed {
        if let Some(suppressed) = UNSIGNED.admit() {
            warn!(%error, suppressed, "a signature was not made");
        }
    }
    if report.changes.is_empty() {
        report.outcome = MessageOutcome::Faulty(MessageFault::Signing);
    }
    report.reason = failed.first().map(SignFailure::to_string);
    report
}

async fn signer(
    shared: &FilterState,
    line: &SigningLine,
    author: &AuthorAddress,
) -> Result<DkimSigner, SignFailure> {
    let key = line.file.key(&shared.keys).await?;
    let domain = line.domain.as_deref().unwrap_or(author.domain());
    let style = &shared.style;
    let made = DkimSigner::new(domain, &line.selector, key).and_then(|signer| {
        let signer = signer
            .with_canonicalization(style.canonicalization)
            .with_lifetime_s(style.lifetime_s)
            .with_fields(style.fields.clone());
        match &line.identity {
            Some(identity) => signer.with_identity(identity),
            None => Ok(signer),
        }
    });
    made.map_err(|error| SignFailure::Signer { path: line.file.path().to_owned(), error })
}

/// One answer for each signer.
async fn signatures(
    shared: &FilterState,
    headers: Vec<HeaderField<'_>>,
    bodies: BodyHashers,
    signers: &[DkimSigner],
    now_s: u64,
) -> Vec<SignOutcome> {
    let mut intake = SignIntake::new(now_s);
    let signed = match intake.push_hashed(headers, bodies.signatures, signers) {
        Ok(()) => intake.submit(&shared.accelerator, shared.options()).await,
        Err(error) => Err(error),
    };
    signed.unwrap_or_else(|error| vec![Err(error.into()); signers.len()])
}
