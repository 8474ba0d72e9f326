//! The records of a zone, in flat buffers: 20 bytes a record, and names and data one behind the other. Both are canonical as they
//! are kept (RFC 4034 6.2): owners in small letters, and names in data where the type says so.

use std::fmt;

use crate::name::DomainName;
use crate::rtype::RecordType;

/// Names and data start at multiples of this, so that 32 bits find them in 32 GiB.
const UNIT: usize = 8;

/// Bytes of a line of a zone that has short ones.
const SHORT_LINE: usize = 40;

/// A zone's records, in the order in which they came.
#[derive(Clone, Default)]
pub struct ZoneRecords {
    rows: Vec<RecordRow>,
    /// Names, each after its length, and data.
    bytes: Vec<u8>,
    /// From which row on records stand in which file.
    files: Vec<(u32, Option<Box<str>>)>,
}

/// An owner's name among the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnerId(u32);

#[derive(Clone, Copy)]
struct RecordRow {
    owner: u32,
    data: u32,
    ttl: u32,
    line: u32,
    rtype: RecordType,
    len: u16,
}

/// One record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ZoneRecord<'a> {
    /// Where its owner's name is kept; records of one owner that follow each other share it.
    pub owner_id: OwnerId,
    /// Whose it is, in small letters.
    pub owner: DomainName<'a>,
    /// Its type. The class is IN.
    pub rtype: RecordType,
    /// Its time to live in seconds.
    pub ttl: u32,
    /// Where it stands in its file, from 1; 0 where it was made here.
    pub line: u32,
    /// Its data in wire format and canonical form.
    pub data: &'a [u8],
}

/// Why there is no room for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneRecordsError {
    /// Data whose length does not fit into 16 bits.
    #[error("{0} bytes of data, of which a record holds 65535")]
    LongData(usize),
    /// Records of more than 32 GiB.
    #[error("more than 32 GiB of records")]
    Full,
}

impl ZoneRecords {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True where there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets memory aside for the records of a text of so many bytes: growing later copies what is there. What is not needed is never
    /// touched, and costs no memory where the system gives pages when they are.
    pub fn reserve_for_text(&mut self, text_bytes: usize) {
        self.rows.reserve(text_bytes / SHORT_LINE);
        self.bytes.reserve(text_bytes / 4 * 3);
    }

    /// Bytes of memory that the records take.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.bytes.capacity() + self.rows.capacity() * size_of::<RecordRow>()
    }

    /// Gives back memory that was set aside for more records.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// Records that are added from now on stand in this file.
    pub fn begin_file(&mut self, name: &str) {
        self.files.push((self.rows.len() as u32, Some(name.into())));
    }

    /// As [`begin_file`](Self::begin_file), and gives the file before, for [`end_included`](Self::end_included).
    pub(crate) fn begin_included(&mut self, name: &str) -> Option<Box<str>> {
        let before = self.files.last().and_then(|(_, name)| name.clone());
        self.begin_file(name);
        before
    }

    /// Records stand in the file before again.
    pub(crate) fn end_included(&mut self, before: Option<Box<str>>) {
        self.files.push((self.rows.len() as u32, before));
    }

    /// The file in which a record stands, where one was named.
    #[must_use]
    pub fn file(&self, index: usize) -> Option<&str> {
        let after = self.files.partition_point(|(first, _)| *first as usize <= index);
        after.checked_sub(1).and_then(|at| self.files[at].1.as_deref())
    }

    /// Adds a name, in small letters, under which records can be added.
    ///
    /// # Errors
    /// [`ZoneRecordsError::Full`].
    pub fn add_owner(&mut self, name: DomainName<'_>) -> Result<OwnerId, ZoneRecordsError> {
        let id = self.place()?;
        // unreachable because a name has at most 255 bytes
        self.bytes.push(name.as_bytes().len() as u8);
        self.bytes.extend_from_slice(name.as_bytes());
        Ok(OwnerId(id))
    }

    /// Adds a record whose data, canonical, is what `write` appends to the bytes it is given. Nothing is added where it fails.
    ///
    /// # Errors
    /// What `write` says, or no room.
    pub fn add<E: From<ZoneRecordsError>>(
        &mut self,
        owner: OwnerId,
        rtype: RecordType,
        ttl: u32,
        line: u32,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.bytes.len();
        let data = self.place()?;
        let start = self.bytes.len();
        let written = write(&mut self.bytes).and_then(|()| {
            let len = self.bytes.len() - start;
            u16::try_from(len).map_err(|_| ZoneRecordsError::LongData(len).into())
        });
        match written {
            Ok(len) => self.rows.push(RecordRow { owner: owner.0, data, ttl, line, rtype, len }),
            Err(_) => self.bytes.truncate(before),
        }
        written.map(drop)
    }

    /// Changes a record's time to live.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
    pub fn set_ttl(&mut self, index: usize, ttl: u32) {
        self.rows[index].ttl = ttl;
    }

    /// The record at `index`.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
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

    /// The records in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ZoneRecord<'_>> {
        (0..self.rows.len()).map(|index| self.get(index))
    }

    /// An owner's name.
    ///
    /// # Panics
    /// Where `id` is of other records.
    #[must_use]
    pub fn owner(&self, id: OwnerId) -> DomainName<'_> {
        let start = id.0 as usize * UNIT;
        let len = usize::from(self.bytes[start]);
        DomainName::trusted(&self.bytes[start + 1..start + 1 + len])
    }

    /// Fills up to where the next name or data starts, and says where in units.
    fn place(&mut self) -> Result<u32, ZoneRecordsError> {
        let start = self.bytes.len().next_multiple_of(UNIT);
        let place = u32::try_from(start / UNIT).map_err(|_| ZoneRecordsError::Full)?;
        // More than is wanted: a copy of fixed length costs nothing.
        self.bytes.extend_from_slice(&[0; UNIT]);
        self.bytes.truncate(start);
        Ok(place)
    }
}

impl fmt::Debug for ZoneRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Records({})", self.rows.len())
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
    fn records_come_back_as_they_went_in() {
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
