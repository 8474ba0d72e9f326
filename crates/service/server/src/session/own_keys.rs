//! The keys that clients bring.

use std::sync::Arc;

use oarlock::keys::import;
use oarlock::{Key, KeyKind, SlhDsaSet, keys};
use oarlock_keytable::{KeyPolicy, KeyTable, KeyType, TableError};
use oarlock_wire::proto::{Blame, Code, Fault};

use super::faults::{bad_key, refusal, retry_ms};
use crate::clients::ClientAccount;
use crate::config::{RSA_KEY_UNITS, ServerLimits};

/// The maximum length in bytes of a key that a client brings. PEM of an RSA key of 16,384 bits has 13 KiB.
const MAX_KEY_BYTES: usize = 64 << 10;

/// The maximum number of hashes of a tree that a connection's thread computes: those of all sets for fast signatures.
const MAX_TREE_HASHES: usize = 20_000;

/// The symmetric keys that a stream has brought and has open.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnKeys {
    /// The keys by index, for batches that use the server's keys too. A closed key leaves a key of zeros in its place.
    pub(super) keys: Vec<Key>,
    /// The same keys by the same indices, each with every operation that its type has for data.
    pub(super) table: KeyTable,
    /// The names in the table, by index.
    names: Vec<Arc<str>>,
    /// The number of names that have been given.
    last_name: u64,
}

impl OwnKeys {
    /// Adds a key and returns its index.
    pub(super) fn add(&mut self, key_type: KeyType, key: &Key) -> Result<u32, TableError> {
        self.last_name += 1;
        let name: Arc<str> = self.last_name.to_string().into();
        let secret = key.secret().cloned().unwrap_or_default();
        let added = self.table.insert(Arc::clone(&name), key_type, secret, KeyPolicy::any_data(key_type))?;
        let index = added.index as usize;
        match (self.keys.get_mut(index), self.names.get_mut(index)) {
            (Some(former), Some(former_name)) => (*former, *former_name) = (key.clone(), name),
            _ => {
                self.keys.push(key.clone());
                self.names.push(name);
            }
        }
        Ok(added.index)
    }

    /// Removes a key. A later key gets its index.
    pub(super) fn remove(&mut self, index: u32) {
        let Some(name) = self.names.get(index as usize) else { return };
        // Recycling keeps the table from growing while a client opens and closes keys.
        self.table.recycle(name);
        if let Ok(zeros) = keys::raw::secret(vec![0; 16]) {
            self.keys[index as usize] = zeros;
        }
    }
}

/// Reads an asymmetric key that a client brings.
///
/// # Errors
/// The key is too long, cannot be parsed, or exceeds a limit.
pub(super) fn import_client_key(
    limits: &ServerLimits,
    account: &ClientAccount,
    bytes: &[u8],
) -> Result<Key, Fault> {
    // The bound of the length comes first, and the rate before anything that takes longer than to decode PEM.
    if bytes.len() > MAX_KEY_BYTES {
        let message = format!("the key has {} bytes: expected {MAX_KEY_BYTES} at most", bytes.len());
        return Err(refusal(Code::BadKey, &message, Blame::Caller));
    }
    let units = import::slh_dsa_set(bytes).map_or(Ok(1), tree_units);
    // A refused key counts as one, so that a client cannot ask without end.
    count_brought_key(limits, account, *units.as_ref().unwrap_or(&1))?;
    units?;
    let key = import::any(bytes, None).map_err(bad_key)?;
    let max = limits.max_brought_rsa_bits;
    match key.composite().map_or(key.kind(), |parts| parts.traditional.kind()) {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) if bits > max => {
            let message = format!(
                "the RSA key has {bits} bits: keys that clients bring have {max} at most ([limits] max_brought_rsa_bits)"
            );
            Err(refusal(Code::BadKey, &message, Blame::Caller))
        }
        // Counted after the import, because the kind is known only then.
        KeyKind::RsaPrivate(_) => count_brought_key(limits, account, RSA_KEY_UNITS - 1).map(|()| key),
        _ => Ok(key),
    }
}

/// Returns the units of an SLH-DSA private key, whose import computes a tree.
///
/// # Errors
/// The tree takes too long for the thread of a connection.
fn tree_units(set: SlhDsaSet) -> Result<u32, Fault> {
    if set.root_hashes() > MAX_TREE_HASHES {
        let message = format!(
            "the key is {set}: clients bring no private keys of this set, whose check takes up to 0.3 s: expected a set with an f, or keep the key at the server"
        );
        return Err(refusal(Code::BadKey, &message, Blame::Caller));
    }
    let per_unit = if set.is_shake() { 50 } else { 200 };
    Ok((set.root_hashes() / per_unit) as u32)
}

/// Counts a key against the rate at which a client may bring keys.
///
/// # Errors
/// The rate is used up.
pub(super) fn count_brought_key(
    limits: &ServerLimits,
    account: &ClientAccount,
    units: u32,
) -> Result<(), Fault> {
    account.brought_keys.take(units).map_err(|wait| {
        let max = limits.max_brought_keys_per_second;
        let message = format!(
            "this client brings keys too often: {max} per second are allowed ([limits] max_brought_keys_per_second)"
        );
        Fault { retry_after_ms: retry_ms(wait), ..refusal(Code::ResourceExhausted, &message, Blame::Caller) }
    })
}

/// Returns the refusal of a key that a client brings to a server that accepts none.
pub(super) fn no_brought_keys() -> Fault {
    let message = "no client may bring keys here ([limits] may_bring_keys is false)";
    refusal(Code::PermissionDenied, message, Blame::Caller)
}
