//! Answers of DNS, made keys.

use std::fmt;
use std::sync::Arc;

use crate::record::{KeyRecord, KeyRecordError};

/// Which record is wanted: `selector._domainkey.domain`, in ASCII.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyName(String);

impl KeyName {
    /// Of a selector and a domain in their ASCII forms.
    #[must_use]
    pub fn new(selector: &str, domain: &str) -> Self {
        const BETWEEN: &str = "._domainkey.";
        let mut name = String::with_capacity(selector.len() + BETWEEN.len() + domain.len());
        name.push_str(selector);
        name.push_str(BETWEEN);
        name.push_str(domain);
        Self(name)
    }

    /// The name to ask for.
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

/// What DNS says of a name.
#[derive(Clone, Debug)]
pub enum KeyAnswer {
    /// There is no such name, or no TXT record under it.
    NoRecord,
    /// Each record, read. Shared, since keys are kept for the next message.
    Records(Arc<[Result<KeyRecord, KeyRecordError>]>),
    /// DNS could not say, for this reason.
    Unknown(String),
}

impl KeyAnswer {
    /// Reads the TXT records of a name, each with its strings joined.
    pub fn from_records<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> Self {
        let records: Arc<[_]> = records.into_iter().map(|record| KeyRecord::parse(record.as_ref())).collect();
        if records.is_empty() { Self::NoRecord } else { Self::Records(records) }
    }
}
