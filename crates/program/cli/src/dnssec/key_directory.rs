//! A directory of keys of zones, named as BIND names them: `K<zone>+<algorithm>+<tag>` and an ending.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use oarlock_dnssec::sign::{KeyRole, SignerKey, ZoneSignError};
use oarlock_dnssec::{Dnskey, DomainName, KeyPhase, KeyTimes};

use super::DnssecError;
use super::key_files::{self, SigningKeyError};

/// The endings of files of private keys, or of names of keys elsewhere. Only one may exist of each name.
const PRIVATE: [&str; 2] = ["private", "pem"];
const PUBLIC: &str = "key";
/// The ending of the files in which `named` keeps the states of a key that a dnssec-policy manages.
const STATE: &str = "state";

/// The files of one key of a zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedZoneKey {
    pub(crate) algorithm: u8,
    pub(crate) key_tag: u16,
    /// The files of the private half, or of the key's name elsewhere.
    pub(crate) private: Vec<PathBuf>,
    /// The file of the DNSKEY.
    pub(crate) public: Option<PathBuf>,
    /// The file of a dnssec-policy's states.
    pub(crate) state: Option<PathBuf>,
}

/// A key of a zone in a directory, without its private half.
#[derive(Clone, Debug)]
pub(crate) struct DirectoryKey {
    /// The file of the private half, or of the key's name elsewhere.
    pub(crate) private: PathBuf,
    /// The data of the DNSKEY.
    pub(crate) dnskey: Vec<u8>,
    pub(crate) times: KeyTimes,
}

impl DirectoryKey {
    /// Returns true if this program cannot use the key, and says so on stderr. `reason` says why it need not.
    pub(crate) fn is_skipped(&self, reason: impl fmt::Display) -> bool {
        let used = SignerKey::public(&self.dnskey, KeyRole::Zsk, KeyPhase::Future);
        let fault = used.err().filter(ZoneSignError::is_unsupported);
        if let Some(fault) = &fault {
            eprintln!("oarlock: {}: skipped, because {reason}: {fault}", self.private.display());
        }
        fault.is_some()
    }
}

/// Reads the keys of a zone in a directory, in the order of their names. What other programs may expect to count and
/// does not is told on stderr: a public half alone, and a file of states.
///
/// # Errors
/// The directory or a key cannot be read, files contradict each other, or the directory has no key of the zone.
pub(crate) fn read(directory: &Path, zone: DomainName<'_>) -> Result<Vec<DirectoryKey>, DnssecError> {
    let listed = list(directory, zone)?;
    let keys = listed.iter().filter_map(|key| read_key(key, zone).transpose());
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    if keys.is_empty() {
        return Err(DnssecError::NoZoneKey {
            directory: directory.to_owned(),
            zone: zone.to_buf(),
            pattern: format!("K{}+*.private", zone_in_names(zone)),
        });
    }
    Ok(keys)
}

/// Returns None for a key without a private half.
fn read_key(key: &ListedZoneKey, zone: DomainName<'_>) -> Result<Option<DirectoryKey>, DnssecError> {
    let (public, private) = match (&key.public, &key.private[..]) {
        (public, []) => {
            for path in public.iter().chain(&key.state) {
                eprintln!("oarlock: {}: ignored, because no private key stands beside it", path.display());
            }
            return Ok(None);
        }
        (_, [one, two, ..]) => {
            return Err(key_files::key_fault(one, SigningKeyError::Twice { path: two.clone() }));
        }
        (None, [private]) => return Err(key_files::key_fault(private, SigningKeyError::NoPublicHalf)),
        (Some(public), [private]) => (public, private),
    };
    if let Some(state) = &key.state {
        eprintln!(
            "oarlock: {}: ignored: the states of a dnssec-policy are named's, and the times of {} count",
            state.display(),
            private.display()
        );
    }
    let (dnskey, times) = key_files::read_timed(private, public, zone)?;
    let parsed = Dnskey::parse(&dnskey)?;
    let (found, found_tag) = (parsed.algorithm.number(), parsed.key_tag());
    if (key.algorithm, key.key_tag) != (found, found_tag) {
        return Err(key_files::key_fault(public, SigningKeyError::Named { found, found_tag }));
    }
    Ok(Some(DirectoryKey { private: private.clone(), dnskey, times }))
}

/// Lists the keys of a zone in a directory, in the order of their names.
///
/// # Errors
/// The directory cannot be read.
pub(crate) fn list(directory: &Path, zone: DomainName<'_>) -> Result<Vec<ListedZoneKey>, DnssecError> {
    let start = format!("K{}+", zone_in_names(zone));
    let unreadable = |error| DnssecError::Read { path: directory.to_owned(), error };
    let mut keys = BTreeMap::<(u8, u16), ListedZoneKey>::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((algorithm, key_tag, ending)) = name.and_then(|name| split(name.strip_prefix(&start)?))
        else {
            continue;
        };
        let key = keys.entry((algorithm, key_tag)).or_default();
        (key.algorithm, key.key_tag) = (algorithm, key_tag);
        match ending {
            PUBLIC => key.public = Some(path),
            STATE => key.state = Some(path),
            ending if PRIVATE.contains(&ending) => key.private.push(path),
            _ => {}
        }
    }
    for key in keys.values_mut() {
        key.private.sort();
    }
    Ok(keys.into_values().collect())
}

/// Returns the name of a key's files without their ending.
pub(crate) fn stem(zone: DomainName<'_>, algorithm: u8, key_tag: u16) -> String {
    format!("K{}+{algorithm:03}+{key_tag:05}", zone_in_names(zone))
}

/// Splits `013+12345.key`. The ending is empty if there is none.
fn split(rest: &str) -> Option<(u8, u16, &str)> {
    let (numbers, ending) = rest.split_once('.').unwrap_or((rest, ""));
    let (algorithm, tag) = numbers.split_once('+')?;
    let is_number = |text: &str, len| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(algorithm, 3) || !is_number(tag, 5) {
        return None;
    }
    Some((algorithm.parse().ok()?, tag.parse().ok()?, ending))
}

/// Returns a zone's name as BIND writes it in file names.
pub(crate) fn zone_in_names(zone: DomainName<'_>) -> String {
    let mut text = String::new();
    for label in zone.labels() {
        for &byte in label {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(byte.into()),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text.push('.');
    }
    if text.is_empty() { ".".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::zone;
    use super::*;

    #[test]
    fn file_names_are_those_of_bind() {
        let stem = |text: &str| stem(zone(text).unwrap().name(), 13, 7);
        assert_eq!(stem("Example.COM"), "Kexample.com.+013+00007");
        assert_eq!(stem("."), "K.+013+00007");
        assert_eq!(stem(r"a/b.\000\.x_-."), "Ka%2Fb.%00%2Ex_-.+013+00007");
    }

    #[test]
    fn lists_the_files_of_the_zones_keys() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "Kexample.+013+00042.key",
            "Kexample.+013+00042.private",
            "Kexample.+013+00042.state",
            "Kexample.+008+65535.pem",
            "Kexample.+008+65535.private",
            "Kother.example.+013+00007.key",
            "Kexample.+13+00007.key",
            "Kexample.+013+7.key",
            "Kexample.+013+99999.key",
            "Kexample.+x",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        let rsa = ListedZoneKey {
            algorithm: 8,
            key_tag: 65535,
            private: vec![path("Kexample.+008+65535.pem"), path("Kexample.+008+65535.private")],
            ..ListedZoneKey::default()
        };
        let ec = ListedZoneKey {
            algorithm: 13,
            key_tag: 42,
            private: vec![path("Kexample.+013+00042.private")],
            public: Some(path("Kexample.+013+00042.key")),
            state: Some(path("Kexample.+013+00042.state")),
        };
        assert_eq!(list(folder.path(), zone("example").unwrap().name()).unwrap(), [rsa, ec]);
        let missing = folder.path().join("missing");
        assert!(matches!(list(&missing, zone("example").unwrap().name()), Err(DnssecError::Read { .. })));
    }
}
