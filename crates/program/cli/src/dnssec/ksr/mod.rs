//! `oarlock dnssec ksr`: the key-signing key of a zone stays on a machine that is offline.
//!
//! | module | what it holds |
//! |---|---|
//! | `request` | requests, made on the online machine |
//! | `sign` | responses, made on the offline machine |

mod request;
mod sign;

use std::path::Path;

use clap::{Args, Subcommand};
use oarlock_files::output::OutputFile;
use oarlock_terminal::GlobalOptions;

use super::DnssecError;
use crate::time::TimePoint;
use crate::version::VERSION;

/// Arguments of `oarlock dnssec ksr`.
#[derive(Args, Debug)]
#[command(
    after_help = "On the online machine:  oarlock dnssec ksr request example.com --keys zsks --until +90d --out example.ksr\n\
                  On the offline machine: oarlock dnssec ksr sign example.ksr --zone example.com --ksk Kexample.com.+013+12345 --until +90d --out example.skr\n\
                  On the online machine:  oarlock dnssec sign example.zone --keys zsks --skr example.skr --out example.signed"
)]
pub(super) struct KsrArgs {
    #[command(subcommand)]
    command: KsrCommand,
}

#[derive(Debug, Subcommand)]
enum KsrCommand {
    /// Make a key signing request (KSR): the zone-signing keys of each period, as BIND's dnssec-ksr does
    Request(request::KsrRequestArgs),
    /// Sign a key signing request with key-signing keys, which makes a signed key response (SKR)
    Sign(Box<sign::KsrSignArgs>),
}

pub(super) fn run(global: &GlobalOptions, args: &KsrArgs) -> Result<(), DnssecError> {
    match &args.command {
        KsrCommand::Request(args) => request::run(global, args),
        KsrCommand::Sign(args) => sign::run(global, args),
    }
}

/// Returns the name and version of this program, which the last line of a file states.
fn program() -> String {
    format!("oarlock {VERSION}")
}

/// Returns seconds since 1970, if the present is `now`. Times of bundles do not wrap.
fn seconds(time: TimePoint, now: u32) -> Result<u32, DnssecError> {
    let late = "a time is after 7 February 2106, from when the times of DNSSEC begin anew";
    u32::try_from(time.since_1970(now.into())).map_err(|_| DnssecError::Usage(late.into()))
}

/// Writes a file whole or not at all.
fn write(out: &Path, text: &[u8]) -> Result<(), DnssecError> {
    let mut file = OutputFile::open(out, false)?;
    file.write(text)?;
    file.sync()?;
    Ok(file.name()?)
}
