//! Record sets that replace those of a zone.

use std::collections::HashMap;

use super::{OwnerId, ZoneRecords, ZoneRecordsError};
use crate::name::{DomainName, DomainNameBuf};
use crate::rtype::RecordType;

/// Record sets that replace the sets of the same names and types in a zone. A set without data removes one.
#[derive(Clone, Debug, Default)]
pub struct ReplacementSets {
    by_owner: HashMap<DomainNameBuf, Vec<ReplacementSet>>,
}

#[derive(Clone, Debug)]
struct ReplacementSet {
    rtype: RecordType,
    ttl: u32,
    data: Vec<Vec<u8>>,
}

impl ReplacementSets {
    /// Makes a list that replaces nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if nothing is replaced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_owner.is_empty()
    }

    /// Adds the set of a name and a type, which has no set in this list yet. `data` is in wire format and canonical
    /// form.
    pub fn add(&mut self, owner: DomainName<'_>, rtype: RecordType, ttl: u32, data: Vec<Vec<u8>>) {
        let set = ReplacementSet { rtype, ttl, data };
        self.by_owner.entry(owner.to_lower()).or_default().push(set);
    }
}

impl ZoneRecords {
    /// Returns a copy of the records with other sets. New records stand behind the first record of their name, so that
    /// a zone in canonical order stays in order. Sets of names that the zone lacks are added at the end.
    ///
    /// # Errors
    /// A record that cannot be stored.
    pub fn with_sets(&self, sets: &ReplacementSets) -> Result<Self, ZoneRecordsError> {
        let mut copy =
            Self { rows: Vec::with_capacity(self.rows.len()), bytes: self.bytes.clone(), files: Vec::new() };
        let mut files = self.files.iter().peekable();
        let mut missing = sets.by_owner.clone();
        let mut current: (Option<OwnerId>, &[ReplacementSet]) = (None, &[]);
        for (row, stored) in self.rows.iter().enumerate() {
            while let Some((_, name)) = files.next_if(|(first, _)| *first as usize <= row) {
                copy.files.push((copy.rows.len() as u32, name.clone()));
            }
            let id = OwnerId(stored.owner);
            // The lookup is needed once for each run of records, because consecutive records share the owner.
            if current.0 != Some(id) {
                let owner = self.owner(id).to_buf();
                current = (Some(id), sets.by_owner.get(&owner).map(Vec::as_slice).unwrap_or_default());
                if let Some(new) = missing.remove(&owner) {
                    copy.add_sets(id, &new)?;
                }
            }
            if !current.1.iter().any(|set| set.rtype == stored.rtype) {
                copy.rows.push(*stored);
            }
        }
        for (owner, new) in missing {
            let id = copy.add_owner(owner.name())?;
            copy.add_sets(id, &new)?;
        }
        Ok(copy)
    }

    fn add_sets(&mut self, owner: OwnerId, sets: &[ReplacementSet]) -> Result<(), ZoneRecordsError> {
        for set in sets {
            for data in &set.data {
                self.add(owner, set.rtype, set.ttl, 0, |out| {
                    out.extend_from_slice(data);
                    Ok::<_, ZoneRecordsError>(())
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::{ZoneReader, write_record};

    fn lines(records: &ZoneRecords) -> Vec<String> {
        let mut out = Vec::new();
        records.iter().for_each(|record| write_record(&record, &mut out));
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, crate::LetterCase::Lower).unwrap()
    }

    #[test]
    fn replaces_adds_and_removes_sets_and_keeps_files() {
        let text = b"a. 5 A 192.0.2.1\n$INCLUDE x\na. 5 A 192.0.2.2\na. 5 TXT c\nc. 5 TXT d\n";
        let mut include = |_: &str| Ok(b"b. 5 TXT a\nb. 5 A 192.0.2.9\n".to_vec());
        let mut records = ZoneRecords::new();
        ZoneReader::new(Some(DomainName::ROOT), &mut include).read(text, true, &mut records);
        let mut sets = ReplacementSets::new();
        sets.add(name("A.").name(), RecordType::A, 7, vec![vec![192, 0, 2, 7]]);
        sets.add(name("b.").name(), RecordType::TXT, 7, Vec::new());
        sets.add(name("c.").name(), RecordType::A, 7, vec![vec![192, 0, 2, 8]]);
        sets.add(name("d.").name(), RecordType::A, 7, vec![vec![192, 0, 2, 5]]);
        let changed = records.with_sets(&sets).unwrap();
        let expected = [
            "a. 7 IN A 192.0.2.7",
            "b. 5 IN A 192.0.2.9",
            "a. 5 IN TXT c",
            "c. 7 IN A 192.0.2.8",
            "c. 5 IN TXT d",
            "d. 7 IN A 192.0.2.5",
        ];
        assert_eq!(lines(&changed).iter().map(|line| line.replace('"', "")).collect::<Vec<_>>(), expected);
        let files: Vec<_> = (0..5).map(|row| changed.file(row)).collect();
        assert_eq!(files, [None, Some("x"), None, None, None]);
        assert_eq!(lines(&records.with_sets(&ReplacementSets::new()).unwrap()), lines(&records));
    }
}
