//! The arguments about the zones above and below, and the changes of the zone that they make.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use oarlock::Accelerator;
use oarlock_dnssec::sign::{KeyRole, SignerKey, ZoneDraft, ZoneSignError};
use oarlock_dnssec::{DigestType, DomainName, ReplacementSets, ZoneRecords};

use super::super::DnssecError;
use super::super::zone_file::ZoneFile;
use super::keys::DirectoryKeys;
use super::parent_records::ParentRecords;
use super::skr::CurrentBundle;
use super::{dssets, parent_records};

#[derive(Debug, Args)]
#[command(next_help_heading = "Parent and child zones")]
pub(super) struct DelegationArgs {
    /// Directory with files dsset-CHILD. of BIND, whose DS records replace those of the zone's delegations
    #[arg(long = "dsset", value_name = "DIRECTORY")]
    children: Option<PathBuf>,
    /// Directory for the file dsset-ZONE. with the DS records of the signed zone, for its parent
    #[arg(long = "write-dsset", value_name = "DIRECTORY")]
    parent: Option<PathBuf>,
    /// CDS and CDNSKEY records, which tell the parent the zone's keys [default: times with --keys, else keep]
    #[arg(long, value_name = "RULE", value_enum, conflicts_with = "skr")]
    cds: Option<CdsRule>,
    /// Digests of CDS records and of --write-dsset: sha256, sha384, sha1 or numbers, separated by commas
    #[arg(long = "digest", value_name = "DIGESTS", value_delimiter = ',', default_value = "sha256")]
    digests: Vec<DigestType>,
    /// Signed key response (SKR): the zone gets the DNSKEY, CDS and CDNSKEY records of its bundle for now, with their
    /// signatures. All keys given are zone-signing keys
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ksks", "csks"])]
    skr: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CdsRule {
    /// Leave those of the zone as they are
    Keep,
    /// Add those of keys after their SyncPublish, remove those of keys after their SyncDelete
    Times,
    /// Use those of all keys that sign the zone's keys
    Keys,
    /// Ask the parent to delete all DS records (RFC 8078)
    Delete,
}

/// The keys of the zone, as the changes need them.
pub(super) struct ZoneKeys<'k> {
    pub(super) signers: &'k [SignerKey],
    pub(super) directory: &'k DirectoryKeys,
}

impl DelegationArgs {
    /// Returns the zone with DS, CDS and CDNSKEY records as the arguments say and without the DNSKEY records of skipped
    /// keys, or None if nothing changes.
    ///
    /// # Errors
    /// A file cannot be read or is faulty, or an engine failed.
    pub(super) fn change(
        &self,
        accelerator: &Accelerator,
        zone: &ZoneFile,
        apex: DomainName<'_>,
        keys: &ZoneKeys<'_>,
    ) -> Result<Option<ZoneRecords>, DnssecError> {
        let mut sets = ReplacementSets::new();
        if let Some(directory) = &self.children {
            dssets::read(directory, &zone.records, apex)?.add_to(&mut sets);
        }
        keys.directory.withdraw(&zone.records, apex, &mut sets);
        if let Some(records) = self.parent_records(accelerator, zone, apex, keys)? {
            records.add_to(apex, &mut sets);
        }
        if sets.is_empty() {
            return Ok(None);
        }
        let full = |error| DnssecError::Sign {
            path: zone.path.clone(),
            error: Box::new(ZoneSignError::Records(error)),
        };
        zone.records.with_sets(&sets).map(Some).map_err(full)
    }

    pub(super) fn has_response(&self) -> bool {
        self.skr.is_some()
    }

    /// Returns the bundle of the signed key response that covers `now`, if there is a response.
    ///
    /// # Errors
    /// The response cannot be used, or a given key signs keys.
    pub(super) fn response(
        &self,
        accelerator: &Accelerator,
        apex: DomainName<'_>,
        now: u32,
        keys: &[SignerKey],
    ) -> Result<Option<CurrentBundle>, DnssecError> {
        let Some(path) = &self.skr else { return Ok(None) };
        let bundle = CurrentBundle::read(accelerator, path, apex, now)?;
        bundle.check_keys(keys)?;
        Ok(Some(bundle))
    }

    /// Writes the file of the DS records for the parent, if it is wanted.
    ///
    /// # Errors
    /// The file cannot be written, or an engine failed.
    pub(super) fn write_dsset(
        &self,
        accelerator: &Accelerator,
        draft: &ZoneDraft,
    ) -> Result<(), DnssecError> {
        match &self.parent {
            Some(directory) => dssets::write(accelerator, directory, draft, &self.digests),
            None => Ok(()),
        }
    }

    fn parent_records(
        &self,
        accelerator: &Accelerator,
        zone: &ZoneFile,
        apex: DomainName<'_>,
        keys: &ZoneKeys<'_>,
    ) -> Result<Option<ParentRecords>, DnssecError> {
        let found = ParentRecords::of_zone(&zone.records, apex);
        let digests = &self.digests;
        match self.rule(keys) {
            CdsRule::Keep => Ok(None),
            CdsRule::Times => {
                let known = keys.directory.at_parent()?;
                found.by_times(accelerator, apex, &known, digests)
            }
            CdsRule::Keys => {
                let known = signers_of_keys(keys.signers);
                let known = parent_records::entry_points(known.map(SignerKey::dnskey));
                found.replaced(accelerator, apex, &known, digests).map(Some)
            }
            CdsRule::Delete => Ok(Some(found.deletion())),
        }
    }

    fn rule(&self, keys: &ZoneKeys<'_>) -> CdsRule {
        match (self.cds, self.has_response() || keys.directory.is_empty()) {
            (Some(rule), _) => rule,
            (None, true) => CdsRule::Keep,
            (None, false) => CdsRule::Times,
        }
    }

    /// # Errors
    /// The times of keys are wanted, but only a directory of keys has them.
    pub(super) fn check(&self, has_directory: bool) -> Result<(), DnssecError> {
        match self.cds == Some(CdsRule::Times) && !has_directory {
            true => Err(DnssecError::Usage("--cds times: expected --keys, whose files have times".into())),
            false => Ok(()),
        }
    }
}

/// Returns the keys that sign the zone's keys now.
fn signers_of_keys(keys: &[SignerKey]) -> impl Iterator<Item = &SignerKey> {
    let signs = |key: &&SignerKey| key.phase().is_published() && key.phase().signs();
    let has_role = |key: &&SignerKey| key.role() != KeyRole::Zsk;
    // Without a key of that role, the others sign the keys too.
    let is_alone = !keys.iter().any(|key| has_role(&key) && signs(&key));
    keys.iter().filter(signs).filter(move |key| is_alone || has_role(key))
}
