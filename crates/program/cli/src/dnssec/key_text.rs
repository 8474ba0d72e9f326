//! Keys and their digests as lines of zone files.

use oarlock_dnssec::zone::{FaultyEntry, ZoneReader};
use oarlock_dnssec::{DomainName, RecordType, ZoneRecords, rdata};

/// The TTL of records without one, as in files of BIND.
pub(crate) const NO_TTL: u32 = 0;

/// Reads the records of a short text. Faulty entries are skipped, and nothing is included.
pub(crate) fn records(text: &[u8]) -> ZoneRecords {
    let mut records = ZoneRecords::new();
    let mut include = nothing;
    reader(&mut include).read(text, true, &mut records);
    records
}

/// Returns a reader of key files.
pub(crate) fn reader<'i>(include: &'i mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> ZoneReader<'i> {
    ZoneReader::new(Some(DomainName::ROOT), include).with_ttl(NO_TTL)
}

/// Rejects an `$INCLUDE` in a key file.
pub(crate) fn nothing(_: &str) -> Result<Vec<u8>, String> {
    Err("key files must not contain $INCLUDE".to_owned())
}

/// Formats a record as `owner [TTL] IN type data`.
pub(crate) fn line(owner: DomainName<'_>, ttl: u32, rtype: RecordType, data: &[u8]) -> String {
    let mut text = match ttl {
        NO_TTL => format!("{owner} IN {rtype} "),
        ttl => format!("{owner} {ttl} IN {rtype} "),
    }
    .into_bytes();
    rdata::print(rtype, data, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Describes an entry that was not read.
pub(crate) fn fault(path: &std::path::Path, fault: &FaultyEntry) -> String {
    let file = fault.file.as_deref().map_or_else(|| path.display().to_string(), ToString::to_string);
    format!("{file}, line {}: {}", fault.line, fault.error)
}
