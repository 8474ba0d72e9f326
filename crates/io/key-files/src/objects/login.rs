//! Logins: tries that are counted before they are judged, and PINs that are set.
//!
//! A try is subtracted on disk first, and given back after the PIN turned out to be right. So a process that is killed
//! in between has used a try. All tries on a store stand in one line ([`LoginLock`]), so that correct PINs at the same
//! moment do not use up the tries of each other.

use std::fmt;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::database::{Database, LoginLock};
use super::error::{DamagedContent, StoreFault};
use super::master_key::MasterKey;
use super::pin::{PinRules, PinState, ScryptCost, StoreEpoch, WrappedMaster};
use super::role::PinRole;
use super::rows::ObjectAccess;

/// A successful login: the master key of a store, in memory that is zeroized when the last copy is dropped. Any number
/// of threads may use it.
#[derive(Clone)]
pub struct StoreLogin(Arc<LoginSecret>);

struct LoginSecret {
    role: PinRole,
    epoch: StoreEpoch,
    master: MasterKey,
}

impl StoreLogin {
    /// Returns the role that has logged in.
    #[must_use]
    pub fn role(&self) -> PinRole {
        self.0.role
    }

    /// Returns what the login shows, if the store has not been initialised since.
    pub(super) fn access(&self, connection: &Connection) -> Result<ObjectAccess, StoreFault> {
        self.check_epoch(connection)?;
        let key = self.0.master.sealing_key()?;
        Ok(ObjectAccess { key: Some(key), sees_private: self.role() == PinRole::User })
    }

    fn check_epoch(&self, connection: &Connection) -> Result<(), StoreFault> {
        if read_epoch(connection)? == self.0.epoch { Ok(()) } else { Err(StoreFault::LoginEnded) }
    }
}

impl fmt::Debug for StoreLogin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "StoreLogin({})", self.0.role)
    }
}

/// A try that has been subtracted.
struct CountedTry {
    role: PinRole,
    epoch: StoreEpoch,
    tries_left: u32,
    wrapped: WrappedMaster,
}

/// Tries a PIN.
pub(super) fn login(database: &Database, role: PinRole, pin: &[u8]) -> Result<StoreLogin, StoreFault> {
    let lock = database.lock_logins()?;
    let (epoch, master) = try_pin(database, &lock, role, pin)?;
    Ok(StoreLogin(Arc::new(LoginSecret { role, epoch, master })))
}

/// Replaces a PIN after a try of the old one.
pub(super) fn set_pin(database: &Database, role: PinRole, old: &[u8], new: &[u8]) -> Result<(), StoreFault> {
    database.read(|read| read_rules(read)?.check_pin(new))?;
    let lock = database.lock_logins()?;
    let (epoch, master) = try_pin(database, &lock, role, old)?;
    let wrapped = WrappedMaster::wrap(role, &epoch, &master, new)?;
    database.write(|transaction| {
        let is_same = read_epoch(transaction)? == epoch;
        if is_same { write_pin(transaction, role, &wrapped) } else { Err(StoreFault::LoginEnded) }
    })?;
    // The key wrapped under the old PIN does not stay in the log.
    database.empty_log();
    Ok(())
}

/// Sets the user PIN with the login of the security officer. This also unlocks it.
pub(super) fn init_pin(database: &Database, login: &StoreLogin, new: &[u8]) -> Result<(), StoreFault> {
    if login.role() != PinRole::SecurityOfficer {
        return Err(StoreFault::WrongRole { expected: PinRole::SecurityOfficer });
    }
    database.read(|read| {
        login.check_epoch(read)?;
        read_rules(read)?.check_pin(new)
    })?;
    let _lock = database.lock_logins()?;
    let wrapped = WrappedMaster::wrap(PinRole::User, &login.0.epoch, &login.0.master, new)?;
    database.write(|transaction| {
        login.check_epoch(transaction)?;
        write_pin(transaction, PinRole::User, &wrapped)
    })?;
    database.empty_log();
    Ok(())
}

/// Tries a PIN and returns the master key. The caller holds the lock until it has used the result.
pub(super) fn try_pin(
    database: &Database,
    _lock: &LoginLock,
    role: PinRole,
    pin: &[u8],
) -> Result<(StoreEpoch, MasterKey), StoreFault> {
    let counted = count_try(database, role, pin)?;
    let CountedTry { epoch, tries_left, .. } = counted;
    match counted.wrapped.unwrap(role, &epoch, pin)? {
        Some(master) => {
            database.write(|transaction| give_back_tries(transaction, counted.role))?;
            Ok((epoch, master))
        }
        None => Err(StoreFault::PinWrong { role, tries_left }),
    }
}

/// Subtracts a try. It is on disk when this returns. A PIN of a forbidden length is no try.
fn count_try(database: &Database, role: PinRole, pin: &[u8]) -> Result<CountedTry, StoreFault> {
    database.write(|transaction| {
        read_rules(transaction)?.check_pin(pin)?;
        let epoch = read_epoch(transaction)?;
        let (tries, wrapped) = read_pin(transaction, role)?.ok_or(StoreFault::PinNotSet(role))?;
        let tries_left = tries.checked_sub(1).ok_or(StoreFault::PinLocked(role))?;
        transaction
            .execute("UPDATE pin SET tries_left = ?2 WHERE role = ?1", params![role.number(), tries_left])?;
        Ok(CountedTry { role, epoch, tries_left, wrapped })
    })
}

fn give_back_tries(transaction: &Transaction<'_>, role: PinRole) -> Result<(), StoreFault> {
    transaction.execute(
        "UPDATE pin SET tries_left = (SELECT max_tries FROM token) WHERE role = ?1",
        [role.number()],
    )?;
    Ok(())
}

/// Writes the master key wrapped under a new PIN, with all its tries.
pub(super) fn write_pin(
    transaction: &Transaction<'_>,
    role: PinRole,
    wrapped: &WrappedMaster,
) -> Result<(), StoreFault> {
    let WrappedMaster { cost: ScryptCost { log_n, r, p }, salt, wrapped } = wrapped;
    transaction.execute(
        "INSERT OR REPLACE INTO pin (role, tries_left, log_n, r, p, salt, wrapped)
         VALUES (?1, (SELECT max_tries FROM token), ?2, ?3, ?4, ?5, ?6)",
        params![role.number(), log_n, r, p, salt, wrapped],
    )?;
    Ok(())
}

pub(super) fn read_state(connection: &Connection, role: PinRole) -> Result<PinState, StoreFault> {
    let max_tries = read_rules(connection)?.max_tries;
    Ok(match read_pin(connection, role)? {
        Some((tries_left, _)) => PinState { is_set: true, tries_left, max_tries },
        None => PinState { is_set: false, tries_left: max_tries, max_tries },
    })
}

pub(super) fn read_rules(connection: &Connection) -> Result<PinRules, StoreFault> {
    let rules =
        connection.query_row("SELECT pin_min_bytes, pin_max_bytes, max_tries FROM token", [], |row| {
            Ok(PinRules { min_bytes: row.get(0)?, max_bytes: row.get(1)?, max_tries: row.get(2)? })
        })?;
    rules.check().map_err(|_| StoreFault::damaged(DamagedContent::Description))
}

fn read_epoch(connection: &Connection) -> Result<StoreEpoch, StoreFault> {
    Ok(connection.query_row("SELECT epoch FROM token", [], |row| row.get(0))?)
}

/// Reads the tries that are left for a PIN, and the key wrapped under it.
fn read_pin(connection: &Connection, role: PinRole) -> Result<Option<(u32, WrappedMaster)>, StoreFault> {
    let query = "SELECT tries_left, log_n, r, p, salt, wrapped FROM pin WHERE role = ?1";
    let pin = connection.query_row(query, [role.number()], |row| {
        let cost = ScryptCost { log_n: row.get(1)?, r: row.get(2)?, p: row.get(3)? };
        Ok((row.get(0)?, WrappedMaster { cost, salt: row.get(4)?, wrapped: row.get(5)? }))
    });
    let pin = pin.optional()?;
    match &pin {
        Some((_, wrapped)) if !wrapped.cost.is_allowed() => {
            Err(StoreFault::damaged(DamagedContent::Description))
        }
        _ => Ok(pin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{ObjectStore, PinLevel};

    #[test]
    fn a_try_is_on_disk_before_it_is_judged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let rules = PinRules { max_tries: 3, ..PinRules::default() };
        let store = ObjectStore::create(&path, "t", b"so-pin", rules).unwrap();
        let role = PinRole::SecurityOfficer;
        for (tries_left, level) in [(2, PinLevel::Low), (1, PinLevel::FinalTry), (0, PinLevel::Locked)] {
            // The process ends here, with the right PIN even: nothing judges the try.
            assert_eq!(count_try(store.database(), role, b"so-pin").unwrap().tries_left, tries_left);
            let elsewhere = ObjectStore::open(&path).unwrap();
            let state = elsewhere.pin_state(role).unwrap();
            assert_eq!((state.tries_left, state.level()), (tries_left, level));
        }
        let error = store.login(role, b"so-pin").unwrap_err();
        assert!(matches!(error.fault, StoreFault::PinLocked(PinRole::SecurityOfficer)), "{error}");
    }
}
