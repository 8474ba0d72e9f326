//! The signing keys and their roles.

use std::path::{Path, PathBuf};

use oarlock_dnssec::Name;
use oarlock_dnssec::sign::{Role, SigningKey};

use super::super::DnssecError;
use super::super::key_files::{KEY_SIGNING, KeyFiles, WantedKey, ZONE_SIGNING};
use super::args::ZoneKeyArgs;

/// Loads all keys that the arguments name.
pub(super) fn load(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: Name<'_>,
) -> Result<Vec<SigningKey>, DnssecError> {
    let with = |paths: &'_ [PathBuf], role: Option<Role>| {
        let key = |path: &PathBuf| key(args, files, zone, path, role);
        paths.iter().map(key).collect::<Result<Vec<_>, _>>()
    };
    let groups = [
        with(&args.keys, None)?,
        with(&args.ksks, Some(Role::Ksk))?,
        with(&args.zsks, Some(Role::Zsk))?,
        with(&args.csks, Some(Role::Csk))?,
    ];
    Ok(groups.concat())
}

fn key(
    args: &ZoneKeyArgs,
    files: &KeyFiles,
    zone: Name<'_>,
    path: &Path,
    role: Option<Role>,
) -> Result<SigningKey, DnssecError> {
    let flags = match role {
        Some(Role::Ksk) => Some(KEY_SIGNING),
        Some(Role::Zsk) => Some(ZONE_SIGNING),
        Some(Role::Csk) | None => None,
    };
    let key = files.load(path, zone, WantedKey { algorithm: args.algorithm, flags })?;
    let by_flags = if key.is_key_signing() { Role::Ksk } else { Role::Zsk };
    let signing = SigningKey::new(key.key, role.unwrap_or(by_flags), key.flags, key.algorithm);
    signing.map_err(|error| DnssecError::Sign { path: path.to_path_buf(), error: Box::new(error) })
}
