//! Records in canonical order, grouped by name and by type, each set with the signatures that cover it. RFC 4034 6.1
//! and 6.3.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use crate::name::DomainName;
use crate::records::{OwnerId, ZoneRecords};
use crate::rtype::RecordType;

/// The record sets (RRsets) of a zone in canonical order.
pub struct RecordSets<'z> {
    records: &'z ZoneRecords,
    /// The records without duplicates, in canonical order. Within a name, the signatures of a type follow its
    /// records.
    order: Vec<u32>,
    sets: Vec<SetRow>,
    names: Vec<NameRow>,
    /// The records that repeat another one.
    duplicates: Vec<u32>,
}

#[derive(Clone, Copy)]
struct SetRow {
    /// The start of the set's records and the start of its signatures in the order. The next set begins at the end of
    /// the signatures.
    first: u32,
    signatures: u32,
    rtype: RecordType,
}

#[derive(Clone, Copy)]
struct NameRow {
    owner: OwnerId,
    first_set: u32,
}

/// All records of one name and type, and the signatures that cover the type.
#[derive(Clone, Copy)]
pub struct RecordSet<'z> {
    /// The records of the zone.
    zone: &'z ZoneRecords,
    /// The owner of the set.
    pub owner: DomainName<'z>,
    /// The type of the set.
    pub rtype: RecordType,
    /// The indices of the records, in canonical order of their data; empty if there are signatures only.
    pub records: &'z [u32],
    /// The indices of the RRSIG records that cover the type.
    pub signatures: &'z [u32],
}

impl<'z> RecordSets<'z> {
    /// Groups the records of a zone. It sorts the names unless they are in order already.
    #[must_use]
    pub fn new(records: &'z ZoneRecords) -> Self {
        let mut sets = Self {
            records,
            order: Vec::with_capacity(records.len()),
            sets: Vec::with_capacity(records.len() / 2 + 1),
            names: Vec::new(),
            duplicates: Vec::new(),
        };
        let runs = sorted_runs(records);
        let mut rows = Vec::new();
        for same in runs.chunk_by(|one, two| records.owner(one.owner) == records.owner(two.owner)) {
            rows.clear();
            rows.extend(same.iter().flat_map(|run| run.rows.clone()));
            sets.add_name(same[0].owner, &mut rows);
        }
        sets.sets.shrink_to_fit();
        sets
    }

    /// Returns the grouped records.
    #[must_use]
    pub fn records(&self) -> &'z ZoneRecords {
        self.records
    }

    /// Returns the number of names.
    #[must_use]
    pub fn name_count(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns true if there are no sets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns the name at `index` in canonical order.
    ///
    /// # Panics
    /// If `index` is not below [`name_count`](Self::name_count).
    #[must_use]
    pub fn name(&self, index: usize) -> DomainName<'z> {
        self.records.owner(self.names[index].owner)
    }

    /// Finds the index of a name in canonical order. The name must be in lower case.
    ///
    /// # Errors
    /// The index at which an absent name would be inserted.
    pub fn find(&self, name: DomainName<'_>) -> Result<usize, usize> {
        self.names.binary_search_by(|row| canonical_cmp(self.records.owner(row.owner), name))
    }

    /// Returns the indices of the sets of the name at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`name_count`](Self::name_count).
    #[must_use]
    pub(crate) fn sets_of(&self, index: usize) -> Range<usize> {
        let end = self.names.get(index + 1).map_or(self.sets.len(), |next| next.first_set as usize);
        self.names[index].first_set as usize..end
    }

    /// Returns the sets of the name at `index`, by type.
    ///
    /// # Panics
    /// If `index` is not below [`name_count`](Self::name_count).
    pub fn of_name(&self, index: usize) -> impl ExactSizeIterator<Item = RecordSet<'_>> + Clone {
        let owner = self.name(index);
        self.sets_of(index).map(move |set| self.set(owner, set))
    }

    /// Returns the set of a type of the name at `index`, if it has records.
    ///
    /// # Panics
    /// If `index` is not below [`name_count`](Self::name_count).
    #[must_use]
    pub fn of_type(&self, index: usize, rtype: RecordType) -> Option<RecordSet<'_>> {
        self.of_name(index).find(|set| set.rtype == rtype && !set.records.is_empty())
    }

    /// Returns the records that repeat another record, in the order of the zone's names.
    #[must_use]
    pub fn duplicates(&self) -> &[u32] {
        &self.duplicates
    }

    fn set(&self, owner: DomainName<'z>, index: usize) -> RecordSet<'_> {
        let row = self.sets[index];
        let end = self.sets.get(index + 1).map_or(self.order.len(), |next| next.first as usize);
        let (first, signatures) = (row.first as usize, row.signatures as usize);
        RecordSet {
            zone: self.records,
            owner,
            rtype: row.rtype,
            // Records and signatures of a set are neighbours in the order, so a set needs no memory of its own.
            records: &self.order[first..signatures],
            signatures: &self.order[signatures..end],
        }
    }

    /// Adds the records of a name, in any order.
    fn add_name(&mut self, owner: OwnerId, rows: &mut Vec<u32>) {
        let records = self.records;
        let sort_key = |row: &u32| {
            let record = records.get(*row as usize);
            // The type that a signature covers comes first, so that each set stands beside its signatures. Bytes of
            // data are in canonical order (RFC 4034 6.3), because the data is kept in canonical form.
            (covered(record.rtype, record.data), record.rtype == RecordType::RRSIG, record.data)
        };
        // Equal records keep the order of the file, so that the later one counts as the duplicate.
        if !rows.is_sorted_by(|one, two| sort_key(one) < sort_key(two)) {
            rows.sort_by(|one, two| sort_key(one).cmp(&sort_key(two)));
            let mut last = None;
            rows.retain(|row| {
                let this = sort_key(row);
                let is_copy = last.replace(this) == Some(this);
                if is_copy {
                    self.duplicates.push(*row);
                }
                !is_copy
            });
        }
        self.names.push(NameRow { owner, first_set: self.sets.len() as u32 });
        for set in rows.chunk_by(|one, two| sort_key(one).0 == sort_key(two).0) {
            let first = self.order.len() as u32;
            // Signatures follow the records, so one search finds the boundary.
            let unsigned = set.partition_point(|row| !sort_key(row).1) as u32;
            self.order.extend_from_slice(set);
            self.sets.push(SetRow { first, signatures: first + unsigned, rtype: sort_key(&set[0]).0 });
        }
    }
}

impl<'z> RecordSet<'z> {
    /// Returns the time to live in seconds: that of the first record, or of the first signature if there are no
    /// records.
    #[must_use]
    pub fn ttl(&self) -> u32 {
        let first = self.records.first().or(self.signatures.first());
        first.map_or(0, |row| self.zone.get(*row as usize).ttl)
    }

    /// Returns the data of the records in canonical order.
    pub fn data(&self) -> impl ExactSizeIterator<Item = &'z [u8]> + Clone + use<'z> {
        let zone = self.zone;
        self.records.iter().map(move |row| zone.get(*row as usize).data)
    }

    /// Returns the index of the first record, or of the first signature if there are no records.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.records.first().or(self.signatures.first()).map(|row| *row as usize)
    }
}

/// Returns the type that a signature covers, or the type of another record.
fn covered(rtype: RecordType, data: &[u8]) -> RecordType {
    match (rtype, data) {
        (RecordType::RRSIG, [high, low, ..]) => RecordType(u16::from_be_bytes([*high, *low])),
        _ => rtype,
    }
}

/// Consecutive records of one name.
#[derive(Clone)]
struct NameRun {
    owner: OwnerId,
    rows: Range<u32>,
}

/// Returns the runs of records in canonical order of their names.
fn sorted_runs(records: &ZoneRecords) -> Vec<NameRun> {
    let mut runs: Vec<NameRun> = Vec::new();
    for (row, record) in (0..).zip(records.iter()) {
        match runs.last_mut() {
            Some(run) if run.owner == record.owner_id => run.rows.end = row + 1,
            _ => runs.push(NameRun { owner: record.owner_id, rows: row..row + 1 }),
        }
    }
    let compare =
        |one: &NameRun, two: &NameRun| canonical_cmp(records.owner(one.owner), records.owner(two.owner));
    // Signers write their zones in canonical order, so most zones need no sort.
    if runs.is_sorted_by(|one, two| compare(one, two) != Ordering::Greater) {
        return runs;
    }
    // The labels that all names share would fill the eight bytes of the prefix and distinguish no names.
    let shared = shared_labels(records, &runs);
    // Eight bytes decide most comparisons. Runs of one name keep their order.
    let mut keyed: Vec<(u64, NameRun)> =
        runs.into_iter().map(|run| (prefix(records.owner(run.owner), shared), run)).collect();
    keyed.sort_by(|(one_key, one), (two_key, two)| one_key.cmp(two_key).then_with(|| compare(one, two)));
    keyed.into_iter().map(|(_, run)| run).collect()
}

/// Returns the number of labels from the right that all names share.
fn shared_labels(records: &ZoneRecords, runs: &[NameRun]) -> usize {
    let Some(first) = runs.first().map(|run| records.owner(run.owner)) else { return 0 };
    let mut shared = first;
    for run in runs {
        while !records.owner(run.owner).is_at_or_below(shared) {
            shared = shared.parent().unwrap_or(DomainName::ROOT);
        }
    }
    shared.label_count()
}

/// Returns the first bytes of a name's key after the labels that all names share. The prefixes of sorted names are
/// sorted.
fn prefix(name: DomainName<'_>, shared_labels: usize) -> u64 {
    let count = name.label_count();
    let mut bytes = [0; 8];
    let mut at = 0;
    // The encoding of `DomainName::write_key`, cut off after eight bytes.
    for label in (0..count - shared_labels.min(count)).rev() {
        for &byte in name.labels().nth(label).unwrap_or_default() {
            // Bytes 0 and 1 are escaped, so that the 0 after a label sorts before every byte of a longer label.
            if byte < 2 && at < 8 {
                bytes[at] = 1;
                at += 1;
            }
            if at >= 8 {
                return u64::from_be_bytes(bytes);
            }
            bytes[at] = byte;
            at += 1;
        }
        at += 1;
    }
    u64::from_be_bytes(bytes)
}

/// Compares names in lower case in canonical order, without decoding the labels that their ends share.
pub(crate) fn canonical_cmp(one: DomainName<'_>, two: DomainName<'_>) -> Ordering {
    if one == two {
        return Ordering::Equal;
    }
    let (ones, twos) = (one.label_count(), two.label_count());
    let (mut left, mut right) = (one.last_labels(ones.min(twos)), two.last_labels(ones.min(twos)));
    // RFC 4034 6.1: if all common labels are equal, the shorter name comes first.
    let mut order = ones.cmp(&twos);
    let mut decided = Ordering::Equal;
    // The rightmost pair of different labels decides, and the loop reaches it last.
    while left != right {
        let (Some(label), Some(other)) = (left.labels().next(), right.labels().next()) else { break };
        match label.cmp(other) {
            Ordering::Equal => {}
            unequal => decided = unequal,
        }
        left = left.parent().unwrap_or(DomainName::ROOT);
        right = right.parent().unwrap_or(DomainName::ROOT);
    }
    if decided != Ordering::Equal {
        order = decided;
    }
    order
}

impl fmt::Debug for RecordSets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordSets({} of {} names)", self.sets.len(), self.names.len())
    }
}

impl fmt::Debug for RecordSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, signatures) = (self.records.len(), self.signatures.len());
        write!(f, "RecordSet({} {}: {records} records, {signatures} signatures)", self.owner, self.rtype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{DomainNameBuf, LetterCase};
    use crate::records::ZoneRecordsError;

    fn zone(rows: &[(&str, RecordType, &[u8])]) -> ZoneRecords {
        let mut records = ZoneRecords::new();
        for (name, rtype, data) in rows {
            let name = DomainNameBuf::parse(name.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap();
            let owner = records.add_owner(name.name()).unwrap();
            let add = |out: &mut Vec<u8>| {
                out.extend_from_slice(data);
                Ok::<_, ZoneRecordsError>(())
            };
            records.add(owner, *rtype, 1, 0, add).unwrap();
        }
        records
    }

    #[test]
    fn sets_come_in_canonical_order_from_files_of_any_order() {
        let rows: [(&str, RecordType, &[u8]); 9] = [
            ("example.", RecordType::SOA, b"soa"),
            ("example.", RecordType::RRSIG, b"\0\x06sig"),
            ("a.example.", RecordType::A, b"1111"),
            ("a.example.", RecordType::A, b"2222"),
            ("a.example.", RecordType::RRSIG, b"\0\x01one"),
            ("a.example.", RecordType::RRSIG, b"\0\x01two"),
            ("a.example.", RecordType::TXT, b"\x01x"),
            ("z.a.example.", RecordType::A, b"3333"),
            ("b.example.", RecordType::RRSIG, b"\0\x01lost"),
        ];
        let expected: Vec<(String, RecordType, usize, usize)> = [
            ("example.", RecordType::SOA, 1, 1),
            ("a.example.", RecordType::A, 2, 2),
            ("a.example.", RecordType::TXT, 1, 0),
            ("z.a.example.", RecordType::A, 1, 0),
            ("b.example.", RecordType::A, 0, 1),
        ]
        .map(|(name, rtype, records, signatures)| (name.into(), rtype, records, signatures))
        .into();
        for turn in 0..rows.len() {
            for step in [1, 2, 4, 5] {
                let turned: Vec<_> = (0..9).map(|at| rows[(turn + step * at) % 9]).collect();
                let records = zone(&turned);
                let sets = RecordSets::new(&records);
                let found: Vec<_> = (0..sets.name_count())
                    .flat_map(|name| sets.of_name(name).collect::<Vec<_>>())
                    .map(|set| (set.owner.to_string(), set.rtype, set.records.len(), set.signatures.len()))
                    .collect();
                assert_eq!(found, expected, "{turned:?}");
                assert_eq!(
                    sets.of_type(1, RecordType::A).unwrap().data().collect::<Vec<_>>(),
                    [b"1111", b"2222"]
                );
                assert!(sets.of_type(2, RecordType::A).is_some() && sets.of_type(3, RecordType::A).is_none());
            }
        }
    }

    #[test]
    fn duplicates_are_not_in_the_sets() {
        let records = zone(&[
            ("a.", RecordType::A, b"1"),
            ("b.", RecordType::A, b"1"),
            ("a.", RecordType::A, b"2"),
            ("a.", RecordType::A, b"1"),
            ("a.", RecordType::AAAA, b"1"),
        ]);
        let sets = RecordSets::new(&records);
        assert_eq!(sets.duplicates(), [3]);
        assert_eq!(sets.of_type(0, RecordType::A).unwrap().records, [0, 2]);
    }

    #[test]
    fn finds_names_and_the_indices_of_absent_ones() {
        let records =
            zone(&[("a.", RecordType::A, b""), ("b.a.", RecordType::A, b""), ("c.", RecordType::A, b"")]);
        let sets = RecordSets::new(&records);
        let find = |text: &str| {
            sets.find(
                DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap().name(),
            )
        };
        assert_eq!([find("a."), find("b.a."), find("c.")], [Ok(0), Ok(1), Ok(2)]);
        assert_eq!([find("."), find("a.a."), find("b."), find("d.")], [Err(0), Err(1), Err(2), Err(3)]);
    }

    #[test]
    fn the_quick_order_is_the_canonical_one() {
        let texts = [
            ".",
            "a.",
            "aa.",
            "b.",
            "a.b.",
            "b.a.",
            r"\000.a.",
            r"\001.a.",
            r"\002.a.",
            "abcdefgh.",
            "abcdefghi.",
            "x.abcdefgh.",
            "a.b.c.d.",
            "b.c.d.",
            r"a\000.",
            r"a\.b.",
            "a-b.",
            r"\255.a.",
            "*.a.",
        ];
        let names = texts
            .map(|text| DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap());
        for one in &names {
            for two in &names {
                let order = one.name().canonical_cmp(two.name());
                assert_eq!(canonical_cmp(one.name(), two.name()), order, "{one} {two}");
                let keys = prefix(one.name(), 0).cmp(&prefix(two.name(), 0));
                assert!(keys == order || keys == Ordering::Equal, "{one} {two}");
            }
        }
    }
}
