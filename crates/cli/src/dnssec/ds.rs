//! `oarlock dnssec ds`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::Accelerator;
use oarlock_dnssec::{
    DigestType, Dnskey, DnssecAlgorithm, DomainNameBuf, RecordType, ZoneRecord, ZoneRecords, ds_rdata,
};
use oarlock_io::compressed;
use serde::Serialize;

use super::key_files::{KeyFileArgs, KeyFiles, Wanted};
use super::zone_file::{TextArgs, damage_of};
use super::{DnssecError, key_text};
use oarlock_measure::GlobalOptions;
use oarlock_measure::table::count;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

#[derive(Args, Debug)]
#[command(after_help = "Revoked keys and keys that are no zone keys have no DS and are named on stderr.\n\n\
                  Examples: oarlock dnssec ds Kexample.+013+35738.key --digest sha256 --digest sha384\n          \
                  oarlock dnssec ds --zone example. key-at-the-cryptoserver.pem --dnskey\n\n\
                  Exit codes: 0 done, 1 no key has a DS, 2 wrong usage or a line that cannot be read, 3 the machine failed.")]
pub(super) struct DsArgs {
    /// Files with DNSKEY records: `.key` files, or zones, also compressed; `-` is standard input. With --zone, signing keys
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Which digest: sha256, sha384, sha1 or its number; repeatable
    #[arg(long, value_name = "DIGEST", default_value = "sha256")]
    digest: Vec<DigestType>,
    /// Print CDS records, for the zone itself
    #[arg(long, conflicts_with = "dnskey")]
    cds: bool,
    /// Print the DNSKEY records
    #[arg(long)]
    dnskey: bool,
    /// Of keys that are no entry points (flags 256) too
    #[arg(long)]
    all: bool,
    /// The files are signing keys of this zone: BIND's private ones, PEM, or references to keys at a cryptoserver
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// The algorithm of a signing key, where neither its file nor a .key file beside it says which
    #[arg(long, value_name = "ALGORITHM", requires = "zone")]
    algorithm: Option<DnssecAlgorithm>,
    /// The flags of a signing key, where no .key file beside it says which [default: 257]
    #[arg(long, value_name = "FLAGS", requires = "zone")]
    flags: Option<u16>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    keys: KeyFileArgs,
}

/// A key, and where it is.
struct Found {
    path: PathBuf,
    owner: DomainNameBuf,
    ttl: u32,
    data: Vec<u8>,
}

/// A record of a key, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Line {
    file: String,
    owner: String,
    key_tag: u16,
    algorithm: u8,
    flags: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest_type: Option<u8>,
    record: String,
}

pub(super) fn run(global: &GlobalOptions, args: &DsArgs) -> Result<(), DnssecError> {
    let (keys, bad_lines, accelerator) = match &args.zone {
        Some(zone) => {
            let files = args.keys.open()?;
            let keys = signing_keys(args, &files, &super::zone(zone)?)?;
            (keys, 0, files.builder(global).lazy().build()?)
        }
        None => {
            let (keys, bad_lines) = published_keys(args)?;
            (keys, bad_lines, global.builder().lazy().build()?)
        }
    };
    let mut lines = Vec::new();
    for key in &keys {
        of_key(args, &accelerator, key, &mut lines)?;
    }
    print(global, &lines)?;
    match (bad_lines, lines.len()) {
        (0, 0) => Err(DnssecError::No("no key has a DS".into())),
        (0, _) => Ok(()),
        (bad, _) => Err(DnssecError::Usage(format!("{} could not be read", count(bad as u64, "line")))),
    }
}

fn signing_keys(args: &DsArgs, files: &KeyFiles, zone: &DomainNameBuf) -> Result<Vec<Found>, DnssecError> {
    let wanted = Wanted { algorithm: args.algorithm, flags: args.flags };
    let load = |path: &PathBuf| {
        let key = files.load(path, zone.name(), wanted)?;
        Ok(Found { path: key.path, owner: zone.clone(), ttl: key_text::NO_TTL, data: key.dnskey })
    };
    args.files.iter().map(load).collect()
}

/// DNSKEYs of all files, and how many lines could not be read.
fn published_keys(args: &DsArgs) -> Result<(Vec<Found>, usize), DnssecError> {
    let (mut keys, mut bad_lines) = (Vec::new(), 0);
    for path in &args.files {
        let (records, faults) = read(path, args.text)?;
        bad_lines += faults;
        let is_key = |record: &ZoneRecord<'_>| record.rtype == RecordType::DNSKEY;
        keys.extend(records.iter().filter(is_key).map(|record| Found {
            path: path.clone(),
            owner: record.owner.to_buf(),
            ttl: record.ttl,
            data: record.data.to_vec(),
        }));
    }
    Ok((keys, bad_lines))
}

/// A file's records, and how many of its lines are none, which are named on stderr.
fn read(path: &Path, text: TextArgs) -> Result<(ZoneRecords, usize), DnssecError> {
    let unreadable = |error: io::Error| {
        let error = io::Error::new(error.kind(), damage_of(&error));
        DnssecError::Read { path: path.to_owned(), error }
    };
    let mut input = compressed::open(path).map_err(unreadable)?.with_text_limit(text.limit());
    let mut include = key_text::nothing;
    let mut reader = key_text::reader(&mut include);
    let mut records = ZoneRecords::new();
    let mut text = Vec::new();
    loop {
        let taken = (&mut input).take(BLOCK as u64).read_to_end(&mut text).map_err(unreadable)?;
        let used = reader.read(&text, taken == 0, &mut records);
        if taken == 0 {
            break;
        }
        text.drain(..used);
    }
    let (faults, more) = reader.into_faults();
    for fault in &faults {
        eprintln!("oarlock: {}", key_text::fault(path, fault));
    }
    Ok((records, faults.len() + more))
}

fn of_key(
    args: &DsArgs,
    accelerator: &Accelerator,
    key: &Found,
    lines: &mut Vec<Line>,
) -> Result<(), DnssecError> {
    let dnskey = Dnskey::parse(&key.data)?;
    if args.dnskey {
        lines.push(line(key, &dnskey, RecordType::DNSKEY, None, &key.data));
        return Ok(());
    }
    if let Some(reason) = reason_against(args, &dnskey) {
        let (path, tag) = (key.path.display(), dnskey.key_tag());
        eprintln!("oarlock: {path}: key {tag} of {}: {reason}", key.owner);
        return Ok(());
    }
    for digest in &args.digest {
        let data = ds_rdata(accelerator, key.owner.name(), &dnskey, *digest)
            .map_err(|error| DnssecError::Ds { path: key.path.clone(), error })?;
        let rtype = if args.cds { RecordType::CDS } else { RecordType::DS };
        lines.push(line(key, &dnskey, rtype, Some(*digest), &data));
    }
    Ok(())
}

/// Why a key has no DS.
fn reason_against(args: &DsArgs, dnskey: &Dnskey<'_>) -> Option<&'static str> {
    match () {
        () if !dnskey.is_zone_key() => Some("no zone key"),
        () if dnskey.is_revoked() => Some("revoked"),
        () if !dnskey.is_entry_point() && !args.all => Some("no entry point; --all takes it"),
        () => None,
    }
}

fn line(
    key: &Found,
    dnskey: &Dnskey<'_>,
    rtype: RecordType,
    digest: Option<DigestType>,
    data: &[u8],
) -> Line {
    Line {
        file: key.path.display().to_string(),
        owner: key.owner.to_string(),
        key_tag: dnskey.key_tag(),
        algorithm: dnskey.algorithm.0,
        flags: dnskey.flags,
        digest_type: digest.map(|digest| digest.0),
        record: key_text::line(key.owner.name(), key.ttl, rtype, data),
    }
}

fn print(global: &GlobalOptions, lines: &[Line]) -> Result<(), DnssecError> {
    let mut out = std::io::stdout().lock();
    if global.json {
        let text = serde_json::to_string(lines).map_err(std::io::Error::other)?;
        return Ok(writeln!(out, "{text}")?);
    }
    for line in lines {
        writeln!(out, "{}", line.record)?;
    }
    Ok(())
}
