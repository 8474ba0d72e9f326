//! A signed root, and below it for each kind of key a zone with a DS record and one without.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::bench::BenchError;
use crate::bench::directory::write;
use crate::dnssec::bench::{ZoneKeyKind, ZoneProgram};

/// The signed zones in a directory.
pub(super) struct ResolverZones {
    directory: PathBuf,
    /// The names of all zones, the root first.
    pub(super) names: Vec<String>,
    /// The DS record of the root's key.
    pub(super) anchor: String,
}

/// The zone with a DS record, whose answers are validated.
pub(super) fn secure_zone(kind: ZoneKeyKind) -> String {
    format!("{}.", kind.name())
}

/// The zone without a DS record. Its answers have the same records, which nobody can verify.
pub(super) fn insecure_zone(kind: ZoneKeyKind) -> String {
    format!("{}-insecure.", kind.name())
}

/// Returns the name of the file of a signed zone.
pub(super) fn signed_file(zone: &str) -> String {
    format!("{}signed", if zone == ROOT { "root." } else { zone })
}

const ROOT: &str = ".";

/// Records at the apex of every zone.
const APEX: &str = "$TTL 86400\n@ SOA ns. hostmaster. 1 3600 900 86400 300\n@ NS ns.\n";

impl ResolverZones {
    /// Makes and signs the zones in a directory. Each has `names` names.
    pub(super) fn new(directory: PathBuf, kinds: &[ZoneKeyKind], names: u32) -> Result<Self, BenchError> {
        let mut zones = Self { directory, names: vec![ROOT.to_owned()], anchor: String::new() };
        let mut root = format!("$ORIGIN .\n{APEX}ns A 127.0.0.1\n");
        for kind in kinds {
            for zone in [secure_zone(*kind), insecure_zone(*kind)] {
                let ds = zones.sign(&zone, *kind, &zone_text(&zone, names))?;
                // Memory does not fail.
                let _ = writeln!(root, "{zone} NS ns.");
                if zone == secure_zone(*kind) {
                    let _ = writeln!(root, "{ds}");
                }
                zones.names.push(zone);
            }
        }
        zones.anchor = zones.sign(ROOT, ZoneKeyKind::P256, &root)?;
        Ok(zones)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Signs a zone with a new key, and returns the DS record of the key.
    fn sign(&self, zone: &str, kind: ZoneKeyKind, text: &str) -> Result<String, BenchError> {
        let signed = signed_file(zone);
        let unsigned = signed.replace("signed", "zone");
        let keys = signed.replace("signed", "keys");
        write(&self.directory.join(&unsigned), text.as_bytes())?;
        let made = self.run(&[
            "--json",
            "dnssec",
            "keygen",
            zone,
            "--algorithm",
            kind.algorithm(),
            "--out-dir",
            &keys,
        ])?;
        let made: NewZoneKey =
            serde_json::from_slice(&made).map_err(|error| self.unread(&error.to_string()))?;
        let key = made.private_file.display().to_string();
        self.run(&["dnssec", "sign", "--origin", zone, "--key", &key, "--out", &signed, &unsigned])?;
        Ok(made.ds)
    }

    /// Runs `oarlock` in the directory.
    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, BenchError> {
        let program = ZoneProgram::oarlock(arguments.iter().copied())?;
        Ok(program.run(&self.directory)?.0.stdout)
    }

    fn unread(&self, reason: &str) -> BenchError {
        BenchError::File { path: self.directory.clone(), error: std::io::Error::other(reason.to_owned()) }
    }
}

/// The answer of `oarlock dnssec keygen`.
#[derive(Deserialize)]
struct NewZoneKey {
    private_file: PathBuf,
    ds: String,
}

/// Returns the text of a zone with the names `n0`, `n1` and so on, each with an address.
fn zone_text(zone: &str, names: u32) -> String {
    let mut text = format!("$ORIGIN {zone}\n{APEX}");
    for name in 0..names {
        // Memory does not fail.
        let _ = writeln!(text, "n{name} A 192.0.2.1");
    }
    text
}
