//! The records of a zone in flat buffers: 20 bytes a record, and names and data in one buffer of bytes. Both are kept
//! in canonical form (RFC 4034 6.2): owners in lower case, and names in data in lower case if the type requires that.

mod replacement;

use std::fmt;

pub use self::replacement::ReplacementSets;
use crate::name::DomainName;
use crate::rtype::RecordType;

/// The alignment of names and data, so that offsets of 32 bits reach 32 GiB.
const UNIT: usize = 8;

/// The length of a typical short line of a zone file, in bytes.
const SHORT_LINE: usize = 40;

/// The records of a zone in their order of arrival.
#[derive(Clone, Default)]
pub struct ZoneRecords {
    rows: Vec<StoredRecord>,
    /// Names, each after its length, and data.
    bytes: Vec<u8>,
    /// The first row of each file, and the name of the file.
    files: Vec<(u32, Option<Box<str>>)>,
}

/// The position of an owner's name among the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnerId(u32);

#[derive(Clone, Copy)]
struct StoredRecord {
    owner: u32,
    data: u32,
    ttl: u32,
    line: u32,
    rtype: RecordType,
    len: u16,
}

/// A record of a zone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ZoneRecord<'a> {
    /// The position of the owner's name. Consecutive records of one owner share it.
    pub owner_id: OwnerId,
    /// The owner's name in lower case.
    pub owner: DomainName<'a>,
    /// The type. The class is IN.
    pub rtype: RecordType,
    /// The time to live in seconds.
    pub ttl: u32,
    /// The line in its file, from 1; 0 for a record that is not from a file.
    pub line: u32,
    /// The data in wire format and canonical form.
    pub data: &'a [u8],
}

/// An error of a record that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneRecordsError {
    /// The length of the data exceeds 16 bits.
    #[error("{0} bytes of data: a record has at most 65535")]
    LongData(usize),
    /// The records exceed 32 GiB.
    #[error("more than 32 GiB of records")]
    Full,
}

impl ZoneRecords {
    /// Makes an empty zone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reserves memory for the records of a text of `text_bytes` bytes. Memory that grows later is copied each time.
    pub fn reserve_for_text(&mut self, text_bytes: usize) {
        // Unused memory is never touched, so it costs nothing on systems that allocate pages on first use.
        self.rows.reserve(text_bytes / SHORT_LINE);
        self.bytes.reserve(text_bytes / 4 * 3);
    }

    /// Names the file of the records that are added from now on.
    pub fn begin_file(&mut self, name: &str) {
        self.files.push((self.rows.len() as u32, Some(name.into())));
    }

    /// Acts as [`begin_file`](Self::begin_file), and returns the previous file for
    /// [`end_included`](Self::end_included).
    pub(crate) fn begin_included(&mut self, name: &str) -> Option<Box<str>> {
        let before = self.files.last().and_then(|(_, name)| name.clone());
        self.begin_file(name);
        before
    }

    /// Makes the previous file current again.
    pub(crate) fn end_included(&mut self, before: Option<Box<str>>) {
        self.files.push((self.rows.len() as u32, before));
    }

    /// Returns the file of a record, if it was named.
    #[must_use]
    pub fn file(&self, index: usize) -> Option<&str> {
        let after = self.files.partition_point(|(first, _)| *first as usize <= index);
        after.checked_sub(1).and_then(|at| self.files[at].1.as_deref())
    }

    /// Adds a name in lower case, under which records can be added.
    ///
    /// # Errors
    /// [`ZoneRecordsError::Full`].
    pub fn add_owner(&mut self, name: DomainName<'_>) -> Result<OwnerId, ZoneRecordsError> {
        let id = self.align()?;
        // unreachable because a name has at most 255 bytes
        self.bytes.push(name.as_bytes().len() as u8);
        self.bytes.extend_from_slice(name.as_bytes());
        Ok(OwnerId(id))
    }

    /// Adds a record. `write` appends its canonical data to the buffer. If that fails, nothing is added.
    ///
    /// # Errors
    /// The error of `write`, or a record that cannot be stored.
    pub fn add<E: From<ZoneRecordsError>>(
        &mut self,
        owner: OwnerId,
        rtype: RecordType,
        ttl: u32,
        line: u32,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        // The padding is undone too if `write` fails.
        let before = self.bytes.len();
        let data = self.align()?;
        let start = self.bytes.len();
        let written = write(&mut self.bytes).and_then(|()| {
            let len = self.bytes.len() - start;
            u16::try_from(len).map_err(|_| ZoneRecordsError::LongData(len).into())
        });
        match written {
            Ok(len) => self.rows.push(StoredRecord { owner: owner.0, data, ttl, line, rtype, len }),
            Err(_) => self.bytes.truncate(before),
        }
        written.map(drop)
    }

    /// Changes the time to live of a record.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub(crate) fn set_ttl(&mut self, index: usize, ttl: u32) {
        self.rows[index].ttl = ttl;
    }

    /// Returns the record at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, index: usize) -> ZoneRecord<'_> {
        let row = &self.rows[index];
        let owner_id = OwnerId(row.owner);
        let start = row.data as usize * UNIT;
        ZoneRecord {
            owner_id,
            owner: self.owner(owner_id),
            rtype: row.rtype,
            ttl: row.ttl,
            line: row.line,
            data: &self.bytes[start..start + usize::from(row.len)],
        }
    }

    /// Returns the records in their order of arrival.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ZoneRecord<'_>> {
        (0..self.rows.len()).map(|index| self.get(index))
    }

    /// Returns the name of an owner.
    ///
    /// # Panics
    /// If `id` is of another zone.
    #[must_use]
    pub fn owner(&self, id: OwnerId) -> DomainName<'_> {
        let start = id.0 as usize * UNIT;
        let len = usize::from(self.bytes[start]);
        DomainName::trusted(&self.bytes[start + 1..start + 1 + len])
    }

    /// Pads the buffer to the next multiple of [`UNIT`], and returns the position in units.
    fn align(&mut self) -> Result<u32, ZoneRecordsError> {
        let start = self.bytes.len().next_multiple_of(UNIT);
        let units = u32::try_from(start / UNIT).map_err(|_| ZoneRecordsError::Full)?;
        // A copy of fixed length is faster than one of just the needed length.
        self.bytes.extend_from_slice(&[0; UNIT]);
        self.bytes.truncate(start);
        Ok(units)
    }
}

impl fmt::Debug for ZoneRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZoneRecords({})", self.rows.len())
    }
}

impl fmt::Debug for ZoneRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} ({} bytes, line {})",
            self.owner,
            self.ttl,
            self.rtype,
            self.data.len(),
            self.line
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{DomainNameBuf, LetterCase};

    #[test]
    fn returns_records_as_they_were_added() {
        let mut records = ZoneRecords::new();
        let names = ["a.", "www.example.com."]
            .map(|text| DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap());
        let ids = [0, 1].map(|at: usize| records.add_owner(names[at].name()).unwrap());
        records.begin_file("zone");
        let add = |records: &mut ZoneRecords, owner, data: &[u8]| {
            records.add(owner, RecordType::TXT, 7, 3, |out| {
                out.extend_from_slice(data);
                Ok::<_, ZoneRecordsError>(())
            })
        };
        add(&mut records, ids[0], b"").unwrap();
        add(&mut records, ids[1], &[9; 65_535]).unwrap();
        assert_eq!(add(&mut records, ids[1], &[9; 65_536]), Err(ZoneRecordsError::LongData(65_536)));
        records.begin_file("other");
        add(&mut records, ids[0], b"last").unwrap();
        let all: Vec<_> = records.iter().map(|record| (record.owner.to_buf(), record.data.len())).collect();
        assert_eq!(all, [(names[0].clone(), 0), (names[1].clone(), 65_535), (names[0].clone(), 4)]);
        assert_eq!((records.get(2).line, records.get(2).ttl, records.get(2).data), (3, 7, &b"last"[..]));
        assert_eq!([0, 1, 2].map(|at| records.file(at).unwrap()), ["zone", "zone", "other"]);
    }
}
