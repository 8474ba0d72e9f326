//! The command's arguments, and what they ask for.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use oarlock::NonceRule;
use oarlock_dnssec::DnssecAlgorithm;
use oarlock_dnssec::sign::{
    DenialMethod, MAX_SIGNED_ITERATIONS, Nsec3Options, SerialPolicy, SignOptions, SignatureLifetime,
};

use super::super::DnssecError;
use super::super::key_files::KeyFileArgs;
use super::super::zone_file::TextArgs;
use crate::key_path::key_path;
use crate::time::{Duration, Time, now};

#[derive(Debug, Args)]
#[command(
    after_help = "Times are YYYYMMDDHHMMSS in UTC, seconds since 1970, or, from now, +30d and -1h; durations are numbers with s, m, h, d or w.\n\n\
                  Examples: oarlock dnssec sign example.zone --key Kexample.+013+12345 --out example.signed\n\
                  \x20         oarlock dnssec sign tld.zone --ksk ksk.pem --zsk zsk.ref --nsec3 --opt-out --previous tld.signed --out tld.signed\n\n\
                  Exit codes: 0 done, 2 wrong usage or input, 3 the machine or the cryptoserver failed."
)]
pub(in super::super) struct SignArgs {
    /// The zone in presentation format, also as .gz, .xz or .zst; `-` is standard input. What it has of signatures and chains is left out
    #[arg(value_name = "ZONE")]
    pub(super) zone: PathBuf,
    /// What relative names end in [default: $ORIGIN, or the owner of the SOA record]
    #[arg(long, value_name = "NAME")]
    pub(super) origin: Option<String>,
    #[command(flatten)]
    pub(super) text: TextArgs,
    #[command(flatten)]
    pub(super) keys: KeyArgs,
    #[command(flatten)]
    denial: DenialArgs,
    /// Digest the whole zone, too: sha384, sha512
    #[arg(long, value_name = "DIGESTS", value_enum, value_delimiter = ',')]
    zonemd: Vec<ZoneDigest>,
    /// What becomes of the serial number
    #[arg(long, value_name = "POLICY", value_enum, default_value = "keep")]
    serial: Serial,
    #[command(flatten)]
    lifetime: LifetimeArgs,
    /// The zone as it was signed last: what has not changed keeps its signatures
    #[arg(long, value_name = "FILE")]
    pub(super) previous: Option<PathBuf>,
    /// Make the same zone of the same input at the same times: RFC 6979, and jitter by names
    #[arg(long)]
    deterministic: bool,
    /// Where the signed zone goes, whole or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// Files of keys.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// A key that signs what its flags say, and everything where there is no other of its algorithm
    #[arg(long = "key", value_name = "FILE", required_unless_present_any = ["ksks", "zsks", "csks"], value_parser = key_path())]
    pub(super) keys: Vec<PathBuf>,
    /// A key that signs the zone's keys
    #[arg(long = "ksk", value_name = "FILE", value_parser = key_path())]
    pub(super) ksks: Vec<PathBuf>,
    /// A key that signs all else
    #[arg(long = "zsk", value_name = "FILE", value_parser = key_path())]
    pub(super) zsks: Vec<PathBuf>,
    /// A key that signs everything
    #[arg(long = "csk", value_name = "FILE", value_parser = key_path())]
    pub(super) csks: Vec<PathBuf>,
    /// What all keys sign with, where their files do not say it [default: RSASHA256 for RSA; others say it themselves]
    #[arg(long, value_name = "ALGORITHM")]
    pub(super) algorithm: Option<DnssecAlgorithm>,
    #[command(flatten)]
    pub(super) files: KeyFileArgs,
}

#[derive(Debug, Args)]
struct DenialArgs {
    /// Deny by hashed names instead of names
    #[arg(long)]
    nsec3: bool,
    /// Additional iterations of hashing, which RFC 9276 advises against
    #[arg(long, value_name = "N", default_value_t = 0, requires = "nsec3", value_parser = clap::value_parser!(u16).range(..=i64::from(MAX_SIGNED_ITERATIONS)))]
    iterations: u16,
    /// Salt in hexadecimal, which RFC 9276 advises against; `-` is none
    #[arg(long, value_name = "HEX", default_value = "-", requires = "nsec3")]
    salt: Salt,
    /// Leave delegations without DS records out
    #[arg(long, requires = "nsec3")]
    opt_out: bool,
}

#[derive(Debug, Args)]
struct LifetimeArgs {
    /// The time of signing [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<Time>,
    /// From when on signatures hold
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    inception: Time,
    /// Until when they hold
    #[arg(long, value_name = "TIME", default_value = "+30d", allow_hyphen_values = true)]
    expiry: Time,
    /// Let signatures expire up to so much earlier, each set at its own time
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    jitter: Duration,
    /// Make signatures again that hold no longer than this [default: a quarter of the time from inception to expiry]
    #[arg(long, value_name = "DURATION", requires = "previous")]
    refresh: Option<Duration>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ZoneDigest {
    Sha384,
    Sha512,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Serial {
    /// It stays
    Keep,
    /// The next one
    Increment,
    /// Seconds since 1970
    Unixtime,
    /// YYYYMMDDnn
    Date,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Salt(Vec<u8>);

impl SignArgs {
    pub(super) fn check(&self, is_json: bool) -> Result<(), DnssecError> {
        match is_json && self.out.is_none() {
            true => {
                Err(DnssecError::Usage("--json: expected --out, for the zone goes to standard output".into()))
            }
            false => Ok(()),
        }
    }

    pub(super) fn options(&self) -> SignOptions {
        SignOptions {
            lifetime: self.lifetime.lifetime(if self.deterministic { 0 } else { fastrand::u64(..) }),
            denial: self.denial.denial(),
            serial: self.serial.policy(),
            zone_digests: self.zone_digests(),
            nonce: if self.deterministic { NonceRule::Deterministic } else { NonceRule::Hedged },
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
        let now = self.now.map_or_else(now, Time::at_present);
        let (inception, expiration) = (self.inception.from(now), self.expiry.from(now));
        let mut lifetime = SignatureLifetime {
            inception,
            expiration,
            jitter_s: self.jitter.seconds(),
            jitter_seed,
            ..SignatureLifetime::from(now)
        };
        lifetime.refresh_s = self.refresh.map_or(lifetime.validity_s() / 4, Duration::seconds);
        lifetime
    }
}

impl Serial {
    fn policy(self) -> SerialPolicy {
        match self {
            Self::Keep => SerialPolicy::Keep,
            Self::Increment => SerialPolicy::Increment,
            Self::Unixtime => SerialPolicy::UnixTime,
            Self::Date => SerialPolicy::Date,
        }
    }
}

impl FromStr for Salt {
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
        assert_eq!(("-".parse(), "aAbB".parse()), (Ok(Salt(vec![])), Ok(Salt(vec![0xaa, 0xbb]))));
        for text in ["", "a", "xy", &"ab".repeat(256)] {
            assert!(text.parse::<Salt>().is_err(), "{text}");
        }
    }
}
