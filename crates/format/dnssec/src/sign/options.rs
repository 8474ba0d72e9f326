//! The options of signing, and the lifetime of signatures.

use std::cmp::Ordering;

use oarlock::NonceRule;

use super::{PresignedSet, ZoneSignError};
use crate::name::DomainName;
use crate::rrsig::serial_cmp;
use crate::rtype::RecordType;

/// The maximum of additional iterations of NSEC3 for signing. With more iterations, validators treat the zone as
/// unsigned. RFC 9276 3.2.
pub const MAX_SIGNED_ITERATIONS: u16 = 150;
const MAX_SALT: usize = 255;
/// The limit of a lifetime: serial numbers further apart have no order. RFC 1982 3.2.
const MAX_VALIDITY: u32 = 1 << 31;

/// The options of signing a zone.
#[derive(Clone, Debug)]
pub struct SignOptions {
    /// The lifetime of signatures.
    pub lifetime: SignatureLifetime,
    /// The method that denies the existence of names.
    pub denial: DenialMethod,
    /// The treatment of the serial number.
    pub serial: SerialPolicy,
    /// The numbers of the zone digests to add: 1 is SHA-384, 2 is SHA-512. RFC 8976 5.3.
    pub zone_digests: Vec<u8>,
    /// The origin of ECDSA nonces.
    pub nonce: NonceRule,
    /// The treatment of records that name servers refuse to load.
    pub load_rules: LoadRules,
    /// Sets at the apex that replace those of the zone, with signatures that the caller has verified.
    pub presigned: Vec<PresignedSet>,
}

/// The treatment of records that name servers refuse to load, see [`LoadRule`](super::LoadRule).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRules {
    /// Signing fails.
    #[default]
    Fail,
    /// They are reported as changes.
    Warn,
}

/// The lifetime of signatures. Times are seconds since 1970 modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureLifetime {
    /// The time of signing.
    pub now: u32,
    /// The first second of validity.
    pub inception: u32,
    /// The last second of validity, before jitter.
    pub expiration: u32,
    /// The maximum jitter in seconds. Signatures expire up to this much earlier, spread evenly over the sets.
    pub jitter_s: u32,
    /// The seed of the jitter. The same seed spreads the sets in the same way.
    pub jitter_seed: u64,
    /// The minimum remaining validity of an earlier signature that is kept, in seconds from now.
    pub refresh_s: u32,
}

/// The method that denies the existence of names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenialMethod {
    /// A chain of names. RFC 4034 section 4.
    Nsec,
    /// A chain of hashed names. RFC 5155.
    Nsec3(Nsec3Options),
}

/// The parameters of the name hash. The defaults are those that RFC 9276 3.1 recommends: no salt and no additional
/// iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nsec3Options {
    /// The number of additional iterations, at most [`MAX_SIGNED_ITERATIONS`].
    pub iterations: u16,
    /// The salt, at most 255 bytes.
    pub salt: Vec<u8>,
    /// True if the chain omits delegations without DS records.
    pub is_opt_out: bool,
}

/// The treatment of a zone's serial number. It never decreases (RFC 1982): if a policy would decrease it, it is
/// incremented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SerialPolicy {
    /// The serial number stays.
    #[default]
    Keep,
    /// The serial number is incremented.
    Increment,
    /// The serial number is the number of seconds since 1970.
    UnixTime,
    /// The serial number is the day in UTC and a number of two digits: YYYYMMDDnn. RFC 1912 2.2.
    Date,
}

impl SignOptions {
    /// Makes options for NSEC with an unchanged serial number.
    #[must_use]
    pub fn new(lifetime: SignatureLifetime) -> Self {
        let (denial, serial) = (DenialMethod::Nsec, SerialPolicy::Keep);
        Self {
            lifetime,
            denial,
            serial,
            zone_digests: Vec::new(),
            nonce: NonceRule::Hedged,
            load_rules: LoadRules::default(),
            presigned: Vec::new(),
        }
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
    /// Makes a lifetime from an hour ago, for clocks that are slow, to 30 days from now. Earlier signatures are kept
    /// if more than a quarter of that remains.
    #[must_use]
    pub fn from(now: u32) -> Self {
        const HOUR: u32 = 3600;
        const DAY: u32 = 24 * HOUR;
        let (inception, expiration) = (now.wrapping_sub(HOUR), now.wrapping_add(30 * DAY));
        let refresh_s = (30 * DAY + HOUR) / 4;
        Self { now, inception, expiration, jitter_s: 0, jitter_seed: 0, refresh_s }
    }

    /// Returns the number of seconds from the first to the last second of validity.
    #[must_use]
    pub fn validity_s(&self) -> u32 {
        self.expiration.wrapping_sub(self.inception)
    }

    /// Returns the last second of validity of a set's signatures.
    pub(super) fn expiration_of(&self, owner: DomainName<'_>, rtype: RecordType) -> u32 {
        // A hash and not a random number: a second run over the same zone gives the same signatures.
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
        // The inception may lie in the future, and then validity begins there.
        let left = self.validity_s().min(self.expiration.wrapping_sub(self.now));
        if self.jitter_s >= left {
            return Err(ZoneSignError::Jitter { jitter_s: self.jitter_s, left_s: left });
        }
        Ok(())
    }
}

/// Hashes a name and a type: FNV-1a, finished as in SplitMix64, so that close inputs spread evenly.
fn hash(seed: u64, owner: DomainName<'_>, rtype: RecordType) -> u64 {
    let bytes = owner.as_bytes().iter().copied().chain(rtype.0.to_be_bytes());
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let fnv = bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ fnv >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
