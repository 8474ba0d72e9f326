//! The signing keys, their roles and their times.

use std::fmt;
use std::path::{Path, PathBuf};

use oarlock_dnssec::sign::{KeyRole, SignerKey, ZoneSignError};
use oarlock_dnssec::{
    Dnskey, DnssecAlgorithm, DomainName, KeyEvent, KeyPhase, KeyTimes, REVOKE, RecordType, ReplacementSets,
    ZoneRecords,
};

use super::super::DnssecError;
use super::super::key_directory::{self, DirectoryKey};
use super::super::key_files::{KEY_SIGNING, KeyFiles, WantedKey, ZONE_SIGNING, ZoneSigningKey};
use super::super::times::{KeyClock, date};
use super::args::ZoneKeyArgs;
use super::parent_records::{KeyAtParent, ParentWish};

/// The reason why a key that was named does not sign now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyObstacle {
    event: KeyEvent,
    /// The time of the event; None if the key has times, but not this one.
    time: Option<u32>,
    now: u32,
}

/// A key that was loaded, with its file or URI.
pub(super) struct LoadedKey {
    pub(super) path: PathBuf,
    pub(super) signer: SignerKey,
}

/// The keys of a zone that a directory holds.
pub(super) struct DirectoryKeys {
    keys: Vec<PhasedKey>,
    clock: KeyClock,
}

struct PhasedKey {
    key: DirectoryKey,
    phase: KeyPhase,
    /// True for a key that cannot be used here, and need not be now.
    is_skipped: bool,
}

impl DirectoryKeys {
    /// Reads the directory that the arguments name; without one, there are no keys. With a signed key response, only
    /// the keys that sign are needed.
    pub(super) fn read(
        args: &ZoneKeyArgs,
        zone: DomainName<'_>,
        clock: KeyClock,
        has_response: bool,
    ) -> Result<Self, DnssecError> {
        let read = |directory: &PathBuf| key_directory::read(directory, zone);
        let keys = args.directory.as_ref().map(read).transpose()?.unwrap_or_default();
        let keys = keys.into_iter().map(|key| PhasedKey::new(key, clock, has_response));
        Ok(Self { keys: keys.collect::<Result<_, _>>()?, clock })
    }

    /// Returns true if there are no keys.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns what the parent zone should know of each key that may sign the zone's keys, by the times of the keys.
    pub(super) fn at_parent(&self) -> Result<Vec<KeyAtParent>, DnssecError> {
        self.keys.iter().map(|key| key_at_parent(&key.key, key.phase, self.clock)).collect()
    }

    /// Returns the files of the keys that sign now. The private halves of others are not needed, and may be offline.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.keys.iter().filter(|key| key.phase.signs()).map(|key| &key.key.private)
    }

    fn load(
        &self,
        args: &ZoneKeyArgs,
        files: &KeyFiles,
        zone: DomainName<'_>,
    ) -> Result<Vec<LoadedKey>, DnssecError> {
        let used = self.keys.iter().filter(|key| !key.is_skipped);
        used.map(|PhasedKey { key, phase, .. }| directory_key(key, *phase, args, files, zone)).collect()
    }

    /// Takes the DNSKEY records of skipped keys out of the zone, as those of other keys whose time is not now.
    pub(super) fn withdraw(&self, zone: &ZoneRecords, apex: DomainName<'_>, sets: &mut ReplacementSets) {
        let skipped = self.keys.iter().filter(|key| key.is_skipped);
        let skipped: Vec<_> = skipped.filter_map(|key| Dnskey::parse(&key.key.dnskey).ok()).collect();
        let is_skipped = |data: &[u8]| {
            Dnskey::parse(data).is_ok_and(|found| skipped.iter().any(|key| key.has_same_key(&found)))
        };
        let is_key = |rtype, owner| rtype == RecordType::DNSKEY && owner == apex;
        let keys = || zone.iter().filter(|record| is_key(record.rtype, record.owner));
        let kept = || keys().filter(|record| !is_skipped(record.data));
        if kept().count() < keys().count() {
            let ttl = keys().map(|record| record.ttl).min().unwrap_or(0);
            sets.add(apex, RecordType::DNSKEY, ttl, kept().map(|record| record.data.to_vec()).collect());
        }
    }
}

impl PhasedKey {
    fn new(key: DirectoryKey, clock: KeyClock, has_response: bool) -> Result<Self, DnssecError> {
        let phase = clock.phase(&key.times)?;
        let is_needed = phase.signs() || phase.is_published() && !has_response;
        let is_skipped = !is_needed && key.is_skipped(format_args!("the key is {phase}"));
        Ok(Self { key, phase, is_skipped })
    }
}

fn key_at_parent(key: &DirectoryKey, phase: KeyPhase, clock: KeyClock) -> Result<KeyAtParent, DnssecError> {
    let has_times =
        [KeyEvent::SyncPublish, KeyEvent::SyncDelete].iter().any(|event| key.times.get(*event).is_some());
    let has_come = |event| match has_times {
        true => Ok::<_, DnssecError>(key.times.has_come(event, clock.now()?)),
        false => Ok(false),
    };
    let wish = match phase {
        KeyPhase::Removed => ParentWish::Unknown,
        _ if has_come(KeyEvent::SyncDelete)? => ParentWish::Unknown,
        // A DS record of a key that is not in the zone, or revoked, would verify nothing.
        KeyPhase::Published | KeyPhase::Active | KeyPhase::Inactive if has_come(KeyEvent::SyncPublish)? => {
            ParentWish::Known
        }
        _ => ParentWish::Unstated,
    };
    Ok(KeyAtParent { dnskey: key.dnskey.clone(), wish })
}

fn directory_key(
    key: &DirectoryKey,
    phase: KeyPhase,
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: DomainName<'_>,
) -> Result<LoadedKey, DnssecError> {
    let path = key.private.clone();
    let role = role_by_flags(Dnskey::parse(&key.dnskey)?.is_entry_point());
    let fail = |error| sign_fault(&key.private, error);
    if !phase.signs() {
        let signer = SignerKey::public(&key.dnskey, role, phase).map_err(fail)?;
        return Ok(LoadedKey { path, signer });
    }
    let loaded = files.load(&key.private, zone, WantedKey { algorithm: args.algorithm, flags: None })?;
    let flags = if phase == KeyPhase::Revoked { loaded.flags | REVOKE } else { loaded.flags };
    let signer = SignerKey::new(loaded.key, role, flags, loaded.algorithm).map_err(fail)?;
    Ok(LoadedKey { path, signer: signer.with_phase(phase) })
}

/// Loads all keys that the arguments name, and those of the directory.
pub(super) fn load(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: DomainName<'_>,
    directory: &DirectoryKeys,
) -> Result<Vec<LoadedKey>, DnssecError> {
    let clock = directory.clock;
    let with = |paths: &'_ [PathBuf], role: Option<KeyRole>| {
        let key = |path: &PathBuf| key(args, files, zone, path, role, clock);
        paths.iter().map(key).collect::<Result<Vec<_>, _>>()
    };
    let groups = [
        with(&args.keys, None)?,
        with(&args.ksks, Some(KeyRole::Ksk))?,
        with(&args.zsks, Some(KeyRole::Zsk))?,
        with(&args.csks, Some(KeyRole::Csk))?,
        directory.load(args, files, zone)?,
    ];
    Ok(groups.into_iter().flatten().collect())
}

/// Names the files of two keys that an error says to be the same, or to have the same tag.
pub(super) fn name_files(
    error: ZoneSignError,
    zone: &Path,
    keys: &[(PathBuf, u16, DnssecAlgorithm)],
) -> DnssecError {
    let (ZoneSignError::SameKey { tag, algorithm } | ZoneSignError::SameTag { tag, algorithm }) = error
    else {
        return sign_fault(zone, error);
    };
    let mut named = keys.iter().filter(|key| (key.1, key.2) == (tag, algorithm)).map(|key| key.0.clone());
    match (named.next(), named.next()) {
        (Some(first), Some(second)) => DnssecError::SameTag { first, second, error: Box::new(error) },
        _ => sign_fault(zone, error),
    }
}

fn key(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: DomainName<'_>,
    path: &Path,
    role: Option<KeyRole>,
    clock: KeyClock,
) -> Result<LoadedKey, DnssecError> {
    let flags = match role {
        Some(KeyRole::Ksk) => Some(KEY_SIGNING),
        Some(KeyRole::Zsk) => Some(ZONE_SIGNING),
        // A key that signs everything may have either flags, so its file decides.
        Some(KeyRole::Csk) | None => None,
    };
    let key = files.load(path, zone, WantedKey { algorithm: args.algorithm, flags })?;
    if !args.ignore_key_times {
        check_times(&key, clock)?;
    }
    let role = role.unwrap_or_else(|| role_by_flags(key.is_key_signing()));
    let signer = SignerKey::new(key.key, role, key.flags, key.algorithm);
    Ok(LoadedKey { path: key.path, signer: signer.map_err(|error| sign_fault(path, error))? })
}

/// Rejects a key that does not sign at the time, although its files name it.
fn check_times(key: &ZoneSigningKey, clock: KeyClock) -> Result<(), DnssecError> {
    if key.times.is_empty() {
        return Ok(());
    }
    match KeyObstacle::find(&key.times, clock.now()?) {
        None => Ok(()),
        Some(obstacle) => Err(DnssecError::KeyTime { path: key.path.clone(), obstacle }),
    }
}

impl KeyObstacle {
    fn find(times: &KeyTimes, now: u32) -> Option<Self> {
        let is_set = |event: &KeyEvent| times.get(*event).is_some();
        let mut ends = [KeyEvent::Delete, KeyEvent::Inactive, KeyEvent::Revoke].into_iter();
        let event = match ends.find(|event| times.has_come(*event, now)) {
            Some(event) => event,
            None if times.has_come(KeyEvent::Activate, now) => return None,
            // A key whose files state only when it was made, as `dnssec-keygen -G` makes it, is used by its name.
            None if ![KeyEvent::Publish, KeyEvent::Activate].iter().any(is_set) => return None,
            None => KeyEvent::Activate,
        };
        Some(Self { event, time: times.get(event), now })
    }
}

impl fmt::Display for KeyObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (event, now) = (self.event, date(self.now));
        match (event, self.time) {
            (_, None) => write!(f, "the key has no time of {event}, so it does not sign yet")?,
            (KeyEvent::Activate, Some(time)) => {
                write!(f, "the key does not sign before {event} {}, and now is {now}", date(time))?;
            }
            (_, Some(time)) => {
                write!(f, "the key does not sign any more since {event} {}, and now is {now}", date(time))?;
            }
        }
        f.write_str(
            ": expected a key that is active, a change with `oarlock dnssec settime`, or --ignore-key-times",
        )
    }
}

fn role_by_flags(is_key_signing: bool) -> KeyRole {
    if is_key_signing { KeyRole::Ksk } else { KeyRole::Zsk }
}

fn sign_fault(path: &Path, error: ZoneSignError) -> DnssecError {
    DnssecError::Sign { path: path.to_path_buf(), error: Box::new(error) }
}
