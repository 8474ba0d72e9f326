//! Files with DS records, as dnssec-signzone reads and writes them: `dsset-CHILD.` of the zones below, and
//! `dsset-ZONE.` for the zone above.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use oarlock::Accelerator;
use oarlock_dnssec::sign::ZoneDraft;
use oarlock_dnssec::{
    DigestType, DomainName, DomainNameBuf, LetterCase, MAX_DSSET_BYTES, RecordType, ReplacementSets,
    ZoneRecord, ZoneRecords, read_dsset, write_dsset,
};
use oarlock_files::output::OutputFile;
use oarlock_terminal::table::count;

use super::super::DnssecError;
use super::super::key_directory::zone_in_names;
use super::super::zone_file::read_limited;
use super::parent_records::{digests_of, entry_points};

const PREFIX: &str = "dsset-";
/// The maximum number of unused files whose names are shown.
const SHOWN: usize = 5;

/// The DS records of delegations.
pub(super) struct ChildRecords {
    /// Each child with the time to live of its NS records and the data of its DS records.
    children: Vec<(DomainNameBuf, u32, Vec<Vec<u8>>)>,
}

/// The delegations of a zone that have a file, and the others.
struct Delegations {
    /// The lowest time to live of the NS records of each child with a file.
    with_file: BTreeMap<PathBuf, (DomainNameBuf, u32)>,
    /// The number of delegations with DS records in the zone, and without a file.
    kept: usize,
}

/// Reads the files of the zone's delegations in a directory. Other files there are named on stderr.
///
/// # Errors
/// The directory or a file cannot be read, or a file has a fault.
pub(super) fn read(
    directory: &Path,
    zone: &ZoneRecords,
    apex: DomainName<'_>,
) -> Result<ChildRecords, DnssecError> {
    let files = files(directory)?;
    let found = Delegations::find(zone, apex, &files);
    let mut children = Vec::new();
    for (path, (child, ttl)) in &found.with_file {
        let text = read_limited(path, MAX_DSSET_BYTES)?;
        let ds = read_dsset(&text, child.name());
        let ds = ds.map_err(|error| DnssecError::Dsset { path: path.clone(), error: Box::new(error) })?;
        children.push((child.clone(), *ttl, ds));
    }
    found.tell(directory, apex, &files);
    Ok(ChildRecords { children })
}

impl ChildRecords {
    /// Adds the DS sets, which replace those of the zone.
    pub(super) fn add_to(self, sets: &mut ReplacementSets) {
        for (child, ttl, ds) in self.children {
            sets.add(child.name(), RecordType::DS, ttl, ds);
        }
    }
}

impl Delegations {
    fn find(
        zone: &ZoneRecords,
        apex: DomainName<'_>,
        files: &BTreeMap<PathBuf, Option<DomainNameBuf>>,
    ) -> Self {
        let paths: HashMap<&DomainNameBuf, &PathBuf> =
            files.iter().filter_map(|(path, name)| Some((name.as_ref()?, path))).collect();
        let mut with_file = BTreeMap::<PathBuf, (DomainNameBuf, u32)>::new();
        let is_below = |record: &ZoneRecord<'_>| record.owner != apex && record.owner.is_at_or_below(apex);
        for record in zone.iter().filter(|record| record.rtype == RecordType::NS && is_below(record)) {
            let child = record.owner.to_buf();
            if let Some(path) = paths.get(&child) {
                let entry = with_file.entry((*path).clone()).or_insert((child, record.ttl));
                entry.1 = entry.1.min(record.ttl);
            }
        }
        let mut kept: Vec<DomainName<'_>> = zone
            .iter()
            .filter(|record| record.rtype == RecordType::DS && is_below(record))
            .map(|record| record.owner)
            .filter(|owner| !paths.contains_key(&owner.to_buf()))
            .collect();
        kept.dedup();
        Self { with_file, kept: kept.len() }
    }

    /// Names files without a delegation, and counts delegations whose DS records stay as they are.
    fn tell(&self, directory: &Path, apex: DomainName<'_>, files: &BTreeMap<PathBuf, Option<DomainNameBuf>>) {
        let is_unused = |(path, name): &(&PathBuf, &Option<DomainNameBuf>)| {
            // The file of the zone itself is for its parent.
            !self.with_file.contains_key(*path) && name.as_ref().is_none_or(|name| name.name() != apex)
        };
        let unused: Vec<String> = files
            .iter()
            .filter(is_unused)
            .filter_map(|(path, _)| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let directory = directory.display();
        if !unused.is_empty() {
            let more = if unused.len() > SHOWN { ", ..." } else { "" };
            let number = count(unused.len() as u64, "file");
            let names = unused[..unused.len().min(SHOWN)].join(", ");
            eprintln!("oarlock: {directory}: {number} without a delegation in {apex}: {names}{more}");
        }
        if self.kept > 0 {
            let number = count(self.kept as u64, "delegation");
            eprintln!("oarlock: {directory}: {number} without a file: the DS records in the zone stay");
        }
    }
}

/// Lists the files of a directory with DS records, each with the zone that its name says.
fn files(directory: &Path) -> Result<BTreeMap<PathBuf, Option<DomainNameBuf>>, DnssecError> {
    let unreadable = |error| DnssecError::Read { path: directory.to_owned(), error };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(zone) = name.strip_prefix(PREFIX) {
            let zone = zone_of(zone);
            files.insert(path, zone);
        }
    }
    Ok(files)
}

/// Parses a zone as it stands in the name of a file: with a dot at its end, and `%2F` for other bytes than letters,
/// digits and hyphens. Returns None for other names, which dnssec-signzone does not read either.
fn zone_of(text: &str) -> Option<DomainNameBuf> {
    let mut escaped = String::new();
    let mut rest = text.strip_suffix('.').unwrap_or(text);
    while let Some((before, after)) = rest.split_once('%') {
        let byte = u8::from_str_radix(after.get(..2)?, 16).ok()?;
        escaped.push_str(&format!("{before}\\{byte:03}"));
        rest = &after[2..];
    }
    escaped.push_str(rest);
    escaped.push('.');
    let name = DomainNameBuf::parse(escaped.as_bytes(), DomainName::ROOT, LetterCase::Lower).ok()?;
    // Only one spelling is read, so that a child has one file.
    (zone_in_names(name.name()) == text).then_some(name)
}

/// Writes the file of the zone's DS records for its parent.
///
/// # Errors
/// The file cannot be written, or an engine failed.
pub(super) fn write(
    accelerator: &Accelerator,
    directory: &Path,
    draft: &ZoneDraft,
    digests: &[DigestType],
) -> Result<(), DnssecError> {
    let apex = draft.apex();
    let is_key = |record: &ZoneRecord<'_>| record.rtype == RecordType::DNSKEY && record.owner == apex;
    let dnskeys: Vec<Vec<u8>> =
        draft.records().iter().filter(is_key).map(|record| record.data.to_vec()).collect();
    let mut ds = Vec::new();
    for dnskey in entry_points(dnskeys.iter().map(Vec::as_slice)) {
        ds.extend(digests_of(accelerator, apex, dnskey, digests)?);
    }
    let mut text = Vec::new();
    write_dsset(apex, ds.iter().map(Vec::as_slice), &mut text);
    let path = directory.join(format!("{PREFIX}{}", zone_in_names(apex)));
    let mut file = OutputFile::open(&path, false)?;
    file.write(&text)?;
    file.sync()?;
    Ok(file.name()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_those_of_bind() {
        let zone = |text: &str| zone_of(text).map(|zone| zone.to_string());
        assert_eq!(zone("sub.example."), Some("sub.example.".into()));
        assert_eq!(zone("a%2Fb.example."), Some("a/b.example.".into()));
        assert_eq!(zone("."), Some(".".into()));
        for other in
            ["sub.example", "Sub.example.", "a%2fb.example.", "a%2.", "a%", "", "a..b.", "a%C3%BC%.", "ä."]
        {
            assert_eq!(zone(other), None, "{other}");
        }
    }
}
