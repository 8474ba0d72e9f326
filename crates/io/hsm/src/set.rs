//! The devices of a service as one holder of keys.

mod batches;
mod cross_check;
mod device;
mod routing;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use oarlock::engine_api::{Batch, Completion, HeldOutcomes, Holder, OwnedJobs};
use oarlock::keys::held;
use oarlock::{Accelerator, Fingerprint, JobError, Key};

pub use self::device::DeviceReport;
use self::device::SetDevice;
use self::routing::RoutedJobs;
use crate::settings::HSM_HOLDER;
use crate::{HsmError, HsmKey, HsmSettings, Pkcs11Uri, UriClass};

/// The devices of a service as the holder [`HSM_HOLDER`]. Cheap to clone.
///
/// A key may be in several devices: those whose token its URI names. A job goes to the device that will finish it
/// first, by what waits there and by the time that its jobs have taken; devices alike take turns. A device that fails
/// gives its jobs to the others. So does one that has no such key, or another key of this name: the public half
/// decides.
#[derive(Clone)]
pub struct HsmSet(Arc<SetOwner>);

/// Closes the devices with the last handle. Jobs in progress have handles of [`SetDevices`].
struct SetOwner(Arc<SetDevices>);

/// The devices, and the number of choices among them.
struct SetDevices {
    devices: Vec<SetDevice>,
    turn: AtomicUsize,
    /// Verifies signatures and computes checks on this machine.
    checker: Accelerator,
    /// Private keys of this process, with which results of devices are compared.
    twins: Mutex<HashMap<Fingerprint, Key>>,
}

impl HsmSet {
    /// Opens devices. It does not wait for their tokens. `checker` verifies signatures on this machine.
    ///
    /// # Errors
    /// [`HsmError::Settings`] for settings of a device or for two devices of one name, and [`HsmError::NoThread`] or
    /// [`HsmError::NoProcess`] if the system gives none.
    pub fn open(
        settings: impl IntoIterator<Item = HsmSettings>,
        checker: &Accelerator,
    ) -> Result<Self, HsmError> {
        let settings: Vec<HsmSettings> = settings.into_iter().collect();
        HsmSettings::check_all(&settings)?;
        let devices = settings.into_iter().map(|settings| SetDevice::open(settings, checker));
        let devices = devices.collect::<Result<_, _>>()?;
        let (turn, checker, twins) = (AtomicUsize::new(0), checker.clone(), Mutex::default());
        Ok(Self(Arc::new(SetOwner(Arc::new(SetDevices { devices, turn, checker, twins })))))
    }

    /// Returns a private key as a held key with its public half. Blocks until a device has described the key. A key
    /// that may sign makes one signature, to see that both halves belong together.
    ///
    /// `uri` names the key by `object`, by `id` or by both, and with `token` or another attribute the device.
    ///
    /// # Errors
    /// No device has the token, none is available, or none has such a key.
    pub fn key(&self, uri: &Pkcs11Uri) -> Result<Key, HsmError> {
        let (answer, answers) = mpsc::channel();
        // An error means that nobody waits any more.
        self.look_up(uri, move |found| drop(answer.send(found)));
        answers.recv().unwrap_or(Err(HsmError::Closed))?.into_private(uri)
    }

    /// Returns a key without waiting: as [`key`](Self::key), or a secret key, if the URI says so. `answer` gets the
    /// result on a thread of a device, and must not block.
    pub fn look_up(&self, uri: &Pkcs11Uri, answer: impl FnOnce(Result<HsmKey, HsmError>) + Send + 'static) {
        routing::look_up(Arc::clone(&self.0.0), uri.clone(), Box::new(answer));
    }

    /// Returns a private key whose public half is known, such as that of a certificate, a SubjectPublicKeyInfo in DER.
    /// No device is asked: one that has another key of this name refuses its jobs.
    ///
    /// # Errors
    /// [`HsmError::NoDevice`], [`HsmError::KeyName`], or [`HsmError::PublicHalf`] if `spki` is none.
    pub fn key_from_spki(&self, uri: &Pkcs11Uri, spki: &[u8]) -> Result<Key, HsmError> {
        let is_named = uri.object.is_some() || uri.id.is_some();
        if !is_named || uri.class.is_some_and(|class| class != UriClass::Private) {
            return Err(HsmError::KeyName { found: uri.to_string() });
        }
        if self.0.0.named_by(uri).next().is_none() {
            return Err(HsmError::NoDevice { wanted: uri.to_string() });
        }
        let reference = uri.key_name().to_string();
        held::from_spki(spki, HSM_HOLDER, &reference)
            .map_err(|reason| HsmError::PublicHalf { key: reference, reason })
    }

    /// Sets the private keys of this process that devices may have too. A share of the devices' results is compared
    /// with theirs (`cross_check` of the settings).
    pub fn set_twins(&self, keys: impl IntoIterator<Item = Key>) {
        let keys = keys.into_iter().map(|key| (key.fingerprint(), key)).collect();
        *self.0.0.twins.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// Returns the state and the statistics of each device, in the order of the settings.
    #[must_use]
    pub fn report(&self) -> Vec<DeviceReport> {
        self.0.0.devices.iter().map(SetDevice::report).collect()
    }
}

impl SetDevices {
    /// Returns the indices of the devices that may have the token of a URI.
    fn named_by(&self, uri: &Pkcs11Uri) -> impl Iterator<Item = usize> {
        let devices = self.devices.iter().enumerate();
        devices.filter(|(_, device)| device.settings.may_be_named_by(uri)).map(|(index, _)| index)
    }

    /// Returns the devices that may have a key, are trusted and have not been asked, the best first.
    fn ranked(self: &Arc<Self>, reference: &str, asked: &[usize]) -> Vec<usize> {
        let Ok(uri) = reference.parse::<Pkcs11Uri>() else { return Vec::new() };
        let candidates =
            self.named_by(&uri).filter(|index| !asked.contains(index) && self.is_trusted(*index));
        let usual = self.devices.iter().filter_map(SetDevice::job_ns).min().unwrap_or(1);
        let ranks = candidates.map(|index| (self.devices[index].rank(reference, usual), index));
        oarlock_wire::order_by_time(ranks.collect(), self.turn.fetch_add(1, Ordering::Relaxed))
    }

    fn next(self: &Arc<Self>, reference: &str, asked: &[usize]) -> Option<usize> {
        self.ranked(reference, asked).first().copied()
    }

    /// Returns the private key of this process that is the same as a held one.
    fn twin(&self, key: &Key) -> Option<Key> {
        let twins = self.twins.lock().unwrap_or_else(PoisonError::into_inner);
        twins.get(&key.fingerprint()).filter(|twin| twin.kind() == key.kind()).cloned()
    }

    /// True if a device has given no wrong result, or has passed a test since. Starts the test when it is due.
    fn is_trusted(self: &Arc<Self>, index: usize) -> bool {
        let device = &self.devices[index];
        if let Some(like) = device.due_test() {
            let set = Arc::clone(self);
            self.test(index, &like, move |is_right| set.devices[index].tested(is_right));
        }
        device.is_trusted()
    }
}

impl Holder for HsmSet {
    fn name(&self) -> &str {
        HSM_HOLDER
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        RoutedJobs::start_all(&self.0.0, &jobs, &done);
    }

    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        self.0.0.run_batch(batch)
    }
}

impl Drop for SetOwner {
    fn drop(&mut self) {
        self.0.devices.iter().for_each(SetDevice::close);
    }
}

impl fmt::Debug for HsmSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.0.devices.iter().map(|device| &device.name)).finish()
    }
}
