//! `oarlock dnssec`: verifies and signs zones, makes keys and zones, and answers whether a machine affords a
//! resolver's load.
//!
//! | module | what it holds |
//! |---|---|
//! | `verify`, `report` | verification of a zone, and its report |
//! | `sign` | signing of a zone |
//! | `zone_file` | zone files, read block by block |
//! | `keygen`, `ds` | keys of zones, and their digests |
//! | `key_files` | keys that sign zones, from files |
//! | `key_directory` | the files of a zone's keys in a directory |
//! | `key_text` | keys and their digests as lines of zone files |
//! | `settime` | times of a key, printed and changed |
//! | `timed_key`, `new_times`, `times` | the files of a key with times; times as arguments; the clock, and output |
//! | `error` | the errors |

mod ds;
mod error;
mod key_directory;
mod key_files;
mod key_text;
mod keygen;
mod ksr;
mod new_times;
mod report;
mod settime;
mod sign;
mod timed_key;
mod times;
mod verify;
mod zone_file;

use clap::{Args, Subcommand};
use oarlock_dnssec::{DnssecAlgorithm, DomainName, DomainNameBuf, LetterCase};
use oarlock_measure::capacity::{self, CapacityArgs};
use oarlock_service_kit::signals::stop_signal;
use oarlock_terminal::GlobalOptions;

pub(crate) use self::error::DnssecError;
use self::verify::ZoneVerifyArgs;
use crate::laboratory::{self, LaboratoryCommand};

/// Arguments of `oarlock dnssec`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: oarlock dnssec keygen example.com --out-dir keys\n          \
                  oarlock dnssec sign example.com.zone --key keys/Kexample.com.+013+12345 --out example.com.signed\n          \
                  oarlock dnssec verify example.com.signed\n          \
                  oarlock dnssec ds keys/Kexample.com.+013+12345.key")]
pub(crate) struct DnssecArgs {
    #[command(subcommand)]
    command: DnssecCommand,
}

#[derive(Debug, Subcommand)]
enum DnssecCommand {
    /// Verify a signed zone file: signatures and their validity, NSEC and NSEC3 chains, delegations, ZONEMD digest
    #[command(
        after_help = "Exit codes: 0 the zone is good, 1 it is bad, 2 wrong usage or input, 3 the machine failed.\n\n\
                            Examples: oarlock dnssec verify example.com.signed\n          \
                            oarlock dnssec verify --anchor Kexample.com.+013+12345.key --no-warnings example.com.signed\n          \
                            oarlock dnssec verify --now 20140714000000 root.zone.gz"
    )]
    Verify(ZoneVerifyArgs),
    /// Sign a zone file: add keys, NSEC or NSEC3 chain, signatures and ZONEMD digest
    Sign(Box<sign::ZoneSignArgs>),
    /// Measure how fast each engine and other programs verify, sign and read zones (laboratory)
    Bench(LaboratoryCommand),
    /// Make a key of a zone, as BIND's dnssec-keygen does
    Keygen(Box<keygen::ZoneKeygenArgs>),
    /// Print or change the times of a key of a zone, as BIND's dnssec-settime does
    Settime(settime::SetTimeArgs),
    /// Print the DS records of the keys of a zone, as BIND's dnssec-dsfromkey does
    Ds(ds::ZoneDsArgs),
    /// Make and sign key signing requests, for key-signing keys that stay offline
    Ksr(ksr::KsrArgs),
    /// Write a synthetic zone of delegations, like a top-level domain, for measurements (laboratory)
    Zonegen(LaboratoryCommand),
    /// Answer whether this machine can verify the signatures of the traffic of a resolver
    #[command(after_help = capacity::AFTER_HELP)]
    Capacity(Box<CapacityArgs>),
}

/// The switch for algorithms that IANA has given no number.
#[derive(Args, Clone, Copy, Debug)]
struct ExperimentalArgs {
    /// Allow ML-DSA-44 and SLH-DSA-SHA2-128S, for tests: records have 254 (PRIVATEOID), and other software takes the
    /// zone for unsigned
    #[arg(long)]
    experimental: bool,
}

impl ExperimentalArgs {
    fn is_given(self) -> bool {
        self.experimental
    }

    /// # Errors
    /// The algorithm needs the switch.
    fn check(self, algorithm: DnssecAlgorithm) -> Result<(), DnssecError> {
        if algorithm.is_experimental() && !self.experimental {
            return Err(DnssecError::Usage(format!(
                "{algorithm} has no number from IANA, so other software takes its zones for unsigned: \
                 expected --experimental, or another algorithm"
            )));
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, a machine or a peer that failed, or an answer that is no.
pub(crate) fn run(global: &GlobalOptions, args: &DnssecArgs) -> Result<(), DnssecError> {
    match &args.command {
        DnssecCommand::Capacity(args) => match capacity::run(global, args, stop_signal)? {
            true => Ok(()),
            false => Err(DnssecError::No("no algorithm is affordable at this load".into())),
        },
        DnssecCommand::Verify(args) => verify::run(global, args),
        DnssecCommand::Sign(args) => sign::run(global, args),
        DnssecCommand::Bench(_) => Err(laboratory::hand_over("bench").into()),
        DnssecCommand::Keygen(args) => keygen::run(global, args),
        DnssecCommand::Settime(args) => settime::run(global, args),
        DnssecCommand::Ds(args) => ds::run(global, args),
        DnssecCommand::Ksr(args) => ksr::run(global, args),
        DnssecCommand::Zonegen(_) => Err(laboratory::hand_over("zonegen").into()),
    }
}

/// Parses the name of a zone into small letters. The dot at its end is optional.
fn origin(text: Option<&str>) -> Result<Option<DomainNameBuf>, DnssecError> {
    text.map(zone).transpose()
}

/// Parses the name of a zone.
fn zone(text: &str) -> Result<DomainNameBuf, DnssecError> {
    let no_name = |error| DnssecError::Usage(format!("`{text}` is not a domain name: {error}"));
    DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).map_err(no_name)
}
