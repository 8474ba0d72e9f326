//! The directory of the bench and the zones in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::super::zonegen::{self, ZonegenArgs};
use super::error::ZoneBenchError;
use super::program::ZoneProgram;
use super::task::{ORIGIN, ZoneKeyKind};

/// A zone of one kind of key: `unsigned.zone`, `keyed.zone` with its DNSKEY records, `signed.zone`, and the keys
/// beside them.
#[derive(Debug)]
pub(super) struct ZoneDirectory {
    folder: TempDir,
    /// The key files, without their endings.
    pub(super) keys: Vec<String>,
    /// The number of records of the signed zone.
    pub(super) records: u64,
    /// The number of its signatures.
    pub(super) signatures: u64,
}

impl ZoneDirectory {
    /// Makes a zone and its keys, and signs the zone.
    pub(super) fn new(kind: ZoneKeyKind, delegations: u64) -> Result<Self, ZoneBenchError> {
        let folder = tempfile::tempdir()
            .map_err(|error| ZoneBenchError::Write { path: std::env::temp_dir(), error })?;
        let mut directory = Self { folder, keys: Vec::new(), records: 0, signatures: 0 };
        zonegen::make(&ZonegenArgs::new(ORIGIN, delegations, directory.path().join("unsigned.zone")))?;
        for role in ["--ksk", "--zsk"] {
            directory.oarlock(["dnssec", "keygen", ORIGIN, "--algorithm", kind.algorithm(), role])?;
        }
        directory.keys = directory.find_keys()?;
        directory.write_keyed()?;
        let mut sign = vec!["dnssec", "sign", "--origin", ORIGIN, "--out", "signed.zone"];
        let files: Vec<String> = directory.keys.iter().map(|key| format!("{key}.private")).collect();
        sign.extend(files.iter().flat_map(|file| ["--key", file]));
        sign.push("unsigned.zone");
        directory.oarlock(sign)?;
        directory.count()?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn oarlock<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Result<Vec<u8>, ZoneBenchError> {
        Ok(ZoneProgram::oarlock(arguments)?.run(self.path())?.0.stdout)
    }

    fn find_keys(&self) -> Result<Vec<String>, ZoneBenchError> {
        let fail = |error| ZoneBenchError::Read { path: self.path().to_path_buf(), error };
        let mut keys = Vec::new();
        for entry in fs::read_dir(self.path()).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
            keys.extend(name.strip_suffix(".private").map(str::to_owned));
        }
        keys.sort();
        Ok(keys)
    }

    /// Writes the zone with its DNSKEY records, as other signers expect it.
    fn write_keyed(&self) -> Result<(), ZoneBenchError> {
        let read =
            |path: PathBuf| fs::read_to_string(&path).map_err(|error| ZoneBenchError::Read { path, error });
        let mut text = read(self.path().join("unsigned.zone"))?;
        for key in &self.keys {
            text += &read(self.path().join(format!("{key}.key")))?;
        }
        let path = self.path().join("keyed.zone");
        fs::write(&path, text).map_err(|error| ZoneBenchError::Write { path, error })
    }

    /// Counts the records and signatures of the signed zone, which must verify.
    fn count(&mut self) -> Result<(), ZoneBenchError> {
        let answer = self.oarlock(["--json", "dnssec", "verify", "signed.zone"])?;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let number = |name: &str| answer[name].as_u64().unwrap_or_default();
        (self.records, self.signatures) = (number("records"), number("good_signatures"));
        Ok(())
    }
}
