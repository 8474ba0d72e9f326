//! The common part of requests and responses: bundles of records below headers, within limits.

use std::ops::Range;

use super::error::{KeyBundleError, KeyBundleFault};
use crate::dnskey::{Dnskey, SECURE_ENTRY_POINT, ZONE_KEY};
use crate::ds::Ds;
use crate::name::{DomainName, DomainNameBuf};
use crate::rdata;
use crate::records::ZoneRecords;
use crate::rrsig::Rrsig;
use crate::rtype::RecordType;
use crate::text::shown;
use crate::zone::ZoneReader;

/// The maximum length of a request in bytes. A year of keys that roll every month takes 40 kB.
pub const MAX_REQUEST_BYTES: usize = 4 << 20;
/// The maximum length of a response in bytes.
pub const MAX_RESPONSE_BYTES: usize = 32 << 20;
/// The maximum number of bundles of a file.
pub const MAX_BUNDLES: usize = 5000;
/// The maximum number of records of a bundle.
pub const MAX_BUNDLE_RECORDS: usize = 200;

/// The beginning of a header.
const MARK: &str = ";;";
const VERSION: &str = "1.0";
/// The word in place of a time in the last header.
const GENERATED: &str = "generated";
/// The types of a bundle's sets, in the order in which BIND writes them.
pub(super) const TYPES: [RecordType; 3] = [RecordType::DNSKEY, RecordType::CDNSKEY, RecordType::CDS];

/// The two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BundleFile {
    Request,
    Response,
}

/// A bundle as it stands in a file, with a DNSKEY record and without faulty keys and digests.
#[derive(Debug)]
pub(super) struct RawBundle {
    pub(super) inception: u32,
    /// The beginning of the next bundle.
    pub(super) next: Option<u32>,
    pub(super) line: u32,
    pub(super) records: Vec<RawRecord>,
}

#[derive(Debug)]
pub(super) struct RawRecord {
    pub(super) rtype: RecordType,
    pub(super) ttl: u32,
    pub(super) line: u32,
    pub(super) data: Vec<u8>,
}

/// The part of a text below a header.
struct BundleSection {
    header: Header,
    line: u32,
    body: Range<usize>,
}

enum Header {
    Bundle(u32),
    End,
}

impl BundleFile {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Request => "KeySigningRequest",
            Self::Response => "SignedKeyResponse",
        }
    }

    fn max_bytes(self) -> usize {
        match self {
            Self::Request => MAX_REQUEST_BYTES,
            Self::Response => MAX_RESPONSE_BYTES,
        }
    }

    /// Reads the bundles of a file, of which all records are of `zone`. Times rise from bundle to bundle.
    pub(super) fn read(self, text: &[u8], zone: DomainName<'_>) -> Result<Vec<RawBundle>, KeyBundleError> {
        if text.len() > self.max_bytes() {
            let fault = KeyBundleFault::Long { found: text.len(), max: self.max_bytes() };
            return Err(KeyBundleError { line: 1, fault });
        }
        let zone = zone.to_lower();
        let mut bundles: Vec<RawBundle> = Vec::new();
        for section in self.sections(text)? {
            let BundleSection { header: Header::Bundle(inception), line, body } = section else { continue };
            let fail = |fault| Err(KeyBundleError { line, fault });
            let is_full = bundles.len() == MAX_BUNDLES;
            match bundles.last_mut() {
                Some(last) if last.inception == inception => {
                    return fail(KeyBundleFault::SameBundle { inception, first: last.line });
                }
                Some(last) if last.inception > inception => {
                    return fail(KeyBundleFault::Order { inception, previous: last.inception });
                }
                _ if is_full => return fail(KeyBundleFault::ManyBundles),
                Some(last) => last.next = Some(inception),
                None => {}
            }
            let records = self.records(&text[body], line, &zone)?;
            if !records.iter().any(|record| record.rtype == RecordType::DNSKEY) {
                return fail(KeyBundleFault::EmptyBundle { inception, rtype: RecordType::DNSKEY });
            }
            bundles.push(RawBundle { inception, next: None, line, records });
        }
        match bundles.is_empty() {
            true => Err(KeyBundleError { line: last_line(text), fault: KeyBundleFault::NoBundle }),
            false => Ok(bundles),
        }
    }

    /// Splits a text at its headers, and checks that nothing stands outside them.
    fn sections(self, text: &[u8]) -> Result<Vec<BundleSection>, KeyBundleError> {
        let mut sections: Vec<BundleSection> = Vec::new();
        let mut start = 0;
        for (line, bytes) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let end = start + bytes.len();
            let trimmed = bytes.trim_ascii();
            let fail = |fault| Err(KeyBundleError { line, fault });
            let is_ended = matches!(sections.last(), Some(BundleSection { header: Header::End, .. }));
            if trimmed.starts_with(MARK.as_bytes()) {
                if is_ended {
                    return fail(KeyBundleFault::AfterEnd);
                }
                let header = self.header(trimmed).map_err(|fault| KeyBundleError { line, fault })?;
                let body = text.len().min(end + 1)..text.len();
                if let Some(last) = sections.last_mut() {
                    last.body.end = start;
                }
                sections.push(BundleSection { header, line, body });
            } else if bytes.starts_with(b"$") {
                return fail(KeyBundleFault::Directive);
            } else if !trimmed.is_empty() && !trimmed.starts_with(b";") {
                match sections.is_empty() {
                    true => return fail(KeyBundleFault::BeforeBundle(self.word())),
                    false if is_ended => return fail(KeyBundleFault::AfterEnd),
                    false => {}
                }
            }
            start = end + 1;
        }
        match sections.last() {
            Some(BundleSection { header: Header::End, .. }) => Ok(sections),
            Some(_) => {
                let fault = KeyBundleFault::NoEnd(self.word());
                Err(KeyBundleError { line: last_line(text), fault })
            }
            None => Err(KeyBundleError { line: last_line(text), fault: KeyBundleFault::NoBundle }),
        }
    }

    /// Parses `;; KeySigningRequest 1.0 20261130204522 (Mon Nov 30 20:45:22 2026)`. Words after the time have no
    /// meaning.
    fn header(self, line: &[u8]) -> Result<Header, KeyBundleFault> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let is_header = words.next() == Some(MARK.as_bytes()) && words.next() == Some(self.word().as_bytes());
        let (Some(version), Some(time)) = (words.next().filter(|_| is_header), words.next()) else {
            return Err(KeyBundleFault::Header { found: shown(line), expected: self.word() });
        };
        if version != VERSION.as_bytes() {
            return Err(KeyBundleFault::Version(shown(version)));
        }
        if time == GENERATED.as_bytes() {
            return Ok(Header::End);
        }
        // A shorter number would be read as seconds since 1970.
        let seconds = Some(time).filter(|time| time.len() == 14).and_then(rdata::parse_time);
        seconds.map(Header::Bundle).ok_or_else(|| KeyBundleFault::Time(shown(time)))
    }

    /// Reads the records of a bundle, whose header stands in `line`.
    fn records(self, text: &[u8], line: u32, zone: &DomainNameBuf) -> Result<Vec<RawRecord>, KeyBundleError> {
        let mut records = ZoneRecords::new();
        let mut include = |_: &str| Err(String::new());
        let mut reader = ZoneReader::new(Some(DomainName::ROOT), &mut include);
        reader.read(text, true, &mut records);
        if let Some(fault) = reader.faults().first() {
            let fault_line = line.saturating_add(fault.line);
            return Err(KeyBundleError {
                line: fault_line,
                fault: KeyBundleFault::Entry(fault.error.clone()),
            });
        }
        let mut found: Vec<RawRecord> = Vec::new();
        for record in records.iter() {
            let record_line = line.saturating_add(record.line);
            let fail = |fault| Err(KeyBundleError { line: record_line, fault });
            if record.owner != zone.name() {
                let (expected, found) = (zone.clone(), record.owner.to_buf());
                return fail(KeyBundleFault::OtherZone { expected, found });
            }
            let check = self.check(record.rtype, record.data);
            check.map_err(|fault| KeyBundleError { line: record_line, fault })?;
            if found.len() == MAX_BUNDLE_RECORDS {
                return fail(KeyBundleFault::ManyRecords);
            }
            if found.iter().any(|other| other.rtype == record.rtype && other.data == record.data) {
                return fail(KeyBundleFault::Copy(record.rtype));
            }
            let data = record.data.to_vec();
            found.push(RawRecord { rtype: record.rtype, ttl: record.ttl, line: record_line, data });
        }
        Ok(found)
    }

    /// Checks a record without the others of its bundle.
    fn check(self, rtype: RecordType, data: &[u8]) -> Result<(), KeyBundleFault> {
        match (self, rtype) {
            (_, RecordType::DNSKEY) => self.check_key(data),
            (Self::Request, _) => Err(KeyBundleFault::Type { found: rtype, expected: "DNSKEY" }),
            (_, RecordType::CDS) => Ds::parse(data).map(drop).map_err(KeyBundleFault::Ds),
            (_, RecordType::CDNSKEY) => {
                Dnskey::parse(data).map(drop).map_err(|error| KeyBundleFault::Key { tag: 0, error })
            }
            (_, RecordType::RRSIG) => match Rrsig::read(data)?.covered {
                covered if TYPES.contains(&covered) => Ok(()),
                covered => Err(KeyBundleFault::NothingSigned(covered)),
            },
            _ => Err(KeyBundleFault::Type { found: rtype, expected: "DNSKEY, CDNSKEY, CDS or RRSIG" }),
        }
    }

    /// Checks that a DNSKEY can be used, and that a request has zone-signing keys only.
    fn check_key(self, data: &[u8]) -> Result<(), KeyBundleFault> {
        let fail = |tag, error| KeyBundleFault::Key { tag, error };
        let dnskey = Dnskey::parse(data).map_err(|error| fail(0, error))?;
        let (tag, flags) = (dnskey.key_tag(), dnskey.flags);
        dnskey.public_key().map_err(|error| fail(tag, error))?;
        match self {
            Self::Request if flags == ZONE_KEY => Ok(()),
            Self::Request if flags & SECURE_ENTRY_POINT != 0 => {
                Err(KeyBundleFault::KeySigningKey { tag, flags })
            }
            Self::Response if dnskey.is_zone_key() => Ok(()),
            _ => Err(KeyBundleFault::Flags { tag, flags }),
        }
    }

    /// Appends the header of a bundle.
    pub(super) fn write_header(self, inception: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{MARK} {} {VERSION} ", self.word()).as_bytes());
        rdata::write_time(inception, out);
        out.extend_from_slice(b" (");
        rdata::write_date(inception, out);
        out.extend_from_slice(b")\n");
    }

    /// Appends the last header. `program` is the name and version of the program that made the file.
    pub(super) fn write_end(self, now: u32, program: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{MARK} {} {VERSION} {GENERATED} at ", self.word()).as_bytes());
        rdata::write_date(now, out);
        out.extend_from_slice(format!(" by {program}\n").as_bytes());
    }
}

fn last_line(text: &[u8]) -> u32 {
    // unreachable saturation because the length of the text is bounded
    u32::try_from(text.trim_ascii_end().iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
}
