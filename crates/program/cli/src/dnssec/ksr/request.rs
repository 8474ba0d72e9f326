//! `oarlock dnssec ksr request`.

use std::path::PathBuf;

use clap::Args;
use oarlock_dnssec::Dnskey;
use oarlock_dnssec::ksr::{KeySigningRequest, TimedDnskey};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::super::times::{KeyClock, date};
use super::super::{DnssecError, key_directory, zone};
use super::{program, seconds, write};
use crate::time::TimePoint;

#[derive(Args, Debug)]
#[command(
    after_help = "Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, or offsets from now such as +90d.\n\n\
                  Example: oarlock dnssec ksr request example.com --keys zsks --until +90d --out example.ksr\n\n\
                  Exit codes: 0 done, 2 wrong usage or input."
)]
pub(super) struct KsrRequestArgs {
    /// Name of the zone, such as example.com
    zone: String,
    /// Directory of the zone-signing keys, named as BIND names them. The times in their files decide when each is in
    /// the zone. Key-signing keys in it are left out
    #[arg(long, value_name = "DIRECTORY")]
    keys: PathBuf,
    /// Beginning of the request [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<TimePoint>,
    /// End of the request
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: TimePoint,
    /// Time to live of the DNSKEY records in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(0..1 << 31))]
    ttl: u32,
    /// File for the request
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

/// The request, as `--json` prints it.
#[derive(Debug, Serialize)]
struct RequestSummary {
    zone: String,
    from: String,
    until: String,
    bundles: usize,
}

pub(super) fn run(global: &GlobalOptions, args: &KsrRequestArgs) -> Result<(), DnssecError> {
    let zone = zone(&args.zone)?;
    let now = KeyClock::new(None).now()?;
    let interval = (args.from.map_or(Ok(now), |time| seconds(time, now))?, seconds(args.until, now)?);
    let keys = key_directory::read(&args.keys, zone.name())?;
    let is_zone_signing =
        |key: &TimedDnskey| Dnskey::parse(&key.dnskey).is_ok_and(|dnskey| !dnskey.is_entry_point());
    let keys: Vec<TimedDnskey> = keys
        .into_iter()
        .map(|key| TimedDnskey { dnskey: key.dnskey, times: key.times })
        .filter(is_zone_signing)
        .collect();
    let plan = KeySigningRequest::plan(zone.name(), &keys, interval, args.ttl);
    let request = plan.map_err(|error| DnssecError::KsrPlan { path: args.keys.clone(), error })?;
    let mut text = Vec::new();
    request.write(now, &program(), &mut text);
    write(&args.out, &text)?;
    let (from, until) = (date(interval.0), date(interval.1));
    let summary = RequestSummary { zone: zone.to_string(), from, until, bundles: request.bundles().len() };
    if global.json {
        return Ok(print_report(true, &summary, |_| String::new())?);
    }
    let RequestSummary { zone, from, until, bundles } = summary;
    eprintln!("oarlock: {zone} from {from} to {until}: {} to sign", count(bundles as u64, "bundle"));
    Ok(())
}
