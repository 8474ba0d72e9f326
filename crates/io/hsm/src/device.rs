//! A device as a holder of keys.

use std::fmt;
use std::sync::{Arc, mpsc};

use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::keys::held;
use oarlock::{Accelerator, Key};

use crate::fault::CallFault;
use crate::operation::confirm_pair;
use crate::pool::DevicePool;
use crate::report::HsmReport;
use crate::session::HsmSession;
use crate::settings::HsmSettings;
use crate::task::Task;
use crate::{HsmError, Pkcs11Uri, UriClass};

/// A token of a PKCS#11 module as a holder of keys. Cheap to clone.
///
/// It connects by itself. A token that is missing, that refuses its PIN or that is removed is in quarantine: its jobs
/// fail at once, and it is probed until it is back. A refused PIN is not tried again until its file has another one.
///
/// A call that hangs longer than the patience of the settings is abandoned: its job fails, and another thread with
/// another session takes its place. There are at most two abandoned threads per session; from then on the device is in
/// quarantine until one returns.
///
/// When the last handle is dropped, queued jobs fail. The drop waits for the threads, two seconds at most: a process
/// that ends while they are in the module may crash in it.
#[derive(Clone)]
pub struct Hsm(Arc<DeviceOwner>);

/// Ends the threads of a device when its last handle is dropped.
struct DeviceOwner(Arc<DevicePool>);

impl Hsm {
    /// Opens a device as the holder `name`. It does not wait for the token. `checker` verifies signatures on this
    /// machine.
    ///
    /// # Errors
    /// [`HsmError::Settings`], and [`HsmError::NoThread`] if the system gives no thread.
    pub fn open(
        name: impl Into<String>,
        settings: HsmSettings,
        checker: Accelerator,
    ) -> Result<Self, HsmError> {
        settings.check()?;
        Ok(Self(Arc::new(DeviceOwner(DevicePool::start(name.into(), settings, checker)?))))
    }

    /// Returns a private key of the token as a held key with its public half. Blocks until the token has answered. A
    /// key that may sign makes one signature, to see that both halves belong together.
    ///
    /// `uri` names it by `object`, by `id` or by both.
    ///
    /// # Errors
    /// The token is not available; it has no such key, several, or no public half of it or one of another key; or
    /// the URI names no private key.
    pub fn key(&self, uri: &Pkcs11Uri) -> Result<Key, HsmError> {
        let name = Pkcs11Uri { class: Some(UriClass::Private), ..uri.object_part() };
        if uri.class.is_some_and(|class| class != UriClass::Private) {
            return Err(HsmError::KeyName { found: uri.to_string() });
        }
        let reference = name.to_string();
        let spki = self.call(move |session| session.public_half(&name))?;
        let key = held::from_spki(&spki, self.0.0.name(), &reference)
            .map_err(|reason| HsmError::PublicHalf { key: reference, reason })?;
        let held = key.clone();
        self.call(move |session| confirm_pair(session, &held))?;
        Ok(key)
    }

    /// Returns the names of the mechanisms that the token offers, as `CKM_ECDSA`, in the order of the token. Those that
    /// this program does not know are left out. Blocks until the token has answered.
    ///
    /// # Errors
    /// The token is not available.
    pub fn mechanisms(&self) -> Result<Vec<String>, HsmError> {
        self.call(|session| Ok(session.token.mechanisms.iter().map(ToString::to_string).collect()))
    }

    /// Tests the device now: the session of a connected one, or the connection of one in quarantine. Blocks until the
    /// answer is there or the patience has passed.
    ///
    /// # Errors
    /// The reason why the device is not available.
    pub fn probe(&self) -> Result<(), HsmError> {
        self.0.0.end_quarantine()?;
        self.call(HsmSession::check)
    }

    /// Returns the state and the statistics.
    #[must_use]
    pub fn report(&self) -> HsmReport {
        self.0.0.report()
    }

    /// Runs a call on a session and waits for its answer.
    fn call<T: Send + 'static>(
        &self,
        call: impl Fn(&mut HsmSession) -> Result<T, CallFault> + Send + 'static,
    ) -> Result<T, HsmError> {
        // Only the first answer is received; a second one finds nobody.
        let (answer, answers) = mpsc::channel();
        let failure = answer.clone();
        let run = move |session: &mut HsmSession| -> Result<(), CallFault> {
            let value = call(session)?;
            let _ = answer.send(Ok(value));
            Ok(())
        };
        let fail = move |error| {
            let _ = failure.send(Err(error));
        };
        self.0.0.submit([Task::of_call(run, fail)]);
        answers.recv().unwrap_or(Err(HsmError::Closed))
    }
}

impl Holder for Hsm {
    fn name(&self) -> &str {
        self.0.0.name()
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        self.0.0.submit(Task::of_jobs(&jobs, &done));
    }
}

impl Drop for DeviceOwner {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Hsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hsm").field("name", &self.0.0.name()).finish_non_exhaustive()
    }
}
