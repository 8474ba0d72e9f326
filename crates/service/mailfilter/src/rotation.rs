//! Warnings about selectors that begin and end by date.

use std::collections::HashSet;
use std::path::PathBuf;

use futures_util::future::join_all;
use oarlock_dkim::{KeyAnswer, KeyName};

use crate::state::FilterState;
use crate::table::{LineDate, SigningLine, SigningTable};

/// The number of records that are looked up at the same time.
const MAX_LOOKUPS: usize = 64;

/// A warning about the dates of a signing table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum RotationWarning {
    /// DNS has no record of a key that will sign.
    #[error(
        "{name}: DNS has no record of this key, which signs from {from} on: publish it some days before \
         (oarlock dkim dns {})", path.display()
    )]
    Unpublished {
        /// The name of the record.
        name: String,
        /// The date from which the key signs.
        from: LineDate,
        /// The key file.
        path: PathBuf,
    },
    /// DNS has another key under the name.
    #[error("{name}: DNS has another key than {}, which signs from {from} on", path.display())]
    OtherKey {
        /// The name of the record.
        name: String,
        /// The date from which the key signs.
        from: LineDate,
        /// The key file.
        path: PathBuf,
    },
    /// The record cannot be used.
    #[error("{name}: the record of this key, which signs from {from} on, cannot be used: {reason}")]
    Unusable {
        /// The name of the record.
        name: String,
        /// The date from which the key signs.
        from: LineDate,
        /// The fault of the record.
        reason: String,
    },
    /// DNS did not answer.
    #[error(
        "{name}: DNS could not be asked for the record of this key, which signs from {from} on: {reason}"
    )]
    Unasked {
        /// The name of the record.
        name: String,
        /// The date from which the key signs.
        from: LineDate,
        reason: String,
    },
    /// The domain of the signature is that of the author, so the name of the record is not known.
    #[error(
        "the records of the selector {selector}, which signs from {from} on for every domain, cannot be looked up: \
         expected domain=NAME"
    )]
    AnyDomain {
        selector: String,
        /// The date from which the key signs.
        from: LineDate,
    },
    /// Nothing signs for a pattern.
    #[error("{pattern}: no line signs {}", shown_gap(*start, *end))]
    Gap {
        pattern: String,
        /// The date at which the last line ends. None if nothing signs now.
        start: Option<LineDate>,
        /// The date at which the next line begins, if there is one.
        end: Option<LineDate>,
    },
}

fn shown_gap(start: Option<LineDate>, end: Option<LineDate>) -> String {
    match (start, end) {
        (Some(start), Some(end)) => format!("from {start} until {end}"),
        (Some(start), None) => format!("from {start} on"),
        (None, Some(end)) => format!("until {end}"),
        (None, None) => "any more".to_owned(),
    }
}

/// Looks up the records of the keys that will sign, and finds times without any key.
pub(crate) async fn check(shared: &FilterState, table: &SigningTable) -> Vec<RotationWarning> {
    let now_s = shared.clock().now_s();
    let mut seen = HashSet::new();
    let upcoming: Vec<(LineDate, &SigningLine)> = table
        .upcoming(now_s)
        .filter(|(_, line)| seen.insert((line.domain.clone(), line.selector.clone())))
        .collect();
    let mut warnings = Vec::new();
    for lines in upcoming.chunks(MAX_LOOKUPS) {
        let checks = lines.iter().map(|(from, line)| check_record(shared, line, *from));
        warnings.extend(join_all(checks).await.into_iter().flatten());
    }
    let gaps = table.gaps(now_s).into_iter();
    warnings.extend(gaps.map(|gap| RotationWarning::Gap {
        pattern: gap.pattern.into(),
        start: gap.start,
        end: gap.end,
    }));
    warnings
}

/// Compares the record of a key with the key.
async fn check_record(shared: &FilterState, line: &SigningLine, from: LineDate) -> Option<RotationWarning> {
    let Some(domain) = &line.domain else {
        return Some(RotationWarning::AnyDomain { selector: line.selector.to_string(), from });
    };
    let record = KeyName::new(&line.selector, domain);
    let (name, path) = (record.to_string(), line.file.path().to_owned());
    let records = match shared.lookups.key(&record).await {
        KeyAnswer::Records { records, .. } => records,
        KeyAnswer::NoRecord => return Some(RotationWarning::Unpublished { name, from, path }),
        KeyAnswer::Unknown(reason) => return Some(RotationWarning::Unasked { name, from, reason }),
    };
    let published = match records.iter().find_map(|record| record.as_ref().ok()) {
        Some(published) => published,
        None => {
            let reason = records.iter().find_map(|record| record.as_ref().err()).map(ToString::to_string);
            return Some(RotationWarning::Unusable { name, from, reason: reason.unwrap_or_default() });
        }
    };
    // A key that cannot be read is reported by the check of the keys.
    let key = line.file.key(&shared.keys).await.ok()?;
    let is_same = published.key.fingerprint() == key.fingerprint();
    (!is_same).then_some(RotationWarning::OtherKey { name, from, path })
}
