//! `oarlock dnssec keygen`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use oarlock::keys::{KeyError, bind, generate};
use oarlock::{Curve, Key, MlDsaSet, SlhDsaSet};
use oarlock_dnssec::{
    DigestType, Dnskey, DnskeyError, DnssecAlgorithm, DomainName, REVOKE, RecordType, ds_rdata, rdata,
};
use oarlock_files::output::Overwrite;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::key_files::{KEY_SIGNING, ZONE_SIGNING, ZoneSigningKey};
use super::{DnssecError, ExperimentalArgs, key_text, zone};
use crate::keys::{KeysError, NewPassphrase, key_file, summary};

/// The number of keys that are tried to find one with an unused tag.
const MAX_TRIES: usize = 1000;

#[derive(Args, Debug)]
#[command(
    after_help = "Files are named as BIND names them: K<zone>+<algorithm>+<tag>.private (.pem) and .key. The DNSKEY, for the zone, \
                  and its DS, for the parent, are printed.\n\n\
                  Examples: oarlock dnssec keygen example.com --out-dir keys\n          \
                  oarlock dnssec keygen example.com --zsk --algorithm RSASHA256 --bits 2048\n\n\
                  Exit codes: 0 done, 2 wrong usage or a file that exists already, 3 the machine failed."
)]
pub(super) struct ZoneKeygenArgs {
    /// Name of the zone, such as example.com
    zone: String,
    /// Algorithm: RSASHA256 (8), RSASHA512 (10), ECDSAP256SHA256 (13), ECDSAP384SHA384 (14) or ED25519 (15); with
    /// --experimental also ML-DSA-44 or SLH-DSA-SHA2-128S
    #[arg(long, value_name = "ALGORITHM", default_value = "ECDSAP256SHA256")]
    algorithm: DnssecAlgorithm,
    /// Length of an RSA key in bits, 1024 to 4096 [default: 2048]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u16).range(1024..=4096))]
    bits: Option<u16>,
    #[command(flatten)]
    role: RoleArgs,
    /// Format of the private key's file
    #[arg(long, value_enum, default_value = "bind")]
    format: KeyFileFormat,
    /// Directory for the files. It is created with mode 0700 if it does not exist
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    out_dir: PathBuf,
    #[command(flatten)]
    experimental: ExperimentalArgs,
    #[command(flatten)]
    passphrase: NewPassphrase,
    /// Allow a tag that another key of the zone in the directory has, and overwrite files of that name
    #[arg(long)]
    force: bool,
}

/// The role of the key.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
struct RoleArgs {
    /// Make a key that signs the zone's keys: flags 257
    #[arg(long)]
    ksk: bool,
    /// Make a key that signs the zone's other records: flags 256
    #[arg(long)]
    zsk: bool,
    /// Make a key that signs everything: flags 257 [default]
    #[arg(long)]
    csk: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeyFileFormat {
    /// The format of BIND
    Bind,
    /// PKCS#8 in PEM
    Pem,
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct MadeZoneKey {
    zone: String,
    algorithm: u8,
    flags: u16,
    key_tag: u16,
    private_file: PathBuf,
    public_file: PathBuf,
    dnskey: String,
    ds: String,
}

pub(super) fn run(global: &GlobalOptions, args: &ZoneKeygenArgs) -> Result<(), DnssecError> {
    let zone = zone(&args.zone)?;
    check(args)?;
    key_file::make(&args.out_dir)?;
    let taken = if args.force { HashSet::new() } else { tags(&args.out_dir, zone.name())? };
    let key = with_own_tag(&taken, || make(args))?;
    let made = write(global, args, zone.name(), &key)?;
    summary::warn(&made.zone, &key.key);
    print_report(global.json, &made, |_| format!("{}\n{}\n", made.dnskey, made.ds))?;
    if global.json {
        return Ok(());
    }
    eprintln!(
        "oarlock: the private key is in {}; publish the DNSKEY above in the zone, and the DS in its parent",
        made.private_file.display()
    );
    Ok(())
}

fn check(args: &ZoneKeygenArgs) -> Result<(), DnssecError> {
    if !args.algorithm.can_sign() {
        return Err(DnskeyError::UnsupportedAlgorithm(args.algorithm).into());
    }
    args.experimental.check(args.algorithm)?;
    if args.algorithm.is_experimental() && args.format == KeyFileFormat::Bind {
        return Err(DnssecError::Usage(format!(
            "--format bind: the format of BIND has no keys of {}: expected --format pem",
            args.algorithm
        )));
    }
    if args.bits.is_some() && !args.algorithm.is_rsa() {
        return Err(DnssecError::Usage(format!(
            "--bits: {} has keys of one length: expected --algorithm RSASHA256 or RSASHA512, or no --bits",
            args.algorithm
        )));
    }
    if args.passphrase.is_given() && args.format == KeyFileFormat::Bind {
        return Err(DnssecError::Usage(
            "--passphrase-file: the format of BIND has no encryption: expected --format pem".into(),
        ));
    }
    Ok(())
}

fn make(args: &ZoneKeygenArgs) -> Result<ZoneSigningKey, DnssecError> {
    let key = match args.algorithm {
        algorithm if algorithm.is_rsa() => generate::rsa(args.bits.unwrap_or(2048))?,
        DnssecAlgorithm::ECDSAP256SHA256 => generate::ec(Curve::P256)?,
        DnssecAlgorithm::ECDSAP384SHA384 => generate::ec(Curve::P384)?,
        DnssecAlgorithm::ED25519 => generate::ed25519()?,
        DnssecAlgorithm::ML_DSA_44 => generate::ml_dsa(MlDsaSet::MlDsa44)?,
        DnssecAlgorithm::SLH_DSA_SHA2_128S => generate::slh_dsa(SlhDsaSet::Sha2_128s)?,
        other => return Err(DnskeyError::UnsupportedAlgorithm(other).into()),
    };
    let flags = if args.role.zsk { ZONE_SIGNING } else { KEY_SIGNING };
    // The file is named by the tag, which the key has only after this.
    let path = PathBuf::new();
    ZoneSigningKey::new(key, args.algorithm, flags, &path)
        .map_err(|error| DnssecError::KeyFile { path, error: Box::new(error) })
}

/// Generates keys until one has a tag that no other key has, revoked or not. RFC 4034 Appendix B.
fn with_own_tag(
    taken: &HashSet<u16>,
    mut make: impl FnMut() -> Result<ZoneSigningKey, DnssecError>,
) -> Result<ZoneSigningKey, DnssecError> {
    for _ in 0..MAX_TRIES {
        let key = make()?;
        if !taken.contains(&key.key_tag) && !taken.contains(&revoked_tag(&key)?) {
            return Ok(key);
        }
    }
    Err(DnssecError::Usage(
        "the directory has keys of nearly all tags: use another directory, or --force".into(),
    ))
}

/// Returns the tag that a key has once it is revoked. RFC 5011 2.1.
fn revoked_tag(key: &ZoneSigningKey) -> Result<u16, DnssecError> {
    let mut revoked = key.dnskey.clone();
    if let [high, low, ..] = revoked.as_mut_slice() {
        [*high, *low] = (key.flags | REVOKE).to_be_bytes();
    }
    Ok(Dnskey::parse(&revoked)?.key_tag())
}

/// Returns the tags of the zone's keys in a directory, of all algorithms.
fn tags(directory: &Path, zone: DomainName<'_>) -> Result<HashSet<u16>, DnssecError> {
    let start = format!("K{}+", file_name(zone));
    let unreadable = |error| DnssecError::Read { path: directory.to_owned(), error };
    let mut tags = HashSet::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&start));
        // After `K<zone>+` stand three digits of the algorithm and a plus, and then five of the tag.
        let tag: Option<u16> = rest.and_then(|rest| rest.get(4..9)?.parse().ok());
        tags.extend(tag);
    }
    Ok(tags)
}

fn write(
    global: &GlobalOptions,
    args: &ZoneKeygenArgs,
    zone: DomainName<'_>,
    key: &ZoneSigningKey,
) -> Result<MadeZoneKey, DnssecError> {
    let stem = format!("K{}+{:03}+{:05}", file_name(zone), key.algorithm.number(), key.key_tag);
    let ending = if args.format == KeyFileFormat::Bind { "private" } else { "pem" };
    let private_file = args.out_dir.join(format!("{stem}.{ending}"));
    let public_file = args.out_dir.join(format!("{stem}.key"));
    let dnskey = key_text::line(zone, key_text::NO_TTL, RecordType::DNSKEY, &key.dnskey);
    // Computed before a file is written, because it may fail.
    let accelerator = global.builder().lazy().build()?;
    let ds = ds_rdata(&accelerator, zone, &Dnskey::parse(&key.dnskey)?, DigestType::SHA256)
        .map_err(|error| DnssecError::Ds { path: public_file.clone(), error })?;
    let over = if args.force { Overwrite::AnyFile } else { Overwrite::Nothing };
    let role = if key.is_key_signing() { "key" } else { "zone" };
    let text = format!("; This is a {role}-signing key, keyid {}, for {zone}\n{dnskey}\n", key.key_tag);
    // Written first: a DNSKEY whose private half is missing must not be published.
    write_private(args, &private_file, &key.key, over)?;
    key_file::write_text(&public_file, text.as_bytes(), false, over)?;
    let ds = key_text::line(zone, key_text::NO_TTL, RecordType::DS, &ds);
    Ok(MadeZoneKey {
        zone: zone.to_string(),
        algorithm: key.algorithm.number(),
        flags: key.flags,
        key_tag: key.key_tag,
        private_file,
        public_file,
        dnskey,
        ds,
    })
}

fn write_private(args: &ZoneKeygenArgs, path: &Path, key: &Key, over: Overwrite) -> Result<(), DnssecError> {
    let passphrase = args.passphrase.read()?;
    match args.format {
        KeyFileFormat::Pem => key_file::write(path, key, passphrase.as_ref(), over)?,
        KeyFileFormat::Bind => {
            let fail = |error: KeyError| KeysError::Key { path: path.to_owned(), error };
            let text = bind::export(key, args.algorithm.number(), Some(&now())).map_err(fail)?;
            key_file::write_text(path, text.as_bytes(), true, over)?;
        }
    }
    Ok(())
}

/// Returns a zone's name as BIND writes it in file names.
fn file_name(zone: DomainName<'_>) -> String {
    let mut text = String::new();
    for label in zone.labels() {
        for &byte in label {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(byte.into()),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text.push('.');
    }
    if text.is_empty() { ".".into() } else { text }
}

/// Returns the present in UTC, in the form of signatures.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut text = Vec::new();
    // Such times wrap after 2^32 seconds. RFC 4034 3.1.5.
    rdata::write_time(seconds as u32, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use oarlock::keys::raw;

    use super::*;

    fn named(text: &str) -> String {
        file_name(zone(text).unwrap().name())
    }

    #[test]
    fn file_names_are_those_of_bind() {
        assert_eq!((named("Example.COM"), named(".")), ("example.com.".into(), ".".into()));
        assert_eq!(named(r"a/b.\000\.x_-."), "a%2Fb.%00%2Ex_-.");
    }

    /// Returns a key-signing key that is the same in every run.
    fn fixed_key(number: u8) -> ZoneSigningKey {
        let key = raw::ed25519_private(&[number; 32]).unwrap();
        ZoneSigningKey::new(key, DnssecAlgorithm::ED25519, KEY_SIGNING, Path::new("")).unwrap()
    }

    #[test]
    fn avoids_tags_of_other_keys_and_of_their_revoked_forms() {
        let [last, revoked, used] = [0, 1, 2].map(fixed_key);
        let taken = HashSet::from([used.key_tag, revoked_tag(&revoked).unwrap()]);
        let expected = last.key_tag;
        let mut keys = vec![last, revoked, used];
        assert_eq!(with_own_tag(&taken, || Ok(keys.pop().unwrap())).unwrap().key_tag, expected);
        let same = fixed_key(3);
        let taken = HashSet::from([same.key_tag]);
        assert!(matches!(with_own_tag(&taken, || Ok(same.clone())), Err(DnssecError::Usage(_))));
    }

    #[test]
    fn a_revoked_key_has_a_tag_of_its_own() {
        // The sum of RFC 4034 Appendix B carries in the second key.
        for (number, tag, revoked) in [(0, 57_991, 58_119), (111, 65_455, 48)] {
            let key = fixed_key(number);
            assert_eq!((key.key_tag, revoked_tag(&key).unwrap()), (tag, revoked));
        }
    }

    #[test]
    fn reads_the_tags_of_the_zones_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "Kexample.+013+00042.key",
            "Kexample.+008+65535.pem",
            "Kother.example.+013+00007.key",
            "Kexample.+x",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(tags(folder.path(), zone("example").unwrap().name()).unwrap(), HashSet::from([42, 65535]));
    }
}
