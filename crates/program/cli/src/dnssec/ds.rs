//! `oarlock dnssec ds`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::Accelerator;
use oarlock_dnssec::{
    DigestType, Dnskey, DnssecAlgorithm, DomainNameBuf, RecordType, ZoneRecord, ZoneRecords, ds_rdata,
};
use oarlock_mail_files::compressed;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::key_files::{KeyFileArgs, KeyFiles, WantedKey};
use super::zone_file::{TextArgs, damage_of};
use super::{DnssecError, key_text};

/// The number of bytes that are read at once.
const BLOCK: usize = 1 << 20;

#[derive(Args, Debug)]
#[command(
    after_help = "Revoked keys and keys without the zone flag have no DS. They are named on stderr.\n\n\
                  Examples: oarlock dnssec ds Kexample.+013+35738.key --digest sha256 --digest sha384\n          \
                  oarlock dnssec ds --zone example. key-at-the-cryptoserver.pem --dnskey\n\n\
                  Exit codes: 0 done, 1 no key has a DS, 2 wrong usage or a line that cannot be read, 3 the machine failed."
)]
pub(super) struct ZoneDsArgs {
    /// Files with DNSKEY records: `.key` files, or zones, also compressed; `-` is standard input. With --zone:
    /// signing keys
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Digest: sha256, sha384, sha1 or a number; repeatable
    #[arg(long, value_name = "DIGEST", default_value = "sha256")]
    digest: Vec<DigestType>,
    /// Print CDS records, which the zone itself publishes
    #[arg(long, conflicts_with = "dnskey")]
    cds: bool,
    /// Print the DNSKEY records
    #[arg(long)]
    dnskey: bool,
    /// Include keys that are not entry points (flags 256)
    #[arg(long)]
    all: bool,
    /// Read the files as signing keys of this zone: BIND's private keys, PEM, or references to keys at a cryptoserver
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Algorithm of a signing key, if neither its file nor a .key file beside it states it
    #[arg(long, value_name = "ALGORITHM", requires = "zone")]
    algorithm: Option<DnssecAlgorithm>,
    /// Flags of a signing key, 256 or 257, if no .key file beside it states them [default: 257]
    #[arg(long, value_name = "FLAGS", requires = "zone")]
    flags: Option<u16>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    keys: KeyFileArgs,
}

/// A key and its file.
struct ZoneKey {
    path: PathBuf,
    owner: DomainNameBuf,
    ttl: u32,
    data: Vec<u8>,
}

/// A record of a key, as `--json` prints it.
#[derive(Debug, Serialize)]
struct KeyRecordLine {
    file: String,
    owner: String,
    key_tag: u16,
    algorithm: u8,
    flags: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest_type: Option<u8>,
    record: String,
}

pub(super) fn run(global: &GlobalOptions, args: &ZoneDsArgs) -> Result<(), DnssecError> {
    let (keys, bad_lines, accelerator) = match &args.zone {
        Some(zone) => {
            let files = args.keys.open(global, args.files.iter())?;
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
    print_report(global.json, &lines, |_| lines.iter().map(|line| format!("{}\n", line.record)).collect())?;
    match (bad_lines, lines.len()) {
        (0, 0) => Err(DnssecError::No("no key has a DS".into())),
        (0, _) => Ok(()),
        (bad, _) => Err(DnssecError::Usage(format!("{} could not be read", count(bad as u64, "line")))),
    }
}

fn signing_keys(
    args: &ZoneDsArgs,
    files: &KeyFiles,
    zone: &DomainNameBuf,
) -> Result<Vec<ZoneKey>, DnssecError> {
    let wanted = WantedKey { algorithm: args.algorithm, flags: args.flags };
    let load = |path: &PathBuf| {
        let key = files.load(path, zone.name(), wanted)?;
        Ok(ZoneKey { path: key.path, owner: zone.clone(), ttl: key_text::NO_TTL, data: key.dnskey })
    };
    args.files.iter().map(load).collect()
}

/// Reads the DNSKEYs of all files. Returns also the number of lines that could not be read.
fn published_keys(args: &ZoneDsArgs) -> Result<(Vec<ZoneKey>, usize), DnssecError> {
    let (mut keys, mut bad_lines) = (Vec::new(), 0);
    for path in &args.files {
        let (records, faults) = read(path, args.text)?;
        bad_lines += faults;
        let is_key = |record: &ZoneRecord<'_>| record.rtype == RecordType::DNSKEY;
        keys.extend(records.iter().filter(is_key).map(|record| ZoneKey {
            path: path.clone(),
            owner: record.owner.to_buf(),
            ttl: record.ttl,
            data: record.data.to_vec(),
        }));
    }
    Ok((keys, bad_lines))
}

/// Reads a file's records. Returns also the number of lines that could not be read, which are reported on stderr.
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
        // The rest is the beginning of an entry that the next block continues.
        text.drain(..used);
    }
    let (faults, more) = reader.into_faults();
    for fault in &faults {
        eprintln!("oarlock: {}", key_text::fault(path, fault));
    }
    Ok((records, faults.len() + more))
}

fn of_key(
    args: &ZoneDsArgs,
    accelerator: &Accelerator,
    key: &ZoneKey,
    lines: &mut Vec<KeyRecordLine>,
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

/// Returns the reason why a key has no DS.
fn reason_against(args: &ZoneDsArgs, dnskey: &Dnskey<'_>) -> Option<&'static str> {
    match () {
        () if !dnskey.is_zone_key() => Some("no zone key"),
        () if dnskey.is_revoked() => Some("revoked"),
        () if !dnskey.is_entry_point() && !args.all => Some("no entry point; --all takes it"),
        () => None,
    }
}

fn line(
    key: &ZoneKey,
    dnskey: &Dnskey<'_>,
    rtype: RecordType,
    digest: Option<DigestType>,
    data: &[u8],
) -> KeyRecordLine {
    KeyRecordLine {
        file: key.path.display().to_string(),
        owner: key.owner.to_string(),
        key_tag: dnskey.key_tag(),
        algorithm: dnskey.algorithm.number(),
        flags: dnskey.flags,
        digest_type: digest.map(|digest| digest.0),
        record: key_text::line(key.owner.name(), key.ttl, rtype, data),
    }
}
