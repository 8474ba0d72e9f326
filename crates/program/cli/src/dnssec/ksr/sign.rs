//! `oarlock dnssec ksr sign`.

use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::NonceRule;
use oarlock_dnssec::ksr::{
    KeySigningRequest, KsrSignOptions, MAX_REQUEST_BYTES, OfflineKey, SignedKeyResponse,
};
use oarlock_dnssec::sign::{KeyRole, SignerKey};
use oarlock_dnssec::{DigestType, Dnskey, DomainName, KeyEvent, KeyTimes};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::super::key_directory::{self, DirectoryKey};
use super::super::key_files::{KEY_SIGNING, KeyFileArgs, KeyFiles, WantedKey};
use super::super::times::{KeyClock, date};
use super::super::zone_file::read_limited;
use super::super::{DnssecError, zone};
use super::{program, seconds, write};
use crate::key_path::key_path;
use crate::time::{TimePoint, TimeSpan};

#[derive(Args, Debug)]
#[command(
    after_help = "Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, or offsets from now such as +90d. Durations are numbers with s, m, h, d or w.\n\n\
                  Example: oarlock dnssec ksr sign example.ksr --zone example.com --ksk Kexample.com.+013+12345 --until +90d --out example.skr\n\n\
                  Exit codes: 0 done, 2 wrong usage or input, 3 the machine, the cryptoserver or a device failed."
)]
pub(super) struct KsrSignArgs {
    /// Key signing request (KSR); `-` is standard input
    #[arg(value_name = "FILE")]
    request: PathBuf,
    /// Name of the zone, such as example.com
    #[arg(long, value_name = "NAME")]
    zone: String,
    /// Key-signing key; repeatable. The times in its files decide when it is in the zone and when it signs
    #[arg(long = "ksk", value_name = "FILE", required_unless_present = "directory", value_parser = key_path())]
    ksks: Vec<PathBuf>,
    /// Directory of key-signing keys, named as BIND names them. Zone-signing keys in it are left out
    #[arg(long = "keys", value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    files: KeyFileArgs,
    /// End of the response: the last bundle begins then
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: TimePoint,
    /// Validity of signatures from the beginning of their bundle
    #[arg(long, value_name = "DURATION", default_value = "14d")]
    validity: TimeSpan,
    /// Time before the end of signatures at which a bundle with new ones begins
    #[arg(long, value_name = "DURATION", default_value = "5d")]
    refresh: TimeSpan,
    /// Time by which signatures begin before their bundle, for clocks that are slow
    #[arg(long, value_name = "DURATION", default_value = "1h")]
    before: TimeSpan,
    /// Digests of the CDS records: sha256, sha384, sha1 or numbers, separated by commas
    #[arg(
        long = "digest",
        value_name = "DIGESTS",
        value_delimiter = ',',
        default_value = "sha256",
        conflicts_with = "no_cds"
    )]
    digests: Vec<DigestType>,
    /// Leave out CDS and CDNSKEY records
    #[arg(long)]
    no_cds: bool,
    /// Make the same response from the same input (RFC 6979)
    #[arg(long)]
    deterministic: bool,
    /// File for the response
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

/// The response, as `--json` prints it.
#[derive(Debug, Serialize)]
struct ResponseSummary {
    zone: String,
    key_tags: Vec<u16>,
    bundles: usize,
    signatures: usize,
    /// The beginning of the first bundle.
    from: String,
    /// The end of the last signatures.
    expires: String,
}

pub(super) fn run(global: &GlobalOptions, args: &KsrSignArgs) -> Result<(), DnssecError> {
    let zone = zone(&args.zone)?;
    let text = read_limited(&args.request, MAX_REQUEST_BYTES)?;
    let request = KeySigningRequest::parse(&text, zone.name())
        .map_err(|error| DnssecError::KeyBundle { path: args.request.clone(), error: Box::new(error) })?;
    let now = KeyClock::new(None).now()?;
    let options = args.options(seconds(args.until, now)?);
    let from = request.bundles().first().map_or(now, |bundle| bundle.inception);
    let directory = args.directory_keys(zone.name(), (from, options.until))?;
    let paths = args.ksks.iter().chain(directory.iter().map(|key| &key.private));
    let files = args.files.open(global, paths.clone())?;
    let keys = paths.map(|path| load(&files, path, zone.name())).collect::<Result<Vec<_>, _>>()?;
    let accelerator = files.builder(global).lazy().build()?;
    let signed = request.sign(&accelerator, &keys, &options);
    let signed =
        signed.map_err(|error| DnssecError::Ksr { path: args.request.clone(), error: Box::new(error) })?;
    let mut text = Vec::new();
    signed.write(now, &program(), &mut text);
    write(&args.out, &text)?;
    ResponseSummary::new(&signed, &keys).print(global)
}

impl KsrSignArgs {
    fn options(&self, until: u32) -> KsrSignOptions {
        KsrSignOptions {
            until,
            validity_s: self.validity.seconds(),
            refresh_s: self.refresh.seconds(),
            before_s: self.before.seconds(),
            digests: if self.no_cds { Vec::new() } else { self.digests.clone() },
            has_cdnskey: !self.no_cds,
            nonce: if self.deterministic { NonceRule::Deterministic } else { NonceRule::Hedged },
        }
    }

    /// Reads the key-signing keys of the directory, except those that cannot be used and need not.
    fn directory_keys(
        &self,
        zone: DomainName<'_>,
        interval: (u32, u32),
    ) -> Result<Vec<DirectoryKey>, DnssecError> {
        let Some(directory) = &self.directory else { return Ok(Vec::new()) };
        let mut keys = key_directory::read(directory, zone)?;
        keys.retain(|key| Dnskey::parse(&key.dnskey).is_ok_and(|dnskey| dnskey.is_entry_point()));
        keys.retain(|key| {
            is_published_within(&key.times, interval)
                || !key.is_skipped("the key is not in the zone at the time of the response")
        });
        Ok(keys)
    }
}

fn is_published_within(times: &KeyTimes, (from, until): (u32, u32)) -> bool {
    let events = KeyEvent::ALL.into_iter().filter_map(|event| times.get(event));
    let mut changes = events.filter(|time| (from..=until).contains(time)).chain([from]);
    changes.any(|time| times.phase(time).is_published())
}

/// Loads a key-signing key and its times.
fn load(files: &KeyFiles, path: &Path, zone: DomainName<'_>) -> Result<OfflineKey, DnssecError> {
    let key = files.load(path, zone, WantedKey { algorithm: None, flags: Some(KEY_SIGNING) })?;
    let fail = |error| DnssecError::Sign { path: path.to_owned(), error: Box::new(error) };
    let signer = SignerKey::new(key.key, KeyRole::Ksk, key.flags, key.algorithm).map_err(fail)?;
    Ok(OfflineKey { key: signer, times: key.times })
}

impl ResponseSummary {
    fn new(response: &SignedKeyResponse, keys: &[OfflineKey]) -> Self {
        let bundles = response.bundles();
        let signatures = bundles.iter().flat_map(|bundle| &bundle.sets).map(|set| set.signatures.len()).sum();
        Self {
            zone: response.zone().to_string(),
            key_tags: keys.iter().map(|key| key.key.tag()).collect(),
            bundles: bundles.len(),
            signatures,
            // unreachable defaults because a response has a bundle
            from: date(bundles.first().map_or(0, |bundle| bundle.inception)),
            expires: date(bundles.last().map_or(0, |bundle| bundle.expiration())),
        }
    }

    fn print(&self, global: &GlobalOptions) -> Result<(), DnssecError> {
        if global.json {
            return Ok(print_report(true, self, |_| String::new())?);
        }
        let Self { zone, from, expires, .. } = self;
        let bundles = count(self.bundles as u64, "bundle");
        let signatures = count(self.signatures as u64, "signature");
        eprintln!("oarlock: {zone}: {bundles} from {from}, {signatures}, the last of them until {expires}");
        Ok(())
    }
}
