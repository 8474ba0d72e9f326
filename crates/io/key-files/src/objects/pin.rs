//! PINs: rules, states, and the master key wrapped under them.

use aws_lc_rs::rand;
use zeroize::Zeroizing;

use super::error::StoreFault;
use super::master_key::{KEY_LEN, MasterKey, SealingKey};
use super::role::PinRole;

/// scrypt's N = 2^14, r and p: 16 MiB of memory for each try. RFC 7914 section 2.
const COST: ScryptCost = ScryptCost { log_n: 14, r: 8, p: 1 };
/// The limits of a file's cost: 256 MiB. A file must not make a login take all memory.
const MAX_COST: ScryptCost = ScryptCost { log_n: 18, r: 8, p: 4 };
const SALT_LEN: usize = 16;
pub(super) const EPOCH_LEN: usize = 16;

/// The longest PIN that rules may allow, in bytes.
const MAX_PIN_BYTES: u32 = 255;

/// The random number of one initialisation of a store.
pub(super) type StoreEpoch = [u8; EPOCH_LEN];

/// The rules for PINs of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinRules {
    /// The minimum length in bytes.
    pub min_bytes: u32,
    /// The maximum length in bytes, not above 255.
    pub max_bytes: u32,
    /// The number of wrong tries that lock a PIN, 1 to 255.
    pub max_tries: u32,
}

/// The state of a PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinState {
    /// True if there is a PIN.
    pub is_set: bool,
    /// The number of tries before the PIN is locked.
    pub tries_left: u32,
    /// The number of tries after a successful login.
    pub max_tries: u32,
}

/// The tries that are left, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinLevel {
    /// No wrong PIN since the last successful login.
    Full,
    /// At least one wrong PIN since the last successful login.
    Low,
    /// One more wrong PIN locks it.
    FinalTry,
    /// No try is left.
    Locked,
}

/// The master key, wrapped under a PIN.
#[derive(Debug)]
pub(super) struct WrappedMaster {
    pub(super) cost: ScryptCost,
    pub(super) salt: Vec<u8>,
    pub(super) wrapped: Vec<u8>,
}

/// The cost of a try: N = 2^log_n, block size r, parallelization p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScryptCost {
    pub(super) log_n: u8,
    pub(super) r: u32,
    pub(super) p: u32,
}

/// PINs of 4 to 255 bytes, locked after ten wrong tries.
impl Default for PinRules {
    fn default() -> Self {
        Self { min_bytes: 4, max_bytes: MAX_PIN_BYTES, max_tries: 10 }
    }
}

impl PinRules {
    pub(super) fn check(self) -> Result<Self, StoreFault> {
        let is_usable = 1 <= self.min_bytes
            && self.min_bytes <= self.max_bytes
            && self.max_bytes <= MAX_PIN_BYTES
            && (1..=255).contains(&self.max_tries);
        if is_usable { Ok(self) } else { Err(StoreFault::PinRules) }
    }

    pub(super) fn check_pin(&self, pin: &[u8]) -> Result<(), StoreFault> {
        let (found, min, max) = (pin.len(), self.min_bytes as usize, self.max_bytes as usize);
        if (min..=max).contains(&found) { Ok(()) } else { Err(StoreFault::PinLength { found, min, max }) }
    }
}

impl PinState {
    /// Returns the tries that are left, in words.
    #[must_use]
    pub fn level(&self) -> PinLevel {
        match self.tries_left {
            0 => PinLevel::Locked,
            1 => PinLevel::FinalTry,
            left if left >= self.max_tries => PinLevel::Full,
            _ => PinLevel::Low,
        }
    }
}

impl WrappedMaster {
    /// Wraps the master key under a PIN, with a new salt.
    pub(super) fn wrap(
        role: PinRole,
        epoch: &StoreEpoch,
        master: &MasterKey,
        pin: &[u8],
    ) -> Result<Self, StoreFault> {
        let mut salt = vec![0; SALT_LEN];
        rand::fill(&mut salt).map_err(|_| StoreFault::Machine("drawing random bytes"))?;
        let key = COST.derive(pin, &salt)?;
        let wrapped = key.seal(&associated(role, epoch, COST, &salt), master.expose())?;
        Ok(Self { cost: COST, salt, wrapped })
    }

    /// Unwraps the master key. Returns None if the PIN is wrong, or if the stored bytes were changed, which looks the
    /// same.
    pub(super) fn unwrap(
        &self,
        role: PinRole,
        epoch: &StoreEpoch,
        pin: &[u8],
    ) -> Result<Option<MasterKey>, StoreFault> {
        let key = self.cost.derive(pin, &self.salt)?;
        let master = key.open(&associated(role, epoch, self.cost, &self.salt), &self.wrapped);
        Ok(master.and_then(|master| MasterKey::from_slice(&master)))
    }
}

impl ScryptCost {
    pub(super) fn is_allowed(self) -> bool {
        (1..=MAX_COST.log_n).contains(&self.log_n)
            && (1..=MAX_COST.r).contains(&self.r)
            && (1..=MAX_COST.p).contains(&self.p)
    }

    fn derive(self, pin: &[u8], salt: &[u8]) -> Result<SealingKey, StoreFault> {
        let failed = || StoreFault::Machine("scrypt");
        let params = scrypt::Params::new(self.log_n, self.r, self.p).map_err(|_| failed())?;
        let mut key = Zeroizing::new([0; KEY_LEN]);
        scrypt::scrypt(pin, salt, &params, &mut *key).map_err(|_| failed())?;
        SealingKey::new(&*key)
    }
}

/// Binds a wrapped key to its role, its store and its cost: a copy for another role or from another store is useless.
fn associated(role: PinRole, epoch: &StoreEpoch, cost: ScryptCost, salt: &[u8]) -> Vec<u8> {
    let mut bytes = b"oarlock pin\0".to_vec();
    bytes.extend([role.number(), cost.log_n]);
    bytes.extend([cost.r, cost.p].map(u32::to_be_bytes).as_flattened());
    bytes.extend(epoch);
    bytes.extend(salt);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_unwraps_under_its_own_pin_role_and_store_only() {
        let (master, epoch) = (MasterKey::generate().unwrap(), [3; EPOCH_LEN]);
        let wrapped = WrappedMaster::wrap(PinRole::User, &epoch, &master, b"1234").unwrap();
        let unwrap = |role, epoch: &StoreEpoch, pin: &[u8]| wrapped.unwrap(role, epoch, pin).unwrap();
        assert_eq!(unwrap(PinRole::User, &epoch, b"1234").unwrap().expose(), master.expose());
        assert!(unwrap(PinRole::User, &epoch, b"1235").is_none());
        assert!(unwrap(PinRole::User, &epoch, b"12345").is_none());
        assert!(unwrap(PinRole::SecurityOfficer, &epoch, b"1234").is_none());
        assert!(unwrap(PinRole::User, &[4; EPOCH_LEN], b"1234").is_none());
        let again = WrappedMaster::wrap(PinRole::User, &epoch, &master, b"1234").unwrap();
        assert_ne!((again.salt, again.wrapped), (wrapped.salt, wrapped.wrapped));
    }

    #[test]
    fn the_cost_is_that_of_the_documents_and_files_cannot_raise_it_much() {
        let params = scrypt::Params::new(COST.log_n, COST.r, COST.p).unwrap();
        assert_eq!((params.n(), params.r(), params.p()), (1 << 14, 8, 1));
        assert!(COST.is_allowed() && MAX_COST.is_allowed());
        for cost in [
            ScryptCost { log_n: 0, ..COST },
            ScryptCost { log_n: 19, ..COST },
            ScryptCost { r: 0, ..COST },
            ScryptCost { r: 9, ..COST },
            ScryptCost { p: 0, ..COST },
            ScryptCost { p: u32::MAX, ..COST },
        ] {
            assert!(!cost.is_allowed(), "{cost:?}");
        }
    }

    #[test]
    fn rules_and_levels_have_borders() {
        let rules = PinRules::default();
        for (len, is_fine) in [(0, false), (3, false), (4, true), (255, true), (256, false)] {
            assert_eq!(rules.check_pin(&vec![b'1'; len]).is_ok(), is_fine, "{len}");
        }
        for rules in [
            PinRules { min_bytes: 0, ..rules },
            PinRules { min_bytes: 9, max_bytes: 8, ..rules },
            PinRules { max_bytes: 256, ..rules },
            PinRules { max_tries: 0, ..rules },
            PinRules { max_tries: 256, ..rules },
        ] {
            assert!(rules.check().is_err(), "{rules:?}");
        }
        let level = |tries_left, max_tries| PinState { is_set: true, tries_left, max_tries }.level();
        assert_eq!(
            (level(10, 10), level(9, 10), level(2, 10)),
            (PinLevel::Full, PinLevel::Low, PinLevel::Low)
        );
        assert_eq!((level(1, 10), level(0, 10)), (PinLevel::FinalTry, PinLevel::Locked));
        assert_eq!((level(1, 1), level(0, 1)), (PinLevel::FinalTry, PinLevel::Locked));
    }
}
