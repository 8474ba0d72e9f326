//! Answers of DNS, parsed into keys.

use std::fmt;
use std::sync::Arc;

use crate::record::{KeyRecord, KeyRecordError};

/// The name of a key record, `selector._domainkey.domain` in ASCII.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyName(String);

impl KeyName {
    /// Makes the name from a selector and a domain in their ASCII forms.
    #[must_use]
    pub fn new(selector: &str, domain: &str) -> Self {
        const BETWEEN: &str = "._domainkey.";
        let mut name = String::with_capacity(selector.len() + BETWEEN.len() + domain.len());
        name.push_str(selector);
        name.push_str(BETWEEN);
        name.push_str(domain);
        Self(name)
    }

    /// Returns the name to look up.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The protection of a key record by DNSSEC. A record with bad signatures does not arrive: the lookup fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyProtection {
    /// Nobody that this verifier believes has checked the record.
    #[default]
    Unknown,
    /// The zone is not signed.
    Unprotected,
    /// The record was validated up to a trust anchor.
    Secure,
}

impl KeyProtection {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Unprotected, Self::Secure];

    /// Returns the name in results, log and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unprotected => "unprotected",
            Self::Secure => "secure",
        }
    }

    /// Returns the name if the protection is known.
    #[must_use]
    pub fn known_name(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| self.name())
    }
}

/// The answer of DNS for a name.
#[derive(Clone, Debug)]
pub enum KeyAnswer {
    /// The name does not exist or has no TXT record.
    NoRecord,
    /// The name has records.
    Records {
        /// The parsed records. They are shared, because the cache keeps them for later messages.
        records: Arc<[Result<KeyRecord, KeyRecordError>]>,
        /// The protection of all records by DNSSEC.
        protection: KeyProtection,
    },
    /// DNS gave no answer, for this reason.
    Unknown(String),
}

impl KeyAnswer {
    /// Parses the TXT records of a name. The strings of each record must be joined.
    pub fn from_records<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> Self {
        let records: Arc<[_]> = records.into_iter().map(|record| KeyRecord::parse(record.as_ref())).collect();
        match records.is_empty() {
            true => Self::NoRecord,
            false => Self::Records { records, protection: KeyProtection::Unknown },
        }
    }

    /// Returns the answer with its protection, if it has records.
    #[must_use]
    pub fn with_protection(self, protection: KeyProtection) -> Self {
        match self {
            Self::Records { records, .. } => Self::Records { records, protection },
            other => other,
        }
    }
}
