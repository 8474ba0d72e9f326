//! A device as a holder of keys.

use std::fmt;
use std::sync::{Arc, mpsc};

use oarlock::engine_api::{Batch, Completion, HeldOutcomes, Holder, OwnedJobs};
use oarlock::keys::held;
use oarlock::{Accelerator, JobError, Key};

use crate::fault::CallFault;
use crate::object::list_private;
use crate::operation::confirm_pair;
use crate::pool::DevicePool;
use crate::record::DrawnIvs;
use crate::report::HsmReport;
use crate::session::HsmSession;
use crate::settings::HsmSettings;
use crate::task::Task;
use crate::{HsmError, HsmKey, Pkcs11Uri, UriClass};

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

/// A private key of a token.
#[derive(Clone, Debug)]
pub struct TokenKey {
    /// The URI by which settings may name it, without the token.
    pub uri: Pkcs11Uri,
    /// The key, or the reason why it cannot be used.
    pub key: Result<Key, HsmError>,
}

/// Ends the threads of a device when its last handle is dropped.
struct DeviceOwner {
    pool: Arc<DevicePool>,
    drawn_ivs: DrawnIvs,
}

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
        let pool = DevicePool::start(name.into(), settings, checker)?;
        Ok(Self(Arc::new(DeviceOwner { pool, drawn_ivs: DrawnIvs::default() })))
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
        if uri.class.is_some_and(|class| class != UriClass::Private) {
            return Err(HsmError::KeyName { found: uri.to_string() });
        }
        let (answer, answers) = mpsc::channel();
        // An error means that nobody waits any more.
        self.look_up(uri, self.0.pool.name(), move |found| drop(answer.send(found)));
        answers.recv().unwrap_or(Err(HsmError::Closed))?.into_private(uri)
    }

    /// Returns the private keys of the token. Blocks until the token has answered.
    ///
    /// # Errors
    /// The token is not available.
    pub fn keys(&self) -> Result<Vec<TokenKey>, HsmError> {
        let uris = self.call(|session| list_private(session.raw()?))?;
        Ok(uris.into_iter().map(|uri| TokenKey { key: self.key(&uri), uri }).collect())
    }

    /// Returns a key that is held by `holder`: as [`key`](Self::key), or a secret key, if the URI says so. Returns at
    /// once. `answer` gets the result on a thread of the device, and must not block.
    pub fn look_up(
        &self,
        uri: &Pkcs11Uri,
        holder: &str,
        answer: impl FnOnce(Result<HsmKey, HsmError>) + Send + 'static,
    ) {
        let (name, holder) = (uri.key_name(), holder.to_owned());
        match name.class {
            Some(UriClass::Private) => self.ask(
                move |session: &mut HsmSession| {
                    let reference = name.to_string();
                    let spki = session.public_half(&name)?;
                    let key = held::from_spki(&spki, &holder, &reference)
                        .map_err(|reason| HsmError::PublicHalf { key: reference, reason })?;
                    confirm_pair(session, &key)?;
                    Ok(HsmKey::Private(key))
                },
                answer,
            ),
            Some(UriClass::SecretKey) => self.ask(
                move |session: &mut HsmSession| {
                    let key_type = session.find_secret(&name)?.key_type;
                    Ok(HsmKey::Secret { reference: name.to_string().into(), key_type })
                },
                answer,
            ),
            _ => answer(Err(HsmError::KeyName { found: uri.to_string() })),
        }
    }

    /// Ends the threads although there are other handles, such as those of jobs in progress.
    pub(crate) fn close(&self) {
        self.0.pool.close();
    }

    /// Returns true if the device takes jobs: it is connected, or connects.
    pub(crate) fn is_available(&self) -> bool {
        self.0.pool.is_available()
    }

    /// Tests the device now: the session of a connected one, or the connection of one in quarantine. Blocks until the
    /// answer is there or the patience has passed.
    ///
    /// # Errors
    /// The reason why the device is not available.
    pub fn probe(&self) -> Result<(), HsmError> {
        self.0.pool.end_quarantine()?;
        self.call(HsmSession::check)
    }

    /// Returns the state and the statistics.
    #[must_use]
    pub fn report(&self) -> HsmReport {
        self.0.pool.report()
    }

    pub(crate) fn submit(&self, tasks: impl IntoIterator<Item = Task>) {
        self.0.pool.submit(tasks);
    }

    pub(crate) fn holder_name(&self) -> &str {
        self.0.pool.name()
    }

    pub(crate) fn drawn_ivs(&self) -> &DrawnIvs {
        &self.0.drawn_ivs
    }

    /// Runs a call on a session and waits for its answer.
    fn call<T: Send + 'static>(
        &self,
        call: impl Fn(&mut HsmSession) -> Result<T, CallFault> + Send + 'static,
    ) -> Result<T, HsmError> {
        let (answer, answers) = mpsc::channel();
        self.ask(call, move |result| drop(answer.send(result)));
        answers.recv().unwrap_or(Err(HsmError::Closed))
    }

    /// Runs a call on a session. `answer` gets its result.
    fn ask<T: Send + 'static>(
        &self,
        call: impl Fn(&mut HsmSession) -> Result<T, CallFault> + Send + 'static,
        answer: impl FnOnce(Result<T, HsmError>) + Send + 'static,
    ) {
        self.submit([Task::answering(call, answer)]);
    }
}

impl Holder for Hsm {
    fn name(&self) -> &str {
        self.0.pool.name()
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        self.submit(Task::of_jobs(&jobs, &done));
    }

    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        self.compute(batch)
    }
}

impl Drop for DeviceOwner {
    fn drop(&mut self) {
        self.pool.close();
    }
}

impl fmt::Debug for Hsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hsm").field("name", &self.0.pool.name()).finish_non_exhaustive()
    }
}
