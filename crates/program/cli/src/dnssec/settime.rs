//! `oarlock dnssec settime`.

use std::path::PathBuf;

use clap::Args;
use oarlock_dnssec::{Dnskey, KeyEvent, KeyTimes};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::DnssecError;
use super::new_times::NewTimesArgs;
use super::timed_key::TimedKey;
use super::times::{self, KeyClock, TimesLine, date};
use crate::key_path::key_path;

#[derive(Args, Debug)]
#[command(
    after_help = "Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, now, offsets from now such as +30d and -1h, or none.\n\
                  Without times, those of the key are printed.\n\n\
                  Examples: oarlock dnssec settime keys/Kexample.com.+013+12345\n          \
                  oarlock dnssec settime keys/Kexample.com.+013+12345 --inactive +30d --delete +60d\n          \
                  oarlock dnssec settime keys/Kexample.com.+013+12345 --delete none\n\n\
                  Exit codes: 0 done, 2 wrong usage or input."
)]
pub(super) struct SetTimeArgs {
    /// Key: its .private or .key file, or their name without the ending
    #[arg(value_name = "KEY", value_parser = key_path())]
    key: PathBuf,
    #[command(flatten)]
    times: NewTimesArgs,
}

/// The times of a key, as `--json` prints them.
#[derive(Debug, Serialize)]
struct KeyTimesReport {
    /// The file in which the times count.
    file: PathBuf,
    zone: String,
    algorithm: u8,
    key_tag: u16,
    flags: u16,
    /// The state of the key now.
    phase: String,
    times: TimesLine,
}

pub(super) fn run(global: &GlobalOptions, args: &SetTimeArgs) -> Result<(), DnssecError> {
    let now = KeyClock::new(None).now()?;
    let key = TimedKey::read(&args.key)?;
    let mut times = key.times;
    if !args.times.is_empty() {
        args.times.apply(&mut times, now)?;
        key.write(&times)?;
    }
    times::warn(key.timed_file(), &times);
    let dnskey = Dnskey::parse(&key.dnskey)?;
    let report = KeyTimesReport {
        file: key.timed_file().to_owned(),
        zone: key.zone.to_string(),
        algorithm: dnskey.algorithm.number(),
        key_tag: dnskey.key_tag(),
        flags: dnskey.flags,
        phase: times.phase(now).to_string(),
        times: TimesLine::new(&times),
    };
    Ok(print_report(global.json, &report, |_| text(&report, &times))?)
}

fn text(report: &KeyTimesReport, times: &KeyTimes) -> String {
    let KeyTimesReport { file, zone, algorithm, key_tag, flags, phase, .. } = report;
    let file = file.display();
    let mut text =
        format!("{file}: key {key_tag} of {zone}, algorithm {algorithm}, flags {flags}: {phase}\n");
    for event in KeyEvent::ALL {
        let time = times.get(event).map_or_else(|| "none".into(), date);
        text += &format!("{:<12} {time}\n", format!("{event}:"));
    }
    text
}
