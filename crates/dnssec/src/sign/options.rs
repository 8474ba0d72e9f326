//! How a zone is to be signed, and for how long.

use std::cmp::Ordering;

use oarlock::NonceRule;

use super::ZoneSignError;
use crate::name::DomainName;
use crate::rrsig::serial_cmp;
use crate::rtype::RecordType;

/// Most additional iterations of NSEC3 that are signed: with more, validators treat the zone as unsigned. RFC 9276 3.2.
pub const MAX_SIGNED_ITERATIONS: u16 = 150;
const MAX_SALT: usize = 255;
/// Serial numbers further apart have no order. RFC 1982 3.2.
const MAX_VALIDITY: u32 = 1 << 31;

/// How a zone is to be signed.
#[derive(Clone, Debug)]
pub struct SignOptions {
    /// When signatures hold.
    pub lifetime: SignatureLifetime,
    /// How the absence of names is signed.
    pub denial: DenialMethod,
    /// What becomes of the serial number.
    pub serial: SerialPolicy,
    /// Algorithms of the zone's own digests, with their numbers: 1 is SHA-384, 2 is SHA-512. RFC 8976 5.3.
    pub zone_digests: Vec<u8>,
    /// Where ECDSA nonces come from.
    pub nonce: NonceRule,
}

/// When signatures hold. Times are seconds since 1970 modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureLifetime {
    /// The time of signing.
    pub now: u32,
    /// The first second.
    pub inception: u32,
    /// The last second, of the signatures that hold longest.
    pub expiration: u32,
    /// Signatures expire up to so many seconds earlier, spread evenly over sets.
    pub jitter_s: u32,
    /// Decides how sets are spread; with the same one they are spread in the same way.
    pub jitter_seed: u64,
    /// Of earlier signatures only those are taken over that hold longer than so many seconds from now.
    pub refresh_s: u32,
}

/// How the absence of names is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenialMethod {
    /// By a chain of names. RFC 4034 section 4.
    Nsec,
    /// By a chain of hashes. RFC 5155.
    Nsec3(Nsec3Options),
}

/// How names are hashed. RFC 9276 3.1 advises what is the default: no salt and no additional iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nsec3Options {
    /// Additional iterations, [`MAX_SIGNED_ITERATIONS`] at most.
    pub iterations: u16,
    /// At most 255 bytes.
    pub salt: Vec<u8>,
    /// Leave delegations without DS records out of the chain.
    pub is_opt_out: bool,
}

/// What becomes of a zone's serial number. It never goes back (RFC 1982): where it would, it is incremented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SerialPolicy {
    /// It stays.
    #[default]
    Keep,
    /// It becomes the next one.
    Increment,
    /// Seconds since 1970.
    UnixTime,
    /// The day in UTC and a number of two digits: YYYYMMDDnn. RFC 1912 2.2.
    Date,
}

impl SignOptions {
    /// NSEC, and nothing else changed.
    #[must_use]
    pub fn new(lifetime: SignatureLifetime) -> Self {
        let (denial, serial) = (DenialMethod::Nsec, SerialPolicy::Keep);
        Self { lifetime, denial, serial, zone_digests: Vec::new(), nonce: NonceRule::Hedged }
    }

    pub(super) fn check(&self) -> Result<(), ZoneSignError> {
        self.lifetime.check()?;
        if let DenialMethod::Nsec3(options) = &self.denial {
            if options.iterations > MAX_SIGNED_ITERATIONS {
                return Err(ZoneSignError::Iterations(options.iterations));
            }
            if options.salt.len() > MAX_SALT {
                return Err(ZoneSignError::Salt(options.salt.len()));
            }
        }
        Ok(())
    }
}

impl SignatureLifetime {
    /// From an hour ago, for clocks that are behind, for 30 days. Signatures of a quarter of that are not taken over.
    #[must_use]
    pub fn from(now: u32) -> Self {
        const HOUR: u32 = 3600;
        const DAY: u32 = 24 * HOUR;
        let (inception, expiration) = (now.wrapping_sub(HOUR), now.wrapping_add(30 * DAY));
        let refresh_s = (30 * DAY + HOUR) / 4;
        Self { now, inception, expiration, jitter_s: 0, jitter_seed: 0, refresh_s }
    }

    /// Seconds from the first to the last.
    #[must_use]
    pub fn validity_s(&self) -> u32 {
        self.expiration.wrapping_sub(self.inception)
    }

    /// The last second of a set's signatures.
    pub(super) fn expiration_of(&self, owner: DomainName<'_>, rtype: RecordType) -> u32 {
        let spread = u64::from(self.jitter_s) + 1;
        self.expiration.wrapping_sub((hash(self.jitter_seed, owner, rtype) % spread) as u32)
    }

    fn check(&self) -> Result<(), ZoneSignError> {
        let is_before = |one: u32, two: u32| serial_cmp(one, two) == Ordering::Less;
        if !is_before(self.inception, self.expiration) || self.validity_s() >= MAX_VALIDITY {
            return Err(ZoneSignError::Inception);
        }
        if !is_before(self.now, self.expiration) {
            return Err(ZoneSignError::Expiration);
        }
        let left = self.validity_s().min(self.expiration.wrapping_sub(self.now));
        if self.jitter_s >= left {
            return Err(ZoneSignError::Jitter { jitter_s: self.jitter_s, left_s: left });
        }
        Ok(())
    }
}

/// Spreads names and types evenly: FNV-1a, its bits mixed as in SplitMix64.
fn hash(seed: u64, owner: DomainName<'_>, rtype: RecordType) -> u64 {
    let bytes = owner.as_bytes().iter().copied().chain(rtype.0.to_be_bytes());
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let fnv = bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ fnv >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
