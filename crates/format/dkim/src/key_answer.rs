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

/// The answer of DNS for a name.
#[derive(Clone, Debug)]
pub enum KeyAnswer {
    /// The name does not exist or has no TXT record.
    NoRecord,
    /// The parsed records. They are shared, because the cache keeps them for later messages.
    Records(Arc<[Result<KeyRecord, KeyRecordError>]>),
    /// DNS gave no answer, for this reason.
    Unknown(String),
}

impl KeyAnswer {
    /// Parses the TXT records of a name. The strings of each record must be joined.
    pub fn from_records<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> Self {
        let records: Arc<[_]> = records.into_iter().map(|record| KeyRecord::parse(record.as_ref())).collect();
        if records.is_empty() { Self::NoRecord } else { Self::Records(records) }
    }
}
