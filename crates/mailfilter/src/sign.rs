//! Messages signed.

use std::time::Duration;

use oarlock_dkim::{Header, SignError, SignIntake, Signed, Signer, SignerError};
use oarlock_io::LogLimit;
use tracing::warn;

use crate::author::Author;
use crate::incoming::Bodies;
use crate::keys::KeyFault;
use crate::outcome::{Fault, Outcome};
use crate::report::{Report, insertion};
use crate::state::Shared;
use crate::table::Line;
use oarlock_milter::counters::count;

/// Why one signature was not made.
#[derive(Debug, thiserror::Error)]
enum Unsigned {
    #[error(transparent)]
    Key(#[from] KeyFault),
    #[error("{}: {error}", path.display())]
    Signer { path: std::path::PathBuf, error: SignerError },
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// Every message of a domain whose key is missing brings such a line about.
static UNSIGNED: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Signs by each line. A signature that cannot be made costs the others nothing; a message without any is faulty.
pub(crate) async fn sign(
    shared: &Shared,
    headers: Vec<Header<'_>>,
    bodies: Bodies,
    lines: &[Line],
    author: &Author,
    now_s: u64,
) -> Report {
    let mut signers = Vec::with_capacity(lines.len());
    let mut failed = Vec::new();
    for line in lines {
        match signer(shared, line, author).await {
            Ok(signer) => signers.push(signer),
            Err(error) => failed.push(error),
        }
    }
    let mut report = Report::of(Outcome::Signed);
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
        report.outcome = Outcome::Faulty(Fault::Signing);
    }
    report.reason = failed.first().map(Unsigned::to_string);
    report
}

async fn signer(shared: &Shared, line: &Line, author: &Author) -> Result<Signer, Unsigned> {
    let key = line.file.key(&shared.keys).await?;
    let domain = line.domain.as_deref().unwrap_or(author.domain());
    let style = &shared.style;
    let made = Signer::new(domain, &line.selector, key).and_then(|signer| {
        let signer = signer
            .with_canonicalization(style.canonicalization)
            .with_lifetime_s(style.lifetime_s)
            .with_fields(style.fields.clone());
        match &line.identity {
            Some(identity) => signer.with_identity(identity),
            None => Ok(signer),
        }
    });
    made.map_err(|error| Unsigned::Signer { path: line.file.path().to_owned(), error })
}

/// One answer for each signer.
async fn signatures(
    shared: &Shared,
    headers: Vec<Header<'_>>,
    bodies: Bodies,
    signers: &[Signer],
    now_s: u64,
) -> Vec<Signed> {
    let mut intake = SignIntake::new(now_s);
    let signed = match intake.push_hashed(headers, bodies.signatures, signers) {
        Ok(()) => intake.submit(&shared.accelerator, shared.options()).await,
        Err(error) => Err(error),
    };
    signed.unwrap_or_else(|error| vec![Err(error.into()); signers.len()])
}
