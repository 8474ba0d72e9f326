//! Files of BIND with the DS records of a child zone (`dsset-CHILD.`), for the zone above it.

use crate::ds::{Ds, DsError};
use crate::name::{DomainName, DomainNameBuf};
use crate::rdata;
use crate::records::ZoneRecords;
use crate::rtype::RecordType;
use crate::text::EntryError;
use crate::zone::ZoneReader;

/// The maximum length of a file in bytes. A DS record with the longest known digest has about 150 characters.
pub const MAX_DSSET_BYTES: usize = 1 << 16;
/// The maximum number of DS records of a child. A child has one for each digest of each key that signs its keys.
pub const MAX_DSSET_RECORDS: usize = 100;

/// The number of hexadecimal digits of a digest before the first gap, in files of BIND.
const FIRST_DIGITS: usize = 56;

/// An error in a file of DS records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct DssetError {
    /// The line, from 1.
    pub line: u32,
    /// The fault in it.
    pub fault: DssetFault,
}

/// A fault in a file of DS records. The author of the file is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum DssetFault {
    /// The file is too long.
    #[error("{found} bytes: a file of DS records has at most {MAX_DSSET_BYTES}")]
    Long { found: usize },
    /// An entry cannot be read.
    #[error("{0}")]
    Entry(EntryError),
    /// A record belongs to another name.
    #[error("a record of {found}: expected DS records of {expected}")]
    Owner { expected: DomainNameBuf, found: DomainNameBuf },
    /// A record has another type.
    #[error("a record of the type {0}: expected DS records only")]
    Type(RecordType),
    /// The data is not that of a DS record.
    #[error("{0}")]
    Ds(#[from] DsError),
    /// The record identifies no key. RFC 8078 section 4 has this form for CDS records only.
    #[error("a DS record with algorithm {algorithm} and digest type {digest_type}: 0 identifies no key")]
    NoKey { algorithm: u8, digest_type: u8 },
    /// The file has no DS record.
    #[error("the file ends without a DS record")]
    Empty,
    /// The file has too many DS records.
    #[error("more than {MAX_DSSET_RECORDS} DS records")]
    Many,
}

/// Reads the DS records of `child` from the text of its file, and returns their data without repetitions. The file may
/// omit classes and TTLs.
///
/// # Errors
/// The first fault of the file.
pub fn read_dsset(text: &[u8], child: DomainName<'_>) -> Result<Vec<Vec<u8>>, DssetError> {
    let fail = |line, fault| Err(DssetError { line, fault });
    if text.len() > MAX_DSSET_BYTES {
        return fail(1, DssetFault::Long { found: text.len() });
    }
    let child = child.to_lower();
    let records = records(text)?;
    let mut found = Vec::new();
    for record in records.iter() {
        if record.owner != child.name() {
            let fault = DssetFault::Owner { expected: child, found: record.owner.to_buf() };
            return fail(record.line, fault);
        }
        check(record.rtype, record.data).map_err(|fault| DssetError { line: record.line, fault })?;
        if !found.iter().any(|data| data == record.data) {
            found.push(record.data.to_vec());
        }
        if found.len() > MAX_DSSET_RECORDS {
            return fail(record.line, DssetFault::Many);
        }
    }
    match found.is_empty() {
        true => fail(last_line(text), DssetFault::Empty),
        false => Ok(found),
    }
}

fn records(text: &[u8]) -> Result<ZoneRecords, DssetError> {
    let mut records = ZoneRecords::new();
    let mut include = |_: &str| Err("a file of DS records must not contain $INCLUDE".to_owned());
    let mut reader = ZoneReader::new(Some(DomainName::ROOT), &mut include)
        .with_ttl(0)
        .with_max_generated(MAX_DSSET_RECORDS as u32);
    reader.read(text, true, &mut records);
    match reader.faults().first() {
        None => Ok(records),
        Some(fault) => Err(DssetError { line: fault.line, fault: DssetFault::Entry(fault.error.clone()) }),
    }
}

fn check(rtype: RecordType, data: &[u8]) -> Result<(), DssetFault> {
    if rtype != RecordType::DS {
        return Err(DssetFault::Type(rtype));
    }
    let ds = Ds::parse(data)?;
    let (algorithm, digest_type) = (ds.algorithm.number(), ds.digest_type.0);
    match algorithm == 0 || digest_type == 0 {
        true => Err(DssetFault::NoKey { algorithm, digest_type }),
        false => Ok(()),
    }
}

fn last_line(text: &[u8]) -> u32 {
    // unreachable saturation because the length of the text is bounded
    u32::try_from(text.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u32::MAX).max(1)
}

/// Appends DS records as BIND writes them for the parent of `zone`: without TTLs.
pub fn write_dsset<'d>(zone: DomainName<'_>, ds: impl IntoIterator<Item = &'d [u8]>, out: &mut Vec<u8>) {
    for data in ds {
        let start = out.len();
        out.extend_from_slice(zone.to_string().as_bytes());
        out.extend_from_slice(b"\t\tIN DS ");
        rdata::print(RecordType::DS, data, out);
        // The digest is the last word of the data.
        let digest =
            out[start..].iter().rposition(|byte| *byte == b' ').map_or(out.len(), |at| start + at + 1);
        out[digest..].make_ascii_uppercase();
        if out.len() - digest > FIRST_DIGITS {
            out.insert(digest + FIRST_DIGITS, b' ');
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::LetterCase;

    const SHA256: &str = "0AC36F05C809229BA14A9AA4AD0984A40B215EAE5E4D633B22091FF139C0D3A8";

    fn child() -> DomainNameBuf {
        DomainNameBuf::parse(b"sub.example.", DomainName::ROOT, LetterCase::Lower).unwrap()
    }

    fn read(text: &str) -> Result<Vec<Vec<u8>>, DssetError> {
        read_dsset(text.as_bytes(), child().name())
    }

    fn fault(text: &str) -> (u32, String) {
        let error = read(text).unwrap_err();
        (error.line, error.fault.to_string())
    }

    #[test]
    fn reads_what_it_writes_in_the_form_of_bind() {
        let line = format!("SUB.example. IN DS 7536 13 2 {SHA256}\n");
        let found = read(&format!("; a comment\n{line}{line}")).unwrap();
        assert_eq!(found.len(), 1);
        let mut out = Vec::new();
        write_dsset(child().name(), found.iter().map(Vec::as_slice), &mut out);
        let (first, rest) = SHA256.split_at(56);
        assert_eq!(
            String::from_utf8(out.clone()).unwrap(),
            format!("sub.example.\t\tIN DS 7536 13 2 {first} {rest}\n")
        );
        assert_eq!(read_dsset(&out, child().name()), Ok(found));
    }

    #[test]
    fn rejects_each_fault_with_its_line() {
        let good = format!("sub.example. IN DS 7536 13 2 {SHA256}\n");
        let cases: [(String, u32, &str); 13] = [
            (String::new(), 1, "without a DS record"),
            ("; nothing\n;\n".into(), 2, "without a DS record"),
            (format!("{good}other.example. IN DS 7536 13 2 {SHA256}\n"), 2, "a record of other.example."),
            (format!("{good}sub.example. IN A 192.0.2.1\n"), 2, "of the type A: expected DS"),
            (format!("{good}\nsub.example. IN DS 7536 13 2 AABB\n"), 3, "is 2: 32 bytes"),
            ("sub.example. IN DS 1 13 1 AABB\n".into(), 1, "is 2: 20 bytes"),
            ("sub.example. IN DS 1 13 4 AABB\n".into(), 1, "is 2: 48 bytes"),
            ("sub.example. IN DS 0 0 0 00\n".into(), 1, "0 identifies no key"),
            (good.replace(" 13 2 ", " 0 2 "), 1, "0 identifies no key"),
            (good.replace("IN", "CH"), 1, "CH"),
            (format!("{good}$INCLUDE /etc/passwd\n"), 2, "must not contain $INCLUDE"),
            (format!("{good}garbage\n"), 2, "expected"),
            (format!("{good}sub.example. IN DS 7536 (\n"), 2, ""),
        ];
        for (text, line, expected) in &cases {
            let (found, text_of_fault) = fault(text);
            assert_eq!(found, *line, "{text}: {text_of_fault}");
            assert!(text_of_fault.contains(expected), "{text}: {text_of_fault}");
        }
        let many: String = (1..=101).map(|tag| good.replace("7536", &tag.to_string())).collect();
        assert_eq!(fault(&many), (101, DssetFault::Many.to_string()));
        let long = ";".repeat(MAX_DSSET_BYTES + 1);
        assert_eq!(fault(&long).1, DssetFault::Long { found: long.len() }.to_string());
    }

    #[test]
    fn digests_of_unknown_types_are_kept() {
        assert_eq!(read("sub.example. DS 1 13 200 AABB").unwrap(), [[0, 1, 13, 200, 0xaa, 0xbb]]);
    }
}
