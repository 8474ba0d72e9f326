//! The keys of devices: looked up in the background, and again after a device was away.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock::Key;
use oarlock_hsm::{HsmError, HsmKey, HsmSet, Pkcs11Uri};

/// The keys of devices by their names.
#[derive(Debug, Default)]
pub(super) struct DeviceKeys {
    /// The devices; `None` if there are none, or if the configuration is only checked.
    devices: Option<HsmSet>,
    uris: BTreeMap<String, Pkcs11Uri>,
    shared: Arc<SharedKeys>,
}

/// The state of each key, which threads of the devices change.
#[derive(Debug, Default)]
struct SharedKeys {
    keys: Mutex<BTreeMap<String, DeviceKey>>,
    /// Wakes who waits for answers.
    answered: Condvar,
}

/// A key of a device.
#[derive(Debug, Default)]
struct DeviceKey {
    /// The key as the device described it last.
    key: Option<HsmKey>,
    /// True until the device has answered.
    is_asked: bool,
    /// True if the device has to be asked, although it has described the key.
    is_outdated: bool,
    /// True if the key has changed since the last refresh.
    is_changed: bool,
    /// The reason why the device did not describe it.
    fault: Option<HsmError>,
    /// True if the fault has been reported.
    is_reported: bool,
}

/// The changes since the last refresh.
#[derive(Debug, Default)]
pub(super) struct DeviceKeyChanges {
    /// The names of keys that are new, were replaced, or are gone.
    pub(super) changed: Vec<String>,
    /// The names of keys that are not available, with the reasons. Each is reported once.
    pub(super) faults: Vec<(String, HsmError)>,
}

impl DeviceKeyChanges {
    pub(super) fn is_none(&self) -> bool {
        self.changed.is_empty() && self.faults.is_empty()
    }
}

impl DeviceKeys {
    /// Returns the keys of some names, which have not been looked up.
    pub(super) fn new(devices: Option<HsmSet>, uris: BTreeMap<String, Pkcs11Uri>) -> Self {
        Self { devices, uris, shared: Arc::default() }
    }

    /// Replaces the names. Every key is looked up again; those that are known stay in use until the answers come.
    pub(super) fn replace_names(&mut self, uris: BTreeMap<String, Pkcs11Uri>) {
        let before = mem::replace(&mut self.uris, uris);
        let mut keys = self.shared.lock();
        // A name that stands for another object now has another key.
        keys.retain(|name, _| self.uris.contains_key(name) && self.uris.get(name) == before.get(name));
        keys.values_mut().for_each(|key| key.is_outdated = true);
    }

    /// Adds a key that the devices have described.
    pub(super) fn add(&mut self, name: String, uri: Pkcs11Uri, key: HsmKey) {
        self.shared.lock().entry(name.clone()).or_default().take(Ok(key));
        self.uris.insert(name, uri);
    }

    /// Asks for the keys that are not known, and returns what has changed since the last time.
    pub(super) fn refresh(&self) -> DeviceKeyChanges {
        self.ask();
        let mut changes = DeviceKeyChanges::default();
        for (name, key) in self.shared.lock().iter_mut() {
            if mem::take(&mut key.is_changed) {
                changes.changed.push(name.clone());
            }
            if let Some(fault) = key.fault.as_ref().filter(|_| !mem::replace(&mut key.is_reported, true)) {
                changes.faults.push((name.clone(), fault.clone()));
            }
        }
        changes
    }

    /// Asks for the keys that are not known, and waits for the answers of the devices, at most for some time.
    pub(super) fn wait(&self, max: Duration) {
        self.ask();
        let is_asked = |keys: &mut BTreeMap<_, DeviceKey>| keys.values().any(|key| key.is_asked);
        drop(self.shared.answered.wait_timeout_while(self.shared.lock(), max, is_asked));
    }

    /// Sets the private keys of files, with which results of devices are compared.
    pub(super) fn set_twins(&self, keys: impl Iterator<Item = Key>) {
        if let Some(devices) = &self.devices {
            devices.set_twins(keys);
        }
    }

    /// Returns the keys that devices have described.
    pub(super) fn found(&self) -> Vec<(String, HsmKey)> {
        let keys = self.shared.lock();
        keys.iter().filter_map(|(name, key)| Some((name.clone(), key.key.clone()?))).collect()
    }

    /// Returns the names without a key, with the reasons.
    pub(super) fn missing(&self) -> BTreeMap<Arc<str>, String> {
        let keys = self.shared.lock();
        let reason = |name: &str| match keys.get(name) {
            Some(DeviceKey { key: Some(_), .. }) => None,
            Some(DeviceKey { fault: Some(fault), .. }) => Some(fault.to_string()),
            _ => Some("it has not answered yet".to_owned()),
        };
        self.uris.keys().filter_map(|name| Some((name.as_str().into(), reason(name)?))).collect()
    }

    fn ask(&self) {
        let Some(devices) = &self.devices else { return };
        let unknown: Vec<(&String, &Pkcs11Uri)> = {
            let mut keys = self.shared.lock();
            self.uris.iter().filter(|(name, _)| keys.entry((*name).clone()).or_default().begin()).collect()
        };
        // Without the lock: a device that is not available answers at once, on this thread.
        for (name, uri) in unknown {
            let (shared, name) = (Arc::clone(&self.shared), name.clone());
            devices.look_up(uri, move |answer| shared.take(&name, answer));
        }
    }
}

impl SharedKeys {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, DeviceKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, name: &str, answer: Result<HsmKey, HsmError>) {
        // A key that the configuration does not name any more is not there.
        if let Some(key) = self.lock().get_mut(name) {
            key.take(answer);
        }
        self.answered.notify_all();
    }
}

impl DeviceKey {
    /// Returns true if the device has to be asked now, and notes that it is.
    fn begin(&mut self) -> bool {
        let is_needed = (self.key.is_none() || self.is_outdated) && !self.is_asked;
        self.is_asked |= is_needed;
        is_needed
    }

    fn take(&mut self, answer: Result<HsmKey, HsmError>) {
        self.is_asked = false;
        match answer {
            Ok(key) => {
                // The old handle stays in use if it is the same key, because engines have computed tables for it.
                if !self.key.as_ref().is_some_and(|old| old.is_same(&key)) {
                    (self.key, self.is_changed) = (Some(key), true);
                }
                (self.fault, self.is_outdated, self.is_reported) = (None, false, false);
            }
            Err(fault) => {
                self.is_reported &= self.fault.as_ref() == Some(&fault);
                self.fault = Some(fault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock::Curve;
    use oarlock::keys::generate;

    use super::*;

    #[test]
    fn a_fault_is_reported_once_and_a_known_key_outlives_it() {
        let mut key = DeviceKey::default();
        assert!(key.begin() && !key.begin(), "asked once");
        key.take(Err(HsmError::Closed));
        assert!(key.begin());
        key.is_reported = true;
        key.take(Err(HsmError::Closed));
        assert!(key.is_reported, "the same reason is no news");
        key.take(Err(HsmError::Forked));
        assert!(!key.is_reported);
        let found = HsmKey::Private(generate::ec(Curve::P256).unwrap());
        key.take(Ok(found.clone()));
        assert!(mem::take(&mut key.is_changed) && key.fault.is_none() && !key.begin());
        key.is_outdated = true;
        assert!(key.begin());
        key.take(Err(HsmError::Closed));
        assert!(key.key.is_some() && !key.is_changed, "the last key stays in use");
        key.take(Ok(found));
        assert!(!key.is_changed, "it is the same key");
        key.take(Ok(HsmKey::Private(generate::ec(Curve::P256).unwrap())));
        assert!(key.is_changed);
    }
}
