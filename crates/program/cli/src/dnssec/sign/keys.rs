//! The signing keys and their roles.

use std::path::{Path, PathBuf};

use oarlock_dnssec::DomainName;
use oarlock_dnssec::sign::{KeyRole, SignerKey};

use super::super::DnssecError;
use super::super::key_files::{KEY_SIGNING, KeyFiles, WantedKey, ZONE_SIGNING};
use super::args::ZoneKeyArgs;

/// Loads all keys that the arguments name.
pub(super) fn load(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: DomainName<'_>,
) -> Result<Vec<SignerKey>, DnssecError> {
    let with = |paths: &'_ [PathBuf], role: Option<KeyRole>| {
        let key = |path: &PathBuf| key(args, files, zone, path, role);
        paths.iter().map(key).collect::<Result<Vec<_>, _>>()
    };
    let groups = [
        with(&args.keys, None)?,
        with(&args.ksks, Some(KeyRole::Ksk))?,
        with(&args.zsks, Some(KeyRole::Zsk))?,
        with(&args.csks, Some(KeyRole::Csk))?,
    ];
    Ok(groups.concat())
}

fn key(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: DomainName<'_>,
    path: &Path,
    role: Option<KeyRole>,
) -> Result<SignerKey, DnssecError> {
    let flags = match role {
        Some(KeyRole::Ksk) => Some(KEY_SIGNING),
        Some(KeyRole::Zsk) => Some(ZONE_SIGNING),
        // A key that signs everything may have either flags, so its file decides.
        Some(KeyRole::Csk) | None => None,
    };
    let key = files.load(path, zone, WantedKey { algorithm: args.algorithm, flags })?;
    let by_flags = if key.is_key_signing() { KeyRole::Ksk } else { KeyRole::Zsk };
    let signing = SignerKey::new(key.key, role.unwrap_or(by_flags), key.flags, key.algorithm);
    signing.map_err(|error| DnssecError::Sign { path: path.to_path_buf(), error: Box::new(error) })
}
