//! The command's arguments, and the options that they make.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use oarlock::NonceRule;
use oarlock_dnssec::DnssecAlgorithm;
use oarlock_dnssec::sign::{
    DenialMethod, LoadRules, MAX_SIGNED_ITERATIONS, Nsec3Options, SerialPolicy, SignOptions,
    SignatureLifetime,
};

use super::super::key_files::KeyFileArgs;
use super::super::times::KeyClock;
use super::super::zone_file::TextArgs;
use super::super::{DnssecError, ExperimentalArgs};
use super::delegation_args::DelegationArgs;
use crate::key_path::key_path;
use crate::time::{TimePoint, TimeSpan, now};

#[derive(Debug, Args)]
#[command(
    after_help = "Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, or offsets from now such as +30d and -1h. Durations are numbers with s, m, h, d or w.\n\n\
                  Examples: oarlock dnssec sign example.zone --key Kexample.+013+12345 --out example.signed\n\
                  \x20         oarlock dnssec sign example.zone --keys /etc/bind/keys --previous example.signed --out example.signed\n\
                  \x20         oarlock dnssec sign tld.zone --ksk ksk.pem --zsk zsk.ref --nsec3 --opt-out --previous tld.signed --out tld.signed\n\
                  \x20         oarlock dnssec sign example.zone --csk 'pkcs11:token=zones;object=csk?module-path=/usr/lib/p11.so&pin-source=/etc/pin'\n\n\
                  Exit codes: 0 done, 2 wrong usage or input, 3 the machine, the cryptoserver or a device failed."
)]
pub(in super::super) struct ZoneSignArgs {
    /// Zone in presentation format, also as .gz, .xz or .zst; `-` is standard input. Its signatures and chains are
    /// ignored
    #[arg(value_name = "ZONE")]
    pub(super) zone: PathBuf,
    /// Origin of relative names [default: $ORIGIN, or the owner of the SOA record]
    #[arg(long, value_name = "NAME")]
    pub(super) origin: Option<String>,
    #[command(flatten)]
    pub(super) text: TextArgs,
    /// Add digests of the whole zone (ZONEMD), separated by commas [default: none]
    #[arg(long, value_name = "DIGESTS", value_enum, value_delimiter = ',')]
    zonemd: Vec<ZoneDigest>,
    /// Treatment of records that BIND, Knot DNS or NSD refuse to load
    #[arg(long, value_name = "RULE", value_enum, default_value = "fail")]
    load_rules: LoadRuleChoice,
    /// Serial number of the signed zone
    #[arg(long, value_name = "POLICY", value_enum, default_value = "keep")]
    serial: SerialRule,
    /// File for the signed zone, which appears complete or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) keys: ZoneKeyArgs,
    // The arguments above stand here because a heading holds until the next one.
    #[command(flatten)]
    pub(super) delegations: DelegationArgs,
    #[command(flatten)]
    denial: DenialArgs,
    #[command(flatten)]
    lifetime: LifetimeArgs,
    /// Earlier signed version of the zone: unchanged records keep its signatures
    #[arg(long, value_name = "FILE")]
    pub(super) previous: Option<PathBuf>,
    /// Make the same zone from the same input and times: RFC 6979, and jitter by names
    #[arg(long)]
    deterministic: bool,
}

/// Keys: files, or URIs of keys in devices.
#[derive(Debug, Args)]
pub(super) struct ZoneKeyArgs {
    /// Key whose flags decide what it signs; the only key of an algorithm signs everything; repeatable
    #[arg(long = "key", value_name = "FILE", required_unless_present_any = ["ksks", "zsks", "csks", "directory"], value_parser = key_path())]
    pub(super) keys: Vec<PathBuf>,
    /// Key that signs the zone's keys; repeatable
    #[arg(long = "ksk", value_name = "FILE", value_parser = key_path())]
    pub(super) ksks: Vec<PathBuf>,
    /// Key that signs all other records; repeatable
    #[arg(long = "zsk", value_name = "FILE", value_parser = key_path())]
    pub(super) zsks: Vec<PathBuf>,
    /// Key that signs everything; repeatable
    #[arg(long = "csk", value_name = "FILE", value_parser = key_path())]
    pub(super) csks: Vec<PathBuf>,
    /// Directory of keys named as BIND names them. The times in their files decide which are in the zone and which sign
    #[arg(long = "keys", value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// Sign with keys that are named by --key, --ksk, --zsk or --csk also before and after the time in which they are
    /// active
    #[arg(long)]
    pub(super) ignore_key_times: bool,
    /// Algorithm of all keys, if their files do not state it [default: RSASHA256 for RSA; other keys determine it]
    #[arg(long, value_name = "ALGORITHM")]
    pub(super) algorithm: Option<DnssecAlgorithm>,
    #[command(flatten)]
    pub(super) experimental: ExperimentalArgs,
    #[command(flatten)]
    pub(super) files: KeyFileArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "NSEC and NSEC3")]
struct DenialArgs {
    /// Use NSEC3 (hashed names) instead of NSEC
    #[arg(long)]
    nsec3: bool,
    /// Number of additional hash iterations, 0 to 150; RFC 9276 recommends 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "nsec3", value_parser = clap::value_parser!(u16).range(..=i64::from(MAX_SIGNED_ITERATIONS)))]
    iterations: u16,
    /// Salt, up to 255 bytes in hexadecimal digits; `-` is no salt, as RFC 9276 recommends
    #[arg(long, value_name = "HEX", default_value = "-", requires = "nsec3")]
    salt: Nsec3Salt,
    /// Leave delegations without DS records out of the chain
    #[arg(long, requires = "nsec3")]
    opt_out: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Signatures")]
struct LifetimeArgs {
    /// Time of signing [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<TimePoint>,
    /// Time from which signatures are valid
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    inception: TimePoint,
    /// Time until which signatures are valid
    #[arg(long, value_name = "TIME", default_value = "+30d", allow_hyphen_values = true)]
    expiry: TimePoint,
    /// Max time by which signatures of a set expire earlier, to spread renewals
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    jitter: TimeSpan,
    /// Renew signatures that expire within this time [default: a quarter of the time from inception to expiry]
    #[arg(long, value_name = "DURATION", requires = "previous")]
    refresh: Option<TimeSpan>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ZoneDigest {
    Sha384,
    Sha512,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SerialRule {
    /// Keep it
    Keep,
    /// Use the next number
    Increment,
    /// Use seconds since 1970
    Unixtime,
    /// Use YYYYMMDDnn
    Date,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LoadRuleChoice {
    /// Do not sign the zone
    Fail,
    /// Report them
    Warn,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Nsec3Salt(Vec<u8>);

impl ZoneKeyArgs {
    /// Returns the paths of all keys.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.keys, &self.ksks, &self.zsks, &self.csks].into_iter().flatten()
    }
}

impl ZoneSignArgs {
    pub(super) fn check(&self, is_json: bool) -> Result<(), DnssecError> {
        match is_json && self.out.is_none() {
            true => Err(DnssecError::Usage(
                "--json: expected --out, because the zone goes to standard output".into(),
            )),
            false => self.delegations.check(self.keys.directory.is_some()),
        }
    }

    /// Returns the time at which the times of keys are read.
    pub(super) fn key_clock(&self) -> KeyClock {
        KeyClock::new(self.lifetime.now)
    }

    pub(super) fn options(&self) -> SignOptions {
        SignOptions {
            lifetime: self.lifetime.lifetime(if self.deterministic { 0 } else { fastrand::u64(..) }),
            denial: self.denial.denial(),
            serial: self.serial.policy(),
            zone_digests: self.zone_digests(),
            nonce: if self.deterministic { NonceRule::Deterministic } else { NonceRule::Hedged },
            presigned: Vec::new(),
            load_rules: match self.load_rules {
                LoadRuleChoice::Fail => LoadRules::Fail,
                LoadRuleChoice::Warn => LoadRules::Warn,
            },
        }
    }

    /// Each algorithm once.
    fn zone_digests(&self) -> Vec<u8> {
        let number = |digest: &ZoneDigest| match digest {
            ZoneDigest::Sha384 => 1,
            ZoneDigest::Sha512 => 2,
        };
        let mut numbers: Vec<u8> = self.zonemd.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

impl DenialArgs {
    fn denial(&self) -> DenialMethod {
        match self.nsec3 {
            false => DenialMethod::Nsec,
            true => DenialMethod::Nsec3(Nsec3Options {
                iterations: self.iterations,
                salt: self.salt.0.clone(),
                is_opt_out: self.opt_out,
            }),
        }
    }
}

impl LifetimeArgs {
    fn lifetime(&self, jitter_seed: u64) -> SignatureLifetime {
        let now = self.now.map_or_else(now, TimePoint::at_present);
        let (inception, expiration) = (self.inception.from(now), self.expiry.from(now));
        let mut lifetime = SignatureLifetime {
            inception,
            expiration,
            jitter_s: self.jitter.seconds(),
            jitter_seed,
            ..SignatureLifetime::from(now)
        };
        lifetime.refresh_s = self.refresh.map_or(lifetime.validity_s() / 4, TimeSpan::seconds);
        lifetime
    }
}

impl SerialRule {
    fn policy(self) -> SerialPolicy {
        match self {
            Self::Keep => SerialPolicy::Keep,
            Self::Increment => SerialPolicy::Increment,
            Self::Unixtime => SerialPolicy::UnixTime,
            Self::Date => SerialPolicy::Date,
        }
    }
}

impl FromStr for Nsec3Salt {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "expected up to 255 bytes in hexadecimal, or `-`";
        if text == "-" {
            return Ok(Self(Vec::new()));
        }
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || text.is_empty() || !text.len().is_multiple_of(2) || text.len() > 510 {
            return Err(WRONG);
        }
        let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| WRONG);
        (0..text.len()).step_by(2).map(byte).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn salts_are_whole_bytes() {
        assert_eq!(("-".parse(), "aAbB".parse()), (Ok(Nsec3Salt(vec![])), Ok(Nsec3Salt(vec![0xaa, 0xbb]))));
        for text in ["", "a", "xy", &"ab".repeat(256)] {
            assert!(text.parse::<Nsec3Salt>().is_err(), "{text}");
        }
    }
}
