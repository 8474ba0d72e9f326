//! The tasks of the bench: zones verified, signed and read.

use std::str::FromStr;

use clap::ValueEnum;
use serde::Serialize;

use super::error::ZoneBenchError;
use super::program::ZoneProgram;

/// Name of the zone.
pub(super) const ORIGIN: &str = "example.";

/// A row of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZoneTask {
    Verify(ZoneKeyKind),
    Sign(ZoneKeyKind),
    Parse,
}

/// The kind of a zone's keys: one signs the keys, the other signs the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ZoneKeyKind {
    /// ECDSA with the curve P-256: algorithm 13
    P256,
    /// RSA with 2048 bits: algorithm 8
    Rsa2048,
    /// Ed25519: algorithm 15
    Ed25519,
}

impl ZoneKeyKind {
    pub(super) const ALL: [Self; 3] = [Self::P256, Self::Rsa2048, Self::Ed25519];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P256 => "p256",
            Self::Rsa2048 => "rsa2048",
            Self::Ed25519 => "ed25519",
        }
    }

    /// As `oarlock dnssec keygen` is asked for it.
    pub(crate) fn algorithm(self) -> &'static str {
        match self {
            Self::P256 => "ECDSAP256SHA256",
            Self::Rsa2048 => "RSASHA256",
            Self::Ed25519 => "ED25519",
        }
    }
}

impl ZoneTask {
    pub(super) fn usual() -> Vec<Self> {
        let verify = ZoneKeyKind::ALL.map(Self::Verify);
        let sign = ZoneKeyKind::ALL.map(Self::Sign);
        verify.into_iter().chain(sign).chain([Self::Parse]).collect()
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Verify(kind) => format!("verify-{}", kind.name()),
            Self::Sign(kind) => format!("sign-{}", kind.name()),
            Self::Parse => "parse".into(),
        }
    }

    /// Returns the kind of keys of the zone that it works on.
    pub(super) fn kind(self) -> ZoneKeyKind {
        match self {
            Self::Verify(kind) | Self::Sign(kind) => kind,
            Self::Parse => ZoneKeyKind::P256,
        }
    }

    /// Returns other programs that do the same, with the files of [`ZoneDirectory`](super::directory::ZoneDirectory).
    pub(super) fn peers(self, keys: &[String]) -> Vec<ZoneProgram> {
        let of = |path: &str, arguments: &[&str]| ZoneProgram::new(path, arguments.iter().copied());
        match self {
            Self::Verify(kind) => {
                let mut peers = vec![
                    of("dnssec-verify", &["-q", "-o", ORIGIN, "signed.zone"]),
                    of("ldns-verify-zone", &["-V", "1", "signed.zone"]),
                    of("kzonecheck", &["-o", ORIGIN, "signed.zone"]),
                ];
                // validns knows RSA only.
                if kind == ZoneKeyKind::Rsa2048 {
                    peers.push(of("validns", &["-z", ORIGIN, "signed.zone"]));
                }
                peers
            }
            Self::Sign(_) => {
                let keys = keys.iter().map(String::as_str);
                let bind = ["-q", "-P", "-x", "-o", ORIGIN, "-f", "peer.zone", "keyed.zone"];
                let ldns = ["-o", ORIGIN, "-f", "peer.zone", "unsigned.zone"];
                vec![
                    ZoneProgram::new("dnssec-signzone", bind.into_iter().chain(keys.clone())),
                    ZoneProgram::new("ldns-signzone", ldns.into_iter().chain(keys)),
                ]
            }
            Self::Parse => vec![
                of("ldns-read-zone", &["signed.zone"]),
                of("named-checkzone", &["-q", "-i", "none", "-k", "ignore", ORIGIN, "signed.zone"]),
            ],
        }
    }

    /// Returns `oarlock` with one of its engines at the same task.
    pub(super) fn oarlock(
        self,
        engine: &str,
        threads: usize,
        keys: &[String],
    ) -> Result<ZoneProgram, ZoneBenchError> {
        let mut arguments =
            vec!["--engines".to_owned(), engine.to_owned(), "--threads".into(), threads.to_string()];
        arguments.push("dnssec".into());
        match self {
            Self::Verify(_) => arguments.extend(["verify", "signed.zone"].map(String::from)),
            Self::Parse => arguments.extend(["verify", "--syntax-only", "signed.zone"].map(String::from)),
            Self::Sign(_) => {
                arguments.extend(["sign", "--origin", ORIGIN, "--out", "own.zone"].map(String::from));
                arguments.extend(keys.iter().flat_map(|key| ["--key".to_owned(), format!("{key}.private")]));
                arguments.push("unsigned.zone".into());
            }
        }
        Ok(ZoneProgram::oarlock(arguments)?.named(engine))
    }
}

impl FromStr for ZoneTask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Self::usual();
        let names = || all.iter().map(|task| task.name()).collect::<Vec<_>>().join(", ");
        all.iter()
            .find(|task| task.name() == text)
            .copied()
            .ok_or_else(|| format!("expected one of {}", names()))
    }
}
