//! `oarlock dnssec keygen`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use oarlock::keys::{KeyError, bind, generate};
use oarlock::{Curve, MlDsaSet, SlhDsaSet};
use oarlock_dnssec::sign::ZoneSignError;
use oarlock_dnssec::{
    DigestType, Dnskey, DnskeyError, DnssecAlgorithm, DomainName, DomainNameBuf, KeyEvent, KeyPhase,
    KeyTimes, REVOKE, RecordType, TimedFile, ds_rdata,
};
use oarlock_files::atomic_file::folder_of;
use oarlock_files::output::Overwrite;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::key_files::{KEY_SIGNING, ZONE_SIGNING, ZoneSigningKey};
use super::new_times::NewTimesArgs;
use super::timed_key::TimedKey;
use super::times::{self, KeyClock, TimesLine, date};
use super::{DnssecError, ExperimentalArgs, key_directory, key_text, zone};
use crate::key_path::key_path;
use crate::keys::{KeysError, NewPassphrase, key_file, summary};
use crate::time::TimeSpan;

/// The time between the publication and the activation of a successor, as in BIND: 30 days.
const PREPUBLISH_S: u32 = 30 * 86_400;
/// The number of keys that are tried to find one with an unused tag.
const MAX_TRIES: usize = 1000;

#[derive(Args, Debug)]
#[command(
    after_help = "Files are named as BIND names them: K<zone>+<algorithm>+<tag>.private (.pem) and .key. The DNSKEY, for the zone, \
                  and its DS, for the parent, are printed.\n\n\
                  Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, now, offsets from now such as +30d and -1h, or none.\n\n\
                  Examples: oarlock dnssec keygen example.com --out-dir keys\n          \
                  oarlock dnssec keygen example.com --zsk --algorithm RSASHA256 --bits 2048\n          \
                  oarlock dnssec keygen --successor keys/Kexample.com.+013+12345 --prepublish 14d\n\n\
                  Exit codes: 0 done, 2 wrong usage or a file that exists already, 3 the machine failed."
)]
pub(super) struct ZoneKeygenArgs {
    /// Name of the zone, such as example.com
    #[arg(required_unless_present = "successor")]
    zone: Option<String>,
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
    /// Directory for the files. It is created with mode 0700 if it does not exist [default: the current one, or that of
    /// the predecessor]
    #[arg(long, value_name = "DIRECTORY")]
    out_dir: Option<PathBuf>,
    #[command(flatten)]
    experimental: ExperimentalArgs,
    #[command(flatten)]
    passphrase: NewPassphrase,
    /// Allow a tag that another key of the zone in the directory has, and overwrite files of that name
    #[arg(long)]
    force: bool,
    /// Make a successor of this key: same zone, algorithm, length and flags, active when this key becomes inactive
    #[arg(
        long,
        value_name = "KEY",
        value_parser = key_path(),
        conflicts_with_all = ["zone", "algorithm", "bits", "ksk", "zsk", "csk", "publish", "activate"]
    )]
    successor: Option<PathBuf>,
    /// Time from publication to activation [default: 30d for a successor, otherwise 0s]
    #[arg(long, value_name = "DURATION")]
    prepublish: Option<TimeSpan>,
    #[command(flatten)]
    times: NewTimesArgs,
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

/// The properties of the key to be made.
struct ZoneKeyDraft {
    zone: DomainNameBuf,
    algorithm: DnssecAlgorithm,
    /// The length of an RSA key.
    bits: u16,
    flags: u16,
    times: KeyTimes,
    out_dir: PathBuf,
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
    times: TimesLine,
}

pub(super) fn run(global: &GlobalOptions, args: &ZoneKeygenArgs) -> Result<(), DnssecError> {
    let now = KeyClock::new(None).now()?;
    let new = match &args.successor {
        None => ZoneKeyDraft::from_args(args, now)?,
        Some(path) => ZoneKeyDraft::succeeding(args, path, now)?,
    };
    new.check(args)?;
    key_file::make(&new.out_dir)?;
    let taken = if args.force { HashSet::new() } else { tags(&new.out_dir, new.zone.name())? };
    let key = with_own_tag(&taken, || new.make())?;
    let made = write(global, args, &new, &key)?;
    times::warn(&made.public_file, &new.times);
    summary::warn(&made.zone, &key.key);
    print_report(global.json, &made, |_| format!("{}\n{}\n", made.dnskey, made.ds))?;
    if global.json {
        return Ok(());
    }
    let file = made.private_file.display();
    match new.times.phase(now) {
        KeyPhase::Active => eprintln!(
            "oarlock: the private key is in {file}; publish the DNSKEY above in the zone, and the DS in its parent"
        ),
        phase => {
            let signs = new.times.get(KeyEvent::Activate).map_or_else(|| "never".into(), date);
            eprintln!(
                "oarlock: the private key is in {file}; the key is {phase} now, and signs from: {signs}"
            );
        }
    }
    Ok(())
}

impl ZoneKeyDraft {
    fn from_args(args: &ZoneKeygenArgs, now: u32) -> Result<Self, DnssecError> {
        // unreachable default because the arguments require a zone or a predecessor
        let zone = zone(args.zone.as_deref().unwrap_or_default())?;
        let flags = if args.role.zsk { ZONE_SIGNING } else { KEY_SIGNING };
        let prepublish_s = args.prepublish.map_or(0, TimeSpan::seconds);
        let times = args.times.new_key(now, prepublish_s)?;
        let out_dir = args.out_dir.clone().unwrap_or_else(|| ".".into());
        Ok(Self { zone, algorithm: args.algorithm, bits: args.bits.unwrap_or(2048), flags, times, out_dir })
    }

    fn succeeding(args: &ZoneKeygenArgs, path: &Path, now: u32) -> Result<Self, DnssecError> {
        let old = TimedKey::read(path)?;
        let prepublish_s = args.prepublish.map_or(PREPUBLISH_S, TimeSpan::seconds);
        let times = args.times.successor(path, &old.times, now, prepublish_s)?;
        let dnskey = Dnskey::parse(&old.dnskey)?;
        let bits = dnskey.rsa_bits().and_then(|bits| u16::try_from(bits).ok()).unwrap_or(0);
        let out_dir = args.out_dir.clone().unwrap_or_else(|| folder_of(&old.public).to_owned());
        Ok(Self { zone: old.zone, algorithm: dnskey.algorithm, bits, flags: dnskey.flags, times, out_dir })
    }

    fn check(&self, args: &ZoneKeygenArgs) -> Result<(), DnssecError> {
        let algorithm = self.algorithm;
        if !algorithm.can_sign() {
            return Err(DnssecError::Usage(ZoneSignError::CannotSign(algorithm).to_string()));
        }
        args.experimental.check(algorithm)?;
        if algorithm.is_experimental() && args.format == KeyFileFormat::Bind {
            return Err(DnssecError::Usage(format!(
                "--format bind: the format of BIND has no keys of {algorithm}: expected --format pem"
            )));
        }
        if args.bits.is_some() && !algorithm.is_rsa() {
            return Err(DnssecError::Usage(format!(
                "--bits: {algorithm} has keys of one length: expected --algorithm RSASHA256 or RSASHA512, or no --bits"
            )));
        }
        if args.passphrase.is_given() && args.format == KeyFileFormat::Bind {
            return Err(DnssecError::Usage(
                "--passphrase-file: the format of BIND has no encryption: expected --format pem".into(),
            ));
        }
        Ok(())
    }

    fn make(&self) -> Result<ZoneSigningKey, DnssecError> {
        let key = match self.algorithm {
            algorithm if algorithm.is_rsa() => generate::rsa(self.bits)?,
            DnssecAlgorithm::ECDSAP256SHA256 => generate::ec(Curve::P256)?,
            DnssecAlgorithm::ECDSAP384SHA384 => generate::ec(Curve::P384)?,
            DnssecAlgorithm::ED25519 => generate::ed25519()?,
            DnssecAlgorithm::ML_DSA_44 => generate::ml_dsa(MlDsaSet::MlDsa44)?,
            DnssecAlgorithm::SLH_DSA_SHA2_128S => generate::slh_dsa(SlhDsaSet::Sha2_128s)?,
            other => return Err(DnskeyError::UnsupportedAlgorithm(other).into()),
        };
        // The file is named by the tag, which the key has only after this.
        let path = PathBuf::new();
        ZoneSigningKey::new(key, self.algorithm, self.flags, &path)
            .map_err(|error| DnssecError::KeyFile { path, error: Box::new(error) })
    }
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
    Ok(key_directory::list(directory, zone)?.iter().map(|key| key.key_tag).collect())
}

fn write(
    global: &GlobalOptions,
    args: &ZoneKeygenArgs,
    new: &ZoneKeyDraft,
    key: &ZoneSigningKey,
) -> Result<MadeZoneKey, DnssecError> {
    let zone = new.zone.name();
    let stem = key_directory::stem(zone, key.algorithm.number(), key.key_tag);
    let ending = if args.format == KeyFileFormat::Bind { "private" } else { "pem" };
    let private_file = new.out_dir.join(format!("{stem}.{ending}"));
    let public_file = new.out_dir.join(format!("{stem}.key"));
    let dnskey = key_text::line(zone, key_text::NO_TTL, RecordType::DNSKEY, &key.dnskey);
    // Computed before a file is written, because it may fail.
    let accelerator = global.builder().lazy().build()?;
    let ds = ds_rdata(&accelerator, zone, &Dnskey::parse(&key.dnskey)?, DigestType::SHA256)
        .map_err(|error| DnssecError::Ds { path: public_file.clone(), error })?;
    let over = if args.force { Overwrite::AnyFile } else { Overwrite::Nothing };
    // Written first: a DNSKEY whose private half is missing must not be published.
    write_private(args, &private_file, key, &new.times, over)?;
    key_file::write_text(&public_file, &public_text(zone, key, &new.times, &dnskey), false, over)?;
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
        times: TimesLine::new(&new.times),
    })
}

/// Returns the text of the DNSKEY's file, with the comments of BIND.
fn public_text(zone: DomainName<'_>, key: &ZoneSigningKey, times: &KeyTimes, dnskey: &str) -> Vec<u8> {
    let role = if key.is_key_signing() { "key" } else { "zone" };
    let mut text =
        format!("; This is a {role}-signing key, keyid {}, for {zone}\n", key.key_tag).into_bytes();
    times.write(TimedFile::Public, &mut text);
    text.extend_from_slice(dnskey.as_bytes());
    text.push(b'\n');
    text
}

fn write_private(
    args: &ZoneKeygenArgs,
    path: &Path,
    key: &ZoneSigningKey,
    times: &KeyTimes,
    over: Overwrite,
) -> Result<(), DnssecError> {
    let passphrase = args.passphrase.read()?;
    match args.format {
        // The format has no times: those beside the DNSKEY count.
        KeyFileFormat::Pem => key_file::write(path, &key.key, passphrase.as_ref(), over)?,
        KeyFileFormat::Bind => {
            let fail = |error: KeyError| KeysError::Key { path: path.to_owned(), error };
            let mut text = bind::export(&key.key, key.algorithm.number()).map_err(fail)?;
            let mut lines = Vec::new();
            times.write(TimedFile::Private, &mut lines);
            text.push_str(&String::from_utf8_lossy(&lines));
            key_file::write_text(path, text.as_bytes(), true, over)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oarlock::keys::raw;

    use super::*;

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
}
